package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// TestPageStates: what an empty conversation says, the tick of what was sent, what is begun and what waits in the list, and where the log of a
// late member begins.
func TestPageStates(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	hidden := false
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "late", Name: "Late", History: &hidden}))(t)
	must(bob.Send(ctx, "late", client.Text("before alice")))(t)
	must(bob.PutMember(ctx, "late", "alice", ""))(t)
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "own", Name: "Own", Members: []string{"bob"}}))(t)
	alice := newPerson(t, startBrowser(t), node, "alice")

	alice.open("team")
	alice.see(`((text) => text.includes("You and bob are in this group.") && text.includes("Who joins later sees what was said before.") && text.includes("The owner and admins bring others in."))(document.querySelector("[data-nothing]").textContent)`)
	alice.fits()
	alice.picture(picturesDir(t), "states-empty.png")
	alice.say("hello")
	of := alice.stands("hello")
	sent := fmt.Sprintf(`document.querySelector(%q)`, of+" .sent")
	alice.see(sent + ` && !document.querySelector("[data-nothing]")`)
	alice.picture(picturesDir(t), "states-sent.png")
	must(bob.Read(ctx, "team", ask[int64](alice, fmt.Sprintf(`Number(document.querySelector(%q).dataset.id)`, of))))(t)
	alice.see(`!` + sent + ` && ` + message("hello") + `.querySelector(".readers")?.dataset.readers === "bob"`)

	must(bob.Send(ctx, "team", client.Text("```go\nfunc main() {}\n```")))(t)
	alice.see(`getComputedStyle(document.querySelector(".code"), "::before").content === '"go"'`)

	alice.see(unread("team") + ` === 0`)
	alice.fill(".write textarea", "Shall we")
	alice.open("own")
	alice.see(shows(`.group-link[data-group=team] .group-last`, "Draft: Shall we"))
	alice.picture(picturesDir(t), "states-draft.png")
	alice.click("[data-nothing] button[name=invite]")
	alice.see(`location.pathname === "/c/own/members" && document.querySelector(".panel form[name=add-member]")`)
	alice.click(`.panel button[aria-label="Close"]`)

	alice.open("late")
	alice.see(shows(".log-top > p", "You see what was said since you joined"))

	// What waits is what was said last.
	alice.refused(true)
	alice.online(false)
	alice.say("from the *train*")
	alice.see(message("from the train") + `?.querySelector(".waiting")`)
	alice.open("own")
	alice.see(shows(`.group-link[data-group=late] .group-last`, "You: from the train") + ` && document.querySelector("[data-group=late] .mark")?.ariaLabel === "1 message waits to be sent"`)
	alice.picture(picturesDir(t), "states-waits.png")
	alice.online(true)
	alice.see(`!document.querySelector("[data-group=late] .mark")`)
	alice.refused(false)

	alice.do(chromedp.Navigate(node.URL() + "/search?q=from%3Abob"))
	alice.see(`document.querySelector("[data-wordless]") && !document.querySelector(".hit, .problem")`)
}

// TestPageOrdersFiles: files go in the order in which a person puts them, by the keyboard too.
func TestPageOrdersFiles(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"bob"}}))(t)
	p := newPerson(t, startBrowser(t), node, "alice")
	p.open("team")
	p.see(`document.querySelector("button[aria-label='Attach files']")`) // until then it takes none
	for i, name := range strings.Fields("a.txt b.txt c.txt") {
		p.paste(name, `new Uint8Array(10)`)
		p.see(fmt.Sprintf(`document.querySelectorAll(".tile[data-phase=whole]").length === %d`, i+1))
	}
	order := func(want string) {
		t.Helper()
		p.see(fmt.Sprintf(`[...document.querySelectorAll(".tile bdi")].map((b) => b.textContent).join() === %q`, want))
	}
	order("a.txt,b.txt,c.txt")
	p.do(chromedp.Focus(chromedp.CSS(`.tile:last-child [data-move]`)))
	p.press(kb.ArrowLeft)
	order("a.txt,c.txt,b.txt")
	p.see(`document.activeElement?.ariaLabel === "Move c.txt, 2 of 3"`)
	p.press(kb.ArrowLeft)
	order("c.txt,a.txt,b.txt")
	p.picture(picturesDir(t), "tiles.png")
	p.script(`((tiles, move) => {
		const drag = (type, on) => on.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: move }));
		drag("dragstart", tiles[2]), drag("dragover", tiles[1]), drag("drop", tiles[1]), drag("dragend", tiles[2]);
	})(document.querySelectorAll(".tile"), new DataTransfer())`)
	order("c.txt,b.txt,a.txt")
	p.click(".send")
	p.see(`document.querySelector(".message[data-id]:not([data-pending]) .file")`)
	sent := must(alice.Messages(ctx, "team", client.Range{After: client.At(0)}))(t).Messages
	var names []string
	for _, f := range sent[len(sent)-1].Files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, ","); got != "c.txt,b.txt,a.txt" {
		t.Errorf("sent as %s", got)
	}
}
