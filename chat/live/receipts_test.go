package live_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

type receiptsAnswer struct {
	chat.Receipts
	err error
}

// await asks for receipts and returns when the call has looked a number of times: after the second one it waits, and without
// safety checks only a signal makes it look again.
func (l *node) await(t *testing.T, user string, looks int64, q chat.ReceiptsQuery, wait time.Duration) <-chan receiptsAnswer {
	t.Helper()
	before := l.redis.Calls()["zcount"] // two for each look
	answers := l.ask(t.Context(), user, q, wait)
	for begun := time.Now(); l.redis.Calls()["zcount"] < before+2*looks; {
		if time.Since(begun) > patience {
			t.Fatal("nobody waits")
		}
	}
	return answers
}

// ask asks for receipts in the background.
func (l *node) ask(ctx context.Context, user string, q chat.ReceiptsQuery, wait time.Duration) <-chan receiptsAnswer {
	answers := make(chan receiptsAnswer, 1)
	go func() {
		r, _, err := l.Receipts(ctx, chat.Caller{User: user}, "g", q, wait)
		answers <- receiptsAnswer{r, err}
	}()
	return answers
}

// took is the answer, which has to come well before the wait is over.
func took(t *testing.T, what string, answers <-chan receiptsAnswer) receiptsAnswer {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(patience):
		t.Fatalf("%s: no answer", what)
		return receiptsAnswer{}
	}
}

// TestReceiptsWait lets a signal alone end the wait: an ack and a read on another node, and a member who leaves.
func TestReceiptsWait(t *testing.T) {
	near := startLive(t, signalsOnly)
	far := joinLive(t, near.redis, signalsOnly)
	near.group(t, "g", "ann", "bob", "cid")
	bob, cid := chat.Caller{User: "bob"}, chat.Caller{User: "cid"}
	for what, do := range map[string]func(id int64) error{
		"ack":   func(id int64) error { _, err := far.Ack(t.Context(), bob, "g", chat.At(id)); return err },
		"read":  func(id int64) error { _, err := far.Read(t.Context(), bob, "g", chat.At(id)); return err },
		"leave": func(int64) error { return far.RemoveMember(t.Context(), bob, "g", "bob") },
	} {
		if _, _, err := near.PutMember(t.Context(), chat.Caller{User: "ann"}, "g", "bob", ""); err != nil {
			t.Fatal(err)
		}
		id := near.say(t, "g", "ann", "part")
		if _, err := far.Ack(t.Context(), cid, "g", chat.At(id)); err != nil {
			t.Fatal(err)
		}
		answers := near.await(t, "ann", 2, chat.ReceiptsQuery{ID: id}, time.Minute)
		select {
		case a := <-answers:
			t.Fatalf("%s: got %+v while bob is pending", what, a)
		default:
		}
		if err := do(id); err != nil {
			t.Fatal(err)
		}
		if a := took(t, what, answers); a.err != nil || a.Seen != a.Members || len(a.Pending) != 0 {
			t.Errorf("%s: got %+v, want nobody pending", what, a)
		}
		if a := took(t, what, near.ask(t.Context(), "ann", chat.ReceiptsQuery{ID: id}, time.Minute)); a.err != nil || len(a.Pending) != 0 {
			t.Errorf("%s: again: got %+v", what, a)
		}
	}
}

// TestReceiptsWaitLostSignal moves a cursor unheard: the safety check finds it.
func TestReceiptsWaitLostSignal(t *testing.T) {
	l := startLive(t, func(limits *chat.Limits) { limits.SafetyCheck = 200 * time.Millisecond })
	l.group(t, "g", "ann", "bob")
	id := l.say(t, "g", "ann", "x")
	answers := l.await(t, "ann", 5, chat.ReceiptsQuery{ID: id}, time.Minute)
	l.redis.Do("ZADD", "chat:{p00}:g:g:seen", "XX", fmt.Sprint(id), "bob")
	if a := took(t, "lost signal", answers); a.err != nil || a.Seen != 1 {
		t.Errorf("got %+v, want that bob has seen it", a)
	}
}

// TestReceiptsWaitEnds lets the time, the client and the membership end the wait.
func TestReceiptsWaitEnds(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "g", "ann", "bob")
	id := l.say(t, "g", "ann", "x")
	began := time.Now()
	a := took(t, "time over", l.ask(t.Context(), "ann", chat.ReceiptsQuery{ID: id}, 300*time.Millisecond))
	if a.err != nil || a.Seen != 0 || len(a.Pending) != 1 || time.Since(began) < 300*time.Millisecond {
		t.Errorf("got %+v after %v, want bob pending when the time is over", a, time.Since(began))
	}
	ctx, gone := context.WithCancel(t.Context())
	answers := l.ask(ctx, "ann", chat.ReceiptsQuery{ID: id}, time.Minute)
	gone()
	took(t, "the client is gone", answers)
	answers = l.await(t, "bob", 2, chat.ReceiptsQuery{ID: id}, time.Minute)
	if err := l.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "g", "bob"); err != nil {
		t.Fatal(err)
	}
	if a := took(t, "removed", answers); chat.CodeOf(a.err) != chat.CodeNotFound {
		t.Errorf("got %+v, want not_found for who was removed", a)
	}
	_, _, err := l.Receipts(t.Context(), chat.Caller{User: "ann"}, "g", chat.ReceiptsQuery{ID: id}, -1)
	if chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("got %v, want invalid_request", err)
	}
}
