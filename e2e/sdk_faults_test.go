package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// sdkCase is the JavaScript client and a node of its own, with a wire between them.
type sdkCase struct {
	t        *testing.T
	ctx      context.Context
	node     *harness.Node
	wire     *wire
	twenties int // of faults: fewer in a page, where each takes longer and meets the same client
	start    func(tokenFor time.Duration) *driven
}

// nodeCase has the client in Node, with or without WebSockets.
func nodeCase(t *testing.T, sockets bool, settings ...string) *sdkCase {
	t.Helper()
	env := maps.Clone(withoutArchive)
	set(env, settings)
	c := &sdkCase{t: t, ctx: bounded(t, browserTimeout), node: harness.StartNode(t, harness.Config{Env: env}), twenties: 5}
	c.wire = startWire(t, c.node.Addr)
	c.start = func(tokenFor time.Duration) *driven { return inNode(t, c.wire.url(), tokenFor, sockets) }
	return c
}

// pageCase has it in a page of Chromium, from another origin.
func pageCase(t *testing.T, settings ...string) *sdkCase {
	t.Helper()
	site := sdkSite(t)
	env := map[string]string{"CHATD_ORIGINS": site.URL}
	set(env, settings)
	c := &sdkCase{t: t, ctx: bounded(t, browserTimeout), node: harness.StartNode(t, harness.Config{Env: env}), twenties: 2}
	c.wire = startWire(t, c.node.Addr)
	c.start = func(tokenFor time.Duration) *driven { return inPage(t, startBrowser(t), site, c.wire.url(), tokenFor) }
	return c
}

// set adds settings of a node: NAME=VALUE.
func set(env map[string]string, settings []string) {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		env[name] = value
	}
}

// inNodeAndPage runs a test with the client in Node and in Chromium, each with a node that has these settings.
func inNodeAndPage(t *testing.T, test func(*sdkCase), settings ...string) {
	t.Helper()
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		test(nodeCase(t, true, settings...))
	})
	t.Run("chromium", func(t *testing.T) {
		t.Parallel()
		test(pageCase(t, settings...))
	})
}

// alice is the person who sends, by another client.
func (c *sdkCase) alice() *client.Client { return c.node.Client("alice", patient()) }

// makeGroups makes groups of alice and bob.
func (c *sdkCase) makeGroups(names ...string) {
	c.t.Helper()
	keep := int64(100_000)
	for _, name := range names {
		must(c.alice().CreateGroup(c.ctx, client.GroupDraft{ID: name, Members: []string{"bob"}, Keep: &keep}))(c.t)
	}
}

// texts are the texts in the log of a group.
func (c *sdkCase) texts(group string) (lines []drivenLine) {
	c.t.Helper()
	after := client.At(0)
	for {
		page := must(c.alice().Messages(c.ctx, group, client.Range{After: after, Limit: 1000}))(c.t)
		for _, m := range page.Messages {
			if m.Kind == "text" {
				lines = append(lines, drivenLine{ID: m.ID, Body: m.Body})
			}
		}
		if !page.HasMore {
			return lines
		}
		after = page.Cursor
	}
}

// arrived waits until all that was sent is in its log and with bob, and checks it: once each, in order, and nothing else.
func (c *sdkCase) arrived(d *driven, groups []string, sent int) {
	c.t.Helper()
	d.until(time.Minute, "everything arrives", func(n drivenNow) bool {
		return n.Done+len(n.Refused) >= sent && n.Received >= sent && n.Queued == 0
	})
	want := make([][]string, len(groups))
	for i := range sent {
		want[i%len(groups)] = append(want[i%len(groups)], fmt.Sprint("message ", i+1))
	}
	for i, group := range groups {
		log := c.texts(group)
		var bodies []string
		for _, line := range log {
			bodies = append(bodies, line.Body)
		}
		if !slices.Equal(bodies, want[i]) {
			c.t.Errorf("%s: the log has %d texts, want %d in their order: %v", group, len(bodies), len(want[i]), bodies)
		}
		var seen drivenSeen
		harness.Eventually(c.t, 20*time.Second, "bob sees what he was told of "+group, func() error {
			seen = d.seen(group)
			if !slices.Equal(seen.Shown, log) || seen.Unread != int64(len(log)) {
				return fmt.Errorf("%d of %d lines, %d unread: %v", len(seen.Shown), len(log), seen.Unread, seen.Shown)
			}
			return nil
		})
		if !slices.Equal(seen.Reported, log) {
			c.t.Errorf("%s: bob was told of %v, the log has %v", group, seen.Reported, log)
		}
	}
	n := d.now()
	if len(n.Gaps) > 0 || len(n.Refused) > 0 {
		c.t.Errorf("gaps %v, refused %v", n.Gaps, n.Refused)
	}
	if c.t.Failed() {
		c.t.Logf("the client said: %v", n.Said)
	}
}

func byWebsocket(n drivenNow) bool { return slices.Equal(n.By, []string{"websocket", "websocket"}) }
func byPoll(n drivenNow) bool      { return slices.Equal(n.By, []string{"poll", "poll"}) }

// TestSDKLosesNothing cuts the connections of the JavaScript client, loses answers on them, lets them die in silence and kills
// the node, while messages are sent and received, with tokens that end all the time.
func TestSDKLosesNothing(t *testing.T) {
	t.Parallel()
	inNodeAndPage(t, func(c *sdkCase) {
		const each = 5 // messages
		faults := 20 * c.twenties
		sends := each * faults
		groups := []string{"one", "two"}
		c.makeGroups(groups...)
		choices := random(c.t)
		d := c.start(6 * time.Second)
		d.call("connect", groups)
		d.until(20*time.Second, "it connects", byWebsocket)
		for i := range faults {
			before := d.now().Lives
			d.call("send", groups, each)
			harness.Pause(c.ctx, time.Duration(choices.IntN(30))*time.Millisecond)
			switch {
			case i%20 == 0:
				c.node.Kill()
				c.node.Start()
			case i == faults/2:
				c.wire.die()
			case choices.IntN(2) == 0:
				c.wire.lose()
			default:
				c.wire.cut()
			}
			d.until(30*time.Second, "both are back", func(n drivenNow) bool {
				if i > 0 { // the first time it comes back by itself
					d.call("hurry")
				}
				return n.Lives > before && byWebsocket(n)
			})
		}
		c.arrived(d, groups, sends)
		open, ever, lost := c.wire.counts()
		if open != 2 || lost == 0 {
			c.t.Errorf("two clients hold %d websockets, and %d answers were lost", open, lost)
		}
		n := d.now()
		renewed := 0
		for _, reason := range n.Reasons {
			if reason == "expiring" {
				renewed++
			}
		}
		if renewed == 0 {
			c.t.Errorf("no token was renewed before its end: %v", n.Reasons)
		}
		c.t.Logf("back %d times over %d websockets, %d answers lost, %d of %d tokens renewed before their end", n.Lives-1, ever, lost, renewed, len(n.Reasons))
	})
}

// TestSDKWithoutWebsocket has the JavaScript client live by long polling, in each way that a websocket can be missing, and come
// back to one without a gap.
func TestSDKWithoutWebsocket(t *testing.T) {
	t.Parallel()
	for _, by := range []struct {
		name    string
		start   func(t *testing.T) *sdkCase
		become  string
		returns bool
	}{
		{"refused to node", func(t *testing.T) *sdkCase { return nodeCase(t, true) }, refuseThem, true},
		{"unanswered to node", func(t *testing.T) *sdkCase { return nodeCase(t, true) }, holdThem, true},
		{"none in node", func(t *testing.T) *sdkCase { return nodeCase(t, false) }, letPass, false},
		{"unanswered to chromium", func(t *testing.T) *sdkCase { return pageCase(t) }, holdThem, true},
	} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			c, groups := by.start(t), []string{"one"}
			c.makeGroups(groups...)
			c.wire.websockets(by.become)
			d := c.start(time.Hour)
			d.call("connect", groups)
			d.call("send", groups, 10)
			d.until(20*time.Second, "it polls", func(n drivenNow) bool { return byPoll(n) && n.Received > 0 })
			if n := d.now(); n.FirstMS > 6000*harness.Slack {
				t.Errorf("the first line after %d ms", n.FirstMS)
			} else {
				t.Logf("the first line after %d ms", n.FirstMS)
			}
			c.wire.websockets(letPass)
			sent := 10
			d.until(time.Minute, "it returns to websockets", func(n drivenNow) bool {
				d.call("send", groups, 1)
				d.call("hurry")
				sent++
				return byWebsocket(n) || !by.returns && sent > 40
			})
			d.call("send", groups, 10)
			c.arrived(d, groups, sent+10)
		})
	}
}

// TestSDKShowsARollback takes from a node what it has stored last, under clients that have it. They show a gap, and from there
// on what the node has by now.
func TestSDKShowsARollback(t *testing.T) {
	t.Parallel()
	inNodeAndPage(t, func(c *sdkCase) {
		groups := []string{"one"}
		c.makeGroups(groups...)
		d := c.start(time.Hour)
		d.call("connect", groups)
		d.call("send", groups, 5)
		d.until(20*time.Second, "five arrive", func(n drivenNow) bool { return n.Done == 5 && n.Received == 5 })
		kept := c.t.TempDir()
		c.node.Kill()
		if err := os.CopyFS(kept, os.DirFS(c.node.Data)); err != nil {
			c.t.Fatal(err)
		}
		c.node.Start()
		d.call("send", groups, 5)
		d.until(30*time.Second, "ten arrive", func(n drivenNow) bool {
			d.call("hurry")
			return n.Done == 10 && n.Received == 10
		})
		c.node.Kill()
		err := os.RemoveAll(c.node.Data)
		if err == nil {
			err = os.CopyFS(c.node.Data, os.DirFS(kept))
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.node.Start()
		for i := range 7 {
			must(c.alice().Send(c.ctx, "one", client.Text(fmt.Sprint("other ", i))))(c.t)
		}
		var shown []drivenLine
		harness.Eventually(c.t, 30*time.Second, "bob sees what is there now", func() error {
			d.call("hurry")
			shown = d.seen("one").Shown
			if len(shown) == 0 || shown[len(shown)-1].Body != "other 6" {
				return fmt.Errorf("%v", shown)
			}
			return nil
		})
		log := c.texts("one")
		gaps := len(shown)
		shown = slices.DeleteFunc(shown, func(line drivenLine) bool { return line.Gap })
		gaps -= len(shown)
		if gaps == 0 || len(d.now().Gaps) == 0 {
			c.t.Errorf("bob sees no gap, and was told of %v", d.now().Gaps)
		}
		if len(shown) < 7 || len(shown) > len(log) || !slices.Equal(shown, log[len(log)-len(shown):]) {
			c.t.Errorf("bob sees %v, the log has %v", shown, log)
		}
	})
}
