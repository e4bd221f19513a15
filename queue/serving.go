package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// ErrNoHandler means that a server cannot start because a queue that it serves has no handler: it would bury every
// task there.
var ErrNoHandler = errors.New("no handler")

// serves reports whether tasks of this kind run in a queue.
func (k kind) serves(queue string) bool {
	return len(k.policy.Queues) == 0 || slices.Contains(k.policy.Queues, queue)
}

// kindsOf lists the kinds that run in a queue, in order.
func (s *registry) kindsOf(queue string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		if s.kinds[name].serves(queue) {
			names = append(names, name)
		}
	}
	return names
}

// checkHandlers returns an error if a queue has no handler, or a handler no queue.
func (s *Server) checkHandlers() error {
	served := make([]string, len(s.pools))
	for i, h := range s.pools {
		served[i] = h.queue.name
	}
	for _, name := range served {
		if len(s.kindsOf(name)) > 0 {
			continue
		}
		others := "none is registered"
		if kinds := slices.Sorted(maps.Keys(s.kinds)); len(kinds) > 0 {
			others = fmt.Sprintf("the kinds %q are of other queues", kinds)
		}
		return fmt.Errorf("queue: %w for queue %q: %s; call Handle before Run", ErrNoHandler, name, others)
	}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		for _, q := range s.kinds[name].policy.Queues {
			if !slices.Contains(served, q) {
				return fmt.Errorf("queue: the kind %q is for queue %q, which this server does not serve: it serves %q", name, q, served)
			}
		}
	}
	return nil
}

// announcer says now and then which kinds the server runs.
type announcer struct {
	handlers []string // what announce.lua takes
	at       time.Time
}

func newAnnouncer(s *Server) announcer {
	a := announcer{}
	for _, h := range s.pools {
		a.handlers = append(a.handlers, h.queue.name+" "+strings.Join(s.kindsOf(h.queue.name), " "))
	}
	return a
}

// call returns the call that is due, or nil. It travels with the steps, so it takes no round trip of its own.
func (a *announcer) call(prefix string, now time.Time) *call {
	if !a.at.IsZero() && now.Sub(a.at) < announceEvery {
		return nil
	}
	a.at = now
	one := announceScript.On(nil).Key("served", servedKey(prefix)).Arg("live_ms", option.CeilMs(announceLive))
	return &call{Call: one.List("handlers", a.handlers)}
}

// Serving returns the kinds of tasks that servers run in the queue of this client, in order, as they have announced
// them within the last 45 s. They are patterns, see Mux.
func (c *Client) Serving(ctx context.Context) ([]string, error) {
	served := &call{Call: servedScript.On(nil).Key("served", servedKey(c.prefix))}
	if err := c.run(ctx, []*call{served}); err != nil {
		return nil, fmt.Errorf("queue: serving: %w", err)
	}
	announced, err := served.cmd.StringSlice()
	if err != nil {
		return nil, fmt.Errorf("queue: serving: unexpected answer %.200v", served.cmd)
	}
	return slices.Sorted(maps.Keys(servedIn(announced, c.name))), nil
}

// servedIn returns the kinds that are announced for a queue.
func servedIn(announced []string, queue string) map[string]bool {
	kinds := map[string]bool{}
	for _, one := range announced {
		if names := strings.Fields(one); len(names) > 0 && names[0] == queue {
			for _, name := range names[1:] {
				kinds[name] = true
			}
		}
	}
	return kinds
}

// unserved returns the kinds that wait in a queue and that nobody has announced, in order. It removes the others from
// waiting.
func unserved(waiting map[string]bool, announced []string, queue string) []string {
	served := servedIn(announced, queue)
	for name := range served {
		if prefix, ok := familyOf(name); ok {
			maps.DeleteFunc(waiting, func(kind string, _ bool) bool { return strings.HasPrefix(kind, prefix) })
		}
	}
	maps.DeleteFunc(waiting, func(kind string, _ bool) bool { return served[kind] })
	return slices.Sorted(maps.Keys(waiting))
}
