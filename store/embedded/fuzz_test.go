package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzReplay opens a damaged journal: cut, with flipped bits, spliced from its own parts. It opens with a state that a
// prefix of the journal had, or is refused with the reason and left as it is.
func FuzzReplay(f *testing.F) {
	journal, ends, states := smallJournal(f, 6)
	f.Add(0, 0, 0, 0, 0, byte(0))
	f.Add(len(journal), 0, 0, 0, 0, byte(0))
	f.Add(len(journal), ends[2], ends[3], ends[3], 0, byte(0))         // a record twice
	f.Add(len(journal), 0, 0, 0, ends[3]+1, byte(1))                   // a length flipped
	f.Add(ends[4]+5, 0, ends[1], ends[4]+5, 0, byte(0))                // a journal after a torn record
	f.Add(len(journal), ends[5], ends[6], ends[2], 0, byte(0))         // a record too early
	f.Add(len(journal), 0, 0, 0, len(journal)-1, byte(0x80))           // the last byte flipped
	f.Add(len(journal), ends[1], ends[1]+19, len(journal), 0, byte(0)) // a head after the end
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, size, from, to, at, flip int, bits byte) {
		within := func(n, most int) int { return min(max(n, 0), most) }
		b := slices.Clone(journal[:within(size, len(journal))])
		from = within(from, len(journal))
		to = max(from, within(to, len(journal)))
		b = slices.Insert(b, within(at, len(b)), journal[from:to]...)
		if flip >= 0 && flip < len(b) {
			b[flip] ^= bits
		}
		path := filepath.Join(dir, journalName(1))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), Options{Dir: dir, Log: quiet(), CompactStartBytes: 1 << 40})
		if err != nil {
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Fatalf("refused without the damage: %v", err)
			}
			if after, _ := os.ReadFile(path); !slices.Equal(after, b) {
				t.Fatal("refused, but the file was changed")
			}
			return
		}
		got := contents(t, s)
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= len(b) && slices.Equal(b[:ends[whole+1]], journal[:ends[whole+1]]) {
			whole++
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got != states[whole] {
			t.Fatalf("%d whole records lead to\n%swant\n%s", whole, got, states[whole])
		}
	})
}

// FuzzDecode feeds payloads that no writer ever wrote to the decoders.
func FuzzDecode(f *testing.F) {
	f.Add(appendCall(nil, callRecord{sinceUs: 1, source: 2, keys: 1, args: []string{"abc", "abd", ""}})[1:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeCall(b)
		if err != nil {
			return
		}
		again, err := decodeCall(appendCall(nil, r)[1:])
		if err != nil || !slices.Equal(again.args, r.args) || again.sinceUs != r.sinceUs || again.keys != r.keys {
			t.Fatalf("%v became %v: %v", r, again, err)
		}
	})
}
