package e2e

import (
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestPageRules: who manages a group mutes, slows down and freezes it where they look for it, and the others see why they can't
// write, until they can.
func TestPageRules(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob"}}))(t)
	must(node.Client("bob").Send(ctx, "town", client.Text("buy my watches")))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	alice.open("town")
	bob.open("town")
	closed := func(text string) { t.Helper(); bob.see(shows(".write-closed", text)) }
	writes := func() {
		t.Helper()
		bob.see(`document.querySelector(".write textarea") && !document.querySelector(".write-closed")`)
	}

	// From the message: an hour, which is what stands there first.
	alice.tool(alice.stands("buy my watches"), "More actions")
	item := `[...document.querySelectorAll(".popover [role=menuitem]")].find((b) => b.textContent === "Mute the author…")`
	alice.see(item)
	alice.script(`%s.click()`, item)
	alice.see(shows("dialog h2", "Mute bob?"))
	alice.see(`document.querySelector("dialog [name=length]:checked").value === "3600"`)
	alice.picture(picturesDir(t), "mute.png")
	alice.click("dialog form[name=mute] button.primary")
	bob.see(`document.querySelector(".write-closed")?.textContent.startsWith("You are muted in this group until ")`)
	bob.picture(picturesDir(t), "muted.png")
	until := must(node.Client("bob").Group(ctx, "town"))(t).MutedUntil
	if left := time.Until(until); left < 50*time.Minute || left > time.Hour {
		t.Errorf("muted for %s", left)
	}

	// The list of members says so, and takes it back.
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(shows(".panel li[data-user=bob] .muted", "Muted"))
	alice.menu("bob", "Let write again")
	alice.see(`!document.querySelector(".panel .muted")`)
	writes()

	// For ever, and back by the message that says it is done.
	alice.unhurried()
	alice.menu("bob", "Mute…")
	alice.click(`dialog input[name=length][value="0"]`)
	alice.click("dialog form[name=mute] button.primary")
	closed("You are muted in this group.")
	alice.click(".toast button")
	writes()

	// A mute ends by itself, and who may not mute is told.
	must(owner.Mute(ctx, "town", "bob", time.Now().Add(2*time.Second)))(t)
	bob.see(`document.querySelector(".write-closed")`)
	writes()
	must(owner.PutMember(ctx, "town", "bob", "admin"))(t)
	must(owner.PutMember(ctx, "town", "carol", ""))(t)
	must(owner.PutMember(ctx, "town", "carol", "admin"))(t)
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.click(`.panel li[data-user=carol] button`)
	bob.see(`document.querySelector(".popover [role=menuitem]") && ![...document.querySelectorAll(".popover [role=menuitem]")].some((b) => b.textContent === "Mute…")`)
	bob.press("\x1b")
	must(owner.PutMember(ctx, "town", "bob", "member"))(t)

	// Slow mode.
	alice.click(`.group-head button[aria-label="Group settings"]`)
	alice.see(`document.querySelector("select[name=slow_s]")`)
	alice.script(`((s) => { s.value = "21600"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select[name=slow_s]"))`)
	alice.click("button[name=save]")
	bob.see(shows(".write-note.slow", "Slow mode: your next message is sent in 6 hours."))
	if got := must(owner.Group(ctx, "town"))(t).SlowS; got != 21_600 {
		t.Errorf("slow_s is %d", got)
	}
	alice.see(`!document.querySelector(".write-note.slow")`) // it spares who manages the group

	// Frozen, for the owner too.
	alice.click("input[name=post][value=none]")
	alice.script(`((s) => { s.value = "0"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select[name=slow_s]"))`)
	alice.click("button[name=save]")
	closed("This group is frozen: nobody can write for now.")
	alice.see(`document.querySelector(".write-closed")`)
	alice.picture(picturesDir(t), "frozen.png")
	alice.click("input[name=post][value=members]")
	alice.click("button[name=save]")
	writes()
	bob.see(`!document.querySelector(".write-note.slow")`)
	bob.say("sorry")
	alice.stands("sorry")
}
