package e2e

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// chooses presses an entry of the menu of a message.
func (p *person) chooses(selector, label string) {
	p.t.Helper()
	p.tool(selector, "More actions")
	p.click(fmt.Sprintf(`%s .menu button[aria-label=%q]`, selector, p.reads(label)))
}

// TestPageForward: a message goes to another conversation with its files, by the keyboard alone, also to a person with whom there is
// none yet, and says that it was forwarded.
func TestPageForward(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner, bob := node.Client("alice"), node.Client("bob")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob", "carol"}}))(t)
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "choir", Name: "Choir of the old town", Members: []string{"bob"}}))(t)
	file := must(bob.UploadFile(ctx, "town", client.FileDraft{Name: "score.txt", Size: 9}, strings.NewReader("do re mi ")))(t)
	sent := must(bob.Send(ctx, "town", client.Draft{Body: "We sing **this** @carol", Mentions: []string{"carol"}, Files: []string{file}}))(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	alice.open("town")
	row := alice.stands("We sing this @carol")

	alice.chooses(row, "Forward…")
	alice.see(`document.activeElement?.name === "switch" && document.querySelector("[data-choice='group choir']")`)
	alice.press("choir")
	alice.see(`document.querySelectorAll(".switcher-list li").length === 1`)
	alice.picture(picturesDir(t), "forward-to.png")
	alice.enter()
	alice.see(`document.activeElement?.name === "note" && document.querySelector(".forwarded").textContent.includes("score.txt")`)
	alice.press("For Sunday")
	alice.picture(picturesDir(t), "forward.png")
	alice.enter()
	alice.see(`!document.querySelector("dialog") && document.querySelector(".toast")?.textContent.includes("Forwarded to Choir of the old town")`)
	alice.click(".toast button")
	alice.see(`location.pathname === "/c/choir"`)
	there := alice.stands("We sing this @carol")
	alice.stands("For Sunday")
	alice.see(fmt.Sprintf(`document.querySelector(%q).innerText.includes("Forwarded") && document.querySelector(%q)`, there, there+" .files"))
	alice.picture(picturesDir(t), "forwarded.png")
	page := must(bob.Messages(ctx, "choir", client.Range{}))(t)
	got := page.Messages[len(page.Messages)-1]
	if got.Body != sent.Body || len(got.Mentions) > 0 || len(got.Files) != 1 || got.Files[0].ID == file || got.From != "alice" {
		t.Errorf("got %+v, want a copy by alice that mentions nobody", got)
	}
	content := must(bob.OpenFile(ctx, "choir", got.Files[0]))(t)
	if body := must(io.ReadAll(content))(t); string(body) != "do re mi " {
		t.Errorf("the file that was forwarded has %q", body)
	}
	must(0, content.Close())(t)

	// To somebody new, on a phone, in Chinese.
	alice.script(`localStorage.setItem("chatd.prefs", JSON.stringify({ language: "zh" }))`)
	alice.open("town")
	alice.phone()
	alice.stands("We sing this @carol")
	alice.hold(message("We sing this @carol"))
	alice.tap(`[...document.querySelectorAll(".menu button")].find((b) => b.textContent === "转发…")`)
	alice.fill("input[name=switch]", "carol")
	alice.click("[data-choice='user carol']")
	alice.see(`document.querySelector("form[name=forward]")`)
	alice.picture(picturesDir(t), "forward-phone.png")
	alice.click("form[name=forward] .primary")
	carol := newPerson(t, browser, node, "carol")
	carol.see(`[...document.querySelectorAll(".group-preview, .group-link")].some((e) => e.textContent.includes("We sing this"))`)
}

// TestPageReminder: a message comes back to the inbox when it was asked for, and leads to where it stands.
func TestPageReminder(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob"}}))(t)
	sent := must(node.Client("bob").Send(ctx, "town", client.Text("Bring the keys")))(t)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("town")
	row := alice.stands("Bring the keys")

	// By the keyboard: the first time is an answer of its own, and can be taken back.
	alice.do(chromedp.Focus(chromedp.CSS(row)))
	alice.press(".")
	alice.see(`document.querySelector(".menu button[aria-label='Remind me…']")`)
	alice.click(row + ` .menu button[aria-label="Remind me…"]`)
	alice.see(`document.activeElement?.textContent.startsWith("In 20 minutes")`)
	alice.picture(picturesDir(t), "remind.png")
	alice.press(kb.Tab)
	alice.enter()
	alice.see(`!document.querySelector("dialog") && document.querySelector(".toast")?.textContent.includes("Reminder set for")`)
	list, _, err := owner.Schedules(ctx, client.Page{})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, %v, want one schedule", list, err)
	}
	if in := time.Until(*list[0].NextAt); list[0].User != "alice" || in < 40*time.Minute || in > 60*time.Minute {
		t.Errorf("got %+v, want a message to alice in an hour", list[0])
	}
	alice.click("[data-view=scheduled]")
	alice.see(fmt.Sprintf(`document.querySelector(".schedule a[href='/c/town/%d']")?.textContent === "Reminder"`, sent.ID))
	alice.picture(picturesDir(t), "reminder-scheduled.png")
	alice.click(`.schedule footer button:nth-child(2)`) // now
	alice.click("[data-view=inbox]")
	alice.see(`document.querySelector(".item strong")?.textContent === "Reminder" && document.querySelector(".inbox-group h2").textContent.includes("Town")`)
	alice.see(`document.querySelector(".item .item-body")?.textContent === "bob: Bring the keys"`)
	alice.picture(picturesDir(t), "reminder.png")
	alice.click(".item-open")
	alice.see(fmt.Sprintf(`location.pathname === "/c/town/%d" && !document.querySelector(".rail .badge")`, sent.ID))
}
