package ws

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/limit"
)

// asideMax is how many sends of a session may wait for hooks.
const asideMax = 64

// aside are the sends of a session that wait for hooks: beside its reader, so that nothing else of the session waits for them, and
// those to one group one after the other.
type aside struct {
	mu    sync.Mutex
	lines map[string][]func() // by group: what comes after the send that is being run
	count int
	ended bool
	done  sync.WaitGroup
}

// has tells whether a send to a group waits, so that what comes after it must too.
func (a *aside) has(group string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, waits := a.lines[group]
	return waits
}

// add runs what is added for a group one after the other. It returns false if too much waits.
func (a *aside) add(group string, run func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count >= asideMax {
		return false
	}
	a.count++
	line, waits := a.lines[group]
	if a.lines == nil {
		a.lines = map[string][]func(){}
	}
	if waits {
		a.lines[group] = append(line, run)
		return true
	}
	a.lines[group] = nil
	a.done.Go(func() {
		for run != nil {
			run()
			run = a.next(group)
		}
	})
	return true
}

// next is what comes next for a group; nil: nothing does.
func (a *aside) next(group string) (run func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count--
	line := a.lines[group]
	if len(line) == 0 || a.ended {
		a.count -= len(line)
		delete(a.lines, group)
		return nil
	}
	a.lines[group] = line[1:]
	return line[0]
}

// end keeps what has not begun from beginning.
func (a *aside) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// wait waits for what has begun.
func (a *aside) wait() { a.done.Wait() }

// sendAside runs a send that may wait for a hook beside the reader, which has charged it.
func sendAside(s *session, c command, args *sendArgs) error {
	who, cost := s.identity(), limit.CostOf(c.op, 0)
	if err := s.spend(who, cost); err != nil {
		return err
	}
	added := s.aside.add(args.Group, func() {
		defer s.guard()
		answer := s.answer(c.ref, s.all.opt.CallWithin+chat.AskMax, func(ctx context.Context) (func(*bytes.Buffer), error) {
			return s.work(ctx, who, cost, c)
		})
		if answer != nil {
			s.replies.add(answer)
			s.wake()
		}
	})
	if !added {
		return &chat.Error{Code: chat.CodeRateLimited, Message: "too many sends of this connection wait for a hook", RetryAfter: time.Second}
	}
	return nil
}
