package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestDrain stops a node gently, again and again, while people write and read: sockets are told 1012, nothing that was
// acknowledged is lost, and everyone goes on with the next process.
func TestDrain(t *testing.T) {
	for name, config := range map[string]func(*testing.T) harness.Config{
		"embedded": func(*testing.T) harness.Config { return harness.Config{} },
		"redis":    func(t *testing.T) harness.Config { return harness.Config{Redis: redistest.Start(t).URL()} },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := bounded(t, 2*time.Minute)
			node := harness.StartNode(t, config(t))
			r := newRun(ctx, t, []*harness.Node{node}, 4, 4, 3)
			reading, stop := context.WithCancel(ctx)
			r.stop = stop
			for i, way := range []reader{overStream, overPoll, overSync, overAll} {
				r.read(reading, i, way)
			}
			watcher := must(node.Client("reader0").Stream(ctx, quick(nil)))(t)
			defer watcher.Close()

			written := make(chan struct{})
			writing, enough := context.WithCancel(ctx)
			go func() {
				defer close(written)
				for writing.Err() == nil {
					r.write(ctx, 25)
				}
			}()
			before := 0
			for range 3 {
				until(ctx, t, watcher.Next, func(client.Connected) bool { return true })
				harness.Eventually(t, 30*time.Second, "the drain has its load", func() error {
					if got := r.ledger.Count(); got < before+100 {
						return fmt.Errorf("%d sends", got)
					}
					return nil
				})
				began := time.Now()
				node.Terminate()
				before = r.ledger.Count()
				t.Logf("drained in %v after %d sends", time.Since(began).Round(time.Millisecond), before)
				lost := until(ctx, t, watcher.Next, func(client.Disconnected) bool { return true })
				var e *client.Error
				if !errors.As(lost.Err, &e) || e.Status != 1012 {
					t.Errorf("the socket ended with %v, want close code 1012", lost.Err)
				}
				node.Start()
			}
			enough()
			<-written
			began := time.Now()
			r.caughtUp(ctx, 2*time.Minute)
			r.busy()
			t.Logf("%d sends, %d of them by a repeated attempt; all readers have them after %v", r.ledger.Count(), r.retried.Load(), time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestDrainAnswersWaitingPolls stops a node while a poll waits: it is answered, not cut.
func TestDrainAnswersWaitingPolls(t *testing.T) {
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	done := make(chan error, 1)
	go func() {
		_, err := alice.Sync(ctx, client.SyncRequest{After: map[string]client.Position{"g": client.At(1)}, WaitS: 50})
		done <- err
	}()
	harness.Eventually(t, 20*time.Second, "the poll is under way", func() error {
		m, err := node.Metrics(ctx)
		if err == nil && m["chatd_requests_in_flight"] < 2 { // it, and this question
			err = errors.New("it is not")
		}
		return err
	})
	node.Terminate()
	if err := <-done; err != nil && client.CodeOf(err) != client.CodeUnavailable {
		t.Errorf("the waiting poll got %v, want an answer", err)
	}
}
