package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// index is what a user's index says of group; -1 where it is not there.
func (b *bench) index(user, group string) int64 {
	b.T.Helper()
	groups, err := b.Store.UserGroups(b.Ctx, user)
	b.Must(err)
	for _, g := range groups {
		if g.Group == group {
			return g.Seen
		}
	}
	return -1
}

// A group is deleted and made again before the cleanup has run: who is in both hears of the new one and begins at its
// start, who is in the old one only has it no longer in the index.
func TestIndexOverTwoLives(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	for range 9 {
		b.Say("alice", "g", "old")
	}
	b.Must(b.Store.HintSeen(b.Ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 12}}))
	f, err := b.live().Follow(b.Ctx, as("bob"), live.Scope{})
	b.Must(err)
	defer f.Close()
	b.Must(b.DeleteGroup(b.Ctx, as("alice"), "g"))
	for left := false; !left; {
		e, err := f.Next(b.Ctx)
		b.Must(err)
		left = e.Left == "g"
	}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "dee")
	b.Say("alice", "g", "new")
	for joined := false; ; {
		e, err := f.Next(b.Ctx)
		b.Must(err)
		joined = joined || e.Joined == "g"
		if e.Messages != nil && joined {
			if e.Messages.From != 1 || !e.Messages.Complete {
				t.Errorf("the new group begins at %d, complete %v", e.Messages.From, e.Messages.Complete)
			}
			break
		}
	}
	if got := []int64{b.index("alice", "g"), b.index("bob", "g"), b.index("cid", "g"), b.index("dee", "g")}; !slices.Equal(got, []int64{0, 0, -1, 0}) {
		t.Errorf("the indexes of alice, bob, cid and dee: got %v", got)
	}
}

// failing is a store whose cleanup fails, as on a node that dies before it.
type failing struct {
	chat.Store
	err error
}

func (f *failing) Cleanup(context.Context, string, []string) (bool, error) { return false, f.err }

func TestCleanupThatIsCutOff(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	b.Must(b.DeleteGroup(b.Ctx, as("alice"), "g"))
	payload, err := json.Marshal(chat.GroupTask{Group: "g", Epoch: g.Epoch})
	b.Must(err)
	died := errors.New("the node dies")
	dying := chat.New(&failing{Store: b.Store, err: died}, chat.Options{})
	if err := dying.Handlers()[chat.TaskCleanup].Run(b.Ctx, chat.TaskRun{Payload: payload}); !errors.Is(err, died) {
		t.Fatalf("got %v", err)
	}
	// Bob's index is written late, by a node that was slow.
	b.Must(b.Store.AddUserGroups(b.Ctx, []string{"bob"}, chat.UserGroup{Group: "g"}))
	b.task(chat.TaskCleanup, chat.GroupTask{Group: "g", Epoch: g.Epoch})
	if got := b.index("bob", "g"); got != -1 {
		t.Errorf("bob's index still holds the group, at %d", got)
	}
}

// The repeat of a creation brings nobody back into the index who has left since.
func TestCreateAgainAfterALeave(t *testing.T) {
	b := newBench(t)
	d := chat.GroupDraft{ID: "g", Key: "k"}
	b.MakeGroup(d, "alice", "bob", "cid")
	b.Must(b.RemoveMember(b.Ctx, as("bob"), "g", "bob"))
	b.Must(b.Store.DropUserGroup(b.Ctx, "alice", "g")) // as if the first try had died
	b.MakeGroup(d, "alice", "bob", "cid")
	if got := []int64{b.index("alice", "g"), b.index("bob", "g")}; !slices.Equal(got, []int64{0, -1}) {
		t.Errorf("the indexes of alice and bob: got %v, want 0 and none", got)
	}
}

// A stored message that nobody can read is named, and the user's other groups are served all the same.
func TestOneBrokenLog(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "bad"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "good"}, "alice", "bob")
	b.Must(b.Store.Client().ZRemRangeByScore(b.Ctx, "chat:{p00}:g:bad:msgs", "2", "2").Err())
	b.Must(b.Store.Client().ZAdd(b.Ctx, "chat:{p00}:g:bad:msgs", redis.Z{Score: 2, Member: "2 broken"}).Err())
	_, _, err := b.Pull(b.Ctx, as("bob"), "bad", chat.PullQuery{})
	b.Refused("pull", err, chat.CodeInternal)
	if !strings.Contains(err.Error(), "group bad") || !strings.Contains(err.Error(), "2 broken") {
		t.Errorf("the error names neither group nor message: %v", err)
	}
	answer, err := live.New(b.Service, b.Store).Sync(b.Ctx, as("bob"), live.SyncRequest{})
	b.Must(err)
	if len(answer.Groups) != 1 || answer.Groups[0].Group != "good" || len(answer.Groups[0].Messages) != 2 ||
		!slices.Equal(answer.Errors, []live.GroupError{{Group: "bad", Code: chat.CodeInternal}}) {
		t.Errorf("sync: got %+v", answer)
	}
	f, err := b.live().Follow(b.Ctx, as("bob"), live.Scope{})
	b.Must(err)
	defer f.Close()
	e, err := f.Next(b.Ctx)
	b.Must(err)
	if e.Messages == nil || e.Messages.Group != "good" {
		t.Errorf("live: got %+v", e)
	}
}

// overtaken is a store on which the user is back in the group before the node that took them out has written the index.
type overtaken struct {
	chat.Store
	between func()
}

func (o *overtaken) Leave(ctx context.Context, m chat.Membership) (bool, error) {
	deleted, err := o.Store.Leave(ctx, m)
	o.between()
	return deleted, err
}

func (o *overtaken) CreateGroup(ctx context.Context, g chat.NewGroup) error {
	err := o.Store.CreateGroup(ctx, g)
	o.between()
	return err
}

func (o *overtaken) Join(ctx context.Context, m chat.Membership) (chat.Member, bool, error) {
	member, added, err := o.Store.Join(ctx, m)
	o.between()
	return member, added, err
}

func TestIndexOfASlowNode(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	slow := &overtaken{Store: b.Store, between: func() {
		_, _, err := b.PutMember(b.Ctx, as("alice"), "g", "bob", "")
		b.Must(err)
	}}
	b.Must(chat.New(slow, chat.Options{}).RemoveMember(b.Ctx, as("alice"), "g", "bob"))
	if got := b.index("bob", "g"); got < 0 {
		t.Error("bob is a member again, and his index lost the group")
	}
	slow.between = func() { b.Must(b.RemoveMember(b.Ctx, as("alice"), "g", "cid")) }
	_, _, err := chat.New(slow, chat.Options{}).PutMember(b.Ctx, as("alice"), "g", "cid", "")
	b.Must(err)
	if got := b.index("cid", "g"); got >= 0 {
		t.Error("cid is no member any longer, and his index holds the group")
	}
	slow.between = func() { b.Must(b.RemoveMember(b.Ctx, as("dora"), "h", "dora")) }
	_, err = chat.New(slow, chat.Options{}).CreateGroup(b.Ctx, as("alice"), chat.GroupDraft{ID: "h", Members: []string{"dora", "eve"}})
	b.Must(err)
	if got := []int64{b.index("alice", "h"), b.index("dora", "h"), b.index("eve", "h")}; !slices.Equal(got, []int64{0, -1, 0}) {
		t.Errorf("alice and eve are members, dora left at once: their indexes say %v", got)
	}
}
