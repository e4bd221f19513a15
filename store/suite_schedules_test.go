package store_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// core is a client of the queue in which schedules have their tasks.
func core(s *store.Store) (*queue.Client, error) {
	return queue.NewClient(queue.Options{Client: s.Client(), Prefix: s.Prefix(), Partitions: s.Partitions(), Queue: chat.QueueCore})
}

func (w *fixture) core() *queue.Client {
	w.Helper()
	c, err := core(w.Store)
	w.ok(err)
	return c
}

// waiting are the tasks of a kind that wait, by id; each with its due time in ms where it is delayed, else 0.
func waiting(ctx context.Context, s *store.Store, kind string) (map[string]int64, error) {
	client, err := core(s)
	if err != nil {
		return nil, err
	}
	found := map[string]int64{}
	for _, state := range []queue.State{queue.Delayed, queue.Ready} {
		for cursor, more := "", true; more; more = cursor != "" {
			var infos []queue.Info
			infos, cursor, err = client.List(ctx, queue.ListQuery{State: state, Cursor: cursor, Limit: 100})
			if err != nil {
				return nil, err
			}
			for _, i := range infos {
				if i.Kind != kind {
					continue
				}
				if found[i.ID] = 0; state == queue.Delayed {
					found[i.ID] = i.Due.UnixMilli()
				}
			}
		}
	}
	return found, nil
}

func (w *fixture) waiting(kind string) map[string]int64 {
	w.Helper()
	found, err := waiting(w.ctx, w.Store, kind)
	w.ok(err)
	return found
}

func (w *fixture) now() int64 {
	w.Helper()
	ms, err := w.Clock(w.ctx)
	w.ok(err)
	return ms
}

// toGroup is the plan of a text of alice's to a group; toUser one to bob.
func (w *fixture) toGroup(group string) schedule.Plan {
	body := "later"
	return schedule.Plan{Owner: "alice", Group: group, Epoch: w.info(group, "alice").Epoch, Content: chat.Content{Kind: chat.Text, Body: &body}, AtMs: 1, Misfire: schedule.MisfireSend}
}

func toUser() schedule.Plan {
	body := "later"
	return schedule.Plan{Owner: "alice", User: "bob", Content: chat.Content{Kind: chat.Text, Body: &body}, AtMs: 1, Misfire: schedule.MisfireSend}
}

func (w *fixture) schedule(p schedule.Plan, nextMs int64) schedule.Record {
	w.Helper()
	r, duplicate, err := w.CreateSchedule(w.ctx, schedule.NewSchedule{Plan: p, NextMs: nextMs, Content: "c"})
	w.ok(err)
	w.equal(duplicate, false)
	return r
}

func (w *fixture) scheduled(id string) schedule.Record {
	w.Helper()
	r, _, err := w.Schedule(w.ctx, id)
	w.ok(err)
	return r
}

// firingOf is the firing of the next occurrence of r.
func firingOf(r schedule.Record) schedule.Firing {
	p := r.Plan
	f := schedule.Firing{ID: r.ID, Version: r.Version, Recurs: p.Cron != "", Epoch: p.Epoch,
		Failed: schedule.FailedTask{Schedule: r.ID, Version: r.Version, Owner: p.Owner, Group: p.Group, User: p.User, AtMs: r.NextMs}}
	if p.Group != "" {
		a := text(p.Group, p.Owner, *p.Body)
		f.Append = &a
	} else {
		i := item(p.User, p.Owner, *p.Body)
		f.Item = &i
	}
	return f
}

func (w *fixture) fire(f schedule.Firing) schedule.Outcome {
	w.Helper()
	done, err := w.Fire(w.ctx, f)
	w.ok(err)
	return done.Outcome
}

var scheduleTests = map[string]func(*fixture){
	"create and read": func(w *fixture) {
		w.group("g", nil)
		before, due := w.now(), w.now()+3_600_000
		r := w.schedule(w.toGroup("g"), due)
		w.equal([]any{r.State, r.Version, r.NextMs, r.Sent, r.Plan}, []any{schedule.Pending, int64(1), due, int64(0), w.toGroup("g")})
		if r.CreatedMs < before || !strings.HasPrefix(r.ID, "p0") {
			w.Fatalf("got %q made at %d, want an id with its partition, made after %d", r.ID, r.CreatedMs, before)
		}
		got, now, err := w.Schedule(w.ctx, r.ID)
		w.ok(err)
		w.equal(got, r)
		if now < before {
			w.Fatalf("got %d for now, want at least %d", now, before)
		}
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{r.ID + ".1": due})
		for _, id := range []string{"p00-none", "p99-x", "nothing", "p00-"} {
			_, _, err = w.Schedule(w.ctx, id)
			w.fails(err, chat.ErrNotFound)
		}
	},
	"a key makes one": func(w *fixture) {
		due := w.now() + 3_600_000
		n := schedule.NewSchedule{Plan: toUser(), NextMs: due, Key: "k", Content: "c"}
		first, duplicate, err := w.CreateSchedule(w.ctx, n)
		w.ok(err)
		w.equal(duplicate, false)
		n.NextMs++
		again, duplicate, err := w.CreateSchedule(w.ctx, n)
		w.ok(err)
		w.equal([]any{duplicate, again}, []any{true, first})
		n.Content = "other"
		_, _, err = w.CreateSchedule(w.ctx, n)
		w.fails(err, chat.ErrKeyReused)
		n.Plan.Owner = "carl"
		other, duplicate, err := w.CreateSchedule(w.ctx, n)
		w.ok(err)
		w.equal([]any{duplicate, other.ID == first.ID}, []any{false, false})
		w.equal(len(w.waiting(schedule.TaskFire)), 2)
	},
	"change leaves one task": func(w *fixture) {
		w.group("g", nil)
		now := w.now()
		r := w.schedule(w.toGroup("g"), now+3_600_000)
		stale := r
		body := "other"
		r.Plan.Body, r.NextMs = &body, now+7_200_000
		r, err := w.ChangeSchedule(w.ctx, r, false)
		w.ok(err)
		w.equal([]any{r.Version, *r.Plan.Body}, []any{int64(2), "other"})
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{r.ID + ".2": now + 7_200_000})
		_, err = w.ChangeSchedule(w.ctx, stale, false)
		w.fails(err, chat.ErrConflict)
		r.State = schedule.Paused
		r, err = w.ChangeSchedule(w.ctx, r, false)
		w.ok(err)
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{})
		w.equal(w.fire(firingOf(r)), schedule.OutcomeStale)
		r.State = schedule.Pending
		r, err = w.ChangeSchedule(w.ctx, r, false)
		w.ok(err)
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{r.ID + ".4": now + 7_200_000})
		r.ID = "p00-none"
		_, err = w.ChangeSchedule(w.ctx, r, false)
		w.fails(err, chat.ErrNotFound)
	},
	"cancel": func(w *fixture) {
		r := w.schedule(toUser(), w.now())
		w.ok(w.CancelSchedule(w.ctx, r.ID))
		w.ok(w.CancelSchedule(w.ctx, r.ID))
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{})
		w.equal(len(w.waiting(schedule.TaskForget)), 1)
		w.equal(w.scheduled(r.ID).State, schedule.Cancelled)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeStale) // a task that was claimed before
		w.equal(w.inbox("bob", chat.Position{}, 10).Last, int64(0))
		_, err := w.ChangeSchedule(w.ctx, w.scheduled(r.ID), false)
		w.fails(err, chat.ErrConflict)
		w.fails(w.CancelSchedule(w.ctx, "p00-none"), chat.ErrNotFound)
		done := w.schedule(toUser(), w.now())
		w.equal(w.fire(firingOf(done)), schedule.OutcomeSent)
		w.fails(w.CancelSchedule(w.ctx, done.ID), chat.ErrConflict)
	},
	"fire once, to a group": func(w *fixture) {
		w.group("g", []string{"bob"})
		r := w.schedule(w.toGroup("g"), w.now())
		f := firingOf(r)
		f.Append.Mentions = []string{"bob"}
		w.equal(w.fire(f), schedule.OutcomeSent)
		w.equal(w.fire(f), schedule.OutcomeStale)
		got := w.scheduled(r.ID)
		w.equal([]any{got.State, got.Sent, got.LastID, got.LastError}, []any{schedule.Done, int64(1), int64(3), ""})
		w.equal(decode(w, w.entry("g", 3)).From, "alice")
		w.equal(w.info("g", "alice").Last, int64(3))
		w.equal(w.info("g", "bob").MentionsUnread, int64(1))
		w.equal(len(w.waiting(chat.TaskMention)), 1)
		w.equal(len(w.waiting(schedule.TaskForget)), 1)
	},
	"fire once, to a user": func(w *fixture) {
		r := w.schedule(toUser(), w.now())
		w.equal(w.fire(firingOf(r)), schedule.OutcomeSent)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeStale)
		w.equal(len(w.inbox("bob", chat.Position{}, 10).Items), 1)
		w.equal(w.scheduled(r.ID).LastID, int64(1))
	},
	"never early": testNeverEarly,
	"fire again and again": func(w *fixture) {
		w.group("g", nil)
		p := w.toGroup("g")
		p.Cron = "* * * * *"
		now := w.now()
		r := w.schedule(p, now-200_000)
		for i := range int64(3) {
			f := firingOf(r)
			f.NextMs, f.Missed = now-100_000+i, i
			w.equal(w.fire(f), schedule.OutcomeSent)
			w.equal(w.fire(f), schedule.OutcomeStale)
			r = w.scheduled(r.ID)
			w.equal([]int64{r.Version, r.NextMs, r.Fired, r.Sent, r.LastID}, []int64{i + 2, now - 100_000 + i, i + 1, i + 1, i + 2})
		}
		w.equal(r.Missed, int64(3))
		w.equal(w.fire(firingOf(r)), schedule.OutcomeSent) // no other comes after it
		r = w.scheduled(r.ID)
		w.equal([]any{r.State, r.Sent}, []any{schedule.Done, int64(4)})
	},
	"send now": func(w *fixture) {
		w.group("g", nil)
		due := w.now() + 3_600_000
		once := w.schedule(w.toGroup("g"), due)
		f := firingOf(once)
		f.Run = "r1"
		w.equal(w.fire(f), schedule.OutcomeSent)
		w.equal(w.fire(f), schedule.OutcomeSent) // the same request again
		w.equal([]any{w.scheduled(once.ID).State, w.info("g", "alice").Last}, []any{schedule.Done, int64(2)})
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{})
		f.Run = "r2"
		_, err := w.Fire(w.ctx, f)
		w.fails(err, chat.ErrConflict)

		p := w.toGroup("g")
		p.Cron = "* * * * *"
		r := w.schedule(p, due)
		f = firingOf(r)
		for _, f.Run = range []string{"r1", "r1", "r2", "r1", "r2"} { // two requests, each repeated, also after the other
			w.equal(w.fire(f), schedule.OutcomeSent)
		}
		got := w.scheduled(r.ID)
		w.equal([]any{got.State, got.Version, got.NextMs, got.Sent, got.Fired, got.LastID},
			[]any{schedule.Pending, r.Version, due, int64(2), int64(0), int64(4)})
		w.equal(w.waiting(schedule.TaskFire), map[string]int64{r.ID + ".1": due})
	},
	"rights are those of the moment": func(w *fixture) {
		w.group("g", []string{"bob"})
		p := w.toGroup("g")
		p.Owner = "bob"
		once := w.schedule(p, w.now())
		p.Cron = "* * * * *"
		again := w.schedule(p, w.now())
		now := firingOf(again)
		now.Run = "r"
		w.leave("g", "bob")
		last := w.info("g", "alice").Last
		_, err := w.Fire(w.ctx, now)
		w.fails(err, chat.ErrNotFound)
		w.equal(w.scheduled(again.ID), again)
		for _, r := range []schedule.Record{once, again} {
			f := firingOf(r)
			f.NextMs = w.now() + 1000
			w.equal(w.fire(f), schedule.OutcomeRefused)
			w.equal(w.fire(f), schedule.OutcomeStale)
			got := w.scheduled(r.ID)
			w.equal([]any{got.State, got.LastError, got.Sent}, []any{schedule.Failed, "not_found", int64(0)})
		}
		w.equal(w.info("g", "alice").Last, last)
		w.equal(len(w.waiting(schedule.TaskFailed)), 2)
		for id := range w.waiting(schedule.TaskFailed) {
			info, err := w.core().Get(w.ctx, id)
			w.ok(err)
			want := fmt.Sprintf(`,"owner":"bob","group":"g","at_ms":%d,"code":"not_found"}`, once.NextMs)
			if !strings.HasSuffix(string(info.Payload), want) && !strings.Contains(string(info.Payload), again.ID) {
				w.Fatalf("got %s, want an end of %s", info.Payload, want)
			}
		}
	},
	"a later group of the same id is another": func(w *fixture) {
		w.group("g", nil)
		r := w.schedule(w.toGroup("g"), w.now())
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		for {
			gone, err := w.Gone(w.ctx, "g")
			w.ok(err)
			if len(gone) == 0 {
				break
			}
			_, err = w.Groups.Cleanup(w.ctx, "g", gone)
			w.ok(err)
		}
		w.group("g", nil)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeRefused)
		w.equal([]any{w.scheduled(r.ID).LastError, w.info("g", "alice").Last}, []any{"not_found", int64(1)})
	},
	"what passes": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 1 })
		p := toUser()
		p.Cron = "* * * * *"
		r := w.schedule(p, w.now())
		w.put(item("bob", "carl", "x"))
		for i, want := range []int{1, 1} { // the owner is told of a reason once
			f := firingOf(r)
			f.NextMs = w.now() - 1
			w.equal(w.fire(f), schedule.OutcomeRefused)
			r = w.scheduled(r.ID)
			w.equal([]any{r.State, r.LastError, r.Fired, r.Sent}, []any{schedule.Pending, "inbox_full", int64(i + 1), int64(0)})
			w.equal(len(w.waiting(schedule.TaskFailed)), want)
		}
		f := firingOf(r)
		f.NextMs, f.Missed, f.Refused = w.now()-1, 3, schedule.CodeMissed
		w.equal(w.fire(f), schedule.OutcomeRefused)
		r = w.scheduled(r.ID)
		w.equal([]any{r.State, r.LastError, r.Fired, r.Missed}, []any{schedule.Pending, "missed", int64(2), int64(3)})
		w.equal(len(w.waiting(schedule.TaskFailed)), 1)
		w.ackInbox("bob", 1)
		w.equal(w.fire(firingOf(r)), schedule.OutcomeSent)
		r = w.scheduled(r.ID)
		w.equal([]any{r.State, r.LastError, r.Sent}, []any{schedule.Done, "", int64(1)})
	},
	"a key that was sent before": func(w *fixture) {
		w.group("g", nil)
		sent := text("g", "alice", "x")
		sent.Key, sent.Content = "k", "c"
		id := w.send(sent).ID
		for _, test := range []struct {
			content string
			want    schedule.Outcome
		}{{"c", schedule.OutcomeSent}, {"other", schedule.OutcomeRefused}} {
			r := w.schedule(w.toGroup("g"), w.now())
			f := firingOf(r)
			f.Append.Key, f.Append.Content = "k", test.content
			w.equal(w.fire(f), test.want)
			w.equal(w.info("g", "alice").Last, id)
			if got := w.scheduled(r.ID); test.want == schedule.OutcomeSent {
				w.equal(got.LastID, id)
			} else {
				w.equal([]any{got.State, got.LastError}, []any{schedule.Failed, "key_reused"})
			}
		}
	},
	"list": func(w *fixture) {
		list := func(limit int) (ids []string) {
			for cursor := ""; ; {
				page, next, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, cursor, limit, 1<<20)
				w.ok(err)
				if len(page) > limit || len(page) < limit && next != "" {
					w.Fatalf("got a page of %d and a cursor %q, limit %d", len(page), next, limit)
				}
				for _, r := range page {
					ids = append(ids, r.ID)
				}
				if cursor = next; next == "" {
					return ids
				}
			}
		}
		w.equal(len(list(10)), 0)
		w.with(func(l *chat.Limits) { l.UserFiringsMax = 0 })
		made := map[string]bool{}
		for range 120 {
			made[w.schedule(toUser(), w.now()+3_600_000).ID] = true
		}
		for _, limit := range []int{1, 7, 50, 120, 121} {
			got := list(limit)
			w.equal(len(got), 120)
			for _, id := range got {
				w.equal(made[id], true)
			}
		}
		page, next, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice", Reach: only{"g"}}, "", 1, 1<<20)
		w.ok(err)
		w.equal([]any{len(page), next}, []any{0, ""})
		page, next, err = w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, "", 100, 20)
		w.ok(err)
		w.equal([]any{len(page), next != ""}, []any{5, true}) // the fifth body makes it more than 20 bytes
		for _, cursor := range []string{"x", "1", "1.", "x.p00-a", "1.p{0}", "1.a:b"} {
			_, _, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, cursor, 10, 1<<20)
			w.fails(err, &chat.Error{Code: chat.CodeInvalid})
		}
	},
	"forget": func(w *fixture) {
		r := w.schedule(toUser(), w.now())
		w.ok(w.ForgetSchedule(w.ctx, r.ID))
		w.equal(w.scheduled(r.ID), r) // it has not ended
		w.ok(w.CancelSchedule(w.ctx, r.ID))
		w.ok(w.ForgetSchedule(w.ctx, r.ID))
		w.ok(w.ForgetSchedule(w.ctx, r.ID))
		_, _, err := w.Schedule(w.ctx, r.ID)
		w.fails(err, chat.ErrNotFound)
		page, _, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, "", 10, 1<<20)
		w.ok(err)
		w.equal(len(page), 0)
	},
	"a full index": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserSchedulesMax = 3 })
		var all []schedule.Record
		for range 3 {
			all = append(all, w.schedule(toUser(), w.now()+3_600_000))
		}
		n := schedule.NewSchedule{Plan: toUser(), NextMs: w.now(), Content: "c"}
		_, _, err := w.CreateSchedule(w.ctx, n)
		w.fails(err, chat.ErrOutOfRange)
		w.ok(w.CancelSchedule(w.ctx, all[1].ID))
		r := w.schedule(toUser(), w.now()+3_600_000) // the ended one gives way
		page, _, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, "", 10, 1<<20)
		w.ok(err)
		listed := map[string]bool{} // those of one millisecond stand by their ids
		for _, p := range page {
			listed[p.ID] = true
		}
		w.equal(listed, map[string]bool{all[0].ID: true, all[2].ID: true, r.ID: true})
		_, _, err = w.CreateSchedule(w.ctx, n)
		w.fails(err, chat.ErrOutOfRange)
		w.equal(len(w.waiting(schedule.TaskFire)), 3)
	},
	"a full minute":        testFullMinute,
	"a minute that is now": testMinuteThatIsNow,
	"an entry without a schedule": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserSchedulesMax = 3 })
		index := fmt.Sprintf("%s:{p%02d}:u:alice:schedules", w.Prefix(), queue.Partition("alice", w.Partitions()))
		entry := func(id string, madeMs int64) {
			w.Helper()
			w.ok(w.Client().Eval(w.ctx, `return redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])`, []string{index}, id, madeMs).Err())
		}
		n := schedule.NewSchedule{Plan: toUser(), NextMs: w.now() + 3_600_000, Content: "c"}
		entry("p00-young", w.now()) // it may be just being made
		entry("p00-old", w.now()-120_000)
		entry("p99-old", w.now()-120_000)
		w.schedule(n.Plan, n.NextMs)
		w.schedule(n.Plan, n.NextMs)
		_, _, err := w.CreateSchedule(w.ctx, n)
		w.fails(err, chat.ErrOutOfRange)
		entry("p00-young", w.now()-120_000)
		page, next, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, "", 10, 1<<20)
		w.ok(err)
		w.equal([]any{len(page), next}, []any{2, ""})
		w.schedule(n.Plan, n.NextMs)
	},
	"cancel and fire at once": func(w *fixture) {
		for range 30 {
			r := w.schedule(toUser(), w.now())
			before := w.inbox("bob", chat.Position{}, 1).Last
			var outcome schedule.Outcome
			var cancelled error
			w.together(2, func(i int) error {
				if i == 0 {
					cancelled = w.CancelSchedule(w.ctx, r.ID)
					return nil
				}
				done, err := w.Fire(w.ctx, firingOf(r))
				outcome = done.Outcome
				return err
			})
			sent := w.inbox("bob", chat.Position{}, 1).Last - before
			got := []any{outcome, sent, w.scheduled(r.ID).State}
			if cancelled == nil {
				w.equal(got, []any{schedule.OutcomeStale, int64(0), schedule.Cancelled})
				continue
			}
			w.fails(cancelled, chat.ErrConflict)
			w.equal(got, []any{schedule.OutcomeSent, int64(1), schedule.Done})
		}
	},
	"one that cannot be read": func(w *fixture) {
		r := w.schedule(toUser(), w.now())
		good := w.schedule(toUser(), w.now())
		key := fmt.Sprintf("%s:{%s}:s:%s", w.Prefix(), r.ID[:3], r.ID)
		w.ok(w.Client().Eval(w.ctx, `redis.call('HSET', KEYS[1], 'plan', '{') return 1`, []string{key}).Err())
		_, _, err := w.Schedule(w.ctx, r.ID)
		w.fails(err, &chat.Error{Code: chat.CodeInvalid})
		page, _, err := w.SchedulesOf(w.ctx, chat.Caller{User: "alice"}, "", 10, 1<<20)
		w.ok(err)
		w.equal([]any{len(page), page[0].ID}, []any{1, good.ID})
		named, err := w.SchedulesNamed(w.ctx, []string{r.ID, "p00-absent", "p99-absent", "", good.ID})
		w.ok(err)
		w.equal(named, []schedule.Record{good})
	},
	"by name": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserFiringsMax = 0 })
		var ids []string
		for range 60 {
			ids = append([]string{w.schedule(toUser(), w.now()+3_600_000).ID}, ids...)
		}
		named, err := w.SchedulesNamed(w.ctx, ids)
		w.ok(err)
		for i, r := range named {
			w.equal(r.ID, ids[i])
		}
		w.equal(len(named), len(ids))
	},
}
