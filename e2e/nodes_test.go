package e2e

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

func twoNodes(t *testing.T) []*harness.Node {
	t.Helper()
	redis := redistest.Start(t)
	return []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: redis.URL()}), harness.StartNode(t, harness.Config{Redis: redis.URL()}),
	}
}

// arrival sends one message at one node and returns how long it took to reach the stream.
func arrival(ctx context.Context, t *testing.T, from *client.Client, to *client.Stream) time.Duration {
	t.Helper()
	began := time.Now()
	sent := make(chan client.Sent, 1)
	go func() {
		defer close(sent)
		if s, err := from.Send(ctx, "g", client.Text("x")); err == nil {
			sent <- s
		}
	}()
	got := until(ctx, t, to.Next, func(client.Messages) bool { return true })
	took := time.Since(began)
	if s := <-sent; s.ID != got.To {
		t.Fatalf("got message %d, sent was %d", got.To, s.ID)
	}
	return took
}

// between opens a stream of bob at one node for what alice sends at another.
func between(ctx context.Context, t *testing.T, from, to *harness.Node) (*client.Client, *client.Stream) {
	t.Helper()
	alice := from.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	stream := must(to.Client("bob").Stream(ctx, client.StreamOptions{}))(t)
	t.Cleanup(func() { stream.Close() })
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 2 })
	return alice, stream
}

// TestMessageReachesTheOtherNodeAtOnce sends at one node and reads at the other.
func TestMessageReachesTheOtherNodeAtOnce(t *testing.T) {
	ctx := bounded(t, time.Minute)
	nodes := twoNodes(t)
	alice, stream := between(ctx, t, nodes[0], nodes[1])
	const sends = 200
	took := make([]time.Duration, 0, sends)
	for range sends {
		took = append(took, arrival(ctx, t, alice, stream))
	}
	slices.Sort(took)
	t.Logf("from a send at one node to a websocket at the other: median %v, p99 %v, longest %v", took[sends/2], took[sends*99/100], took[sends-1])
	// The safety check would bring most of them only after half a second and more.
	if took[sends*9/10] > 500*time.Millisecond {
		t.Errorf("nine of ten took up to %v: that was not the signal", took[sends*9/10])
	}
}

// TestLostSignalIsRepaired lets the signals to one node vanish on their way: the safety check finds what they told.
func TestLostSignalIsRepaired(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.Addr, 0)
	from := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	to := harness.StartNode(t, harness.Config{Redis: proxy.URL()})
	alice, stream := between(ctx, t, from, to)
	arrival(ctx, t, alice, stream)
	proxy.Mute(true)
	var longest time.Duration
	for range 5 {
		longest = max(longest, arrival(ctx, t, alice, stream))
	}
	t.Logf("with every signal lost the longest of 5 took %v", longest)
	if proxy.Swallowed() == 0 {
		t.Error("no signal was lost: the run shows nothing")
	}
	if longest < 50*time.Millisecond {
		t.Errorf("the longest took %v: the signals were not lost", longest)
	}
	if limit := 3 * time.Second; longest > limit {
		t.Errorf("got up to %v, want repaired within about 2 s", longest)
	}
	proxy.Mute(false)
	arrival(ctx, t, alice, stream)
	if took := arrival(ctx, t, alice, stream); took > time.Second {
		t.Errorf("with signals again it took %v", took)
	}
	if got := stream.Stats(); got.Repeats+got.Holes+got.Gaps > 0 || got.Sessions != 1 {
		t.Errorf("got %+v, want nothing repeated or skipped in one session", got)
	}
}

// TestLongPollWakesAtOnce sends to a poll that waits at the other node.
func TestLongPollWakesAtOnce(t *testing.T) {
	ctx := bounded(t, time.Minute)
	nodes := twoNodes(t)
	alice := nodes[0].Client("alice")
	group := must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	bob := nodes[1].Client("bob")
	after := map[string]client.Position{"g": client.At(group.Last)}
	var inbox client.Inbox
	harness.Eventually(t, 10*time.Second, "bob is told of being added", func() (err error) {
		if inbox, err = bob.Inbox(ctx, nil, 0); err == nil && inbox.Last == 0 {
			err = errors.New("his inbox is empty")
		}
		return err
	})
	for range 5 {
		type answer struct {
			client.SyncAnswer
			err error
			at  time.Time
		}
		got := make(chan answer, 1)
		go func() {
			a, err := bob.Sync(ctx, client.SyncRequest{After: after, InboxAck: inbox.Cursor, WaitS: 30})
			got <- answer{a, err, time.Now()}
		}()
		harness.Pause(ctx, 200*time.Millisecond) // the poll is under way by then, and it may be late all the same
		began := time.Now()
		sent := must(alice.Send(ctx, "g", client.Text("x")))(t)
		a := <-got
		if a.err != nil || len(a.Groups) != 1 || a.Groups[0].To != sent.ID {
			t.Fatalf("got %+v, want message %d", a, sent.ID)
		}
		if took := a.at.Sub(began); took > time.Second {
			t.Errorf("the poll was answered %v after the send began", took)
		}
		after["g"] = a.Groups[0].Cursor
	}
	began := time.Now()
	none := must(bob.Sync(ctx, client.SyncRequest{After: after, WaitS: 1}))(t)
	if took := time.Since(began); len(none.Groups) > 0 || took < 900*time.Millisecond || took > 5*time.Second {
		t.Errorf("got %+v after %v, want nothing after 1 s", none, took)
	}
}
