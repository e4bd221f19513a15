package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/web/auth"
)

const (
	clusterGroups  = 24 // spread over all masters
	clusterMembers = 12 // of a group, spread over all nodes
)

// cluster compares sends on three masters with redis-benchmark running the very same script calls on all of them at
// once, and counts what a message costs the masters with more nodes and with more masters.
func cluster(b *bench) error {
	b.table.section("Redis Cluster: a message of 200 bytes, groups on all masters")
	if err := sendingCluster(b); err != nil {
		return err
	}
	for _, size := range []struct{ masters, nodes int }{{3, 1}, {3, 2}, {3, 4}, {6, 1}, {6, 2}, {6, 4}} {
		if err := messageCost(b, size.masters, size.nodes); err != nil {
			return fmt.Errorf("%d masters, %d nodes: %w", size.masters, size.nodes, err)
		}
	}
	return nil
}

// sendingCluster has callers send to groups on all of three masters.
func sendingCluster(b *bench) error {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}}
	defer own.close()
	masters := redistest.StartCluster(own.tb, 3, 0)
	own.open(store.Options{URL: masters.URL()})
	calls := map[*redistest.Server][]any{} // the newest send of each master
	groups := make([]string, clusterGroups)
	for i := range groups {
		groups[i] = fmt.Sprint("send-", i)
		if err := errors.Join(own.group(groups[i], 3), own.send(groups[i])); err != nil {
			return err
		}
		args := own.traffic.newest()
		_, master := masters.Slot(fmt.Sprint(args[3])) // EVALSHA, the script, how many keys, the first one
		calls[master] = args
	}
	if len(calls) != len(masters.Nodes) {
		return fmt.Errorf("the groups are on %d of %d masters", len(calls), len(masters.Nodes))
	}
	var raw [2]float64
	for i, depth := range []int{1, 64} {
		var err error
		if raw[i], err = rawRates(b, calls, 50, depth); err != nil {
			return err
		}
	}
	b.table.rate("redis-benchmark, the same script calls, one for each master, 50 connections", raw[0], raw[0], "")
	b.table.rate("redis-benchmark, the same, 64 calls deep", raw[1], raw[0], "unpipelined")
	for _, callers := range []int{64, 256} {
		rate, err := parallel(scaled(40_000), callers, func(i int) error { return own.send(groups[i%len(groups)]) })
		if err != nil {
			return err
		}
		b.table.rate(fmt.Sprintf("through the store, %d callers (target: 0.9)", callers), rate, raw[0], "unpipelined")
	}
	return nil
}

// rawRates runs a redis-benchmark for each master, all at once, and adds up their rates.
func rawRates(b *bench, calls map[*redistest.Server][]any, clients, depth int) (sum float64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for master, args := range calls {
		all.Go(func() {
			rate, failed := rawRate(b, master, scaled(60_000), clients/len(calls), depth, args)
			mu.Lock()
			defer mu.Unlock()
			sum, err = sum+rate, errors.Join(err, failed)
		})
	}
	all.Wait()
	return sum, err
}

// messageCost counts what the masters do for a message that is sent alone and reaches readers on all nodes, without
// their acks.
func messageCost(b *bench, masters, nodes int) error {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}, folders: map[string]string{}}
	defer own.close()
	servers := redistest.StartCluster(own.tb, masters, 0)
	dials := make([]dial, nodes)
	for i := range dials {
		url, stop, err := own.node(servers.URL(), false, "off")
		if err != nil {
			return err
		}
		own.tb.Cleanup(stop)
		dials[i] = func(user string) (*client.Client, error) {
			token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: time.Hour}, time.Now())
			if err != nil {
				return nil, err
			}
			return client.New(url, client.StaticToken(token))
		}
	}
	members := make([]string, clusterMembers)
	for i := range members {
		members[i] = fmt.Sprint("reader-", i)
	}
	owner, err := dials[0]("owner")
	if err != nil {
		return err
	}
	for i := range clusterGroups {
		if _, err := owner.CreateGroup(b.ctx, client.GroupDraft{ID: fmt.Sprint("g", i), Members: members}); err != nil {
			return err
		}
	}
	reading, stop := context.WithCancel(b.ctx)
	var readers sync.WaitGroup
	own.tb.Cleanup(func() { stop(); readers.Wait() })
	got := make(chan int, clusterMembers*clusterGroups)
	for i, member := range members {
		c, err := dials[i%nodes](member)
		if err != nil {
			return err
		}
		stream, err := c.Stream(reading, client.StreamOptions{})
		if err != nil {
			return err
		}
		readers.Go(func() { countTexts(reading, stream, got) })
	}
	return countMessages(b, servers, owner, got, fmt.Sprintf("%d masters, %d nodes", masters, nodes))
}

// countTexts passes on how many texts come at a time, until ctx ends.
func countTexts(ctx context.Context, stream *client.Stream, got chan<- int) {
	defer stream.Close()
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			return // a reader that is gone shows as messages that do not arrive
		}
		news, _ := event.(client.Messages)
		texts := 0
		for _, m := range news.Messages {
			if m.Kind == client.KindText {
				texts++
			}
		}
		select {
		case got <- texts:
		case <-ctx.Done():
		}
	}
}

// countMessages sends messages one at a time, each when all readers have the one before, and counts the commands of all
// masters beyond those of idle nodes.
func countMessages(b *bench, servers *redistest.Cluster, owner *client.Client, got <-chan int, what string) error {
	one := func(i int) error {
		if _, err := owner.Send(b.ctx, fmt.Sprint("g", i%clusterGroups), client.Text(*body)); err != nil {
			return err
		}
		for left := clusterMembers; left > 0; {
			select {
			case n := <-got:
				left -= n
			case <-b.ctx.Done():
				return b.ctx.Err()
			case <-time.After(time.Minute):
				return fmt.Errorf("message %d: %d readers still lack it after a minute", i, left)
			}
		}
		return nil
	}
	for i := range clusterGroups { // everything is connected, and every follower runs
		if err := one(i); err != nil {
			return err
		}
	}
	idle := shorter(5 * time.Second)
	commands, us := clusterWork(servers)
	if err := pause(b.ctx, idle); err != nil {
		return err
	}
	quietCommands, quietUs := clusterWork(servers)
	perSecond, usPerSecond := (quietCommands-commands)/idle.Seconds(), (quietUs-us)/idle.Seconds()
	n, began := scaled(2000), time.Now()
	for i := range n {
		if err := one(i); err != nil {
			return err
		}
	}
	commandsAfter, usAfter := clusterWork(servers)
	took := time.Since(began).Seconds()
	b.table.count(what+fmt.Sprintf(": a message to %d live readers", clusterMembers), "%.1f commands, %.0f us of all masters",
		(commandsAfter-quietCommands-perSecond*took)/float64(n), (usAfter-quietUs-usPerSecond*took)/float64(n))
	b.table.count(what+": nothing to do", "%.0f commands/s", perSecond)
	return nil
}

// clusterWork is how many commands all masters ran so far, those in scripts included, and how long they were busy with
// calls from outside, in us.
func clusterWork(servers *redistest.Cluster) (commands, us float64) {
	for _, master := range servers.Nodes {
		for name, s := range commandStats(master) {
			commands += s.calls
			if name == "evalsha" || name == "evalsha_ro" || name == "exec" {
				us += s.us
			}
		}
	}
	return commands, us
}
