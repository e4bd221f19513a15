package direct_test

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
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var as = chattest.As

type bench struct {
	*chattest.Bench
	direct *direct.Service
}

func newBench(t *testing.T, change ...func(*chat.Options)) bench {
	b := chattest.New(t, change...)
	return bench{b, direct.New(b.Service, b.Store, blocks.New(b.Service, b.Store))}
}

// put opens a direct group.
func (b bench) put(by, with string) (chat.Group, bool) {
	b.T.Helper()
	g, created, err := b.direct.Put(b.Ctx, as(by), with)
	b.Must(err)
	return g, created
}

// TestBothSidesOpenOneGroup: 20 calls from either side create one group, with both as members without a role and nothing in an inbox.
func TestBothSidesOpenOneGroup(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	made := make([]bool, 40)
	groups := make([]chat.Group, len(made))
	for i := range made {
		wg.Go(func() {
			pair := []string{"bob", "ann"}
			g, created, err := b.direct.Put(b.Ctx, as(pair[i%2]), pair[1-i%2])
			if err != nil {
				t.Error(err)
			}
			groups[i], made[i] = g, created
		})
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(made, func(created bool) bool { return !created })); n != 1 {
		t.Errorf("%d calls created the group", n)
	}
	for _, g := range groups {
		if g.ID != groups[0].ID || g.Epoch != groups[0].Epoch || !slices.Equal(g.Direct, []string{"ann", "bob"}) || g.Members != 2 {
			t.Errorf("got %+v", g)
		}
	}
	members, err := b.Members(b.Ctx, as("ann"), groups[0].ID, 10, "")
	b.Must(err)
	for _, m := range members.Items {
		if m.Role != chat.Ordinary {
			t.Errorf("got %+v, want nobody who manages the group", m)
		}
	}
	chattest.Done(t, b.Handlers()[chat.TaskMember], chat.MemberTask{Group: groups[0].ID, Epoch: groups[0].Epoch, ID: 1, By: groups[0].CreatedBy,
		What: chat.NoticeJoined, Users: groups[0].Direct, AtMs: 1})
	for _, user := range []string{"ann", "bob"} {
		list, err := b.Groups(b.Ctx, as(user), 10, "")
		b.Must(err)
		if len(list.Items) != 1 || !slices.Equal(list.Items[0].Direct, groups[0].Direct) || len(b.Items(user)) != 0 {
			t.Errorf("%s has %+v and %v", user, list.Items, b.ItemLines(user))
		}
	}
}

// TestIdsOfPairsDiffer: no other pair has the id of one, whatever is in the ids of its users.
func TestIdsOfPairsDiffer(t *testing.T) {
	seen := map[string]string{}
	long := strings.Repeat("x", 128)
	users := []string{"a", "b", "a:b", "a|b", "b|", ":", "|", "a:", long, long[1:]}
	for i, one := range users {
		for _, other := range users[i+1:] {
			id := chat.DirectID(one, other)
			if id != chat.DirectID(other, one) || !chat.ValidGroupID(id) || !chat.IsDirect(id) || seen[id] != "" {
				t.Errorf("%s and %s have %s, as %s", one, other, id, seen[id])
			}
			seen[id] = one + " and " + other
		}
	}
}

// TestMembersAreFixed: nobody joins, leaves, is removed or gets a role, and nobody else can create the group.
func TestMembersAreFixed(t *testing.T) {
	b := newBench(t)
	g, _ := b.put("ann", "bob")
	root := chattest.Operator("root")
	for _, by := range []chat.Caller{as("ann"), root} {
		for _, user := range []string{"cid", "bob"} {
			_, _, err := b.PutMember(b.Ctx, by, g.ID, user, chat.Admin)
			b.Refused(by.User+" puts "+user, err, chat.CodeConflict)
		}
		b.Refused(by.User+" removes ann", b.RemoveMember(b.Ctx, by, g.ID, "ann"), chat.CodeConflict)
	}
	b.Refused("a stranger asks", b.RemoveMember(b.Ctx, as("cid"), g.ID, "ann"), chat.CodeNotFound)
	public := chat.Public
	_, err := b.UpdateGroup(b.Ctx, root, g.ID, chat.GroupChange{Visibility: &public})
	b.Refused("public", err, chat.CodeConflict)
	b.Refused("a member deletes it", b.DeleteGroup(b.Ctx, as("ann"), g.ID), chat.CodeForbidden)
	_, err = b.CreateGroup(b.Ctx, root, chat.GroupDraft{ID: chat.DirectID("cid", "dan")})
	b.Refused("the id of another", err, chat.CodeInvalid)
	_, _, err = b.direct.Put(b.Ctx, as("ann"), "ann")
	b.Refused("with oneself", err, chat.CodeInvalid)
	if _, err := b.CreateGroup(b.Ctx, as("ann"), chat.GroupDraft{ID: "direct:ann:bob"}); err != nil {
		t.Errorf("a program's own name for a group: %v", err)
	}
}

// TestPolicyAppliesToTheCreation: CHATD_DIRECT decides who may open a group with whom, CHATD_ADD does not; one that is there opens.
func TestPolicyAppliesToTheCreation(t *testing.T) {
	b := newBench(t, func(o *chat.Options) { o.Direct, o.Add = chat.DirectShared, chat.AddOperators })
	_, _, err := b.direct.Put(b.Ctx, as("ann"), "bob")
	b.Refused("strangers", err, chat.CodeForbidden)
	if g, created, err := b.direct.Put(b.Ctx, chattest.Operator("bob"), "ann"); !created {
		t.Fatalf("an operator got %+v, %v", g, err)
	}
	if g, created := b.put("ann", "bob"); created || g.Members != 2 {
		t.Errorf("got %+v", g)
	}
}

// TestErasedPersonLeavesADirectGroup: what the person wrote is gone, the other keeps the group, and who comes back under the same id
// gets into it again.
func TestErasedPersonLeavesADirectGroup(t *testing.T) {
	b := newBench(t)
	erasures := erase.New(b.Service, b.Store, b.Store, nil, b.Store, webhook.New(b.Service, b.Store, nil))
	g, _ := b.put("ann", "bob")
	b.Say("ann", g.ID, "xyzzy")
	e, err := erasures.Begin(b.Ctx, chattest.Operator("root"), "ann")
	b.Must(err)
	chattest.Done(t, erasures.Handlers()[erase.TaskErase], erase.Task{Erasure: e.ID})
	left, err := b.Group(b.Ctx, as("bob"), g.ID)
	b.Must(err)
	if left.Members != 1 || strings.Contains(fmt.Sprint(b.PullFrom("bob", g.ID, "0", 100)), "xyzzy") {
		t.Errorf("got %+v", left)
	}
	if again, created := b.put("ann", "bob"); created || again.Members != 2 || again.Epoch != g.Epoch {
		t.Errorf("got %+v, created %v", again, created)
	}
}
