package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/pgtest"
)

func TestSQLite(t *testing.T) {
	suite(t, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "with space?.db") })
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	suite(t, func(*testing.T) string { return server.Database() })
}

// TestPostgresAway: what was archived outlives a crash of the server, and calls work again once it is back.
func TestPostgresAway(t *testing.T) {
	server := pgtest.Start(t)
	w := newLog(t, open(t, server.Database()), aLog)
	w.text("ann", "one")
	w.add(1)
	w.text("ann", "two")
	server.Kill()
	second := []archive.Batch{{Log: w.log, Messages: w.list[1:], Last: 2}}
	add := func() error { return w.to.Add(t.Context(), second) }
	read := func() error {
		_, err := w.to.Read(t.Context(), w.log, archive.Span{From: 1, To: 9, Limit: 1})
		return err
	}
	for name, call := range map[string]func() error{"add": add, "read": read} {
		err := call()
		// The server's processes live on until they wait for their clients, and notice the crash.
		pause := time.NewTicker(10 * time.Millisecond)
		for tries := 0; err == nil && tries < 1000; tries++ {
			<-pause.C
			err = call()
		}
		pause.Stop()
		if !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Restart()
	err := w.to.Add(t.Context(), second)
	for tries := 0; err != nil && tries < 10; tries++ { // each finds out about one old connection
		err = w.to.Add(t.Context(), second)
	}
	if got := w.all(); err != nil || !cmp.Equal(got, w.list) {
		t.Errorf("after the restart: %v, %v", ids(got), err)
	}
}

// testLongText adds one with more distinct words than PostgreSQL takes for a row: its first words are found.
func testLongText(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	var body strings.Builder
	for n := range 16_000 {
		fmt.Fprintf(&body, "w%d%s ", n, strings.Repeat("ж", 57))
	}
	w.text("ann", body.String())
	w.add(1)
	found, err := w.to.Search(t.Context(), archive.Query{Text: "w1*", Visible: whole(aLog), Limit: 1, BytesMax: pageBytes})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("search: %+v, %v", found, err)
	}
}

// suite is what every engine must pass. fresh gives the address of an empty database.
func suite(t *testing.T, fresh func(t *testing.T) string) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, url string)
	}{
		{"pages", testPages}, {"entries", testEntries}, {"repeated adds change nothing", testRepeated}, {"calls share a transaction", testShared},
		{"edits and deletions", testRevisions}, {"reactions", testReactions}, {"a log that lost its end", testLostEnd},
		{"lives of a group are apart", testEpochs}, {"drop", testDrop}, {"list of logs", testLogs}, {"an entry that cannot be read", testBadEntry}, {"entries of one ms", testOneMs}, {"many entries at once", testManyAtOnce},
		{"a long text", testLongText},
		{"id", testID}, {"closed", testClosed}, {"model", testModel}, {"languages", testLanguages}, {"search", testSearch}, {"a rare word among frequent ones", testRare}, {"permission", testPermission},
		{"ranges of many logs", testRanges},
		{"a search that takes too long", testTooLong}, {"deleted words", testDeletedWords}, {"a log that was dropped and comes back", testDroppedAndBack},
		{"authored", testAuthored}, {"others of a user", testOthersOf}, {"erased author", testErasedAuthor}, {"scrub", testScrub}, {"overtaken", testOvertaken},
		{"migrations", testMigrations}, {"nodes start together", testTogether},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, fresh(t)) })
	}
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// logWriter writes the entries of one log, as the store of groups would.
type logWriter struct {
	t    rapid.TB
	to   archive.Store
	log  archive.Log
	list []chat.Message
}

var aLog = archive.Log{Group: "g", Epoch: "e1"}

func newLog(t rapid.TB, to archive.Store, log archive.Log) *logWriter {
	return &logWriter{t: t, to: to, log: log}
}

func ptr(s string) *string { return &s }

// firstSentMs is about when the first entry is sent; the others follow each second.
const firstSentMs = 1_700_000_000_000

// entry makes the next entry of the log.
func (w *logWriter) entry(from string, c chat.Content) chat.Message {
	id := int64(len(w.list) + 1)
	m := chat.Message{ID: id, Mark: fmt.Sprintf("m%05d", id),
		JSON: chat.Encode(chat.Entry{ID: id, Group: w.log.Group, From: from, Content: c, SentAt: chat.TimeMs(firstSentMs + id*1000)})}
	w.list = append(w.list, m)
	return m
}

func (w *logWriter) text(from, body string) chat.Message {
	return w.entry(from, chat.Content{Kind: chat.Text, Body: &body})
}

func (w *logWriter) edit(from string, target int64, body string) {
	w.entry(from, chat.Content{Kind: chat.Edit, Target: target, Body: &body})
}

func (w *logWriter) delete(from string, target int64) {
	w.entry(from, chat.Content{Kind: chat.Delete, Target: target})
}

func (w *logWriter) react(from string, target int64, emoji string, removed bool) {
	w.entry(from, chat.Content{Kind: chat.Reaction, Target: target, Emoji: emoji, Removed: removed})
}

// add archives the entries from an id on.
func (w *logWriter) add(from int64) {
	w.t.Helper()
	b := archive.Batch{Log: w.log, Messages: w.list[from-1:], Last: int64(len(w.list))}
	if err := newest(w.to, b); err != nil {
		w.t.Fatal(err)
	}
}

// newest adds batches that are newer than everything in their logs.
func newest(to archive.Store, batches ...archive.Batch) (err error) {
	for i := range batches {
		b := &batches[i]
		if b.Version, err = to.Version(context.Background(), b.Log); err != nil {
			return err
		}
	}
	return to.Add(context.Background(), batches)
}

// pages reads page by page until a page has no next one.
func pages(t rapid.TB, read func(cursor string) (next string)) {
	t.Helper()
	cursor := ""
	for range 1000 {
		if cursor = read(cursor); cursor == "" {
			return
		}
	}
	t.Fatal("after a thousand pages there is another one")
}

func (w *logWriter) all() []chat.Message {
	w.t.Helper()
	return w.read(archive.Span{From: 1, To: chat.IDMax, Limit: 100_000, BytesMax: 1 << 30})
}

func (w *logWriter) read(span archive.Span) []chat.Message {
	w.t.Helper()
	got, err := w.to.Read(context.Background(), w.log, span)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// body is what an entry says as it reads now.
func (w *logWriter) body(id int64) string {
	w.t.Helper()
	list, err := w.to.Entries(context.Background(), w.log, []int64{id})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("entry %d: %v, %v", id, list, err)
	}
	r := row{Message: list[0]}
	if err := r.decode(); err != nil {
		w.t.Fatal(err)
	}
	switch {
	case r.entry.DeletedAt != nil:
		return "deleted"
	case r.entry.Body == nil:
		return "none"
	}
	return *r.entry.Body
}

func ids(list []chat.Message) (ids []int64) {
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

func testPages(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	if got := w.all(); len(got) != 0 {
		t.Errorf("a log that is not there: %v", got)
	}
	for range 10 {
		w.text("ann", "hello")
	}
	w.add(1)
	if diff := cmp.Diff(w.list, w.all()); diff != "" {
		t.Error(diff)
	}
	size := len(w.list[0].JSON)
	for _, c := range []struct {
		span archive.Span
		want []int64
	}{
		{archive.Span{From: 3, To: 8, Limit: 4, BytesMax: 1 << 20}, []int64{3, 4, 5, 6}},
		{archive.Span{From: 3, To: 8, Limit: 4, BytesMax: 1 << 20, Backward: true}, []int64{5, 6, 7, 8}},
		{archive.Span{From: 3, To: 8, Limit: 4, BytesMax: 2 * size}, []int64{3, 4}},
		{archive.Span{From: 3, To: 8, Limit: 4, BytesMax: 2 * size, Backward: true}, []int64{7, 8}},
		{archive.Span{From: 3, To: 8, Limit: 4, BytesMax: 1}, []int64{3}},
		{archive.Span{From: 11, To: 20, Limit: 4, BytesMax: 1 << 20}, nil},
		{archive.Span{From: 8, To: 3, Limit: 4, BytesMax: 1 << 20}, nil},
	} {
		if diff := cmp.Diff(c.want, ids(w.read(c.span))); diff != "" {
			t.Errorf("%+v: %s", c.span, diff)
		}
	}
}

func testEntries(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	for range 5 {
		w.text("ann", "hello")
	}
	w.add(1)
	for _, c := range []struct{ ask, want []int64 }{{nil, nil}, {[]int64{9}, nil}, {[]int64{4, 9, 2, 4}, []int64{2, 4}}} {
		got, err := w.to.Entries(t.Context(), w.log, c.ask)
		if diff := cmp.Diff(c.want, ids(got)); diff != "" || err != nil {
			t.Errorf("%v: %s, %v", c.ask, diff, err)
		}
	}
}

func testRepeated(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	w.text("ann", "one")
	w.text("ann", "two")
	w.edit("ann", 1, "ONE")
	w.react("bob", 2, "+", false)
	w.add(1)
	want := w.all()
	for from := range int64(4) {
		w.add(from + 1)
		if diff := cmp.Diff(want, w.all()); diff != "" {
			t.Error(diff)
		}
	}
	w.delete("ann", 1)
	w.add(5)
	want = w.all()
	w.add(1) // with the content that was deleted
	if diff := cmp.Diff(want, w.all()); diff != "" {
		t.Error(diff)
	}
}

func testShared(t *testing.T, url string) {
	s := open(t, url)
	var writers sync.WaitGroup
	const logs, rounds = 8, 10
	for n := range logs {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("g", n), Epoch: "e"})
		writers.Go(func() {
			for range rounds {
				w.text("ann", w.log.Group)
				w.add(int64(len(w.list)))
			}
			if got := w.all(); len(got) != rounds {
				t.Errorf("%s: %d entries, want %d", w.log.Group, len(got), rounds)
			}
		})
	}
	// One call with many logs, and with one log twice.
	first, second := newLog(t, s, archive.Log{Group: "first", Epoch: "e"}), newLog(t, s, archive.Log{Group: "second", Epoch: "e"})
	for range 4 {
		first.text("ann", "1")
		second.text("ann", "2")
	}
	err := s.Add(t.Context(), []archive.Batch{{Log: first.log, Messages: first.list[:2], Last: 2}, {Log: second.log, Messages: second.list, Last: 4},
		{Log: first.log, Messages: first.list[2:], Last: 4}})
	if err != nil || len(first.all()) != 4 || len(second.all()) != 4 {
		t.Errorf("%v, %v, %v", first.all(), second.all(), err)
	}
	writers.Wait()
}

func testRevisions(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	w.text("ann", "one")
	w.text("ann", "two")
	w.entry("bob", chat.Content{Kind: chat.Notice})
	w.add(1)
	w.edit("ann", 1, "ONE") // 4
	w.add(4)
	w.edit("ann", 1, "One") // 5
	w.add(5)
	if got := w.all(); w.body(1) != "One" || !cmp.Equal(got[0].Edits, []int64{4, 5}) || w.body(2) != "two" {
		t.Errorf("after the edits: %q, %v", w.body(1), got[0].Edits)
	}
	w.delete("ann", 1) // 6
	w.text("ann", "seven")
	w.edit("ann", 7, "SEVEN") // 8
	w.delete("ann", 7)        // 9
	w.delete("ann", 99)       // is not there
	w.add(6)
	for _, id := range []int64{1, 4, 5, 7, 8} {
		if got := w.body(id); got != "deleted" {
			t.Errorf("%d after the deletion: %q", id, got)
		}
	}
	if got := w.body(2); got != "two" {
		t.Errorf("another message: %q", got)
	}
}

func testReactions(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	w.text("ann", "one")
	w.text("ann", "two")
	w.react("bob", 1, "+", false)
	w.react("cyd", 1, "+", false)
	w.react("bob", 1, "a b", false)
	w.add(1)
	expect := func(user string, want map[int64]map[string]chat.ReactionCount) {
		t.Helper()
		got, err := w.to.Reactions(t.Context(), w.log, user, 1, 2)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	expect("bob", map[int64]map[string]chat.ReactionCount{1: {"+": {Count: 2, Mine: true}, "a b": {Count: 1, Mine: true}}})
	w.react("bob", 1, "+", true)
	w.react("bob", 1, "a b", true)
	w.react("bob", 2, "+", false)
	w.add(6)
	expect("bob", map[int64]map[string]chat.ReactionCount{1: {"+": {Count: 1}}, 2: {"+": {Count: 1, Mine: true}}})
	reacted := func(target int64, user, emoji string, want archive.Reacted) {
		t.Helper()
		if got, err := w.to.Reacted(t.Context(), w.log, target, user, emoji); err != nil || got != want {
			t.Errorf("%d %s %s: %+v, %v; want %+v", target, user, emoji, got, err, want)
		}
	}
	reacted(1, "cyd", "+", archive.Reacted{Alive: true, Entry: 4, On: true, Emojis: 1, Has: true})
	reacted(1, "bob", "+", archive.Reacted{Alive: true, Entry: 6, On: false, Emojis: 1, Has: true})
	reacted(1, "bob", "a b", archive.Reacted{Alive: true, Entry: 7, On: false, Emojis: 1})
	reacted(1, "eve", "?", archive.Reacted{Alive: true, Emojis: 1})
	reacted(3, "eve", "?", archive.Reacted{})
	reacted(99, "eve", "?", archive.Reacted{})
	w.delete("ann", 1)
	w.add(9)
	expect("bob", map[int64]map[string]chat.ReactionCount{2: {"+": {Count: 1, Mine: true}}})
	reacted(1, "cyd", "+", archive.Reacted{})
}

func testLostEnd(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	w.text("ann", "one")
	w.react("bob", 1, "+", false)
	w.react("bob", 1, "+", true)
	w.text("ann", "four")
	w.text("ann", "five")
	w.add(1)
	// The log goes on after 2, with other entries.
	w.list = w.list[:2]
	w.text("cyd", "three")
	w.list[2].Mark = "other"
	w.add(3)
	if got := w.all(); !cmp.Equal(got, w.list) {
		t.Errorf("after the loss: %s", cmp.Diff(w.list, got))
	}
	got, err := w.to.Reactions(t.Context(), w.log, "bob", 1, 9)
	if want := map[int64]map[string]chat.ReactionCount{1: {"+": {Count: 1, Mine: true}}}; !cmp.Equal(got, want) || err != nil {
		t.Errorf("the reaction that was taken back by a lost entry: %v, %v", got, err)
	}
	// It is the end alone that tells.
	w.list = w.list[:1]
	if err := newest(w.to, archive.Batch{Log: w.log, Last: 1}); err != nil {
		t.Fatal(err)
	}
	got, err = w.to.Reactions(t.Context(), w.log, "bob", 1, 9)
	if !cmp.Equal(w.all(), w.list) || len(got) != 0 || err != nil {
		t.Errorf("after the second loss: %v, %v, %v", ids(w.all()), got, err)
	}
}

func testEpochs(t *testing.T, url string) {
	s := open(t, url)
	old, next := newLog(t, s, aLog), newLog(t, s, archive.Log{Group: aLog.Group, Epoch: "e2"})
	for range 3 {
		old.text("ann", "old")
	}
	old.react("bob", 1, "+", false)
	old.add(1)
	next.text("ann", "new")
	next.add(1)
	if got := next.all(); len(got) != 1 || next.body(1) != "new" || old.body(1) != "old" {
		t.Errorf("the new life: %v", got)
	}
	if got, err := s.Reactions(t.Context(), next.log, "bob", 1, 9); len(got) != 0 || err != nil {
		t.Errorf("reactions: %v, %v", got, err)
	}
}

func testLogs(t *testing.T, url string) {
	s := open(t, url)
	var want []archive.Log
	for n := range 5 {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("g", n), Epoch: "e"})
		w.text("ann", "x")
		w.add(1)
		want = append(want, w.log)
	}
	for limit, pages := range map[int]int{1: 6, 2: 3, 5: 2, 6: 1} {
		var got []archive.Log
		after, page := int64(0), 1
		for ; page <= pages; page++ {
			logs, next, err := s.LogsAfter(t.Context(), after, limit)
			if err != nil {
				t.Fatal(err)
			}
			if got, after = append(got, logs...), next; after == 0 {
				break
			}
		}
		if page != pages || !slices.Equal(got, want) {
			t.Errorf("%d at a time: %v in %d pages, want %v in %d", limit, got, page, want, pages)
		}
	}
}

func testDrop(t *testing.T, url string) {
	s := open(t, url)
	w, other := newLog(t, s, aLog), newLog(t, s, archive.Log{Group: "other", Epoch: "e"})
	other.text("ann", "stays")
	other.add(1)
	for range dropMax + 10 {
		w.text("ann", "x")
	}
	w.react("bob", 5, "+", false)
	w.react("bob", dropMax+9, "+", false)
	w.add(1)
	drop := func(to int64, want bool) {
		t.Helper()
		if more, err := s.Drop(t.Context(), w.log, to); err != nil || more != want {
			t.Fatalf("drop to %d: more %v, %v", to, more, err)
		}
	}
	drop(0, false)
	drop(dropMax+5, true)
	if got := ids(w.all()); got[0] != dropMax+1 {
		t.Errorf("one step reaches %d", got[0])
	}
	drop(dropMax+5, false)
	if got := ids(w.all()); got[0] != dropMax+6 || len(got) != 7 {
		t.Errorf("it reaches %d", got[0])
	}
	got, err := s.Reactions(t.Context(), w.log, "bob", 1, chat.IDMax)
	if len(got) != 1 || got[dropMax+9]["+"].Count != 1 || err != nil {
		t.Errorf("reactions: %v, %v", got, err)
	}
	drop(chat.IDMax, false)
	drop(chat.IDMax, false) // once more
	if got := w.all(); len(got) != 0 || len(other.all()) != 1 {
		t.Errorf("after dropping all: %v", got)
	}
	w.add(1)
	if got := w.all(); len(got) != len(w.list) {
		t.Errorf("added again: %d entries", len(got))
	}
}

// testOvertaken: a batch that was read before others were written takes nothing of theirs away.
func testOvertaken(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	for _, body := range []string{"one", "two", "three"} {
		w.text("ann", body)
	}
	w.add(1)
	version, err := s.Version(t.Context(), aLog)
	if err != nil || version == 0 {
		t.Fatal(version, err)
	}
	stale := archive.Batch{Log: aLog, Messages: slices.Clone(w.list[1:]), Last: 3, Version: version}
	w.list = w.list[:1]
	w.text("cyd", "other two")
	w.text("cyd", "other three")
	w.text("cyd", "other four")
	for i := range w.list[1:] {
		w.list[i+1].Mark += "x"
	}
	w.add(2)
	want := func() []chat.Message { return w.list }
	refused := func(why string, b archive.Batch) {
		t.Helper()
		for _, version := range []int64{b.Version, 0} {
			b.Version = version
			if err := s.Add(t.Context(), []archive.Batch{b}); !errors.Is(err, chat.ErrConflict) {
				t.Errorf("%s: %v", why, err)
			}
			if diff := cmp.Diff(want(), w.all(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", why, diff)
			}
		}
	}
	refused("entries that were lost", stale)
	refused("an end that the log had", archive.Batch{Log: aLog, Last: 1, Version: version})
	if err := s.Add(t.Context(), []archive.Batch{{Log: aLog, Messages: w.list, Last: chat.IDMax}}); err != nil {
		t.Errorf("the same entries again: %v", err)
	}
	if _, err := s.Drop(t.Context(), aLog, 4); err != nil {
		t.Fatal(err)
	}
	again := archive.Batch{Log: aLog, Messages: w.list, Last: chat.IDMax}
	if again.Version, err = s.Version(t.Context(), aLog); err != nil {
		t.Fatal(err)
	}
	again.Version--
	want = func() []chat.Message { return nil }
	refused("entries that were dropped", again)
	w.text("ann", "five")
	if err := s.Add(t.Context(), []archive.Batch{{Log: aLog, Messages: w.list[4:], Last: chat.IDMax}}); err != nil {
		t.Errorf("entries behind those that were dropped: %v", err)
	}
}

func testBadEntry(t *testing.T, url string) {
	s := open(t, url)
	var calls sync.WaitGroup
	for n := range 8 {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("g", n), Epoch: "e"})
		calls.Go(func() {
			w.text("ann", "fine")
			w.add(1)
		})
		calls.Go(func() {
			bad := archive.Batch{Log: archive.Log{Group: "bad", Epoch: "e"}, Messages: []chat.Message{{ID: 1, JSON: []byte(`{`)}}, Last: 1}
			if err := s.Add(t.Context(), []archive.Batch{bad}); err == nil || errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("an entry that is no JSON: %v", err)
			}
		})
	}
	calls.Wait()
}

// testOneMs: many logs and entries at the very same time.
func testOneMs(t *testing.T, url string) {
	s := open(t, url)
	var batches []archive.Batch
	for n := range 1100 {
		m := chat.Message{ID: 1, Mark: "m", JSON: []byte(`{"id":1,"kind":"text","body":"x","sent_at":"2026-01-01T00:00:00.000Z"}`)}
		batches = append(batches, archive.Batch{Log: archive.Log{Group: fmt.Sprint("g", n), Epoch: "e"}, Messages: []chat.Message{m}, Last: 1})
	}
	for _, part := range [][]archive.Batch{batches[:30], batches[30:]} { // the second meets the first in the database, and itself
		if err := s.Add(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range batches {
		if got, err := s.Entries(t.Context(), b.Log, []int64{1}); err != nil || len(got) != 1 {
			t.Fatalf("%s: %v, %v", b.Group, got, err)
		}
	}
}

func testID(t *testing.T, url string) {
	s := open(t, url)
	first, err := s.ID(t.Context())
	again, err2 := open(t, url).ID(t.Context())
	if first == "" || again != first || err != nil || err2 != nil {
		t.Errorf("%q, %q, %v, %v", first, again, err, err2)
	}
}

func testClosed(t *testing.T, url string) {
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Read(t.Context(), aLog, archive.Span{From: 1, To: 9, Limit: 1})
	if !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("read: %v", err)
	}
	if err := s.Add(t.Context(), nil); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("add: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, url := range []string{"", "sqlite:", "mysql://x", "/tmp/x.db", "off"} {
		if _, err := Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), "sqlite:PATH") {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "absent", "x.db")); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := Open(t.Context(), "postgres://x@127.0.0.1:1/x"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a server that is not there: %v", err)
	}
}
