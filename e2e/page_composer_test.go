package e2e

import (
	"encoding/base64"
	"fmt"
	"image/color"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const field = `document.querySelector(".write textarea")`

// texts reads the texts of a group from the server once there are so many.
func texts(t *testing.T, reader *client.Client, group string, n int) (found []client.Message) {
	t.Helper()
	harness.Eventually(t, waitTimeout, "the messages of the server", func() error {
		found = slices.DeleteFunc(must(reader.Messages(bounded(t, waitTimeout), group, client.Range{After: client.At(0)}))(t).Messages,
			func(m client.Message) bool { return m.Kind != "text" })
		if len(found) < n {
			return fmt.Errorf("%d texts, want %d", len(found), n)
		}
		return nil
	})
	return found
}

// TestPageComposer writes with the keyboard alone: a draft, a mention by a name, an emoji by its name, a picture, and a message that is
// to be sent later.
func TestPageComposer(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	owner, bob := node.Client("alice"), node.Client("bob")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Trip", Members: []string{"bob", "carol"}}))(t)
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "other", Name: "Other"}))(t)
	calls(t, bob, "Bob Müller")
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("trip")

	// What is begun survives another group and a reload, and is nowhere else.
	alice.fill(".write textarea", "Half a thought")
	alice.open("other")
	alice.see(field + `.value === ""`)
	alice.open("trip")
	alice.see(field + `.value === "Half a thought"`)
	reload(alice)
	alice.see(field + `.value === "Half a thought"`)
	alice.enter()
	alice.stands("Half a thought")
	alice.see(field + `.value === ""`)
	reload(alice)
	alice.see(field + `.value === ""`)

	// Whoever is called Müller; nobody is called Nobody; and an emoji.
	alice.fill(".write textarea", "Ask @mu")
	alice.see(`document.querySelector(".offered [aria-selected=true]")?.dataset.offer === "bob"`)
	alice.see(field + `.getAttribute("aria-activedescendant") === document.querySelector(".offered [aria-selected=true]").id`)
	alice.enter()
	alice.see(field + `.value === "Ask @Bob Müller " && !document.querySelector(".offered")`)
	alice.fill(".write textarea", "or @nobody ")
	alice.see(shows(".write-note", "Not a member: @nobody"))
	alice.fill(".write textarea", ":tada")
	alice.see(`document.querySelector(".offered [aria-selected=true]")?.dataset.offer === "🎉"`)
	alice.press(kb.Tab)
	alice.see(field + `.value === "Ask @Bob Müller or @nobody 🎉 "`)
	alice.enter()
	sent := texts(t, bob, "trip", 2)[1]
	if sent.Body != "Ask @bob or @nobody 🎉" || !slices.Equal(sent.Mentions, []string{"bob"}) {
		t.Errorf("sent %q, mentions %q", sent.Body, sent.Mentions)
	}

	// The last message is changed by ArrowUp; Escape gives the draft back.
	alice.see(field + `.value === ""`)
	alice.press(kb.ArrowUp)
	alice.see(`document.querySelector(".about") && ` + field + `.value === "Ask @Bob Müller or @nobody 🎉"`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".about") && ` + field + `.value === ""`)

	// A command is offered as it is begun, and is no message; what only looks like one is.
	alice.fill(".write textarea", "/i")
	alice.see(`[...document.querySelectorAll(".offered [data-offer]")].map((o) => o.dataset.offer).join() === "invite"`)
	alice.enter()
	alice.see(field + `.value === "/invite " && !document.querySelector(".offered")`)
	alice.enter()
	alice.see(`location.pathname === "/c/trip/members" && ` + field + `.value === ""`)
	alice.click(`.panel button[aria-label="Close"]`)
	alice.fill(".write textarea", "/schedule Good night")
	alice.enter()
	alice.see(`document.querySelector("dialog input[type=datetime-local]") && ` + field + `.value === "Good night"`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector("dialog")`)
	alice.retype(".write textarea", "/usr/bin is full")
	alice.see(field + `.value === "/usr/bin is full" && !document.querySelector(".offered")`)
	alice.retype(".write textarea", "//invite asks people in")
	alice.enter()
	alice.see(`[...document.querySelectorAll(".message[data-id]")].some((m) => m.textContent.includes("/invite asks people in")) && ` + field + `.value === ""`)
	if sent := texts(t, bob, "trip", 3)[2]; sent.Body != "/invite asks people in" {
		t.Errorf("sent %q", sent.Body)
	}
	alice.press(kb.ArrowUp)
	alice.see(field + `.value === "/invite asks people in"`)
	alice.retype(".write textarea", "/in")
	alice.see(field + `.value === "/in" && !document.querySelector(".offered")`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".about")`)

	alice.pastesPicture(t, bob)
	alice.schedules(t, bob)
}

// reload loads the page again and goes to the place to write.
func reload(p *person) {
	p.t.Helper()
	p.do(chromedp.Reload())
	p.see(field)
	p.live()
	p.do(chromedp.Focus(chromedp.CSS(".write textarea"))) // a browser without a mouse does not
}

// pastesPicture pastes one, which is uploaded, outlives a reload and goes with a message.
func (p *person) pastesPicture(t *testing.T, reader *client.Client) {
	t.Helper()
	picture := portrait(t, 300, color.RGBA{200, 0, 0, 255}, color.RGBA{0, 0, 200, 255})
	p.see(`document.querySelector("[aria-label='Attach files']")`)
	p.paste("red.png", fmt.Sprintf(`Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))`, base64.StdEncoding.EncodeToString(picture)))
	p.see(`document.querySelector(".attached [data-phase=whole]") && !document.querySelector(".send").disabled`)
	reload(p)
	p.see(`document.querySelector(".attached [data-phase=whole] bdi")?.textContent === "red.png"`)
	p.fill(".write textarea", "A picture")
	p.enter()
	p.see(`!document.querySelector(".attached")`)
	sent := texts(t, reader, "trip", 4)[3]
	if sent.Body != "A picture" || len(sent.Files) != 1 || sent.Files[0].Name != "red.png" || sent.Files[0].Width != 300 {
		t.Errorf("sent %q with %+v", sent.Body, sent.Files)
	}
	reload(p)
	p.see(`!document.querySelector(".attached") && document.querySelector(".message .picture img")?.naturalWidth > 0`)
	p.click(".group-head [data-open=files]")
	p.see(`document.querySelector(".shared-pictures .picture img")?.naturalWidth > 0`)
	p.click(".shared-pictures .picture")
	p.see(`document.querySelector(".viewer > img")?.naturalWidth === 300`)
	p.press(kb.Escape)
	p.see(`!document.querySelector("dialog")`)
	ask[bool](p, `(history.back(), true)`)
	p.see(`!document.querySelector(".panel")`)
}

// schedules has a message sent later, finds it in the list, and sends it now: once.
func (p *person) schedules(t *testing.T, reader *client.Client) {
	t.Helper()
	p.unhurried()
	p.fill(".write textarea", "Good morning")
	p.click(".send-buttons .later")
	p.see(`document.activeElement.role === "menuitem"`)
	p.press(kb.Enter)
	p.see(field + `.value === "" && document.querySelector(".toast .text-button")`)
	p.click(".toast .text-button")
	p.see(shows(".schedule .text", "Good morning"))
	p.click(`.schedule footer button:nth-of-type(2)`)
	p.see(shows(".pane-body .nothing h2", "Nothing is scheduled"))
	sent := texts(t, reader, "trip", 5)
	if len(sent) != 5 || sent[4].Body != "Good morning" {
		t.Errorf("got %+v", sent[4:])
	}
}

// TestPageKeyCost compares 50 keys where 5,000 messages are with as many where none is: they draw the composer and nothing else.
func TestPageKeyCost(t *testing.T) {
	t.Parallel()
	const messages, chunk = 5000, 500
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := node.Client("alice")
	keep := int64(messages)
	for _, id := range []string{"full", "empty"} {
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: id, Name: id, Keep: &keep}))(t)
	}
	for at := 0; at < messages; at += chunk {
		ops := make([]client.Op, chunk)
		for i := range ops {
			ops[i] = client.Op{"op": "send", "group": "full", "body": fmt.Sprintf("Message %d", at+i)}
		}
		must(alice.Batch(ctx, fmt.Sprintf("seed-%d", at), ops))(t)
	}
	p := newPerson(t, startBrowser(t), node, "alice")
	if _, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	p.open("full")
	p.see(`document.querySelectorAll(".message").length > 10`)
	full := p.keyCost(50)
	p.open("empty")
	p.see(`document.querySelectorAll(".message").length === 0`)
	empty := p.keyCost(50)
	t.Logf("50 keys: %.1f ms with %d messages, %.1f ms with none", 1000*full, messages, 1000*empty)
	if full > 3*empty {
		t.Errorf("50 keys take %.1f ms with %d messages, %.1f ms with none", 1000*full, messages, 1000*empty)
	}
}

// keyCost presses keys in the composer and returns how long the page worked for them, s. Nothing else is drawn for them.
func (p *person) keyCost(keys int) float64 {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.CSS(".write textarea")))
	p.press("x") // the draft begins here, which the list of groups shows
	p.frames(2)
	ask[bool](p, `(() => {
		window.drawn = [];
		const of = (m) => (m.target.nodeType === 1 ? m.target : m.target.parentNode);
		const outside = (all) => all.map(of).filter((at) => !at.closest(".composer")).map((at) => String(at.className));
		new MutationObserver((all) => { const at = outside(all); if (at.length) window.drawn.push(at.join(" ")); })
			.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
		return true;
	})()`)
	before := p.taskDuration()
	for range keys {
		p.press("x")
	}
	p.frames(2)
	after := p.taskDuration()
	// What comes from the server meanwhile is drawn, too, but not with each key; each draw is counted once.
	if drawn := ask[[]string](p, `window.drawn`); len(drawn) >= keys/2 {
		p.t.Errorf("keys draw outside of the composer: %q", drawn)
	}
	return after - before
}

// taskDuration is how long the page has worked so far, s.
func (p *person) taskDuration() float64 { p.t.Helper(); return p.metric("TaskDuration") }

// metric is one of what the browser measures of the page.
func (p *person) metric(name string) float64 {
	p.t.Helper()
	metrics, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err == nil {
		for _, m := range metrics.Metrics {
			if m.Name == name {
				return m.Value
			}
		}
		err = fmt.Errorf("no %s", name)
	}
	p.t.Fatal(err)
	return 0
}
