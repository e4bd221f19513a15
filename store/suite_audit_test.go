package store_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
)

// audited are the entries of the audit, the oldest first, as `<actor> <action> <group> <user> <detail>`.
func (w *fixture) audited() (found []string) {
	w.Helper()
	for after, more := "", true; more; {
		var page []audit.Record
		var err error
		page, more, err = w.Audit(w.ctx, "", after, 3)
		w.ok(err)
		for _, r := range page {
			after = r.ID
			found = append(found, fmt.Sprint(r.Actor, " ", r.Action, " ", r.Group, " ", r.User, " ", string(r.Detail)))
		}
	}
	slices.Reverse(found)
	return found
}

// adds checks that do adds these entries to the audit, and no others.
func (w *fixture) adds(do func(), want ...string) {
	w.Helper()
	before := len(w.audited())
	do()
	if got := w.audited()[before:]; !slices.Equal(got, want) {
		w.Fatalf("the audit got %q, want %q", got, want)
	}
}

// bulkChange is a change of several members by somebody.
func bulkChange(by chat.Caller, notice string, roles []chat.Role, users ...string) bulk.Change {
	return bulk.Change{Group: "g", By: by, Users: users, Roles: roles, AtMs: 1000, Notice: chat.NewUsersNotice(by, "g", 1000, chat.Entry{Notice: notice})}
}

var auditTests = map[string]func(*fixture){
	"what is done to members": func(w *fixture) {
		w.group("g", []string{"ann", "bob", "carl"}, public)
		alice := chat.Caller{User: "alice"}
		role := func(by, user string, role chat.Role) error {
			_, _, err := w.SetRole(w.ctx, membership("g", user, by, role))
			return err
		}
		w.adds(func() {
			w.ok(role("alice", "ann", chat.Admin))
			w.ok(role("alice", "ann", chat.Admin)) // she is one
			w.fails(role("bob", "carl", chat.Admin), chat.ErrForbidden)
			w.fails(role("ann", "ann", chat.Owner), chat.ErrForbidden)
		}, `alice member.role g ann {"role":"admin"}`)
		w.adds(func() {
			w.muted("g", "bob", never.UnixMilli())
			w.muted("g", "bob", never.UnixMilli())
			_, err := w.mute("g", "ann", "ann", never.UnixMilli())
			w.fails(err, chat.ErrForbidden)
			w.muted("g", "bob", 0)
			w.muted("g", "bob", 0)
		}, `alice member.mute g bob {"until":"9999-12-31T00:00:00.000Z"}`, `alice member.unmute g bob {}`)
		w.adds(func() {
			w.ban("g", "bob", rules.Ban{Reason: "spam"})
			w.ban("g", "bob", rules.Ban{Reason: "spam"})
			_, _, _, err := w.Ban(w.ctx, membership("g", "bob", "alice", ""), rules.Ban{Reason: "spam"}, 1, noticeEntry("g", "alice", chat.NoticeBanned, "bob"))
			w.ok(err) // it deletes, so it is reported
			_, _, _, err = w.Ban(w.ctx, membership("g", "alice", "ann", ""), rules.Ban{}, 0, noticeEntry("g", "ann", chat.NoticeBanned, "alice"))
			w.fails(err, chat.ErrForbidden)
			w.ok(w.Unban(w.ctx, alice, "g", "bob"))
			w.fails(w.Unban(w.ctx, alice, "g", "bob"), chat.ErrNotFound)
			w.fails(w.Unban(w.ctx, chat.Caller{User: "carl"}, "g", "bob"), chat.ErrForbidden)
		}, `alice member.ban g bob {"until":null,"reason":"spam"}`, `alice member.ban g bob {"until":null,"reason":"spam","delete_hours":1}`,
			`alice member.unban g bob {}`)
		w.adds(func() {
			w.join("g", "bob", "bob")
			w.leave("g", "bob") // nobody's decision but his
			w.join("g", "bob", "ann")
			_, err := w.Leave(w.ctx, membership("g", "bob", "ann", ""))
			w.ok(err)
			_, err = w.Leave(w.ctx, membership("g", "bob", "ann", ""))
			w.fails(err, chat.ErrNotFound)
			_, err = w.Leave(w.ctx, membership("g", "alice", "ann", ""))
			w.fails(err, chat.ErrForbidden)
		}, `ann member.remove g bob {}`)
		w.adds(func() {
			_, _, err := w.Join(w.ctx, membership("g", "dora", "ann", chat.Admin))
			w.ok(err)
			_, err = w.AddMembers(w.ctx, bulkChange(alice, chat.NoticeJoined, []chat.Role{chat.Ordinary, chat.Admin, chat.Admin}, "bob", "eve", "dora"))
			w.ok(err)
		}, `ann member.role g dora {"role":"admin"}`, `alice member.role g eve {"role":"admin"}`)
		w.adds(func() {
			_, _, err := w.RemoveMembers(w.ctx, bulkChange(alice, chat.NoticeRemoved, nil, "bob", "nobody", "alice", "eve"))
			w.ok(err)
			_, _, err = w.RemoveMembers(w.ctx, bulkChange(chat.Caller{User: "carl"}, chat.NoticeRemoved, nil, "ann"))
			w.fails(err, chat.ErrForbidden)
		}, `alice member.remove g bob {}`, `alice member.remove g eve {}`)
	},
	"what is decided about a group": func(w *fixture) {
		w.group("g", []string{"bob"}, public)
		alice, bob := chat.Caller{User: "alice"}, chat.Caller{User: "bob"}
		update := func(by chat.Caller, change chat.GroupChange) error {
			return w.UpdateGroup(w.ctx, by, "g", nil, change, []chat.NoticeEntry{noticeEntry("g", by.User, chat.NoticeSettings)}, 5000)
		}
		w.adds(func() {
			change := chat.GroupChange{SlowS: new(int64(10)), Data: []byte(`{"secret":"x"}`)}
			w.ok(update(alice, change))
			w.ok(update(alice, change))
			w.fails(update(bob, chat.GroupChange{SlowS: new(int64(0))}), chat.ErrForbidden)
		}, `alice group.update g  {"slow_s":10,"data":true}`)
		w.adds(func() {
			w.ok(w.PutGroupWords(w.ctx, alice, "g", "one"))
			w.ok(w.PutGroupWords(w.ctx, alice, "g", "one"))
			w.fails(w.PutGroupWords(w.ctx, bob, "g", "two"), chat.ErrForbidden)
			w.ok(w.PutGroupWords(w.ctx, alice, "g", ""))
			w.ok(w.PutGroupWords(w.ctx, alice, "g", ""))
		}, `alice group.words g  {}`, `alice group.words g  {}`)
		w.adds(func() {
			for range 2 {
				w.ok(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: "case", By: "root", Since: chat.TimeMs(1)})))
			}
			w.fails(w.DeleteGroup(w.ctx, alice, "g", nil), chat.ErrConflict)
			for range 2 {
				w.ok(second(w.ReleaseHold(w.ctx, operator, "g")))
			}
		}, `root group.hold g  {"reason":"case"}`, `root group.release g  {}`)
		w.ok(update(alice, chat.GroupChange{Join: new(chat.JoinAsk), SlowS: new(int64(0))}))
		w.adds(func() {
			for _, user := range []string{"carl", "dora"} {
				_, _, err := w.Ask(w.ctx, "g", user, "", w.now())
				w.ok(err)
				w.fails(w.Answer(w.ctx, membership("g", user, "bob", ""), true), chat.ErrForbidden)
				w.ok(w.Answer(w.ctx, membership("g", user, "alice", ""), user == "carl"))
				w.fails(w.Answer(w.ctx, membership("g", user, "alice", ""), true), chat.ErrNotFound)
			}
		}, `alice request.accept g carl {}`, `alice request.decline g dora {}`)
		r := w.report("g", w.say("g", "bob", "x"), "carl")
		ref := reports.Ref{ID: r.ID, Group: "g"}
		w.adds(func() {
			w.ok(w.SettleReport(w.ctx, ref, "l", &closed)) // nobody has taken it
			w.ok(second(w.TakeReport(w.ctx, operator, ref, "l", time.Minute)))
			w.ok(w.SettleReport(w.ctx, ref, "l", nil))
			w.ok(second(w.TakeReport(w.ctx, operator, ref, "l", time.Minute)))
			w.ok(w.SettleReport(w.ctx, ref, "l", &closed))
			w.ok(w.SettleReport(w.ctx, ref, "l", &closed))
		}, `root report.close g bob {}`)
	},
	"what is decided about messages": func(w *fixture) {
		w.group("g", []string{"bob", "ann"})
		epoch := w.info("g", "alice").Epoch
		alice := chat.Caller{User: "alice", Via: "k"}
		ends := func(r chat.Review) *chat.ReviewEnd { return &chat.ReviewEnd{Review: r, By: alice, Epoch: epoch} }
		said := func(action, group, id string) string {
			return fmt.Sprintf(`alice review.%s %s bob {"review":"%s"}`, action, group, id)
		}
		texts := w.waits(reviewed("", "one", 1))
		w.adds(func() {
			w.ok(w.release(texts))
			w.fails(w.release(texts), chat.ErrReviewGone)
		}, strings.Replace(said("release", "g", texts.ID), "alice", "root", 1))
		edit := w.waits(reviewed("", "two", 2))
		w.adds(func() {
			a, changes := revision(w, chat.Edit, "bob", w.say("g", "bob", "x"))
			a.Release = ends(edit)
			w.ok(second(w.Revise(w.ctx, a, changes, false)))
			w.fails(second(w.Revise(w.ctx, a, changes, false)), chat.ErrReviewGone)
		}, said("release", "g", edit.ID))
		later, direct := w.waits(reviewed("", "three", 3)), w.waits(reviewed("zoe", "four", 4))
		body := "x"
		w.adds(func() {
			for range 2 {
				_, _, err := w.CreateSchedule(w.ctx, schedule.NewSchedule{Content: "c", Key: "k", NextMs: 9e15, Release: ends(later),
					Plan: schedule.Plan{Owner: "bob", Group: "g", Epoch: epoch, Content: chat.Content{Kind: chat.Text, Body: &body}}})
				if err != nil {
					w.fails(err, chat.ErrReviewGone)
				}
			}
		}, said("release", "g", later.ID))
		w.adds(func() {
			i := item("zoe", "bob", "x")
			i.ToStrangers, i.Release = true, ends(direct)
			w.put(i)
			_, _, _, err := w.InboxAppend(w.ctx, i)
			w.fails(err, chat.ErrReviewGone)
		}, said("release", "", direct.ID))
		dropped, expired, dropsDirect := w.waits(reviewed("", "five", 5)), w.waits(reviewed("", "six", 6)), w.waits(reviewed("zoe", "seven", 7))
		w.adds(func() {
			w.ok(w.EndReview(w.ctx, *ends(dropped)))
			w.fails(w.EndReview(w.ctx, *ends(dropped)), chat.ErrReviewGone)
			w.ok(w.EndReview(w.ctx, chat.ReviewEnd{Review: expired})) // nobody's decision
			w.ok(w.EndReview(w.ctx, chat.ReviewEnd{Review: dropsDirect, By: alice}))
		}, said("drop", "g", dropped.ID), said("drop", "", dropsDirect.ID))
		own, theirs := w.say("g", "bob", "x"), w.say("g", "bob", "x")
		w.adds(func() {
			a, changes := revision(w, chat.Delete, "bob", own)
			w.ok(second(w.Revise(w.ctx, a, changes, false)))
			a, changes = revision(w, chat.Delete, "ann", theirs)
			a.Actor = chat.Caller{User: "ann"}
			w.fails(second(w.Revise(w.ctx, a, changes, true)), chat.ErrForbidden)
			a, changes = revision(w, chat.Delete, "alice", theirs)
			a.Actor = alice
			w.ok(second(w.Revise(w.ctx, a, changes, true)))
			w.fails(second(w.Revise(w.ctx, a, changes, true)), chat.ErrNotFound)
		}, fmt.Sprintf(`alice message.delete g bob {"target":%d}`, theirs))
		list, _, err := w.Audit(w.ctx, "", "", 100)
		w.ok(err)
		for _, r := range list {
			w.equal(r.Epoch, map[string]string{"g": epoch}[r.Group])
		}
	},
	"invitations and accounts": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.adds(func() {
			r := w.invites("g", "one", 3)
			again, err := w.CreateInvite(w.ctx, operator, r)
			w.ok(err)
			w.equal(again.ID, r.ID)
			for range 2 {
				w.ok(w.RevokeInvite(w.ctx, operator, "g", "one"))
			}
			w.fails(w.RevokeInvite(w.ctx, operator, "g", "none"), invite.ErrNotFound)
		}, `alice invite.create g  {"invite":"one","role":"member","uses":3}`, `root invite.revoke g  {"invite":"one"}`)
		w.adds(func() {
			note := audit.Note(operator, audit.AccountCreate, "", "carl", nil)
			for range 2 {
				w.ok(w.PutAccount(w.ctx, "carl", "", "one", true, note))
			}
			w.fails(w.PutAccount(w.ctx, "carl", "other", "two", false, note), chat.ErrConflict)
			w.ok(w.PutAccount(w.ctx, "carl", "one", "two", false, audit.Entry{}))
		}, `root account.create  carl {}`)
	},
	"an erasure": func(w *fixture) {
		w.group("g", []string{"bob"})
		var id string
		for range 2 {
			var err error
			id, err = w.BeginErasure(w.ctx, operator, "bob")
			w.ok(err)
		}
		w.equal(w.audited(), []string{`root user.erase  bob {"erasure":"` + id + `"}`})
		w.ok(w.EraseAudit(w.ctx, "bob", nil))
		w.equal(w.audited(), []string{`root user.erase   {"erasure":"` + id + `"}`})
	},
	"a group that goes": func(w *fixture) {
		w.group("g", []string{"bob"})
		epoch := w.info("g", "alice").Epoch
		w.adds(func() {
			w.fails(w.DeleteGroup(w.ctx, chat.Caller{User: "bob"}, "g", nil), chat.ErrForbidden)
			w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice", Via: "k"}, "g", nil))
			w.fails(w.DeleteGroup(w.ctx, operator, "g", nil), chat.ErrNotFound)
		}, `alice group.delete g  {}`)
		list, _, err := w.Audit(w.ctx, "g", "", 10)
		w.ok(err)
		w.equal([]any{len(list), list[0].Via, list[0].Epoch}, []any{1, "k", epoch})
		w.group("alone", nil)
		w.adds(func() {
			_, err := w.Leave(w.ctx, membership("alone", "alice", "alice", ""))
			w.ok(err)
		}, `alice group.delete alone  {}`)
	},
	"a page of all partitions": func(w *fixture) {
		var want []string
		for i := range 10 {
			group := fmt.Sprint("g", i)
			w.group(group, []string{"bob"})
			w.muted(group, "bob", never.UnixMilli())
			want = append(want, group)
		}
		slices.Reverse(want)
		var got, ids []string
		list, more, err := w.Audit(w.ctx, "", "", 7)
		w.ok(err)
		w.equal([]any{len(list), more}, []any{7, true})
		rest, more, err := w.Audit(w.ctx, "", list[6].ID, 7)
		w.ok(err)
		w.equal(more, false)
		for _, r := range slices.Concat(list, rest) {
			got, ids = append(got, r.Group), append(ids, r.ID)
		}
		w.equal(got, want)
		w.equal(slices.IsSorted(ids), true)
		list, _, err = w.Audit(w.ctx, "g3", "", 10) // and others, where they share its partition
		w.ok(err)
		w.equal(slices.ContainsFunc(list, func(r audit.Record) bool { return r.Group == "g3" }), true)
		w.equal(len(list) <= 10, true)
	},
	"the newest are kept, and groups drive out no operators": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.AuditMax = 3 })
		w.group("g", []string{"bob", "carl"})
		users := make([]string, 20)
		for i := range users {
			users[i] = fmt.Sprint("user", i)
		}
		for i := range 5 {
			w.ok(second(w.PutHold(w.ctx, operator, "g", chat.Hold{Reason: fmt.Sprint(i), By: "root", Since: chat.TimeMs(1)})))
		}
		w.ok(second(w.ReleaseHold(w.ctx, operator, "g")))
		_, err := w.AddMembers(w.ctx, bulkChange(operator, chat.NoticeJoined, make([]chat.Role, len(users)), users...))
		w.ok(err)
		_, _, err = w.RemoveMembers(w.ctx, bulkChange(chat.Caller{User: "alice"}, chat.NoticeRemoved, nil, users...))
		w.ok(err)
		for range 3 {
			w.muted("g", "carl", never.UnixMilli())
			w.muted("g", "carl", 0)
		}
		w.equal(w.audited(), []string{`root group.hold g  {"reason":"3"}`, `root group.hold g  {"reason":"4"}`, `root group.release g  {}`,
			`alice member.unmute g carl {}`, `alice member.mute g carl {"until":"9999-12-31T00:00:00.000Z"}`, `alice member.unmute g carl {}`})
		_, _, err = w.RemoveMembers(w.ctx, bulkChange(operator, chat.NoticeRemoved, nil, "bob", "carl"))
		w.ok(err)
		w.equal(w.audited()[4:], []string{`root member.remove g bob {}`, `root member.remove g carl {}`})
	},
	"an erased person is not named": func(w *fixture) {
		w.group("g", []string{"bob", "bobby"})
		w.muted("g", "bob", never.UnixMilli())
		w.muted("g", "bobby", never.UnixMilli())
		w.ban("g", "bob", rules.Ban{Reason: "bob was rude"})
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "bob", Admin: true}, "g", nil))
		before, _, err := w.Audit(w.ctx, "", "", 10)
		w.ok(err)
		for range 2 {
			w.ok(w.EraseAudit(w.ctx, "bob", nil))
			w.equal(w.audited(), []string{`alice member.mute g  {"until":"9999-12-31T00:00:00.000Z"}`, `alice member.mute g bobby {"until":"9999-12-31T00:00:00.000Z"}`,
				`alice member.ban g  {"until":null}`, ` group.delete g  {}`})
		}
		after, _, err := w.Audit(w.ctx, "", "", 10)
		w.ok(err)
		for i := range after {
			w.equal([]any{after[i].ID, after[i].At, after[i].Epoch}, []any{before[i].ID, before[i].At, before[i].Epoch})
		}
	},
}
