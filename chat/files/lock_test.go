package files_test

import (
	"io"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat/files"
)

// other is a service of another node.
func (b *bench) other() *files.Service {
	return files.New(b.Bench.Service, b.Store, b.blobs, files.Options{SizeMax: 1 << 20})
}

// lockedUntil is when the lease of the only upload ends.
func (b *bench) lockedUntil() string {
	return strings.Fields(b.strings("HVALS", "chat:{p00}:g:g:files")[0])[7]
}

// TestAnotherNodeGoesOn: an upload whose node was killed is another node's after the lease.
func TestAnotherNodeGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	_, err = b.Store.LockFile(b.Ctx, "g", "alice", f.ID, "killed.1", "", files.LockLease)
	b.Must(err)
	f, err = b.other().Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: strings.NewReader("hello")})
	if err != nil || !f.Whole {
		t.Errorf("got %+v, %v", f, err)
	}
}

// beginWriting has another node write a new upload of five bytes. It has the first of them and waits for more.
func (b *bench) beginWriting(t *testing.T, first string) (f files.File, send *io.PipeWriter, written chan error) {
	t.Helper()
	node := b.other()
	f, err := node.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	body, send := io.Pipe()
	t.Cleanup(func() { _ = body.Close() })
	written = make(chan error)
	go func() {
		_, err := node.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: body})
		written <- err
	}()
	_, err = io.WriteString(send, first)
	b.Must(err)
	return f, send, written
}

// TestStalledWriterKeepsItsLock: the lock is renewed while no bytes come, and not after the request.
func TestStalledWriterKeepsItsLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	_, send, written := b.beginWriting(t, "hel")
	for begin := b.lockedUntil(); b.lockedUntil() == begin; {
		b.Must(b.Ctx.Err())
	}
	b.Must(send.Close())
	b.Must(<-written)
	if until := b.lockedUntil(); until != "0" {
		t.Errorf("the lock of an ended request is kept until %s", until)
	}
}

// TestWriterThatLostItsLock writes nothing more, and the other writer is undisturbed.
func TestWriterThatLostItsLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	f, send, written := b.beginWriting(t, "xxx")
	_, err := b.Store.LockFile(b.Ctx, "g", "alice", f.ID, "new.1", "new.", files.LockLease) // takes over
	b.Must(err)
	go func() { _, _ = io.WriteString(send, "yy"); _ = send.Close() }()
	if err := <-written; err == nil {
		t.Error("a writer without the lock has written")
	}
	r, err := b.Store.FileRecords(b.Ctx, "g", []string{f.ID})
	if err != nil || r[0].Offset != 0 || r[0].Whole {
		t.Errorf("got %+v, %v", r, err)
	}
}
