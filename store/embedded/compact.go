package embedded

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// grow counts what was written and requests a compaction when it is worthwhile. The caller holds order.
func (s *journals) grow(bytes int64, calls int) {
	s.grown.bytes += bytes
	s.grown.calls += calls
	due := s.grown.bytes > s.opts.CompactBytes || s.grown.calls > s.opts.CompactCalls
	small := s.grown.bytes < s.grown.snapshotBytes/2 && s.grown.calls < compactCallsMost
	if !due || small || s.grown.tried {
		return
	}
	s.grown.tried = true
	select {
	case s.compactC <- struct{}{}:
	default:
	}
}

func (s *journals) compactLoop() {
	for {
		select {
		case <-s.stop:
			return
		case <-s.compactC:
		}
		if err := s.Compact(); err != nil {
			s.log.Error("embedded store: compaction failed; the journals are kept", "error", err)
		}
	}
}

// Compact replaces the journals by a snapshot now: what was removed from the store is in none of its files then.
//
//  1. Create the next journal, empty.
//  2. Block scripts: end and sync the old journal, direct calls to the new one from here on, and capture every key.
//  3. Let scripts run again, write what was captured to an unfinished snapshot, sync it and give it its name. From here on
//     a start begins with it.
//  4. Remove the older generations.
//
// If it is interrupted before 3, the old snapshot and both journals are as good as before. After a failure the next
// attempt waits until as much again was written.
func (s *journals) Compact() (err error) {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	began := time.Now()
	dir := s.opts.Dir
	s.order.Lock()
	next := s.j.gen + 1
	s.order.Unlock()
	if err := s.createJournal(next); err != nil {
		s.again()
		return err
	}
	// What is synced now need not be while scripts are blocked. A failure shows again there.
	_ = s.flush()
	var held time.Duration
	var written growth
	var captured *snapshotWriter
	err = s.writeDurably(snapshotName(next), func(w io.Writer) error {
		if captured, err = s.begin(next, &written, &held); err != nil {
			return err
		}
		return captured.writeTo(w)
	})
	if err != nil {
		s.again()
		return err
	}
	s.order.Lock()
	s.base = next
	s.grown.bytes -= written.bytes
	s.grown.calls -= written.calls
	s.grown.tried = false
	s.grown.snapshotBytes = captured.bytes
	s.order.Unlock()
	if f, err := readFolder(dir); err == nil {
		s.removeBefore(f, next)
	}
	s.log.Info("embedded store: compacted the journal", "calls", written.calls, "journal_bytes", written.bytes,
		"snapshot_bytes", captured.bytes, "held_up", held.String(), "took", time.Since(began).String())
	return nil
}

// begin directs calls to the next journal, and captures what was stored before. It sets written to what the old journals
// held, and held to how long scripts were blocked.
func (s *journals) begin(next uint64, written *growth, held *time.Duration) (*snapshotWriter, error) {
	s.order.Lock()
	defer s.order.Unlock()
	began := time.Now()
	defer func() { *held = time.Since(began) }()
	*written = s.grown
	if err := s.rotate(next); err != nil {
		return nil, err
	}
	return s.capture(next, s.j.seq)
}

// again delays the next attempt until the store has grown by as much as before the failed one.
func (s *journals) again() {
	s.order.Lock()
	defer s.order.Unlock()
	s.grown.bytes, s.grown.calls, s.grown.tried = 0, 0, false
}

// rotate ends the journal and switches to the next one. The caller holds order.
func (s *journals) rotate(next uint64) error {
	if s.j.err != nil {
		return s.j.err
	}
	h, err := readHeader(s.opts.Dir, next)
	if err != nil {
		return err
	}
	f, err := s.opts.open(filepath.Join(s.opts.Dir, journalName(next)))
	if err != nil {
		return err
	}
	if err := s.j.appendEnd(next); err != nil {
		_ = f.Close()
		_ = os.Remove(filepath.Join(s.opts.Dir, journalName(next)))
		return err
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := s.j.f.Sync(); err != nil {
		// The end may or may not be on the disk: nothing more may be written to either journal.
		s.j.err = fmt.Errorf("embedded: fsync of the journal failed, restart chatd once the disk works: %w", err)
		_ = f.Close()
		s.group.finish(0, s.j.err)
		return s.j.err
	}
	_ = s.j.f.Close()
	s.j = &journal{f: f, name: filepath.Join(s.opts.Dir, journalName(next)), gen: next, salt: h.salt, size: headerBytes,
		seq: s.j.seq, sources: map[string]int{}}
	s.group.finish(s.j.seq, nil)
	return nil
}
