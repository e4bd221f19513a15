package store_test

import (
	"testing"
	"time"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// TestArchiveCostsNoCall counts what 100 sends ask of the server: the same without an archive, with one, and while nothing
// is taken over because its database is away.
func TestArchiveCostsNoCall(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 0, 1_000)
	count := func(what string) {
		t.Helper()
		send(t, s, greeting("g", "alice")) // learns whether there is an archive
		server.Do("CONFIG", "RESETSTAT")
		for range 100 {
			send(t, s, greeting("g", "alice"))
		}
		if calls := server.Calls(); calls["evalsha"] != 100 || calls["eval"] != 0 || calls["multi"] != 0 {
			t.Errorf("%s: 100 sends made %v", what, calls)
		}
	}
	count("without an archive")
	if err := s.WantArchive(t.Context(), "db", time.Second, true); err != nil {
		t.Fatal(err)
	}
	count("while nothing is archived")
	lag, err := s.Unarchived(t.Context(), "g", 1000)
	if err != nil || !lag.On || len(lag.Messages) == 0 {
		t.Fatalf("got %d entries that wait, on is %v, %v", len(lag.Messages), lag.On, err)
	}
	end := lag.Messages[len(lag.Messages)-1]
	if _, err := s.AckArchive(t.Context(), lag.Log, lag.Messages[0].ID, end.ID, end.Mark); err != nil {
		t.Fatal(err)
	}
	count("with an archive")
	if n, err := s.ArchiveWaiting(t.Context()); err != nil || n != 1 {
		t.Errorf("%d tasks wait, %v; want one", n, err)
	}
}
