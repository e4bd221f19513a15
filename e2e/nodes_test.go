package e2e

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
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
	// The safety check would bring three of four only after half a second and more. A busy machine delays some.
	if took[sends/2] > 500*time.Millisecond {
		t.Errorf("half of them took %v and more: that was not the signal", took[sends/2])
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
	watch := redis.Watch(t)
	fewest := math.MaxInt
	for range 5 {
		proxy.Mute(true)
		watch.Take(t)
		took := arrival(ctx, t, alice, stream)
		checks, reads := looks(watch.Take(t), "g")
		t.Logf("without its signal a message arrived after %v: %d safety checks, %d reads", took.Round(time.Millisecond), checks, reads)
		if reads == 0 {
			t.Error("the log was not read: the signal was not lost")
		}
		fewest = min(fewest, checks)
	}
	if fewest > 4 { // each node does them every two seconds, and one is enough; a busy machine shows the message late
		t.Errorf("it took %d safety checks and more until a message was found", fewest)
	}
	if proxy.Swallowed() == 0 {
		t.Error("no signal was lost: the run shows nothing")
	}
	proxy.Mute(false)
	arrival(ctx, t, alice, stream)
	watch.Take(t)
	const sends = 20
	for range sends {
		arrival(ctx, t, alice, stream)
	}
	// A safety check may be faster than a signal.
	if _, reads := looks(watch.Take(t), "g"); reads > sends/2 {
		t.Errorf("with signals again, %d of %d messages were read from the store", reads, sends)
	}
	if got := stream.Stats(); got.Repeats+got.Holes+got.Gaps > 0 || got.Sessions != 1 {
		t.Errorf("got %+v, want nothing repeated or skipped in one session", got)
	}
}

// looks counts what looked at a group of its own accord: the safety checks of nodes, and reads of the log.
func looks(commands []string, group string) (checks, reads int) {
	for _, command := range about(commands, group) {
		switch {
		case strings.HasPrefix(strings.ToLower(command), `"evalsha" `):
		case strings.Contains(command, ":g:"+group+":msgs"):
			reads++
		case strings.Contains(command, ":g:"+group+":seen"): // a poll looks for its user
		default:
			checks++
		}
	}
	return checks, reads
}

// TestLongPollWakesAtOnce sends to a poll that waits at the other node: the signal wakes it, not the next safety check.
func TestLongPollWakesAtOnce(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	redis := redistest.Start(t)
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: redis.URL()}), harness.StartNode(t, harness.Config{Redis: redis.URL()}),
	}
	watch := redis.Watch(t)
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
	const polls = 10
	checked := 0
	for range polls {
		type answer struct {
			client.SyncAnswer
			err error
		}
		got := make(chan answer, 1)
		go func() {
			a, err := bob.Sync(ctx, client.SyncRequest{After: after, InboxAck: inbox.Cursor, WaitS: 30})
			got <- answer{a, err}
		}()
		harness.Pause(ctx, 200*time.Millisecond) // the poll is under way by then, and it may be late all the same
		watch.Take(t)
		began := time.Now()
		sent := must(alice.Send(ctx, "g", client.Text("x")))(t)
		a := <-got
		took := time.Since(began)
		if a.err != nil || len(a.Groups) != 1 || a.Groups[0].To != sent.ID {
			t.Fatalf("got %+v, want message %d", a, sent.ID)
		}
		checks, _ := looks(watch.Take(t), "g")
		t.Logf("the poll was answered %v after the send began, %d safety checks later", took.Round(time.Millisecond), checks)
		checked += min(checks, 1)
		after["g"] = a.Groups[0].Cursor
	}
	if checked == polls {
		t.Error("each poll was answered after a safety check only: no signal woke it")
	}
	began := time.Now()
	none := must(bob.Sync(ctx, client.SyncRequest{After: after, WaitS: 1}))(t)
	if took := time.Since(began); len(none.Groups) > 0 || took < 900*time.Millisecond {
		t.Errorf("got %+v after %v, want nothing after 1 s", none, took)
	}
}
