package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// folder is the content of the folder, by generation. Generation g is snapshot g and the calls after it in journal g,
// then in g+1 and so on until the next snapshot is finished. Generation 1 starts empty, so it has no snapshot.
type folder struct {
	snapshots, journals map[uint64]bool
	unfinished          []string
}

func readFolder(dir string) (folder, error) {
	f := folder{snapshots: map[uint64]bool{}, journals: map[uint64]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, err
	}
	for _, e := range entries {
		kind, number, _ := strings.Cut(e.Name(), "-")
		if kind != "snapshot" && kind != "journal" {
			continue
		}
		if strings.HasSuffix(number, ".tmp") {
			f.unfinished = append(f.unfinished, e.Name())
			continue
		}
		gen, err := strconv.ParseUint(number, 10, 64)
		if err != nil || gen == 0 {
			continue
		}
		if kind == "snapshot" {
			f.snapshots[gen] = true
		} else {
			f.journals[gen] = true
		}
	}
	return f, nil
}

// base returns the generation to start with: that of the newest snapshot.
func (f folder) base() uint64 {
	base := uint64(1)
	for gen := range f.snapshots {
		base = max(base, gen)
	}
	return base
}

// load restores the state in the folder and opens its last journal for appending. It changes the folder only after it
// has found all of it to be whole.
func (s *journals) load(ctx context.Context, e *engine) error {
	dir := s.opts.Dir
	f, err := readFolder(dir)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	if len(f.snapshots) == 0 && len(f.journals) == 0 {
		if err := s.createJournal(1); err != nil {
			return fmt.Errorf("embedded: %w", err)
		}
		f.journals[1] = true
	}
	s.base = f.base()
	r := &replay{journals: s, engine: e}
	if f.snapshots[s.base] {
		if r.seq, err = s.loadSnapshot(ctx, s.base); err != nil {
			return err
		}
	}
	if err := s.loadJournals(ctx, r, f); err != nil {
		return err
	}
	s.appended.Store(s.j.seq)
	s.group.synced = s.j.seq
	s.grown.snapshotBytes = s.info.SnapshotBytes
	s.grown.bytes, s.grown.calls = s.info.JournalBytes, s.info.Calls
	return s.tidy(f, r.cut)
}

// loadJournals replays the journals from the base on, and opens the last one.
func (s *journals) loadJournals(ctx context.Context, r *replay, f folder) error {
	dir := s.opts.Dir
	for gen := s.base; ; gen++ {
		if !f.journals[gen] {
			return &DamageError{filepath.Join(dir, journalName(gen)), 0, "the file is missing"}
		}
		j, next, err := r.journal(ctx, gen)
		if err != nil {
			return err
		}
		s.info.Calls += j.calls
		s.info.JournalBytes += j.size - headerBytes
		if next != 0 {
			continue
		}
		s.j = j
		break
	}
	// A journal is created before the previous one is ended, so one empty journal may follow.
	for gen := range f.journals {
		if gen <= s.j.gen {
			continue
		}
		path := filepath.Join(dir, journalName(gen))
		st, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("embedded: %w", err)
		}
		if gen != s.j.gen+1 || st.Size() > headerBytes {
			return &DamageError{s.j.name, s.j.size, fmt.Sprintf("the journal has no end, but %s follows it", path)}
		}
	}
	file, err := s.opts.open(s.j.name)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	s.j.f = file
	return nil
}

// tidy cuts a torn tail and removes the leftovers of an interrupted compaction.
func (s *journals) tidy(f folder, cut int64) error {
	if cut > 0 {
		s.info.CutBytes = cut
		s.log.Warn("embedded store: the journal ended in the middle of a record that was never acknowledged; the record was removed",
			"file", s.j.name, "at", s.j.size, "bytes", cut)
		if err := s.j.f.Truncate(s.j.size); err != nil {
			return errors.Join(fmt.Errorf("embedded: cut the torn tail: %w", err), s.j.f.Close())
		}
	}
	// From here on everything that was replayed counts as synced, so sync it now, no matter who wrote it.
	if err := s.j.f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("embedded: %w", err), s.j.f.Close())
	}
	for _, name := range f.unfinished {
		_ = os.Remove(filepath.Join(s.opts.Dir, name))
	}
	if f.journals[s.j.gen+1] {
		_ = os.Remove(filepath.Join(s.opts.Dir, journalName(s.j.gen+1)))
	}
	s.removeBefore(f, s.base)
	return nil
}

// removeBefore removes the generations that a newer snapshot has made obsolete. A failed removal is retried at the next
// start.
func (s *journals) removeBefore(f folder, base uint64) {
	for gen := range f.journals {
		if gen < base {
			_ = os.Remove(filepath.Join(s.opts.Dir, journalName(gen)))
		}
	}
	for gen := range f.snapshots {
		if gen < base {
			_ = os.Remove(filepath.Join(s.opts.Dir, snapshotName(gen)))
		}
	}
}
