package embedded

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

var (
	// ErrLocked: another process has opened the folder.
	ErrLocked = errors.New("embedded: the folder is in use by another chatd")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("embedded: the store is closed")
	// ErrMemory: Sync was called on a store without a folder.
	ErrMemory = errors.New("embedded: the store is in memory only")
)

// Options configure the store. The zero value is a store in memory.
type Options struct {
	// Dir is the folder of journals and snapshots, created if absent with mode 0700. Empty: in memory only, with the
	// same rules about commands.
	Dir string
	// Log receives cut tails, compactions and disk failures. Nil: slog.Default().
	Log *slog.Logger
	// SyncEvery is how often the journal is flushed to the disk when nobody calls Sync. 0: a second.
	SyncEvery time.Duration
	// CompactStartBytes, CompactBytes and CompactCalls are how far a journal may grow before a snapshot replaces it: at
	// start, and while running. 0: the defaults in limits.go.
	CompactStartBytes, CompactBytes int64
	CompactCalls                    int
	// Now is the host's clock. Nil: time.Now. Scripts never see it go backward.
	Now func() time.Time

	open, create func(path string) (file, error) // tests use them to let a disk fail
	repliesMax   int                             // what a client may leave unread, in bytes
}

// Info describes what was found at start.
type Info struct {
	Keys          int
	Calls         int           // replayed from journals
	SnapshotBytes int64         // 0: none
	JournalBytes  int64         // of whole records
	CutBytes      int64         // of a torn tail
	Took          time.Duration // to load everything
}

// Store is a running embedded store. It is safe for concurrent use.
type Store struct {
	opts Options
	log  *slog.Logger
	info Info
	lock io.Closer
	m    *miniredis.Miniredis
	srv  *server.Server
	sets *sortedSets

	values    values
	peers     sync.Map // *server.Peer -> *peer
	nestedCtx any      // the context that miniredis passes to commands of a script

	// order is held by every script from start to end, so calls run in the order of the journal. It guards the
	// following fields, and the journal.
	order   sync.Mutex
	lua     *interpreter
	cur     *call
	scripts map[string]*script // by sha
	lastUs  int64              // the last time of the scripts' clock
	readAt  time.Time          // when that was, by the host's clock
	ahead   bool               // of the host's clock, which was moved back; logged once
	scratch []byte
	j       *journal // nil: in memory
	base    uint64   // the generation of the newest snapshot; everything from its journal on is kept
	grown   growth   // since that snapshot

	appended   atomic.Uint64 // sequence number of the newest call
	syncing    sync.Mutex    // held during an fsync and while the journal's file is replaced; lock order first
	group      syncGroup
	compactC   chan struct{}
	compacting sync.Mutex // held by a compaction

	closing  sync.RWMutex // read-held while a connection is made
	closed   bool
	stop     chan struct{}
	loops    sync.WaitGroup
	closeErr error
	once     sync.Once
}

// growth is how much was written since the last snapshot, and how large that was.
type growth struct {
	bytes, snapshotBytes int64
	calls                int
	tried                bool // a compaction is due or running
}

// Open loads the folder and starts the server. Its errors say what to do: ErrLocked, a *DamageError, or an error of the
// file system.
func Open(ctx context.Context, opts Options) (*Store, error) {
	s := &Store{
		opts:     withDefaults(opts),
		m:        miniredis.NewMiniRedis(),
		scripts:  map[string]*script{},
		compactC: make(chan struct{}, 1),
		stop:     make(chan struct{}),
	}
	s.log = s.opts.Log
	s.group.init()
	// The first Dial starts the server without a listener; its connection is not used.
	c, err := s.m.Dial()
	if err != nil {
		return nil, err
	}
	_ = c.Close()
	s.srv = s.m.Server()
	s.srv.SetPreHook(s.gate)
	if err := s.startLua(); err != nil {
		s.m.Close()
		return nil, err
	}
	if s.opts.Dir == "" {
		return s, nil
	}
	if err := s.openFolder(ctx); err != nil {
		s.m.Close()
		if s.lock != nil {
			_ = s.lock.Close()
		}
		return nil, err
	}
	s.loops.Go(s.syncLoop)
	s.loops.Go(s.compactLoop)
	return s, nil
}

// startLua lets miniredis run a script once, to get the context that it passes to the commands of scripts.
func (s *Store) startLua() error {
	var reply bytes.Buffer
	p := newPeer(&reply)
	s.peers.Store(p, &peer{inner: true})
	defer s.peers.Delete(p)
	s.srv.Dispatch(p, []string{"EVAL", "return redis.call('ECHO', 'ready')", "0"})
	p.Flush()
	if s.nestedCtx == nil || reply.String() != "$5\r\nready\r\n" {
		return fmt.Errorf("embedded: this version of miniredis runs scripts differently: %q", reply.String())
	}
	var err error
	if s.values, err = findValues(s.m.DB(0)); err != nil {
		return err
	}
	s.lua = newInterpreter(s, s.nestedCtx)
	s.sets = newSortedSets(s.srv, func(out *bytes.Buffer) *server.Peer {
		p := newPeer(out)
		p.Ctx = s.nestedCtx
		s.peers.Store(p, &peer{inner: true})
		return p
	})
	return nil
}

func withDefaults(o Options) Options {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.SyncEvery <= 0 {
		o.SyncEvery = syncEvery
	}
	if o.CompactStartBytes <= 0 {
		o.CompactStartBytes = compactStartBytes
	}
	if o.CompactBytes <= 0 {
		o.CompactBytes = compactBytes
	}
	if o.CompactCalls <= 0 {
		o.CompactCalls = compactCalls
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.open == nil {
		o.open = openFile
	}
	if o.create == nil {
		o.create = createFile
	}
	if o.repliesMax <= 0 {
		o.repliesMax = repliesBytesMax
	}
	return o
}

func (s *Store) openFolder(ctx context.Context) error {
	began := time.Now()
	dir := s.opts.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	lock, err := lockFolder(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	s.lock = lock
	if err := s.load(ctx); err != nil {
		return err
	}
	s.info.Keys = len(s.m.DB(0).Keys())
	s.info.Took = time.Since(began)
	s.order.Lock()
	s.nowUs()
	s.order.Unlock()
	if s.grown.bytes >= s.opts.CompactStartBytes && s.grown.bytes >= s.grown.snapshotBytes/2 {
		if err := s.compact(); err != nil {
			// Everything that was loaded is whole, and its journals still exist.
			s.log.Warn("embedded store: compaction failed", "error", err)
		}
	}
	return nil
}

// Info returns what was found at start.
func (s *Store) Info() Info { return s.info }

// Dialer connects a client; network and address are ignored. It is for go-redis' Options.Dialer. Do not set a read
// timeout there: the server cannot die without the client, so a late answer only means that the machine is busy.
func (s *Store) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		s.closing.RLock()
		defer s.closing.RUnlock()
		if s.closed {
			return nil, ErrClosed
		}
		client, srv := pair(s.opts.repliesMax)
		s.srv.ServeConn(srv)
		return client, nil
	}
}

// Close ends every connection once its command is done, flushes the journal to the disk and releases the folder.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.closing.Lock()
		s.closed = true
		s.closing.Unlock()
		s.m.Close()
		s.lua.state.Close()
		close(s.stop)
		s.loops.Wait()
		if s.j == nil {
			return
		}
		s.closeErr = errors.Join(s.finish(), s.j.f.Close(), s.lock.Close())
	})
	return s.closeErr
}

// finish flushes the journal with a mark at its end, so that at the next start no damage looks like a torn tail.
func (s *Store) finish() error {
	err := s.flush()
	if err == nil && s.j.err == nil {
		s.syncing.Lock()
		err = s.j.f.Sync()
		s.syncing.Unlock()
	}
	return err
}

func newSalt() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read does not fail
	return binary.LittleEndian.Uint64(b[:])
}

func newPeer(w io.Writer) *server.Peer { return server.NewPeer(bufio.NewWriter(w)) }
