package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// syncGroup lets callers that wait for the disk share one fsync.
type syncGroup struct {
	kick chan struct{}

	mu     sync.Mutex
	synced uint64        // every record up to it is on the disk
	round  chan struct{} // closed when the next fsync has ended
	err    error         // after a failed fsync, nobody knows what is on the disk
}

// Sync returns once everything that was answered before the call is on the disk. Concurrent callers share one fsync.
// After a failed fsync it always fails, and so does every script that writes: the content of the disk is unknown until
// a restart reads it.
func (s *journals) Sync(ctx context.Context) error {
	if s.opts.Dir == "" {
		return ErrMemory
	}
	g, wanted := &s.group, s.appended.Load()
	for {
		g.mu.Lock()
		err, done, round := g.err, g.synced >= wanted, g.round
		g.mu.Unlock()
		if err != nil {
			return err
		}
		if done {
			return nil
		}
		select {
		case g.kick <- struct{}{}:
		default:
		}
		select {
		case <-round:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.stop:
			return ErrClosed
		}
	}
}

// roomBytes is what the disk must have room for, after it was full, before writes count as taken again: a large call.
const roomBytes = 1 << 20

// Writable returns nil if calls that write are taken now. After one was refused it tries to write by itself, because nobody
// may come who would.
func (s *journals) Writable() error {
	if s.opts.Dir == "" {
		return nil
	}
	s.group.mu.Lock()
	synced := s.group.synced
	s.group.mu.Unlock()
	s.order.Lock()
	defer s.order.Unlock()
	if s.j.err != nil || s.j.failed == nil {
		return s.j.err
	}
	if err := s.tryRoom(); err != nil {
		return err
	}
	return s.j.appendMarker(synced)
}

// tryRoom writes a file beside the journal and removes it.
func (s *journals) tryRoom() error {
	path := filepath.Join(s.opts.Dir, "room.tmp")
	f, err := s.opts.create(path)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	_, err = f.Write(make([]byte, roomBytes))
	return errors.Join(err, f.Close())
}

func (s *journals) syncLoop() {
	tick := time.NewTicker(s.opts.SyncEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		case <-s.group.kick:
		}
		_ = s.flush() // callers that wait get the error, and it is logged
	}
}

// flush makes the current journal durable, and writes the mark that says so.
func (s *journals) flush() error {
	g := &s.group
	s.syncing.Lock()
	wanted := s.appended.Load()
	g.mu.Lock()
	err, done := g.err, g.synced >= wanted
	g.mu.Unlock()
	if err != nil || done {
		s.syncing.Unlock()
		return err
	}
	err = s.j.f.Sync()
	s.syncing.Unlock()

	s.order.Lock()
	if err != nil {
		err = fmt.Errorf("embedded: fsync of the journal failed, restart chatd once the disk works: %w", err)
		s.j.err = err
		s.log.Error("embedded store: no more writes are accepted", "error", err)
	} else if s.j.err == nil {
		if marker := s.j.appendMarker(wanted); marker != nil {
			s.log.Warn("embedded store: cannot mark the journal as synced", "error", marker)
		}
	}
	s.order.Unlock()
	g.finish(wanted, err)
	return err
}

// finish wakes the callers that waited for this fsync.
func (g *syncGroup) finish(synced uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.err = err
	} else {
		g.synced = max(g.synced, synced)
	}
	close(g.round)
	g.round = make(chan struct{})
}
