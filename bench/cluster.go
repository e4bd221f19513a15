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
)

const (
	clusterGroups  = 24 // spread over all masters
	clusterMembers = 12 // of a group, spread over all nodes
)

// cluster compares sends on three masters with redis-benchmark running the very same script calls on all of them at
// once, and counts what a message costs the masters with more nodes and with more masters.
func cluster(b *bench) {
	b.table.section("Redis Cluster: a message of 200 bytes, groups on all masters")
	sendingCluster(b)
	for _, size := range []struct{ masters, nodes int }{{3, 1}, {3, 2}, {3, 4}, {6, 1}, {6, 2}, {6, 4}} {
		messageCost(b, size.masters, size.nodes)
	}
}

// sendingCluster has callers send to groups on all of three masters.
func sendingCluster(b *bench) {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}}
	defer own.close()
	masters := redistest.StartCluster(own.tb, 3, 0)
	own.open(store.Options{URL: masters.URL()})
	calls := map[*redistest.Server][]any{} // the newest send of each master
	groups := make([]string, clusterGroups)
	for i := range groups {
		groups[i] = fmt.Sprint("send-", i)
		ok(errors.Join(own.group(groups[i], 3), own.send(groups[i])))
		args := own.traffic.newest()
		_, master := masters.Slot(fmt.Sprint(args[3])) // EVALSHA, the script, how many keys, the first one
		calls[master] = args
	}
	if len(calls) != len(masters.Nodes) {
		ok(fmt.Errorf("the groups are on %d of %d masters", len(calls), len(masters.Nodes)))
	}
	var raw [2]float64
	for i, depth := range []int{1, 64} {
		raw[i] = rawRates(b, calls, 50, depth)
	}
	b.table.rate("redis-benchmark, the same script calls, one for each master, 50 connections", raw[0], raw[0], "")
	b.table.rate("redis-benchmark, the same, 64 calls deep", raw[1], raw[0], "unpipelined")
	for _, callers := range []int{64, 256} {
		rate := parallel(scaled(40_000), callers, func(i int) error { return own.send(groups[i%len(groups)]) })
		b.table.rate(fmt.Sprintf("through the store, %d callers (target: 0.9)", callers), rate, raw[0], "unpipelined")
	}
}

// rawRates runs a redis-benchmark for each master, all at once, and adds up their rates.
func rawRates(b *bench, calls map[*redistest.Server][]any, clients, depth int) (sum float64) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var err error
	for master, args := range calls {
		all.Go(func() {
			rate, failed := rawRate(b, master, scaled(60_000), clients/len(calls), depth, args)
			mu.Lock()
			defer mu.Unlock()
			sum, err = sum+rate, errors.Join(err, failed)
		})
	}
	all.Wait()
	return must(sum, err)
}

// messageCost counts what the masters do for a message that is sent alone and reaches readers on all nodes, without
// their acks.
func messageCost(b *bench, masters, nodes int) {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}, folders: map[string]string{}}
	defer own.close()
	servers := redistest.StartCluster(own.tb, masters, 0)
	dials := make([]dial, nodes)
	for i := range dials {
		url, stop := own.node(servers.URL(), false, "off")
		own.tb.Cleanup(stop)
		dials[i] = func(user string) *client.Client { return userOf(url, user) }
	}
	members := make([]string, clusterMembers)
	for i := range members {
		members[i] = fmt.Sprint("reader-", i)
	}
	owner := dials[0]("owner")
	for i := range clusterGroups {
		must(owner.CreateGroup(b.ctx, client.GroupDraft{ID: fmt.Sprint("g", i), Members: members}))
	}
	reading, stop := context.WithCancel(b.ctx)
	var readers sync.WaitGroup
	own.tb.Cleanup(func() { stop(); readers.Wait() })
	got := make(chan string, clusterMembers*clusterGroups)
	for i, member := range members {
		c := dials[i%nodes](member)
		stream := must(c.Stream(reading, client.StreamOptions{}))
		readers.Go(func() {
			defer stream.Close()
			follow(reading, stream, got)
		})
	}
	countMessages(b, servers, owner, got, fmt.Sprintf("%d masters, %d nodes", masters, nodes))
}

// countMessages sends messages one at a time, each when all readers have the one before, and counts the commands of all
// masters beyond those of idle nodes.
func countMessages(b *bench, servers *redistest.Cluster, owner *client.Client, got <-chan string, what string) {
	one := func(i int) error {
		if _, err := owner.Send(b.ctx, fmt.Sprint("g", i%clusterGroups), client.Text(*body)); err != nil {
			return err
		}
		for left := clusterMembers; left > 0; {
			select {
			case <-got:
				left--
			case <-b.ctx.Done():
				return b.ctx.Err()
			case <-time.After(time.Minute):
				return fmt.Errorf("message %d: %d readers still lack it after a minute", i, left)
			}
		}
		return nil
	}
	for i := range clusterGroups { // everything is connected, and every follower runs
		ok(one(i))
	}
	idle := shorter(5 * time.Second)
	commands, us := clusterWork(servers)
	ok(pause(b.ctx, idle))
	quietCommands, quietUs := clusterWork(servers)
	perSecond, usPerSecond := (quietCommands-commands)/idle.Seconds(), (quietUs-us)/idle.Seconds()
	n, began := scaled(2000), time.Now()
	for i := range n {
		ok(one(i))
	}
	commandsAfter, usAfter := clusterWork(servers)
	took := time.Since(began).Seconds()
	b.table.count(what+fmt.Sprintf(": a message to %d live readers", clusterMembers), "%.1f commands, %.0f us of all masters",
		(commandsAfter-quietCommands-perSecond*took)/float64(n), (usAfter-quietUs-usPerSecond*took)/float64(n))
	b.table.count(what+": nothing to do", "%.0f commands/s", perSecond)
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
