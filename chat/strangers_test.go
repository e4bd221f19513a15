package chat_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestDirectShared(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Direct = chat.DirectShared })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	write := func(by chat.Caller, to string) error {
		_, _, err := b.SendDirect(b.Ctx, by, to, chat.Direct{Body: new("x")})
		return err
	}
	b.Refused("put into a group", write(as("alice"), "bob"), chat.CodeForbidden)
	_, err := b.Ack(b.Ctx, as("bob"), "g", chat.At(2))
	b.Must(err)
	b.Must(write(as("alice"), "bob"))
	b.Must(write(as("bob"), "alice")) // who made the group
	b.Must(write(as("eve"), "eve"))
	b.Must(write(operator("root"), "bob"))
	b.Refused("a stranger", write(as("eve"), "bob"), chat.CodeForbidden)
	b.Must(b.RemoveMember(b.Ctx, as("bob"), "g", "bob"))
	b.Refused("after leaving", write(as("bob"), "alice"), chat.CodeForbidden)
}

// TestAddPolicy adds members at the creation of a group and later, as far as they may be added.
func TestAddPolicy(t *testing.T) {
	n := 0
	for _, policy := range []chat.AddPolicy{chat.AddAll, chat.AddShared, chat.AddOperators} {
		b := newBench(t, func(o *chat.Options) { o.Add = policy })
		check := func(what string, by chat.Caller, user string, allowed bool) {
			t.Helper()
			n++
			made, own := fmt.Sprint("made", n), fmt.Sprint("own", n)
			_, err := b.CreateGroup(b.Ctx, by, chat.GroupDraft{ID: made, Members: []string{user}})
			b.MakeGroup(chat.GroupDraft{ID: own}, by.User)
			_, _, putErr := b.PutMember(b.Ctx, by, own, user, "")
			if allowed {
				b.Must(err)
				b.Must(putErr)
				_, _, err = b.PutMember(b.Ctx, by, own, user, chat.Admin)
				b.Must(err)
				return
			}
			b.Refused(fmt.Sprintf("%s: %s at the creation", policy, what), err, chat.CodeForbidden)
			b.Refused(fmt.Sprintf("%s: %s later", policy, what), putErr, chat.CodeForbidden)
			if _, err := b.Group(b.Ctx, operator("root"), made); chat.CodeOf(err) != chat.CodeNotFound {
				t.Errorf("%s: %s: the group was made: %v", policy, what, err)
			}
		}
		check("a stranger", as("mallory"), "bob", policy == chat.AddAll)
		check("a stranger", operator("root"), "bob", true)
		b.MakeGroup(chat.GroupDraft{ID: "open", Visibility: chat.Public}, "alice")
		_, _, err := b.PutMember(b.Ctx, as("bob"), "open", "bob", "") // by oneself
		b.Must(err)
		_, _, err = b.PutMember(b.Ctx, as("mallory"), "open", "mallory", "")
		b.Must(err)
		check("who is silent in the same group", as("mallory"), "bob", policy == chat.AddAll)
		b.Say("bob", "open", "hi")
		check("who wrote in the same group", as("mallory"), "bob", policy != chat.AddOperators)
	}
}

// TestOneStrangerLeavesRoom has one stranger put bob into groups, at the creation and later, until that is refused; others may go on.
func TestOneStrangerLeavesRoom(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.UserGroupsMax = 50 })
	const most = 5
	n := 0
	add := func(by chat.Caller) error {
		n++
		id := fmt.Sprint("m", n)
		if n%2 == 0 {
			_, err := b.CreateGroup(b.Ctx, by, chat.GroupDraft{ID: id, Members: []string{"bob", fmt.Sprint("ann", n)}})
			return err
		}
		b.MakeGroup(chat.GroupDraft{ID: id}, by.User)
		_, _, err := b.PutMember(b.Ctx, by, id, "bob", "")
		return err
	}
	for range most {
		b.Must(add(as("mallory")))
	}
	full := func(what string) {
		t.Helper()
		for range 2 {
			b.Refused(what, add(as("mallory")), chat.CodeOutOfRange)
		}
	}
	full("one more")
	_, _, err := b.PutMember(b.Ctx, as("mallory"), "m1", "bob", chat.Admin) // a member already
	b.Must(err)
	b.Must(add(as("eve")))
	b.Must(add(operator("root")))

	b.Must(b.RemoveMember(b.Ctx, as("bob"), "m1", "bob"))
	b.Must(add(as("mallory")))
	full("as many again")

	_, err = b.Ack(b.Ctx, as("bob"), "m2", chat.At(2))
	b.Must(err)
	for range most { // they share a group in which bob acted
		b.Must(add(as("mallory")))
	}
}

// TestInvitationsLeaveRoom has a stranger put bob into as many groups as may be.
func TestInvitationsLeaveRoom(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Limits.UserGroupsMax = 3 })
	add := func(id string) error {
		_, err := b.CreateGroup(b.Ctx, as(id), chat.GroupDraft{ID: id, Members: []string{"bob"}})
		return err
	}
	own := func(id string) error {
		_, err := b.CreateGroup(b.Ctx, as("bob"), chat.GroupDraft{ID: id})
		return err
	}
	for i := range 3 {
		b.Must(add(fmt.Sprint("m", i)))
	}
	b.Refused("one more invitation", add("m3"), chat.CodeOutOfRange)
	for i := range 3 {
		b.Must(own(fmt.Sprint("own", i)))
	}
	b.Refused("one more group", own("own3"), chat.CodeOutOfRange)
	list, err := b.Groups(b.Ctx, as("bob"), 0, "")
	b.Must(err)
	if list.Total != 6 {
		t.Errorf("got %d groups, want 6", list.Total)
	}
	b.Must(b.RemoveMember(b.Ctx, as("bob"), "m0", "bob"))
	b.Must(add("m3"))
	b.Must(b.RemoveMember(b.Ctx, as("bob"), "own0", "bob"))
	b.Must(own("own3"))
}

// indexing notes whose indexes are read.
type indexing struct {
	chat.Store
	read []string
}

func (i *indexing) UserGroups(ctx context.Context, user string) ([]chat.UserGroup, error) {
	i.read = append(i.read, user)
	return i.Store.UserGroups(ctx, user)
}

// TestSharedGroupCostsLittle: of two users in many groups, the shorter index is read, and no more of it than leads to a group that
// they share. The caller pays for that.
func TestSharedGroupCostsLittle(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Direct = chat.DirectShared })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "star", "sun")
	for _, user := range []string{"star", "sun"} {
		_, err := b.Ack(b.Ctx, as(user), "g", chat.At(3))
		b.Must(err)
	}
	for user, groups := range map[string]int{"star": 1200, "sun": 1300} {
		for i := range groups {
			b.Must(b.Store.AddUserGroups(b.Ctx, []string{user}, chat.UserGroup{Group: fmt.Sprint("x", i), Seen: 10}))
		}
	}
	for _, c := range []struct {
		by, to string
		code   chat.Code
		read   []string
		looks  int
	}{
		{"alice", "star", "", []string{"alice"}, 1 + 1 + chat.PageLooks},
		{"star", "alice", "", []string{"alice"}, 1 + 1 + chat.PageLooks},
		{"star", "sun", "", []string{"star"}, 1201 + 500 + chat.PageLooks},
		{"sun", "star", "", []string{"star"}, 1201 + 500 + chat.PageLooks},
		{"eve", "star", chat.CodeForbidden, []string{"eve"}, 0},
	} {
		stores := &indexing{Store: b.Store}
		s := chat.New(stores, b.Options())
		m := &chat.Meter{}
		_, _, err := s.SendDirect(chat.WithMeter(b.Ctx, m), as(c.by), c.to, chat.Direct{Body: new("x")})
		if got := chat.CodeOf(err); err != nil && got != c.code || err == nil && c.code != "" {
			t.Errorf("%s to %s: got %v, want %q", c.by, c.to, err, c.code)
		}
		if got := m.Groups(); got != c.looks || !slices.Equal(stores.read, c.read) {
			t.Errorf("%s to %s: %d looks, the indexes of %v, want %d, of %v", c.by, c.to, got, stores.read, c.looks, c.read)
		}
	}
}
