package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
)

var never = chat.Time{Time: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}

func (w *fixture) mute(group, user, by string, untilMs int64) (chat.Member, error) {
	m := membership(group, user, by, "")
	m.Notice = noticeEntry(group, by, chat.NoticeMuted, user)
	return w.Mute(w.ctx, m, untilMs)
}

func (w *fixture) muted(group, user string, untilMs int64) chat.Member {
	w.Helper()
	m, err := w.mute(group, user, "alice", untilMs)
	w.ok(err)
	return m
}

func (w *fixture) setGroup(group string, change chat.GroupChange) {
	w.Helper()
	w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, group, nil, change, []chat.NoticeEntry{noticeEntry(group, "alice", chat.NoticeSettings)}, 5000))
}

// refused is the error of a send of a user's.
func (w *fixture) refused(a chat.Append) *chat.Error {
	w.Helper()
	last := w.info(a.Group, "alice").Last
	_, err := w.Append(w.ctx, a)
	var e *chat.Error
	if !errors.As(err, &e) {
		w.Fatalf("a send was answered with %v", err)
	}
	w.equal(w.info(a.Group, "alice").Last, last)
	return e
}

// ban bans a user for alice.
func (w *fixture) ban(group, user string, b rules.Ban) (ban rules.Ban, created, left bool) {
	w.Helper()
	ban, created, left, err := w.Ban(w.ctx, membership(group, user, "alice", ""), b, 0, noticeEntry(group, "alice", chat.NoticeBanned, user))
	w.ok(err)
	return ban, created, left
}

var ruleTests = map[string]func(*fixture){
	"words": func(w *fixture) {
		w.group("g", []string{"bob"})
		alice := chat.Caller{User: "alice"}
		lists := func() []string {
			epoch, text, err := w.GroupWords(w.ctx, "g")
			w.ok(err)
			return []string{epoch, text}
		}
		epoch := w.info("g", "alice").Epoch
		w.equal(lists(), []string{epoch, ""})
		w.ok(w.PutGroupWords(w.ctx, alice, "g", "one"))
		w.fails(w.PutGroupWords(w.ctx, chat.Caller{User: "bob"}, "g", "two"), chat.ErrManagersOnly)
		w.fails(w.PutGroupWords(w.ctx, chat.Caller{User: "carl"}, "g", "two"), chat.ErrNotFound)
		w.fails(w.PutGroupWords(w.ctx, alice, "none", "two"), chat.ErrNotFound)
		w.equal(lists(), []string{epoch, "one"})
		w.ok(w.PutGroupWords(w.ctx, chat.Caller{User: "op", Admin: true}, "g", "two"))
		w.equal(lists(), []string{epoch, "two"})
		w.ok(w.PutGroupWords(w.ctx, alice, "g", ""))
		w.equal(lists(), []string{epoch, ""})
		w.ok(w.PutGroupWords(w.ctx, alice, "g", "three"))
		w.ok(w.DeleteGroup(w.ctx, alice, "g", nil))
		w.equal(lists(), []string{"", ""})
	},

	"muted": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, public)
		theirs, target := w.say("g", "bob", "x"), w.say("g", "alice", "y")
		keyed := text("g", "bob", "with a key")
		keyed.Key, keyed.Content = "k", "c"
		first := w.send(keyed)
		until := w.now() + 3_600_000
		m := w.muted("g", "bob", until)
		w.equal(m.MutedUntil.UnixMilli(), until)
		last := w.info("g", "alice").Last
		w.equal(w.muted("g", "bob", until), m) // nothing to change: no notice
		w.equal([]any{w.info("g", "alice").Last, w.info("g", "bob").MutedUntil.UnixMilli(), w.info("g", "carl").MutedUntil}, []any{last, until, (*chat.Time)(nil)})

		for _, a := range []chat.Append{text("g", "bob", "no"), mentioning("g", "bob", "alice"), reaction("bob", target, ":a:", false)} {
			e := w.refused(a)
			w.equal([]any{e.Code, e.Until.UnixMilli()}, []any{chat.CodeMuted, until})
		}
		again := w.send(keyed) // it was sent before
		w.equal([]any{again.ID, again.Duplicate}, []any{first.ID, true})
		a, changes := revision(w, chat.Edit, "bob", theirs)
		w.fails(second(w.Revise(w.ctx, a, changes, false)), &chat.Error{Code: chat.CodeMuted})
		a, changes = revision(w, chat.Delete, "bob", theirs)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		w.say("g", "carl", "the others go on")

		w.leave("g", "bob") // it outlives leaving
		rejoined := w.join("g", "bob", "bob")
		w.equal(rejoined.MutedUntil.UnixMilli(), until)
		w.equal(w.refused(text("g", "bob", "no")).Code, chat.CodeMuted)
		list, _, err := w.Members(w.ctx, "g", "carl", "", 10)
		w.ok(err)
		for _, m := range list {
			w.equal(m.MutedUntil != nil, m.User == "bob")
		}

		w.muted("g", "bob", never.UnixMilli())
		w.equal(w.refused(text("g", "bob", "no")).Until, (*chat.Time)(nil))
		w.equal(w.muted("g", "bob", 0).MutedUntil, (*chat.Time)(nil))
		w.say("g", "bob", "back")
		w.muted("g", "bob", w.now()-1) // it ended by itself
		w.say("g", "bob", "again")
	},
	"who mutes whom": func(w *fixture) {
		w.group("g", []string{"ann", "ben", "bob"})
		for _, admin := range []string{"ann", "ben"} {
			_, _, err := w.SetRole(w.ctx, membership("g", admin, "alice", chat.Admin))
			w.ok(err)
		}
		until := w.now() + 3_600_000
		for _, c := range []struct {
			by, user string
			want     error
		}{
			{"bob", "ann", chat.ErrForbidden}, {"ann", "ben", chat.ErrForbidden}, {"ann", "alice", chat.ErrForbidden},
			{"alice", "alice", chat.ErrForbidden}, {"nobody", "bob", chat.ErrNotFound}, {"alice", "nobody", chat.ErrNotFound},
			{"ann", "bob", nil}, {"alice", "ann", nil},
		} {
			for _, ms := range []int64{until, 0} {
				_, err := w.mute("g", c.user, c.by, ms)
				if ms == 0 && c.user == "alice" && c.by != "bob" {
					w.ok(err) // nobody can be muted and not be let write again
					continue
				}
				w.equal(chat.CodeOf(err), chat.CodeOf(c.want))
			}
		}
		w.muted("g", "ann", until)
		_, err := w.mute("g", "ann", "ann", 0)
		w.fails(err, chat.ErrForbidden)
		_, err = w.mute("none", "ann", "alice", until)
		w.fails(err, chat.ErrNotFound)
	},
	"slow mode": func(w *fixture) {
		slow := func(g *chat.NewGroup) { g.SlowS = 600 }
		w.group("g", []string{"bob", "carl"}, slow)
		w.equal(w.info("g", "bob").SlowS, int64(600))
		keyed := text("g", "bob", "x")
		keyed.Key, keyed.Content = "k", "c"
		first := w.send(keyed)
		w.equal(w.send(keyed).ID, first.ID) // a retry is free
		for _, a := range []chat.Append{text("g", "bob", "y"), mentioning("g", "bob", "alice")} {
			e := w.refused(a)
			if e.Code != chat.CodeRateLimited || e.RetryAfter <= 599*time.Second-time.Minute || e.RetryAfter > 600*time.Second {
				w.Fatalf("a second message is answered with %v after %v", e, e.RetryAfter)
			}
		}
		w.send(reaction("bob", first.ID, ":a:", false))
		a, changes := revision(w, chat.Edit, "bob", first.ID)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		w.says("g", "alice", 3) // it spares managers

		bad := text("g", "carl", "y")
		bad.ReplyTo = 1 << 40
		w.equal(w.refused(bad).Code, chat.CodeOutOfRange)
		w.say("g", "carl", "a refused one does not count")
		w.equal(w.refused(text("g", "carl", "z")).Code, chat.CodeRateLimited)
		w.setGroup("g", chat.GroupChange{SlowS: new(int64(0))})
		w.equal(w.info("g", "bob").SlowS, int64(0))
		w.says("g", "bob", 2)
		w.setGroup("g", chat.GroupChange{SlowS: new(int64(600))})
		w.say("g", "bob", "what was sent before does not count")
		w.equal(w.refused(text("g", "bob", "z")).Code, chat.CodeRateLimited)
	},
	"nobody posts": func(w *fixture) {
		w.group("g", []string{"bob"})
		target := w.say("g", "alice", "x")
		none, all := chat.PostNone, chat.PostMembers
		w.setGroup("g", chat.GroupChange{Post: &none})
		for _, from := range []string{"alice", "bob"} {
			w.equal(w.refused(text("g", from, "y")).Code, chat.CodeForbidden)
		}
		a, changes := revision(w, chat.Edit, "alice", target)
		w.fails(second(w.Revise(w.ctx, a, changes, false)), chat.ErrForbidden)
		a, changes = revision(w, chat.Delete, "alice", target)
		w.ok(second(w.Revise(w.ctx, a, changes, false)))
		w.setGroup("g", chat.GroupChange{Post: &all})
		w.say("g", "bob", "y")
	},
	"what is scheduled": func(w *fixture) {
		w.group("g", []string{"bob"})
		p := w.toGroup("g")
		p.Owner = "bob"
		once := w.schedule(p, w.now())
		p.Cron = "* * * * *"
		again := w.schedule(p, w.now())
		w.muted("g", "bob", never.UnixMilli())
		last := w.info("g", "alice").Last
		for _, c := range []struct {
			r    schedule.Record
			want schedule.State
		}{{once, schedule.Failed}, {again, schedule.Pending}} {
			f := firingOf(c.r)
			f.NextMs = w.now() + 1000
			w.equal(w.fire(f), schedule.OutcomeRefused)
			got := w.scheduled(c.r.ID)
			w.equal([]any{got.State, got.LastError}, []any{c.want, "muted"})
		}
		w.equal(w.info("g", "alice").Last, last)
	},
	"a bound on mutes": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupMutedMax = 2 })
		w.group("g", []string{"bob", "carl", "dora"})
		soon := w.now() + 1
		w.muted("g", "bob", soon)
		for w.now() <= soon {
			w.say("g", "alice", "until that mute is over")
		}
		w.muted("g", "carl", never.UnixMilli())
		w.muted("g", "dora", never.UnixMilli())
		_, err := w.mute("g", "bob", "alice", never.UnixMilli())
		w.fails(err, &chat.Error{Code: chat.CodeQuotaFull})
		w.muted("g", "dora", w.now()+60_000) // a change needs no room
		w.muted("g", "dora", 0)
		w.muted("g", "bob", never.UnixMilli())
	},
	"banned": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, public)
		w.group("private", []string{"bob"})
		until := chat.TimeMs(w.now() + 3_600_000)
		ban, created, left := w.ban("g", "bob", rules.Ban{Reason: "spam spam", Until: &until})
		w.equal([]any{ban.User, ban.Reason, ban.Until.UnixMilli(), ban.By, created, left}, []any{"bob", "spam spam", until.UnixMilli(), "alice", true, true})
		w.equal(w.info("g", "bob").Role, chat.Role(""))
		last := w.info("g", "alice").Last
		_, created, left = w.ban("g", "bob", rules.Ban{Reason: "spam spam", Until: &until})
		w.equal([]any{created, left, w.info("g", "alice").Last}, []any{false, false, last})
		w.fails(second(w.Append(w.ctx, text("g", "bob", "no"))), chat.ErrForbidden)

		var e *chat.Error
		_, _, err := w.Join(w.ctx, membership("g", "bob", "bob", ""))
		if !errors.As(err, &e) || e.Code != chat.CodeBanned || e.Until.UnixMilli() != until.UnixMilli() {
			w.Fatalf("a banned user joins: %v", err)
		}
		_, _, err = w.Join(w.ctx, membership("g", "bob", "alice", chat.Ordinary))
		w.fails(err, chat.ErrConflict)
		added, err := w.AddMembers(w.ctx, bulk.Change{Group: "g", By: chat.Caller{User: "alice"}, Users: []string{"bob", "dora"}, Roles: []chat.Role{chat.Ordinary, chat.Ordinary}, AtMs: 1, Notice: usersNotice("g", chat.NoticeJoined)})
		w.ok(err)
		w.equal(added.Had, []chat.Role{bulk.Banned, ""})
		w.ban("private", "bob", rules.Ban{})
		_, _, err = w.Join(w.ctx, membership("private", "bob", "bob", ""))
		w.fails(err, chat.ErrNotFound)

		_, created, left = w.ban("g", "stranger", rules.Ban{}) // who was never there
		w.equal([]any{created, left}, []any{true, false})
		bans, next, err := w.Bans(w.ctx, chat.Caller{User: "alice"}, "g", "", 1)
		w.ok(err)
		w.equal([]any{len(bans), next}, []any{1, bans[0].User})
		more, next, err := w.Bans(w.ctx, chat.Caller{User: "alice"}, "g", next, 1)
		w.ok(err)
		w.equal([]any{len(more), next, bans[0].User != more[0].User}, []any{1, "", true})
		_, _, err = w.Bans(w.ctx, chat.Caller{User: "carl"}, "g", "", 1)
		w.fails(err, chat.ErrForbidden)
		w.fails(w.Unban(w.ctx, chat.Caller{User: "carl"}, "g", "bob"), chat.ErrForbidden)
		w.ok(w.Unban(w.ctx, chat.Caller{User: "alice"}, "g", "bob"))
		w.fails(w.Unban(w.ctx, chat.Caller{User: "alice"}, "g", "bob"), chat.ErrNotFound)
		w.join("g", "bob", "bob")

		past := chat.TimeMs(w.now() - 1)
		w.ban("g", "bob", rules.Ban{Until: &past}) // it ended by itself
		w.join("g", "bob", "bob")
	},
	"requests": func(w *fixture) {
		ask := func(user, note string) (rules.Request, bool) {
			w.Helper()
			r, created, err := w.Ask(w.ctx, "g", user, note, 1000)
			w.ok(err)
			return r, created
		}
		fails := func(group, user string, want chat.Code) {
			w.Helper()
			_, _, err := w.Ask(w.ctx, group, user, "", 1000)
			w.equal(chat.CodeOf(err), want)
		}
		answer := func(by, user string, accept bool) chat.Code {
			return chat.CodeOf(w.Answer(w.ctx, membership("g", user, by, ""), accept))
		}
		w.with(func(l *chat.Limits) { l.GroupRequestsMax = 3 })
		w.group("g", []string{"bob"}, public)
		w.group("private", []string{"bob"})
		fails("g", "dora", chat.CodeConflict) // everybody may join
		for _, join := range []chat.Joining{chat.JoinClosed, chat.JoinAsk} {
			w.setGroup("g", chat.GroupChange{Join: &join})
			w.equal(w.info("g", "alice").Join, join)
			_, _, err := w.Join(w.ctx, membership("g", "dora", "dora", ""))
			w.fails(err, chat.ErrForbidden)
			if join == chat.JoinClosed {
				fails("g", "dora", chat.CodeForbidden)
			}
		}
		fails("g", "bob", chat.CodeConflict)
		fails("private", "dora", chat.CodeNotFound)
		fails("nothing", "dora", chat.CodeNotFound)
		w.ban("g", "troll", rules.Ban{})
		fails("g", "troll", chat.CodeBanned)

		r, created := ask("dora", "let me in")
		w.equal([]any{r, created}, []any{rules.Request{User: "dora", Note: "let me in", At: chat.TimeMs(1000)}, true})
		r, created = ask("dora", "please")
		w.equal([]any{r.Note, created}, []any{"please", false})
		ask("emil", "")
		ask("fred", "")
		fails("g", "gina", chat.CodeQuotaFull)
		list, next, err := w.Requests(w.ctx, chat.Caller{User: "alice"}, "g", "", 2)
		w.ok(err)
		w.equal([]any{list[0].User, list[1].User, next}, []any{"dora", "emil", "emil"})
		list, next, err = w.Requests(w.ctx, chat.Caller{User: "alice"}, "g", next, 2)
		w.ok(err)
		w.equal([]any{len(list), list[0].User, next}, []any{1, "fred", ""})
		_, _, err = w.Requests(w.ctx, chat.Caller{User: "bob"}, "g", "", 2)
		w.fails(err, chat.ErrForbidden)

		w.equal(answer("bob", "dora", true), chat.CodeForbidden)
		w.equal(answer("alice", "dora", true), chat.Code(""))
		w.equal(w.info("g", "dora").Role, chat.Ordinary)
		w.equal(answer("alice", "dora", true), chat.CodeNotFound)
		w.equal(answer("alice", "emil", false), chat.Code(""))
		w.equal(answer("alice", "emil", false), chat.CodeNotFound)
		w.equal(w.info("g", "emil").Role, chat.Role(""))
		w.ban("g", "fred", rules.Ban{}) // drops it
		w.equal(answer("alice", "fred", true), chat.CodeNotFound)
		ask("gina", "")
		w.ok(w.Unask(w.ctx, "g", "gina"))
		w.fails(w.Unask(w.ctx, "g", "gina"), chat.ErrNotFound)
		ask("gina", "")
		_, _, err = w.Join(w.ctx, membership("g", "gina", "alice", chat.Ordinary)) // added meanwhile
		w.ok(err)
		w.equal(answer("alice", "gina", true), chat.CodeNotFound)
	},
	"who bans whom": func(w *fixture) {
		w.group("g", []string{"ann", "ben", "bob"})
		for _, admin := range []string{"ann", "ben"} {
			_, _, err := w.SetRole(w.ctx, membership("g", admin, "alice", chat.Admin))
			w.ok(err)
		}
		for _, c := range []struct {
			by, user string
			want     chat.Code
		}{
			{"bob", "carl", chat.CodeForbidden}, {"nobody", "bob", chat.CodeNotFound}, {"ann", "ben", chat.CodeForbidden},
			{"ann", "alice", chat.CodeForbidden}, {"alice", "alice", chat.CodeForbidden}, {"ann", "bob", ""}, {"alice", "ann", ""},
		} {
			_, _, _, err := w.Ban(w.ctx, membership("g", c.user, c.by, ""), rules.Ban{}, 0, noticeEntry("g", c.by, chat.NoticeBanned, c.user))
			w.equal(chat.CodeOf(err), c.want)
		}
	},
	// Whatever a user does at the same time, they are out after the answer, and nothing of theirs comes.
	"races of bans": func(w *fixture) {
		const rounds = 100
		w.group("g", []string{"bob"}, public)
		theirs, target := w.say("g", "bob", "x"), w.say("g", "alice", "x")
		code := w.invites("g", "many", 1_000_000)
		p := w.toGroup("g")
		p.Owner, p.Cron = "bob", "* * * * *"
		r := w.schedule(p, w.now()+3_600_000)
		var over atomic.Bool
		var runs atomic.Int64
		tries := []func() error{
			func() error { _, _, err := w.Join(w.ctx, membership("g", "bob", "bob", "")); return err },
			func() error { return w.accepts("bob", code) },
			func() error { return second(w.Append(w.ctx, mentioning("g", "bob", "alice"))) },
			func() error { return second(w.Append(w.ctx, reaction("bob", target, ":a:", runs.Add(1)%2 == 0))) },
			func() error {
				a, changes := revision(w, chat.Edit, "bob", theirs)
				return second(w.Revise(w.ctx, a, changes, false))
			},
			func() error {
				f := firingOf(r)
				f.Run = fmt.Sprint("r", runs.Add(1))
				return second(w.Fire(w.ctx, f))
			},
		}
		done := make([]atomic.Int64, len(tries))
		var running sync.WaitGroup
		for i, try := range tries {
			running.Go(func() {
				for !over.Load() {
					switch err := try(); chat.CodeOf(err) {
					case "":
						done[i].Add(1)
					case chat.CodeBanned, chat.CodeForbidden, chat.CodeConflict, chat.CodeNotFound:
					default:
						w.Errorf("number %d got %v", i, err)
						return
					}
				}
			})
		}
		for range rounds {
			w.ban("g", "bob", rules.Ban{})
			last := w.info("g", "alice").Last
			_, err := w.Append(w.ctx, text("g", "bob", "no"))
			w.fails(err, chat.ErrForbidden)
			w.equal([]any{w.info("g", "bob").Role, w.info("g", "alice").Last}, []any{chat.Role(""), last})
			w.ok(w.Unban(w.ctx, chat.Caller{User: "alice"}, "g", "bob"))
		}
		over.Store(true)
		running.Wait()
		for i := range done {
			if done[i].Load() == 0 {
				w.Errorf("what bob does as number %d never went through", i)
			}
		}
	},
	// Whatever a member does at the same time, nothing of theirs comes after the answer.
	"races of mutes": func(w *fixture) {
		const rounds = 100
		w.group("g", []string{"bob"})
		target := w.say("g", "alice", "x")
		theirs := w.say("g", "bob", "x")
		p := w.toGroup("g")
		p.Owner, p.Cron = "bob", "* * * * *"
		r := w.schedule(p, w.now()+3_600_000)
		var over atomic.Bool
		var runs atomic.Int64
		tries := []func() error{
			func() error { return second(w.Append(w.ctx, text("g", "bob", "x"))) },
			func() error { return second(w.Append(w.ctx, mentioning("g", "bob", "alice"))) },
			func() error { return second(w.Append(w.ctx, reaction("bob", target, ":a:", runs.Add(1)%2 == 0))) },
			func() error {
				a, changes := revision(w, chat.Edit, "bob", theirs)
				return second(w.Revise(w.ctx, a, changes, false))
			},
			func() error {
				f := firingOf(r)
				f.Run = fmt.Sprint("r", runs.Add(1))
				return second(w.Fire(w.ctx, f))
			},
		}
		done := make([]atomic.Int64, len(tries))
		var running sync.WaitGroup
		for i, try := range tries {
			running.Go(func() {
				for !over.Load() {
					switch err := try(); chat.CodeOf(err) {
					case "":
						done[i].Add(1)
					case chat.CodeMuted, chat.CodeConflict, chat.CodeNotFound:
					default:
						w.Errorf("got %v", err)
						return
					}
				}
			})
		}
		for range rounds {
			w.muted("g", "bob", never.UnixMilli())
			w.equal(w.refused(text("g", "bob", "no")).Code, chat.CodeMuted)
			w.muted("g", "bob", 0)
		}
		over.Store(true)
		running.Wait()
		muted := false
		for _, m := range w.entries("g") {
			switch e := decode(w, m); {
			case e.Notice == chat.NoticeMuted:
				muted = !muted
			case muted && e.From == "bob":
				w.Fatalf("%s was stored while its author was muted", m.JSON)
			}
		}
		for i := range done {
			if done[i].Load() == 0 {
				w.Errorf("what bob does as number %d never went through", i)
			}
		}
	},
	"races in slow mode": func(w *fixture) {
		const members, each = 100, 4
		var names []string
		for i := range members {
			names = append(names, fmt.Sprintf("m%d", i))
		}
		w.group("g", names, func(g *chat.NewGroup) { g.SlowS = 21_600 })
		before := w.info("g", "alice").Last
		w.together(members*each, func(i int) error {
			_, err := w.Append(w.ctx, text("g", names[i/each], "x"))
			if chat.CodeOf(err) == chat.CodeRateLimited {
				return nil
			}
			return err
		})
		w.equal(w.info("g", "alice").Last, before+members) // one each
	},
}
