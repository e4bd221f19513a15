package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// groupOf gives the id of the group that the person has open.
func groupOf(p *person) string {
	return ask[string](p, `document.querySelector(".group-link[aria-current]").dataset.group`)
}

// makeGroup makes a group by the form and leaves it open.
func makeGroup(p *person, name, members, visibility string) string {
	p.t.Helper()
	p.click(`button[aria-label="Create group"]`)
	p.fill("input[name=name]", name)
	if members != "" {
		p.fill("input[name=members]", members)
	}
	p.click(fmt.Sprintf("input[value=%q]", visibility))
	p.click("dialog button.wide")
	p.see(shows(".group-title h2", name))
	p.see(`!document.querySelector("dialog")`)
	return groupOf(p)
}

func TestBrowserTwoPeople(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	bob := newPerson(t, browser, node, "bob")

	trip := makeGroup(alice, "Weekend trip", "", "private")
	alice.click(`button[aria-label="Members"]`)
	alice.fill("dialog input[name=user]", "bob")
	alice.enter()
	alice.see(`document.querySelector("dialog li[data-user=bob]")`)
	alice.click(`dialog button[aria-label="Close"]`)
	bob.see(shows(".group-link .group-name", "Weekend trip"))

	// Unread is counted live, and ends when the message is seen.
	alice.say("Morning! Shall we take the early train?")
	alice.stands("Morning! Shall we take the early train?")
	bob.see(`document.querySelector(".group-link .badge[data-unread='1']") && document.title === "(1) chatd"`)
	bob.open(trip)
	bob.stands("Morning! Shall we take the early train?")
	bob.see(`!document.querySelector(".badge[data-unread]") && document.title === "chatd"`)
	alice.see(message("Morning! Shall we take the early train?") + `.querySelector(".readers")?.dataset.readers === "bob"`)

	// Typing shows, and ends with the message; an answer quotes.
	bob.tool(bob.stands("Morning! Shall we take the early train?"), "Reply")
	bob.fill(".write textarea", "Yes")
	bob.types(alice)
	bob.press(", 8:12")
	bob.enter()
	alice.see(message("Yes, 8:12") + `?.querySelector(".quote").textContent === "aliceMorning! Shall we take the early train?"`)
	alice.see(`document.querySelector(".typing").textContent === ""`)

	// Edit by the key for it.
	alice.fill(".write textarea", "I bring the mep")
	alice.enter()
	alice.stands("I bring the mep")
	alice.press(kb.ArrowUp)
	alice.see(`document.querySelector(".write textarea").value === "I bring the mep"`)
	alice.press(kb.Backspace + kb.Backspace + "ap")
	alice.enter()
	alice.stands("I bring the map")
	bob.see(message("I bring the map") + `?.querySelector(".meta").textContent.startsWith("edited")`)

	reactions(t, alice, bob)

	bob.say("wrong group, sorry")
	alice.stands("wrong group, sorry")
	bob.tool(bob.stands("wrong group, sorry"), "Delete")
	bob.click(".ask .danger")
	alice.see(message("This message was deleted"))
	alice.see(`!document.body.innerText.includes("wrong group, sorry")`)

	alice.tool(alice.stands("I bring the map"), "View read receipts")
	alice.see(`document.querySelector("[data-receipts=read] li[data-user=bob]")`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector("dialog")`)

	mentions(alice, bob, trip)
	programs(t, node, alice, trip)
	publicGroup(alice, bob)
}

// programs lets a program write in bob's name, which shows.
func programs(t *testing.T, node *harness.Node, alice *person, trip string) {
	t.Helper()
	key, log, failed := keys(t, node, "add", "robot", "-scopes", "send", "-as", "bob")
	if failed {
		t.Fatal(log)
	}
	bob := must(client.New(node.URL(), client.StaticToken(strings.TrimSpace(key))))(t).As("bob")
	must(bob.Send(t.Context(), trip, client.Text("The train is late")))(t)
	alice.see(message("The train is late") + `?.querySelector(".meta").textContent.startsWith("via key")`)
}

func reactions(t *testing.T, alice, bob *person) {
	t.Helper()
	of := bob.stands("I bring the map")
	bob.tool(of, "Add reaction")
	bob.click(of + ` .picker button:nth-child(2)`)
	chip := fmt.Sprintf(`document.querySelector(%q)`, of+" .reaction")
	alice.see(chip + `?.textContent === "❤️1" && ` + chip + `.ariaPressed === "false"`)
	bob.see(chip + `?.ariaPressed === "true"`)
	alice.click(of + " .reaction")
	bob.see(chip + `?.textContent === "❤️2"`)
	alice.see(chip + `?.textContent === "❤️2" && ` + chip + `.ariaPressed === "true"`)
	alice.click(of + " .reaction")
	bob.see(chip + `?.textContent === "❤️1"`)
	alice.tool(of, "Add reaction")
	alice.fill(of+" .picker input", "✅")
	alice.enter()
	bob.see(fmt.Sprintf(`document.querySelectorAll(%q).length === 2`, of+" .reaction"))
}

// mentions checks the marks of a mention, at the group, in the message and in the inbox.
func mentions(alice, bob *person, trip string) {
	alice.t.Helper()
	bob.click(".inbox-button")
	bob.see(`document.querySelector(".item[data-kind=added]")`)
	bob.click("dialog .buttons .button")
	bob.see(`!document.querySelector(".item") && !document.querySelector(".inbox-button .badge")`)
	bob.click(`dialog button[aria-label="Close"]`)
	ask[string](bob, `location.hash = ""`)
	bob.see(`document.querySelector(".nothing")`)
	alice.say("@bob, do you still have the big tent?")
	bob.see(`document.querySelector(".group-link .badge.at") && document.querySelector(".group-link .badge[data-unread='1']")`)
	bob.see(`document.querySelector(".inbox-button .badge")?.textContent === "1"`)
	bob.open(trip)
	bob.see(message("@bob, do you still have the big tent?") + `?.querySelector(".mention.self").textContent === "@bob"`)
	bob.see(`document.querySelector(".line.new") && !document.querySelector(".badge.at")`)

	bob.fill(".write textarea", "I do, and it is dry again.")
	bob.enter(chromedp.ModifierShift)
	bob.press("I will pack it on Friday.")
	bob.enter()
	alice.stands("I do, and it is dry again.\nI will pack it on Friday.")

	alice.click(".inbox-button")
	alice.fill("dialog input[name=to]", "bob")
	alice.fill("dialog textarea", "a word between us")
	alice.click("dialog form button.primary")
	alice.see(shows("dialog form [role=status]", "Sent to bob."))
	alice.click(`dialog button[aria-label="Close"]`)
	bob.see(`document.querySelector(".inbox-button .badge")?.textContent === "2"`)
}

// publicGroup is found, joined and left again.
func publicGroup(alice, bob *person) {
	alice.t.Helper()
	club := makeGroup(bob, "Book club", "", "public")
	alice.click(`button[aria-label="Browse public groups"]`)
	alice.click(fmt.Sprintf("dialog li[data-public=%q] button", club))
	alice.see(shows(".group-title h2", "Book club"))
	alice.say("What do we read next?")
	bob.stands("What do we read next?")
	bob.see(`[...document.querySelectorAll(".line.notice")].some((l) => l.textContent === "alice joined")`)
	alice.click(`button[aria-label="Members"]`)
	alice.click("dialog .sheet-foot button")
	alice.click("dialog .sheet-foot .danger")
	alice.see(fmt.Sprintf(`!document.querySelector(".group-link[data-group='%s']") && document.querySelector(".nothing")`, club))
	bob.see(`[...document.querySelectorAll(".line.notice")].some((l) => l.textContent === "alice left")`)
}

// TestBrowserSurvivesARestart kills the server under two open pages. What is written meanwhile waits and arrives once.
func TestBrowserSurvivesARestart(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	bob := newPerson(t, browser, node, "bob")
	group := makeGroup(alice, "Night shift", "bob", "private")
	alice.say("before")
	bob.open(group)
	bob.stands("before")

	alice.refused(true)
	bob.refused(true)
	node.Kill()
	for _, p := range []*person{alice, bob} {
		p.see(`document.querySelector(".link-state").dataset.phase !== "live"`)
	}
	alice.say("while it was down")
	alice.say("and one more")
	alice.see(`document.querySelectorAll(".message.is-waiting").length === 2`)
	node.Start()
	alice.live()
	bob.live()
	alice.refused(false)
	bob.refused(false)
	alice.stands("while it was down")
	bob.stands("and one more")
	bob.see(`[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|") === "before|while it was down|and one more"`)
	alice.see(`[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|") === "before|while it was down|and one more"`)
	alice.see(message("and one more") + `.querySelector(".readers")?.dataset.readers === "bob"`)

	alice.do(chromedp.Reload())
	alice.live()
	alice.see(`[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|") === "before|while it was down|and one more"`)
	bob.say("after")
	alice.stands("after")

	stored, err := node.Client("bob").Messages(bounded(t, waitTimeout), group, client.Range{After: client.At(0)})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range stored.Messages {
		if m.Kind == "text" {
			bodies = append(bodies, m.Body)
		}
	}
	if got, want := strings.Join(bodies, "|"), "before|while it was down|and one more|after"; got != want {
		t.Errorf("the server stored %q, want %q", got, want)
	}
}

// TestBrowserLoadsOlderMessages scrolls up through more than a page, and is told where the log was trimmed.
func TestBrowserLoadsOlderMessages(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on", "CHATD_ARCHIVE": "off"}})
	ctx := bounded(t, browserTimeout)
	owner := node.Client("olga")
	long := seed(ctx, t, owner, "long", 500, 200)
	short := seed(ctx, t, owner, "short", 20, 60)
	alice := newPerson(t, startBrowser(t), node, "alice")

	alice.open(long)
	alice.see(message("long 1"))
	alice.click(".to-end")
	alice.stands("long 200")
	alice.see(`document.querySelector(".scroller").scrollTop > 0 && !` + message("long 1"))
	for _, text := range []string{"long 140", "long 70", "long 1"} {
		ask[int](alice, `document.querySelector(".scroller").scrollTop = 0`)
		alice.see(message(text))
	}
	alice.see(shows(".log-top", "This is the beginning of long"))
	got := ask[string](alice, `[...document.querySelectorAll(".message .body")].map((b) => b.textContent.slice(5)).join()`)
	var want []string
	for i := range 200 {
		want = append(want, fmt.Sprint(i+1))
	}
	if got != strings.Join(want, ",") {
		t.Errorf("the page shows %s", got)
	}

	alice.open(short)
	alice.stands("short 60")
	alice.see(shows(".log-top", "Older messages are no longer available"))
	alice.see(`!` + message("short 40"))
}

// seed makes a group with alice in it that keeps so many messages, and fills it. The owner's cursor follows what the
// owner sends; alice reads all but what is kept, so that the rest can be trimmed.
func seed(ctx context.Context, t *testing.T, owner *client.Client, name string, keep int64, messages int) string {
	t.Helper()
	group := must(owner.CreateGroup(ctx, client.GroupDraft{ID: name, Name: name, Keep: &keep}))(t)
	var last int64
	for i := range messages {
		last = must(owner.Send(ctx, group.ID, client.Draft{Body: fmt.Sprintf("%s %d", name, i+1)}))(t).ID
	}
	must(owner.Ack(ctx, group.ID, last))(t)
	must(owner.PutMember(ctx, group.ID, "alice", ""))(t)
	return group.ID
}
