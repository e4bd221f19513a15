package archive

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/pgtest"
)

// TestPostgresWalk: whether a search looks at the newest entries first or asks the index at once, it finds the same pages.
func TestPostgresWalk(t *testing.T) {
	s := open(t, pgtest.Start(t).Database())
	e := s.engine.driver.(*postgres)
	var visible []archive.Visible
	for _, group := range []string{"a", "b", "hidden"} {
		w := newLog(t, s, archive.Log{Group: group, Epoch: "e"})
		for n := range 60 {
			text := "common"
			if n%20 == 0 {
				text = "common seldom"
			}
			w.text([]string{"ann", "bob"}[n%2], text)
		}
		w.entry("ann", chat.Content{Kind: chat.Data, Data: []byte(`{"a":"common"}`)})
		w.delete("ann", 57)
		w.add(1)
		if group != "hidden" {
			visible = append(visible, archive.Visible{Log: w.log, From: 5, To: 60})
		}
	}
	if _, err := s.write.ExecContext(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	of, err := e.shares.get(t.Context(), e.db)
	if err != nil || of["common"] < 0.9 || of["seldom"] > 0.1 {
		t.Fatalf("shares: %v, %v", of, err)
	}
	walks := func(text string, limit int) bool {
		plan, err := e.walk(t.Context(), asking(t, s, text, visible[:1], limit))
		if err != nil {
			t.Fatal(err)
		}
		return plan != nil
	}
	for text, want := range map[string]bool{"common": true, "seldom": true, "absent": false, "common -absent": true, "common -common": false,
		"comm*": false, `"common seldom"`: false, "common absent": false} {
		if walks(text, 8) != want {
			t.Errorf("%s: walks %v, want %v", text, !want, want)
		}
	}
	if walks("seldom", 100) {
		t.Error("walks for 100 that are seldom")
	}
	all := func(q archive.Query) (all [][]string) {
		t.Helper()
		q.Visible, q.BytesMax = visible, pageBytes
		pages(t, func(cursor string) string {
			q.Cursor = cursor
			found, err := s.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var page []string
			for _, h := range found.Hits {
				page = append(page, fmt.Sprint(h.Group, h.ID))
			}
			all = append(all, page)
			return found.Next
		})
		return all
	}
	for _, q := range []archive.Query{
		{Text: "common", Limit: 7}, {Text: "seldom", Limit: 2}, {Text: "common", From: "bob", Limit: 7}, {Text: "common", Kind: chat.Data, Limit: 7},
		{Text: "common -seldom", Limit: 50}, {Text: "common", SinceMs: firstSentMs + 10_000, UntilMs: firstSentMs + 20_000, Limit: 4},
		{Text: "common", Sort: archive.Best, Limit: 9},
	} {
		e.shares.read = time.Now().Add(time.Hour)
		e.shares.of = map[string]float64{}
		want := all(q)
		for _, e.shares.of = range []map[string]float64{of, {"common": 1, "seldom": 1}} { // as it is, and far too high
			if got := all(q); !cmp.Equal(got, want) {
				t.Errorf("%+v, shares %v: %v, want %v", q, e.shares.of, got, want)
			}
		}
	}
}

// TestPostgresSettles: after a write has settled, nothing waits to be merged into the index of words.
func TestPostgresSettles(t *testing.T) {
	s := open(t, pgtest.Start(t, "autovacuum=off").Database())
	w := newLog(t, s, aLog)
	for n := range 300 {
		w.text("ann", fmt.Sprint("word ", n))
	}
	w.add(1)
	s.writer.stop()
	if again, err := s.engine.scrub(t.Context(), s.write); again || err != nil {
		t.Fatal(again, err)
	}
	var pages int
	if err := s.read.QueryRowContext(t.Context(), `SELECT gin_clean_pending_list('entries_words')`).Scan(&pages); err != nil || pages > 0 {
		t.Errorf("%d pages wait to be merged, %v", pages, err)
	}
}
