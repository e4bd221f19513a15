package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestPollsThatBeginAtOnce: two thousand long polls that begin at the same moment all wait, and all get the message that
// comes.
func TestPollsThatBeginAtOnce(t *testing.T) {
	const users, each = 400, 5
	node := harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL()})
	ctx := bounded(t, 2*time.Minute)
	names := make([]string, users)
	for i := range names {
		names[i] = fmt.Sprintf("user-%d", i)
	}
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: names}))(t)
	var g client.GroupState
	harness.Eventually(t, time.Minute, "all are members", func() (err error) {
		if g, err = alice.Group(ctx, "g"); err == nil && g.Members != users+1 {
			err = fmt.Errorf("%d members", g.Members)
		}
		return err
	})
	var all sync.WaitGroup
	for _, name := range names {
		c := node.Client(name, client.WithRetry(1, client.Backoff{}))
		for range each {
			all.Go(func() {
				after := map[string]client.Position{"g": client.At(g.Last)}
				for got := false; !got; { // the news of having been added may come first
					answer, err := c.Sync(ctx, client.SyncRequest{After: after, InboxAck: client.At(1), WaitS: 60})
					if err != nil {
						t.Errorf("a poll of %s: %v", name, err)
						return
					}
					for _, batch := range answer.Groups {
						got = got || slices.ContainsFunc(batch.Messages, func(m client.Message) bool { return m.Body == "here" })
					}
				}
			})
		}
	}
	must(alice.Send(ctx, "g", client.Draft{Body: "here"}))(t)
	all.Wait()
}
