package node

import (
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// deployFile is a file of an example or of the root, as it is deployed.
func deployFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// found returns what the group of a pattern matches, at every place.
func found(t *testing.T, text, pattern string) (all []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	if len(all) == 0 {
		t.Fatalf("nothing matches %s", pattern)
	}
	return all
}

// TestKubernetesManifestFitsTheSettings: a node accepts the settings of the manifest, listens where the ports and the probes of the
// manifest say, and serves their paths.
func TestKubernetesManifestFitsTheSettings(t *testing.T) {
	manifest := deployFile(t, "examples/deploy/kubernetes.yaml")
	setting := regexp.MustCompile(`(?m)^  (CHATD_[A-Z_]+): (.*?)(?: #.*)?$`)
	for _, match := range setting.FindAllStringSubmatch(manifest, -1) {
		name, value := match[1], match[2]
		if !slices.Contains(variables(), name) {
			t.Errorf("%s is no setting", name)
		}
		if name == "CHATD_JWT_SECRET" { // left out of the file
			value = testSecret
		}
		t.Setenv(name, value)
	}
	var c Config
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(nil); err != nil {
		t.Fatal(err)
	}
	s, err := c.check()
	if err != nil {
		t.Fatalf("a node refuses the settings: %v", err)
	}
	for name, addr := range map[string]string{"http": s.Addr, "admin": s.AdminAddr} {
		host, port, _ := net.SplitHostPort(addr)
		if want := "{name: " + name + ", containerPort: " + port + "}"; host != "0.0.0.0" || !strings.Contains(manifest, want) {
			t.Errorf("a node listens on %s, and the manifest does not hold %s", addr, want)
		}
	}
	openapi := deployFile(t, "web/openapi.yaml")
	for _, path := range found(t, manifest, `path: (/\w+), port: admin`) {
		if !strings.Contains(openapi, "\n  "+path+":\n") {
			t.Errorf("a probe asks %s, which no node serves", path)
		}
	}
	if probes := strings.Count(manifest, "httpGet:"); probes != 3 {
		t.Errorf("got %d probes, want one each for the start, the life and the readiness", probes)
	}
	stop := s.drainDelay + sessionsDrainMax + shutdownMax
	if grace := found(t, manifest, `terminationGracePeriodSeconds: (\d+)`)[0] + "s"; !longer(t, grace, stop) {
		t.Errorf("a pod is killed after %s, and a node may take %s to stop", grace, stop)
	}
}

// TestSupervisorsWaitForTheDrain: systemd and docker compose do not kill a node that still drains.
func TestSupervisorsWaitForTheDrain(t *testing.T) {
	stop := drainDelayDefault + sessionsDrainMax + shutdownMax
	for _, period := range []string{
		found(t, deployFile(t, "docker-compose.yml"), `stop_grace_period: (\w+)`)[0],
		found(t, deployFile(t, "examples/deploy/chatd.service"), `TimeoutStopSec=(\w+)`)[0],
	} {
		if !longer(t, period, stop) {
			t.Errorf("a node is killed after %s, and may take %s to stop", period, stop)
		}
	}
}

func longer(t *testing.T, period string, than time.Duration) bool {
	t.Helper()
	got, err := time.ParseDuration(period)
	if err != nil {
		t.Fatal(err)
	}
	return got > than
}
