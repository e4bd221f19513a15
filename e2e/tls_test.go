package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// authority makes the certificate of a new authority and one for 127.0.0.1 that it signed, and returns the files.
func authority(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	until := time.Now().Add(time.Hour)
	top := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	topKey := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	ca = write("ca.pem", "CERTIFICATE", must(x509.CreateCertificate(rand.Reader, top, top, topKey.Public(), topKey))(t))
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "redis"}, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature}
	leafKey := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	cert = write("cert.pem", "CERTIFICATE", must(x509.CreateCertificate(rand.Reader, leaf, top, leafKey.Public(), topKey))(t))
	key = write("key.pem", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(leafKey))(t))
	return ca, cert, key
}

// TestRedisOverTLS: a node verifies the certificate of Redis, or of a node of a cluster, by the authorities of its host, does not start
// with one that it cannot verify, and takes any with skip_verify.
func TestRedisOverTLS(t *testing.T) {
	t.Parallel()
	ca, cert, key := authority(t)
	stranger, _, _ := authority(t)
	stores := map[string]func(t *testing.T, tls ...string){
		"rediss": func(t *testing.T, tls ...string) { redistest.Start(t, tls...) },
		"rediss-cluster": func(t *testing.T, tls ...string) {
			// A node that never met another one does not know its address.
			redistest.StartCluster(t, 1, 0, append(tls, "--tls-cluster", "yes", "--cluster-announce-ip", "127.0.0.1")...)
		},
	}
	for scheme, start := range stores {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			addr := redistest.FreeAddr(t)
			_, port, _ := net.SplitHostPort(addr)
			start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca, "--tls-auth-clients", "no")
			trusting := func(url, authority string) harness.Config {
				return harness.Config{Redis: url, Env: map[string]string{"SSL_CERT_FILE": authority, "SSL_CERT_DIR": t.TempDir()}}
			}
			url := scheme + "://" + addr
			if out := refused(t, trusting(url, stranger)); !strings.Contains(out, "certificate") {
				t.Errorf("chatd does not say that the certificate is not trusted:\n%s", out)
			}
			for _, node := range []*harness.Node{
				harness.StartNode(t, trusting(url, ca)), harness.StartNode(t, trusting(url+"?skip_verify=true", stranger)),
			} {
				group := strings.ReplaceAll(node.Addr, ":", "-")
				alice := node.Client("alice")
				must(alice.CreateGroup(ctx, client.GroupDraft{ID: group}))(t)
				stream := must(alice.Stream(ctx, quick(nil)))(t)
				must(alice.Send(ctx, group, client.Text("over TLS")))(t)
				until(ctx, t, stream.Next, func(e client.Messages) bool { return e.Messages[len(e.Messages)-1].Body == "over TLS" })
				stream.Close()
			}
		})
	}
}
