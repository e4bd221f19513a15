package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
)

const tabCount = 10

// tab is one of bob's.
type tab struct {
	*person
	number int
	sent   int
}

// tabsCase is bob with many tabs of one browser, and alice who writes by another client.
type tabsCase struct {
	t       *testing.T
	node    *harness.Node
	group   string
	tabs    []*tab
	bodies  []string // of all that has to arrive
	another int      // of alice
}

// TestSDKTabs kills the leading tab of ten while messages flow. The server sees one websocket; every tab shows each message
// once and in order, and what a tab had stored before it died is sent once.
func TestSDKTabs(t *testing.T) {
	t.Parallel()
	c := startTabs(t)
	c.traffic()
	kills := []func(*tab){c.crash, c.close, c.hang, c.crash, c.close, c.crash}
	for _, kill := range kills {
		leader := c.leader()
		c.oneSocket()
		c.traffic()
		kill(leader)
		c.traffic() // nobody may lead yet
	}
	c.leader()
	c.oneSocket()
	c.arrived()
}

func startTabs(t *testing.T) *tabsCase {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/dist/", http.StripPrefix("/dist/", http.FileServer(http.Dir(filepath.Join(jstest.Root(t), "sdk", "js", "dist")))))
	mux.Handle("/", http.FileServer(http.Dir("testdata/sdktabs")))
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ORIGINS": site.URL, "CHATD_ARCHIVE": "off"}})
	group := must(node.Client("alice").CreateGroup(t.Context(), client.GroupDraft{Name: "tabs", Members: []string{"bob"}}))(t)
	c := &tabsCase{t: t, node: node, group: group.ID}
	browser := startBrowser(t)
	given := must(json.Marshal(map[string]string{"url": node.URL(), "token": harness.Token("bob", "", time.Hour), "user": "bob", "group": c.group}))(t)
	for i := range tabCount {
		ctx, cancel := chromedp.NewContext(browser)
		t.Cleanup(cancel)
		one := &tab{person: &person{t: t, ctx: ctx, name: fmt.Sprintf("tab %d", i)}, number: i}
		if err := chromedp.Do(ctx, chromedp.Navigate(site.URL)); err != nil { // ends with ctx, which what do makes would not
			t.Fatal(err)
		}
		ask[bool](one.person, fmt.Sprintf(`import("/tab.js").then(({ open }) => { globalThis.tab = open(%s); return true; })`, given))
		c.tabs = append(c.tabs, one)
	}
	return c
}

// leader waits until a tab leads that all others follow.
func (c *tabsCase) leader() (leads *tab) {
	c.t.Helper()
	harness.Eventually(c.t, waitTimeout, "one tab leads", func() error {
		leads = nil
		var all []string
		for _, one := range c.tabs {
			by := ask[string](one.person, `tab.by()`)
			all = append(all, by)
			switch {
			case by == "websocket" && leads == nil:
				leads = one
			case by != "tab":
				leads = nil
				return fmt.Errorf("%s is %q", one.name, by)
			}
		}
		if leads == nil {
			return fmt.Errorf("nobody does: %q", all)
		}
		return nil
	})
	return leads
}

// oneSocket waits until the server has one session of bob.
func (c *tabsCase) oneSocket() {
	c.t.Helper()
	harness.Eventually(c.t, waitTimeout, "one websocket", func() error {
		sessions, err := c.node.Client("bob").Sessions(c.t.Context(), "me")
		if err == nil && len(sessions) != 1 {
			err = fmt.Errorf("%d", len(sessions))
		}
		return err
	})
}

// traffic has alice and every tab send something.
func (c *tabsCase) traffic() {
	c.t.Helper()
	for _, one := range c.tabs {
		bodies := []string{fmt.Sprintf("%s: %d", one.name, one.sent), fmt.Sprintf("%s: %d", one.name, one.sent+1)}
		one.sent += len(bodies)
		list := must(json.Marshal(bodies))(c.t)
		if n := ask[int](one.person, fmt.Sprintf(`tab.send(%s)`, list)); n != len(bodies) {
			c.t.Fatalf("%s stored %d of %q", one.name, n, bodies)
		}
		c.bodies = append(c.bodies, bodies...)
		body := fmt.Sprintf("alice: %d", c.another)
		c.another++
		must(c.node.Client("alice").Send(c.t.Context(), c.group, client.Text(body)))(c.t)
		c.bodies = append(c.bodies, body)
	}
}

func (c *tabsCase) gone(which *tab) {
	c.tabs = slices.DeleteFunc(c.tabs, func(one *tab) bool { return one == which })
}

func (c *tabsCase) crash(leader *tab) {
	c.t.Helper()
	crashed := make(chan struct{})
	err := chromedp.Listen(leader.ctx, func(event any) {
		if _, ok := event.(*inspector.EventTargetCrashed); ok {
			close(crashed)
		}
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(leader.ctx)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = chromedp.Call(ctx, page.Crash, cdp.Empty{}) // which nobody is left to answer
	}()
	harness.Receive(c.t, waitTimeout, "the crash", crashed)
	cancel()
	<-answered
	c.gone(leader)
}

func (c *tabsCase) close(leader *tab) {
	c.t.Helper()
	if err := chromedp.Cancel(leader.ctx); err != nil && !errors.Is(err, context.Canceled) {
		c.t.Fatal(err)
	}
	c.gone(leader)
}

// hang lets the leader do nothing until another tab leads, and go on then as if nothing had been.
func (c *tabsCase) hang(leader *tab) {
	c.t.Helper()
	ask[bool](leader.person, `setTimeout(() => { for (const end = Date.now() + 8000; Date.now() < end;); }), true`)
}

// arrived waits until every tab shows everything once, as the server has it.
func (c *tabsCase) arrived() {
	c.t.Helper()
	want := slices.Sorted(slices.Values(c.bodies))
	harness.Eventually(c.t, waitTimeout, "every tab shows everything once", func() error {
		var first []string
		for _, one := range c.tabs {
			ask[bool](one.person, `Promise.resolve(tab.more()).then(() => true)`)
			lines := ask[[]string](one.person, `tab.lines()`)
			if got := slices.Sorted(slices.Values(lines)); !slices.Equal(got, want) {
				return fmt.Errorf("%s shows %d lines of %d: %s; it said %q", one.name, len(got), len(want), difference(got, want), ask[[]string](one.person, `tab.said()`))
			}
			if first == nil {
				first = lines
			}
			if !slices.Equal(lines, first) {
				return fmt.Errorf("%s shows another order than %s", one.name, c.tabs[0].name)
			}
		}
		return nil
	})
	c.inOrder()
}

// inOrder checks that what one tab sent stands in the order in which it was sent.
func (c *tabsCase) inOrder() {
	c.t.Helper()
	next := make(map[string]int)
	for _, line := range ask[[]string](c.tabs[0].person, `tab.lines()`) {
		var who string
		var n int
		if _, err := fmt.Sscanf(line, "tab %1s: %d", &who, &n); err != nil {
			continue
		}
		if n != next[who] {
			c.t.Errorf("%q stands where number %d of that tab belongs", line, next[who])
		}
		next[who] = n + 1
	}
	ids := ask[[]int64](c.tabs[0].person, `tab.ids()`)
	for i, id := range ids {
		if i > 0 && id <= ids[i-1] {
			c.t.Errorf("id %d after %d", id, ids[i-1])
		}
	}
}

// difference names what is missing, and what is too much.
func difference(got, want []string) string {
	var missing, more []string
	for _, w := range want {
		if _, found := slices.BinarySearch(got, w); !found {
			missing = append(missing, w)
		}
	}
	for i, g := range got {
		if _, found := slices.BinarySearch(want, g); !found || i > 0 && got[i-1] == g {
			more = append(more, g)
		}
	}
	return fmt.Sprintf("missing %q, too much %q", missing, more)
}
