package dump

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/layout"
)

// Archive is a database that can list its logs.
type Archive interface {
	archive.Store
	// Logs lists logs in the order of group and epoch, those behind after.
	Logs(ctx context.Context, after archive.Log, limit int) ([]archive.Log, error)
}

// Options are those of an export or an import.
type Options struct {
	Chatd   string  // the version that writes the file
	Archive Archive // nil: there is none
	// DropArchive imports a file with an archive without it: what Redis had trimmed is gone then.
	DropArchive bool
	// Resume is where an export goes on that was interrupted. Nil: it begins.
	Resume *Checkpoint
	// Save keeps what Resume takes, once the file is on the disk up to its Offset. Nil: the export cannot go on.
	Save func(Checkpoint) error
	// SaveBytes is after how many bytes of lines it is called; 0: 8 MiB.
	SaveBytes int
	// Partitions is how many an import makes; 0: as many as the exported store has.
	Partitions int
	// Progress gets how many steps are done, and about how many there are. Nil: nobody does.
	Progress func(done, total int64)
}

func (o Options) show(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, max(done, total))
	}
}

// Bounds of one step.
const (
	keysStep   = 50      // keys that are looked at together
	valuesStep = 100     // values of a part: at most 64 KiB each
	logsStep   = 500     // logs of one page
	entryStep  = 500     // entries of one line
	bytesStep  = 1 << 20 // of their JSON
	saveBytes  = 8 << 20 // of lines that an export that goes on repeats at most, except for a step
)

// Errors of an export.
var (
	ErrRunning = errors.New("a server is running on this store")
	// ErrChanged means that another process has opened the store since the export began: it begins again.
	ErrChanged = errors.New("the store may have changed since the export began")
)

// Checkpoint is where an export can go on: the file is complete up to an offset.
type Checkpoint struct {
	ID      string `json:"id"`      // of the file
	Process string `json:"process"` // of the server, see store.Process
	Archive string `json:"archive"` // id of the database
	Offset  int64  `json:"offset"`  // bytes of the file
	Sum     []byte `json:"sum"`     // the state of the SHA-256
	Counts
	Done, Total int64 // steps, of the progress
	position
}

// position is how far an export is: first come the keys, then the logs of the archive.
type position struct {
	Cursor  uint64      `json:"cursor"` // of SCAN
	After   string      `json:"after"`  // the last key of the embedded store, in their order
	KeysEnd bool        `json:"keys_end"`
	Log     archive.Log `json:"log"`
	From    int64       `json:"from"` // the next id of that log; 0: the log is complete
}

// Export writes the whole store to a file. It only reads, except for a note in the layout by which it sees whether anyone else opens
// the store meanwhile: ErrChanged. No server may run on the store: ErrRunning where one does, at the beginning or at the end. An
// export that was interrupted goes on from Options.Resume, with the file cut to its Offset, as long as nobody has opened the store
// since and the server is the same process.
func Export(ctx context.Context, s *store.Store, to io.Writer, o Options) (Counts, error) {
	e := &exporter{store: s, client: s.Client(), opt: o}
	if err := e.begin(ctx, to); err != nil {
		return Counts{}, err
	}
	for _, step := range []func(context.Context) error{e.keys, e.logs, e.unchanged} {
		if err := step(ctx); err != nil {
			return e.out.counts, err
		}
	}
	if err := e.out.end(); err != nil {
		return e.out.counts, err
	}
	return e.out.counts, s.NoteExport(ctx, "")
}

type exporter struct {
	store  *store.Store
	client queue.Redis
	opt    Options
	out    *writer
	at     Checkpoint
	nowMs  int64 // by the clock of the store, when this run began
}

// begin notes the export in the store, and begins the file, or goes on with it.
func (e *exporter) begin(ctx context.Context, to io.Writer) (err error) {
	if err := e.checkArchive(ctx); err != nil {
		return err
	}
	process, err := e.store.Conn().Process(ctx)
	if err != nil {
		return err
	}
	if e.nowMs, err = e.store.Clock(ctx); err != nil {
		return err
	}
	if e.out, err = newWriter(to); err != nil {
		return err
	}
	m := Manifest{Chatd: e.opt.Chatd, Format: format, Layout: store.LayoutVersion, Partitions: e.store.Partitions(),
		Archive: e.opt.Archive != nil, At: time.Now().UTC().Truncate(time.Second)}
	e.out.manifest = m
	if e.opt.Resume != nil {
		archive := e.at.Archive
		e.at = *e.opt.Resume
		if e.at.Process != process || e.at.Archive != archive {
			return ErrChanged
		}
		if err := e.unchanged(ctx); err != nil {
			return err
		}
		return e.out.resume(e.at)
	}
	e.at.ID, e.at.Process = rand.Text(), process
	if err := e.store.NoteExport(ctx, e.at.ID); err != nil {
		return err
	}
	if err := e.stopped(ctx); err != nil {
		return err
	}
	m.ID = e.at.ID
	return e.out.write(m)
}

// unchanged refuses to go on where anyone has opened the store since the export began, or where the server is another process: what
// is read at different times would not fit together.
func (e *exporter) unchanged(ctx context.Context) error {
	if err := e.stopped(ctx); err != nil {
		return err
	}
	process, err := e.store.Conn().Process(ctx)
	if err != nil {
		return err
	}
	id, err := e.store.ExportUnderWay(ctx)
	if err == nil && (id != e.at.ID || process != e.at.Process) {
		err = ErrChanged
	}
	return err
}

// save lets an interrupted export go on from here, now and then.
func (e *exporter) save() error {
	canResume := e.store.Conn().IsEmbedded() || e.at.Process != ""
	if e.opt.Save == nil || !canResume || e.out.pending < cmp.Or(e.opt.SaveBytes, saveBytes) {
		return nil
	}
	if err := e.out.pause(&e.at); err != nil {
		return err
	}
	return e.opt.Save(e.at)
}

// stopped refuses a store on which a server runs: what is read at different times would not fit together. Workers of a server
// subscribe to their queue.
func (e *exporter) stopped(ctx context.Context) error {
	if e.store.Conn().IsEmbedded() {
		return nil // it is locked
	}
	channels := make([]string, e.store.Partitions())
	for p := range channels {
		channels[p] = queue.NewKeys(e.store.Prefix(), p, chat.QueueCore).Wake()
	}
	workers, err := e.store.Conn().Subscribers(ctx, channels)
	if err != nil {
		return fmt.Errorf("PUBSUB NUMSUB: %w", err)
	}
	for _, n := range workers {
		if n > 0 {
			return fmt.Errorf("%w: stop all of them first", ErrRunning)
		}
	}
	return nil
}

// checkArchive refuses to leave out an archive, and to add one that is not the store's.
func (e *exporter) checkArchive(ctx context.Context) error {
	state, err := e.store.ArchiveState(ctx)
	switch {
	case err != nil:
		return err
	case state.On && e.opt.Archive == nil:
		return errors.New("this store has an archive: set CHATD_ARCHIVE to its database, so that the export includes what was trimmed")
	case !state.On:
		e.opt.Archive = nil
		return nil
	}
	id, err := e.opt.Archive.ID(ctx)
	e.at.Archive = id
	if err == nil && id != state.ID {
		err = errors.New("CHATD_ARCHIVE names another database than the one this store is archived to")
	}
	return err
}

// keys writes every key of the store.
func (e *exporter) keys(ctx context.Context) error {
	if e.at.KeysEnd {
		return nil
	}
	size, err := e.client.DBSize(ctx).Result()
	if err != nil {
		return fmt.Errorf("DBSIZE: %w", err)
	}
	e.at.Total = size
	for {
		names, next, err := e.store.Conn().NextKeys(ctx, e.at.Cursor, 10*keysStep)
		if err != nil {
			return fmt.Errorf("SCAN: %w", err)
		}
		if e.store.Conn().IsEmbedded() { // which answers with all of them
			slices.Sort(names)
			begun, there := slices.BinarySearch(names, e.at.After)
			if there {
				begun++
			}
			names = names[begun:]
		}
		for some := range slices.Chunk(names, keysStep) {
			if err := e.slice(ctx, some); err != nil {
				return err
			}
			e.at.Done += int64(len(some))
			e.opt.show(e.at.Done, e.at.Total)
			if !e.store.Conn().IsEmbedded() {
				continue
			}
			e.at.After = some[len(some)-1]
			if err := e.save(); err != nil {
				return err
			}
		}
		e.at.Cursor, e.at.KeysEnd = next, next == 0
		if err := e.save(); err != nil || e.at.KeysEnd {
			return err
		}
	}
}

// slice writes some keys, those of the store.
func (e *exporter) slice(ctx context.Context, names []string) error {
	var parts []part
	for _, name := range names {
		p, key, ok := layout.Cut(e.store.Prefix(), name)
		if found, _ := layout.Find(p, key); !ok || found.Move == layout.Left {
			continue
		}
		parts = append(parts, part{Key: key, Partition: p})
	}
	pipe := e.client.Pipeline()
	types := make([]*redis.StatusCmd, len(parts))
	for i, one := range parts {
		types[i] = pipe.Type(ctx, e.name(one))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("TYPE: %w", err)
	}
	for i, one := range parts {
		one.Kind = types[i].Val()
		if err := e.key(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", e.name(one), err)
		}
	}
	return nil
}

func (e *exporter) name(p part) string { return keyName(e.store.Prefix(), p) }

func keyName(prefix string, p part) string {
	return layout.InPartition(prefix, p.Partition) + p.Key
}

// key writes one key, in parts of bounded size.
func (e *exporter) key(ctx context.Context, p part) error {
	switch p.Kind {
	case "none":
		return nil
	case "hash", "set":
		return e.scanned(ctx, p)
	}
	for {
		values, more, err := e.read(ctx, p)
		if err != nil || len(values) == 0 {
			return err
		}
		if err := e.values(ctx, &p, values); err != nil || !more {
			return err
		}
	}
}

// values writes some values of a key, in lines of about bytesStep at most, and moves its position behind them.
func (e *exporter) values(ctx context.Context, p *part, values []text) error {
	step := p.step()
	if err := e.withoutEnded(ctx, *p, values); err != nil {
		return err
	}
	for len(values) > 0 {
		n, size := 0, 0
		for ; n < len(values) && n < valuesMax && (n == 0 || size < bytesStep); n += step {
			for _, one := range values[n : n+step] {
				size += len(one)
			}
		}
		one := *p
		one.Values, values = values[:n], values[n:]
		if err := e.out.line(line{Part: &one}); err != nil {
			return err
		}
		p.At = one.next()
	}
	return nil
}

// read reads the values of a key that has an order, from its position on.
func (e *exporter) read(ctx context.Context, p part) (values []text, more bool, err error) {
	name := e.name(p)
	switch p.Kind {
	case "string":
		value, err := e.client.Get(ctx, name).Result()
		return []text{text(value)}, false, err
	case "list":
		list, err := e.client.LRange(ctx, name, p.At, p.At+valuesStep-1).Result()
		for _, value := range list {
			values = append(values, text(value))
		}
		return values, len(list) == valuesStep, err
	case "zset":
		list, err := e.client.ZRangeWithScores(ctx, name, p.At, p.At+valuesStep-1).Result()
		for _, z := range list {
			values = append(values, text(strconv.FormatFloat(z.Score, 'g', -1, 64)), text(fmt.Sprint(z.Member)))
		}
		return values, len(list) == valuesStep, err
	}
	return nil, false, fmt.Errorf("is a %s, a type that chatd does not use", p.Kind)
}

// scanned writes a key that has no order. A field may come twice, which changes nothing.
func (e *exporter) scanned(ctx context.Context, p part) error {
	scan := e.client.HScan
	if p.Kind == "set" {
		scan = e.client.SScan
	}
	for cursor := uint64(0); ; {
		list, next, err := scan(ctx, e.name(p), cursor, "", valuesStep).Result()
		if err != nil {
			return err
		}
		some := make([]text, len(list)) // a small one, and one of the embedded store, comes as a whole
		for i, value := range list {
			some[i] = text(value)
		}
		if err := e.values(ctx, &p, some); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// logs writes every log of the archive.
func (e *exporter) logs(ctx context.Context) error {
	if e.opt.Archive == nil {
		return nil
	}
	if e.at.From > 0 {
		if err := e.log(ctx); err != nil {
			return err
		}
	}
	for {
		logs, err := e.opt.Archive.Logs(ctx, e.at.Log, logsStep)
		if err != nil || len(logs) == 0 {
			return err
		}
		for _, log := range logs {
			e.at.Log, e.at.From = log, 1
			if err := e.log(ctx); err != nil {
				return err
			}
		}
	}
}

// log writes a log from the position on.
func (e *exporter) log(ctx context.Context) error {
	log := e.at.Log
	for {
		found, err := e.opt.Archive.Read(ctx, log, archive.Span{From: e.at.From, To: chat.IDMax, Limit: entryStep, BytesMax: bytesStep})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			e.at.From = 0
			return nil
		}
		run := logRun{Group: log.Group, Epoch: log.Epoch, Messages: make([]message, len(found))}
		for i, m := range found {
			run.Messages[i] = message{ID: m.ID, Mark: m.Mark, Edits: m.Edits, Entry: chat.Emptied(m.JSON, e.nowMs)}
		}
		if err := e.out.line(line{Log: &run}); err != nil {
			return err
		}
		e.at.From = found[len(found)-1].ID + 1
		e.at.Done += int64(len(found))
		e.at.Total += int64(len(found)) // how many there are is not known before
		e.opt.show(e.at.Done, e.at.Total)
		if err := e.save(); err != nil {
			return err
		}
	}
}
