package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var awayFlag = flag.Int("away", 10, "messages in each group of TestClientsComeBackAtOnce; `make soak` takes 10,000, and 50 groups instead of 20")

// TestClientsComeBackAtOnce: clients that were away come back to the embedded store at the same moment, each to many
// groups with a backlog. None retries, all are served, and each gets every message once and in order.
func TestClientsComeBackAtOnce(t *testing.T) {
	const writers, enough = 8, 10_000 // enough texts for each client
	clients, groups := 20, 20
	if *awayFlag >= 1000 {
		clients, groups = 50, 50
	}
	node := harness.StartNode(t, harness.Config{Data: t.TempDir()})
	ctx := bounded(t, 2*time.Minute+time.Duration(*awayFlag*groups)*4*time.Millisecond)
	names := make([]string, clients)
	for i := range names {
		names[i] = fmt.Sprintf("user-%d", i)
	}
	var filling sync.WaitGroup
	for w := range writers {
		filling.Go(func() {
			for i := w; i < groups; i += writers {
				if err := fillGroup(ctx, node.Client(fmt.Sprintf("writer-%d", w), patient()), fmt.Sprintf("g%d", i), names, *awayFlag); err != nil {
					t.Errorf("fill: %v", err)
				}
			}
		})
	}
	filling.Wait()
	if t.Failed() {
		return
	}
	var answers, failures, messages atomic.Int64
	var back sync.WaitGroup
	for _, name := range names {
		c := node.Client(name, client.WithRetry(1, client.Backoff{}))
		back.Go(func() {
			got, asked, err := catchUp(ctx, c, min(enough, groups**awayFlag))
			answers.Add(asked)
			messages.Add(got)
			if err != nil {
				failures.Add(1)
				t.Errorf("%s, after %d answers and %d messages: %v", name, asked, got, err)
			}
		})
	}
	back.Wait()
	t.Logf("%d answers with %d messages, %d failures", answers.Load(), messages.Load(), failures.Load())
	if want := int64(clients * groups * *awayFlag); *awayFlag*groups < enough && messages.Load() != want {
		t.Errorf("got %d messages, want %d", messages.Load(), want)
	}
}

// catchUp syncs and acks until c has got that many texts. It returns how many it got, and how many syncs were answered.
func catchUp(ctx context.Context, c *client.Client, texts int) (got, answers int64, err error) {
	held, acks := map[string]int64{}, map[string]client.Position{}
	for got < int64(texts) {
		answer, err := c.Sync(ctx, client.SyncRequest{Ack: acks, InboxAck: client.At(1), Limit: 500})
		if err != nil {
			return got, answers, err
		}
		answers++
		if len(answer.Groups) == 0 {
			return got, answers, errors.New("nothing is new")
		}
		clear(acks)
		for _, batch := range answer.Groups {
			acks[batch.Group] = client.At(batch.To)
			for _, m := range batch.Messages {
				if m.ID <= held[batch.Group] {
					return got, answers, fmt.Errorf("message %d of %s came after %d", m.ID, batch.Group, held[batch.Group])
				}
				held[batch.Group] = m.ID
				if m.Kind == client.KindText {
					got++
				}
			}
		}
	}
	return got, answers, nil
}

// fillGroup makes a group with messages that nobody has read.
func fillGroup(ctx context.Context, c *client.Client, group string, members []string, messages int) error {
	keep, most := int64(messages+100), int64(messages+100_000)
	if _, err := c.CreateGroup(ctx, client.GroupDraft{ID: group, Members: members, Keep: &keep, BacklogMax: &most}); err != nil {
		return err
	}
	for i := range messages {
		if _, err := c.Send(ctx, group, client.Draft{Body: fmt.Sprintf("message %d, which is about as long as people write", i)}); err != nil {
			return err
		}
	}
	return nil
}
