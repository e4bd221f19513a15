package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

const (
	growthRounds = 5    // rounds per operation, of which the quickest counts: noise only adds time
	growthEach   = 200  // operations per round
	growthGoal   = 1.15 // the most that the time of an operation may grow by, as a factor, when the size grows tenfold
	growthPage   = 50   // messages per page
)

// axis is a size that grows tenfold from step to step. at builds the data of a size, and returns the operations to measure.
type axis struct {
	name, file string
	sizes      []int
	at         func(b *bench, size int) []operation
}

type operation struct {
	what string
	do   func(i int) error
}

// growth measures how long an operation keeps redis-server busy while the data around it grows.
func growth(b *bench) { fresh(b, (*bench).growAll) }

func (b *bench) growAll() {
	for _, a := range []axis{
		{"messages in the group", "messages", []int{1000, 10_000, 100_000, 1_000_000}, (*bench).messagesOf},
		{"members in the group", "members", []int{100, 1000, 10_000, 100_000}, (*bench).membersOf},
		{"groups of the user", "groups", []int{10, 100, 1000}, (*bench).groupsOf},
		{"live readers on the node", "readers", []int{10, 100, 1000, 10_000}, (*bench).readersOf},
	} {
		grow(b, a, b.redis)
	}
	b.growTasks()
}

// grow measures the operations at each size and adds a section: a row per operation, and a chart.
func grow(b *bench, a axis, server *redistest.Server) {
	c := chart{file: "growth-" + a.file, title: "redis-server time per operation, by number of " + a.name, x: a.name}
	for _, size := range a.sizes {
		c.sizes = append(c.sizes, scaled(size))
	}
	c.sizes = slices.Compact(c.sizes)
	for _, size := range c.sizes {
		for i, o := range a.at(b, size) {
			us := b.busy(server, o.do)
			if i == len(c.lines) {
				c.lines = append(c.lines, line{what: o.what})
			}
			c.lines[i].values = append(c.lines[i].values, us)
		}
	}
	b.table.section(fmt.Sprintf("redis-server time per operation as the number of %s grows (%s)", a.name, thousands(c.sizes)))
	for _, l := range c.lines {
		figures := make([]string, len(l.values))
		steepest := 0.0
		for i, us := range l.values {
			figures[i] = fmt.Sprintf("%.1f", us)
			if i > 0 {
				steepest = max(steepest, us/max(l.values[i-1], math.SmallestNonzeroFloat64))
			}
		}
		b.table.count(l.what, "%s us", strings.Join(figures, ", "))
		b.table.compare(steepest, fmt.Sprintf("the size before, at the steepest step; target %.2f at most", growthGoal))
	}
	b.table.chart(c)
}

// busy returns how long one call of do keeps the server busy, in us: the mean of the quickest round.
func (b *bench) busy(server *redistest.Server, do func(i int) error) float64 {
	n, best := scaled(growthEach), math.Inf(1)
	ok(do(0)) // loads the scripts and warms the caches
	for round := range growthRounds {
		counted := &names{calls: map[string]int64{}}
		b.traffic.names.Store(counted)
		server.Do("CONFIG", "RESETSTAT")
		for i := range n {
			ok(do(1 + round*n + i))
		}
		b.traffic.names.Store(nil)
		best = min(best, serverTimeOf(server, counted)/float64(n))
	}
	ok(b.ctx.Err())
	return best
}

// serverTimeOf returns how long the server was busy since CONFIG RESETSTAT, in us: with scripts and transactions, including the
// commands in them, and with the other commands that were sent.
func serverTimeOf(server *redistest.Server, sent *names) (total float64) {
	sent.mu.Lock()
	defer sent.mu.Unlock()
	for name, s := range commandStats(server) {
		switch name {
		case "evalsha", "evalsha_ro", "exec":
			total += s.us
		case "config|resetstat":
		default:
			total += s.us * float64(sent.calls[name]) / max(s.calls, 1)
		}
	}
	return total
}

// readings are the operations of a member who has read nothing yet.
func readings(b *bench, reader chat.Caller, group string, middle int) []operation {
	after := fmt.Sprint(middle)
	return []operation{
		{"send", func(int) error { return b.send(group) }},
		{fmt.Sprintf("pull of %d", growthPage), func(int) error {
			_, _, err := b.service.Pull(b.ctx, reader, group, chat.PullQuery{After: &after, Limit: growthPage})
			return err
		}},
		{"ack", func(i int) error {
			_, err := b.service.Ack(b.ctx, chat.Caller{User: "owner"}, group, chat.At(int64(1+i)))
			return err
		}},
		{"sync with news", func(int) error {
			_, err := b.live.Sync(b.ctx, reader, live.SyncRequest{Limit: growthPage})
			return err
		}},
		{"unread counts", func(int) error { _, err := b.service.UnreadCounts(b.ctx, reader); return err }},
	}
}

// messagesOf makes a group with size messages, which are kept because one member has read none of them.
func (b *bench) messagesOf(size int) []operation {
	id := fmt.Sprintf("messages-%d", size)
	reader := chat.Caller{User: "reader-" + id}
	keep, backlog := int64(100), int64(1_000_000)
	draft := chat.GroupDraft{ID: id, Keep: &keep, BacklogMax: &backlog, Members: []string{reader.User}}
	must(b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, draft))
	parallel(size, 64, func(int) error { return b.send(id) })
	return readings(b, reader, id, size/2)
}

// membersOf makes a group with size members, and one page of messages.
func (b *bench) membersOf(size int) []operation {
	id := fmt.Sprintf("members-%d", size)
	owner, reader := chat.Caller{User: "owner"}, chat.Caller{User: "reader-" + id}
	ok(b.group(id, 0))
	parallel(max(0, size-2), 16, func(i int) error {
		_, _, err := b.service.PutMember(b.ctx, owner, id, fmt.Sprintf("member-%d", i), "")
		return err
	})
	_, _, err := b.service.PutMember(b.ctx, owner, id, reader.User, "")
	ok(err)
	for range growthPage {
		ok(b.send(id))
	}
	return readings(b, reader, id, size)
}

// groupsOf makes a user with size groups, of which one has unread messages.
func (b *bench) groupsOf(size int) []operation {
	reader := chat.Caller{User: fmt.Sprintf("reader-of-%d", size)}
	idle := chat.Caller{User: fmt.Sprintf("idle-in-%d", size)}
	name := func(i int) string { return fmt.Sprintf("groups-%d-%d", size, i) }
	const begun = 2 // a new group's notices: created, and joined for both
	parallel(size, 16, func(i int) error {
		draft := chat.GroupDraft{ID: name(i), Members: []string{reader.User, idle.User}}
		if _, err := b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, draft); err != nil {
			return err
		}
		for _, one := range []chat.Caller{reader, idle} {
			if _, err := b.service.Read(b.ctx, one, name(i), chat.At(begun)); err != nil {
				return err
			}
		}
		return nil
	})
	for range growthPage {
		ok(b.send(name(0)))
	}
	must(b.service.Ack(b.ctx, idle, name(0), chat.At(begun+growthPage)))
	return append(readings(b, reader, name(0), begun), operation{"sync without news", func(int) error {
		_, err := b.live.Sync(b.ctx, idle, live.SyncRequest{Limit: growthPage})
		return err
	}})
}

// readersOf starts size sessions that follow one group each.
func (b *bench) readersOf(size int) []operation {
	name := func(i int) string { return fmt.Sprintf("followed-%d-%d", size, i) }
	follow := func(i int) (*live.Follower, error) {
		return b.live.Follow(b.ctx, chat.Caller{User: "reader-" + name(i)}, live.Scope{})
	}
	ctx, stop := context.WithCancel(b.ctx)
	b.tb.Cleanup(stop)
	parallel(size, 16, func(i int) error {
		draft := chat.GroupDraft{ID: name(i), Members: []string{"reader-" + name(i)}}
		if _, err := b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, draft); err != nil {
			return err
		}
		f, err := follow(i)
		if err != nil {
			return err
		}
		go func() {
			defer f.Close()
			for {
				if _, err := f.Next(ctx); err != nil {
					return // the run has ended
				}
			}
		}()
		return nil
	})
	return []operation{
		// To ten groups at every size: a sender's first message to a group takes two commands more.
		{"send", func(i int) error { return b.send(name(i % min(size, 10))) }},
		{"connect and disconnect", func(i int) error {
			f, err := follow(i % size)
			if err != nil {
				return err
			}
			f.Close()
			return nil
		}},
	}
}

// growTasks measures a task that is enqueued, claimed and completed while others are delayed.
func (b *bench) growTasks() {
	server := redistest.Start(b.tb)
	defer server.Kill()
	e := b.ours(server.Addr, "growth")
	defer e.close()
	one, stop := alone(b, e)
	defer stop()
	have := 0
	grow(b, axis{"delayed tasks", "tasks", []int{1000, 10_000, 100_000, 1_000_000}, func(b *bench, size int) []operation {
		e.putAll(b.ctx, size-have, queue.Task{Kind: "k", Payload: []byte(taskPayload), Delay: 24 * time.Hour})
		have = size
		return []operation{{"enqueue, claim, complete", func(int) error { return one() }}}
	}}, server)
}

// thousands writes sizes as people say them: 1k, 10k, 1M.
func thousands(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = short(n)
	}
	return strings.Join(words, ", ")
}

func short(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
