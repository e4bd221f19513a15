package chat_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
)

// uninviting is a store that fails before the later steps of a creation.
type uninviting struct {
	chat.Store
	err error
}

func (u *uninviting) Invite(context.Context, string, string, int64, []string, chat.UsersNotice) error {
	return u.err
}

// A creation of many members takes several steps. Where the node dies in between, the task that the first one enqueued, or
// the repeat of the creation, does the rest, and brings nobody back who has left.
func TestCreationThatIsCutOff(t *testing.T) {
	b := newBench(t)
	died := errors.New("the node dies")
	dying := chat.New(&uninviting{Store: b.Store, err: died}, chat.Options{Limits: chat.DefaultLimits()})
	members := make([]string, 600)
	for i := range members {
		members[i] = fmt.Sprint("user", i)
	}
	finish := map[string]func(d chat.GroupDraft, epoch string){
		"by its task": func(d chat.GroupDraft, epoch string) {
			b.task(chat.TaskMember, chat.MemberTask{Group: d.ID, Epoch: epoch, ID: 1, By: "alice", What: chat.NoticeJoined,
				Users: append([]string{"alice"}, members...), AtMs: 1})
		},
		"by its repeat": func(d chat.GroupDraft, _ string) {
			_, err := b.CreateGroup(b.Ctx, as("alice"), d)
			b.Must(err)
		},
	}
	for name, again := range finish {
		d := chat.GroupDraft{ID: "g" + name[7:], Key: "k" + name, Members: members}
		if _, err := dying.CreateGroup(b.Ctx, as("alice"), d); !errors.Is(err, died) {
			t.Fatalf("%s: got %v", name, err)
		}
		info, err := b.Info(b.Ctx, "alice", d.ID)
		b.Must(err)
		if n := info.Group.Members; n >= 601 || n < 2 {
			t.Fatalf("%s: got %d members after the first step", name, n)
		}
		b.Must(b.RemoveMember(b.Ctx, as("user0"), d.ID, "user0"))
		again(d, info.Epoch)
		again(d, info.Epoch)
		info, err = b.Info(b.Ctx, "alice", d.ID)
		b.Must(err)
		waiting, err := b.Store.Waiting(b.Ctx, d.ID)
		b.Must(err)
		if info.Group.Members != 600 || info.Last != 8 || len(waiting) != 0 {
			t.Errorf("%s: got %d members, %d entries and %d who wait, want 600, 8 and 0", name, info.Group.Members, info.Last, len(waiting))
		}
		for _, user := range slices.Concat(members[1:3], members[597:]) {
			info, err := b.Info(b.Ctx, user, d.ID)
			b.Must(err)
			if info.Role != chat.Ordinary || info.Joined < 2 || info.Seen != 0 {
				t.Errorf("%s: %s is %q, joined with %d, and has seen %d", name, user, info.Role, info.Joined, info.Seen)
			}
		}
	}
}
