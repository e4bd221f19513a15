package embedded

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
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
	*memory
	*journals
	engine *engine
	gate   *gate

	closing  sync.RWMutex // read-held while a connection is made
	closed   bool
	closeErr error
	once     sync.Once
}

// memory is what the parts share: the server, and what it holds.
type memory struct {
	log    *slog.Logger
	m      *miniredis.Miniredis
	srv    *server.Server
	sets   *sortedSets
	values values

	// order is held by every script from start to end, so calls run in the order of the journal. It guards the clock, the journal
	// and what the engine says.
	order sync.Mutex
	clock hostClock
}

// Open loads the folder and starts the server. Its errors say what to do: ErrLocked, a *DamageError, or an error of the
// file system.
func Open(ctx context.Context, opts Options) (*Store, error) {
	opts = withDefaults(opts)
	mem := &memory{log: opts.Log, m: miniredis.NewMiniRedis(), clock: hostClock{now: opts.Now, log: opts.Log}}
	s := &Store{memory: mem, journals: newJournals(mem, opts)}
	s.engine = &engine{memory: mem, journals: s.journals, scripts: map[string]*script{}}
	s.gate = &gate{memory: mem, engine: s.engine}
	// The first Dial starts the server without a listener; its connection is not used.
	c, err := s.m.Dial()
	if err != nil {
		return nil, err
	}
	_ = c.Close()
	s.srv = s.m.Server()
	s.srv.SetPreHook(s.gate.command)
	if err := s.gate.startLua(); err != nil {
		s.m.Close()
		return nil, err
	}
	if s.opts.Dir == "" {
		return s, nil
	}
	if err := s.openFolder(ctx, s.engine); err != nil {
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

func withDefaults(o Options) Options {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.SyncEvery = cmp.Or(max(o.SyncEvery, 0), syncEvery)
	o.CompactStartBytes = cmp.Or(max(o.CompactStartBytes, 0), compactStartBytes)
	o.CompactBytes = cmp.Or(max(o.CompactBytes, 0), compactBytes)
	o.CompactCalls = cmp.Or(max(o.CompactCalls, 0), compactCalls)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.open == nil {
		o.open = openFile
	}
	if o.create == nil {
		o.create = createFile
	}
	o.repliesMax = cmp.Or(max(o.repliesMax, 0), repliesBytesMax)
	return o
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
		s.engine.lua.state.Close()
		close(s.stop)
		s.loops.Wait()
		if s.j == nil {
			return
		}
		s.closeErr = errors.Join(s.finish(), s.j.f.Close(), s.lock.Close())
	})
	return s.closeErr
}

func newSalt() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read does not fail
	return binary.LittleEndian.Uint64(b[:])
}

func newPeer(w io.Writer) *server.Peer { return server.NewPeer(bufio.NewWriter(w)) }
