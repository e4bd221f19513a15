package embedded

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// journals keeps what scripts do in a folder: journals, and snapshots that replace them. Without a folder it does nothing.
type journals struct {
	*memory
	opts Options
	info Info
	lock io.Closer

	// Guarded by order.
	j     *journal // nil: in memory
	base  uint64   // the generation of the newest snapshot; everything from its journal on is kept
	grown growth   // since that snapshot

	appended   atomic.Uint64 // sequence number of the newest call
	syncing    sync.Mutex    // held during an fsync and while the journal's file is replaced; lock order first
	group      syncGroup
	compactC   chan struct{}
	compacting sync.Mutex // held by a compaction
	stop       chan struct{}
	loops      sync.WaitGroup
}

func newJournals(m *memory, opts Options) *journals {
	return &journals{memory: m, opts: opts, compactC: make(chan struct{}, 1), stop: make(chan struct{}),
		group: syncGroup{kick: make(chan struct{}, 1), round: make(chan struct{})}}
}

// growth is how much was written since the last snapshot, and how large that was.
type growth struct {
	bytes, snapshotBytes int64
	calls                int
	tried                bool // a compaction is due or running
}

func (s *journals) openFolder(ctx context.Context, e *engine) error {
	began := time.Now()
	dir := s.opts.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	lock, err := Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	s.lock = lock
	if err := s.load(ctx, e); err != nil {
		return err
	}
	s.info.Keys = len(s.m.DB(0).Keys())
	s.info.Took = time.Since(began)
	s.order.Lock()
	s.clock.nowUs()
	s.order.Unlock()
	if s.grown.bytes >= s.opts.CompactStartBytes && s.grown.bytes >= s.grown.snapshotBytes/2 {
		if err := s.Compact(); err != nil {
			// Everything that was loaded is whole, and its journals still exist.
			s.log.Warn("embedded store: compaction failed", "error", err)
		}
	}
	return nil
}

// finish flushes the journal with a mark at its end, so that at the next start no damage looks like a torn tail.
func (s *journals) finish() error {
	err := s.flush()
	if err == nil && s.j.err == nil {
		s.syncing.Lock()
		err = s.j.f.Sync()
		s.syncing.Unlock()
	}
	return err
}
