package store

import (
	"context"
	"maps"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/queue"
)

// lanes are where calls are joined with others to the same server. There is one for each server, so that one that hangs delays only
// calls to itself.
type lanes[L any] struct {
	open func(server Server) *L

	mu sync.RWMutex
	of map[string]lane[L] // by address
}

// lane is where calls to a server are joined. A cluster may have a new client for the same address: then the lane is a new one too.
type lane[L any] struct {
	client queue.Redis
	calls  *L
}

func newLanes[L any](open func(server Server) *L) *lanes[L] {
	return &lanes[L]{open: open, of: map[string]lane[L]{}}
}

// to returns the lane to a server.
func (l *lanes[L]) to(server Server) *L {
	l.mu.RLock()
	found := l.of[server.Addr]
	l.mu.RUnlock()
	if found.client == server.Client {
		return found.calls
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[server.Addr].client != server.Client {
		l.of[server.Addr] = lane[L]{server.Client, l.open(server)}
	}
	return l.of[server.Addr].calls
}

// keep drops the lanes to servers at other addresses. Calls that are in one go on.
func (l *lanes[L]) keep(addrs map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.of, func(addr string, _ lane[L]) bool { return !addrs[addr] })
}

// keepLanes drops the lanes to servers that have no partition any more.
func (s *Store) keepLanes(homes map[string]bool) {
	s.sends.keep(homes)
	s.shared.keep(homes)
}

// laneAnswer is the answer to one of the calls of a lane, or why there is none.
type laneAnswer struct {
	reply reply
	err   error
	// The server does not serve the keys any more, or not right now, and has done nothing. The lane does not wait for them, because
	// its other calls would have to wait too: whoever made the call repeats it outside the lane, which follows redirects.
	refused bool
}

// runAt runs calls on one server in one round trip, whether or not it has their keys. Where it did not know the scripts, those calls
// are sent again.
func (s *Store) runAt(ctx context.Context, server Server, calls []call) []laneAnswer {
	answers := make([]laneAnswer, len(calls))
	cmds := s.sendAt(ctx, server, calls)
	var unknown []int
	for i, cmd := range cmds {
		if unknownScript(cmd) {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 && loadScripts(ctx, server.Client, s.cluster != nil) == nil {
		again := make([]call, len(unknown))
		for j, i := range unknown {
			again[j] = calls[i]
		}
		for j, cmd := range s.sendAt(ctx, server, again) {
			cmds[unknown[j]] = cmd
		}
	}
	for i, cmd := range cmds {
		answers[i] = s.laneAnswer(calls[i].Script.Name, cmd)
	}
	return answers
}

func (s *Store) sendAt(ctx context.Context, server Server, calls []call) []*redis.Cmd {
	if len(calls) == 1 {
		return []*redis.Cmd{s.here(calls[0]).Send(ctx, server.Client)}
	}
	cmds := make([]*redis.Cmd, len(calls))
	pipe := server.Client.Pipeline()
	for i, c := range calls {
		cmds[i] = s.here(c).Send(ctx, pipe)
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	return cmds
}

func (s *Store) laneAnswer(name string, cmd *redis.Cmd) laneAnswer {
	value, err := cmd.Result()
	if err != nil {
		how, _ := redirectOf(err)
		return laneAnswer{err: fail(name, err), refused: s.cluster != nil && how != stay}
	}
	r, err := asReply(name, value)
	return laneAnswer{reply: r, err: err}
}
