// Package store keeps everything of the domain in Redis: groups and their logs, cursors, the index, inboxes, retry
// keys, and the signals between nodes. Each method is one Lua script, one atomic step in one slot; docs/redis.md has
// every key and every script. A Store may be used from many goroutines.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/conn"
)

// Options say which store to open.
type Options struct {
	URL        string // see conn.CheckURL; ignored where Embedded is set
	Embedded   conn.Embedded
	Prefix     string // of every key; empty: chat
	Partitions int    // 0: what the store says; for a new one 1, or 64 in a cluster
	Import     string // id of the file that is about to be imported; see package dump
	Export     bool   // it is opened to export it
	Existing   bool   // to look at a store: an empty one is refused, and a server that nobody should serve from is not
	Limits     chat.Limits
	Patience   time.Duration // with a server that does not answer a ping, then calls are refused; 0: 600 ms
	Log        *slog.Logger
	Traces     *tracing.Tracer // nil: sends are not traced
}

// Store is all parts together. Each is a type in the files of its name, and says which others it uses.
type Store struct {
	*base
	*Accounts
	*Announcements
	*Archive
	*Audits
	*Blocks
	*Buttons
	*Cursors
	*Directory
	*Drafts
	*Erasures
	*Expiry
	*Files
	*Groups
	*Health
	*Holds
	*Imports
	*Index
	*Inboxes
	*Invites
	*Layout
	*Logs
	*Notifications
	*Pins
	*Previews
	*Profiles
	*Quorums
	*Reports
	*Retention
	*RetryKeys
	*Reviews
	*Schedules
	*Signals
	*Streams
	*Tables
	*Tasks
	*Threads
	*Webhooks
}

// base is what the parts have in common: the servers, the names of keys, and how scripts are run.
type base struct {
	conn   *conn.Deployment
	keys   keyspace
	limits chat.Limits
	log    *slog.Logger
	traces *tracing.Tracer
	queues map[string]*queue.Client // by name; set once the number of partitions is known

	audited atomic.Int64 // the time of the newest entry of the audit by this node, in ms
}

// assemble makes the parts.
func assemble(b *base) *Store {
	files, inboxes := &Files{base: b}, &Inboxes{base: b}
	streams := &Streams{b}
	logs := &Logs{base: b, files: files, streams: streams}
	groups, tables := &Groups{base: b}, &Tables{b, make(chan struct{}, 1)}
	logs.sends, logs.shared = conn.NewLanes(b.conn, logs.joinSends), conn.NewLanes(b.conn, logs.joinShared)
	inboxes.groups = groups
	inboxes.begins = conn.Join(beginsJoined, beginsPause, inboxes.readBeginnings)
	groups.standings = conn.Join(beginsJoined, beginsPause, groups.readStandings)
	return &Store{base: b, Accounts: &Accounts{b}, Announcements: &Announcements{b, logs}, Archive: &Archive{b}, Audits: &Audits{b, groups}, Blocks: &Blocks{b}, Buttons: &Buttons{b}, Cursors: &Cursors{b, logs}, Directory: &Directory{b, groups}, Drafts: &Drafts{b}, Erasures: &Erasures{b}, Files: files,
		Groups: groups, Health: &Health{b}, Holds: &Holds{b}, Imports: &Imports{b}, Index: &Index{b, inboxes}, Inboxes: inboxes, Invites: &Invites{b}, Layout: &Layout{b}, Logs: logs,
		Notifications: &Notifications{b}, Pins: &Pins{b}, Previews: &Previews{b}, Profiles: &Profiles{b}, Quorums: &Quorums{b}, Reports: &Reports{b, groups}, Retention: &Retention{b}, Expiry: &Expiry{b}, RetryKeys: &RetryKeys{b}, Reviews: &Reviews{b}, Schedules: &Schedules{b, logs, inboxes},
		Streams: streams, Signals: &Signals{b, tables}, Tables: tables, Tasks: &Tasks{b}, Threads: &Threads{b}, Webhooks: &Webhooks{b}}
}

var _ chat.Store = (*Store)(nil)

// Open connects to a store, checks that it can be one, loads the scripts, and records or compares the layout.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.Prefix = cmp.Or(o.Prefix, "chat")
	if strings.ContainsAny(o.Prefix, "{}: ") {
		return nil, fmt.Errorf("store: the prefix %q holds a brace, a colon or a blank", o.Prefix)
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Limits == (chat.Limits{}) {
		o.Limits = chat.DefaultLimits()
	}
	servers, err := conn.Open(conn.Options{URL: o.URL, Embedded: o.Embedded, Scripts: library, Patience: o.Patience, Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	o.Partitions = cmp.Or(o.Partitions, servers.Partitions())
	s := assemble(&base{conn: servers, limits: o.Limits, log: o.Log, traces: o.Traces, keys: newKeyspace(o.Prefix, 1)})
	if err := s.prepare(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), s.conn.Close())
	}
	s.conn.Start(s.keys.slots())
	return s, nil
}

func (s *Store) prepare(ctx context.Context, o Options) error {
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("%s does not answer: %w", s.conn.Address(), err)
	}
	if !o.Existing {
		if err := s.conn.Inspect(ctx); err != nil {
			return err
		}
	} else if err := s.checkExists(ctx); err != nil {
		return err
	}
	if err := s.conn.LoadScripts(ctx); err != nil {
		return fmt.Errorf("the server does not take the scripts: %w", err)
	}
	if err := s.checkLayout(ctx, o); err != nil {
		return err
	}
	return s.newClients()
}

// Conn is the servers that the store is in.
func (s *Store) Conn() *conn.Deployment { return s.conn }

// Client sends commands to the servers of the store.
func (s *Store) Client() queue.Redis { return s.conn.Client() }

// Partitions is how many partitions the store has.
func (s *Store) Partitions() int { return s.partitions() }

func (s *base) partitions() int { return len(s.keys.partitions) }

// Prefix begins every key.
func (s *Store) Prefix() string { return s.keys.prefix }

// Close ends all connections. Listen must have returned.
func (s *Store) Close() error { return s.conn.Close() }

// Ping tells whether the store answers; in a cluster, whether any master does.
func (s *Store) Ping(ctx context.Context) error { return fail("ping", s.conn.Ping(ctx)) }

// Ready returns nil if the store can serve. See conn.Deployment.
func (s *Store) Ready(ctx context.Context) error { return fail("ready", s.conn.Ready(ctx)) }
