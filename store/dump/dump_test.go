package dump_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

// fill makes a store in which users have done what fills every type of key, and tasks wait.
func fill(t *testing.T, url string) *store.Store {
	t.Helper()
	b := chattest.Open(t, url)
	b.MakeGroup(chat.GroupDraft{ID: "g", Name: "General", Visibility: chat.Public}, "alice", "bob", "carl")
	for i := range 250 {
		b.Say([]string{"alice", "bob"}[i%2], "g", fmt.Sprint("<text> & ", i, " \U0001f600"))
	}
	_, err := b.Ack(b.Ctx, chattest.As("bob"), "g", chat.At(200))
	b.Must(err)
	hello := "hello"
	_, err = b.Send(b.Ctx, chattest.As("alice"), "g", chat.Content{Body: &hello, Mentions: []string{chat.MentionAll}}, "")
	b.Must(err)
	for i := range 120 {
		_, _, err := b.SendDirect(b.Ctx, chattest.As("alice"), "bob", chat.Direct{Body: &hello, ClientID: fmt.Sprint("d", i)})
		b.Must(err)
	}
	at := time.Now().Add(24 * time.Hour)
	webhooks := webhook.New(b.Service, b.Store, nil)
	_, err = schedule.New(b.Service, b.Store, webhooks).Create(b.Ctx, chattest.As("alice"),
		schedule.Draft{Key: "k", Group: "g", Content: chat.Content{Body: &hello}, At: &at})
	b.Must(err)
	_, err = webhooks.Create(b.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://webhooks.example/"})
	b.Must(err)
	b.MakeGroup(chat.GroupDraft{ID: "h"}, "carl", "bob")
	b.Must(b.DeleteGroup(b.Ctx, chattest.As("carl"), "h"))
	return b.Store
}

var aLog = archive.Log{Group: "g", Epoch: "e1"}

// archived opens a database that holds a log of n messages, with an edit and a deletion at its end.
func archived(t *testing.T, n int64) *sqlarchive.Store {
	t.Helper()
	db := openArchive(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	if n == 0 {
		return db
	}
	batch := archive.Batch{Log: aLog, Last: chat.IDMax}
	say := func(id int64, c chat.Content) {
		e := chat.Entry{ID: id, Group: aLog.Group, From: "ann", Content: c, SentAt: chat.Time{Time: time.UnixMilli(1_790_000_000_000 + id)}}
		batch.Messages = append(batch.Messages, chat.Message{ID: id, Mark: fmt.Sprintf("m%05d", id), JSON: chat.Encode(e)})
	}
	body, after := "a <word>", "another"
	for id := int64(1); id <= n; id++ {
		say(id, chat.Content{Kind: chat.Text, Body: &body})
	}
	say(n+1, chat.Content{Kind: chat.Edit, Target: 1, Body: &after})
	say(n+2, chat.Content{Kind: chat.Delete, Target: 2})
	say(n+3, chat.Content{Kind: chat.Reaction, Target: 3, Emoji: ":+1:"})
	must(t, db.Add(t.Context(), []archive.Batch{batch, {Log: archive.Log{Group: "g", Epoch: "e0"}, Last: chat.IDMax, Messages: batch.Messages[:1]}}))
	return db
}

func openArchive(t *testing.T, url string) *sqlarchive.Store {
	t.Helper()
	db, err := sqlarchive.Open(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: got %v, want %q", what, err, text)
	}
}

func export(t *testing.T, s *store.Store, o dump.Options) []byte {
	t.Helper()
	var file bytes.Buffer
	counts, err := dump.Export(t.Context(), s, &file, o)
	must(t, err)
	_, checked, err := dump.Check(t.Context(), bytes.NewReader(file.Bytes()))
	if err != nil || checked != counts {
		t.Fatalf("the file that was written: got %+v, %v, want %+v", checked, err, counts)
	}
	return file.Bytes()
}

// openFor opens a store for the import of a file.
func openFor(t *testing.T, file []byte, o store.Options) *store.Store {
	t.Helper()
	m, _, err := dump.Check(t.Context(), bytes.NewReader(file))
	must(t, err)
	o.Import, o.Partitions = m.ID, m.Partitions
	s, err := store.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func load(t *testing.T, s *store.Store, file []byte, o dump.Options) error {
	t.Helper()
	_, counts, err := dump.Check(t.Context(), bytes.NewReader(file))
	must(t, err)
	return dump.Import(t.Context(), s, bytes.NewReader(file), counts, o)
}

// content is what a file holds except for what names it: the values of each key, in order where they have one.
func content(t *testing.T, file []byte) map[string][]string {
	t.Helper()
	unpacked, err := zstd.NewReader(bytes.NewReader(file))
	must(t, err)
	defer unpacked.Close()
	all, err := io.ReadAll(unpacked)
	must(t, err)
	found := map[string][]string{}
	kinds := map[string]string{}
	lines := strings.Split(strings.TrimSpace(string(all)), "\n")
	for _, text := range lines[1 : len(lines)-1] {
		var l struct {
			Part struct {
				Key    string
				P      int
				Type   string
				Values []any
			}
			Log struct {
				Group, Epoch string
				Messages     []json.RawMessage
			}
		}
		must(t, json.Unmarshal([]byte(text), &l))
		key := fmt.Sprint(l.Part.P, l.Part.Key)
		step := map[string]int{"hash": 2, "zset": 2}[l.Part.Type]
		for values := l.Part.Values; len(values) > 0; values = values[max(step, 1):] {
			found[key] = append(found[key], fmt.Sprint(values[:max(step, 1)]))
		}
		kinds[key] = l.Part.Type
		for _, m := range l.Log.Messages {
			found["log "+l.Log.Group+" "+l.Log.Epoch] = append(found["log "+l.Log.Group+" "+l.Log.Epoch], string(m))
		}
	}
	for key, kind := range kinds {
		if kind == "hash" || kind == "set" {
			slices.Sort(found[key])
		}
	}
	return found
}

func same(t *testing.T, what string, got, want map[string][]string) {
	t.Helper()
	for key := range want {
		if !slices.Equal(got[key], want[key]) {
			t.Errorf("%s: %s: got %.300q, want %.300q", what, key, got[key], want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d keys and logs, want %d", what, len(got), len(want))
	}
}

// TestStoresAreCopied carries a store from Redis with SQLite to the embedded store with PostgreSQL and back.
func TestStoresAreCopied(t *testing.T) {
	first := fill(t, redistest.Start(t).URL())
	db := archived(t, 1200)
	id, err := db.ID(t.Context())
	must(t, err)
	must(t, first.SwitchArchive(t.Context(), id, true))
	file := export(t, first, dump.Options{Archive: db})
	want := content(t, file)
	if len(want["0g:g:msgs"]) < 251 || len(want["0u:bob:inbox"]) < 120 || len(want["log g e1"]) != 1203 || len(want["log g e0"]) != 1 {
		t.Fatalf("the file holds %d entries, %d items, %d messages", len(want["0g:g:msgs"]), len(want["0u:bob:inbox"]), len(want["log g e1"]))
	}
	for _, key := range []string{"0g:g:id", "0g:g:meta", "0u:alice:schedules", "0q:core:tasks", "0q:core:delayed", "0webhooks"} {
		if want[key] == nil {
			t.Fatalf("the file has no %s", key)
		}
	}

	server, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	second, pg := openFor(t, file, store.Options{Embedded: server}), openArchive(t, pgtest.Start(t).Database())
	must(t, load(t, second, file, dump.Options{Archive: pg}))
	file = export(t, second, dump.Options{Archive: pg})
	pgID, err := pg.ID(t.Context())
	must(t, err)
	got := content(t, file)
	if one := slices.Index(want["0archive"], fmt.Sprintf("[id %s]", id)); one < 0 || !slices.Contains(got["0archive"], fmt.Sprintf("[id %s]", pgID)) {
		t.Errorf("the store is archived into %v, want %s", got["0archive"], pgID)
	}
	got["0archive"] = want["0archive"]
	same(t, "embedded and PostgreSQL", got, want)

	third, db := openFor(t, file, store.Options{URL: redistest.Start(t).URL(), Prefix: "other"}), archived(t, 0)
	must(t, load(t, third, file, dump.Options{Archive: db}))
	got = content(t, export(t, third, dump.Options{Archive: db}))
	got["0archive"] = want["0archive"]
	same(t, "Redis and SQLite under another prefix", got, want)
	healthy(t, "Redis and SQLite under another prefix", third, db.ID)
	counts, err := db.Reactions(t.Context(), aLog, "ann", 1, 9)
	if err != nil || counts[3][":+1:"].Count != 1 {
		t.Errorf("reactions: got %v, %v", counts, err)
	}
}

// TestImportGoesOn interrupts an import, twice.
func TestImportGoesOn(t *testing.T) {
	from := fill(t, redistest.Start(t).URL())
	db := archived(t, 9000)
	id, err := db.ID(t.Context())
	must(t, err)
	must(t, from.SwitchArchive(t.Context(), id, true))
	file := export(t, from, dump.Options{Archive: db})
	server := redistest.Start(t)
	to, target := openFor(t, file, store.Options{URL: server.URL()}), archived(t, 0)
	_, counts, err := dump.Check(t.Context(), bytes.NewReader(file))
	must(t, err)
	begun := int64(-1)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		err := dump.Import(ctx, to, bytes.NewReader(file), counts, dump.Options{Archive: target, Progress: func(done, _ int64) {
			if done <= begun {
				t.Errorf("it begins again at %d, after %d", done, begun)
			}
			begun = done
			cancel()
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	_, err = store.Open(t.Context(), store.Options{URL: server.URL()})
	wants(t, "a server on half a store", err, "repeat chatd import")
	must(t, load(t, to, file, dump.Options{Archive: target}))
	for range 2 { // killed after its end, before it said so
		if err := load(t, to, file, dump.Options{Archive: target}); !errors.Is(err, dump.ErrImported) {
			t.Errorf("an import that is complete, again: got %v", err)
		}
	}
	openFor(t, file, store.Options{URL: server.URL()})
	if err := load(t, to, file, dump.Options{Archive: target}); !errors.Is(err, dump.ErrImported) {
		t.Errorf("an import that is complete, from another process: got %v", err)
	}
	want, got := content(t, file), content(t, export(t, to, dump.Options{Archive: target}))
	got["0archive"] = want["0archive"]
	same(t, "after two interruptions", got, want)
	whole, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	must(t, err)
	must(t, whole.Close())
	if err := load(t, to, file, dump.Options{Archive: target}); !errors.Is(err, dump.ErrNotEmpty) {
		t.Errorf("an import into a store that a server has opened since: got %v", err)
	}
}

// TestFilesThatAreNotWhole: nothing but the file as it was written is taken.
func TestFilesThatAreNotWhole(t *testing.T) {
	from := fill(t, redistest.Start(t).URL())
	file := export(t, from, dump.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		damaged := bytes.Clone(file)
		damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		if _, _, err := dump.Check(t.Context(), bytes.NewReader(damaged)); err == nil && !bytes.Equal(damaged, file) {
			want, got := content(t, file), content(t, damaged) // a bit of the packing that says nothing
			same(t, "damaged", got, want)
		}
		if _, _, err := dump.Check(t.Context(), bytes.NewReader(file[:random.IntN(len(file))])); err == nil {
			t.Error("a file that was cut off is taken")
		}
	}
	_, _, err := dump.Check(t.Context(), strings.NewReader("hello"))
	wants(t, "another file", err, "not an export")
	for _, c := range []struct{ old, new, want string }{
		{`"format":1`, `"format":9`, "format 9"}, {"text> & 7 ", "text> & 8 ", "checksum"}, {`{"part":{"key":"g:g:id"`, `{"part":{"key":"g:h:id"`, "checksum"},
	} {
		_, _, err := dump.Check(t.Context(), bytes.NewReader(repack(t, file, c.old, c.new)))
		wants(t, c.new, err, c.want)
	}
}

// repack changes the text of a file.
func repack(t *testing.T, file []byte, old, now string) []byte {
	t.Helper()
	unpacked, err := zstd.NewReader(bytes.NewReader(file))
	must(t, err)
	defer unpacked.Close()
	text, err := io.ReadAll(unpacked)
	must(t, err)
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("the file has no %s", old)
	}
	var out bytes.Buffer
	packed, err := zstd.NewWriter(&out)
	must(t, err)
	_, err = packed.Write(bytes.Replace(text, []byte(old), []byte(now), 1))
	must(t, errors.Join(err, packed.Close()))
	return out.Bytes()
}

// TestWhatIsRefused: an export or an import that would lose something, or mix two stores, does not begin.
func TestWhatIsRefused(t *testing.T) {
	ctx, server := t.Context(), redistest.Start(t)
	from, db := fill(t, server.URL()), archived(t, 5)
	plain := export(t, from, dump.Options{})
	id, err := db.ID(ctx)
	must(t, err)
	must(t, from.SwitchArchive(ctx, id, true))
	whole := export(t, from, dump.Options{Archive: db})

	_, err = dump.Export(ctx, from, io.Discard, dump.Options{})
	wants(t, "an export without the archive", err, "set CHATD_ARCHIVE")
	_, err = dump.Export(ctx, from, io.Discard, dump.Options{Archive: archived(t, 1)})
	wants(t, "an export of another archive", err, "another database")
	one, stop := context.WithCancel(ctx)
	workers, err := queue.New(queue.Options{Client: from.Client(), Prefix: from.Prefix(), Queues: []queue.QueueOptions{{Name: chat.QueueCore, Workers: 1}},
		Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	workers.Handle("*", func(context.Context, queue.Task) error { return nil })
	stopped := make(chan error, 1)
	go func() { stopped <- workers.Run(one) }()
	harness.Eventually(t, 10*time.Second, "an export beside a server is refused", func() error {
		if _, err := dump.Export(ctx, from, io.Discard, dump.Options{Archive: db}); !errors.Is(err, dump.ErrRunning) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	stop()
	must(t, <-stopped)

	empty := redistest.Start(t)
	to := openFor(t, whole, store.Options{URL: empty.URL()})
	wants(t, "an import without an archive", load(t, to, whole, dump.Options{}), "-drop-archive")
	wants(t, "an import into another's archive", load(t, to, whole, dump.Options{Archive: db}), "not empty")
	if n := empty.Int("DBSIZE"); n != 1 {
		t.Errorf("what was refused has left %d keys", n)
	}
	if err := load(t, from, plain, dump.Options{}); !errors.Is(err, dump.ErrNotEmpty) {
		t.Errorf("an import into a store that is not empty: got %v", err)
	}
	empty.Do("SET", "another:program", "x")
	must(t, load(t, to, whole, dump.Options{DropArchive: true}))
	state, err := to.ArchiveState(ctx)
	if err != nil || state.On || empty.Int("EXISTS", "chat:{p00}:archive") != 0 {
		t.Errorf("without the archive: got %+v, %v", state, err)
	}
	_, err = store.Open(ctx, store.Options{URL: empty.URL(), Partitions: 3})
	wants(t, "another number of partitions", err, "1 partitions")
}

// TestDroppingAnArchive: what says that there is one goes, and nothing else.
func TestDroppingAnArchive(t *testing.T) {
	server := redistest.Start(t)
	from, db := fill(t, server.URL()), archived(t, 5)
	id, err := db.ID(t.Context())
	must(t, err)
	without := content(t, export(t, from, dump.Options{}))
	must(t, from.SwitchArchive(t.Context(), id, true))
	server.Do("ZADD", "chat:{p00}:g:g:seen", "7", "$archive")
	server.Do("HSET", "chat:{p00}:g:g:meta", "archived_from", "1", "late", "3", "changed", "3")
	server.Do("HSET", "chat:{p00}:wants", "archive", "1000")
	whole := export(t, from, dump.Options{Archive: db})
	to := openFor(t, whole, store.Options{URL: redistest.Start(t).URL()})
	must(t, load(t, to, whole, dump.Options{DropArchive: true}))
	same(t, "without the archive", content(t, export(t, to, dump.Options{})), without)
}

// TestBytesThatAreNoText: values are bytes.
func TestBytesThatAreNoText(t *testing.T) {
	server, other := redistest.Start(t), redistest.Start(t)
	s, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	odd, _ := base64.StdEncoding.DecodeString("/wD+e30=")
	server.Do("HSET", "chat:{p00}:webhooks:health", "d", string(odd))
	file := export(t, s, dump.Options{})
	must(t, load(t, openFor(t, file, store.Options{URL: other.URL()}), file, dump.Options{}))
	if got := other.Do("HGET", "chat:{p00}:webhooks:health", "d"); got != string(odd) {
		t.Errorf("got %q, want %q", got, odd)
	}
}
