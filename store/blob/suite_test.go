package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/chatd/chatd/chat/files"
)

// conforms is what all Blobs do. open opens the same store again, as another node would.
func conforms(t *testing.T, open func(t *testing.T) files.Blobs) {
	for name, test := range map[string]func(t *testing.T, open func(t *testing.T) files.Blobs){
		"GrowsByPieces":                   growsByPieces,
		"WhatIsBeyondTheOffsetIsDropped":  beyondOffsetIsDropped,
		"OffsetThatIsNotThere":            offsetThatIsNotThere,
		"SourceThatFails":                 sourceThatFails,
		"FinishNeedsEveryByte":            finishNeedsEveryByte,
		"PutIsWholeAtOnce":                putIsWholeAtOnce,
		"ReadsAnywhere":                   readsAnywhere,
		"Copies":                          copies,
		"Removes":                         removes,
		"ListsInOrder":                    listsInOrder,
		"IdsAreNoPaths":                   idsAreNoPaths,
		"IdentityStays":                   identityStays,
		"AnUploadGoesOnWithAnotherStore":  goesOnElsewhere,
		"CancelledContextEndsACall":       cancelledContext,
		"AnotherWriteIsRefusedOrIsBeaten": writesAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open) })
	}
}

// random returns n bytes that are the same in each run.
func random(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	_, _ = r.Read(b)
	return b
}

var made = 0

// newID returns an id that no other test uses: some stores are one for all tests.
func newID() string {
	made++
	sum := sha256.Sum256(fmt.Append(nil, made))
	return fmt.Sprintf("%x", sum[:8])
}

func write(t *testing.T, s files.Blobs, id string, offset int64, content []byte) {
	t.Helper()
	n, err := s.Write(t.Context(), id, offset, bytes.NewReader(content))
	if err != nil || n != int64(len(content)) {
		t.Fatalf("write of %d bytes at %d: %d, %v", len(content), offset, n, err)
	}
}

func finish(t *testing.T, s files.Blobs, id string, size int) {
	t.Helper()
	if err := s.Finish(t.Context(), id, int64(size)); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, s files.Blobs, id string, want []byte) {
	t.Helper()
	b, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got, err := io.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) || b.Size() != int64(len(want)) {
		t.Fatalf("%s holds %d bytes (size %d) of digest %x, want %d of %x", id, len(got), b.Size(), sha256.Sum256(got), len(want), sha256.Sum256(want))
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func absent(t *testing.T, s files.Blobs, id string) {
	t.Helper()
	_, err := s.Open(t.Context(), id)
	wantError(t, err, files.ErrNoBlob)
}

func growsByPieces(t *testing.T, open func(t *testing.T) files.Blobs) {
	s := open(t)
	for _, sizes := range [][]int{{0}, {1}, {10, 20, 30}, {5 << 20}, {6 << 20, 6 << 20, 100}, {3 << 20, 3 << 20, 3 << 20}, {17<<20 + 3}} {
		id, offset := newID(), 0
		whole := random(sum(sizes))
		for _, size := range sizes {
			write(t, s, id, int64(offset), whole[offset:offset+size])
			offset += size
			absent(t, s, id)
		}
		finish(t, s, id, offset)
		finish(t, s, id, offset)
		holds(t, s, id, whole)
	}
	empty := newID()
	finish(t, s, empty, 0)
	holds(t, s, empty, nil)
}

func sum(sizes []int) (total int) {
	for _, size := range sizes {
		total += size
	}
	return total
}

// beyondOffsetIsDropped goes back to an earlier offset, as after a crash between the bytes and the record: to the last that was
// confirmed, and to 0.
func beyondOffsetIsDropped(t *testing.T, open func(t *testing.T) files.Blobs) {
	s := open(t)
	for _, piece := range []int{100, 6 << 20} {
		id, whole := newID(), random(3*piece)
		write(t, s, id, 0, whole[:piece])
		write(t, s, id, int64(piece), random(2*piece))
		write(t, s, id, int64(piece), random(piece/2))
		write(t, s, id, int64(piece), whole[piece:2*piece])
		write(t, s, id, int64(2*piece), whole[2*piece:])
		finish(t, s, id, len(whole))
		holds(t, s, id, whole)

		again := newID()
		write(t, s, again, 0, random(piece))
		write(t, s, again, 0, whole)
		finish(t, s, again, len(whole))
		holds(t, s, again, whole)
	}
}

func offsetThatIsNotThere(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, id := open(t), newID()
	n, err := s.Write(t.Context(), id, 5, strings.NewReader("x"))
	wantError(t, err, files.ErrShort)
	write(t, s, id, 0, []byte("abcd"))
	n2, err := s.Write(t.Context(), id, 5, strings.NewReader("x"))
	wantError(t, err, files.ErrShort)
	if n != 0 || n2 != 0 {
		t.Fatalf("%d and %d bytes counted", n, n2)
	}
	write(t, s, id, 4, []byte("e"))
	finish(t, s, id, 5)
	holds(t, s, id, []byte("abcde"))
	_, err = s.Write(t.Context(), id, 5, strings.NewReader("f"))
	wantError(t, err, files.ErrShort) // it is whole: there is no upload any more
	holds(t, s, id, []byte("abcde"))
}

func sourceThatFails(t *testing.T, open func(t *testing.T) files.Blobs) {
	s := open(t)
	cut := errors.New("the client went away")
	for _, size := range []int{100, 6 << 20} {
		id, whole := newID(), random(2*size)
		n, err := s.Write(t.Context(), id, 0, io.MultiReader(bytes.NewReader(whole[:size]), iotest.ErrReader(cut)))
		wantError(t, err, cut)
		wantError(t, err, files.ErrSource)
		if n != int64(size) {
			t.Fatalf("%d bytes counted of %d that came", n, size)
		}
		write(t, s, id, n, whole[size:])
		finish(t, s, id, len(whole))
		holds(t, s, id, whole)
	}
}

func finishNeedsEveryByte(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, id := open(t), newID()
	wantError(t, s.Finish(t.Context(), id, 3), files.ErrShort)
	write(t, s, id, 0, []byte("abc"))
	for _, size := range []int64{0, 2, 4} {
		wantError(t, s.Finish(t.Context(), id, size), files.ErrShort)
	}
	absent(t, s, id)
	finish(t, s, id, 3)
	wantError(t, s.Finish(t.Context(), id, 4), files.ErrShort)
	holds(t, s, id, []byte("abc"))
}

func putIsWholeAtOnce(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, id := open(t), newID()
	cut := errors.New("cut")
	err := s.Put(t.Context(), id, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(cut)))
	wantError(t, err, cut)
	absent(t, s, id)
	if err := s.Put(t.Context(), id, strings.NewReader("first")); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), id, strings.NewReader("second")); err != nil {
		t.Fatal(err)
	}
	holds(t, s, id, []byte("first"))
}

func readsAnywhere(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, id, whole := open(t), newID(), random(1<<20)
	write(t, s, id, 0, whole)
	finish(t, s, id, len(whole))
	b, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, at := range []struct {
		offset int64
		whence int
		want   int64
	}{{100, io.SeekStart, 100}, {-10, io.SeekEnd, 1<<20 - 10}, {0, io.SeekStart, 0}, {5000, io.SeekCurrent, 5010}} {
		got, err := b.Seek(at.offset, at.whence)
		if err != nil || got != at.want {
			t.Fatalf("seek %d from %d: %d, %v", at.offset, at.whence, got, err)
		}
		piece := make([]byte, 10)
		if _, err := io.ReadFull(b, piece); err != nil || !bytes.Equal(piece, whole[at.want:at.want+10]) {
			t.Fatalf("at %d: %x, %v", at.want, piece, err)
		}
	}
	if _, err := b.Seek(-1, io.SeekStart); err == nil {
		t.Fatal("seek before the start")
	}
	if _, err := b.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("read at the end: %d, %v", n, err)
	}
}

func copies(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, from, to := open(t), newID(), newID()
	wantError(t, s.Copy(t.Context(), from, to), files.ErrNoBlob)
	write(t, s, from, 0, []byte("abc"))
	wantError(t, s.Copy(t.Context(), from, to), files.ErrNoBlob) // an upload is no blob
	finish(t, s, from, 3)
	for range 2 {
		if err := s.Copy(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	absent(t, s, from)
	holds(t, s, to, []byte("abc"))
}

func removes(t *testing.T, open func(t *testing.T) files.Blobs) {
	s := open(t)
	upload, whole := newID(), newID()
	write(t, s, upload, 0, random(6<<20))
	write(t, s, upload, 6<<20, []byte("abc"))
	write(t, s, whole, 0, []byte("abc"))
	finish(t, s, whole, 3)
	b, err := s.Open(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, id := range []string{upload, whole, newID()} {
		for range 2 {
			if err := s.Remove(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		absent(t, s, id)
		_, err := s.Write(t.Context(), id, 3, strings.NewReader("d"))
		wantError(t, err, files.ErrShort)
		if slices.ContainsFunc(all(t, s, 100), func(i files.Item) bool { return i.ID == id }) {
			t.Errorf("%s is listed", id)
		}
	}
}

// all lists everything, limit items a call.
func all(t *testing.T, s files.Blobs, limit int) []files.Item {
	t.Helper()
	var items []files.Item
	for after := ""; ; {
		some, err := s.List(t.Context(), after, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) > limit {
			t.Fatalf("%d items, more than %d", len(some), limit)
		}
		items = append(items, some...)
		if len(some) == 0 {
			return items
		}
		after = some[len(some)-1].ID
	}
}

func listsInOrder(t *testing.T, open func(t *testing.T) files.Blobs) {
	s := open(t)
	want := map[string]bool{}
	base := newID()
	for i, id := range []string{base, base + "-preview", base + "0", base + "_x", newID(), newID(), newID()} {
		write(t, s, id, 0, []byte(id))
		if want[id] = i%2 == 0; want[id] {
			finish(t, s, id, len(id))
		}
	}
	large := newID()
	write(t, s, large, 0, random(6<<20))
	want[large] = false
	for _, limit := range []int{1, 2, 3, 1000} {
		items := all(t, s, limit)
		if !slices.IsSortedFunc(items, func(a, b files.Item) int { return strings.Compare(a.ID, b.ID) }) {
			t.Fatalf("not in order: %v", items)
		}
		found := 0
		for i, item := range items {
			if i > 0 && items[i-1].ID == item.ID {
				t.Fatalf("%s twice", item.ID)
			}
			whole, ours := want[item.ID]
			if !ours {
				continue
			}
			found++
			if item.Whole != whole || time.Since(item.Modified).Abs() > time.Hour || whole && item.Size != int64(len(item.ID)) {
				t.Errorf("limit %d: %+v, want whole %v", limit, item, whole)
			}
		}
		if found != len(want) {
			t.Fatalf("limit %d: %d of %d", limit, found, len(want))
		}
	}
}

func idsAreNoPaths(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, ctx := open(t), t.Context()
	for _, id := range []string{"", "a", "../../etc/passwd", "abcd/ef", "abcd\x00", ".hidden", "-abcd", "äbcd", strings.Repeat("a", 101), `ab\cd`} {
		_, writeErr := s.Write(ctx, id, 0, strings.NewReader("x"))
		_, openErr := s.Open(ctx, id)
		for call, err := range map[string]error{
			"write": writeErr, "open": openErr, "finish": s.Finish(ctx, id, 0), "put": s.Put(ctx, id, strings.NewReader("x")),
			"remove": s.Remove(ctx, id), "copy": s.Copy(ctx, id, "abcd"), "copy to": s.Copy(ctx, "abcd", id),
		} {
			if err == nil || !strings.Contains(err.Error(), "blob id") {
				t.Errorf("%s of %q: %v", call, id, err)
			}
		}
	}
}

func identityStays(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, other := open(t), open(t)
	if s.Identity() == "" || s.Identity() != other.Identity() {
		t.Fatalf("%q and %q", s.Identity(), other.Identity())
	}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func goesOnElsewhere(t *testing.T, open func(t *testing.T) files.Blobs) {
	id, whole, offset := newID(), random(20<<20), 0
	for _, size := range []int{1 << 20, 7 << 20, 100, 5 << 20, 20<<20 - (13<<20 + 100)} {
		write(t, open(t), id, int64(offset), whole[offset:offset+size])
		offset += size
	}
	finish(t, open(t), id, len(whole))
	holds(t, open(t), id, whole)
}

func cancelledContext(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, id := open(t), newID()
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	n, err := s.Write(ctx, id, 0, endless)
	wantError(t, err, context.Canceled)
	write(t, s, id, 0, []byte("abc"))
	finish(t, s, id, 3)
	holds(t, s, id, []byte("abc"))
	_ = n
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// writesAtOnce lets a second Write begin while the first waits for its source: of the two, the upload holds what one wrote.
func writesAtOnce(t *testing.T, open func(t *testing.T) files.Blobs) {
	s, other, id := open(t), open(t), newID()
	reading, proceed := make(chan struct{}), make(chan struct{})
	first := []byte("the first writer, which was given up for dead")
	result := make(chan error, 1)
	waits := readerFunc(func([]byte) (int, error) {
		close(reading)
		<-proceed
		return 0, io.EOF
	})
	write(t, s, id, 0, []byte("0123"))
	go func() {
		_, err := s.Write(context.Background(), id, 4, io.MultiReader(waits, bytes.NewReader(first)))
		result <- err
	}()
	<-reading
	second := []byte("the second writer wrote this whole")
	_, secondErr := other.Write(t.Context(), id, 4, bytes.NewReader(second))
	close(proceed)
	firstErr := <-result
	want := append([]byte("0123"), first...)
	if secondErr == nil {
		want = append([]byte("0123"), second...)
	} else {
		wantError(t, secondErr, files.ErrBusy)
	}
	if secondErr == nil && firstErr == nil {
		t.Fatal("both were told that their bytes are there")
	}
	finish(t, s, id, len(want))
	holds(t, s, id, want)
}
