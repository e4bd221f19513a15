package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/chatd/chatd/chat"
)

// sends joins plain messages that are sent at the same time. While there are few callers, each sends at once, so that joining
// adds no latency. When there are more, callers wait while sendsFlying calls are in flight, and the next call takes all of them
// along: one round trip, and one script call for each group. It has no goroutine: the first waiting caller leads the others.
//
// Invariant: while a caller waits, a call is in flight, and its end passes on the lead.
type sends struct {
	mu      sync.Mutex
	inside  int // callers
	flying  int // calls in flight
	waiting []*waitingSend
}

// waitingSend is one waiting caller.
type waitingSend struct {
	message chat.Append
	turn    chan struct{} // closed when it has a batch to lead, or its outcome
	// batch is the callers that it leads, itself first. Until turn is closed, sends.mu guards it and sent, which means that a leader
	// has taken it along.
	batch   []*waitingSend
	sent    bool
	outcome plainOutcome
}

// lane returns the sends that a send to a group may join.
func (s *Store) lane(group string) *sends {
	if s.cluster == nil {
		return s.sends[0]
	}
	return s.sends[s.keys.partition(group)]
}

// appendJoined appends a plain message, alone or together with others.
func (s *Store) appendJoined(ctx context.Context, a chat.Append) plainOutcome {
	q := s.lane(a.Group)
	q.mu.Lock()
	q.inside++
	defer q.leave()
	// Nobody overtakes waiting callers: under steady load they would wait forever.
	if len(q.waiting) == 0 && (q.inside <= sendsAlone || q.flying < sendsFlying) {
		q.flying++
		q.mu.Unlock()
		defer q.land()
		return s.appendPlain(ctx, []chat.Append{a})[0]
	}
	w := &waitingSend{message: a, turn: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()

	select {
	case <-w.turn:
	case <-ctx.Done():
		if !q.leads(w) {
			return plainOutcome{err: fail(plainScript.Name, ctx.Err())}
		}
		<-w.turn
	}
	if w.batch != nil {
		s.lead(ctx, q, w.batch)
	}
	return w.outcome
}

// lead appends the messages of a batch and hands the outcomes to its callers. It goes on if the leader's context ends: the
// others' sends must not be cut off with it.
func (s *Store) lead(ctx context.Context, q *sends, batch []*waitingSend) {
	defer q.land()
	ctx = context.WithoutCancel(ctx)
	calls := joinCalls(batch)
	replies, err := s.runJoined(ctx, calls)
	for i, call := range calls {
		list := messagesOf(call)
		outcomes := failedOutcomes(len(list), err)
		if err == nil {
			outcomes = replies[i].outcomes(s, list)
		}
		for j, w := range call {
			w.outcome = outcomes[j]
			if w != batch[0] {
				close(w.turn)
			}
		}
	}
	for i, call := range calls {
		if err == nil && replies[i].err == nil {
			r := replies[i].reply
			s.afterAppend(ctx, call[0].message.Group, r.text(2), r.number(3) == 1)
		}
	}
}

// joinCalls divides a batch into calls, each for one group and in the order of arrival.
func joinCalls(batch []*waitingSend) (calls [][]*waitingSend) {
	open, bytes := map[string]int{}, map[string]int{}
	for _, w := range batch {
		group, size := w.message.Group, len(w.message.Rest)
		i, ok := open[group]
		if !ok || len(calls[i]) == sendsOfCall || bytes[group]+size > sendsBytesOfCall {
			i = len(calls)
			open[group], bytes[group] = i, 0
			calls = append(calls, nil)
		}
		calls[i] = append(calls[i], w)
		bytes[group] += size
	}
	return calls
}

func messagesOf(call []*waitingSend) []chat.Append {
	list := make([]chat.Append, len(call))
	for i, w := range call {
		list[i] = w.message
	}
	return list
}

// plainReply is the answer to one call, or why there is none.
type plainReply struct {
	reply reply
	err   error
}

func (r plainReply) outcomes(s *Store, list []chat.Append) []plainOutcome {
	if r.err != nil {
		return failedOutcomes(len(list), r.err)
	}
	return s.plainOutcomes(r.reply, list)
}

// runJoined runs the script for each of the calls in one round trip. Those that came without the keys of the queue and need them
// are run again.
func (s *Store) runJoined(ctx context.Context, calls [][]*waitingSend) ([]plainReply, error) {
	answers := make([]plainReply, len(calls))
	left := make([]int, len(calls))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		script := plainScript
		wanted := s.wanted.Load()
		if wanted {
			script = plainTasksScript
		}
		list := make([]call, len(left))
		for j, i := range left {
			list[j] = s.plainCall(script, messagesOf(calls[i]))
		}
		replies, errs, err := s.runAll(ctx, list)
		if err != nil {
			return nil, err
		}
		var again []int
		for j, i := range left {
			answers[i] = plainReply{replies[j], errs[j]}
			if !wanted && errors.Is(errs[j], errWants) {
				s.wanted.Store(true)
				again = append(again, i)
			}
		}
		left = again
	}
	return answers, nil
}

// land notes that a call has ended, and passes the lead to the first waiting caller.
func (q *sends) land() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying--
	if len(q.waiting) == 0 || q.flying >= sendsFlying {
		return
	}
	q.flying++
	n := min(len(q.waiting), sendsJoined)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	for _, w := range batch {
		w.sent = true
	}
	batch[0].batch = batch
	close(batch[0].turn)
}

// leads reports whether a caller whose context has ended must go on because it leads others. If its message has not been taken
// along yet, it never will be.
func (q *sends) leads(w *waitingSend) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.sent {
		q.waiting = slices.DeleteFunc(q.waiting, func(one *waitingSend) bool { return one == w })
	}
	return w.batch != nil
}

func (q *sends) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inside--
}
