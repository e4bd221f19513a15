package dump

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store"
)

//go:embed lua
var luaFiles embed.FS

var library = &script.Library{Files: luaFiles}

var putScript = newScript("put", script.Names[string]{Keys: map[string]func(string) string{"key": func(key string) string { return key }}})

func newScript[K any](name string, names script.Names[K]) *script.Step[K] {
	return script.New(library, name, names)
}

// Bounds of what is written together.
const (
	putsStep = 64      // parts
	logsMax  = 4       // runs of entries
	putBytes = 4 << 20 // of them
)

// Errors of an import.
var (
	ErrNotEmpty = errors.New("the store is not empty: an import needs an empty one")
	// ErrImported: an earlier run has imported this file, and nobody has opened the store since.
	ErrImported = errors.New("the file was imported before")
	errArchive  = errors.New("the file contains an archive: set CHATD_ARCHIVE to an empty database, or leave the archive out with -drop-archive")
	errLogs     = errors.New("CHATD_ARCHIVE names a database that is not empty: an import needs an empty one")
)

// Check reads a whole file and verifies that it is complete and undamaged.
func Check(ctx context.Context, from io.Reader) (Manifest, Counts, error) {
	r, err := newReader(from)
	if err != nil {
		return Manifest{}, Counts{}, err
	}
	defer r.close()
	for {
		if _, err := r.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return r.Manifest, r.counts, err
		}
		if err := ctx.Err(); err != nil {
			return r.Manifest, r.counts, context.Cause(ctx)
		}
	}
}

// Import writes a checked file into an empty store, which was opened with the id of the file as Options.Import and with any number
// of partitions. No server starts on the store until the import is complete. One that was interrupted goes on where it was when
// it is repeated with the same file; of one that was complete it says so: ErrImported.
func Import(ctx context.Context, s *store.Store, from io.ReadSeeker, counts Counts, o Options) error {
	i := &importer{store: s, client: s.Client(), opt: o, total: counts.Lines}
	if err := i.learn(ctx, from); err != nil {
		return err
	}
	r, err := newReader(from)
	if err != nil {
		return err
	}
	defer r.close()
	i.file = r
	if err := i.begin(ctx); err != nil {
		return err
	}
	if err := i.client.ScriptLoad(ctx, putScript.Text()).Err(); err != nil {
		return fmt.Errorf("SCRIPT LOAD: %w", err)
	}
	if err := i.lines(ctx); err != nil {
		return err
	}
	return s.NoteImported(ctx, r.ID)
}

type importer struct {
	store   *store.Store
	client  queue.Redis
	opt     Options
	file    *reader
	archive string       // id of the database; empty: none
	skip    int64        // lines that an earlier run has written
	moves   *repartition // nil where the number of partitions stays
	total   int64

	puts  []script.Call
	bytes int
	logs  []archive.Batch
}

// learn reads the whole file where its keys go to other partitions.
func (i *importer) learn(ctx context.Context, from io.ReadSeeker) error {
	r, err := newReader(from)
	if err != nil {
		return err
	}
	defer r.close()
	if r.Partitions != i.store.Partitions() {
		i.moves = newRepartition(r.Manifest, i.store.Partitions())
	}
	for i.moves != nil {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			if err := i.moves.learned(); err != nil {
				return err
			}
			break
		}
		if err == nil && l.Part != nil {
			err = i.moves.learn(*l.Part)
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	_, err = from.Seek(0, io.SeekStart)
	return err
}

// begin checks that everything fits, and notes in the store that an import is under way.
func (i *importer) begin(ctx context.Context) error {
	m := i.file.Manifest
	id, lines, done, err := i.store.ImportUnderWay(ctx, m.ID)
	if err != nil {
		return err
	}
	if done {
		return ErrImported
	}
	i.skip = lines
	if m.Archive && !i.opt.DropArchive {
		if i.opt.Archive == nil {
			return errArchive
		}
		if i.archive, err = i.opt.Archive.ID(ctx); err != nil {
			return err
		}
	}
	if id == m.ID {
		return nil
	}
	if err := i.empty(ctx); err != nil {
		return err
	}
	if i.archive != "" {
		if logs, err := i.opt.Archive.Logs(ctx, archive.Log{}, 1); err != nil || len(logs) > 0 {
			return errors.Join(err, errLogs)
		}
	}
	return i.store.NoteImport(ctx, m.ID, 0)
}

// empty refuses a store that holds more than its layout.
func (i *importer) empty(ctx context.Context) error {
	layout := keyName(i.store.Prefix(), part{Key: "layout"})
	for cursor := uint64(0); ; {
		names, next, err := i.store.Conn().NextKeys(ctx, cursor, 1000)
		if err != nil {
			return fmt.Errorf("SCAN: %w", err)
		}
		for _, name := range names {
			if strings.HasPrefix(name, i.store.Prefix()+":") && name != layout {
				return fmt.Errorf("%w; found %s", ErrNotEmpty, name)
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// lines writes what the file holds.
func (i *importer) lines(ctx context.Context) error {
	for {
		l, err := i.file.next()
		if errors.Is(err, io.EOF) {
			return i.rest(ctx)
		}
		if err != nil {
			return err
		}
		i.take(l, i.file.counts.Lines <= i.skip)
		if i.moves != nil && i.moves.full() {
			return i.moves.errFull()
		}
		if !i.full() {
			continue
		}
		if err := i.flush(ctx); err != nil {
			return err
		}
		if err := cmp.Or(ctx.Err(), i.store.NoteImport(ctx, i.file.ID, i.file.counts.Lines)); err != nil {
			return err
		}
		i.opt.show(i.file.counts.Lines, i.total)
	}
}

// full tells whether enough is noted to be written.
func (i *importer) full() bool {
	return len(i.puts) >= putsStep || len(i.logs) >= logsMax || i.bytes >= putBytes
}

// rest writes what is left, and what no single line says.
func (i *importer) rest(ctx context.Context) error {
	if i.moves != nil {
		for p := range i.moves.rest() {
			i.put(p)
			if !i.full() {
				continue
			}
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
	}
	return i.flush(ctx)
}

// take records a line to write, or, if it was written before, only how many elements its lists have.
func (i *importer) take(l line, written bool) {
	switch {
	case l.Part != nil && i.moves != nil:
		for _, p := range i.moves.move(*l.Part) {
			if !written {
				i.put(p)
			}
		}
	case written:
	case l.Part != nil:
		i.put(*l.Part)
	case l.Log != nil && i.archive != "":
		i.logs = append(i.logs, l.Log.batch())
		for _, m := range l.Log.Messages {
			i.bytes += len(m.Entry)
		}
	}
}

// put records a part to write.
func (i *importer) put(p part) {
	if i.file.Archive && i.opt.DropArchive {
		withoutArchive(&p)
	} else if p.Partition == 0 && p.Key == archiveKey && i.archive != "" {
		setPair(p.Values, "id", text(i.archive))
	}
	if len(p.Values) == 0 {
		return
	}
	values := make([]string, len(p.Values))
	for n, value := range p.Values {
		values[n] = string(value)
		i.bytes += len(value)
	}
	i.puts = append(i.puts, putScript.On(keyName(i.store.Prefix(), p)).Arg("kind", p.Kind).Arg("at", p.At).List("values", values))
}

// flush writes what was noted.
func (i *importer) flush(ctx context.Context) error {
	if len(i.logs) > 0 {
		if err := i.opt.Archive.Add(ctx, i.logs); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	if len(i.puts) > 0 {
		pipe := i.client.Pipeline()
		for _, put := range i.puts {
			if err := put.Err(); err != nil {
				return err
			}
			put.Send(ctx, pipe)
		}
		answers, err := pipe.Exec(ctx)
		if err != nil {
			return fmt.Errorf("put: %w", err)
		}
		for n, answer := range answers {
			if list, _ := answer.(*redis.Cmd).Slice(); len(list) == 0 || list[0] != "OK" {
				return fmt.Errorf("put: %s: another program changed the store during the import", i.puts[n].Keys[0])
			}
		}
	}
	i.puts, i.logs, i.bytes = nil, nil, 0
	return nil
}

const (
	archiveKey    = "archive"  // says which database a store is archived into
	archiveReader = "$archive" // the archive among those who read a log
)

// setPair gives a field of a hash a value.
func setPair(pairs []text, field, value text) {
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n] == field {
			pairs[n+1] = value
		}
	}
}

// withoutArchive takes out what says that there is an archive.
func withoutArchive(p *part) {
	at, drop := 0, []text(nil)
	switch {
	case p.Partition == 0 && p.Key == archiveKey:
		p.Values = nil
	case p.Key == "wants":
		drop = []text{"archive", "archive_left", "archive_back", "archive_pass"}
	case strings.HasPrefix(p.Key, "g:") && strings.HasSuffix(p.Key, ":meta"):
		drop = []text{"archived_from", "late", "changed"}
	case strings.HasPrefix(p.Key, "g:") && strings.HasSuffix(p.Key, ":seen"):
		at, drop = 1, []text{archiveReader} // behind its score
	}
	if drop == nil {
		return
	}
	kept := p.Values[:0]
	for n := 0; n+1 < len(p.Values); n += 2 {
		if !slices.Contains(drop, p.Values[n+at]) {
			kept = append(kept, p.Values[n], p.Values[n+1])
		}
	}
	p.Values = kept
}
