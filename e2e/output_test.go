package e2e

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestLogThatNobodyReads: a node outlives the reader of its log, and one that stops reading stalls nobody. It ends in order
// when its terminal closes.
func TestLogThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, reader := range map[string]func(t *testing.T, read, write *os.File){
		"is gone":       func(t *testing.T, read, _ *os.File) { _ = read.Close() },
		"stops reading": fill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			node := harness.NewNode(t, harness.Config{Redis: redis.URL()})
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			reader(t, read, write)
			cmd := node.Command(t.Context())
			cmd.Stderr, cmd.SysProcAttr = write, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = write.Close()
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			harness.Eventually(t, time.Minute, "chatd becomes ready", node.Ready)
			alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
			must(alice.CreateGroup(t.Context(), client.GroupDraft{ID: "g"}))(t)
			redis.Kill() // it has something to say
			for range 20 {
				if _, err := alice.Send(t.Context(), "g", client.Draft{Body: "x"}); err == nil {
					t.Error("a send without a store succeeded")
				}
			}
			redis.Restart()
			harness.Eventually(t, time.Minute, "chatd becomes ready again", node.Ready)
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("chatd ended with %v", err)
			}
		})
	}
}

// fill leaves no room in a pipe.
func fill(t *testing.T, _, write *os.File) {
	fd := int(write.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4096, 1} {
		for {
			if _, err := syscall.Write(fd, make([]byte, size)); errors.Is(err, syscall.EAGAIN) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := syscall.SetNonblock(fd, false); err != nil { // the child gets the same file
		t.Fatal(err)
	}
}

// TestNohup: a node that is started to ignore that the terminal closes does so.
func TestNohup(t *testing.T) {
	t.Parallel()
	node := harness.NewNode(t, harness.Config{})
	serve := node.Command(t.Context())
	cmd := exec.CommandContext(t.Context(), "nohup", serve.Args...)
	cmd.Args[1] = serve.Path
	cmd.Env, cmd.Dir, cmd.SysProcAttr = serve.Env, serve.Dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out := must(cmd.StderrPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // it is told of the first signal by nothing, and of the second by its end
		harness.Eventually(t, time.Minute, "chatd becomes ready", node.Ready)
		_ = cmd.Process.Signal(syscall.SIGHUP)
		for range 300 { // more than a drain takes
			if err := node.Ready(); err != nil {
				t.Errorf("after SIGHUP: %v", err)
				break
			}
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "panic") {
			t.Error(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("chatd ended with %v", err)
	}
}
