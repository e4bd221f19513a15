package harness

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/redistest"
)

// BehindNginx puts nginx, as it is installed, in front of every node that is made from now on: URL is that of nginx.
var BehindNginx = false

// exampleSite is the configuration of nginx that the documents show for one node.
const exampleSite = "examples/deploy/nginx-one.conf"

// nginxInFront starts nginx for a node that need not run yet, and returns its URL.
func nginxInFront(tb testing.TB, node string) string {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	site, err := os.ReadFile(filepath.Join(root, exampleSite))
	if err != nil {
		tb.Fatal(err)
	}
	addr := redistest.FreeAddr(tb)
	return StartNginx(tb, addr, strings.NewReplacer("listen 80;", "listen "+addr+";", "127.0.0.1:8080", node).Replace(string(site)))
}

// installedNginx is where the distribution keeps the main configuration.
const installedNginx = "/etc/nginx/nginx.conf"

// machineOnly are comments, and the directives of the main configuration that only root can follow, or that lead to the
// sites of this machine.
var machineOnly = regexp.MustCompile(`(?m)^\s*#.*$|^\s*(user|pid|error_log|access_log|worker_processes|include /etc/nginx/(modules-enabled|conf\.d|sites-enabled)).*;$`)

// StartNginx runs nginx as it is installed with one more site, which listens on addr, until the test ends. change
// replaces texts of its main configuration. It returns its URL once it answers.
func StartNginx(tb testing.TB, addr, site string, change ...string) string {
	tb.Helper()
	installed, err := os.ReadFile(installedNginx)
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	folders := "access_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		folders += kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	main := strings.NewReplacer(change...).Replace(machineOnly.ReplaceAllString(string(installed), ""))
	main = "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr warn;\n" + main
	end := strings.LastIndex(main, "}") // of http
	main = main[:end] + folders + site + main[end:]
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(main), 0o600); err != nil {
		tb.Fatal(err)
	}
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx" // Debian's, which the PATH of a user does not have
	}
	StartProxy(tb, addr, nginx, "-p", dir, "-c", path)
	return "http://" + addr
}

// StartProxy runs a proxy that listens on addr until the test ends, and waits until it answers anything.
func StartProxy(tb testing.TB, addr, name string, args ...string) {
	tb.Helper()
	var output strings.Builder
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = tb.TempDir(), &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_DATA_HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir)
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-exited
		if tb.Failed() {
			tb.Logf("%s wrote:\n%s", name, output.String()[max(0, output.Len()-logTailBytes):])
		}
	})
	Eventually(tb, 20*time.Second, name+" answers", func() error {
		select {
		case <-exited:
			tb.Fatalf("%s ended at its start:\n%s", name, output.String())
		default:
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+addr+"/v1/groups", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
}
