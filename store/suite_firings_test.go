package store_test

import (
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

// testFullMinute: a bounded number of a user's schedules fires within any 60 seconds.
func testFullMinute(w *fixture) {
	w.with(func(l *chat.Limits) { l.UserFiringsMax, l.UserSchedulesMax = 3, 20 })
	base := w.now() + 3_600_000
	plan := func(ms int64) (schedule.Record, error) {
		r, _, err := w.CreateSchedule(w.ctx, schedule.NewSchedule{Plan: toUser(), NextMs: ms, Content: "c"})
		return r, err
	}
	fits := func(ms int64) schedule.Record {
		w.Helper()
		r, err := plan(ms)
		w.ok(err)
		return r
	}
	full := func(ms int64) {
		w.Helper()
		before := w.waiting(schedule.TaskFire)
		_, err := plan(ms)
		w.fails(err, chat.ErrOutOfRange)
		w.equal(w.waiting(schedule.TaskFire), before)
	}
	fits(base)
	mid := fits(base + 30_000)
	fits(base + 30_000)
	for _, ms := range []int64{base - 29_999, base - 1, base, base + 30_000, base + 59_999} {
		full(ms)
	}
	early, late := fits(base-30_000), fits(base+60_000) // any 60 seconds: not those of the calendar
	full(base + 89_999)
	far := fits(base + 90_000)

	// A change is bounded as a creation is, by all but the schedule itself; a refusal changes nothing.
	move := func(r schedule.Record, ms int64, bounded bool) (schedule.Record, error) {
		r.NextMs = ms
		return w.ChangeSchedule(w.ctx, r, bounded)
	}
	_, err := move(far, base, true)
	w.fails(err, chat.ErrOutOfRange)
	w.equal(w.scheduled(far.ID), far)
	mid, err = move(mid, base+29_000, true)
	w.ok(err)
	free, err := move(far, base, false)
	w.ok(err)
	free, err = move(free, base+90_000, true)
	w.ok(err)

	// What does not fire leaves room.
	mid.State = schedule.Paused
	mid, err = w.ChangeSchedule(w.ctx, mid, true)
	w.ok(err)
	other := fits(base)
	mid.State = schedule.Pending
	_, err = w.ChangeSchedule(w.ctx, mid, true)
	w.fails(err, chat.ErrOutOfRange)
	w.ok(w.CancelSchedule(w.ctx, other.ID))
	_, err = w.ChangeSchedule(w.ctx, mid, true)
	w.ok(err)
	full(base)

	// Of what operators made, and of others, nothing counts.
	operator := toUser()
	operator.Operator = true
	for range 4 {
		w.schedule(operator, base)
	}
	another := toUser()
	another.Owner = "carl"
	for range 3 {
		w.schedule(another, base)
	}
	for _, r := range []schedule.Record{early, late, free} {
		w.ok(w.CancelSchedule(w.ctx, r.ID))
	}
}

// testMinuteThatIsNow: what has fired, what is late, and what recurs.
func testMinuteThatIsNow(w *fixture) {
	w.with(func(l *chat.Limits) { l.UserFiringsMax = 2 })
	plan := func(p schedule.Plan, ms int64) (schedule.Record, error) {
		r, _, err := w.CreateSchedule(w.ctx, schedule.NewSchedule{Plan: p, NextMs: ms, Content: "c"})
		return r, err
	}
	now := w.now()
	late, err := plan(toUser(), now-3_600_000) // fires at once, and counts so
	w.ok(err)
	r, err := plan(toUser(), now)
	w.ok(err)
	w.equal(w.fire(firingOf(r)), schedule.OutcomeSent)
	w.equal(w.fire(firingOf(late)), schedule.OutcomeSent)
	_, err = plan(toUser(), now) // also what has just fired
	w.fails(err, chat.ErrOutOfRange)

	// What recurs counts with its next firing.
	key := w.tag("alice") + "u:alice:firings"
	w.poke("DEL", key)
	recurs := toUser()
	recurs.Cron = "* * * * *"
	for range 2 {
		r, err := plan(recurs, now)
		w.ok(err)
		f := firingOf(r)
		f.NextMs = now + 600_000
		w.equal(w.fire(f), schedule.OutcomeSent)
	}
	_, err = plan(toUser(), now+600_000)
	w.fails(err, chat.ErrOutOfRange)
	_, err = plan(toUser(), now)
	w.ok(err)

	// What fired more than a minute ago is forgotten.
	for i := range 600 {
		w.poke("ZADD", key, now-120_000, fmt.Sprint("p00-", i))
	}
	for range 2 {
		_, err = plan(toUser(), now+3_600_000)
		w.ok(err)
	}
	w.equal(w.sizes(key), []int64{5})
}
