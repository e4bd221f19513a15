// Package pgtest runs a real PostgreSQL server for tests: on a free port of the loopback, with its data in a temporary
// folder, stopped by process id when the test ends. If PostgreSQL is not installed, the test fails; it is never
// skipped.
package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/chatd/chatd/internal/redistest"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = time.Minute
)

// Server is one PostgreSQL server. A Restart makes a new process on the same port and folder.
type Server struct {
	tb   testing.TB
	bin  string
	dir  string
	port string
	args []string
	runs *syscall.Credential // the user that the server runs as, because it refuses to run as root

	mu        sync.Mutex
	cmd       *exec.Cmd
	exited    chan struct{} // closed when the process is gone
	databases int
}

// Start runs a server that never waits for its disk. settings are additional ones, such as "work_mem=64MB".
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	s := &Server{tb: tb, bin: installed(tb)}
	s.makeFolder()
	s.tool("initdb", "-D", s.data(), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	_, s.port, _ = net.SplitHostPort(redistest.FreeAddr(tb))
	s.args = []string{"-D", s.data(), "-p", s.port, "-k", s.dir, "-h", "127.0.0.1"}
	for _, setting := range append([]string{"fsync=off", "full_page_writes=off", "max_connections=100"}, settings...) {
		s.args = append(s.args, "-c", setting)
	}
	tb.Cleanup(func() {
		s.stop(syscall.SIGQUIT)
		if tb.Failed() {
			tb.Logf("postgres on port %s: %s", s.port, s.logTail())
		}
		_ = os.RemoveAll(s.dir)
	})
	s.run()
	return s
}

// installed returns the folder of the newest installed PostgreSQL.
func installed(tb testing.TB) string {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		tb.Fatal("no PostgreSQL is installed: run scripts/install-test-deps")
	}
	return filepath.Dir(slices.Max(found))
}

// makeFolder makes a folder that belongs to the server's user. The folders of testing are closed to other users.
func (s *Server) makeFolder() {
	s.tb.Helper()
	dir, err := os.MkdirTemp("", "chatd-pg-")
	if err != nil {
		s.tb.Fatal(err)
	}
	s.dir = dir
	if os.Getuid() != 0 {
		return
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		s.tb.Fatalf("PostgreSQL does not run as root: %v", err)
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	s.runs = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(dir, uid, gid); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Dir is the folder that holds everything the server writes.
func (s *Server) Dir() string { return s.dir }

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

func (s *Server) logTail() string {
	text, _ := os.ReadFile(s.logFile())
	return string(text[max(0, len(text)-4000):])
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.runs, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

func (s *Server) tool(name string, args ...string) {
	s.tb.Helper()
	var out bytes.Buffer
	cmd := s.command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		s.tb.Fatalf("%s: %v: %s", name, err, &out)
	}
}

// URL returns the address of a database, as CHATD_ARCHIVE takes it.
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/%s?sslmode=disable", s.port, database)
}

// Database makes an empty database and returns its address.
func (s *Server) Database() string {
	s.tb.Helper()
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	conn, err := pgx.Connect(context.Background(), s.URL("postgres"))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), "CREATE DATABASE "+name); err != nil {
		s.tb.Fatal(err)
	}
	return s.URL(name)
}

// Kill ends the server as a crash would, and waits until it is gone.
func (s *Server) Kill() { s.stop(syscall.SIGKILL) }

// Stop ends the server and its connections, with everything written.
func (s *Server) Stop() { s.stop(syscall.SIGINT) }

// Pause stops every process of the server where it is: connections stay and nothing answers, until Resume.
func (s *Server) Pause() {
	s.tb.Helper()
	s.signal(syscall.SIGSTOP)
}

// Resume lets a paused server go on.
func (s *Server) Resume() {
	s.tb.Helper()
	s.signal(syscall.SIGCONT)
}

// signal sends a signal to the server's first process, so that it starts no others, and then to those that it has started.
func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		s.tb.Fatal("postgres does not run")
	}
	pid := s.cmd.Process.Pid
	if err := syscall.Kill(pid, sig); err != nil {
		s.tb.Fatal(err)
	}
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, field := range bytes.Fields(list) {
		if child, err := strconv.Atoi(string(field)); err == nil {
			_ = syscall.Kill(child, sig) // some may have ended
		}
	}
}

// Restart starts the server again on the same port and folder, stopping it first if it runs.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Stop()
	s.run()
}

func (s *Server) stop(sig syscall.Signal) {
	s.mu.Lock()
	cmd, exited := s.cmd, s.exited
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig)
	_ = cmd.Process.Signal(syscall.SIGCONT) // it may be paused
	select {
	case <-exited:
	case <-time.After(stopTimeout):
		_ = cmd.Process.Kill()
		<-exited
		s.tb.Errorf("postgres on port %s did not stop within %v", s.port, stopTimeout)
	}
}

// run starts the server and waits until it answers. After a kill the old server's children take a moment to exit, and
// the new one refuses to start before that.
func (s *Server) run() {
	s.tb.Helper()
	deadline := time.Now().Add(startTimeout)
	for !s.runOnce(deadline) {
		if time.Now().After(deadline) {
			s.tb.Fatalf("postgres does not start: %s", s.logTail())
		}
	}
}

func (s *Server) runOnce(deadline time.Time) bool {
	s.tb.Helper()
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.tb.Fatal(err)
	}
	defer log.Close()
	cmd := s.command("postgres", s.args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.tb.Fatalf("start postgres: %v", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := pgx.Connect(context.Background(), s.URL("postgres")); err == nil {
			_ = conn.Close(context.Background())
			s.mu.Lock()
			s.cmd, s.exited = cmd, exited
			s.mu.Unlock()
			return true
		}
		select {
		case <-exited:
			<-tick.C
			return false
		case <-tick.C:
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-exited
			return false
		}
	}
}
