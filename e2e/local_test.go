package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
	"github.com/chatd/chatd/internal/harness"
)

// localCase is the Go client that keeps what it has in a file, and a node of its own, with a wire between them.
type localCase struct {
	t    *testing.T
	ctx  context.Context
	node *harness.Node
	wire *wire
	dir  string
}

func newLocalCase(t *testing.T, limit time.Duration) *localCase {
	t.Helper()
	c := &localCase{t: t, ctx: bounded(t, limit), node: harness.StartNode(t, harness.Config{Env: withoutArchive}), dir: t.TempDir()}
	c.wire = startWire(t, c.node.Addr)
	keep := int64(100_000)
	must(c.node.Client("alice").CreateGroup(c.ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}, Keep: &keep}))(t)
	return c
}

// localUser is one user's chat, and the timeline of the group.
type localUser struct {
	*local.Chat
	name  string
	store *local.FileStore
	line  *local.Timeline
}

func (c *localCase) open(name string) *localUser {
	c.t.Helper()
	u := &localUser{name: name, store: must(local.OpenFile(filepath.Join(c.dir, name)))(c.t)}
	u.Chat = must(local.Open(c.ctx, harness.ClientAt(c.t, c.wire.url(), name), local.Options{Store: u.store}))(c.t)
	u.line = must(u.Timeline(c.ctx, "g", local.At{}))(c.t)
	return u
}

func (u *localUser) end() {
	u.Close()
	u.store.Close()
}

// until waits until something holds of a user.
func (c *localCase) until(u *localUser, what string, holds func() bool) {
	c.t.Helper()
	changed, stop := u.Watch()
	defer stop()
	for !holds() {
		select {
		case <-changed:
		case <-u.line.Changed():
		case <-c.ctx.Done():
			c.t.Fatalf("%s, %s: %+v", u.name, what, u.State())
		}
	}
}

func (u *localUser) by() string { return u.State().By }

// texts are the texts that a timeline shows, all the way back, and how many gaps.
func (c *localCase) texts(u *localUser) (bodies []string, gaps int) {
	c.t.Helper()
	for u.line.View().Before {
		if err := u.line.LoadBefore(c.ctx); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, l := range u.line.View().Lines {
		switch {
		case l.Gap != nil:
			gaps++
		case l.Kind == client.KindText:
			bodies = append(bodies, l.Body)
		}
	}
	return bodies, gaps
}

// check compares what both have with what was sent, and with the log.
func (c *localCase) check(sent []string, users ...*localUser) {
	c.t.Helper()
	for _, u := range users {
		c.until(u, "everything arrives", func() bool {
			g, ok := u.Group("g")
			lines := u.line.View().Lines
			return ok && g.Queued == 0 && g.Failed == 0 && len(lines) > 0 && lines[len(lines)-1].Body == sent[len(sent)-1] && lines[len(lines)-1].ID > 0
		})
		if got, gaps := c.texts(u); !slices.Equal(got, sent) || gaps > 0 {
			c.t.Errorf("%s shows %d texts and %d gaps, want %d in their order: %v", u.name, len(got), gaps, len(sent), got)
		}
	}
	var log []string
	for after := client.At(0); ; {
		page := must(c.node.Client("alice").Messages(c.ctx, "g", client.Range{After: after, Limit: 1000}))(c.t)
		for _, m := range page.Messages {
			if m.Kind == client.KindText {
				log = append(log, m.Body)
			}
		}
		if after = page.Cursor; !page.HasMore {
			break
		}
	}
	if !slices.Equal(log, sent) {
		c.t.Errorf("the log has %d texts, want %d in their order: %v", len(log), len(sent), log)
	}
}

// TestLocalLosesNothing cuts connections, loses answers, kills the node and ends the client, while it sends and receives.
func TestLocalLosesNothing(t *testing.T) {
	t.Parallel()
	const faults, each = 60, 5
	c := newLocalCase(t, 3*time.Minute)
	choices := random(t)
	alice, bob := c.open("alice"), c.open("bob")
	defer func() { alice.end(); bob.end() }()
	var sent []string
	for i := range faults {
		for range each {
			sent = append(sent, fmt.Sprint("message ", len(sent)))
			must(alice.Send(c.ctx, "g", client.Text(sent[len(sent)-1])))(t)
		}
		harness.Pause(c.ctx, time.Duration(choices.IntN(30))*time.Millisecond)
		switch {
		case i%20 == 0:
			c.node.Kill()
			c.node.Start()
		case i%20 == 5:
			alice.end()
			alice = c.open("alice")
		case i%20 == 15:
			bob.end()
			bob = c.open("bob")
		case choices.IntN(2) == 0:
			c.wire.lose()
		default:
			c.wire.cut()
		}
		for _, u := range []*localUser{alice, bob} {
			c.until(u, "is back", func() bool { u.Hurry(); return u.by() != "" })
		}
	}
	c.check(sent, alice, bob)
	if _, ever, lost := c.wire.counts(); lost == 0 || ever < 20 {
		t.Errorf("%d websockets, %d answers lost: what was tried?", ever, lost)
	}
}

// TestLocalWithoutWebsocket lives by long polls, in each way that a websocket can be missing, and comes back to one.
func TestLocalWithoutWebsocket(t *testing.T) {
	t.Parallel()
	for _, become := range []string{refuseThem, holdThem} {
		t.Run(become, func(t *testing.T) {
			t.Parallel()
			c := newLocalCase(t, 2*time.Minute)
			c.wire.websockets(become)
			alice, bob := c.open("alice"), c.open("bob")
			defer func() { alice.end(); bob.end() }()
			var sent []string
			send := func() {
				for range 10 {
					sent = append(sent, fmt.Sprint("message ", len(sent)))
					must(alice.Send(c.ctx, "g", client.Text(sent[len(sent)-1])))(t)
				}
			}
			send()
			for _, u := range []*localUser{alice, bob} {
				c.until(u, "polls", func() bool { return u.by() == client.ByPoll })
			}
			c.check(sent, alice, bob)
			c.wire.websockets(letPass)
			send()
			for _, u := range []*localUser{alice, bob} {
				c.until(u, "has a websocket", func() bool { u.Hurry(); return u.by() == client.ByWebsocket })
			}
			send()
			c.check(sent, alice, bob)
		})
	}
}
