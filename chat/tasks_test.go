package chat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
)

// task runs a handler twice, as a worker may that dies after its work.
func (b *bench) task(kind string, payload any) {
	b.t.Helper()
	raw, err := json.Marshal(payload)
	b.must(err)
	for range 2 {
		if err := b.Handlers()[kind].Run(b.ctx, chat.TaskRun{Payload: raw}); err != nil {
			b.t.Fatalf("%s: %v", kind, err)
		}
	}
}

// items are the kinds, and ids of messages, in a user's inbox.
func (b *bench) items(user string) []string {
	b.t.Helper()
	batch, err := b.Inbox(b.ctx, as(user), nil, 0)
	b.must(err)
	var out []string
	for _, raw := range batch.Items {
		var it chat.Item
		b.must(json.Unmarshal(raw, &it))
		out = append(out, fmt.Sprintf("%s %s %s %d", it.Kind, it.From, it.Group, it.ID))
	}
	return out
}

func (b *bench) wantItems(user string, want ...string) {
	b.t.Helper()
	if got := b.items(user); !slices.Equal(got, want) {
		b.t.Errorf("inbox of %s: got %q, want %q", user, got, want)
	}
}

func TestMentionTask(t *testing.T) {
	b := newBench(t)
	g := b.group(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid", "dee")
	m := b.say("alice", "g", "@bob")
	b.must(b.RemoveMember(b.ctx, as("cid"), "g", "cid"))
	task := chat.MentionTask{Group: "g", Epoch: g.Epoch, ID: m.ID, From: "alice", Users: []string{"bob", "cid", "alice"}}
	b.task(chat.TaskMention, task)
	b.wantItems("bob", fmt.Sprintf("mention alice g %d", m.ID))
	b.wantItems("cid")
	b.wantItems("alice")
	other := task
	other.Epoch, other.Users = "another", []string{"dee"}
	b.task(chat.TaskMention, other)
	_, err := b.Send(b.ctx, as("alice"), "g", chat.Content{Kind: chat.Delete, Target: m.ID}, "")
	b.must(err)
	task.Users = []string{"dee"}
	b.task(chat.TaskMention, task)
	b.wantItems("dee")
}

func TestMemberTask(t *testing.T) {
	b := newBench(t)
	g := b.group(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	// The node died before it wrote the index.
	b.must(b.stores.DropUserGroup(b.ctx, "bob", "g"))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 1, By: "alice", What: "joined", Users: []string{"alice", "bob"}, AtMs: 5})
	index, err := b.stores.UserGroups(b.ctx, "bob")
	b.must(err)
	if len(index) != 1 {
		t.Errorf("the index of bob: got %+v", index)
	}
	b.wantItems("alice")
	b.wantItems("bob", "added alice g 0")
	b.must(b.RemoveMember(b.ctx, as("alice"), "g", "cid"))
	b.must(b.stores.AddUserGroups(b.ctx, []string{"cid"}, "g", 0))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 4, By: "alice", What: "removed", Users: []string{"cid"}, AtMs: 5})
	if index, err = b.stores.UserGroups(b.ctx, "cid"); err != nil || len(index) != 0 {
		t.Errorf("the index of cid: got %+v, %v", index, err)
	}
	b.wantItems("cid", "removed alice g 0")
	b.must(b.RemoveMember(b.ctx, as("bob"), "g", "bob"))
	b.task(chat.TaskMember, chat.MemberTask{Group: "g", Epoch: g.Epoch, ID: 5, By: "bob", What: "left", Users: []string{"bob"}, AtMs: 5})
	b.wantItems("bob", "added alice g 0")
}

func TestCleanupTask(t *testing.T) {
	b := newBench(t)
	g := b.group(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	b.must(b.DeleteGroup(b.ctx, as("alice"), "g"))
	list, err := b.Groups(b.ctx, as("bob"), 0, "")
	b.must(err)
	if len(list.Items) != 0 {
		t.Errorf("a deleted group is listed: %+v", list.Items)
	}
	b.task(chat.TaskCleanup, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	for _, u := range []string{"alice", "bob", "cid"} {
		if index, err := b.stores.UserGroups(b.ctx, u); err != nil || len(index) != 0 {
			t.Errorf("the index of %s: got %+v, %v", u, index, err)
		}
	}
	b.task(chat.TaskTrim, chat.GroupTask{Group: "g", Epoch: g.Epoch})
}

func TestTrimTask(t *testing.T) {
	b := newBench(t)
	g := b.group(chat.GroupDraft{ID: "g", Keep: ptr[int64](2)}, "alice")
	for range 20 {
		b.say("alice", "g", "x")
	}
	_, err := b.Ack(b.ctx, as("alice"), "g", 21)
	b.must(err)
	b.task(chat.TaskTrim, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	if g, err = b.Group(b.ctx, as("alice"), "g"); err != nil || g.First != 20 || g.Last != 21 {
		t.Errorf("got %d..%d, %v", g.First, g.Last, err)
	}
}

func TestTasksRefuseGarbage(t *testing.T) {
	b := newBench(t)
	for kind, run := range b.Handlers() {
		for _, payload := range []string{"", "x", `[]`, `{}`, `{"group":"a b","epoch":"e","from":"x","by":"x"}`, `{"group":{}}`} {
			b.refused(kind+" with "+payload, run.Run(b.ctx, chat.TaskRun{Payload: []byte(payload)}), chat.CodeInvalid)
		}
	}
	b.refused("an unknown change", b.Handlers()[chat.TaskMember].Run(b.ctx, chat.TaskRun{Payload: []byte(`{"group":"g","epoch":"e","by":"x","what":"ate"}`)}), chat.CodeInvalid)
}
