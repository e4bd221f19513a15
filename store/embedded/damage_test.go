package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// smallJournal writes a journal and returns its bytes, where each whole record ends, and what the store held there.
func smallJournal(t testing.TB, sends int) (journal []byte, ends []int, states []string) {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour}) // no marks between the records
	c := client(t, s)
	ends, states = []int{headerBytes}, []string{contents(t, s)}
	for i := range sends {
		mustSend(t, c, fmt.Sprintf("message %d %s", i, strings.Repeat("\x00", i%7)))
		ends, states = append(ends, int(s.j.size)), append(states, contents(t, s))
	}
	journal, err := os.ReadFile(filepath.Join(dir, journalName(1)))
	if err != nil {
		t.Fatal(err)
	}
	return journal[:ends[len(ends)-1]], ends, states
}

// reopen opens a folder that contains only this journal.
func reopen(t testing.TB, dir string, journal []byte) (*Store, error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, journalName(1)), journal, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(context.Background(), Options{Dir: dir, Log: quiet(), CompactStartBytes: 1 << 40})
}

// TestTruncationAtEveryByte: a cut anywhere leaves every whole record before it, and the journal stays usable.
func TestTruncationAtEveryByte(t *testing.T) {
	journal, ends, states := smallJournal(t, 7)
	dir := t.TempDir()
	for n := range len(journal) + 1 {
		s, err := reopen(t, dir, journal[:n])
		if n < headerBytes {
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("cut to %d bytes, within the header: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		i, whole := slices.BinarySearch(ends, n)
		if !whole {
			i--
		}
		if got := contents(t, s); got != states[i] {
			t.Fatalf("cut to %d bytes:\n%swant\n%s", n, got, states[i])
		}
		if n%50 == 0 {
			mustSend(t, client(t, s), "after")
			want := contents(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(context.Background(), Options{Dir: dir, Log: quiet()}); err != nil {
				t.Fatal(err)
			}
			if got := contents(t, s); got != want {
				t.Fatalf("cut to %d bytes, written on and opened again:\n%swant\n%s", n, got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTornTailIsRemoved: nothing of a torn record stays in the file, however little is written over it.
func TestTornTailIsRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour})
	c := client(t, s)
	mustSend(t, c, "whole")
	end := s.j.size
	mustSend(t, c, strings.Repeat("torn", 1000))
	path := filepath.Join(dir, journalName(1))
	journal, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	torn, err := reopen(t, dir, journal[:s.j.size-1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = torn.Close() }()
	if got, want := torn.Info().CutBytes, s.j.size-1-end; got != want {
		t.Errorf("%d bytes were cut, want %d", got, want)
	}
	mustSend(t, client(t, torn), "short")
	again := openStore(t, Options{Dir: clone(t, dir)})
	if got := again.Info().CutBytes; got != 0 {
		t.Errorf("%d bytes of the torn record were left behind what was written next", got)
	}
	if got, want := contents(t, again), contents(t, torn); got != want {
		t.Errorf("opened again:\n%swant\n%s", got, want)
	}
}

// TestFlippedBits: a flipped bit before a whole record is reported as damage, with nothing lost. In the last record it
// looks like a write that a power failure interrupted, so only that record is cut - unless it was synced, because then
// a mark follows it.
func TestFlippedBits(t *testing.T) {
	journal, ends, states := smallJournal(t, 4)
	dir := t.TempDir()
	last := len(ends) - 2
	for n := range journal {
		b := slices.Clone(journal)
		b[n] ^= 1 << (n % 8)
		s, err := reopen(t, dir, b)
		if n < ends[last] {
			if err == nil || !strings.Contains(err.Error(), journalName(1)) {
				t.Fatalf("byte %d flipped: %v", n, err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, journalName(1))); !slices.Equal(got, b) {
				t.Fatalf("byte %d flipped: the file was changed", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("byte %d of the last record flipped: %v", n, err)
		}
		if got := contents(t, s); got != states[last] {
			t.Fatalf("byte %d of the last record flipped:\n%s", n, got)
		}
		if got := s.Info().CutBytes; got != int64(len(journal)-ends[last]) {
			t.Fatalf("byte %d of the last record flipped: %d bytes cut", n, got)
		}
		_ = s.Close()
	}
}

// TestFlippedBitsInWhatWasSynced: nothing that was synced is ever cut.
func TestFlippedBitsInWhatWasSynced(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, SyncEvery: time.Hour})
	mustSend(t, client(t, s), "hello")
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	end := int(s.j.size) - frameHeadBytes - 2 // the mark
	journal, err := os.ReadFile(filepath.Join(dir, journalName(1)))
	if err != nil {
		t.Fatal(err)
	}
	want := contents(t, s)
	dir = t.TempDir()
	for n := range journal {
		b := slices.Clone(journal)
		b[n] ^= 4
		s, err := reopen(t, dir, b)
		if n < end && err == nil {
			t.Fatalf("byte %d flipped: opened", n)
		}
		if n >= end {
			if err != nil || contents(t, s) != want {
				t.Fatalf("byte %d of the mark flipped: %v", n, err)
			}
			_ = s.Close()
		}
	}
}

// TestPowerLossTails: a file that has grown ahead of its data ends in zeros or in noise.
func TestPowerLossTails(t *testing.T) {
	journal, ends, states := smallJournal(t, 5)
	last := len(ends) - 2
	for name, b := range map[string][]byte{
		"zeros behind":       append(slices.Clone(journal), make([]byte, 5000)...),
		"noise behind":       append(slices.Clone(journal), []byte(strings.Repeat("noise", 1000))...),
		"zeros in the last":  append(slices.Clone(journal[:ends[last]+30]), make([]byte, len(journal)-ends[last]-30)...),
		"zeros from a start": append(slices.Clone(journal[:ends[last]]), make([]byte, 4096)...),
	} {
		s, err := reopen(t, t.TempDir(), b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := states[last]
		if strings.HasSuffix(name, "behind") {
			want = states[last+1]
		}
		if got := contents(t, s); got != want {
			t.Errorf("%s:\n%s", name, got)
		}
		_ = s.Close()
	}
	b := slices.Clone(journal)
	clear(b[ends[2]:ends[3]])
	if _, err := reopen(t, t.TempDir(), b); err == nil {
		t.Error("a hole with whole records behind it was passed over")
	}
	if _, err := reopen(t, t.TempDir(), slices.Delete(slices.Clone(journal), ends[2], ends[3])); err == nil ||
		!strings.Contains(err.Error(), "want record") {
		t.Errorf("a record cut out: %v", err)
	}
	if _, err := reopen(t, t.TempDir(), slices.Insert(slices.Clone(journal), ends[3], journal[ends[2]:ends[3]]...)); err == nil {
		t.Error("a record twice was taken")
	}
}

// TestDamagedFolders damages and removes the files of a folder with a snapshot, and adds what should not be there.
func TestDamagedFolders(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	c := client(t, s)
	mustSend(t, c, "one")
	before := clone(t, dir) // generation 1, not ended
	if err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	mustSend(t, c, "two")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := contents(t, s)
	snapshot, journal := filepath.Join(dir, snapshotName(2)), filepath.Join(dir, journalName(2))
	open := func(dir string) (string, error) {
		s, err := Open(context.Background(), Options{Dir: dir, Log: quiet()})
		if err != nil {
			return "", err
		}
		defer func() { _ = s.Close() }()
		return contents(t, s), nil
	}
	refused := func(what, file string, change func(dir string)) {
		t.Helper()
		d := clone(t, dir)
		change(d)
		if got, err := open(d); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v\n%s", what, err, got)
		}
	}
	rename := func(dir, from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Error(err)
		}
	}
	refused("no snapshot", journalName(1), func(d string) { _ = os.Remove(filepath.Join(d, snapshotName(2))) })
	refused("no journal", journalName(2), func(d string) { _ = os.Remove(filepath.Join(d, journalName(2))) })
	refused("another generation", "generation 2", func(d string) {
		rename(d, snapshotName(2), snapshotName(3))
		rename(d, journalName(2), journalName(3))
	})
	b, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		flipped := slices.Clone(b)
		flipped[n] ^= 0x10
		for what, content := range map[string][]byte{"flipped": flipped, "cut": b[:n]} {
			d := clone(t, dir)
			if err := os.WriteFile(filepath.Join(d, snapshotName(2)), content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := open(d); err == nil || !strings.Contains(err.Error(), snapshotName(2)) {
				t.Fatalf("snapshot %s at byte %d: %v", what, n, err)
			}
		}
	}
	// Leftovers of an interrupted compaction are removed.
	j, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	d := clone(t, dir)
	old, _ := os.ReadFile(filepath.Join(before, journalName(1)))
	for name, content := range map[string][]byte{
		journalName(1): old, snapshotName(3) + ".tmp": b[:20], journalName(3) + ".tmp": j[:10],
		journalName(3): fileHeader{gen: 3}.encode(journalMagic),
	} {
		if err := os.WriteFile(filepath.Join(d, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := open(d); err != nil || got != want {
		t.Errorf("beside leftovers: %v\n%s", err, got)
	}
	if entries, _ := os.ReadDir(d); len(entries) != 3 {
		t.Errorf("leftovers stay: %v", entries)
	}
	// A journal that was not ended, followed by one that holds calls.
	d = clone(t, before)
	if err := os.WriteFile(filepath.Join(d, journalName(2)), j, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(d); err == nil || !strings.Contains(err.Error(), "no end") {
		t.Errorf("a journal without an end: %v", err)
	}
}

// TestCrashClones copies the folder at random moments under load, with compactions, and opens the copies: everything
// that was answered before the copy began is there.
func TestCrashClones(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openStore(t, Options{Dir: dir, CompactCalls: 150})
	c := client(t, s)
	stop := make(chan struct{})
	var mu sync.Mutex
	answered := map[int64]string{}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("%d/%d", w, i)
				id, err := send(ctx, c, text)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				answered[id] = text
				mu.Unlock()
			}
		})
	}
	for round, known := 0, 0; round < 25 || known < 300; round++ {
		mu.Lock()
		known = len(answered)
		want := make(map[int64]string, known)
		for id, text := range answered {
			want[id] = text
		}
		mu.Unlock()
		copied := crashClone(t, dir)
		again, err := Open(ctx, Options{Dir: copied, Log: quiet(), CompactStartBytes: 1 << 40})
		if err != nil {
			t.Fatalf("open a clone: %v", err)
		}
		got := map[int64]string{}
		if z := again.sets.byKey[sendKeys[1]]; z != nil {
			for e := range z.between(0, z.len(), false) {
				_, text, _ := strings.Cut(e.member, " ")
				_, text, _ = strings.Cut(text, " ")
				got[int64(e.score)] = text
			}
		}
		for id, text := range want {
			if got[id] != text {
				t.Fatalf("message %d %q was answered; the clone has %q", id, text, got[id])
			}
		}
		for id := range int64(len(got)) {
			if got[id+1] == "" {
				t.Fatalf("a hole at %d of %d", id+1, len(got))
			}
		}
		_ = again.Close()
	}
	close(stop)
	wg.Wait()
}

// crashClone copies a folder that is in use. It repeats the copy if a compaction created, renamed or removed a file
// meanwhile, because a real crash sees one instant.
func crashClone(t *testing.T, dir string) string {
	t.Helper()
	for {
		before, err := readFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		copied := clone(t, dir)
		after, err := readFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		f, err := readFolder(copied)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(before) == fmt.Sprint(after) && fmt.Sprint(before) == fmt.Sprint(f) {
			return copied
		}
	}
}
