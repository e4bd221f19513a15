package archive

import (
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/chattest"
)

// machine grows two logs as the store of groups does, archives parts of them again and again, and compares with the model.
type machine struct {
	*rapid.T
	run      int // keeps the logs of one run apart from those of others in the same database
	both     []archive.Store
	logs     []*logWriter
	archived map[*logWriter]int64
	dropped  map[*logWriter]int64
	lost     map[*logWriter]bool // some end: what was lost with it may still show in what it had changed
	births   int
}

func testModel(t *testing.T, url string) {
	s := open(t, url)
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := flag.Set("rapid.checks", "20"); err != nil { // SQLite is slow under the race detector
			t.Fatal(err)
		}
	}
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		m := &machine{T: t, run: runs, both: []archive.Store{s, chattest.NewArchive("model")}, archived: map[*logWriter]int64{}, dropped: map[*logWriter]int64{},
			lost: map[*logWriter]bool{}}
		for _, epoch := range []string{"a", "b"} {
			m.logs = append(m.logs, newLog(t, s, archive.Log{Group: fmt.Sprint("g", runs), Epoch: epoch}))
		}
		t.Repeat(map[string]func(*rapid.T){"": m.compare, "grow": m.grow, "archive": m.archive, "archive both": m.archiveBoth, "lose the end": m.lose, "drop": m.drop})
	})
	if s.engine.name != "sqlite" {
		return
	}
	for _, index := range []string{"search", "log_search"} {
		if _, err := s.write.ExecContext(t.Context(), `INSERT INTO `+index+` (`+index+`) VALUES ('integrity-check')`); err != nil {
			t.Errorf("%s: %v", index, err)
		}
	}
}

func (m *machine) pick(t *rapid.T) *logWriter { return rapid.SampledFrom(m.logs).Draw(t, "log") }

// grow adds an entry; the store applies it at once to what it changes, as the store of groups does.
func (m *machine) grow(t *rapid.T) {
	w := m.pick(t)
	user := rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")
	var targets []int64
	for _, one := range w.list {
		r := row{Message: one}
		if r.decode() == nil && r.alive {
			targets = append(targets, one.ID)
		}
	}
	kind := rapid.SampledFrom([]chat.Kind{chat.Text, chat.Text, chat.Data, chat.Notice, chat.Edit, chat.Delete, chat.Reaction}).Draw(t, "kind")
	c := chat.Content{Kind: kind}
	switch {
	case kind == chat.Text:
		c.Body = ptr(rapid.StringMatching("[a-c]{1,3}( [a-c]{1,3}){0,3}").Draw(t, "body"))
	case kind == chat.Data:
		c.Data = []byte(`{"word":"` + rapid.StringMatching("[a-c]{1,3}").Draw(t, "word") + `"}`)
	case kind == chat.Notice:
	case len(targets) == 0:
		return
	default:
		c.Target = rapid.SampledFrom(targets).Draw(t, "target")
	}
	switch kind {
	case chat.Edit:
		c.Body = ptr(rapid.StringMatching("[a-c]{1,3}").Draw(t, "body"))
	case chat.Reaction:
		c.Emoji = rapid.SampledFrom([]string{"+", "-"}).Draw(t, "emoji")
		c.Removed = rapid.Bool().Draw(t, "removed")
	}
	made := w.entry(user, c)
	m.births++
	w.list[made.ID-1].Mark = fmt.Sprint("m", m.births)
	m.apply(w, c, made)
}

func (m *machine) apply(w *logWriter, c chat.Content, made chat.Message) {
	if c.Kind != chat.Edit && c.Kind != chat.Delete {
		return
	}
	by := row{Message: made}
	if err := by.decode(); err != nil {
		m.Fatal(err)
	}
	for i, one := range w.list[:made.ID-1] {
		r := row{Message: one}
		if err := r.decode(); err != nil {
			m.Fatal(err)
		}
		of := r.target == c.Target && (r.kind == chat.Edit || r.kind == chat.Reaction && !r.entry.Removed)
		if one.ID == c.Target || c.Kind == chat.Delete && of {
			var err error
			if w.list[i], err = chat.Applied(one, by.entry); err != nil {
				m.Fatal(err)
			}
		}
	}
}

func (m *machine) batch(t *rapid.T, w *logWriter) archive.Batch {
	last := int64(len(w.list))
	from := max(rapid.Int64Range(1, m.archived[w]+1).Draw(t, "from"), m.dropped[w]+1)
	if from > last+1 {
		from = last + 1
	}
	to := rapid.Int64Range(from-1, last).Draw(t, "to")
	m.archived[w] = max(m.archived[w], to)
	return archive.Batch{Log: w.log, Messages: append([]chat.Message(nil), w.list[from-1:to]...), Last: last}
}

func (m *machine) add(batches ...archive.Batch) {
	for _, to := range m.both {
		if err := newest(to, batches...); err != nil {
			m.Fatal(err)
		}
	}
}

func (m *machine) archive(t *rapid.T) { m.add(m.batch(t, m.pick(t))) }

func (m *machine) archiveBoth(t *rapid.T) {
	m.add(m.batch(t, m.logs[0]), m.batch(t, m.logs[1]), m.batch(t, m.logs[0]))
}

// lose takes the end of a log, which then goes on with other entries.
func (m *machine) lose(t *rapid.T) {
	w := m.pick(t)
	last := rapid.IntRange(int(m.dropped[w]), len(w.list)).Draw(t, "last")
	m.lost[w] = m.lost[w] || last < len(w.list)
	w.list = w.list[:last]
	m.archived[w] = min(m.archived[w], int64(last))
	m.add(archive.Batch{Log: w.log, Last: int64(last)})
}

func (m *machine) drop(t *rapid.T) {
	w := m.pick(t)
	if m.archived[w] <= m.dropped[w] {
		return
	}
	to := rapid.Int64Range(m.dropped[w], m.archived[w]).Draw(t, "to")
	m.dropped[w] = to
	for _, one := range m.both {
		if _, err := one.Drop(m.Context(), w.log, to); err != nil {
			m.Fatal(err)
		}
	}
}

func (m *machine) compare(t *rapid.T) {
	span := archive.Span{From: rapid.Int64Range(0, 20).Draw(t, "from"), To: rapid.Int64Range(0, 40).Draw(t, "to"), Limit: rapid.IntRange(1, 30).Draw(t, "limit"),
		BytesMax: rapid.IntRange(1, 5000).Draw(t, "bytes"), Backward: rapid.Bool().Draw(t, "backward")}
	all := archive.Span{From: 1, To: chat.IDMax, Limit: 1000, BytesMax: 1 << 30}
	m.compareSearch(t)
	for _, w := range m.logs {
		for _, span := range []archive.Span{all, span} {
			want, err1 := m.both[1].Read(t.Context(), w.log, span)
			got, err2 := m.both[0].Read(t.Context(), w.log, span)
			if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
				t.Fatalf("%+v: %s, %v, %v", span, diff, err1, err2)
			}
		}
		m.compareLog(t, w)
		want, err1 := m.both[1].Reactions(t.Context(), w.log, "ann", 1, chat.IDMax)
		got, err2 := m.both[0].Reactions(t.Context(), w.log, "ann", 1, chat.IDMax)
		if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Fatalf("reactions: %s, %v, %v", diff, err1, err2)
		}
		for _, target := range []int64{1, 4} {
			want, err1 := m.both[1].Reacted(t.Context(), w.log, target, "ann", "+")
			got, err2 := m.both[0].Reacted(t.Context(), w.log, target, "ann", "+")
			if got != want || err1 != nil || err2 != nil {
				t.Fatalf("reacted to %d: %+v, want %+v, %v, %v", target, got, want, err1, err2)
			}
		}
	}
}

// compareLog: a log that is archived to its end reads in the archive as it does in the store.
func (m *machine) compareLog(t *rapid.T, w *logWriter) {
	if m.lost[w] || m.archived[w] < int64(len(w.list)) {
		return
	}
	got, err := m.both[0].Read(t.Context(), w.log, archive.Span{From: 1, To: chat.IDMax, Limit: 1000, BytesMax: 1 << 30})
	if diff := cmp.Diff(w.list[m.dropped[w]:], got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Fatalf("of %v, archived to its end: %s, %v", w.log, diff, err)
	}
}

// compareSearch pages through all hits of a search, and compares them with what the model finds by looking at everything.
func (m *machine) compareSearch(t *rapid.T) {
	q := archive.Query{Text: rapid.SampledFrom([]string{"a", "b c", `"a b"`, "a*", "a -b", "aa b*", `a -"b c"`}).Draw(t, "query"),
		From: rapid.SampledFrom([]string{"", "ann"}).Draw(t, "author"), Kind: rapid.SampledFrom([]chat.Kind{"", chat.Data}).Draw(t, "of kind"),
		Sort: rapid.SampledFrom([]string{archive.Newest, archive.Best}).Draw(t, "sort"), Limit: rapid.IntRange(1, 5).Draw(t, "limit"),
		BytesMax: rapid.SampledFrom([]int{1, 500, pageBytes}).Draw(t, "bytes of hits")}
	if rapid.Bool().Draw(t, "in time") {
		q.SinceMs, q.UntilMs = firstSentMs+2000, firstSentMs+8000
	}
	if e, ok := m.both[0].(*Store).engine.driver.(*sqlite); ok {
		e.fewMax = rapid.SampledFrom([]int{0, fewMax}).Draw(t, "few")
	}
	for _, w := range m.logs[:rapid.IntRange(0, len(m.logs)).Draw(t, "visible")] {
		q.Visible = append(q.Visible, archive.Visible{Log: w.log, From: rapid.Int64Range(0, 3).Draw(t, "lowest"), To: rapid.Int64Range(5, 30).Draw(t, "highest")})
	}
	var both [2]map[string]archive.Hit
	for i, from := range m.both {
		both[i] = map[string]archive.Hit{}
		all := q
		if i == 1 {
			all.Limit, all.BytesMax = 1000, pageBytes
		}
		pages(t, func(cursor string) string {
			all.Cursor = cursor
			found, err := from.Search(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range found.Hits {
				name := fmt.Sprint(h.Log, h.ID)
				if _, twice := both[i][name]; twice {
					t.Fatalf("%+v: %s is found twice", q, name)
				}
				both[i][name] = h
			}
			return found.Next
		})
	}
	if diff := cmp.Diff(both[1], both[0]); diff != "" {
		t.Fatalf("%+v: %s", q, diff)
	}
}
