package files_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/internal/chattest"
)

// dying is a service that is killed at the step of that number, before it or after it. With once, this step alone fails.
func (b *bench) dying(at int, once bool) (service *files.Service, failed *bool) {
	failed = new(bool)
	step := func() error {
		if at--; at < 0 && !(once && *failed) {
			*failed = true
			return errCrash
		}
		return nil
	}
	return b.service(crashing{b.Store, step}, &blobs{Blobs: b.blobs.Blobs, step: step}), failed
}

// whole makes a file of alice's, and names it in a message.
func (b *bench) whole() (id string, message int64) {
	b.T.Helper()
	f, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	_, err = b.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: strings.NewReader("hello")})
	b.Must(err)
	return f.ID, b.named(f.ID)
}

func (b *bench) named(id string) int64 {
	b.T.Helper()
	sent, err := b.Send(b.Ctx, alice, "g", chat.Content{Kind: chat.Text, Files: []chat.File{{ID: id}}}, "")
	b.Must(err)
	return sent.ID
}

func (b *bench) deleted(message int64) {
	b.T.Helper()
	_, err := b.Send(b.Ctx, alice, "g", chat.Content{Kind: chat.Delete, Target: message}, "")
	b.Must(err)
}

// kept checks that these blobs are there after a day and a comparison, and no others.
func (b *bench) kept(at int, want ...string) {
	b.T.Helper()
	b.expire()
	b.Must(b.Compare(b.Ctx))
	items, err := b.blobs.List(b.Ctx, "", 10)
	b.Must(err)
	var got []string
	for _, item := range items {
		got = append(got, item.ID)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.T.Fatalf("killed at step %d: there are %v, want %v", at, got, want)
	}
	for _, id := range want {
		if got := b.content("bob", id); got != "hello" {
			b.T.Fatalf("killed at step %d: %s reads %q", at, id, got)
		}
	}
}

// TestForwardKilledAtEachStep kills a process at each step of forwarding a file, or lets that step fail. The file that is forwarded
// stays as it is, a copy without a message goes, and one with a message outlives the other.
func TestForwardKilledAtEachStep(t *testing.T) {
	b := newBench(t, 1)
	for _, once := range []bool{false, true} {
		at := 0
		for b.forwards(at, once) {
			at++
		}
		if at < 12 {
			t.Fatalf("a forward has %d steps only", at)
		}
	}
}

const begun = 4 // steps of a forward until the record is known to be there

// forwards forwards a file. more: it came to the step that fails.
func (b *bench) forwards(at int, once bool) (more bool) {
	b.T.Helper()
	source, message := b.whole()
	dying, failed := b.dying(at, once)
	made, err := dying.Forward(b.Ctx, alice, "g", files.Source{Group: "g", File: source})
	if err == nil { // also where it was killed in what comes after
		copied := b.named(made.ID)
		b.kept(at, source, made.ID)
		b.deleted(message)
		b.kept(at, made.ID)
		b.deleted(copied)
	} else {
		if left := b.strings("HKEYS", "chat:{p00}:g:g:files"); once && at >= begun && len(left) > 1 {
			b.T.Fatalf("failed at step %d: a copy that nobody knows is left until it expires: %v", at, left)
		}
		if once {
			b.removed(at)
		}
		b.kept(at, source)
		b.deleted(message)
	}
	b.leavesNothing(at)
	return *failed
}

// removed runs the tasks that remove what has no record and is counted.
func (b *bench) removed(at int) {
	b.T.Helper()
	for _, id := range b.strings("HKEYS", "chat:{p00}:u:alice:uploads") {
		found, err := b.Store.FileRecords(b.Ctx, "g", []string{id})
		b.Must(err)
		if len(found) > 0 || at < begun {
			continue
		}
		if b.server.Do("HEXISTS", "chat:{p00}:q:core:tasks", "p00-file:"+id) != int64(1) {
			b.T.Fatalf("failed at step %d: nothing removes the bytes of %s", at, id)
		}
		chattest.Done(b.T, b.Handlers()[files.TaskRemoved], files.RemovedTask{Group: "g", File: id, Owner: "alice"})
	}
}

// TestRemovalKilledAtEachStep kills a process at each step of the task that removes bytes, or lets that step fail. It comes again,
// and removes nothing else; the quota is not free before the bytes are gone.
func TestRemovalKilledAtEachStep(t *testing.T) {
	b := newBench(t, 1)
	stays, _ := b.whole()
	for _, once := range []bool{false, true} {
		at := 0
		for b.removes(at, once, stays) {
			at++
		}
		if at < 6 {
			t.Fatalf("a removal has %d steps only", at)
		}
	}
}

// removes removes the bytes of a file. more: it came to the step that fails.
func (b *bench) removes(at int, once bool, stays string) (more bool) {
	b.T.Helper()
	gone, message := b.whole()
	b.Must(b.blobs.Put(b.Ctx, gone+"-preview", strings.NewReader("x")))
	b.deleted(message)
	b.server.Do("ZADD", "chat:{p00}:g:g:files:unused", "XX", "1", gone)
	_, err := b.Store.ExpireFiles(b.Ctx, "g")
	b.Must(err)
	dying, failed := b.dying(at, once)
	task := files.RemovedTask{Group: "g", File: gone, Owner: "alice"}
	payload, err := json.Marshal(task)
	b.Must(err)
	if err := dying.Handlers()[files.TaskRemoved].Run(b.Ctx, chat.TaskRun{Payload: payload}); *failed == (err == nil) {
		b.T.Fatalf("failed at step %d: %v, got %v", at, *failed, err)
	}
	quota := func() any { return b.server.Do("GET", "chat:{p00}:u:alice:files:bytes") }
	for _, id := range []string{gone, gone + "-preview"} {
		if content, err := b.blobs.Open(b.Ctx, id); err == nil {
			b.Must(content.Close())
			if got := quota(); got != "8192" {
				b.T.Fatalf("failed at step %d: %s is there and %v bytes of quota are taken", at, id, got)
			}
		}
	}
	if *failed {
		b.Must(b.Compare(b.Ctx))
		chattest.Done(b.T, b.Handlers()[files.TaskRemoved], task)
	}
	b.kept(at, stays)
	if got := quota(); got != "4096" {
		b.T.Fatalf("failed at step %d: %v bytes of quota are taken, want those of the file that stays", at, got)
	}
	return *failed
}
