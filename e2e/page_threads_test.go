package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// inThread is the expression of the reply with this very text in the panel.
func inThread(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".thread ol:last-of-type .message")].find((m) => m.querySelector(".body")?.textContent === %q)`, text)
}

// TestPageThread: replies stand beside the conversation and not in it, their root counts them, and who follows is told of what is new.
func TestPageThread(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob", "carol"}}))(t)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "side", Name: "Side", Members: []string{"bob"}}))(t)
	root := must(node.Client("alice").Send(ctx, "town", client.Text("Where do we eat?")))(t).ID
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	alice.open("side")
	bob.open("town")
	row := bob.stands("Where do we eat?")

	// By the key for it; Escape closes the panel and only it.
	bob.do(chromedp.Focus(chromedp.CSS(row)))
	bob.press("t")
	bob.see(fmt.Sprintf(`location.pathname === "/c/town/t/%d" && document.activeElement?.matches(".panel textarea")`, root))
	bob.press(kb.Escape)
	bob.see(`location.pathname === "/c/town" && !document.querySelector(".panel")`)
	bob.tool(row, "Reply in thread")
	bob.see(`document.activeElement?.matches(".panel textarea")`)
	bob.press("At the **harbour**")
	bob.enter()
	bob.see(inThread("At the harbour") + `?.dataset.id && document.querySelector(".panel textarea").value === ""`)
	bob.see(fmt.Sprintf(`document.querySelector(%q)?.dataset.replies === "1" && ![...document.querySelectorAll(".scroller .body")].some((b) => b.textContent === "At the harbour")`, row+" .replies"))
	bob.see(`document.querySelector("button[name=follow]")?.ariaPressed === "true"`)

	// The author follows: no unread message, but an unread reply, where they are not at the moment and in the group.
	alice.see(`document.querySelector('[data-group=town] [data-threads="1"]') && !document.querySelector("[data-group=town] .badge")`)
	alice.see(`document.querySelector(".rail .dot")`)
	alice.open("town")
	alice.see(fmt.Sprintf(`document.querySelector(%q)`, row+" .replies .dot"))
	alice.picture(picturesDir(t), "thread-root.png")
	alice.click("[data-view=threads]")
	alice.see(`document.querySelector(".thread-card .badge")?.dataset.unread === "1"`)
	alice.picture(picturesDir(t), "threads.png")
	alice.click(".thread-card")
	alice.see(inThread("At the harbour") + ` && document.querySelector(".thread .line.new")`)
	alice.see(`!document.querySelector("[data-threads], .rail .dot")`)
	threadTools(t, alice, bob)

	// A draft of it waits there, over a reload; the group has one of its own.
	alice.fill(".panel textarea", "not sent yet")
	alice.fill(".pane textarea", "in the group")
	alice.do(chromedp.Reload())
	alice.live()
	alice.see(`document.querySelector(".panel textarea")?.value === "not sent yet" && document.querySelector(".pane textarea").value === "in the group"`)
	alice.picture(picturesDir(t), "thread.png")
	alice.scheme("dark")
	alice.picture(picturesDir(t), "thread-dark.png")
	alice.scheme("light")

	// The root goes, and the thread with it.
	must(node.Client("alice").Send(ctx, "town", client.Draft{Kind: client.KindDelete, Target: root}))(t)
	alice.see(`document.querySelector(".thread-gone")`)
	bob.see(`document.querySelector(".thread-gone")`)
	bob.click(`.panel button[aria-label="Close"]`)
	bob.see(`!document.querySelector(".panel, .replies")`)
}

// threadTools does to a reply what one does to any message.
func threadTools(t *testing.T, alice, bob *person) {
	t.Helper()
	reply := fmt.Sprintf(".thread .message[data-id=%q]", ask[string](alice, inThread("At the harbour")+".dataset.id"))
	alice.tool(reply, "Add reaction")
	alice.fill(reply+" .emoji-picker input", "tada")
	alice.enter()
	bob.see(inThread("At the harbour") + `?.querySelector(".reaction")?.textContent === "🎉 1"`)
	bob.chooses(reply, "Edit")
	bob.see(`document.querySelector(".panel textarea").value === "At the **harbour**"`)
	bob.press(" at 8")
	bob.enter()
	alice.see(inThread("At the harbour at 8") + `?.querySelector(".meta")?.textContent.startsWith("edited")`)
	alice.tool(reply, "Reply")
	alice.see(`document.activeElement?.matches(".panel textarea")`)
	alice.press("Fine")
	alice.enter()
	bob.see(inThread("Fine") + `?.querySelector(".quote")?.textContent.includes("At the harbour at 8")`)

	// Who does not follow any more is told of nothing.
	bob.click("button[name=follow]")
	bob.see(`document.querySelector("button[name=follow]").ariaPressed === "false"`)
	bob.click("[data-group=side]")
	bob.see(`location.pathname === "/c/side"`)
	alice.fill(".panel textarea", "Are you there?")
	alice.enter()
	alice.see(inThread("Are you there?") + `?.dataset.id`)
	bob.do(chromedp.NavigateBack())
	bob.see(inThread("Are you there?") + ` && !document.querySelector("[data-threads]")`)
	bob.see(`document.querySelector("[data-group=town] .group-last").textContent === "alice: Where do we eat?"`)
}

// TestPageThreadLinks: what leads to a reply opens its thread, also from a search and a mention; on a phone it has the whole pane, and
// Back closes it. What is written offline waits there.
func TestPageThreadLinks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner, bob := node.Client("alice"), node.Client("bob")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob"}}))(t)
	root := must(owner.Send(ctx, "town", client.Text("Where do we eat?")))(t).ID
	for i := range 80 {
		must(bob.Send(ctx, "town", client.Draft{Body: fmt.Sprintf("place %d", i+1), Thread: root}))(t)
	}
	found := must(bob.Send(ctx, "town", client.Draft{Body: "the lighthouse, @alice", Mentions: []string{"alice"}, Thread: root}))(t).ID
	alice := newPerson(t, startBrowser(t), node, "alice")

	// A link with the id alone finds the thread.
	alice.do(chromedp.Navigate(fmt.Sprintf("%s/c/town/%d", node.URL(), found-70)))
	alice.see(fmt.Sprintf(`location.pathname === "/c/town/t/%d/%d" && document.activeElement?.dataset.id === "%d"`, root, found-70, found-70))
	alice.see(`[...document.querySelectorAll(".thread .text-button")].some((b) => b.textContent === "Later replies")`)
	alice.press(kb.Escape)
	alice.see(`location.pathname === "/c/town" && !document.querySelector(".panel")`)

	// The group was read, and the reply that mentions was not.
	alice.see(`!document.querySelector("[data-group=town] .badge")`)
	alice.click("[data-view=inbox]")
	alice.click(".item[data-kind=mention] .item-open")
	alice.see(fmt.Sprintf(`location.pathname === "/c/town/t/%d/%d"`, root, found))
	alice.see(inThread("the lighthouse, @alice"))

	alice.phone()
	alice.see(inThread("the lighthouse, @alice"))
	alice.fits()
	alice.see(`(() => { const r = document.querySelector(".panel").getBoundingClientRect(); return r.width >= innerWidth - 1 && r.height >= innerHeight - 1; })()`)
	alice.picture(picturesDir(t), "thread-phone.png")
	alice.click(`.panel button[aria-label="Close"]`)
	alice.see(`location.pathname === "/c/town" && !document.querySelector(".panel")`)
	alice.click(".replies")
	alice.see(inThread("the lighthouse, @alice"))
	alice.do(chromedp.NavigateBack())
	alice.see(`location.pathname === "/c/town" && !document.querySelector(".panel")`)
	alice.click(".replies")
	alice.see(inThread("the lighthouse, @alice"))

	alice.refused(true)
	alice.online(false)
	alice.fill(".panel textarea", "later")
	alice.click(".panel .send")
	alice.see(inThread("later") + `?.dataset.pending === "waiting"`)
	alice.online(true)
	alice.see(inThread("later") + `?.dataset.id`)
}
