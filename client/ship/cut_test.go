package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/client"
)

// cutAll cuts files until their ends, and returns the parts and the state after them.
func cutAll(t *testing.T, state *shipState, opts Options) []*segment {
	t.Helper()
	if err := opts.check(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	out := make(chan *segment)
	k, err := newCutter(opts, &mu, state, out)
	if err != nil {
		t.Fatal(err)
	}
	failed, ctx := make(chan error, 1), patient(t)
	go func() {
		failed <- k.run(ctx)
		close(out)
	}()
	var all []*segment
	for seg := range out {
		all = append(all, seg)
		mu.Lock()
		if name, err := locate(seg.Path, seg.Inode); seg.drained && err == nil {
			seg.state.Path = name
		} else {
			state.Parts, state.Digest, state.Part = state.Parts+1, seg.digest, nil
			seg.state.advance(seg)
		}
		mu.Unlock()
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return all
}

func newState(t *testing.T) *shipState {
	t.Helper()
	state, err := loadShip("", "g", "e")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func unpack(t *testing.T, seg *segment) []byte {
	t.Helper()
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	lines, err := decoder.DecodeAll(seg.data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkParts compares parts with what they were cut from: all bytes once and in order, whole lines wherever they fit.
func checkParts(t *testing.T, parts []*segment, want string, size int64) {
	t.Helper()
	var got bytes.Buffer
	for i, seg := range parts {
		lines := unpack(t, seg)
		sum := sha256.Sum256(lines)
		if int64(len(lines)) != seg.Bytes || seg.Bytes > size || hex.EncodeToString(sum[:]) != seg.SHA256 {
			t.Errorf("part %d has %d bytes, says %d, may have %d", i+1, len(lines), seg.Bytes, size)
		}
		ended := bytes.HasSuffix(lines, []byte("\n"))
		if seg.Open == ended || !ended && bytes.ContainsRune(lines, '\n') && i+1 < len(parts) && parts[i+1].state == seg.state {
			t.Errorf("part %d of %d: open %v, ends in %.20q", i+1, len(parts), seg.Open, lines[max(0, len(lines)-20):])
		}
		got.Write(lines)
	}
	if got.String() != want {
		t.Errorf("got %d bytes, want %d, or others", got.Len(), len(want))
	}
}

func TestPartsAreWholeLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		var content strings.Builder
		for range r.IntN(200) {
			length := r.IntN(100)
			if r.IntN(20) == 0 {
				length = r.IntN(5000) // longer than a part
			}
			content.WriteString(strings.Repeat(string(rune('a'+r.IntN(26))), length) + "\n")
		}
		if round%3 == 0 {
			content.WriteString("no line break at the end")
		}
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, content.String())
		state := newState(t)
		checkParts(t, cutAll(t, state, Options{Paths: []string{path}, Segment: 1024}), content.String(), 1024)
		digest, err := state.digest()
		if want := sha256.Sum256([]byte(content.String())); err != nil || !bytes.Equal(digest.Sum(nil), want[:]) {
			t.Errorf("round %d: the digest of the shipment is another", round)
		}
		if more := cutAll(t, state, Options{Paths: []string{path}, Segment: 1024}); len(more) > 0 {
			t.Errorf("round %d: %d parts once more", round, len(more))
		}
	}
}

// TestPartIsCutTheSameAgain: after a crash, the part that was under way is made of the same bytes, although the file has grown.
func TestPartIsCutTheSameAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one\ntwo\n")
	state := newState(t)
	first := cutAll(t, newState(t), Options{Paths: []string{path}})[0]
	state.add(path, mustStat(t, path))
	state.Part = &first.pendingState
	write(t, path, "one\ntwo\nthree\n")
	parts := cutAll(t, state, Options{Paths: []string{path}})
	checkParts(t, parts, "one\ntwo\nthree\n", 100)
	if len(parts) != 2 || parts[0].SHA256 != first.SHA256 || parts[0].sha256 != first.sha256 {
		t.Errorf("got %d parts, want the first as it was, and the rest", len(parts))
	}

	state = newState(t)
	state.Part = &first.pendingState
	write(t, path, "one\nTWO\nthree\n")
	var mu sync.Mutex
	k, err := newCutter(Options{Paths: []string{path}, Segment: 1024}, &mu, state, make(chan *segment, 10))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.run(patient(t)); !errors.Is(err, errPermanent) || !strings.Contains(err.Error(), "no longer has the bytes") {
		t.Errorf("of other bytes: got %v", err)
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestRotatedWhileNobodyShipped: the rest of the file that a path named before comes first, then what it names now.
func TestRotatedWhileNobodyShipped(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	write(t, path, "one\n")
	state := newState(t)
	checkParts(t, cutAll(t, state, Options{Paths: []string{path}}), "one\n", 100)
	write(t, path, "one\ntwo\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(t, path, "three\n")
	var parts []*segment
	for _, seg := range cutAll(t, state, Options{Paths: []string{path}}) {
		if !seg.drained {
			parts = append(parts, seg)
		}
	}
	checkParts(t, parts, "two\nthree\n", 100)
	// The same inode with other bytes is another file.
	write(t, path, "4\n5\n6\n")
	checkParts(t, cutAll(t, state, Options{Paths: []string{path}}), "4\n5\n6\n", 100)
}

func TestStateOfAnotherGroupIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	state, err := loadShip(path, "g", "e")
	if err != nil {
		t.Fatal(err)
	}
	if err := state.save(); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{"g", "other"}, {"other", "e"}} {
		if _, err := loadShip(path, other[0], other[1]); err == nil {
			t.Errorf("%v: want an error", other)
		}
	}
	if again, err := loadShip(path, "g", "e"); err != nil || again.Ship != state.Ship {
		t.Errorf("got %v, %v", again, err)
	}
	write(t, path, "{")
	if _, err := loadShip(path, "g", "e"); err == nil {
		t.Error("a damaged state is no fresh start: want an error")
	}
}

func TestResultsAreClipped(t *testing.T) {
	for text, want := range map[string]int{"": 0, "ok": 2, strings.Repeat("x", 5000): 4096, strings.Repeat("ä", 3000): 4096, "x" + strings.Repeat("ä", 3000): 4095} {
		got := clipped(text)
		if len(got) != want || !strings.HasPrefix(text, got) {
			t.Errorf("%.10q: got %d bytes, want %d", text, len(got), want)
		}
	}
	if got := clipped("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	for err, want := range map[error]bool{
		errors.New("connection refused"): true, context.Canceled: false, permanent(errors.New("x")): false,
		fmt.Errorf("wrapped: %w", permanent(errors.New("x"))): false, &MissingError{}: false,
		&client.Error{Status: 413}: false, &client.Error{Status: 404}: true, // of a proxy: what is too large stays so
	} {
		if got := transient(err); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
	if permanent(nil) != nil {
		t.Error("nothing failed")
	}
}
