package ship

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
)

// startNode runs a node in this process, and returns what makes clients of it.
func startNode(t *testing.T) (as func(user string, opts ...client.Option) *client.Client) {
	t.Helper()
	c, err := node.Default()
	if err != nil {
		t.Fatal(err)
	}
	c.Addr, c.Data, c.JWTSecret, c.Archive = "127.0.0.1:0", t.TempDir(), "a secret of this test and of nothing else", "off"
	ctx, stop := context.WithCancel(context.Background())
	n, err := node.Open(ctx, c, io.Discard)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(harness.Receive(t, patience, "the node stops", done), n.Close()); err != nil {
			t.Error(err)
		}
	})
	return func(user string, opts ...client.Option) *client.Client {
		token, err := c.Token(user, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		made, err := client.New("http://"+n.Addr().String(), client.StaticToken(token), opts...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

// TestOwnMessagesAreTrimmedBeforeTheyAreRead: a member who has seen everything has also seen what they send then. Others may ack
// that first, and so trim it: nothing is missing. Another log is reported.
func TestOwnMessagesAreTrimmedBeforeTheyAreRead(t *testing.T) {
	ctx := patient(t)
	as := startNode(t)
	alice, bob := as("alice"), as("bob")
	keep := int64(0)
	if _, err := alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}, Keep: &keep, Overflow: "block"}); err != nil {
		t.Fatal(err)
	}
	send := func(c *client.Client, body string) int64 {
		sent, err := c.Send(ctx, "g", client.Text(body))
		if err != nil {
			t.Fatal(err)
		}
		return sent.ID
	}
	log := groupLog{client: alice, group: "g"}
	if _, err := log.open(ctx); err != nil {
		t.Fatal(err)
	}
	next := func(want ...string) {
		t.Helper()
		messages, err := log.next(ctx)
		var got []string
		for _, m := range messages {
			if m.Kind == client.KindText {
				got = append(got, m.Body)
			}
		}
		if err != nil || len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
	send(bob, "first")
	next("first")
	if err := log.ack(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Ack(ctx, "g", send(alice, "own")); err != nil {
		t.Fatal(err)
	}
	if g, err := bob.Group(ctx, "g"); err != nil || g.First != g.Last+1 {
		t.Fatalf("the own message is still there: %d to %d, %v", g.First, g.Last, err)
	}
	next()
	next()
	send(bob, "second")
	next("second")
	next()

	log.epoch = "another"
	var missing *MissingError
	if _, err := log.next(ctx); !errors.As(err, &missing) {
		t.Errorf("of another log: got %v", err)
	}
}
