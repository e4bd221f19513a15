package store_test

import (
	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

// testNeverEarly fires schedules again and again until they go out, which is at their very millisecond at the earliest.
func testNeverEarly(w *fixture) {
	for sent := int64(0); sent < 5; {
		seen := false
		for ahead := int64(20); !seen; ahead *= 2 { // further ahead where the machine is so busy that the moment has passed
			seen = w.fireUntilSent(w.schedule(toUser(), w.now()+ahead))
			sent++
			w.equal(w.inbox("bob", chat.Position{}, 10).Last, sent)
		}
	}
}

// fireUntilSent tells whether it was early before.
func (w *fixture) fireUntilSent(r schedule.Record) (early bool) {
	w.Helper()
	for f := firingOf(r); ; early = true {
		before := w.now()
		done, err := w.Fire(w.ctx, f)
		w.ok(err)
		after := w.now()
		if done.Outcome == schedule.OutcomeSent {
			break
		}
		w.equal(done.Outcome, schedule.OutcomeEarly)
		if wait := done.Wait.Milliseconds(); wait < 1 || wait < r.NextMs-after || wait > r.NextMs-before {
			w.Fatalf("got %d ms to wait, want between %d and %d", wait, r.NextMs-after, r.NextMs-before)
		}
		if !early {
			w.equal(w.scheduled(r.ID), r)
		}
	}
	if sent := w.scheduled(r.ID).LastMs; sent < r.NextMs {
		w.Fatalf("sent %d ms early", r.NextMs-sent)
	}
	return early
}
