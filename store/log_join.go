package store

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/batch"
	"github.com/chatd/chatd/store/conn"
)

// joinedSends joins plain messages that are sent at the same time: one round trip, and one script call for each group.
type joinedSends = batch.Batcher[*chat.Append, plainOutcome]

func (s *Logs) joinSends(server conn.Server) *joinedSends {
	together := func(ctx context.Context, list []*chat.Append) []plainOutcome {
		return s.appendTogether(ctx, server, list)
	}
	return &joinedSends{Run: together, Alone: sendsAlone, Calls: sendsFlying, Size: sendsJoined}
}

// appendJoined appends a plain message, alone or together with others to the same server.
func (s *Logs) appendJoined(ctx context.Context, a chat.Append) plainOutcome {
	server, err := s.conn.MasterOf(ctx, s.keys.home(a.Group).base)
	if err != nil {
		return plainOutcome{err: fail(plainScript.Name, err)}
	}
	out, err := s.sends.To(server).Do(ctx, &a)
	switch {
	case err != nil:
		return plainOutcome{err: fail(plainScript.Name, err)}
	case out.refused:
		return s.appendPlain(ctx, a)
	}
	return out
}

// appendTogether appends plain messages of any groups, all of which a server had when they came.
func (s *Logs) appendTogether(ctx context.Context, server conn.Server, list []*chat.Append) []plainOutcome {
	calls := joinCalls(list)
	answers := s.runJoined(ctx, server, calls)
	outcomes := make([]plainOutcome, len(list))
	for i, c := range calls {
		for j, out := range s.plainOutcomes(answers[i], c.messages) {
			outcomes[c.indexes[j]] = out
		}
	}
	for i, c := range calls {
		if r := answers[i]; r.err == nil {
			s.afterAppend(ctx, c.messages[0].Group, r.reply.text(2), r.reply.number(3) == 1)
		}
	}
	return outcomes
}

// joinedCall is what one script call appends: messages of one group, in the order of arrival.
type joinedCall struct {
	messages []*chat.Append
	indexes  []int // of each among all that are sent together
}

// joinCalls divides messages into calls.
func joinCalls(list []*chat.Append) (calls []joinedCall) {
	open, bytes := map[string]int{}, map[string]int{}
	for index, a := range list {
		i, ok := open[a.Group]
		if !ok || len(calls[i].messages) == sendsOfCall || bytes[a.Group]+len(a.Rest) > sendsBytesOfCall {
			i = len(calls)
			open[a.Group], bytes[a.Group] = i, 0
			calls = append(calls, joinedCall{})
		}
		calls[i].messages, calls[i].indexes = append(calls[i].messages, a), append(calls[i].indexes, index)
		bytes[a.Group] += len(a.Rest)
	}
	return calls
}

// runJoined runs the script for each of the calls in one round trip. Those that came without the keys of the queue and need them
// are run again.
func (s *Logs) runJoined(ctx context.Context, server conn.Server, calls []joinedCall) []laneAnswer {
	answers := make([]laneAnswer, len(calls))
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
			list[j] = s.plainCall(script, calls[i].messages)
		}
		var again []int
		for j, answer := range s.runAt(ctx, server, list) {
			answers[left[j]] = answer
			if !wanted && errors.Is(answer.err, errWants) {
				s.wanted.Store(true)
				again = append(again, left[j])
			}
		}
		left = again
	}
	return answers
}
