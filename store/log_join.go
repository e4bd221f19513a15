package store

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/batch"
)

// joinedSends joins plain messages that are sent at the same time: one round trip, and one script call for each group.
type joinedSends = batch.Batcher[chat.Append, plainOutcome]

func (s *Store) joinSends() *joinedSends {
	return &joinedSends{Run: s.appendTogether, Alone: sendsAlone, Calls: sendsFlying, Size: sendsJoined}
}

// lane is with whose calls a call about a group is joined.
func (s *Store) lane(group string) int {
	if s.cluster == nil {
		return 0
	}
	return s.keys.partition(group)
}

// appendJoined appends a plain message, alone or together with others.
func (s *Store) appendJoined(ctx context.Context, a chat.Append) plainOutcome {
	out, err := s.sends[s.lane(a.Group)].Do(ctx, a)
	if err != nil {
		return plainOutcome{err: fail(plainScript.Name, err)}
	}
	return out
}

// appendTogether appends plain messages of any groups.
func (s *Store) appendTogether(ctx context.Context, list []chat.Append) []plainOutcome {
	if len(list) == 1 {
		return s.appendPlain(ctx, list)
	}
	calls := joinCalls(list)
	replies, err := s.runJoined(ctx, calls)
	if err != nil {
		return failedOutcomes(len(list), err)
	}
	outcomes := make([]plainOutcome, len(list))
	for i, c := range calls {
		for j, out := range replies[i].outcomes(s, c.messages) {
			outcomes[c.indexes[j]] = out
		}
	}
	for i, c := range calls {
		if r := replies[i]; r.err == nil {
			s.afterAppend(ctx, c.messages[0].Group, r.reply.text(2), r.reply.number(3) == 1)
		}
	}
	return outcomes
}

// joinedCall is what one script call appends: messages of one group, in the order of arrival.
type joinedCall struct {
	messages []chat.Append
	indexes  []int // of each among all that are sent together
}

// joinCalls divides messages into calls.
func joinCalls(list []chat.Append) (calls []joinedCall) {
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
func (s *Store) runJoined(ctx context.Context, calls []joinedCall) ([]plainReply, error) {
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
			list[j] = s.plainCall(script, calls[i].messages)
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
