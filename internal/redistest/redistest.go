// Package redistest runs real redis-server processes for tests: on free ports of the loopback, each with its own
// folder, stopped by process id when the test ends. If redis-server is not installed, the test fails; it is never
// skipped.
package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/interval"
)

const (
	startTimeout = time.Minute
	stopTimeout  = time.Minute
)

// The servers that tests start.
const (
	Redis  = "redis-server"
	Valkey = "valkey-server" // 7.2 or later: it knows WAITAOF
)

// Server is one redis-server process. A Restart makes a new process on the same port and folder.
type Server struct {
	Addr string // host:port

	tb      testing.TB
	program string
	dir     string
	args    []string // including the address
	public  string   // "": Addr
	gates   *gates   // nil: none

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process is gone
}

// Start runs a redis-server with an append-only file synced each second, as docker-compose.yml does. extra are
// additional arguments, such as "--appendfsync", "always".
func Start(tb testing.TB, extra ...string) *Server {
	tb.Helper()
	return StartOf(tb, Redis, extra...)
}

// StartOf is Start with another program.
func StartOf(tb testing.TB, program string, extra ...string) *Server {
	tb.Helper()
	return start(tb, program, func(dir, port string) []string { return append(alone(dir, port), extra...) })
}

// alone are the arguments of a server that is not in a cluster.
func alone(dir, port string) []string {
	return []string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no",
		"--appendonly", "yes", "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", "noeviction"}
}

// StartSentinel runs a sentinel that monitors a primary and its replicas under a name and decides about a failover alone: when
// SENTINEL FAILOVER asks for one, and once the primary is gone after Guard. extra are additional lines of its configuration.
func StartSentinel(tb testing.TB, name string, primary *Server, extra ...string) *Server {
	tb.Helper()
	host, port, _ := net.SplitHostPort(primary.Public())
	sentinel := start(tb, Redis, func(dir, own string) []string {
		file := filepath.Join(dir, "sentinel.conf") // the sentinel writes its state into it
		text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s %s %s 1\nsentinel down-after-milliseconds %s 3600000\n",
			own, dir, name, host, port, name) + strings.Join(extra, "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		return []string{file, "--sentinel"}
	})
	replicas := int(primary.Field("replication", "connected_slaves"))
	sentinel.await(func() bool {
		known, _ := sentinel.Do("SENTINEL", "REPLICAS", name).([]any)
		return len(known) == replicas
	}, "the sentinel does not know %d replicas", replicas)
	return sentinel
}

// Guard has a sentinel promote a replica once the primary does not answer for a second. Until then a primary that a busy machine
// keeps from answering stays one.
func (s *Server) Guard(name string) {
	s.tb.Helper()
	s.Do("SENTINEL", "SET", name, "down-after-milliseconds", "1000")
}

func start(tb testing.TB, program string, args func(dir, port string) []string) *Server {
	tb.Helper()
	s := prepare(tb, program, args)
	s.run()
	return s
}

// prepare makes a server that does not run yet.
func prepare(tb testing.TB, program string, args func(dir, port string) []string) *Server {
	tb.Helper()
	s := &Server{Addr: FreeAddr(tb), tb: tb, program: program, dir: tb.TempDir()}
	_, port, _ := net.SplitHostPort(s.Addr)
	s.args = append(args(s.dir, port), "--logfile", s.logFile())
	tb.Cleanup(func() {
		s.stop(syscall.SIGKILL)
		if tb.Failed() {
			tb.Logf("redis-server %s: %s", s.Addr, s.logTail())
		}
	})
	return s
}

// Public is the address at which others reach the server: Addr, or the gate in front of it.
func (s *Server) Public() string {
	if s.public != "" {
		return s.public
	}
	return s.Addr
}

// URL returns the address as CHATD_REDIS takes it.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Kill ends the process as a crash would, and waits until it is gone.
func (s *Server) Kill() { s.stop(syscall.SIGKILL) }

// Restart starts the server again on the same port and folder, stopping it first if it runs.
func (s *Server) Restart() {
	s.tb.Helper()
	s.stop(syscall.SIGTERM)
	s.run()
}

// Signal sends a signal, such as SIGSTOP and SIGCONT, to the process.
func (s *Server) Signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		if err := s.cmd.Process.Signal(sig); err != nil {
			s.tb.Errorf("signal redis-server: %v", err)
		}
	}
}

func (s *Server) run() {
	s.tb.Helper()
	cmd := exec.CommandContext(context.Background(), s.program, s.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.tb.Fatalf("start redis-server: %v", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.mu.Lock()
	s.cmd, s.exited = cmd, exited
	s.mu.Unlock()
	s.awaitPing(exited)
}

// awaitPing waits until the server answers, which it does once its file is loaded.
func (s *Server) awaitPing(exited chan struct{}) {
	s.tb.Helper()
	deadline := time.After(startTimeout)
	var every interval.Growing
	var last error
	for {
		conn, err := Dial(s.Addr)
		if err == nil {
			_, err = conn.Do("PING")
			conn.Close()
			if err == nil {
				return
			}
		}
		last = err
		select {
		case <-exited:
			s.tb.Fatalf("redis-server ended at its start: %s", s.logTail())
		case <-deadline:
			s.tb.Fatalf("redis-server does not answer: %v", last)
		case <-every.Next():
		}
	}
}

func (s *Server) stop(sig syscall.Signal) {
	s.mu.Lock()
	cmd, exited := s.cmd, s.exited
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig) // it may have exited already
	select {
	case <-exited:
		// A child that rewrites the append-only file goes on without its parent, and writes into the folder while it is removed.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	case <-time.After(stopTimeout):
		_ = cmd.Process.Kill()
		<-exited
	}
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "redis.log") }

func (s *Server) logTail() string {
	log, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	const tail = 4000
	return string(log[max(0, len(log)-tail):])
}

// Do runs one command on a separate connection and fails the test on an error.
func (s *Server) Do(args ...string) any {
	s.tb.Helper()
	conn, err := Dial(s.Addr)
	if err != nil {
		s.tb.Fatalf("connect to redis-server: %v", err)
	}
	defer conn.Close()
	reply, err := conn.Do(args...)
	if err != nil {
		s.tb.Fatalf("%v: %v", args, err)
	}
	return reply
}

// Try is Do for a command that may be refused, or for a server that may be down.
func (s *Server) Try(args ...string) (any, error) {
	conn, err := Dial(s.Addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.Do(args...)
}

// Int is Do for a command that returns a number.
func (s *Server) Int(args ...string) int64 {
	s.tb.Helper()
	switch n := s.Do(args...).(type) {
	case int64:
		return n
	case string:
		v, err := strconv.ParseInt(n, 10, 64)
		if err == nil {
			return v
		}
	}
	s.tb.Fatalf("%v: no number", args)
	return 0
}

// Calls returns how often the server ran each command since the last CONFIG RESETSTAT, by name in lower case, including
// commands of scripts but not the INFO that asks.
func (s *Server) Calls() map[string]int64 {
	s.tb.Helper()
	info, _ := s.Do("INFO", "commandstats").(string)
	calls := map[string]int64{}
	for line := range lines(info) {
		var name string
		var n int64
		if _, err := fmt.Sscanf(line, "cmdstat_%s", &name); err != nil {
			continue
		}
		name, rest := cut(name)
		if _, err := fmt.Sscanf(rest, "calls=%d", &n); err == nil && name != "info" {
			calls[name] = n
		}
	}
	return calls
}

// Stat returns one number of INFO's section stats, such as total_net_input_bytes.
func (s *Server) Stat(name string) int64 {
	s.tb.Helper()
	return s.Field("stats", name)
}

// Field returns one number of a section of INFO.
func (s *Server) Field(section, name string) int64 {
	s.tb.Helper()
	info, _ := s.Do("INFO", section).(string)
	for line := range lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				s.tb.Fatalf("%s: %v", name, err)
			}
			return n
		}
	}
	s.tb.Fatalf("INFO %s has no %s", section, name)
	return 0
}
