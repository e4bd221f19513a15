package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestStreamRenewsItsToken lives on tokens of ten seconds, with two of them to renew one on a busy machine: the socket outlasts
// several.
func TestStreamRenewsItsToken(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	const ttl = 10 * time.Second
	var asked atomic.Int64
	fresh := func(context.Context) (string, error) {
		asked.Add(1)
		return harness.Token("bob", "", ttl), nil
	}
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	bob := must(client.New(node.URL(), fresh))(t)
	stream := must(bob.Stream(ctx, client.StreamOptions{}))(t)
	defer stream.Close()
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 2 })
	// The server ends a session whose token is over within 5 s of its end.
	harness.Pause(ctx, 2*ttl+6*time.Second)
	must(alice.Send(ctx, "g", client.Text("still there?")))(t)
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 3 })
	// A session that is not renewed takes one token. A busy machine may renew one too late, and begin another.
	if got := stream.Stats(); asked.Load() < got.Sessions+2 {
		t.Errorf("%d tokens for %d sessions, want several for one", asked.Load(), got.Sessions)
	}
}

// TestStreamEndsWhenTheUserIsRefused gives tokens that do not hold: the stream says so instead of trying for ever.
func TestStreamEndsWhenTheUserIsRefused(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	bob := must(client.New(node.URL(), client.StaticToken(harness.Token("bob", "", -time.Hour))))(t)
	stream := must(bob.Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	for {
		event, err := stream.Next(ctx)
		if err != nil {
			if client.CodeOf(err) != client.CodeUnauthenticated {
				t.Errorf("got %v, want unauthenticated", err)
			}
			break
		}
		if _, ok := event.(client.Disconnected); !ok {
			t.Errorf("got %+v of a user who is refused", event)
		}
	}
	if _, err := stream.Send(ctx, "g", client.Text("x")); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("a send got %v, want unauthenticated", err)
	}
}

// TestClientResumesFromItsFile lets a reader crash again and again after it took some messages, with its positions in a
// file: each message is dealt with at least once, and the next reader begins with the one that was not.
func TestClientResumesFromItsFile(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		alice, bob := node.Client("alice"), node.Client("bob")
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
		path := filepath.Join(t.TempDir(), "positions")
		var dealt []int64
		for life := range 10 {
			for range 5 {
				must(alice.Send(ctx, "g", client.Text("x")))(t)
			}
			cursors := must(client.NewFileCursors(path))(t)
			var next func(context.Context) (client.Event, error)
			stop := func() {}
			if life%2 == 0 {
				stream := must(bob.Stream(ctx, client.StreamOptions{Cursors: cursors}))(t)
				next, stop = stream.Next, func() { stream.Close() }
			} else {
				next = bob.Poll(client.PollOptions{Cursors: cursors, Limit: 3}).Next
			}
			first := until(ctx, t, next, func(client.Messages) bool { return true })
			if want := int64(len(dealt)) + 1; first.From != want {
				t.Fatalf("life %d begins with %d, want %d", life, first.From, want)
			}
			for id := first.From; id <= first.To; id++ {
				dealt = append(dealt, id)
			}
			// The next one is taken and not dealt with: this life ends before it comes for another.
			if must(alice.Send(ctx, "g", client.Text("unlucky")))(t).ID > first.To {
				until(ctx, t, next, func(e client.Messages) bool { return e.From > first.To })
			}
			stop()
		}
	})
}

// TestClientReadsSomeGroups reads one group from its newest page on, and hears once of the one that it is not in.
func TestClientReadsSomeGroups(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	alice, bob := node.Client("alice"), node.Client("bob")
	for _, g := range []string{"red", "blue"} {
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: g, Members: []string{"bob"}}))(t)
	}
	for range 150 { // more than a page
		must(alice.Send(ctx, "red", client.Text("x")))(t)
	}
	only, cursors := []string{"red", "elsewhere"}, &client.MemoryCursors{}
	if err := cursors.Save(ctx, map[string]client.Position{"blue": client.At(1)}); err != nil {
		t.Fatal(err)
	}
	read := func(name string, next func(context.Context) (client.Event, error)) {
		t.Helper()
		first := must(alice.Send(ctx, "red", client.Text("x")))(t).ID
		must(alice.Send(ctx, "blue", client.Text("not to be read")))(t)
		var from, to int64
		left := 0
		for last := int64(0); to == 0 || to < last || left == 0; {
			event, err := next(ctx)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch e := event.(type) {
			case client.Messages:
				if e.Group != "red" {
					t.Errorf("%s: got messages of %s", name, e.Group)
				}
				if from == 0 {
					from = e.From
					last = must(alice.Send(ctx, "red", client.Text("x")))(t).ID
				}
				to = e.To
			case client.Left:
				if left++; e.Group != "elsewhere" || left > 1 {
					t.Errorf("%s: left %s, the %dth", name, e.Group, left)
				}
			}
		}
		if from <= first-150 || from > first {
			t.Errorf("%s: begins with %d of %d, want its newest page", name, from, first)
		}
	}
	stream := must(bob.Stream(ctx, client.StreamOptions{Only: only, Start: client.StartNewest, Cursors: cursors}))(t)
	defer stream.Close()
	read("stream", stream.Next)
	read("poll", bob.Poll(client.PollOptions{Only: only, Start: client.StartNewest}).Next)
	if at := must(cursors.Load(ctx))(t); at["blue"] != client.At(1) || at["red"] == "" {
		t.Errorf("the saved positions are %v: those of other groups stay", at)
	}
}

// TestSendFromWithinTheLoop sends between two Nexts although far more waits than the stream buffers.
func TestSendFromWithinTheLoop(t *testing.T) {
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	alice, bob := node.Client("alice"), node.Client("bob")
	const groups = 40
	for i := range groups {
		group := fmt.Sprintf("g%d", i)
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"bob"}}))(t)
		for range 5 {
			must(alice.Send(ctx, group, client.Text("x")))(t)
		}
	}
	stream := must(bob.Stream(ctx, client.StreamOptions{Buffer: 1}))(t)
	defer stream.Close()
	answered := map[string]bool{}
	until(ctx, t, stream.Next, func(e client.Messages) bool {
		if !answered[e.Group] {
			answered[e.Group] = true
			must(stream.Send(ctx, e.Group, client.Text("answer")))(t)
			if err := stream.Ack(ctx, e.Group, e.To); err != nil {
				t.Error(err)
			}
		}
		return len(answered) == groups
	})
	if got := stream.Stats(); got.Sessions != 1 || got.Repeats+got.Holes+got.Gaps > 0 {
		t.Errorf("got %+v, want one session without repeat, hole or gap", got)
	}
}

// TestGapsAreReported deletes a group and creates it again, and trims what a reader had not seen: both ways of reading say so.
func TestGapsAreReported(t *testing.T) {
	t.Parallel()
	storesWith(t, harness.Config{Env: withoutArchive}, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		alice, bob := node.Client("alice"), node.Client("bob")
		keep, most := int64(5), int64(10)
		draft := client.GroupDraft{ID: "g", Members: []string{"bob"}, Keep: &keep, BacklogMax: &most}
		must(alice.CreateGroup(ctx, draft))(t)
		cursors := &client.MemoryCursors{}
		poll := bob.Poll(client.PollOptions{Cursors: cursors})
		until(ctx, t, poll.Next, func(e client.Messages) bool { return e.To == 2 })
		if err := poll.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		var last int64
		for range 200 {
			last = must(alice.Send(ctx, "g", client.Text("x")))(t).ID
		}
		must(alice.Ack(ctx, "g", last))(t)
		gapBy := func(next func(context.Context) (client.Event, error)) client.Gap {
			gap := until(ctx, t, next, func(client.Gap) bool { return true })
			until(ctx, t, next, func(e client.Messages) bool { return e.From == gap.From })
			return gap
		}
		stored := must(cursors.Load(ctx))(t)
		first := gapBy(poll.Next)
		if first.After != 2 || first.From <= 3 || first.From > last {
			t.Errorf("poll: got %+v, want a gap behind 2", first)
		}
		other := &client.MemoryCursors{}
		if err := other.Save(ctx, stored); err != nil {
			t.Fatal(err)
		}
		stream := must(bob.Stream(ctx, client.StreamOptions{Cursors: other}))(t)
		defer stream.Close()
		if gap := gapBy(stream.Next); gap.From != first.From {
			t.Errorf("stream: got %+v, want the gap of the poll %+v", gap, first)
		}

		if err := alice.DeleteGroup(ctx, "g"); err != nil {
			t.Fatal(err)
		}
		until(ctx, t, stream.Next, func(e client.Left) bool { return e.Group == "g" })
		again := must(alice.CreateGroup(ctx, draft))(t)
		if again.Last != 2 || again.Epoch == first.Epoch {
			t.Errorf("got %+v, want a fresh log with another epoch than %s", again, first.Epoch)
		}
		fresh := until(ctx, t, stream.Next, func(e client.Messages) bool { return e.Epoch == again.Epoch })
		if fresh.From != 1 {
			t.Errorf("got %+v, want the fresh log from its start", fresh)
		}
		page := must(bob.Messages(ctx, "g", client.Range{After: stored["g"]}))(t)
		if page.Complete || page.Epoch != again.Epoch {
			t.Errorf("a cursor of the old log got %+v, want complete: false and the new epoch", page)
		}
	})
}

// losing drops answers by chance after the server gave them.
type losing struct {
	http.RoundTripper
	choices *rand.Rand
	lost    int
}

func (l *losing) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(req)
	if err == nil && l.choices.IntN(2) == 0 {
		l.lost++
		answer.Body.Close()
		return nil, errors.New("the answer was lost")
	}
	return answer, err
}

// TestRetryOfALostAnswer loses every other answer, which is what the key of a send is for.
func TestRetryOfALostAnswer(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		lossy := &losing{RoundTripper: http.DefaultTransport, choices: random(t)}
		retry := client.WithRetry(40, client.Backoff{Base: time.Millisecond, Max: 10 * time.Millisecond})
		alice := node.Client("alice", retry, client.WithHTTPClient(&http.Client{Transport: lossy}))
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
		const sends = 200
		ids := map[string]int64{}
		duplicates := 0
		for i := range sends {
			key := fmt.Sprintf("k%d", i)
			sent := must(alice.Send(ctx, "g", client.Draft{Body: key, ClientID: key}))(t)
			if ids[key] = sent.ID; sent.Duplicate {
				duplicates++
			}
		}
		page := must(alice.Messages(ctx, "g", client.Range{After: client.At(1), Limit: 2 * sends}))(t)
		if len(page.Messages) != sends {
			t.Errorf("the log has %d messages, want %d", len(page.Messages), sends)
		}
		for _, m := range page.Messages {
			if ids[m.ClientID] != m.ID {
				t.Errorf("%s is message %d, acknowledged was %d", m.ClientID, m.ID, ids[m.ClientID])
			}
		}
		t.Logf("%d answers were lost, %d sends were found stored", lossy.lost, duplicates)
		if duplicates < sends/4 {
			t.Errorf("%d sends were repeated: the run shows nothing", duplicates)
		}
	})
}
