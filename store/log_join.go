package store

import (
	"context"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue/batch"
	"github.com/chatd/chatd/store/conn"
)

// joinedSends joins plain messages that are sent at the same time: one round trip, and one script call for each group.
type joinedSends = batch.Batcher[*chat.Append, appendOutcome]

func (s *Logs) joinSends(server conn.Server) *joinedSends {
	together := func(ctx context.Context, list []*chat.Append) []appendOutcome {
		return s.appendTogether(ctx, server, list)
	}
	return &joinedSends{Run: together, Alone: sendsAlone, Calls: sendsFlying, Size: sendsJoined}
}

// appendJoined appends a plain message, together with others to the same server.
func (s *Logs) appendJoined(ctx context.Context, a chat.Append) appendOutcome {
	server, err := s.conn.MasterOf(ctx, s.keys.home(a.Group).base)
	if err != nil {
		return appendOutcome{err: fail(appendScript.Name, err)}
	}
	out, err := s.sends.To(server).Do(ctx, &a)
	if err != nil {
		return appendOutcome{err: fail(appendScript.Name, err)}
	}
	tracing.Shared(ctx, out.joined)
	out.alone = out.alone || out.refused // a separate call follows redirects
	return out
}

// appendTogether appends plain messages of groups that were on one server when they came, in one round trip.
func (s *Logs) appendTogether(ctx context.Context, server conn.Server, list []*chat.Append) []appendOutcome {
	joined := joinCalls(list)
	calls := make([]call, len(joined))
	for i, c := range joined {
		k := s.keys.group(c.messages[0].Group)
		calls[i] = s.appendCall(appendScript.Rows(k, len(c.messages)), k, c.messages...)
	}
	outcomes := make([]appendOutcome, len(list))
	for i, answer := range s.runAt(ctx, server, calls) {
		for j, out := range s.appendOutcomes(ctx, answer, joined[i].messages) {
			outcomes[joined[i].indexes[j]] = out
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
