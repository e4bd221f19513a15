package files_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
)

// other is a service of another node.
func (b *bench) other() *files.Service { return b.over(b.Store, nil) }

// over is one over another store, and with another clock.
func (b *bench) over(s files.Store, now func() time.Time) *files.Service {
	return files.New(b.Bench.Service, s, b.blobs, files.Options{SizeMax: 1 << 20, Now: now})
}

// renewing is a store whose renewals are those of the test.
type renewing struct {
	files.Store
	renew func(context.Context, files.Store, string, string, string) error
}

func (r renewing) RenewFile(ctx context.Context, group, id, token string, _ time.Duration) error {
	return r.renew(ctx, r.Store, group, id, token)
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
func (b *bench) beginWriting(t *testing.T, node *files.Service, first string) (f files.File, send *io.PipeWriter, written chan error) {
	t.Helper()
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
	_, send, written := b.beginWriting(t, b.other(), "hel")
	for range 2 {
		for begin := b.lockedUntil(); b.lockedUntil() == begin; {
			b.Must(b.Ctx.Err())
		}
	}
	b.Must(send.Close())
	if err := <-written; err != nil && chat.CodeOf(err) != chat.CodeUnavailable { // a machine may be too slow to renew in time
		t.Error(err)
	}
	if until := b.lockedUntil(); until != "0" {
		t.Errorf("the lock of an ended request is kept until %s", until)
	}
}

// TestWriterThatLostItsLock writes nothing more, and the other writer is undisturbed.
func TestWriterThatLostItsLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	f, send, written := b.beginWriting(t, b.other(), "xxx")
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

// TestWriterThatLearnsItsLoss: once a renewal says that the lock is lost, it reads no further.
func TestWriterThatLearnsItsLoss(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	const size = 1 << 20
	f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: size})
	b.Must(err)
	learned := make(chan struct{}, 100)
	node := b.over(renewing{b.Store, func(ctx context.Context, s files.Store, group, id, token string) error {
		err := s.RenewFile(ctx, group, id, token, files.LockLease)
		if err != nil {
			learned <- struct{}{}
		}
		return err
	}}, nil)
	body, send := io.Pipe()
	sent := make(chan int)
	go func() {
		n := 0
		for ; n < size; n++ {
			if _, err := send.Write([]byte("x")); err != nil {
				break
			}
			if n == 0 { // it has the lock
				_, _ = b.Store.LockFile(b.Ctx, "g", "alice", f.ID, "new.1", "new.", files.LockLease)
				<-learned
			}
		}
		_ = send.Close()
		sent <- n
	}()
	_, err = node.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: body})
	b.Refused("a writer without the lock", err, chat.CodeConflict)
	b.Must(body.Close())
	if n := <-sent; n == size {
		t.Error("it has read to the end")
	}
}

// TestWriterThatCannotRenew writes nothing after the lease: another one may have the lock by then.
func TestWriterThatCannotRenew(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	var later atomic.Int64
	failed := make(chan struct{}, 100)
	f, send, written := b.beginWriting(t, b.over(renewing{b.Store, func(context.Context, files.Store, string, string, string) error {
		failed <- struct{}{}
		return chat.ErrUnavailable
	}}, func() time.Time { return time.Now().Add(time.Duration(later.Load())) }), "xxx")
	<-failed
	<-failed // the first did not end it
	later.Store(int64(files.LockLease))
	go func() { _, _ = io.WriteString(send, "yy"); _ = send.Close() }()
	err := <-written
	b.Refused("a writer without the lock", err, chat.CodeUnavailable)
	if content, err := os.ReadFile(filepath.Join(b.folder, "uploads", f.ID[:2], f.ID)); err != nil || strings.Contains(string(content), "y") {
		t.Errorf("it has written %q, %v", content, err)
	}
}

// TestRequestThatEndsWhileItRenews: a renewal that is under way is the last one.
func TestRequestThatEndsWhileItRenews(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5)
	renews := make(chan struct{}, 100)
	_, send, written := b.beginWriting(t, b.over(renewing{b.Store, func(ctx context.Context, _ files.Store, _, _, _ string) error {
		renews <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}, nil), "hel")
	<-renews
	b.Must(send.Close())
	select {
	case err := <-written:
		t.Logf("the write ended: %v", err)
	case <-b.Ctx.Done():
		t.Error("the request waits for renewals without end")
	}
	if len(renews) > 0 {
		t.Errorf("%d more renewals", len(renews))
	}
}
