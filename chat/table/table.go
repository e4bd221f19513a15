// Package table keeps small tables of the whole store in the memory of every node: keys, and whatever else each request asks
// for. A request reads the memory and costs no command. A change is signalled, and besides every node compares
// the versions of all tables with the store by one command a second, so a change holds everywhere within a second though
// the signal is lost.
package table

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

// Row is a row of a table as the store has it. Version is that of the table once the row was written: no two rows of a
// table have the same. A row without a text was removed.
type Row struct {
	ID      string
	Version int64
	Text    string
	Notes   []audit.Entry // of one that is written: what the audit gets in the same step
}

// Page is some of what changed in a table.
type Page struct {
	Rows      []Row
	Version   int64 // up to which the rows are complete
	Now       int64 // version of the table: above Version there is more
	Forgotten int64 // removals up to this version are no longer known
}

// Store is what tables need from a store.
type Store interface {
	Rows
	// Versions reads the version of every table in one command. A table that was never written has none.
	Versions(ctx context.Context) (map[string]int64, error)
	// Changes reads what was written and removed in a table after a version (0: what there is), at one instant; at most about
	// a thousand rows.
	Changes(ctx context.Context, table string, after int64) (Page, error)
	// FollowTables subscribes to the signals of tables, and waits until the store has confirmed it.
	FollowTables(ctx context.Context) error
	// TablesChanged gets a value soon after any table has changed, or after signals may have been lost.
	TablesChanged() <-chan struct{}
}

// Rows is what a change needs from a store.
type Rows interface {
	// Row reads one row. ErrNotFound.
	Row(ctx context.Context, table, id string) (Row, error)
	// Put writes a row in the place of the version that was read (0: there was none), or removes it if the text is empty,
	// and signals it. It returns the row's new version. ErrConflict: the row has another version by now. CodeQuotaFull: the
	// table has its maximum of rows.
	Put(ctx context.Context, table string, row Row, rowsMax int) (version int64, err error)
}

// changeTries is how often a change is tried that meets others.
const changeTries = 8

// Times of following a store.
const (
	checkEvery  = 800 * time.Millisecond // a change holds within a second, with time for the answer
	reloadEvery = 5 * time.Minute        // a store that lost its newest writes in a failover is followed back
)

// Follower keeps the tables of a node up to date. Make one with Follow, before Run.
type Follower struct {
	store  Store
	log    *slog.Logger
	tables []follower
}

// follower is a Table of any type.
type follower interface {
	name() string
	version() int64
	begin()
	apply(rows []Row, version int64)
	end()
}

// Follow makes a Follower of tables, whose names differ.
func Follow(store Store, log *slog.Logger, tables ...follower) *Follower {
	return &Follower{store: store, log: log, tables: tables}
}

// Add adds tables, before Load and Run.
func (f *Follower) Add(tables ...follower) { f.tables = append(f.tables, tables...) }

// Load reads all tables, as a node does before it serves.
func (f *Follower) Load(ctx context.Context) error {
	for _, t := range f.tables {
		if err := f.read(ctx, t, 0); err != nil {
			return err
		}
	}
	return nil
}

// Run follows the store until ctx ends. While the store cannot be reached, the tables stay as they are.
func (f *Follower) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if err := f.store.FollowTables(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "changes of keys and users hold a second later: their signals cannot be followed", "error", err)
		}
	})
	failing, reload := false, time.Now().Add(jitter(reloadEvery))
	for {
		timer := time.NewTimer(checkEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-f.store.TablesChanged():
			timer.Stop()
		case <-timer.C:
		}
		var err error
		if time.Now().After(reload) {
			reload = time.Now().Add(jitter(reloadEvery))
			err = f.Load(ctx)
		} else {
			err = f.check(ctx)
		}
		if err != nil && ctx.Err() == nil && !failing {
			f.log.WarnContext(ctx, "cannot follow the tables of keys and users; what is known of them stays in force", "error", err)
		}
		failing = err != nil
	}
}

func jitter(d time.Duration) time.Duration { return d - rand.N(d/5) }

// check reads what has another version than a table here.
func (f *Follower) check(ctx context.Context) error {
	versions, err := f.store.Versions(ctx)
	if err != nil {
		return err
	}
	for _, t := range f.tables {
		known, now := t.version(), versions[t.name()]
		if now < known {
			known = 0 // the store was rolled back
		}
		if now != t.version() {
			if err := f.read(ctx, t, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads a table from a version on; from 0 it becomes what is read.
func (f *Follower) read(ctx context.Context, t follower, after int64) error {
	known := after // removals up to here are accounted for
	for {
		page, err := f.store.Changes(ctx, t.name(), after)
		switch {
		case err != nil:
			return err
		case after == 0:
			known = page.Now
			t.begin()
		case page.Forgotten > known:
			after = 0
			continue
		}
		t.apply(page.Rows, page.Version)
		if after = page.Version; after >= page.Now {
			t.end()
			return nil
		}
	}
}

// Table is a table in memory. It is safe for concurrent use.
type Table[V any] struct {
	table   string
	rowsMax int
	decode  func(id, text string) (V, error)
	changed func(ids []string)
	log     *slog.Logger

	size    atomic.Int32 // of rows; who finds none needs no lock
	mu      sync.RWMutex
	rows    map[string]V
	found   map[string]bool  // during a complete reading: rows that it has found so far; nil: there is none
	touched []string         // rows that were written or removed since changed was called
	fresh   map[string]int64 // versions of rows that were set since the last reading ended: it may have begun before they were
	at      int64

	reports sync.Mutex // held while changed is called, and taken before mu
}

// New makes an empty table of at most rowsMax rows. decode reads the text of a row; what it refuses is not there, and logged. changed is called after
// rows have changed, with their ids: all of them after a complete reading. It must not wait for anything; nil: nobody wants to
// know.
func New[V any](name string, rowsMax int, decode func(id, text string) (V, error), changed func(ids []string), log *slog.Logger) *Table[V] {
	return &Table[V]{table: name, rowsMax: rowsMax, decode: decode, changed: changed, log: log, rows: map[string]V{}, fresh: map[string]int64{}}
}

// Get returns a row.
func (t *Table[V]) Get(id string) (v V, ok bool) {
	if t.size.Load() == 0 {
		return v, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	v, ok = t.rows[id]
	return v, ok
}

// All returns the rows, in no order.
func (t *Table[V]) All() []V {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.rows))
}

func (t *Table[V]) name() string { return t.table }

func (t *Table[V]) version() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.at
}

// begin starts a complete reading. Until it ends, rows that are gone still count: a key that was removed while the node was
// away is void a moment later.
func (t *Table[V]) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.found = map[string]bool{}
}

func (t *Table[V]) apply(rows []Row, version int64) {
	slices.SortFunc(rows, func(a, b Row) int { return int(a.Version - b.Version) })
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		if t.found != nil {
			t.found[row.ID] = true
		}
		if t.fresh[row.ID] <= row.Version {
			t.write(row)
		}
	}
	t.at = version
}

// write writes a row; its caller holds the lock.
func (t *Table[V]) write(row Row) {
	defer func() { t.size.Store(int32(len(t.rows))) }()
	t.touched = append(t.touched, row.ID)
	delete(t.rows, row.ID)
	if row.Text == "" {
		return
	}
	v, err := t.decode(row.ID, row.Text)
	if err != nil {
		t.log.Error("a row of a table cannot be read and does not count", "table", t.table, "id", row.ID)
		return
	}
	t.rows[row.ID] = v
}

// end ends a reading. What a complete one did not find is gone, unless it was set here after the store was read.
func (t *Table[V]) end() {
	t.mu.Lock()
	for id := range t.rows {
		if t.found != nil && !t.found[id] && t.fresh[id] <= t.at {
			delete(t.rows, id)
			t.touched = append(t.touched, id)
		}
	}
	t.size.Store(int32(len(t.rows)))
	t.found, t.fresh = nil, map[string]int64{}
	t.mu.Unlock()
	t.report()
}

// report says which rows have changed. Once it returns, that has been said of all rows that had changed before.
func (t *Table[V]) report() {
	t.reports.Lock()
	defer t.reports.Unlock()
	t.mu.Lock()
	ids := t.touched
	t.touched = nil
	t.mu.Unlock()
	if t.changed != nil && len(ids) > 0 {
		t.changed(ids)
	}
}

// Put writes a row in the store, as Rows does, and here at once. It returns the row with its new version.
func (t *Table[V]) Put(ctx context.Context, rows Rows, row Row) (_ Row, err error) {
	if row.Version, err = rows.Put(ctx, t.table, row, t.rowsMax); err != nil {
		return Row{}, err
	}
	t.Set(row)
	return row, nil
}

// Change writes what change makes of the text of a row, which is empty where there is none: an empty text removes the row, and an
// unchanged one writes nothing. change is called again where another change came between.
func (t *Table[V]) Change(ctx context.Context, rows Rows, id string, change func(text string) (string, error)) (Row, error) {
	return t.ChangeNoted(ctx, rows, id, func(text string) (string, []audit.Entry, error) {
		text, err := change(text)
		return text, nil, err
	})
}

// ChangeNoted is Change that tells the audit what it writes.
func (t *Table[V]) ChangeNoted(ctx context.Context, rows Rows, id string, change func(text string) (string, []audit.Entry, error)) (Row, error) {
	for try := 1; ; try++ {
		row, err := rows.Row(ctx, t.table, id)
		if errors.Is(err, chat.ErrNotFound) {
			row, err = Row{ID: id}, nil
		}
		if err != nil {
			return Row{}, err
		}
		text, notes, err := change(row.Text)
		switch {
		case err != nil:
			return Row{}, err
		case text == row.Text:
			t.Set(row)
			return row, nil
		}
		row.Text, row.Notes = text, notes
		if row, err = t.Put(ctx, rows, row); err == nil || try == changeTries || !errors.Is(err, chat.ErrConflict) {
			return row, err
		}
	}
}

// Published follows a table without rows: it tells only that things have changed which are kept elsewhere, and which of them this node may
// hold in a cache.
type Published struct {
	table   string
	changed func(ids []string)
	all     func()
	at      atomic.Int64
	here    atomic.Bool // something is published by this node
}

// NewPublished makes a Published. changed is called with what has changed, and all where anything may have: also every few minutes, so that a
// change whose node died before it published it is known then. Neither may wait for anything.
func NewPublished(name string, changed func(ids []string), all func()) *Published {
	return &Published{table: name, changed: changed, all: all}
}

// Any tells whether anything was ever published.
func (t *Published) Any() bool { return t.here.Load() || t.at.Load() > 0 }

// Note is called by a node that has published something: Any holds there at once, and not when the signal has come.
func (t *Published) Note() { t.here.Store(true) }

func (t *Published) name() string   { return t.table }
func (t *Published) version() int64 { return t.at.Load() }
func (t *Published) begin()         { t.all() }
func (t *Published) end()           {}

func (t *Published) apply(rows []Row, version int64) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	t.changed(ids)
	t.at.Store(version)
}

// Set replaces a row here at once, as soon as the store has it: its own node need not wait for the signal. A row that the
// follower has already gone past changes nothing: what came after it may have replaced or removed it.
func (t *Table[V]) Set(row Row) {
	t.mu.Lock()
	if row.Version > max(t.at, t.fresh[row.ID]) { // else another change of it may have come between the store and here
		t.write(row)
		t.fresh[row.ID] = row.Version
	}
	t.mu.Unlock()
	t.report() // also what the follower has written and not said yet
}
