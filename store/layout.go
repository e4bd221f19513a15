package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

var (
	layoutScript = newFreeing("layout/record", partNames)
	importScript = newScript("layout/import", partNames)
	exportScript = newFreeing("layout/export", partNames)
)

// Layout is how the store is arranged, and whether it is copied to or from a file.
type Layout struct {
	*base
}

// checkLayout records the layout of a new store, and refuses a store with a different one: with another number of partitions
// every key would be looked up in the wrong place. The store's queues use the same number.
func (s *Layout) checkLayout(ctx context.Context, o Options) error {
	version, importing := int64(0), ""
	r, err := s.run(ctx, s.layoutCall(o.Export, o.Import))
	switch {
	case err == nil:
		version, importing = r.number(1), r.text(2)
	case o.Existing && conn.TakesNoWrites(err): // looking at a store needs no writes
		version, importing, err = s.recorded(ctx)
	}
	if err != nil {
		return fmt.Errorf("layout: %w", err)
	}
	if version != LayoutVersion {
		return fmt.Errorf("its layout is version %d, this chatd knows version %d: use the chatd that wrote it, "+
			"or export and import", version, LayoutVersion)
	}
	if id := importing; id != "" && id != o.Import {
		return fmt.Errorf("an import into it was interrupted: repeat chatd import with the same file (its id is %s), "+
			"or remove all keys and begin again", id)
	}
	has, err := queue.CheckPartitions(ctx, s.conn.Client(), s.keys.prefix, s.partitionsWanted(o))
	if err != nil && (o.Partitions != 0 || !errors.Is(err, queue.ErrPartitions)) {
		return fmt.Errorf("layout: %w", err)
	}
	s.keys = newKeyspace(s.keys.prefix, has)
	return nil
}

func (s *Layout) layoutCall(exports bool, file string) call {
	return layoutScript.On(s.keys.part(0)).Arg("version", LayoutVersion).Arg("exports", exports).Arg("import", file).Arg("life", rand.Text())
}

// recorded reads what the script would record, for a server that does not run it.
func (s *Layout) recorded(ctx context.Context) (version int64, importing string, err error) {
	fields, err := s.conn.Client().HMGet(ctx, s.keys.part(0).layout(), "version", "import").Result()
	if err != nil {
		return 0, "", err
	}
	r := script.Reply(fields)
	return r.Number(0), r.Text(1), nil
}

// partitionsWanted is how many partitions a new store gets.
func (s *Layout) partitionsWanted(o Options) int {
	if s.conn.IsCluster() && o.Partitions == 0 {
		return clusterShare
	}
	return o.Partitions
}

// ErrEmpty means that there is no store yet.
var ErrEmpty = errors.New("holds no chatd store")

// checkExists refuses an empty store: the prefix may be misspelt.
func (s *Layout) checkExists(ctx context.Context) error {
	n, err := s.conn.Client().Exists(ctx, s.keys.part(0).layout()).Result()
	if err != nil {
		return fmt.Errorf("layout: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("%s %w under the prefix %q", s.conn.Address(), ErrEmpty, s.keys.prefix)
	}
	return nil
}

// ImportUnderWay returns the id of the file whose import is incomplete, and how many of its lines are stored; "" if there is none.
// done tells that the import of the file with this id is complete, and nobody has opened the store since, except to import the
// same file.
func (s *Layout) ImportUnderWay(ctx context.Context, file string) (id string, lines int64, done bool, err error) {
	r, err := s.run(ctx, s.layoutCall(false, file))
	if err != nil {
		return "", 0, false, err
	}
	return r.text(2), r.number(3), file != "" && r.text(5) == file, nil
}

// NoteImport records how many lines of the file with this id are in the store. From the first call on until NoteImported, no
// server starts on the store.
func (s *Layout) NoteImport(ctx context.Context, id string, lines int64) error {
	return s.do(ctx, importScript.On(s.keys.part(0)).Arg("id", id).Arg("lines", lines))
}

// NoteImported records that the import of the file of this id is complete.
func (s *Layout) NoteImported(ctx context.Context, id string) error { return s.NoteImport(ctx, id, -1) }

// ExportUnderWay returns the id of the file to which the store is exported, as NoteExport recorded it; "" if anything else has
// opened the store since.
func (s *Layout) ExportUnderWay(ctx context.Context) (id string, err error) {
	r, err := s.run(ctx, s.layoutCall(true, ""))
	return r.text(4), err
}

// NoteExport records that the store is exported to the file with this id; an empty one: that the export is over.
func (s *Layout) NoteExport(ctx context.Context, id string) error {
	return s.do(ctx, exportScript.On(s.keys.part(0)).Arg("id", id))
}
