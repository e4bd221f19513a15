package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// about keeps the commands that name a key or a channel of the group; what the node does for itself is left out.
func about(commands []string, group string) []string {
	var kept []string
	for _, command := range commands {
		if strings.Contains(command, ":g:"+group+":") || strings.Contains(command, ":g:"+group+`"`) {
			kept = append(kept, command)
		}
	}
	return kept
}

// scripts counts the calls of scripts that write, and the other commands.
func scripts(commands []string) (calls, others int) {
	for _, command := range commands {
		if strings.HasPrefix(strings.ToLower(command), `"evalsha" `) {
			calls++
		} else {
			others++
		}
	}
	return calls, others
}

// TestOneScriptASend counts what a send costs Redis. The recipient is online at the same node.
func TestOneScriptASend(t *testing.T) {
	ctx := bounded(t, time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	alice := node.Client("alice")
	group := must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	stream := must(node.Client("bob").Stream(ctx, client.StreamOptions{}))(t)
	defer stream.Close()
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To >= group.Last })
	must(alice.Send(ctx, "g", client.Text("warm")))(t)
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To > group.Last })

	monitor := redis.Watch(t)
	monitor.Take(t)
	const sends = 100
	began := time.Now()
	for range sends {
		sent := must(alice.Send(ctx, "g", client.Text("x")))(t)
		until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == sent.ID })
	}
	elapsed := time.Since(began)
	commands := about(monitor.Take(t), "g")
	calls, others := scripts(commands)
	t.Logf("%d sends, each delivered: %d script calls and %d other commands in %v", sends, calls, others, elapsed.Round(time.Millisecond))
	if calls != sends {
		t.Errorf("%d script calls for %d sends, want one each: %v", calls, sends, sample(commands))
	}
	// The safety check looks at the group every 2 s, whatever is sent.
	if limit := int(elapsed/time.Second) + 2; others > limit {
		t.Errorf("%d other commands, want at most the %d of the safety check: %v", others, limit, sample(commands))
	}
}

// sample shows the beginnings of some commands.
func sample(commands []string) string {
	var b strings.Builder
	seen := map[string]int{}
	for _, command := range commands {
		start := command[:min(len(command), 60)]
		if seen[start]++; seen[start] == 1 {
			fmt.Fprintf(&b, "\n  %s", command[:min(len(command), 160)])
		}
	}
	return b.String()
}

// crowd is how many members are online. Each of them reads that everybody else has joined, so a larger one takes long.
const crowd = 200

// TestMessageToManyCostsNoMoreThanToOne counts the commands of a message to one online member and to a crowd.
func TestMessageToManyCostsNoMoreThanToOne(t *testing.T) {
	ctx := bounded(t, 4*time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	members := make([]string, crowd)
	for i := range members {
		members[i] = fmt.Sprintf("m%d", i)
	}
	owner := node.Client("owner")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "many", Members: members[:crowd-1]}))(t)
	must(owner.PutMember(ctx, "many", members[crowd-1], ""))(t)
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "one", Members: []string{"single"}}))(t)

	var got atomic.Int64 // messages that reached someone
	arrived := make(chan struct{}, 1)
	var listening sync.WaitGroup
	reading, stop := context.WithCancel(ctx)
	defer listening.Wait()
	defer stop()
	ready := make(chan error, crowd+1)
	positions := make(chan struct{}, 50) // how many connect at once
	listen := func(name string, last int64) {
		positions <- struct{}{}
		stream, err := node.Client(name, patient()).Stream(reading, client.StreamOptions{})
		if err != nil {
			ready <- err
			return
		}
		defer stream.Close()
		reached := false
		for {
			event, err := stream.Next(reading)
			if err != nil {
				return
			}
			if e, ok := event.(client.Messages); ok {
				if !reached && e.To >= last {
					reached = true
					<-positions
					ready <- nil
				}
				for _, m := range e.Messages {
					if m.Body == "counted" {
						got.Add(1)
					}
				}
				select {
				case arrived <- struct{}{}:
				default:
				}
			}
		}
	}
	began := time.Now()
	last := must(owner.Group(ctx, "many"))(t).Last
	for _, name := range members {
		listening.Go(func() { listen(name, last) })
	}
	listening.Go(func() { listen("single", 2) })
	for range crowd + 1 {
		if err := <-ready; err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d members are online after %v", crowd+1, time.Since(began).Round(time.Millisecond))

	monitor := redis.Watch(t)
	const sends = 20
	cost := map[string]int{}
	for group, online := range map[string]int64{"one": 1, "many": crowd} {
		monitor.Take(t)
		got.Store(0)
		began := time.Now()
		for range sends {
			must(owner.Send(ctx, group, client.Text("counted")))(t)
		}
		for got.Load() < sends*online {
			select {
			case <-arrived:
			case <-ctx.Done():
				t.Fatalf("%s: %d of %d deliveries", group, got.Load(), sends*online)
			}
		}
		elapsed := time.Since(began)
		all := monitor.Take(t)
		calls, others := scripts(about(all, group))
		t.Logf("%s: %d deliveries in %v: %d script calls and %d other commands for the group, %d commands of the node in all",
			group, sends*online, elapsed.Round(time.Millisecond), calls, others, len(all))
		cost[group] = calls
		if calls != sends {
			t.Errorf("%s: %d script calls for %d sends: %s", group, calls, sends, sample(all))
		}
		// The safety check, and the pulls of sessions that fell behind on a busy machine: for no message those of all.
		if limit := 2*int(elapsed/time.Second) + sends + crowd/2; others > limit {
			t.Errorf("%s: %d other commands, want at most %d: %s", group, others, limit, sample(about(all, group)))
		}
	}
	if cost["many"] > cost["one"] {
		t.Errorf("a message to %d cost %d script calls, to one %d", crowd, cost["many"], cost["one"])
	}
}

// TestSyncTakesTwoRoundTrips makes the way to Redis long, so that the time of a sync over twenty groups counts its round
// trips.
func TestSyncTakesTwoRoundTrips(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	redis := redistest.Start(t)
	near := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	const oneWay = 100 * time.Millisecond
	far := harness.StartNode(t, harness.Config{Redis: redistest.StartProxy(t, redis.Addr, oneWay).URL()})
	alice := near.Client("alice")
	const groups = 20
	for i := range groups {
		group := fmt.Sprintf("g%d", i)
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"bob"}}))(t)
		must(alice.Send(ctx, group, client.Text("x")))(t)
	}
	bob := far.Client("bob")
	harness.Eventually(t, 30*time.Second, "bob's index has all groups", func() error {
		if listed, err := near.Client("bob").Groups(ctx, client.Page{}); err != nil || listed.Total != groups {
			return fmt.Errorf("%d groups, error %w", listed.Total, err)
		}
		return nil
	})
	must(bob.Sync(ctx, client.SyncRequest{}))(t) // opens the connections
	for name, req := range map[string]client.SyncRequest{"from seen": {}, "from positions": {After: positions(groups)}} {
		// A busy machine delays most of them, and never makes one shorter than its round trips.
		best, trips := time.Hour, 0
		for i := 0; i < 50 && (i < 3 || trips > 2); i++ {
			began := time.Now()
			answer := must(bob.Sync(ctx, req))(t)
			best = min(best, time.Since(began))
			trips = int((best + oneWay/2) / (2 * oneWay))
			if len(answer.Groups) != groups {
				t.Fatalf("got %d groups, want %d", len(answer.Groups), groups)
			}
		}
		t.Logf("a sync over %d groups %s took %v at %v a round trip: %d", groups, name, best.Round(time.Millisecond), 2*oneWay, trips)
		if trips < 1 || trips > 2 {
			t.Errorf("%s: %d round trips, want 1 or 2", name, trips)
		}
	}
}

func positions(groups int) map[string]client.Position {
	after := map[string]client.Position{}
	for i := range groups {
		after[fmt.Sprintf("g%d", i)] = client.At(1)
	}
	return after
}
