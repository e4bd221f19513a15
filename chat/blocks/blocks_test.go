package blocks_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/direct"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var as = chattest.As

type bench struct {
	*chattest.Bench
	*blocks.Service
	direct *direct.Service
}

// newBench is on a store of four partitions, so that a user and a group seldom share one, as in a cluster.
func newBench(t *testing.T) bench {
	url := redistest.Start(t).URL()
	made, err := store.Open(t.Context(), store.Options{URL: url, Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	_ = made.Close()
	b := chattest.Open(t, url)
	s := blocks.New(b.Service, b.Store)
	return bench{b, s, direct.New(b.Service, b.Store, s)}
}

func (b bench) block(user, other string, yes bool) {
	b.T.Helper()
	if yes {
		_, _, err := b.Put(b.Ctx, as(user), other)
		b.Must(err)
	} else {
		b.Must(b.Drop(b.Ctx, as(user), other))
	}
}

// TestBlocks: who is blocked writes neither to the inbox of the other nor to the group of the two, and puts them into no group.
func TestBlocks(t *testing.T) {
	b := newBench(t)
	hello := "hello"
	bob := as("bob")
	b.block("alice", "bob", true)
	_, _, err := b.SendDirect(b.Ctx, bob, "alice", chat.Direct{Body: &hello})
	b.Refused("a direct message", err, chat.CodeBlocked)
	_, _, err = b.direct.Put(b.Ctx, bob, "alice")
	b.Refused("opening a direct group", err, chat.CodeBlocked)
	_, err = b.CreateGroup(b.Ctx, bob, chat.GroupDraft{ID: "new", Members: []string{"alice"}})
	b.Refused("a group with alice", err, chat.CodeBlocked)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "carl")
	_, _, err = b.PutMember(b.Ctx, bob, "g", "alice", "")
	b.Refused("adding alice", err, chat.CodeBlocked)

	// The other way nothing has changed, and what is sent in a group is there.
	_, _, err = b.SendDirect(b.Ctx, as("alice"), "bob", chat.Direct{Body: &hello})
	b.Must(err)
	g, created, err := b.direct.Put(b.Ctx, as("alice"), "bob")
	b.Must(err)
	if !created {
		t.Error("the group was there")
	}
	b.Say("alice", g.ID, hello)
	_, err = b.Send(b.Ctx, bob, g.ID, chat.Content{Kind: chat.Text, Body: &hello}, "")
	b.Refused("a text in the direct group", err, chat.CodeBlocked)

	b.block("alice", "bob", false)
	b.block("alice", "bob", false) // again
	theirs := b.Say("bob", g.ID, hello)
	b.block("alice", "bob", true)
	_, err = b.Send(b.Ctx, bob, g.ID, chat.Content{Kind: chat.Edit, Target: theirs.ID, Body: &hello}, "")
	b.Refused("an edit", err, chat.CodeBlocked)
	_, err = b.Send(b.Ctx, bob, g.ID, chat.Content{Kind: chat.Delete, Target: theirs.ID}, "")
	b.Must(err)
	b.block("alice", "bob", false)
	if _, err = b.Get(b.Ctx, as("alice"), "bob"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("got %v", err)
	}
	_, _, err = b.Put(b.Ctx, as("alice"), "alice")
	b.Refused("blocking oneself", err, chat.CodeInvalid)
}

// TestMentionsOfTheBlocked: they make no item, also where the task comes after the block.
func TestMentionsOfTheBlocked(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "carl")
	hello := "@alice"
	for _, from := range []string{"bob", "carl"} {
		sent, err := b.Send(b.Ctx, as(from), "g", chat.Content{Kind: chat.Text, Body: &hello, Mentions: []string{"alice"}}, "")
		b.Must(err)
		b.block("alice", "bob", true)
		chattest.Done(t, b.Bench.Handlers()[chat.TaskMention], chat.MentionTask{Group: "g", Epoch: g.Epoch, ID: sent.ID, From: from, Users: []string{"alice"}})
	}
	if items := b.Items("alice"); len(items) != 1 || items[0].From != "carl" {
		t.Errorf("got %+v", items)
	}
}

// TestAddingRaces: whoever adds a user while that user blocks them has added them before, or not at all.
func TestAddingRaces(t *testing.T) {
	b := newBench(t)
	chattest.Work(t, b.Store, b.Bench, b)
	if b.Store.Partitions() != 4 {
		t.Fatalf("got %d partitions", b.Store.Partitions())
	}
	for n := range 250 {
		id := fmt.Sprint("g", n)
		b.MakeGroup(chat.GroupDraft{ID: id}, "bob", "carl")
		var wg sync.WaitGroup
		var refused error
		wg.Go(func() { _, _, refused = b.PutMember(b.Ctx, as("bob"), id, "alice", "") })
		b.block("alice", "bob", true)
		wg.Wait()
		info, err := b.Info(b.Ctx, "alice", id)
		b.Must(err)
		index, err := b.Store.UserGroups(b.Ctx, "alice")
		b.Must(err)
		listed := slices.ContainsFunc(index, func(g chat.UserGroup) bool { return g.Group == id })
		if in := info.Role != ""; in != (refused == nil) || listed != in {
			t.Fatalf("round %d: alice is in the group: %v, in her list: %v; bob was told %v", n, in, listed, refused)
		}
		if refused != nil {
			b.Refused("adding alice", refused, chat.CodeBlocked)
		}
		b.block("alice", "bob", false)
	}
}

// TestOpeningRaces: a direct group that is made while one of its users blocks the other knows it.
func TestOpeningRaces(t *testing.T) {
	b := newBench(t)
	hello := "hello"
	for n := range 250 {
		user := fmt.Sprint("user", n)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := b.direct.Put(b.Ctx, as("bob"), user); err != nil {
				b.Refused("opening", err, chat.CodeBlocked)
			}
		})
		b.block(user, "bob", true)
		_, err := b.Send(b.Ctx, as("bob"), chat.DirectID(user, "bob"), chat.Content{Kind: chat.Text, Body: &hello}, "")
		if err == nil {
			t.Fatalf("bob wrote to %s", user)
		}
		wg.Wait()
		_, err = b.Send(b.Ctx, as("bob"), chat.DirectID(user, "bob"), chat.Content{Kind: chat.Text, Body: &hello}, "")
		if code := chat.CodeOf(err); code != chat.CodeBlocked && code != chat.CodeNotFound {
			t.Fatalf("got %v", err)
		}
	}
}

// TestErasedUsersBlockNobody, and a list pages through many.
func TestErasedUsersBlockNobody(t *testing.T) {
	b := newBench(t)
	var want []string
	for n := range 120 {
		user := fmt.Sprint("user", n)
		b.block("alice", user, true)
		want = append(want, user)
	}
	slices.Reverse(want)
	var got []string
	for cursor := ""; ; {
		list, err := b.List(b.Ctx, as("alice"), 50, cursor)
		b.Must(err)
		for _, one := range list.Items {
			got = append(got, one.User)
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v", got)
	}
	g, _, err := b.direct.Put(b.Ctx, as("alice"), "user1")
	b.Must(err)
	b.Must(b.Erase(b.Ctx, "alice"))
	b.Say("user1", g.ID, "hello")
	if list, err := b.List(b.Ctx, as("alice"), 0, ""); err != nil || len(list.Items) > 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

// TestGarbage: tasks that name nobody are refused.
func TestGarbage(t *testing.T) {
	b := newBench(t)
	chattest.RefuseGarbage(t, b.Service.Handlers())
	chattest.Done(t, b.Service.Handlers()[blocks.TaskBlock], blocks.Task{User: "alice", Other: "bob"})
}
