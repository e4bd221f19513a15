package invite_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bench struct {
	*chattest.Bench
	invites *invite.Service
	lost    atomic.Bool // keys have lost their right
}

func newBench(t *testing.T) *bench {
	b := &bench{Bench: chattest.New(t)}
	b.invites = invite.New(b.Service, b.Store, b.Store, invite.Options{
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Holds: func(string, string) bool { return !b.lost.Load() },
	})
	return b
}

func (b *bench) create(by chat.Caller, d invite.Draft) invite.Invite {
	b.T.Helper()
	made, err := b.invites.Create(b.Ctx, by, d, "")
	b.Must(err)
	return made
}

// TestRedeemToRegister: of 50 who register with 5 uses left 5 do, whoever repeats it pays once, and a refusal costs no use.
func TestRedeemToRegister(t *testing.T) {
	b := newBench(t)
	root := chattest.Operator("root")
	uses := int64(5)
	made := b.create(root, invite.Draft{Uses: &uses})
	var wg sync.WaitGroup
	var done atomic.Int64
	for n := range 50 {
		wg.Go(func() {
			user := fmt.Sprint("u", n)
			_, err := b.invites.Redeem(b.Ctx, made.Code, user)
			if err == nil {
				done.Add(1)
				_, err = b.invites.Redeem(b.Ctx, made.Code, user)
			} else if errors.Is(err, invite.ErrGone) {
				err = nil
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := b.invites.List(b.Ctx, root, "", 10, "")
	b.Must(err)
	if done.Load() != uses || len(list.Items) != 1 || list.Items[0].Used != uses {
		t.Errorf("%d registered; %+v", done.Load(), list.Items)
	}
	_, err = b.invites.Accept(b.Ctx, chattest.As("ann"), made.Code)
	b.Refused("to join", err, chat.CodeNotFound)
	next := b.create(root, invite.Draft{})
	b.Must(b.invites.Revoke(b.Ctx, root, next.ID))
	_, err = b.invites.Redeem(b.Ctx, next.Code, "late")
	b.Refused("revoked", err, chat.CodeGone)
	b.Refused("by nobody", b.invites.Revoke(b.Ctx, chattest.As("ann"), next.ID), chat.CodeNotFound)
}

// TestRedeemJoins: who registers with the code of a group is in the group, once.
func TestRedeemJoins(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	group := "g"
	made := b.create(chattest.As("ann"), invite.Draft{Group: &group})
	for range 2 {
		got, err := b.invites.Redeem(b.Ctx, made.Code, "bob")
		b.Must(err)
		if got != group {
			t.Errorf("got %q", got)
		}
	}
	_, err := b.invites.Redeem(b.Ctx, made.Code, "cid")
	b.Refused("used up", err, chat.CodeGone)
	if g, err := b.Group(b.Ctx, chattest.As("bob"), "g"); err != nil || g.Members != 2 {
		t.Errorf("got %+v, %v", g, err)
	}
}

// TestInvitationEndsWithItsKey: what a key made is void once the key may not invite any more.
func TestInvitationEndsWithItsKey(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	group := "g"
	made := b.create(chat.Caller{User: "key:k", Admin: true, Via: "k"}, invite.Draft{Group: &group})
	shown, err := b.invites.Check(b.Ctx, made.Code)
	b.Must(err)
	if shown.FromName != "" {
		t.Errorf("got %+v, want no name", shown)
	}
	b.lost.Store(true)
	_, err = b.invites.Check(b.Ctx, made.Code)
	b.Refused("a look", err, chat.CodeGone)
	_, err = b.invites.Accept(b.Ctx, chattest.As("bob"), made.Code)
	b.Refused("a use", err, chat.CodeGone)
}

// TestErasureTakesInvitations: those of an erased maker go with what they wrote of them, also where the group has nothing else of them.
func TestErasureTakesInvitations(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "ann", "bob")
	_, _, err := b.PutMember(b.Ctx, chattest.As("ann"), "g", "bob", chat.Admin)
	b.Must(err)
	group := "g"
	made := b.create(chattest.As("bob"), invite.Draft{Group: &group, Note: "xyzzy"})
	root := chattest.Operator("bob")
	ofServer, used := b.create(root, invite.Draft{Note: "xyzzy"}), b.create(chattest.Operator("ann"), invite.Draft{})
	_, err = b.invites.Redeem(b.Ctx, used.Code, "bob")
	b.Must(err)
	b.Must(b.RemoveMember(b.Ctx, chattest.As("bob"), "g", "bob"))
	_, err = b.invites.Check(b.Ctx, made.Code)
	b.Refused("of who left", err, chat.CodeGone)

	erasures := erase.New(b.Service, b.Store, b.Store, nil, b.Store, webhook.New(b.Service, b.Store, nil), b.invites.Erase)
	e, err := erasures.Begin(b.Ctx, root, "bob")
	b.Must(err)
	chattest.Done(t, erasures.Handlers()[erase.TaskErase], erase.Task{Erasure: e.ID})
	for _, code := range []string{made.Code, ofServer.Code} {
		_, err = b.invites.Check(b.Ctx, code)
		b.Refused("of who was erased", err, chat.CodeNotFound)
	}
	row, err := b.Store.Row(b.Ctx, invite.TableName, used.ID)
	b.Must(err)
	if strings.Contains(row.Text, "bob") {
		t.Errorf("got %s, want no name of who used it", row.Text)
	}
	_, err = b.invites.Check(b.Ctx, used.Code)
	b.Refused("used up still", err, chat.CodeGone)
}
