package store_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/table"
)

var tableTests = map[string]func(*fixture){
	"Versions and Changes":      testTableChanges,
	"Changes in pages":          testTablePages,
	"Row and Put":               testTableRow,
	"UseRow and UsedRows":       testTableUse,
	"FollowTables":              testTableSignals,
	"one of many puts prevails": testTableRace,
}

// write writes or removes a row, and returns its version.
func (w *fixture) write(name, id string, before int64, text string) int64 {
	w.Helper()
	version, err := w.Put(w.ctx, name, table.Row{ID: id, Version: before, Text: text}, 10_000)
	w.ok(err)
	return version
}

func (w *fixture) changes(name string, after int64) table.Page {
	w.Helper()
	page, err := w.Changes(w.ctx, name, after)
	w.ok(err)
	return page
}

func testTableChanges(w *fixture) {
	none, err := w.Versions(w.ctx)
	w.ok(err)
	w.equal(len(none), 0)
	w.equal(w.changes("keys", 0), table.Page{})

	a := w.write("keys", "a", 0, "one")
	b := w.write("keys", "b", 0, "two")
	other := w.write("users", "a", 0, "other")
	a2 := w.write("keys", "a", a, "three")
	gone := w.write("keys", "b", b, "")
	if a >= b || b >= a2 || a2 >= gone {
		w.Fatalf("got versions %d %d %d %d, want each above the one before", a, b, a2, gone)
	}
	versions, err := w.Versions(w.ctx)
	w.ok(err)
	w.equal(versions, map[string]int64{"keys": gone, "users": other})
	w.equal(w.changes("keys", 0), table.Page{Rows: []table.Row{{ID: "a", Version: a2, Text: "three"}}, Version: gone, Now: gone})
	w.equal(w.changes("keys", b), table.Page{Rows: []table.Row{{ID: "a", Version: a2, Text: "three"}, {ID: "b", Version: gone}}, Version: gone, Now: gone})
	w.equal(w.changes("keys", gone), table.Page{Version: gone, Now: gone})

	again := w.write("keys", "b", 0, "back")
	w.equal(w.changes("keys", gone), table.Page{Rows: []table.Row{{ID: "b", Version: again, Text: "back"}}, Version: again, Now: again})
}

// testTablePages writes more rows than a page has, and removes more than the store remembers.
func testTablePages(w *fixture) {
	const rows = 1203
	versions := map[string]int64{}
	for i := range rows {
		id := fmt.Sprintf("r%04d", i)
		versions[id] = w.write("keys", id, 0, id)
	}
	all := map[string]string{}
	for after, pages := int64(0), 1; ; pages++ {
		page := w.changes("keys", after)
		for _, r := range page.Rows {
			all[r.ID] = r.Text
		}
		if after = page.Version; after == page.Now {
			w.equal(pages, 3)
			break
		}
	}
	w.equal(len(all), rows)
	w.equal(w.changes("keys", 0).Forgotten, int64(0))
	var first, last int64
	for i := range 1001 {
		id := fmt.Sprintf("r%04d", i)
		last = w.write("keys", id, versions[id], "")
		if i == 0 {
			first = last
		}
	}
	page := w.changes("keys", first)
	w.equal(page.Forgotten, first)
	w.equal(w.changes("keys", last), table.Page{Version: last, Now: last, Forgotten: first})
}

func testTableRow(w *fixture) {
	_, err := w.Row(w.ctx, "keys", "a")
	w.equal(chat.CodeOf(err), chat.CodeNotFound)
	a := w.write("keys", "a", 0, "one")
	got, err := w.Row(w.ctx, "keys", "a")
	w.ok(err)
	w.equal(got, table.Row{ID: "a", Version: a, Text: "one"})
	for what, row := range map[string]table.Row{
		"created again": {ID: "a", Text: "two"}, "of another version": {ID: "a", Version: a + 1, Text: "two"},
		"changed without being there": {ID: "b", Version: a, Text: "two"}, "removed without being there": {ID: "b"},
		"removed in another version": {ID: "a", Version: a - 1},
	} {
		if _, err := w.Put(w.ctx, "keys", row, 10); chat.CodeOf(err) != chat.CodeConflict {
			w.Errorf("%s: got %v, want a conflict", what, err)
		}
	}
	if _, err := w.Put(w.ctx, "keys", table.Row{ID: "b", Text: "two"}, 1); chat.CodeOf(err) != chat.CodeQuotaFull {
		w.Errorf("one row too many: got %v, want quota_full", err)
	}
	if _, err := w.Put(w.ctx, "keys", table.Row{ID: "a", Version: a, Text: "two"}, 1); err != nil {
		w.Errorf("a change in a full table: got %v", err)
	}
}

func testTableUse(w *fixture) {
	a := w.write("keys", "a", 0, "one")
	w.ok(w.UseRow(w.ctx, "keys", "a"))
	w.ok(w.UseRow(w.ctx, "keys", "unknown"))
	used, err := w.UsedRows(w.ctx, "keys")
	w.ok(err)
	if len(used) != 1 || used["a"] < a {
		w.Errorf("got %v, want a alone, from %d on", used, a)
	}
	w.write("keys", "a", a, "")
	used, err = w.UsedRows(w.ctx, "keys")
	w.ok(err)
	w.equal(len(used), 0)
}

func testTableSignals(w *fixture) {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	wg.Go(func() { _ = w.Listen(ctx, func(live.Signal) {}) })
	w.ok(w.FollowTables(ctx))
	for len(w.TablesChanged()) > 0 {
		<-w.TablesChanged() // what the subscription itself has told
	}
	w.write("keys", "a", 0, "one")
	select {
	case <-w.TablesChanged():
	case <-time.After(20 * time.Second):
		w.Fatal("no signal of a change")
	}
}

// testTableRace has many callers put the same row: one of each round prevails.
func testTableRace(w *fixture) {
	var version int64
	for round := range 5 {
		var wg sync.WaitGroup
		won := make(chan int64, 8)
		for i := range cap(won) {
			wg.Go(func() {
				row := table.Row{ID: "a", Version: version, Text: fmt.Sprintf("%d of round %d", i, round)}
				if v, err := w.Put(w.ctx, "keys", row, 10); err == nil {
					won <- v
				} else if chat.CodeOf(err) != chat.CodeConflict {
					w.Errorf("got %v, want a conflict", err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			w.Fatalf("round %d: %d callers prevailed, want one", round, len(won))
		}
		version = <-won
	}
}
