package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageTwoPeople has two people write to each other, with all that one does to a message.
func TestPageTwoPeople(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	bob := newPerson(t, browser, node, "bob")

	trip := makeGroup(alice, "Weekend trip", "", "private")
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.fill(".panel input[name=user]", "bob")
	alice.enter()
	alice.see(`document.querySelector(".panel li[data-user=bob]")`)
	alice.click(`.panel button[aria-label="Close"]`)
	bob.see(shows(".group-link .group-name", "Weekend trip"))

	// Unread is counted live, and ends when the message is seen, as the notice of being added does.
	alice.say("Morning! Shall we take the early train?")
	alice.stands("Morning! Shall we take the early train?")
	bob.see(`document.querySelector(".group-link .badge[data-unread='1']") && document.title === "(1) chatd"`)
	bob.open(trip)
	bob.stands("Morning! Shall we take the early train?")
	bob.see(`!document.querySelector(".group-link .badge, .rail .badge") && document.title === "Weekend trip · chatd"`)
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
	wrong := bob.stands("wrong group, sorry")
	bob.tool(wrong, "More actions")
	bob.click(wrong + ` .menu button[aria-label="Delete"]`)
	bob.click(".ask .danger")
	alice.see(`document.querySelector(".line.deleted")?.textContent === "A message of bob was deleted"`)
	alice.see(`!document.body.innerText.includes("wrong group, sorry")`)

	said := alice.stands("I bring the map")
	alice.tool(said, "More actions")
	alice.click(said + ` .menu button[aria-label="View read receipts"]`)
	alice.see(`document.querySelector(".panel [data-receipts=read] li[data-user=bob]")`)
	alice.press(kb.Escape)
	alice.see(`!document.querySelector(".panel")`)

	mentions(alice, bob, trip)
	programs(t, node, alice, trip)
	direct(alice, bob)
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
	bob.tool(of, "React with ❤️")
	chip := fmt.Sprintf(`document.querySelector(%q)`, of+" .reaction")
	alice.see(chip + `?.textContent === "❤️ 1" && ` + chip + `.ariaPressed === "false"`)
	bob.see(chip + `?.ariaPressed === "true"`)
	alice.click(of + " .reaction")
	bob.see(chip + `?.textContent === "❤️ 2"`)
	alice.see(chip + `?.textContent === "❤️ 2" && ` + chip + `.ariaPressed === "true"`)
	alice.click(of + " .reaction")
	bob.see(chip + `?.textContent === "❤️ 1"`)
	alice.tool(of, "Add reaction")
	alice.fill(of+" .emoji-picker input", "tada")
	alice.enter()
	bob.see(fmt.Sprintf(`[...document.querySelectorAll(%q)].map((r) => r.textContent).join() === "❤️ 1,🎉 1"`, of+" .reaction"))
}

// mentions checks the marks of a mention, at the group, in the message and in the inbox: there it is done when it is read.
func mentions(alice, bob *person, trip string) {
	alice.t.Helper()
	bob.click(".rail-link[data-view=inbox]")
	bob.see(`document.querySelector(".nothing") && !document.querySelector(".item")`)
	bob.click(".rail-link[data-view=home]")
	bob.see(`document.querySelector(".home")`)
	alice.fill(".write textarea", "@bo")
	alice.see(`document.querySelector(".offered [aria-selected=true]")?.dataset.offer === "bob"`)
	alice.enter()
	alice.press("do you still have the big tent?")
	alice.enter()
	bob.see(`document.querySelector(".group-link .badge.at") && document.querySelector(".group-link .badge[data-unread='1']")`)
	bob.see(`document.querySelector(".rail-link[data-view=inbox] .badge")?.textContent === "1" && document.title === "(1) chatd"`)
	bob.open(trip)
	bob.see(message("@bob do you still have the big tent?") + `?.querySelector(".mention.self").textContent === "@bob"`)
	bob.see(`document.querySelector(".line.new") && !document.querySelector(".group-link .badge, .rail .badge")`)

	bob.fill(".write textarea", "I do, and it is dry again.")
	bob.enter(chromedp.ModifierShift)
	bob.press("I will pack it on Friday.")
	bob.enter()
	alice.stands("I do, and it is dry again.\nI will pack it on Friday.")
}

// direct has alice write to bob alone, by the list of members.
func direct(alice, bob *person) {
	alice.t.Helper()
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.menu("bob", "Send a message")
	alice.see(shows(".group-title h1", "bob") + ` && !document.querySelector(".panel")`)
	alice.say("a word between us")
	alice.stands("a word between us")
	bob.open(groupOf(alice))
	bob.stands("a word between us")
	bob.see(shows(".group-title h1", "alice"))
}

// publicGroup is found, joined and left again.
func publicGroup(alice, bob *person) {
	alice.t.Helper()
	club := makeGroup(bob, "Book club", "", "public")
	alice.click(`a[aria-label="Browse public groups"]`)
	alice.click(fmt.Sprintf("li[data-public=%q] button", club))
	alice.see(shows(".group-title h1", "Book club"))
	alice.say("What do we read next?")
	bob.stands("What do we read next?")
	notice := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".line.notice p")].some((l) => l.textContent === %q)`, text)
	}
	bob.see(notice("alice joined"))
	alice.click(`.group-head button[aria-label="Group settings"]`)
	alice.refused(true) // what it asks for as it leaves
	alice.click("button[name=leave]")
	alice.sure()
	alice.see(fmt.Sprintf(`!document.querySelector(".group-link[data-group='%s']") && document.querySelector(".home, .nothing")`, club))
	bob.see(notice("alice left"))
}

// TestPageSurvivesARestart kills the server under two open pages. What is written meanwhile waits and arrives once.
func TestPageSurvivesARestart(t *testing.T) {
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

// TestPageLoadsOlderMessages scrolls up through more than the page holds at a time, and is told where the log was trimmed.
func TestPageLoadsOlderMessages(t *testing.T) {
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
	alice.scrollUntil(everything+` && `+message("long 1"), -4000)
	alice.see(shows(".log-top", "This is the beginning of long"))
	want := ""
	for i := range 200 {
		want += fmt.Sprintf("long %d\n", i+1)
	}
	if got := ask[string](alice, noted); got != want {
		t.Errorf("the page shows\n%s", got)
	}

	alice.open(short)
	alice.stands("short 60")
	alice.see(shows(".log-top", "Older messages are no longer available"))
	alice.see(`!` + message("short 40"))
}
