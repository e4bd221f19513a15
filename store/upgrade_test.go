package store_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// TestOpensWhatAnEarlierVersionWrote: the journal was written when scripts counted their keys. It carries the scripts that it
// calls, so it is replayed with those, and what is there then is what the scripts of today work on.
func TestOpensWhatAnEarlierVersionWrote(t *testing.T) {
	dir := t.TempDir()
	packed, err := os.Open(filepath.Join("testdata", "journal-00000001.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	journal, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "journal-00000001"), journal, 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := embedded.Open(t.Context(), embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := open(t, store.Options{Embedded: server, Prefix: "chat"})

	const group, plan = "general", "p00-UEIZBCBRJ26RR72CAWRO2PMFMT"
	pages, err := s.Pull(t.Context(), "bob", []chat.Pull{{Group: group, From: 1, Limit: 10}})
	if err != nil || pages[0].Err != nil {
		t.Fatal(err, pages)
	}
	page := pages[0]
	if page.Info.Last != 7 || page.Info.Seen != 5 || len(page.Messages) != 7 || len(page.Messages[4].Edits) != 1 {
		t.Errorf("got %+v", page)
	}
	r, _, err := s.Schedule(t.Context(), plan)
	if err != nil || r.State != schedule.Pending || r.Plan.Owner != "alice" {
		t.Errorf("got %+v, %v", r, err)
	}

	if sent := send(t, s, greeting(group, "alice")); sent.ID != 8 {
		t.Errorf("got id %d, want 8", sent.ID)
	}
	if at, err := s.Ack(t.Context(), group, "bob", chat.At(8), true, ""); err != nil || at != (chat.Cursors{Seen: 8, Read: 8}) {
		t.Errorf("got %+v, %v", at, err)
	}
	if err := s.CancelSchedule(t.Context(), plan); err != nil {
		t.Error(err)
	}
}
