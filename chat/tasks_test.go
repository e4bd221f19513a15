package chat_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
)

// task runs a task of the core to its end, twice.
func (b *bench) task(kind string, payload any) {
	b.T.Helper()
	chattest.Done(b.T, b.Handlers()[kind], payload)
}

func (b *bench) wantItems(user string, want ...string) {
	b.T.Helper()
	if got := b.ItemLines(user); !slices.Equal(got, want) {
		b.T.Errorf("inbox of %s: got %q, want %q", user, got, want)
	}
}

func TestMentionTask(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid", "dee")
	m := b.Say("alice", "g", "@bob")
	b.Must(b.RemoveMember(b.Ctx, as("cid"), "g", "cid"))
	task := chat.MentionTask{Group: "g", Epoch: g.Epoch, ID: m.ID, From: "alice", Users: []string{"bob", "cid", "alice"}}
	b.task(chat.TaskMention, task)
	b.wantItems("bob", fmt.Sprintf("mention alice g %d", m.ID))
	b.wantItems("cid")
	b.wantItems("alice")
	other := task
	other.Epoch, other.Users = "another", []string{"dee"}
	b.task(chat.TaskMention, other)
	_, err := b.Send(b.Ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: m.ID}, "")
	b.Must(err)
	task.Users = []string{"dee"}
	b.task(chat.TaskMention, task)
	b.wantItems("dee")
}

func TestMemberTask(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	// The node died before it wrote the index.
	b.Must(b.Store.DropUserGroup(b.Ctx, "bob", "g"))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 1, By: "alice", What: "joined", Users: []string{"alice", "bob"}, AtMs: 5})
	index, err := b.Store.UserGroups(b.Ctx, "bob")
	b.Must(err)
	if len(index) != 1 {
		t.Errorf("the index of bob: got %+v", index)
	}
	b.wantItems("alice")
	b.wantItems("bob", "added alice g 0")
	b.Must(b.RemoveMember(b.Ctx, as("alice"), "g", "cid"))
	b.Must(b.Store.AddUserGroups(b.Ctx, []string{"cid"}, chat.UserGroup{Group: "g"}))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 4, By: "alice", What: "removed", Users: []string{"cid"}, AtMs: 5})
	if index, err = b.Store.UserGroups(b.Ctx, "cid"); err != nil || len(index) != 0 {
		t.Errorf("the index of cid: got %+v, %v", index, err)
	}
	b.wantItems("cid", "removed alice g 0")
	b.Must(b.RemoveMember(b.Ctx, as("bob"), "g", "bob"))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 5, By: "bob", What: "left", Users: []string{"bob"}, AtMs: 5})
	b.wantItems("bob", "added alice g 0")
}

func TestCleanupTask(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	b.Must(b.DeleteGroup(b.Ctx, as("alice"), "g"))
	list, err := b.Groups(b.Ctx, as("bob"), 0, "")
	b.Must(err)
	if len(list.Items) != 0 {
		t.Errorf("a deleted group is listed: %+v", list.Items)
	}
	b.task(chat.TaskCleanup, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	for _, u := range []string{"alice", "bob", "cid"} {
		if index, err := b.Store.UserGroups(b.Ctx, u); err != nil || len(index) != 0 {
			t.Errorf("the index of %s: got %+v, %v", u, index, err)
		}
	}
	b.task(chat.TaskTrim, chat.GroupTask{Group: "g", Epoch: g.Epoch})
}

func TestTrimTask(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(2))}, "alice")
	for range 20 {
		b.Say("alice", "g", "x")
	}
	_, err := b.Ack(b.Ctx, as("alice"), "g", chat.At(21))
	b.Must(err)
	b.task(chat.TaskTrim, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	if g, err = b.Group(b.Ctx, as("alice"), "g"); err != nil || g.First != 20 || g.Last != 21 {
		t.Errorf("got %d..%d, %v", g.First, g.Last, err)
	}
}

func TestTasksRefuseGarbage(t *testing.T) {
	b := newBench(t)
	for kind, run := range b.Handlers() {
		for _, payload := range []string{"", "x", `[]`, `{}`, `{"group":"a b","epoch":"e","from":"x","by":"x"}`, `{"group":{}}`} {
			b.Refused(kind+" with "+payload, run.Run(b.Ctx, chat.TaskRun{Payload: []byte(payload)}), chat.CodeInvalid)
		}
	}
	b.Refused("an unknown change", b.Handlers()[chat.TaskMember].Run(b.Ctx, chat.TaskRun{Payload: []byte(`{"group":"g","epoch":"e","by":"x","what":"ate"}`)}), chat.CodeInvalid)
}
