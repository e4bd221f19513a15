package dump_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/blob"
)

// TestFilesGoOnInOtherPartitions: files are read, named, forwarded and removed as before, an upload goes on, and what was to be
// removed goes.
func TestFilesGoOnInOtherPartitions(t *testing.T) {
	b := chattest.Open(t, redistest.Start(t).URL())
	kept, err := blob.Open(b.Ctx, "dir:"+t.TempDir())
	b.Must(err)
	alice := chattest.As("alice")
	on := func(s *store.Store, service *chat.Service) *files.Service {
		return files.New(service, s, kept, files.Options{SizeMax: 1 << 20})
	}
	first := on(b.Store, b.Service)
	_, err = b.Store.RecordBlobs(b.Ctx, kept.Identity())
	b.Must(err)
	upload := func(s *files.Service, group, content string) string {
		f, err := s.Create(b.Ctx, alice, group, files.Draft{Name: "n", Size: 5})
		b.Must(err)
		_, err = s.Write(b.Ctx, alice, group, f.ID, files.Piece{Body: strings.NewReader(content)})
		b.Must(err)
		return f.ID
	}
	const groups = 8
	type group struct{ id, named, unnamed, begun, removed string }
	var all []group
	for n := range groups {
		g := group{id: fmt.Sprint("g", n)}
		b.MakeGroup(chat.GroupDraft{ID: g.id}, "alice", "bob")
		g.named, g.unnamed, g.begun, g.removed = upload(first, g.id, "hello"), upload(first, g.id, "other"), upload(first, g.id, "he"), upload(first, g.id, "gone!")
		_, err := b.Send(b.Ctx, alice, g.id, chat.Content{Kind: chat.Text, Files: []chat.File{{ID: g.named}}}, "")
		b.Must(err)
		b.Must(first.Remove(b.Ctx, alice, g.id, g.removed))
		all = append(all, g)
	}
	want := whole(t, b.Store)
	four := into(t, b.Store, 4, onRedis(t))
	moved := into(t, four, 3, onRedis(t))
	same(t, "after 4 and 3 partitions", whole(t, into(t, moved, 1, onRedis(t))), want)

	service := chat.New(moved, b.Options())
	now := on(moved, service)
	in := map[int]bool{}
	for _, g := range all {
		found, err := moved.GroupsOfFiles(b.Ctx, []string{g.named, "NONE-0", g.begun, g.named + "-preview", g.removed})
		if want := []string{g.id, "", g.id, g.id, ""}; err != nil || !slices.Equal(found, want) {
			t.Errorf("got %q, %v; want %q", found, err, want)
		}
		in[queue.Partition(g.id, moved.Partitions())] = true
		_, content, err := now.Open(b.Ctx, chattest.As("bob"), g.id, g.named)
		b.Must(err)
		text, err := io.ReadAll(content)
		if err != nil || string(text) != "hello" {
			t.Errorf("got %q, %v", text, err)
		}
		b.Must(content.Close())
		if f, err := now.Write(b.Ctx, alice, g.id, g.begun, files.Piece{Offset: 2, Body: strings.NewReader("llo")}); err != nil || !f.Whole {
			t.Errorf("an upload goes on: %+v, %v", f, err)
		}
		_, err = service.Send(b.Ctx, alice, g.id, chat.Content{Kind: chat.Text, Files: []chat.File{{ID: g.unnamed}}}, "")
		b.Must(err)
	}
	if len(in) != moved.Partitions() {
		t.Fatalf("the groups are in %d partitions of %d", len(in), moved.Partitions())
	}
	chattest.Work(t, moved, now)
	harness.Eventually(t, time.Minute, "what was removed is gone", func() error {
		for _, g := range all {
			if left, err := kept.Open(b.Ctx, g.removed); err == nil {
				return errors.Join(fmt.Errorf("%s is there", g.removed), left.Close())
			}
		}
		return nil
	})
	healthy(t, "at the end", moved)
}
