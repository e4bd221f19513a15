package e2e

import (
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestPageQuorum: an author asks that a message be read, sees under it how far that is, and stops asking; whoever is reminded finds the
// message by the inbox, with the same line.
func TestPageQuorum(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	node := devNode(t)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Members: []string{"bob", "carl"}}))(t)
	plan := must(owner.Send(ctx, "town", client.Text("the evacuation plan")))(t)
	late := must(owner.Send(ctx, "town", client.Text("the rota for May")))(t)
	must(owner.Send(ctx, "town", client.Text("never mind")))(t)
	browser := startBrowser(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	alice.open("town")
	asks := func(text string) string {
		t.Helper()
		row := alice.stands(text)
		alice.tool(row, "More actions")
		alice.click(row + ` .menu [aria-label="Ask for reading…"]`)
		alice.see(`document.querySelector("dialog form[name=quorum] input[name=until]")?.value`)
		return `document.querySelector('` + row + ` .quorum')`
	}
	const ask = "dialog form[name=quorum] button.primary"

	line := asks("the evacuation plan")
	loadAxe(t, alice)
	alice.axe("quorum")
	alice.click(ask)
	alice.see(line + `?.dataset.state === "open" && /^Read by 0 of 2, until .+ · waiting for bob and carl/.test(` + line + `.textContent)`)
	alice.axe("quorum line")
	alice.picture(picturesDir(t), "quorum-line.png")
	must(node.Client("bob").Read(ctx, "town", plan.ID))(t)
	alice.see(`/^Read by 1 of 2, until .+ · waiting for carl/.test(` + line + `.textContent)`)
	must(node.Client("carl").Read(ctx, "town", plan.ID))(t)
	alice.see(line + `.dataset.state === "met" && ` + line + `.textContent === "Reached: read by 2 of 2"`)

	// Of a share, on a phone; and nobody comes in time.
	line = asks("the rota for May")
	alice.size(360, 740)
	alice.click("dialog input[name=need][value=percent]")
	alice.see(`document.querySelector("dialog input[name=percent]")?.value === "80"`)
	alice.fits()
	alice.scheme("dark")
	alice.picture(picturesDir(t), "quorum-dialog-dark.png")
	alice.click("dialog input[name=need][value=users]")
	alice.click(ask)
	alice.see(shows("dialog .problem", "Name at least one person."))
	alice.click("dialog input[name=need][value=percent]")
	alice.click(ask)
	alice.see(line + `?.textContent.startsWith("Read by 0 of 2, until ")`)
	alice.fits()
	alice.picture(picturesDir(t), "quorum-line-dark.png")
	must(owner.PutQuorum(ctx, "town", late.ID, client.QuorumDraft{
		Need: client.QuorumNeed{Percent: 80}, Until: time.Now().Add(10 * time.Second), Remind: []client.QuorumReminder{{AfterS: 1}},
	}))(t)
	alice.again(`/^Not reached: read by 0 of 2 until /.test(` + line + `.textContent)`)
	alice.scheme("light")
	alice.size(1180, 760)

	// Who is reminded finds it.
	bob.click(`.rail-link[href="/inbox"]`)
	bob.see(shows(".item[data-kind=quorum] strong", "alice asks for a message to be read"))
	bob.click(".item[data-kind=quorum] .item-open")
	row := bob.stands("the rota for May")
	bob.see(`document.querySelector('` + row + ` .quorum')?.dataset.state === "missed" && !document.querySelector(".quorum button")`)

	line = asks("never mind")
	alice.click(ask)
	alice.see(line + `?.dataset.state === "open"`)
	alice.click(alice.stands("never mind") + " .quorum button")
	alice.see(line + `.dataset.state === "cancelled" && ` + line + `.textContent === "Reading is no longer asked for"`)
}
