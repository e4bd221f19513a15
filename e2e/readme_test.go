package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestReadme runs the shell lines of README.md as they are printed, on a port and a folder of the test's own: the server,
// the requests against it, and the server on Redis.
func TestReadme(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	text := string(must(os.ReadFile("../README.md"))(t))
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, found[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("README.md has %d blocks of shell, want 4: the server, first requests, further ones, the server on Redis", len(blocks))
	}
	shell := readmeShell{t: t, addr: redistest.FreeAddr(t), redis: redistest.Start(t).Addr, data: t.TempDir()}

	stop := shell.serve(ctx, blocks[0])
	out := shell.run(ctx, blocks[1]+"\n"+blocks[2])
	for _, want := range []string{`"body":"hi bob"`, `"seen":3`, `"state":"pending"`, `"timezone":"Europe/Berlin"`, `"announcements":[`, "core", `"findings":[]`, `"id":"phone"`, `"secret":"whsec_`} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not have %s", want)
		}
	}
	if problem := regexp.MustCompile(`"status":[45]\d\d`).FindString(out); problem != "" || t.Failed() {
		t.Errorf("%s: the output is\n%s", problem, out)
	}
	stop()

	// Without the secret of the first server: the block makes one.
	stop = shell.serve(ctx, blocks[3])
	stop()
}

type readmeShell struct {
	t                 *testing.T
	addr, redis, data string
}

func (s readmeShell) command(ctx context.Context, script string) *exec.Cmd {
	script = strings.NewReplacer("127.0.0.1:8080", s.addr, "127.0.0.1:6379", s.redis).Replace(script)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = ".."
	cmd.Env = []string{"CHATD_ADDR=" + s.addr, "CHATD_DATA=" + s.data}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "CHATD_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	return cmd
}

func (s readmeShell) run(ctx context.Context, script string) string {
	s.t.Helper()
	out, err := s.command(ctx, script).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// serve runs a block that does not end by itself, waits until the server is ready, and returns what ends all of it: `go run` has
// a child, which outlives it while it drains, so the whole process group gets the signal, and all that write are waited for.
func (s readmeShell) serve(ctx context.Context, script string) (stop func()) {
	s.t.Helper()
	var log output
	cmd := s.command(ctx, script)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "terminated") && !strings.Contains(err.Error(), "exit status") {
			s.t.Error(err)
		}
	}
	s.t.Cleanup(stop)
	harness.Eventually(s.t, 2*time.Minute, "the server of the README is ready", func() error {
		resp, err := http.Get("http://" + s.addr + "/readyz")
		if err != nil {
			return fmt.Errorf("%w: %s", err, log.String())
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
	return stop
}
