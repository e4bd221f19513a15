package archive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// testDroppedAndBack: a search finds a log that was dropped and archived again, and nothing of another one that came meanwhile.
func testDroppedAndBack(t *testing.T, url string) {
	s := open(t, url)
	other := archive.Log{Group: "other", Epoch: "e"}
	finds := func(when string, log archive.Log, want ...int64) {
		t.Helper()
		found, err := s.Search(t.Context(), archive.Query{Text: "word", Visible: whole(log), Limit: 9, BytesMax: pageBytes})
		var got []int64
		for _, h := range found.Hits {
			got = append(got, h.ID)
		}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", when, got, err, want)
		}
	}
	first := newLog(t, s, aLog)
	first.text("ann", "word")
	first.add(1)
	finds("at first", aLog, 1)
	if more, err := s.Drop(t.Context(), aLog, chat.IDMax); more || err != nil {
		t.Fatal(more, err)
	}
	second := newLog(t, s, other)
	second.text("bob", "word")
	second.add(1)
	finds("dropped", aLog)
	finds("another log", other, 1)
	first.add(1)
	finds("back", aLog, 1)
	finds("another log in the end", other, 1)
}

// TestNumbersStayApart: SQLite gives no log the number of one that was dropped, so that a search that still has it finds nothing.
func TestNumbersStayApart(t *testing.T) {
	s := open(t, "sqlite:"+t.TempDir()+"/archive.db")
	numberOf := func(log archive.Log) int64 {
		t.Helper()
		w := newLog(t, s, log)
		w.text("ann", "word")
		w.add(1)
		read, err := s.readNumbers(t.Context(), []archive.Log{log})
		if err != nil || read[log] == 0 {
			t.Fatal(read, err)
		}
		return read[log]
	}
	before := numberOf(aLog)
	if _, err := s.Drop(t.Context(), aLog, chat.IDMax); err != nil {
		t.Fatal(err)
	}
	if after := numberOf(archive.Log{Group: "other", Epoch: "e"}); after <= before {
		t.Errorf("a new log has number %d, the dropped one had %d", after, before)
	}
}

// TestNumbersAreBounded: more logs than are kept in memory are found all the same.
func TestNumbersAreBounded(t *testing.T) {
	var n numbers
	log := func(i int) archive.Log { return archive.Log{Group: "g", Epoch: string(rune(i))} }
	n.get("", nil)
	for i := range numbersMax + 1 {
		n.put("", map[archive.Log]int64{log(i): int64(i) + 1})
	}
	known, missing := n.get("", []archive.Visible{{Log: log(7)}})
	if known[0] != 0 || len(missing) != 1 || len(n.known) != 0 {
		t.Errorf("%v, %v, %d in memory", known, missing, len(n.known))
	}
	n.put("another", map[archive.Log]int64{log(7): 8})
	if known, _ = n.get("", []archive.Visible{{Log: log(7)}}); known[0] != 0 {
		t.Errorf("what was read at another time is kept: %v", known)
	}
}
