package store

import (
	"context"
	"sync"

	"github.com/chatd/chatd/chat"
	batching "github.com/chatd/chatd/chat/batch"
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

// AppendAll appends plain messages, those of one group in their order. Each that the joined calls did not take is sent alone, as by
// Append.
func (s *Logs) AppendAll(ctx context.Context, list []chat.Append) []batching.Appended {
	out := make([]batching.Appended, len(list))
	if len(list) == 1 {
		out[0].Appended, out[0].Err = s.Append(ctx, list[0])
		return out
	}
	lanes := map[string]*appendLane{}
	var order []*appendLane
	for i := range list {
		server, err := s.conn.MasterOf(ctx, s.keys.home(list[i].Group).base)
		if err != nil {
			out[i].Err = fail(appendScript.Name, err)
			continue
		}
		lane := lanes[server.Addr]
		if lane == nil {
			lane = &appendLane{server: server}
			lanes[server.Addr], order = lane, append(order, lane)
		}
		lane.messages, lane.indexes = append(lane.messages, &list[i]), append(lane.indexes, i)
	}
	var lanesEnded sync.WaitGroup
	for _, lane := range order {
		lanesEnded.Go(func() {
			for j, o := range s.appendTogether(ctx, lane.server, lane.messages) {
				i := lane.indexes[j]
				out[i].Appended, out[i].Err = o.done, o.err
				if o.alone || o.refused || conn.Broken(o.err) && list[i].Key != "" && ctx.Err() == nil {
					out[i].Appended, out[i].Err = s.appendAlone(ctx, list[i])
				}
			}
		})
	}
	lanesEnded.Wait()
	return out
}

// appendLane is what goes to one server.
type appendLane struct {
	server   conn.Server
	messages []*chat.Append
	indexes  []int // of each among all
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
