package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPresenceOfADeadNode kills a node: its people go offline, those of the other node stay, and who comes back is there again.
func TestPresenceOfADeadNode(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	nodes := twoNodes(t)
	var people []string
	for i := range 20 {
		people = append(people, fmt.Sprintf("p%02d", i))
	}
	carl := nodes[1].Client("carl", patient())
	must(carl.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: people}))(t)
	online := func(want int) {
		t.Helper()
		harness.Eventually(t, time.Minute, fmt.Sprintf("%d are online", want), func() error {
			n, _, _, err := carl.GroupPresence(ctx, "g", client.Page{})
			if err == nil && n != want {
				err = fmt.Errorf("%d are", n)
			}
			return err
		})
	}
	sit := func(user string, node *harness.Node) {
		t.Helper()
		stream := must(node.Client(user, client.WithRetry(1, client.Backoff{})).Stream(ctx, quick(nil)))(t)
		t.Cleanup(stream.Close)
		go func() {
			for {
				if _, err := stream.Next(ctx); err != nil {
					return
				}
			}
		}()
	}
	sit("carl", nodes[1])
	sit(people[0], nodes[1]) // and at the other node
	for _, user := range people {
		sit(user, nodes[0])
	}
	online(len(people) + 1)
	nodes[0].Kill()
	died := time.Now()
	online(2)
	t.Logf("%d people of a dead node are offline after %v", len(people)-1, time.Since(died).Round(time.Millisecond))
	users := must(carl.Presence(ctx, people...))(t)
	if len(users) != 1 || users[0].User != people[0] {
		t.Errorf("got %+v, want %s alone", users, people[0])
	}
	nodes[0].Start()
	online(len(people) + 1)
}
