package harness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/redistest"
)

const (
	readyTimeout = 20 * time.Second
	termTimeout  = time.Minute
	logTailBytes = 12_000
)

// Config configures a node.
type Config struct {
	Redis string            // CHATD_REDIS; empty: the embedded store
	Data  string            // CHATD_DATA; empty: a temporary folder
	Nginx bool              // behind nginx as it is installed
	Env   map[string]string // further variables; an empty value removes a default of the harness
}

// Node is one chatd process. Start after Kill or Terminate makes a new process on the same address and data.
type Node struct {
	Addr string // host:port
	Data string

	front string // URL of the proxy in front; empty: none
	tb    testing.TB
	cfg   Config
	log   string // path of the output of all its processes

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone; its result is in cmd
}

// StartNode starts a node and waits until it is ready.
func StartNode(tb testing.TB, cfg Config) *Node {
	tb.Helper()
	n := NewNode(tb, cfg)
	n.Start()
	return n
}

// NewNode prepares a node without starting it.
func NewNode(tb testing.TB, cfg Config) *Node {
	tb.Helper()
	if cfg.Data == "" {
		cfg.Data = tb.TempDir()
	}
	n := &Node{Addr: redistest.FreeAddr(tb), Data: cfg.Data, tb: tb, cfg: cfg, log: filepath.Join(tb.TempDir(), "chatd.log")}
	tb.Cleanup(func() {
		n.stop(syscall.SIGKILL)
		if log := n.Log(); bytes.Contains(log, []byte("DATA RACE")) || bytes.Contains(log, []byte("panic: ")) {
			tb.Errorf("chatd %s raced or panicked", n.Addr)
		}
		if tb.Failed() {
			log := n.Log()
			tb.Logf("chatd %s wrote:\n%s", n.Addr, log[max(0, len(log)-logTailBytes):])
		}
	})
	if cfg.Nginx || BehindNginx {
		n.front = nginxInFront(tb, n.Addr)
	}
	return n
}

// URL returns the base URL of the node, or of the proxy in front of it.
func (n *Node) URL() string { return cmp.Or(n.front, n.direct()) }

// direct is the URL of the node itself.
func (n *Node) direct() string { return "http://" + n.Addr }

// SignInURL returns the link that the last start printed for the development sign-in, or URL if there is none.
func (n *Node) SignInURL() string {
	links := signInLink.FindAll(n.Log(), -1)
	if len(links) == 0 {
		return n.URL()
	}
	return string(links[len(links)-1])
}

// SetupURL returns the link to the first account that the last start printed.
func (n *Node) SetupURL() string {
	links := setupLink.FindAll(n.Log(), -1)
	if len(links) == 0 {
		n.tb.Fatalf("chatd printed no setup link:\n%s", n.Log())
	}
	return string(links[len(links)-1])
}

var setupLink = regexp.MustCompile(`http://\S+#setup=[\w-]+`)

var signInLink = regexp.MustCompile(`http://\S+#code=[\w-]+`)

// Log returns the output of all the node's processes so far.
func (n *Node) Log() []byte {
	log, err := os.ReadFile(n.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.tb.Errorf("log of chatd: %v", err)
	}
	return log
}

// environ returns the environment of the process: only what a program needs to run, so that the settings of the person
// who runs the tests change nothing.
func (n *Node) environ() []string {
	settings := map[string]string{
		"CHATD_ADDR": n.Addr, "CHATD_DATA": n.cfg.Data, "CHATD_REDIS": n.cfg.Redis, "CHATD_JWT_SECRET": Secret,
		"CHATD_RATE_USER": "off", "CHATD_RATE_SEND": "off", "CHATD_RATE_IP": "off",
		"CHATD_MAX_POLLS": "off", "CHATD_MAX_CALLS": "off", "CHATD_MAX_CALLS_NODE": "off", "CHATD_MAX_FIRINGS": "off",
		"PATH": os.Getenv("PATH"), "HOME": n.cfg.Data, "GORACE": "halt_on_error=0 atexit_sleep_ms=0",
	}
	if n.front != "" {
		settings["CHATD_TRUSTED_PROXIES"] = "127.0.0.1"
	}
	for name, value := range n.cfg.Env {
		settings[name] = value
	}
	var env []string
	for name, value := range settings {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Command prepares a run of the binary with the node's settings, such as `chatd token`.
func (n *Node) Command(ctx context.Context, args ...string) *exec.Cmd {
	n.tb.Helper()
	cmd := exec.CommandContext(ctx, Binary(n.tb), args...)
	cmd.Env = n.environ()
	cmd.Dir = n.cfg.Data
	return cmd
}

// Start starts the process and waits until /readyz reports that it is ready.
func (n *Node) Start() {
	n.tb.Helper()
	exited := n.Launch()
	Eventually(n.tb, readyTimeout, "chatd becomes ready", func() error {
		select {
		case <-exited:
			n.tb.Fatalf("chatd ended at its start:\n%s", n.Log())
		default:
		}
		return n.Ready()
	})
}

// Launch starts the process without waiting for anything. The channel is closed when it has ended.
func (n *Node) Launch() (exited <-chan struct{}) {
	n.tb.Helper()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.tb.Fatal(err)
	}
	defer log.Close()
	cmd := n.Command(context.Background())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		n.tb.Fatalf("start chatd: %v", err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the result is in cmd.ProcessState
		close(gone)
	}()
	n.mu.Lock()
	n.cmd, n.exited = cmd, gone
	n.mu.Unlock()
	return gone
}

// Ready asks /readyz once.
func (n *Node) Ready() error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, n.direct()+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: readyTimeout}).Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz: %s", answer.Status)
	}
	return nil
}

// Kill ends the process with SIGKILL, as a crash would, and waits until it is gone.
func (n *Node) Kill() { n.tb.Helper(); n.stop(syscall.SIGKILL) }

// Terminate ends the process with SIGTERM and waits until it has drained. The test fails if it does not exit with
// success in time.
func (n *Node) Terminate() {
	n.tb.Helper()
	cmd := n.stop(syscall.SIGTERM)
	if cmd == nil {
		n.tb.Error("there was no process to terminate")
	} else if !cmd.ProcessState.Success() {
		n.tb.Errorf("chatd ended its drain with %v", cmd.ProcessState)
	}
}

// stop sends sig and waits until the process is gone; it kills one that does not exit.
func (n *Node) stop(sig syscall.Signal) *exec.Cmd {
	n.mu.Lock()
	cmd, exited := n.cmd, n.exited
	n.cmd = nil
	n.mu.Unlock()
	if cmd == nil {
		return nil
	}
	_ = cmd.Process.Signal(sig) // it may have exited already
	select {
	case <-exited:
	case <-time.After(termTimeout):
		_ = cmd.Process.Kill()
		<-exited
	}
	return cmd
}

// Client makes a client of the node for user, with a token that lasts as long as a test.
func (n *Node) Client(user string, opts ...client.Option) *client.Client {
	n.tb.Helper()
	return ClientAt(n.tb, n.URL(), user, opts...)
}

// ClientAt makes a client for user at any address, such as that of a proxy.
func ClientAt(tb testing.TB, url, user string, opts ...client.Option) *client.Client {
	tb.Helper()
	c, err := client.New(url, client.StaticToken(Token(user, "", time.Hour)), opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
