package chat

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestResolve(t *testing.T) {
	open := Info{Group: Group{Epoch: "e", First: 5, Last: 10, History: true}, Joined: 1, Seen: 7, LastMark: "mL"}
	hidden := open
	hidden.History, hidden.Joined = false, 8
	trimmedHidden := hidden
	trimmedHidden.First = 9
	behind := open
	behind.Seen = 2
	edge := open
	edge.Trimmed = Trimmed{ID: 4, Mark: "m4"}
	for _, c := range []struct {
		name     string
		info     Info
		pos      Position
		mark     string // of the entry stored at the position
		id       int64
		complete bool
		before   string // mark of the position just before
	}{
		{"own seen", open, Position{}, "", 8, true, ""},
		{"own seen, trimmed", behind, Position{}, "", 5, false, ""},
		{"an id", open, Position{Set: true, ID: 6}, "m6", 7, true, "m6"},
		{"the end", open, Position{Set: true, ID: 10}, "", 11, true, "mL"},
		{"just before first", open, Position{Set: true, ID: 4}, "", 5, true, ""},
		{"a trimmed range", open, Position{Set: true, ID: 3}, "", 5, false, ""},
		{"from the beginning, trimmed", open, Position{Set: true}, "", 5, false, ""},
		{"above last", open, Position{Set: true, ID: 11}, "", 5, false, ""},
		{"far above last", open, Position{Set: true, ID: 1<<63 - 1}, "", 5, false, ""},
		{"another epoch", open, Position{Set: true, ID: 6, Epoch: "f", Mark: "m6"}, "m6", 5, false, ""},
		{"the same mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "m6"}, "m6", 7, true, "m6"},
		{"another mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "m6"}, "mX", 5, false, ""},
		{"a client that knows no mark", open, Position{Set: true, ID: 6, Epoch: "e", Mark: "-"}, "mX", 7, true, "mX"},
		{"a trimmed mark", open, Position{Set: true, ID: 4, Epoch: "e", Mark: "m4"}, "", 5, true, "m4"},
		{"another mark at the end", open, Position{Set: true, ID: 10, Epoch: "e", Mark: "m"}, "", 5, false, ""},
		{"just before first, with its mark known", edge, Position{Set: true, ID: 4}, "", 5, true, "m4"},
		{"the same trimmed mark", edge, Position{Set: true, ID: 4, Epoch: "e", Mark: "m4"}, "", 5, true, "m4"},
		{"another trimmed mark", edge, Position{Set: true, ID: 4, Epoch: "e", Mark: "mX"}, "", 5, false, "m4"},
		{"another trimmed mark, which the archive has", edge, Position{Set: true, ID: 4, Epoch: "e", Mark: "mX"}, "mX", 5, false, "m4"},
		{"below the trimmed mark", edge, Position{Set: true, ID: 3, Epoch: "e", Mark: "mX"}, "", 5, false, "m4"},
		{"before joining", hidden, Position{Set: true, ID: 2}, "", 8, true, ""},
		{"just before joining", hidden, Position{Set: true, ID: 7, Epoch: "e", Mark: "m7"}, "", 8, true, "m7"},
		{"after joining", hidden, Position{Set: true, ID: 8}, "", 9, true, ""},
		{"before joining, trimmed since", trimmedHidden, Position{Set: true, ID: 2}, "", 9, false, ""},
		{"another epoch, before joining", hidden, Position{Set: true, ID: 2, Epoch: "f", Mark: "-"}, "", 8, false, ""},
	} {
		got := Resolve(c.info, c.pos, c.mark)
		if want := (Start{c.id, c.complete}); got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
		want := Position{Set: true, ID: c.id - 1, Epoch: "e", Mark: c.before}
		if before := got.Before(c.info, c.pos, c.mark); before != want {
			t.Errorf("%s: the position before is %+v, want %+v", c.name, before, want)
		}
	}
}

// fakeLog is a log as one member stands to it. It answers pulls as a store does.
type fakeLog struct {
	info   Info
	marks  map[int64]string // by id, also of what is trimmed
	pulls  []Pull
	before func() // what happens before the next pull
}

func newFakeLog(epoch string, first, last int64) *fakeLog {
	l := &fakeLog{info: Info{Group: Group{ID: "g", Epoch: epoch, First: first, Last: last, History: true}, Role: Ordinary}, marks: map[int64]string{}}
	for id := int64(1); id <= last; id++ {
		l.write(id, "m")
	}
	return l
}

func (l *fakeLog) write(id int64, mark string) {
	l.marks[id] = fmt.Sprint(mark, id)
	l.info.Last, l.info.LastMark = id, l.marks[id]
}

// rollBack cuts the log after last and rewrites it up to the id again.
func (l *fakeLog) rollBack(last, again int64) {
	l.info.Last, l.info.LastMark = last, l.marks[last]
	for id := last + 1; id <= again; id++ {
		l.write(id, "n")
	}
}

func (l *fakeLog) Pull(_ context.Context, _ string, pulls []Pull) ([]Page, error) {
	if happens := l.before; happens != nil {
		l.before = nil
		happens()
	}
	pages := make([]Page, len(pulls))
	for i, p := range pulls {
		l.pulls = append(l.pulls, p)
		if pages[i].Info = l.info; l.info.Role == "" {
			pages[i].Err = ErrNotFound
			continue
		}
		for id, n := max(p.From, l.info.First), 0; id <= l.info.Last && n < p.Limit; id, n = id+1, n+1 {
			if id >= l.info.Visible() {
				pages[i].Messages = append(pages[i].Messages, Message{ID: id, Mark: l.marks[id]})
			}
		}
	}
	return pages, nil
}

func (l *fakeLog) read(t interface{ Fatal(...any) }, pos Position, hint int64, limit int) *Reading {
	r := NewReading("g", pos, hint, limit)
	if err := Read(context.Background(), l, "bob", []*Reading{&r}); err != nil {
		t.Fatal(err)
	}
	return &r
}

func span(r *Reading) (from, to int64) {
	if len(r.Messages) == 0 {
		return r.Start.ID, r.Start.ID - 1
	}
	return r.Messages[0].ID, r.Messages[len(r.Messages)-1].ID
}

// One answer is enough where the position is in the log; a second one is asked for from where it leads.
func TestReadingAsks(t *testing.T) {
	at := func(id int64) Position { return Position{Set: true, ID: id} }
	for _, c := range []struct {
		name     string
		change   func(*fakeLog)
		pos      Position
		hint     int64
		from, to int64
		complete bool
		pulls    []int64 // where each read began
	}{
		{"a position", nil, at(20), 0, 21, 23, true, []int64{20}},
		{"the end", nil, at(100), 0, 101, 100, true, []int64{100}},
		{"own seen, a hint that is right", func(l *fakeLog) { l.info.Seen = 30 }, Position{}, 30, 31, 33, true, []int64{31}},
		{"own seen, a hint that lags a little", func(l *fakeLog) { l.info.Seen = 30 }, Position{}, 28, 31, 31, true, []int64{29}},
		{"own seen, a hint that lags", func(l *fakeLog) { l.info.Seen = 30 }, Position{}, 2, 31, 33, true, []int64{3, 31}},
		{"own seen, a hint of another life", func(l *fakeLog) { l.info.Seen = 30 }, Position{}, 90, 31, 33, true, []int64{91, 31}},
		{"trimmed", nil, at(2), 0, 10, 12, false, []int64{2}},
		{"another epoch", nil, Position{Set: true, ID: 50, Epoch: "f", Mark: "m50"}, 0, 10, 12, false, []int64{50, 10}},
		{"above last", nil, at(400), 0, 10, 12, false, []int64{400, 10}},
		{"above what a store can tell apart", nil, at(1<<63 - 1), 0, 10, 12, false, []int64{IDMax, 10}},
		{"another mark", nil, Position{Set: true, ID: 50, Epoch: "e", Mark: "x"}, 0, 10, 12, false, []int64{50, 10}},
		{"before joining", func(l *fakeLog) { l.info.History, l.info.Joined = false, 60 }, at(20), 0, 60, 62, true, []int64{20, 60}},
		{"before joining, near", func(l *fakeLog) { l.info.History, l.info.Joined = false, 60 }, at(58), 0, 60, 61, true, []int64{58}},
		{"a hole", func(l *fakeLog) { l.info.First = 60 }, at(70), 0, 71, 73, true, []int64{70}},
	} {
		l := newFakeLog("e", 10, 100)
		if c.change != nil {
			c.change(l)
		}
		r := l.read(t, c.pos, c.hint, 3)
		var began []int64
		for _, p := range l.pulls {
			began = append(began, p.From)
		}
		if from, to := span(r); from != c.from || to != c.to || r.Start.Complete != c.complete || !slices.Equal(began, c.pulls) {
			t.Errorf("%s: got %d..%d, complete %v, read from %v; want %d..%d, %v, %v", c.name, from, to, r.Start.Complete, began,
				c.from, c.to, c.complete, c.pulls)
		}
	}
}

// What is found out about a position stays found out, although the log changes before it is read from elsewhere.
func TestReadingOfChangingLog(t *testing.T) {
	// The log ends before the position; by the second read it has grown past it, with other entries.
	l := newFakeLog("e", 1, 100)
	l.rollBack(50, 50)
	grow := func() { l.before = func() { l.rollBack(50, 120) } }
	l.before = grow
	if r := l.read(t, Position{Set: true, ID: 90, Epoch: "e", Mark: "m90"}, 0, 5); r.Start.Complete || r.Start.ID != 1 {
		t.Errorf("a log that was rewritten: got %+v, want a start over", r.Start)
	}
	// Trimmed further in between.
	l = newFakeLog("e", 10, 100)
	l.before = func() { l.before = func() { l.info.First = 30 } }
	if r := l.read(t, Position{Set: true, ID: 50, Epoch: "f", Mark: "-"}, 0, 5); r.Start != (Start{ID: 30}) || len(r.Messages) != 5 {
		t.Errorf("trimmed in between: got %+v and %d messages", r.Start, len(r.Messages))
	}
	// Another session of the member acked in between, and what it acked was trimmed: nothing is missing.
	l = newFakeLog("e", 10, 100)
	l.info.Seen = 40
	l.before = func() { l.before = func() { l.info.Seen, l.info.First = 70, 61 } }
	if r := l.read(t, Position{}, 10, 5); r.Start != (Start{ID: 71, Complete: true}) || len(r.Messages) != 5 {
		t.Errorf("acked in between: got %+v and %d messages", r.Start, len(r.Messages))
	}
	// Made again in between.
	l = newFakeLog("e", 1, 100)
	l.info.History, l.info.Joined = false, 60
	l.before = func() { l.before = func() { *l = *newFakeLog("f", 1, 80) } }
	if r := l.read(t, Position{Set: true, ID: 5, Epoch: "e", Mark: "m5"}, 0, 3); r.Start != (Start{ID: 1}) || r.Info.Epoch != "f" {
		t.Errorf("made again in between: got %+v of %s", r.Start, r.Info.Epoch)
	}
	// Left in between.
	l = newFakeLog("e", 1, 100)
	l.before = func() { l.before = func() { l.info.Role = "" } }
	if r := l.read(t, Position{Set: true, ID: 500}, 0, 3); CodeOf(r.Err) != CodeNotFound || len(r.Messages) > 0 {
		t.Errorf("left in between: got %v and %d messages", r.Err, len(r.Messages))
	}
	// What is read on belongs to what is in hand, or is not taken.
	for name, change := range map[string]func(){
		"trimmed": func() { l.info.First = 50 },
		"anew":    func() { l.info.Epoch = "f" },
		"left":    func() { l.info.Role = "" },
	} {
		l = newFakeLog("e", 1, 100)
		r := l.read(t, Position{Set: true, ID: 10}, 0, 3)
		change()
		pages, _ := l.Pull(t.Context(), "bob", []Pull{r.More(4)})
		r.Take(&pages[0])
		if from, to := span(r); from != 11 || to != 13 {
			t.Errorf("%s before it is read on: got %d..%d, want 11..13", name, from, to)
		}
	}
}

// A log with a hole is not served beyond it, and asked for no more often than needed.
func TestReadingMeetsHole(t *testing.T) {
	page := Page{Info: newFakeLog("e", 1, 9).info}
	for _, id := range []int64{1, 2, 4, 5} {
		page.Messages = append(page.Messages, Message{ID: id})
	}
	r := NewReading("g", Position{Set: true}, 0, 9)
	r.Take(&page)
	if from, to := span(&r); from != 1 || to != 2 {
		t.Errorf("got %d..%d, want 1..2", from, to)
	}
	r = NewReading("g", Position{Set: true, ID: 2}, 0, 9)
	asked := 0
	for range 10 {
		if _, ok := r.Ask(); ok {
			asked++
			page.Messages = page.Messages[len(page.Messages)-2:]
			r.Take(&page)
		}
	}
	if asked != 2 || len(r.Messages) != 0 || r.Owed() != 7 {
		t.Errorf("at the hole: asked %d times, %d messages, %d owed; want 2, 0, 7", asked, len(r.Messages), r.Owed())
	}
}

// TestReadingModel reads from random positions of random logs that change between the reads, and compares what is served
// with what a reader may be told: nothing of another log, nothing hidden, no hole, and no silent loss.
func TestReadingModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := func(name string, from, to int64) int64 { return rapid.Int64Range(from, to).Draw(t, name) }
		last := id("last", 0, 12)
		l := newFakeLog("e", id("first", 1, last+1), last)
		l.info.Seen = id("seen", 0, last)
		if rapid.IntRange(0, 3).Draw(t, "history") == 0 {
			l.info.History, l.info.Joined = false, id("joined", 0, last)
		}
		if rapid.IntRange(0, 3).Draw(t, "rolled back") == 0 {
			l.rollBack(id("to", l.info.First-1, last), id("again", l.info.First-1, last+3))
			l.info.Seen, l.info.Joined = min(l.info.Seen, l.info.Last), min(l.info.Joined, l.info.Last)
		}
		pos := Position{Set: rapid.Bool().Draw(t, "set")}
		if pos.Set {
			pos.ID = id("position", 0, 16)
			if rapid.Bool().Draw(t, "cursor") {
				pos.Epoch = rapid.SampledFrom([]string{"e", "e", "e", "f"}).Draw(t, "epoch")
				pos.Mark = rapid.SampledFrom([]string{"-", fmt.Sprint("m", pos.ID), fmt.Sprint("n", pos.ID)}).Draw(t, "mark")
			}
		}
		still := true
		change := func() {
			still = false
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				l.info.First = id("trimmed to", l.info.First, l.info.Last+1)
			case 1:
				l.write(l.info.Last+1, "n")
			case 2:
				l.info.Seen = id("seen again", l.info.Seen, l.info.Last)
			case 3:
				marks := l.marks
				*l = *newFakeLog("g", 1, id("anew", 1, 9))
				for at := range l.marks {
					l.marks[at] = marks[at] // as if the marks were the same by chance
				}
			}
		}
		if rapid.IntRange(0, 2).Draw(t, "changes") == 0 {
			l.before = func() { l.before = change }
		}
		r := l.read(t, pos, id("hint", 0, 16), int(id("limit", 1, 5)))
		checkReading(t, l, r, pos)
		if still && len(l.pulls) > 2 {
			t.Fatalf("a log that stays as it is was read from %v", l.pulls)
		}
	})
}

func checkReading(t *rapid.T, l *fakeLog, r *Reading, pos Position) {
	if r.Err != nil || len(r.Messages) == 0 && r.Owed() > 0 {
		t.Fatalf("nothing is served: %v, %d owed", r.Err, r.Owed())
	}
	if r.Start.ID < r.Info.Visible() && r.Owed() > 0 {
		t.Fatalf("served from %d, visible from %d", r.Start.ID, r.Info.Visible())
	}
	for i, m := range r.Messages {
		if m.ID != r.Start.ID+int64(i) {
			t.Fatalf("%d stands at %d", m.ID, r.Start.ID+int64(i))
		}
	}
	if !pos.Set || !r.Start.Complete {
		return
	}
	switch {
	case pos.Epoch != "" && pos.Epoch != r.Info.Epoch:
		t.Fatal("complete although the position is of another epoch")
	case r.Start.ID != pos.ID+1 && (r.Info.History || r.Start.ID != r.Info.Joined):
		t.Fatalf("complete although it goes on at %d after %d", r.Start.ID, pos.ID)
	case pos.ID >= l.info.Visible() && pos.Mark != "-" && pos.Mark != "" && r.Info.Epoch == l.info.Epoch && pos.Mark != l.marks[pos.ID]:
		t.Fatalf("complete although the entry at %d is %s and not %s", pos.ID, l.marks[pos.ID], pos.Mark)
	}
}

// A look says that there is nothing to read exactly where an info would start the reader behind the end, and never that less
// is owed than there is.
func TestLookAgreesWithResolve(t *testing.T) {
	positions := []Position{{}}
	for id := range int64(8) {
		for _, epoch := range []string{"", "e", "f"} {
			for _, mark := range []string{"", "-", "m5", "mX"} {
				positions = append(positions, Position{Set: true, ID: id, Epoch: epoch, Mark: mark})
			}
		}
	}
	for _, first := range []int64{1, 4, 6} {
		for seen := range int64(7) {
			info := Info{Group: Group{ID: "g", Epoch: "e", First: first, Last: 5, History: true}, Role: Ordinary, Seen: seen, LastMark: "m5", Held: first}
			look := Look{Last: 5, Epoch: "e", Mark: "m5", Seen: seen}
			for _, pos := range positions {
				start := Resolve(info, pos, "")
				if got, want := look.Nothing(pos), start == (Start{6, true}); got != want {
					t.Errorf("first %d, seen %d, %+v: nothing is %v, want %v", first, seen, pos, got, want)
				}
				if owed := look.Owed(pos); start.Complete && owed < 6-start.ID {
					t.Errorf("first %d, seen %d, %+v: owed %d, want at least %d", first, seen, pos, owed, 6-start.ID)
				}
			}
		}
	}
	for _, look := range []Look{{Last: -1, Seen: -1}, {Last: 5, Epoch: "e", Mark: "m5", Seen: -1}} {
		if pos := At(look.Last); look.Nothing(pos) || look.Owed(At(0)) != 0 {
			t.Errorf("%+v: as if a member", look)
		}
	}
}
