package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
)

var requests = regexp.MustCompile(`([0-9.]+) requests per second`)

// rawRate asks redis-benchmark how many times a second a server runs the command, from clients connections, each with
// depth commands under way.
func rawRate(b *bench, server *redistest.Server, n, clients, depth int, args []any) (float64, error) {
	_, port, _ := strings.Cut(server.Addr, ":")
	argv := []string{"-p", port, "-n", strconv.Itoa(n), "-c", strconv.Itoa(clients), "-P", strconv.Itoa(depth), "-q"}
	for _, a := range args {
		if text, ok := a.([]byte); ok {
			a = string(text)
		}
		argv = append(argv, fmt.Sprint(a))
	}
	out, err := exec.CommandContext(b.ctx, "redis-benchmark", argv...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	found := requests.FindAllStringSubmatch(string(out), -1)
	if len(found) == 0 {
		return 0, fmt.Errorf("redis-benchmark says no rate: %s", out)
	}
	return strconv.ParseFloat(found[len(found)-1][1], 64)
}

// sending compares sends with redis-benchmark running the very same script call.
func sending(b *bench) {
	b.table.section("sending a message of 200 bytes, one group")
	ok(b.group("send", 3))
	ok(b.send("send"))
	call := b.traffic.newest()
	n := scaled(100_000)
	raw := must(rawRate(b, b.redis, n, 50, 1, call))
	b.table.rate("redis-benchmark, the same script call, 50 connections", raw, raw, "")
	deep := must(rawRate(b, b.redis, n, 50, 64, call))
	b.table.rate("redis-benchmark, the same, 64 calls deep", deep, raw, "unpipelined")
	for _, callers := range []int{1, 64, 256} {
		rate := parallel(scaled(40_000), callers, func(int) error { return b.send("send") })
		b.table.rate(fmt.Sprintf("through the store, %d callers", callers), rate, raw, "unpipelined")
	}
	b.sendingCosts()
	sendingHTTP(b, raw)
}

// reading compares pulls with redis-benchmark reading the same page.
func reading(b *bench) {
	b.table.section("reading")
	for i := range 20 {
		id := fmt.Sprintf("read-%d", i)
		ok(b.group(id, 1))
		for range 50 {
			ok(b.send(id))
		}
	}
	n := scaled(20_000)
	raw := must(rawRate(b, b.redis, n, 50, 1, []any{"ZRANGEBYSCORE", "chat:{p00}:g:read-0:msgs", "2", "51"}))
	b.table.rate("redis-benchmark, a page of 50 by ZRANGEBYSCORE", raw, raw, "")
	user, after := chat.Caller{User: "user-0"}, "2"
	pull := func(int) error {
		batch, _, err := b.service.Pull(b.ctx, user, "read-0", chat.PullQuery{After: &after, Limit: 50})
		if err == nil && len(batch.Messages) != 50 {
			err = fmt.Errorf("a page of %d messages", len(batch.Messages))
		}
		return err
	}
	b.table.rate("pulls of 50, 64 callers", parallel(n, 64, pull), raw, "the bare page")
	rate := parallel(scaled(4000), 64, func(int) error { _, err := b.live.Sync(b.ctx, user, live.SyncRequest{Limit: 100}); return err })
	b.table.rate("syncs over 20 groups, 100 messages in all, 64 callers", rate, 0, "")
}

// counting gives what no noise touches: commands and round trips as chatd sends them.
func counting(b *bench) {
	b.table.section("commands and round trips that chatd makes")
	user, after := chat.Caller{User: "user-0"}, "2"
	steps := []struct {
		what string
		do   func() error
	}{
		{"a send", func() error { return b.send("read-0") }},
		{"a pull of 50", func() error {
			_, _, err := b.service.Pull(b.ctx, user, "read-0", chat.PullQuery{After: &after, Limit: 50})
			return err
		}},
		{"an ack", func() error { _, err := b.service.Ack(b.ctx, user, "read-1", chat.At(10)); return err }},
		{"unread counts over 20 groups", func() error { _, err := b.service.UnreadCounts(b.ctx, user); return err }},
		{"a sync over 20 groups", func() error { _, err := b.live.Sync(b.ctx, user, live.SyncRequest{}); return err }},
	}
	for _, s := range steps {
		commands, trips := b.traffic.during(s.do)
		for range 4 { // what else the node writes down meanwhile, such as how far the person before has read, is not counted
			c, r := b.traffic.during(s.do)
			commands, trips = min(commands, c), min(trips, r)
		}
		b.steps[s.what] = [2]int64{commands, trips}
		b.table.count(s.what, "%d commands, %d round trips", commands, trips)
	}
	for _, readers := range []int{1, 1000} {
		delivering(b, readers)
	}
}

// delivering counts what a message costs that many live readers on this node get.
func delivering(b *bench, readers int) {
	id := fmt.Sprintf("live-%d", readers)
	ok(b.group(id, readers))
	followers := make([]*live.Follower, readers)
	for i := range followers {
		f := must(b.live.Follow(b.ctx, chat.Caller{User: fmt.Sprintf("user-%d", i)}, live.Scope{}))
		defer f.Close()
		followers[i] = f
	}
	takeUpTo(b, followers, id, int64(1+readers))
	const messages = 100
	commands, trips := b.traffic.during(func() error {
		for range messages {
			if err := b.send(id); err != nil {
				return err
			}
		}
		takeUpTo(b, followers, id, int64(1+readers+messages))
		return nil
	})
	b.table.count(fmt.Sprintf("a message to %d live readers on one node", readers), "%.2f commands, %.2f round trips",
		float64(commands)/messages, float64(trips)/messages)
}

// takeUpTo has every follower take what it is owed until it holds message last of the group.
func takeUpTo(b *bench, followers []*live.Follower, group string, last int64) {
	for _, f := range followers {
		for held := int64(0); held < last; {
			event := must(f.Next(b.ctx))
			if m := event.Messages; m != nil && m.Group == group {
				held = m.To
			}
		}
	}
}
