package archive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// asking is a question for a text, of which a finder needs to find limit entries.
func asking(t *testing.T, s *Store, text string, visible []archive.Visible, limit int) *question {
	t.Helper()
	ranges, err := s.visible(t.Context(), visible)
	if err != nil {
		t.Fatal(err)
	}
	return &question{wanted: tokens.Parse(text), visible: ranges, top: 1 << 62, most: bound{limit - 1, pageBytes}}
}

// askFew asks the index by logs alone. ok: it has answered.
func askFew(t *testing.T, s *Store, text string, visible []archive.Visible, limit int) (found []int64, ok bool) {
	t.Helper()
	q := asking(t, s, text, visible, limit)
	few, err := s.engine.driver.(*sqlite).few(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if few == nil {
		return nil, false
	}
	q.most = bound{1000, pageBytes}
	list, _, err := s.collect(t.Context(), q, few)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		found = append(found, c.ID)
	}
	return found, true
}

func openLite(t *testing.T) (*Store, *sqlite) {
	t.Helper()
	s := open(t, "sqlite:"+t.TempDir()+"/archive.db")
	return s, s.engine.driver.(*sqlite)
}

// TestFew: the index by logs answers where few entries of the logs have plain words, and finds what the other one finds.
func TestFew(t *testing.T) {
	s, e := openLite(t)
	var visible []archive.Visible
	for _, group := range []string{"a", "hidden", "b"} {
		w := newLog(t, s, archive.Log{Group: group, Epoch: "e"})
		for n := range 60 {
			text := "frequent word"
			if n%10 == 0 {
				text = "seldom word word"
			}
			w.text([]string{"ann", "bob"}[n%2], text)
		}
		w.entry("ann", chat.Content{Kind: chat.Data, Data: []byte(`{"a":"seldom"}`)})
		w.edit("bob", 12, "seldom now")
		w.delete("ann", 11)
		w.add(1)
		if group != "hidden" {
			visible = append(visible, archive.Visible{Log: w.log, From: 5, To: 61})
		}
	}
	for text, want := range map[string]struct{ asked, found int }{"seldom": {12, 12}, "word seldom": {12, 8}, `frequent -word "frequent word"`: {100, 0},
		"seldom -word": {12, 4}, "seldom -now -word": {12, 2}, `"seldom word"`: {12, 8}, "seldom.now": {2, 2}, "seldom wor*": {12, 8}, "absent": {0, 0},
		`seldom -"word word"`: {12, 4}, "frequent": {100, 100}, "now seldom": {2, 2}} {
		for _, most := range []int{0, want.asked - 1, want.asked, 250} {
			e.fewMax = most
			found, ok := askFew(t, s, text, visible, 2)
			if ok != (want.asked <= max(most, 4)) || ok && len(found) != want.found {
				t.Errorf("%s, at most %d: answers %d, %v", text, most, len(found), ok)
			}
		}
	}
	for _, text := range []string{"seld*", "s*"} {
		if _, ok := askFew(t, s, text, visible, 2); ok {
			t.Errorf("%s: answered, though no whole word is asked for", text)
		}
	}
	more := visible
	for n := range fewLogs - 1 {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("other", n), Epoch: "e"})
		w.text("ann", "else")
		w.add(1)
		more = append(more, archive.Visible{Log: w.log, From: 1, To: 1})
		if _, ok := askFew(t, s, "else", more, 2); ok != (len(more) <= fewLogs) {
			t.Errorf("of %d logs: answered %v", len(more), ok)
		}
	}
	for _, q := range []archive.Query{{Text: "seldom"}, {Text: "seldom word"}, {Text: "seldom -word"}, {Text: "frequent"}, {Text: `"seldom word" -now`}, {Text: "seldom wor*"}, {Text: "seldom", From: "bob"},
		{Text: "seldom", Kind: chat.Data}, {Text: "word", SinceMs: firstSentMs + 9_000, UntilMs: firstSentMs + 20_000}} {
		q.Visible = visible
		for _, q.Limit = range []int{1, 3, 200} {
			e.fewMax = fewMax
			got := findAll(t, s, q)
			e.fewMax = 0
			other := findAll(t, s, q)
			if q.Limit == 1 && len(got) < 2 || !cmp.Equal(got, other) {
				t.Errorf("%+v: %v, want %v", q, got, other)
			}
		}
	}
}

// TestFewOneState: what changes between the two statements of a search does not show in it.
func TestFewOneState(t *testing.T) {
	s, e := openLite(t)
	w := newLog(t, s, aLog)
	w.text("ann", "word")
	w.add(1)
	q := asking(t, s, "word", whole(aLog), 10)
	few, err := e.few(t.Context(), q)
	if err != nil || few == nil {
		t.Fatal(few, err)
	}
	w.edit("ann", 1, "other")
	w.add(2)
	list, _, err := s.collect(t.Context(), q, few)
	if err != nil || len(list) != 1 || !strings.Contains(string(list[0].JSON), `"word"`) {
		t.Errorf("finds %v, %v, want the message as it was", list, err)
	}
}

// TestFewLarge: an entry whose id has no room in the index by logs is found by the other one, and no other is found in its place.
func TestFewLarge(t *testing.T) {
	s, _ := openLite(t)
	w := newLog(t, s, aLog)
	w.text("ann", "word")
	large := newLog(t, s, aLog)
	large.text("ann", "word far on")
	m := large.list[0]
	m.ID = 1<<32 + 1
	m.JSON = []byte(strings.Replace(string(m.JSON), `"id":1,`, fmt.Sprintf(`"id":%d,`, m.ID), 1))
	if err := s.Add(t.Context(), []archive.Batch{{Log: aLog, Messages: []chat.Message{w.list[0], m}, Last: chat.IDMax}}); err != nil {
		t.Fatal(err)
	}
	for to, want := range map[int64][]int64{1<<32 - 1: {1}, 1 << 32: {1}, chat.IDMax: {m.ID, 1}} {
		visible := []archive.Visible{{Log: aLog, From: 1, To: to}}
		found, err := s.Search(t.Context(), archive.Query{Text: "word", Visible: visible, Limit: 9, BytesMax: pageBytes})
		var got []int64
		for _, h := range found.Hits {
			got = append(got, h.ID)
		}
		if _, ok := askFew(t, s, "word", visible, 9); ok != (to < 1<<32) || !cmp.Equal(got, want) || err != nil {
			t.Errorf("up to %d: %v, %v, want %v; from the index by logs: %v", to, got, err, want, ok)
		}
	}
	if more, err := s.Drop(t.Context(), aLog, chat.IDMax); more || err != nil {
		t.Error(more, err)
	}
	for log, want := range map[int64]bool{1<<31 - 1: true, 1 << 31: false} {
		if rowid, ok := logRow(log, 1<<32-1); ok != want || ok && rowid < 0 {
			t.Errorf("log %d: %d, %v", log, rowid, ok)
		}
	}
}

// TestFewChangedTogether: a message that changes in the transaction that adds others hides none of them.
func TestFewChangedTogether(t *testing.T) {
	s, e := openLite(t)
	w := newLog(t, s, aLog)
	w.text("ann", "word one")
	w.add(1)
	changed := newLog(t, s, aLog)
	for range 6 {
		changed.text("ann", "word two")
	}
	tx, err := s.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := e.unindex(t.Context(), tx, `log = ? AND id = ?`, 1, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `DELETE FROM entries`); err != nil {
		t.Fatal(err)
	}
	var rows []*row
	for _, m := range changed.list {
		r := &row{Message: m, log: 1, doc: m.ID}
		if err := r.decode(); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if taken, err := e.insert(t.Context(), tx, rows); len(taken) > 0 || err != nil {
		t.Fatal(taken, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int64{"word": {6, 5, 4, 3, 2, 1}, "two": {6, 5, 4, 3, 2, 1}, "one": nil} {
		if got, ok := askFew(t, s, text, whole(aLog), 9); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestFill brings an archive forward that has no index by logs, interrupted in the middle, and one whose last step was taken back.
func TestFill(t *testing.T) {
	url := "sqlite:" + t.TempDir() + "/archive.db"
	s := open(t, url)
	var visible []archive.Visible
	for _, group := range []string{"a", "b"} {
		w := newLog(t, s, archive.Log{Group: group, Epoch: "e"})
		for n := range 25 {
			w.text("ann", fmt.Sprint("word ", n))
		}
		w.edit("ann", 3, "other")
		w.delete("ann", 4)
		w.add(1)
		visible = append(visible, archive.Visible{Log: w.log, From: 1, To: 25})
	}
	want := findAll(t, s, archive.Query{Text: "word", Visible: visible, Limit: 50})
	for _, down := range []int{3, 2} {
		for range down {
			if _, err := MigrateDown(t.Context(), url); err != nil {
				t.Fatal(err)
			}
		}
		p, err := provider(s.engine, s.write)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.UpTo(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
		if more, err := s.engine.driver.(*sqlite).fill(t.Context(), s.write, 30); !more || err != nil {
			t.Fatal(more, err)
		}
		if got, ok := askFew(t, s, "word", visible, 50); !ok || len(got) != 28 {
			t.Errorf("after a step: %d, %v", len(got), ok)
		}
		s = open(t, url)
		if got, ok := askFew(t, s, "word", visible, 50); !ok || len(got) != len(want) {
			t.Errorf("after all steps: %d, %v, want %d", len(got), ok, len(want))
		}
		if got := findAll(t, s, archive.Query{Text: "word", Visible: visible, Limit: 50}); !cmp.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if more, err := s.engine.driver.(*sqlite).fill(t.Context(), s.write, 30); more || err != nil {
		t.Errorf("once more: %v, %v", more, err)
	}
}
