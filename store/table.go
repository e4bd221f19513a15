package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/store/layout"
)

var _ table.Store = (*Store)(nil)

var (
	tablePutScript     = newScript("table/put", tableNames)
	tableChangesScript = newReader("table/changes", tableNames)
	tableRowScript     = newReader("table/row", tableNames)
	tablePublishScript = newFreeing("table/publish", tableNames)
	tableUseScript     = newScript("table/use", tableNames)
)

// tableRows is how many rows of each kind one call reads.
const tableRows = 500

// Tables are the small tables that every node keeps in memory.
type Tables struct {
	*base
	changed chan struct{} // has room for one
}

// tableKeys are the keys of one table, in the first partition.
type tableKeys struct {
	*partKeys
	name string
}

func (k keyspace) table(name string) tableKeys { return tableKeys{k.part(0), name} }

func (t tableKeys) table() string { return t.base + "t:" + t.name }
func (t tableKeys) used() string  { return t.table() + ":used" }

var tableNames = within(partNames, func(t tableKeys) *partKeys { return t.partKeys },
	layout.Names(layout.Table, tableKeys.table))

// Versions reads the version of every table.
func (s *Tables) Versions(ctx context.Context) (map[string]int64, error) {
	return s.numbers(ctx, s.keys.part(0).tables())
}

// Changes reads what was written and removed in a table after a version.
func (s *Tables) Changes(ctx context.Context, name string, after int64) (table.Page, error) {
	r, err := s.runSafe(ctx, tableChangesScript.On(s.keys.table(name)).Arg("name", name).Arg("after", after).Arg("limit", tableRows))
	if err != nil {
		return table.Page{}, err
	}
	page := table.Page{Version: r.number(1), Now: r.number(2), Forgotten: r.number(3)}
	for i := 4; i+2 < len(r); i += 3 {
		page.Rows = append(page.Rows, table.Row{ID: r.text(i), Version: r.number(i + 1), Text: r.text(i + 2)})
	}
	return page, nil
}

// Row reads a row of a table.
func (s *Tables) Row(ctx context.Context, name, id string) (table.Row, error) {
	r, err := s.runSafe(ctx, tableRowScript.On(s.keys.table(name)).Arg("id", id))
	return table.Row{ID: id, Version: r.number(1), Text: r.text(2)}, err
}

// Put writes or removes a row in the place of the version that was read.
func (s *Tables) Put(ctx context.Context, name string, row table.Row, rowsMax int) (int64, error) {
	k := s.keys.table(name)
	c := s.among(tablePutScript.On(k), audit.Entry{}).Arg("name", name).Arg("id", row.ID).Arg("revision", row.Version).Arg("text", row.Text).
		Arg("rows_max", rowsMax).Arg("channel", k.tables())
	for _, e := range row.Notes {
		id, entry := s.entryOf(e)
		c = c.MoreArgs("notes", "audit_id", id, "audited", entry)
	}
	r, err := s.run(ctx, c)
	return r.number(1), err
}

// publishedMax is how many changes of what is kept elsewhere a table knows.
const publishedMax = 5000

// PublishChanges tells nodes that things have changed that are kept elsewhere. At most a thousand.
func (s *Tables) PublishChanges(ctx context.Context, name string, ids []string) error {
	return s.publishChanges(ctx, name, ids, false)
}

// publishChanges is PublishChanges. known: only if anything was ever published.
func (s *base) publishChanges(ctx context.Context, name string, ids []string, known bool) error {
	k := s.keys.table(name)
	return s.doSafe(ctx, tablePublishScript.Sized(k, len(ids)).Arg("name", name).Arg("known", known).Arg("known_max", publishedMax).
		Arg("channel", k.tables()).List("ids", ids))
}

// UseRow records that what a row stands for was used now.
func (s *Tables) UseRow(ctx context.Context, name, id string) error {
	return s.doSafe(ctx, tableUseScript.On(s.keys.table(name)).Arg("id", id))
}

// UsedRows reads when rows were last used.
func (s *Tables) UsedRows(ctx context.Context, name string) (map[string]int64, error) {
	return s.numbers(ctx, s.keys.table(name).used())
}

// numbers reads a hash of numbers.
func (s *Tables) numbers(ctx context.Context, key string) (map[string]int64, error) {
	var all *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.HGetAll(ctx, key) }); err != nil {
		return nil, err
	}
	found := make(map[string]int64, len(all.Val()))
	for name, value := range all.Val() {
		found[name] = number(value)
	}
	return found, nil
}

// FollowTables subscribes to the signals of tables.
func (s *Tables) FollowTables(ctx context.Context) error {
	if err := s.conn.Follow(ctx, []string{s.keys.part(0).tables()}); err != nil {
		return unavailable("follow", err)
	}
	return nil
}

// TablesChanged gets a value when a table has changed.
func (s *Tables) TablesChanged() <-chan struct{} { return s.changed }

// signal wakes who waits for changes of tables.
func (s *Tables) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
