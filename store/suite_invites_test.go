package store_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/invite"
)

// invites keeps an invitation of a group by alice.
func (w *fixture) invites(group, id string, uses int64, change ...func(*invite.Record)) invite.Record {
	role := chat.Ordinary
	r := invite.Record{Hash: "hash-of-" + id, Invite: invite.Invite{ID: id, Group: &group, Role: &role, Uses: uses, Note: "for you  all",
		CreatedBy: "alice", CreatedAt: chat.TimeMs(1000)}}
	for _, c := range change {
		c(&r)
	}
	kept, err := w.CreateInvite(w.ctx, chat.Caller{User: r.CreatedBy, Admin: r.Trusted}, r)
	w.ok(err)
	w.equal(kept, r)
	return r
}

func (w *fixture) accepts(user string, r invite.Record) error {
	return w.AcceptInvite(w.ctx, membership(*r.Group, user, user, ""), r.ID, r.Hash)
}

var inviteTests = map[string]func(*fixture){
	"the last use goes to one of 50 callers": func(w *fixture) {
		w.group("g", []string{"bob"})
		r := w.invites("g", "one", 3)
		w.ok(w.accepts("u0", r))
		w.ok(w.accepts("u1", r))
		var joined, refused atomic.Int64
		var wg sync.WaitGroup
		for n := range 50 {
			wg.Go(func() {
				switch err := w.accepts(fmt.Sprint("caller", n), r); {
				case err == nil:
					joined.Add(1)
				case errors.Is(err, invite.ErrGone):
					refused.Add(1)
				default:
					w.Error(err)
				}
			})
		}
		wg.Wait()
		w.equal([]int64{joined.Load(), refused.Load(), w.info("g", "alice").Group.Members}, []int64{1, 49, 5})
		l, err := w.LookInvite(w.ctx, "g", "one")
		w.ok(err)
		w.equal([]any{l.Used, l.GroupName, l.Members, l.Manages, l.Note}, []any{int64(3), "The g", int64(5), true, "for you  all"})
		w.ok(w.accepts("u0", r)) // a repeat
		w.equal(w.info("g", "alice").Last, int64(5))
	},
	"what ends an invitation": func(w *fixture) {
		w.group("g", []string{"bob"})
		revoked := w.invites("g", "revoked", 2)
		w.ok(w.RevokeInvite(w.ctx, operator, "g", "revoked"))
		w.ok(w.RevokeInvite(w.ctx, operator, "g", "revoked"))
		w.fails(w.accepts("carl", revoked), invite.ErrGone)
		past := chat.TimeMs(1)
		w.fails(w.accepts("carl", w.invites("g", "expired", 2, func(r *invite.Record) { r.ExpiresAt = &past })), invite.ErrGone)
		_, _, err := w.SetRole(w.ctx, membership("g", "bob", "alice", chat.Admin))
		w.ok(err)
		admin := chat.Admin
		byBob := w.invites("g", "bobs", 5, func(r *invite.Record) { r.CreatedBy, r.Role = "bob", &admin })
		w.ok(w.accepts("carl", byBob))
		w.equal(w.info("g", "carl").Role, chat.Admin)
		_, _, err = w.SetRole(w.ctx, membership("g", "bob", "alice", chat.Ordinary))
		w.ok(err)
		w.fails(w.accepts("dora", byBob), invite.ErrGone)
		other := byBob
		other.Hash = "other"
		w.fails(w.accepts("dora", other), invite.ErrNotFound)
		w.ok(w.accepts("dora", w.invites("g", "roots", 1, func(r *invite.Record) { r.CreatedBy, r.Trusted = "root", true })))
		_, err = w.CreateInvite(w.ctx, chat.Caller{User: "dora"}, byBob)
		w.fails(err, chat.ErrForbidden)
	},
	"deleted with the group, and with their maker": func(w *fixture) {
		w.group("g", []string{"bob"})
		r := w.invites("g", "one", 1)
		h := fnv.New32a()
		_, _ = h.Write([]byte("g"))
		to, err := w.InvitedTo(w.ctx, h.Sum32(), "one")
		w.ok(err)
		w.equal(to, "g")
		w.ok(w.DropTraces(w.ctx, "g", "alice")) // still a member
		w.ok(w.DropTraces(w.ctx, "g", "carl"))
		w.ok(w.accepts("carl", r))
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		_, err = w.InvitedTo(w.ctx, h.Sum32(), "one")
		w.fails(err, invite.ErrNotFound)
		_, err = w.LookInvite(w.ctx, "g", "one")
		w.fails(err, invite.ErrNotFound)
	},
	"bounded": func(w *fixture) {
		w.group("g", nil)
		past := chat.TimeMs(1)
		ended := func(r *invite.Record) { r.ExpiresAt, r.CreatedAt = &past, chat.TimeMs(0) }
		r := w.invites("g", "old0", 1, ended)
		// As CreateInvite keeps them: each that it makes looks at all the others, which takes long.
		fill := func(name string, from, to int) {
			var records []any
			for n := from; n < to; n++ {
				id := fmt.Sprint(name, n)
				r.Hash, r.CreatedAt = "hash-of-"+id, chat.TimeMs(int64(n))
				records = append(records, id, r.Text())
			}
			w.ok(w.Client().Eval(w.ctx, `for i = 1, #ARGV, 2 do
				redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
				redis.call('HSET', KEYS[2], ARGV[i], 'g')
			end return 1`, []string{strings.TrimSuffix(w.metaOf("g"), "meta") + "invites", w.partOf("g") + "invited"}, records...).Err())
		}
		fill("old", 1, invite.KeptMax)
		w.invites("g", "new0", 1)
		r.ExpiresAt = nil
		fill("new", 1, invite.OpenMax-1)
		w.invites("g", fmt.Sprint("new", invite.OpenMax-1), 1)
		list, err := w.ListInvites(w.ctx, "g")
		w.ok(err)
		w.equal(len(list), invite.KeptMax)
		again := w.invites("g", "new0", 1)
		again.ID = "more"
		_, err = w.CreateInvite(w.ctx, chat.Caller{User: "alice"}, again)
		w.fails(err, &chat.Error{Code: chat.CodeQuotaFull})
		_, err = w.LookInvite(w.ctx, "g", "old0")
		w.fails(err, invite.ErrNotFound)
	},
}
