package e2e

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var historyFlag = flag.Int("history", 5000, "messages that TestPageTimelineWindow scrolls through; `make soak` takes 100,000")

const (
	// nodesMax bounds what the page keeps in its document, however long the history is.
	nodesMax = 2500
	// heapMax bounds what it holds in memory, bytes.
	heapMax = 60 << 20
	// nodes counts elements and texts.
	nodes = `(() => { const all = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT); let n = 0; while (all.nextNode()) n++; return n; })()`
)

// longGroup has so many messages of bob, of which alice has read all but the last unread.
func longGroup(ctx context.Context, t *testing.T, node *harness.Node, id string, messages, unread int) {
	t.Helper()
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: id, Name: id, Members: []string{"alice"}, Keep: new(int64(messages))}))(t)
	const batch = 500
	for from := 0; from < messages; from += batch {
		var ops []client.Op
		for i := from; i < min(messages, from+batch); i++ {
			ops = append(ops, client.Op{"op": "send", "group": id, "body": fmt.Sprintf("%s %d", id, i+1)})
		}
		for _, r := range must(bob.Batch(ctx, "", ops))(t) {
			if r.Status >= 300 {
				t.Fatal(r.Code, r.Detail)
			}
		}
	}
	last := must(bob.Group(ctx, id))(t).Last
	must(node.Client("alice").Read(ctx, id, last-int64(unread)))(t)
}

// TestPageTimelineWindow goes through a long history: what is kept of it is bounded, it opens at the first unread message, and
// counts as read what was on screen.
func TestPageTimelineWindow(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on", "CHATD_RATE_SEND": "off", "CHATD_RATE_USER": "off"}})
	ctx := bounded(t, browserTimeout)
	n := *historyFlag
	longGroup(ctx, t, node, "long", n, 333)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.see(unread("long") + ` === 333`)
	alice.open("long")
	first := fmt.Sprintf("long %d", n-332)
	alice.see(message(first))
	alice.see(fmt.Sprintf(`document.querySelector(".line.new").nextElementSibling.querySelector(".body").textContent === %q`, first))
	alice.see(`Math.abs(document.querySelector(".line.new").getBoundingClientRect().top - document.querySelector(".scroller").getBoundingClientRect().top - 80) < 4`)
	alice.see(fmt.Sprintf(`%s === %d - %s`, unread("long"), n, lastShown))
	last, shown := int64(n), ask[int64](alice, lastShown)
	if shown < last-330 || shown > last-290 {
		t.Fatalf("it opened at message %d", shown)
	}
	serverCounts(ctx, t, node, "long", last-shown)

	// To the beginning, and an unread message stays one.
	most := 0
	for reached := false; !reached; {
		ask[int](alice, `document.querySelector(".scroller").scrollTop = 0`)
		alice.frames(2)
		most = max(most, ask[int](alice, nodes))
		reached = ask[bool](alice, `!!`+message("long 1"))
	}
	if most > nodesMax {
		t.Errorf("%d nodes, at most %d are meant", most, nodesMax)
	}
	if _, err := chromedp.Call(alice.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if heap := alice.heap(); heap > heapMax {
		t.Errorf("the heap is %d bytes after %d messages, want at most %d", heap, n, heapMax)
	} else {
		t.Logf("the heap is %.1f MB after %d messages", float64(heap)/(1<<20), n)
	}
	alice.see(`document.querySelector(".log-top").textContent === "This is the beginning of long"`)
	alice.see(fmt.Sprintf(`%s === %d`, unread("long"), last-shown))

	// All at once, and back.
	alice.see(`/unread/.test(document.querySelector(".to-end")?.textContent)`)
	alice.unhurried()
	alice.click(".to-end")
	alice.see(unread("long") + ` === 0 && ` + message(fmt.Sprintf("long %d", n)))
	alice.click(".toast .text-button")
	alice.see(fmt.Sprintf(`%s === %d && document.querySelector(".line.new")`, unread("long"), last-shown))
	serverCounts(ctx, t, node, "long", last-shown)
}

// TestPageMessageTools does with messages what can be done with them, by pointer and by keyboard.
func TestPageMessageTools(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	longGroup(ctx, t, node, "team", 400, 0)
	bob := node.Client("bob")
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	alice.say("first")
	first := alice.stands("first")
	id := ask[int64](alice, "Number("+message("first")+".dataset.id)")

	alice.tool(first, "More actions")
	alice.click(first + ` button[aria-label="Edit"]`)
	alice.see(`document.querySelector(".write textarea").value === "first" && document.activeElement.matches(".write textarea")`)
	alice.fill(".write textarea", " edited")
	alice.enter()
	alice.see(message("first edited") + `?.querySelector(".meta").textContent.includes("edited")`)

	// A menu, a question in the row, and the line that stays.
	alice.tool(first, "Add reaction")
	alice.see(`document.querySelector(".emoji-picker input")`)
	alice.press(kb.Escape)
	alice.click(first + " .quick")
	alice.see(fmt.Sprintf(`document.querySelector(%q)?.textContent.endsWith("1")`, first+` .reaction[aria-pressed="true"]`))
	alice.tool(first, "More actions")
	alice.click(first + ` button[aria-label="View read receipts"]`)
	alice.see(`document.querySelector(".panel[data-panel=receipts] [data-receipts=pending] [data-user=bob], .panel [data-receipts=seen] [data-user=bob]")`)
	alice.click(`.panel button[aria-label="Close"]`)

	// An answer leads to what it answers, which is not loaded any more.
	must(bob.Send(ctx, "team", client.Draft{Body: "an answer", ReplyTo: 100}))(t)
	answer := alice.stands("an answer")
	alice.click(answer + " .quote")
	alice.see(`document.activeElement.dataset.id === "100"`)
	alice.click(".to-end")
	alice.see(message("an answer"))

	// By keyboard: rows, and what acts on one.
	alice.do(chromedp.Focus(chromedp.CSS(answer)))
	alice.press("k")
	alice.see(fmt.Sprintf(`document.activeElement.matches(%q)`, first))
	alice.press(kb.ArrowUp)
	alice.see(`document.activeElement.querySelector(".body").textContent === "team 400"`)
	alice.press("j.")
	alice.see(`document.activeElement.getAttribute("role") === "menuitem"`)
	alice.press(kb.Escape)
	alice.see(fmt.Sprintf(`document.activeElement.matches(%q)`, first))
	alice.press("u")
	alice.see(`document.querySelector(".line.new")`)
	serverCounts(ctx, t, node, "team", 1)

	// A deletion can be taken back for a while; it is made even if the page is gone by then.
	remove := func() {
		alice.tool(first, "More actions")
		alice.click(first + ` button[aria-label="Delete"]`)
		alice.see(fmt.Sprintf(`document.querySelector(%q)`, first+" .ask"))
		alice.click(first + " .ask .danger")
		alice.see(fmt.Sprintf(`document.querySelector(%q) && !%s`, first+".leaving", message("first edited")))
	}
	alice.unhurried()
	remove()
	alice.click(first + ".leaving .text-button")
	alice.see(message("first edited") + "?.dataset.id")
	remove()
	alice.do(chromedp.Reload())
	alice.see(fmt.Sprintf(`!%s && document.querySelector('.line.deleted[data-id="%d"]')`, message("first edited"), id))

	// The address of a message, and of one that is gone.
	ask[bool](alice, `(history.pushState({}, "", "/c/team/50"), dispatchEvent(new PopStateEvent("popstate")), true)`)
	alice.see(`document.activeElement.dataset.id === "50"`)
	alice.frames(3)
	if ask[bool](alice, `performance.getEntriesByType("resource").some((r) => r.name.includes("after=49&limit=1"))`) {
		t.Error("the page asks for a message that is here")
	}
	ask[bool](alice, fmt.Sprintf(`(history.pushState({}, "", "/c/team/%d"), dispatchEvent(new PopStateEvent("popstate")), true)`, id))
	alice.see(`document.querySelector(".toast")?.textContent.includes("no longer here")`)
}

// TestPageRetries sends messages that wait for a member who is behind, which is said, and are refused when they no longer have to.
func TestPageRetries(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	draft := client.GroupDraft{ID: "g", Members: []string{"alice"}, Keep: new(int64(0)), Overflow: "block", BacklogMax: new(int64(1))}
	must(bob.CreateGroup(ctx, draft))(t)
	catchUp := func() {
		t.Helper()
		must(bob.Ack(ctx, "g", must(bob.Group(ctx, "g"))(t).Last))(t)
	}
	must(bob.PutMember(ctx, "g", "alice", "admin"))(t)
	post := func(who string) { t.Helper(); must(bob.UpdateGroup(ctx, "g", client.GroupChange{Post: &who}))(t) }
	catchUp()
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("g")
	alice.say("one")
	alice.stands("one")
	alice.say("refused")
	alice.say("given up")
	alice.see(message("given up") + `?.dataset.pending === "waiting" && ` + message("given up") + `.querySelector(".waiting")`)
	alice.see(shows(".held", "Waiting for bob to catch up. Your message is sent then."))
	must(bob.PutMember(ctx, "g", "alice", "member"))(t)
	post("admins")
	catchUp()
	alice.see(message("refused") + `?.dataset.pending === "failed" && ` + message("given up") + `?.dataset.pending === "failed" && !document.querySelector(".held")`)
	alice.see(message("refused") + `?.querySelector(".failed[role=alert]")?.textContent.startsWith("Not sent. You may not write here.")`)
	post("members")
	catchUp()
	alice.click(".message .failed button") // Retry
	alice.stands("refused")
	alice.click(".message .failed button:nth-of-type(2)") // Discard
	alice.see("!(" + message("given up") + ")")
}
