package table

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTable(t *testing.T) {
	var log bytes.Buffer
	changes := 0
	var changed []string
	words := New("words", 10, func(_, text string) (string, error) {
		if text == "bad" {
			return "", errors.New("bad")
		}
		return text, nil
	}, func(ids []string) { changes++; changed = ids }, slog.New(slog.NewTextHandler(&log, nil)))
	check := func(what string, want ...string) {
		t.Helper()
		got := words.All()
		if len(got) != len(want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
		for _, id := range want {
			if text, ok := words.Get(id[:1]); !ok || text != id {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
	}
	words.begin()
	words.apply([]Row{{ID: "a", Version: 2, Text: "a2"}, {ID: "b", Version: 1, Text: "b1"}}, 2)
	words.end()
	check("read", "a2", "b1")
	reported := func(what string, want ...string) {
		t.Helper()
		slices.Sort(changed)
		if !slices.Equal(changed, want) {
			t.Errorf("%s: reported %q, want %q", what, changed, want)
		}
	}
	reported("read", "a", "b")
	words.Set(Row{ID: "c", Version: 3, Text: "c3"})
	check("set ahead of the follower", "a2", "b1", "c3")
	reported("set ahead of the follower", "c")
	words.apply([]Row{{ID: "c", Version: 4}, {ID: "c", Version: 3, Text: "c3"}}, 4)
	words.end()
	check("removed after it was set", "a2", "b1")
	before := changes
	words.Set(Row{ID: "c", Version: 3, Text: "c3"})
	check("set too late", "a2", "b1")
	if changes != before {
		t.Error("a row that came too late is told as a change")
	}
	words.apply([]Row{{ID: "a", Version: 5, Text: "bad"}}, 5)
	words.end()
	check("a row that cannot be read", "b1")
	if !strings.Contains(log.String(), "table=words id=a") || strings.Contains(log.String(), "bad") {
		t.Errorf("got the log %q, want the row without its text", log.String())
	}
	words.begin()
	words.apply([]Row{{ID: "d", Version: 1, Text: "d1"}}, 1)
	check("within a complete reading", "b1", "d1")
	words.end()
	check("a store that went back", "d1")
	reported("a store that went back", "b", "d")
	// What is set while a reading is under way stays: the store was read before.
	words.Set(Row{ID: "e", Version: 9, Text: "e9"})
	words.Set(Row{ID: "d", Version: 10, Text: "d10"})
	words.begin()
	words.apply([]Row{{ID: "d", Version: 1, Text: "d1"}}, 1)
	words.end()
	if e, _ := words.Get("e"); e != "e9" {
		t.Errorf("set within a reading: got %q", e)
	}
	if d, _ := words.Get("d"); d != "d10" {
		t.Errorf("changed within a reading: got %q", d)
	}
	words.begin()
	words.apply([]Row{{ID: "d", Version: 1, Text: "d1"}}, 1)
	words.end()
	check("after another reading of a store that lost them", "d1")
	// A complete reading says nothing of removals: what it does not find was removed, also if it was set here a moment ago.
	for _, when := range []string{"before", "within"} {
		if when == "before" {
			words.Set(Row{ID: "f", Version: 20, Text: "f20"})
		}
		words.begin() // of the store at version 21, which removed f
		if when == "within" {
			words.Set(Row{ID: "f", Version: 20, Text: "f20"})
		}
		words.apply([]Row{{ID: "d", Version: 1, Text: "d1"}}, 21)
		words.end()
		words.Set(Row{ID: "f", Version: 21})
		check("removed in the store, set "+when+" a complete reading", "d1")
		words.begin()
		words.apply([]Row{{ID: "d", Version: 1, Text: "d1"}}, 1)
		words.end()
	}
}

// TestTableKeepsTheLatest: of two changes of a row that come here in another order than the store took them, the later one stays.
func TestTableKeepsTheLatest(t *testing.T) {
	words := New("words", 10, func(_, text string) (string, error) { return text, nil }, nil, slog.New(slog.DiscardHandler))
	words.Set(Row{ID: "a", Version: 4, Text: "four"})
	words.Set(Row{ID: "a", Version: 3, Text: "three"})
	if text, _ := words.Get("a"); text != "four" {
		t.Errorf("a row that was changed before is %q", text)
	}
	words.Set(Row{ID: "a", Version: 6})
	words.Set(Row{ID: "a", Version: 5, Text: "five"})
	if text, ok := words.Get("a"); ok {
		t.Errorf("a row that was removed is there again: %q", text)
	}
}

// TestTableSaysBeforeItReturns: whoever has set a row finds what was made of it, though another change is being told of meanwhile.
func TestTableSaysBeforeItReturns(t *testing.T) {
	var words *Table[string]
	var made atomic.Pointer[map[string]string]
	made.Store(&map[string]string{})
	words = New("words", 10, func(_, text string) (string, error) { return text, nil }, func([]string) {
		now := map[string]string{}
		for _, id := range []string{"a", "b"} {
			now[id], _ = words.Get(id)
			runtime.Gosched()
		}
		made.Store(&now)
	}, slog.Default())
	var version atomic.Int64
	var wg sync.WaitGroup
	set := func(id string, change func(Row)) {
		for i := range 2000 {
			text := fmt.Sprint(i)
			change(Row{ID: id, Version: version.Add(1), Text: text})
			if got := (*made.Load())[id]; got != text {
				t.Errorf("%s: found %q made, want %q", id, got, text)
				return
			}
		}
	}
	wg.Go(func() { set("a", words.Set) })
	wg.Go(func() {
		set("b", func(row Row) { // as the follower, which has not ended its reading when the writer of the row returns
			words.mu.Lock()
			words.write(row)
			words.fresh[row.ID] = row.Version
			words.mu.Unlock()
			words.Set(row)
		})
	})
	wg.Wait()
}
