package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// authority makes the certificate of a new authority and one for 127.0.0.1 that it signed.
func authority(t *testing.T) (files redistest.TLS) {
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
	files.CA = write("ca.pem", "CERTIFICATE", must(x509.CreateCertificate(rand.Reader, top, top, topKey.Public(), topKey))(t))
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "redis"}, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature}
	leafKey := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	files.Cert = write("cert.pem", "CERTIFICATE", must(x509.CreateCertificate(rand.Reader, leaf, top, leafKey.Public(), topKey))(t))
	files.Key = write("key.pem", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(leafKey))(t))
	return files
}

// trusting is the configuration of a node whose host knows one authority.
func trusting(t *testing.T, url string, authority redistest.TLS) harness.Config {
	t.Helper()
	return harness.Config{Redis: url, Env: map[string]string{"SSL_CERT_FILE": authority.CA, "SSL_CERT_DIR": t.TempDir()}}
}

// TestRedisOverTLS: a node verifies the certificates of Redis, of a cluster's nodes, of sentinels and what they monitor, by the
// authorities of its host. It does not start with one that it cannot verify, and takes any with skip_verify.
func TestRedisOverTLS(t *testing.T) {
	t.Parallel()
	files, stranger := authority(t), authority(t)
	for name, start := range map[string]func(t *testing.T) (url string){ // to which skip_verify can be added
		"alone":    func(t *testing.T) string { return "rediss://" + redistest.StartTLS(t, files).Public() + "/0?" },
		"cluster":  func(t *testing.T) string { return overTLS(redistest.StartTLSCluster(t, 3, files)) + "?" },
		"sentinel": func(t *testing.T) string { return startTLSTrio(t, files).url + "&" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute)
			url := start(t)
			if out := refused(t, trusting(t, url, stranger)); !strings.Contains(out, "certificate") {
				t.Errorf("chatd does not say that the certificate is not trusted:\n%s", out)
			}
			for _, node := range []*harness.Node{
				harness.StartNode(t, trusting(t, url, files)), harness.StartNode(t, trusting(t, url+"skip_verify=true", stranger)),
			} {
				alice := node.Client("alice")
				stream := must(alice.Stream(ctx, quick(nil)))(t)
				for i := range 5 { // of several masters
					group := fmt.Sprint(strings.ReplaceAll(node.Addr, ":", "-"), "-", i)
					must(alice.CreateGroup(ctx, client.GroupDraft{ID: group}))(t)
					must(alice.Send(ctx, group, client.Text("over TLS")))(t)
					until(ctx, t, stream.Next, func(e client.Messages) bool {
						return e.Group == group && e.Messages[len(e.Messages)-1].Body == "over TLS"
					})
				}
				stream.Close()
			}
		})
	}
}

// overTLS is the URL of a cluster's nodes over TLS.
func overTLS(c *redistest.Cluster) string {
	return strings.Replace(c.URL(), "redis-cluster:", "rediss-cluster:", 1)
}

// tlsTrio is a primary, its replica and a sentinel that talk over TLS alone.
type tlsTrio struct {
	primary, sentinel *redistest.Server
	url               string
}

func startTLSTrio(t *testing.T, files redistest.TLS) *tlsTrio {
	t.Helper()
	primary := redistest.StartTLS(t, files, "--repl-diskless-sync-delay", "0")
	host, port, _ := net.SplitHostPort(primary.Public())
	redistest.StartTLS(t, files, "--replicaof", host+" "+port)
	primary.AwaitReplica()
	sentinel := redistest.StartTLSSentinel(t, "chat", primary, files)
	return &tlsTrio{primary, sentinel, "redis-sentinel://" + sentinel.Public() + "/0?master_name=chat&tls=true"}
}

// TestFailoverOverTLS: what was confirmed by a replica is there, and sends go on, when a sentinel has promoted it, all over TLS.
func TestFailoverOverTLS(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	files := authority(t)
	trio := startTLSTrio(t, files)
	node := harness.StartNode(t, trusting(t, trio.url, files))
	alice := node.Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	must(alice.Send(ctx, "g", client.Text("before")))(t)
	trio.primary.AwaitReplica()
	stream := must(alice.Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	trio.sentinel.Guard("chat")
	trio.primary.Kill()
	must(alice.Send(ctx, "g", client.Text("after")))(t)
	var bodies []string
	until(ctx, t, stream.Next, func(e client.Messages) bool {
		for _, m := range e.Messages {
			if m.Kind == client.KindText { // not the creation
				bodies = append(bodies, m.Body)
			}
		}
		return len(bodies) > 0 && bodies[len(bodies)-1] == "after"
	})
	if want := []string{"before", "after"}; !slices.Equal(bodies, want) {
		t.Errorf("the messages are %q, want %q", bodies, want)
	}
}
