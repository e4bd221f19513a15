package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const (
	crowdUsers       = 4
	crowdConnections = 25 // of each
	crowdGroups      = 5  // that each of their calls reads
	// A share of the node is that of one of crowdUsers and the pair, a quarter of it while the line is long.
	crowdShares = 4 * (crowdUsers + 2)
)

// TestOverloadSparesTheInnocent has users ask for far more than a node can do, each within their limits. It refuses some of
// that, and every call of a pair that asks for little succeeds, about as soon as what is served of the others. On a busy machine a few may be refused.
func TestOverloadSparesTheInnocent(t *testing.T) {
	ctx := bounded(t, 3*time.Minute)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_MAX_CALLS_NODE": "4"}})
	users := make([]string, crowdUsers)
	for i := range users {
		users[i] = fmt.Sprint("crowd", i)
	}
	alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
	bob := node.Client("bob", client.WithRetry(1, client.Backoff{}))
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "pair", Members: []string{"bob"}}))(t)
	for i := range crowdGroups {
		group := must(alice.CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprint("crowded", i), Members: users}))(t)
		for range 10 {
			must(alice.Send(ctx, group.ID, client.Text("x")))(t)
		}
	}

	flooding, stop := context.WithCancel(ctx)
	var callers sync.WaitGroup
	var mu sync.Mutex
	var served []time.Duration
	var refused atomic.Int64
	overloaded := make(chan struct{})
	for _, user := range users {
		f := &flood{node: node, token: harness.Token(user, "", time.Hour)}
		for range crowdConnections {
			callers.Go(func() {
				for flooding.Err() == nil {
					began := time.Now()
					switch status := f.http("POST", "/v1/sync", `{"limit":200}`); status {
					case http.StatusServiceUnavailable:
						if refused.Add(1) == 1 {
							close(overloaded)
						}
						harness.Pause(flooding, 50*time.Millisecond) // far sooner than asked for, and leaves the machine to the node
					case http.StatusOK:
						mu.Lock()
						served = append(served, time.Since(began))
						mu.Unlock()
					default:
						t.Errorf("a call of the crowd got status %d", status)
						return
					}
				}
			})
		}
	}
	defer callers.Wait()
	defer stop()
	select {
	case <-overloaded:
	case <-ctx.Done():
		t.Fatal("nothing was refused: there is no overload")
	}
	mu.Lock()
	served = nil
	mu.Unlock()
	since := time.Now()
	perTurn := func() time.Duration { // how often the node serves someone
		mu.Lock()
		defer mu.Unlock()
		return time.Since(since) / time.Duration(max(1, len(served)))
	}
	const rounds = 12
	var took []time.Duration
	unlucky := 0
	for i := 0; len(took) < rounds; i++ {
		// Ten rounds a second, or half of the pair's share if the machine is slow.
		harness.Pause(ctx, max(100*time.Millisecond, 2*crowdShares*perTurn()))
		at := time.Now()
		sent, err := alice.Send(ctx, "pair", client.Draft{Body: "hi"})
		if err == nil {
			_, err = bob.Ack(ctx, "pair", sent.ID)
		}
		// Where a busy machine suspends the node, a share is less for a moment than it was when the pair looked. Of the crowd's
		// calls most are refused.
		if client.CodeOf(err) == client.CodeUnavailable && unlucky < rounds/4 {
			unlucky++
			continue
		}
		if err != nil {
			t.Fatalf("the innocent pair, round %d: %v; %d refused before", i, err, unlucky)
		}
		took = append(took, time.Since(at)/2)
	}
	stop()
	callers.Wait()
	if len(served) == 0 || refused.Load() < rounds {
		t.Fatalf("%d calls of the crowd were served and %d refused: no overload", len(served), refused.Load())
	}
	slices.Sort(served)
	slices.Sort(took)
	pair, crowd := took[len(took)/2], served[len(served)/2]
	t.Logf("of the crowd %d calls were served, median %v, and %d refused; the pair's %d took %v, the slowest %v", len(served),
		crowd.Round(time.Millisecond), refused.Load(), 2*rounds, pair.Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
	if pair > 3*crowd {
		t.Errorf("a call of the pair took %v, one of the crowd %v", pair, crowd)
	}
}
