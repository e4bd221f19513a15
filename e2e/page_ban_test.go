package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestPageBans: what is decided about reported people from the list of members: nothing, a day of silence, a ban with and without what they
// wrote; and a ban from the menu of a member, which is ended again.
func TestPageBans(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := devNode(t)
	owner := node.Client("alice")
	people := []string{"bob", "carl", "dan", "erin", "finn"}
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: people}))(t)
	report := map[string]string{}
	for _, user := range people[:4] {
		said := must(node.Client(user).Send(ctx, "town", client.Text(user+" sells watches")))(t)
		made := must(node.Client("finn").Report(ctx, "town", said.ID, client.ReportDraft{Reason: "spam"}))(t)
		report[user] = fmt.Sprintf("li[data-report=%q]", made.ID)
	}
	must(node.Client("finn").Send(ctx, "town", client.Text("finn sells watches")))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	bob.open("town")
	alice.open("town")
	alice.click(`.group-head button[aria-label="Members"]`)
	gone := func(user string) {
		t.Helper()
		alice.see(fmt.Sprintf(`!document.querySelector(%q)`, report[user]))
	}
	stays := func(user string, stays bool) {
		t.Helper()
		alice.see(fmt.Sprintf(`!!(%s) === %v`, message(user+" sells watches"), stays))
	}
	bans := func() map[string]client.Ban {
		t.Helper()
		list, _, err := owner.Bans(ctx, "town", client.Page{})
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]client.Ban{}
		for _, b := range list {
			all[b.User] = b
		}
		return all
	}

	alice.click(report["bob"] + " button[name=mute]")
	gone("bob")
	bob.see(`document.querySelector(".write-closed")?.textContent.startsWith("You are muted in this group until ")`)
	if left := time.Until(must(node.Client("bob").Group(ctx, "town"))(t).MutedUntil); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("muted for %s", left)
	}
	alice.click(report["dan"] + " button[name=dismiss]")
	gone("dan")
	stays("dan", true)

	// Banned from a report, with what they wrote and without.
	alice.click(report["carl"] + " button[name=ban]")
	alice.see(shows("dialog h2", "Ban carl?"))
	alice.picture(picturesDir(t), "ban.png")
	alice.size(390, 844)
	alice.fits()
	alice.scheme("dark")
	alice.picture(picturesDir(t), "ban-phone.png")
	alice.scheme("light")
	alice.size(1280, 800)
	alice.click("dialog form[name=ban] button.danger")
	gone("carl")
	alice.see(`!document.querySelector("dialog") && !document.querySelector(".panel li[data-user=carl]")`)
	stays("carl", true)
	alice.click(report["erin"] + " button[name=ban]")
	alice.click(`dialog input[name=hours][value="24"]`)
	alice.click("dialog form[name=ban] button.danger")
	gone("erin")
	stays("erin", false)
	if got := bans(); len(got) != 2 || got["carl"].Reason != "spam" || got["erin"].Reason != "spam" {
		t.Errorf("got the bans %+v", got)
	}

	// From the menu of a member, with a reason; then it ends.
	alice.menu("finn", "Ban…")
	alice.click(`dialog input[name=hours][value="168"]`)
	alice.fill("dialog input[name=reason]", "sells, too")
	alice.click("dialog form[name=ban] button.danger")
	stays("finn", false)
	stays("carl", true)
	alice.click(".panel details[name=banned] summary")
	alice.see(`document.querySelectorAll("li[data-ban]").length === 3`)
	alice.see(shows("li[data-ban=finn] .note", "sells, too"))
	alice.picture(picturesDir(t), "banned.png")
	alice.click("li[data-ban=finn] button[name=unban]")
	alice.see(`document.querySelectorAll("li[data-ban]").length === 2`)
	if got := bans(); len(got) != 2 {
		t.Errorf("got the bans %+v", got)
	}
	must(owner.PutMember(ctx, "town", "finn", ""))(t)
	alice.see(`document.querySelector(".panel li[data-user=finn]")`)

	// And from a message.
	alice.tool(alice.stands("dan sells watches"), "More actions")
	item := `[...document.querySelectorAll(".popover [role=menuitem]")].find((b) => b.textContent === "Ban the author…")`
	alice.see(item)
	alice.script(`%s.click()`, item)
	alice.click("dialog form[name=ban] button.danger")
	alice.see(`[...document.querySelectorAll(".line.notice")].some((n) => n.textContent.includes("banned dan") || n.textContent.includes("changes to the group"))`)
	alice.see(`!document.querySelector(".panel li[data-user=dan]")`)
	if _, banned := bans()["dan"]; !banned {
		t.Errorf("got the bans %+v", bans())
	}
}
