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

// dying is a service that is killed at the step of that number, before it or after it.
func (b *bench) dying(at int) (service *files.Service, killed *bool) {
	killed = new(bool)
	step := func() error {
		if at--; at < 0 {
			*killed = true
			return errCrash
		}
		return nil
	}
	return b.service(crashing{b.Store, step}, &blobs{Store: b.blobs.Store, step: step}), killed
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

// TestForwardKilledAtEachStep kills a process at each step of forwarding a file. The file that is forwarded stays as it is, a copy
// without a message goes, and one with a message outlives the other.
func TestForwardKilledAtEachStep(t *testing.T) {
	b := newBench(t, 1)
	for at := 0; ; at++ {
		source, message := b.whole()
		dying, killed := b.dying(at)
		made, err := dying.Forward(b.Ctx, alice, "g", files.Source{Group: "g", File: source})
		if err == nil { // also where it was killed in what comes after
			copied := b.named(made.ID)
			b.kept(at, source, made.ID)
			b.deleted(message)
			b.kept(at, made.ID)
			b.deleted(copied)
		} else {
			b.kept(at, source)
			b.deleted(message)
		}
		b.leavesNothing(at)
		if !*killed {
			if at < 12 {
				t.Fatalf("a forward has %d steps only", at)
			}
			return
		}
	}
}

// TestRemovalKilledAtEachStep kills a process at each step of the task that removes bytes. It comes again, and removes nothing else.
func TestRemovalKilledAtEachStep(t *testing.T) {
	b := newBench(t, 1)
	stays, _ := b.whole()
	for at := 0; ; at++ {
		gone, message := b.whole()
		b.Must(b.blobs.Put(b.Ctx, gone+"-preview", strings.NewReader("x")))
		b.deleted(message)
		b.server.Do("ZADD", "chat:{p00}:g:g:files:unused", "XX", "1", gone)
		_, err := b.Store.ExpireFiles(b.Ctx, "g")
		b.Must(err)
		dying, killed := b.dying(at)
		task := files.RemovedTask{Group: "g", File: gone, Owner: "alice"}
		payload, err := json.Marshal(task)
		b.Must(err)
		if err := dying.Handlers()[files.TaskRemoved].Run(b.Ctx, chat.TaskRun{Payload: payload}); *killed == (err == nil) {
			t.Fatalf("killed at step %d: %v, got %v", at, *killed, err)
		}
		if *killed {
			b.Must(b.Compare(b.Ctx))
			chattest.Done(t, b.Handlers()[files.TaskRemoved], task)
		}
		b.kept(at, stays)
		if total := b.server.Do("GET", "chat:{p00}:u:alice:files:bytes"); total != "4096" {
			t.Fatalf("killed at step %d: %v bytes of quota are taken, want those of the file that stays", at, total)
		}
		if !*killed {
			if at < 6 {
				t.Fatalf("a removal has %d steps only", at)
			}
			return
		}
	}
}
