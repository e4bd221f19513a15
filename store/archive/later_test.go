package archive

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/pgtest"
)

func later(t *testing.T, url, id string) *Store {
	t.Helper()
	s, err := Later(url, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestOpeningOutlivesTheCall: an opening that takes longer than the call with which it began is not broken off.
func TestOpeningOutlivesTheCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "archive.db")
	before, err := Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	id := before.id
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	held, err := other.BeginTx(t.Context(), nil) // the opening waits for it
	if err != nil {
		t.Fatal(err)
	}
	s := later(t, "sqlite:"+file, id)
	hurry, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Logs(hurry, aLog, 1); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("the call that begins it: %v", err)
	}
	if _, err := s.Logs(t.Context(), aLog, 1); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("another one: %v", err)
	}
	if got, err := s.ID(t.Context()); got != id || err != nil {
		t.Errorf("its id is %q, %v, want %q", got, err, id)
	}
	s.late.mu.Lock()
	opening := s.late.opening
	s.late.mu.Unlock()
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	<-opening.done
	if _, err := s.Logs(t.Context(), aLog, 1); err != nil {
		t.Errorf("once it is open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Logs(t.Context(), aLog, 1); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("once it is closed: %v", err)
	}
}

// TestOpeningEndsWithClose: nothing of it goes on after Close.
func TestOpeningEndsWithClose(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a database that takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	s := later(t, "postgres://chatd@"+silent.Addr().String()+"/chatd?sslmode=disable", "")
	ended := make(chan error, 1)
	go func() { ended <- s.Connect(context.WithoutCancel(t.Context())) }()
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("the call that waited for it: %v", err)
	}
	if err := s.Connect(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a call after that: %v", err)
	}
}

// TestLaterRefusesAnotherDatabase: each call says so, and none reads it.
func TestLaterRefusesAnotherDatabase(t *testing.T) {
	s := later(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"), "another")
	for range 2 {
		if _, err := s.Logs(t.Context(), aLog, 1); err == nil || errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("a call: %v", err)
		}
	}
}

// TestScrubWaitsForWriters: a rewriting goes on when another process has written for longer than a statement waits.
func TestScrubWaitsForWriters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "archive.db")
	s, err := Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.write.ExecContext(t.Context(), `PRAGMA busy_timeout = 0`); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	held, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	scrubsAfter(t, s, held, 2*checkpointPause)
}

// TestScrubWaitsForSnapshots: what others still see would be kept by a rewriting.
func TestScrubWaitsForSnapshots(t *testing.T) {
	url := pgtest.Start(t).Database()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	other, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	held, err := other.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	scrubsAfter(t, s, held, 10*checkpointPause)
}

// scrubsAfter checks that a rewriting does not end within a time while another's transaction goes on, and ends after it.
func scrubsAfter(t *testing.T, s *Store, held *sql.Tx, within time.Duration) {
	t.Helper()
	ended := make(chan error)
	go func() {
		_, _, err := s.Scrub(t.Context())
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatalf("it ended before the other transaction: %v", err)
	case <-time.After(within):
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
