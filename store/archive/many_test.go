package archive

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// testManyAtOnce: entries of all kinds, with characters that mean something to databases, added by two nodes at the same time.
func testManyAtOnce(t *testing.T, url string) {
	stores := []*Store{open(t, url), open(t, url)}
	w := newLog(t, stores[0], aLog)
	for n := range 60 {
		w.text("ann\\n", fmt.Sprintf("a\nb\tc\rd \\ \\. \\N 'e' %d", n))
	}
	w.edit("ann\\n", 7, `edited \n`)
	w.delete("ann\\n", 8)
	w.react("bob", 9, `\`, false)
	var calls sync.WaitGroup
	for _, s := range stores {
		calls.Go(func() {
			for from := 0; from < len(w.list); from += 21 {
				part := w.list[from:min(from+21, len(w.list))]
				if err := s.Add(t.Context(), []archive.Batch{{Log: w.log, Messages: part, Last: chat.IDMax}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	got := w.all()
	if len(got) != len(w.list) {
		t.Fatalf("%d entries, want %d", len(got), len(w.list))
	}
	for i, m := range got {
		if id := int64(i + 1); id != 7 && id != 8 && (m.ID != id || string(m.JSON) != string(w.list[i].JSON)) {
			t.Errorf("entry %d reads %s, want %s", id, m.JSON, w.list[i].JSON)
		}
	}
	if w.body(7) != `edited \n` || w.body(8) != "deleted" || fmt.Sprint(got[6].Edits) != "[61]" {
		t.Errorf("the changed entries read %s %v and %s", got[6].JSON, got[6].Edits, got[7].JSON)
	}
	found, err := stores[1].Search(t.Context(), archive.Query{Text: "59", Visible: []archive.Visible{{Log: w.log, From: 1, To: chat.IDMax}}, Limit: 5,
		Sort: archive.Newest, BytesMax: 1 << 20})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].ID != 60 {
		t.Errorf("a search finds %v, %v, want message 60", found.Hits, err)
	}
}

// TestSQLiteInOrderOfTime: what is archived together is one part of each index of words, though logs take turns in it.
func TestSQLiteInOrderOfTime(t *testing.T) {
	s := open(t, "sqlite:"+t.TempDir()+"/archive.db")
	var batches []archive.Batch
	for n := range 20 {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("group", n), Epoch: "e"})
		for range 10 {
			w.text("ann", "word")
		}
		batches = append(batches, archive.Batch{Log: w.log, Messages: w.list, Last: chat.IDMax})
	}
	if err := s.Add(t.Context(), batches); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"search", "log_search"} {
		var parts int
		if err := s.read.QueryRowContext(t.Context(), `SELECT count(DISTINCT segid) FROM `+index+`_idx`).Scan(&parts); err != nil || parts != 1 {
			t.Errorf("%s has %d parts, %v, want 1", index, parts, err)
		}
	}
}
