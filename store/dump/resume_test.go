package dump_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

// fileOf is the export of a store that has so many keys, with an archive of so many messages.
func fileOf(t *testing.T, keys int, messages int64) []byte {
	t.Helper()
	server := redistest.Start(t)
	s, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	must(t, err)
	for n := range keys {
		server.Do("HSET", fmt.Sprintf("chat:{p00}:u:user%d:devices", n), "d", `1 webhook - {"url":"`+strings.Repeat("x", 200)+`"}`)
	}
	db := archived(t, messages)
	id, err := db.ID(t.Context())
	must(t, err)
	must(t, s.SwitchArchive(t.Context(), id, true))
	file := export(t, s, dump.Options{Archive: db})
	must(t, s.Close())
	return file
}

// large is a store of some megabytes, with an archive.
func large(t *testing.T, o store.Options) (*store.Store, dump.Options) {
	t.Helper()
	file := fileOf(t, 3000, 4000)
	to, target := openFor(t, file, o), archived(t, 0)
	must(t, load(t, to, file, dump.Options{Archive: target}))
	return to, dump.Options{Archive: target}
}

// interrupted exports a store, and stops once the file can go on for the n-th time. It returns what is in the file by then.
func interrupted(t *testing.T, s *store.Store, o dump.Options, file []byte, n int) ([]byte, *dump.Checkpoint) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	out.Write(file)
	var last *dump.Checkpoint
	o.SaveBytes = 100 << 10
	o.Save = func(c dump.Checkpoint) error {
		if int64(out.Len()) != c.Offset {
			t.Errorf("the file has %d bytes, and goes on at %d", out.Len(), c.Offset)
		}
		last = &c
		if n--; n == 0 {
			cancel()
		}
		return nil
	}
	if _, err := dump.Export(ctx, s, &out, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	return out.Bytes()[:last.Offset], last
}

// TestExportGoesOn interrupts an export again and again: the file is the one that an export without interruptions makes.
func TestExportGoesOn(t *testing.T) {
	for what, o := range map[string]store.Options{"Redis": onRedis(t), "embedded": inProcess(t)} {
		s, opt := large(t, o)
		want := content(t, export(t, s, opt))
		var file []byte
		again := opt
		in := [2]int{}
		for n := 1; in[1] < 2 && n < 100; n++ {
			file, again.Resume = interrupted(t, s, again, file, n%2+1)
			if in[0]++; again.Resume.KeysEnd && again.Resume.From > 0 {
				in[1]++
			}
		}
		if in[0] < 4 || in[1] < 2 {
			t.Errorf("%s: interrupted %d times, and %d in the archive", what, in[0], in[1])
		}
		if _, _, err := dump.Check(t.Context(), bytes.NewReader(file)); err == nil {
			t.Errorf("%s: a file that is not complete is taken", what)
		}
		begun := again.Resume.Done
		again.Progress = func(done, _ int64) {
			if done <= begun {
				t.Errorf("%s: it begins again at %d, after %d", what, done, begun)
			}
		}
		out := bytes.NewBuffer(file)
		_, err := dump.Export(t.Context(), s, out, again)
		must(t, err)
		same(t, what, content(t, out.Bytes()), want)
	}
}

var errLost = errors.New("lost")

// losing loses every second pipeline on its way to Redis, and every second call of an archive, until it is over: each write of an
// import fails once.
type losing struct {
	dump.Archive
	pipelines, adds int
	over            bool
}

func (l *losing) Add(ctx context.Context, batches []archive.Batch) error {
	if l.adds++; l.adds%2 == 1 {
		return errLost
	}
	return l.Archive.Add(ctx, batches)
}

func (l *losing) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (l *losing) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (l *losing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if l.pipelines++; l.pipelines%2 == 1 && !l.over {
			return errLost
		}
		return next(ctx, cmds)
	}
}

// TestImportAfterALostWrite: how far an import is, is noted behind what it wrote, so that what was lost is written again.
func TestImportAfterALostWrite(t *testing.T) {
	file := fileOf(t, 300, 4000)
	to := openFor(t, file, onRedis(t))
	l := &losing{Archive: archived(t, 0)}
	to.Client().AddHook(l)
	lost := 0
	for ; ; lost++ {
		err := load(t, to, file, dump.Options{Archive: l})
		if err == nil {
			break
		}
		if !errors.Is(err, errLost) {
			t.Fatal(err)
		}
	}
	l.over = true
	if l.pipelines < 6 || l.adds < 4 {
		t.Errorf("%d writes to the store and %d to the archive, want several of each", l.pipelines/2, l.adds/2)
	}
	want, got := content(t, file), content(t, export(t, to, dump.Options{Archive: l.Archive}))
	got["0archive"] = want["0archive"] // the id of the database
	same(t, fmt.Sprint("after ", lost, " lost writes"), got, want)
}

// TestExportBeginsAgain: where anyone has opened the store since, or the server is another process, nothing is taken from before.
func TestExportBeginsAgain(t *testing.T) {
	server := redistest.Start(t)
	s, opt := large(t, store.Options{URL: server.URL()})
	refused := func(what string, s *store.Store, again dump.Options) {
		t.Helper()
		var out bytes.Buffer
		if _, err := dump.Export(t.Context(), s, &out, again); !errors.Is(err, dump.ErrChanged) || out.Len() > 0 {
			t.Errorf("%s: got %v and %d bytes", what, err, out.Len())
		}
	}
	again := opt
	_, again.Resume = interrupted(t, s, opt, nil, 1)
	other, err := store.Open(t.Context(), store.Options{URL: server.URL(), Existing: true, Export: true})
	must(t, err)
	must(t, other.Close())
	if id, err := s.ExportUnderWay(t.Context()); err != nil || id != again.Resume.ID {
		t.Errorf("after another export opened the store: got %q, %v", id, err)
	}
	elsewhere := again
	elsewhere.Archive = archived(t, 1)
	_, err = dump.Export(t.Context(), s, new(bytes.Buffer), elsewhere)
	wants(t, "another archive", err, "another database")
	opened, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	must(t, err)
	must(t, opened.Close())
	refused("a store that was opened", s, again)

	_, again.Resume = interrupted(t, s, opt, nil, 1)
	process := *again.Resume
	process.Process = "another"
	again.Resume = &process
	refused("another process", s, again)

	// A program that opens the store during an export is noticed at its end.
	opt.SaveBytes = 100 << 10
	opt.Save = func(dump.Checkpoint) error {
		opened, err := store.Open(t.Context(), store.Options{URL: server.URL()})
		if err == nil {
			err = opened.Close()
		}
		return err
	}
	var out bytes.Buffer
	if _, err := dump.Export(t.Context(), s, &out, opt); !errors.Is(err, dump.ErrChanged) {
		t.Errorf("a store that was opened meanwhile: got %v", err)
	}
	if _, _, err := dump.Check(t.Context(), bytes.NewReader(out.Bytes())); err == nil {
		t.Error("its file is taken")
	}
}

// TestExportOfAnEmbeddedStoreBeginsAgain: the note is in its journal.
func TestExportOfAnEmbeddedStoreBeginsAgain(t *testing.T) {
	dir := t.TempDir()
	open := func(o store.Options) (*store.Store, func()) {
		server, err := embedded.Open(t.Context(), embedded.Options{Dir: dir})
		must(t, err)
		o.Embedded = server
		s, err := store.Open(t.Context(), o)
		must(t, err)
		return s, func() { must(t, errors.Join(s.Close(), server.Close())) }
	}
	s, stop := open(store.Options{})
	must(t, s.NoteExport(t.Context(), "one"))
	for _, c := range []struct {
		exports bool
		want    string
	}{{true, "one"}, {true, "one"}, {false, ""}} {
		stop()
		s, stop = open(store.Options{Export: c.exports})
		if id, err := s.ExportUnderWay(t.Context()); err != nil || id != c.want {
			t.Errorf("got %q, %v, want %q", id, err, c.want)
		}
	}
	stop()
}
