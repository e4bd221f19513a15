package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// TestPageLoadsAGap: what was written while somebody was out of a group is a gap, which loads once the group shows its history, in
// parts, where it belongs.
func TestPageLoadsAGap(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	history := false
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}, History: &history}))(t)
	say := func(format string, from, to int) {
		t.Helper()
		for n := from; n <= to; n++ {
			must(bob.Send(ctx, "team", client.Text(fmt.Sprintf(format, n))))(t)
		}
	}
	say("before %d", 1, 3)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("team")
	alice.see(message("before 3") + " && " + unread("team") + " === 0")
	alice.do(chromedp.Navigate("about:blank"))

	first := must(bob.Group(ctx, "team"))(t).Last + 1
	if err := bob.RemoveMember(ctx, "team", "alice"); err != nil {
		t.Fatal(err)
	}
	say("hidden %d", 1, 120)
	hidden := must(bob.Group(ctx, "team"))(t).Last + 1 - first
	must(bob.PutMember(ctx, "team", "alice", "member"))(t)
	say("after %d", 1, 2)
	alice.do(chromedp.Navigate(node.URL() + "/c/team"))
	alice.live()
	line := func(text string) string { return shows(".line.gap", text) }
	missing := fmt.Sprintf("%d messages are missing here ", hidden)
	alice.see(line(missing+"Load") + " && " + message("before 3") + " && " + message("after 2"))

	// The group does not show it.
	alice.click(".line.gap button")
	alice.see(line(fmt.Sprintf("%d messages are no longer available ", hidden)))
	alice.see(`document.activeElement.matches(".line.gap")`)

	// It does by now, and the network is away.
	history = true
	must(bob.UpdateGroup(ctx, "team", client.GroupChange{History: &history}))(t)
	alice.do(chromedp.Reload())
	alice.live()
	alice.see(line(missing + "Load"))
	alice.refused(true)
	alice.online(false)
	alice.script(`document.querySelector(".line.gap button").focus()`)
	alice.press(kb.Enter)
	alice.see(`document.querySelector(".line.gap [role=alert]") && document.querySelector(".line.gap button")?.textContent === "Retry"`)
	pictures := picturesDir(t)
	alice.picture(pictures, "gap.png")
	alice.online(true)
	alice.live()

	alice.script(`document.querySelector(".line.gap button").focus()`)
	alice.press(kb.Enter)
	alice.see(`document.activeElement === ` + message("hidden 1"))
	alice.see(fmt.Sprintf(`/^%d messages are missing here\s*Load$/.test(document.querySelector(".line.gap")?.textContent)`, hidden-100))
	// The first 100 have the notice that alice was removed.
	alice.see(message("hidden 99") + " && !(" + message("hidden 100") + ")")
	alice.script(`document.querySelector(".line.gap").scrollIntoView({ block: "center" })`)
	alice.frames(2)
	alice.picture(pictures, "gap-part.png")
	alice.fits()

	alice.phone()
	alice.script(`document.documentElement.dir = "rtl"`)
	alice.see(`document.querySelector(".line.gap button")`)
	alice.script(`document.querySelector(".line.gap").scrollIntoView({ block: "center" })`)
	alice.frames(2)
	alice.picture(pictures, "gap-phone.png")
	alice.fits()
	alice.see(`((r) => r.height >= 44 && r.width >= 44)(document.querySelector(".line.gap button").getBoundingClientRect())`)
	alice.tap(`document.querySelector(".line.gap button")`)
	alice.see("!document.querySelector('.line.gap') && " + message("hidden 120"))
	alice.see(`[...document.querySelectorAll(".message[data-id]")].every((m, i, all) => i === 0 || +all[i - 1].dataset.id < +m.dataset.id)`)

	// What was loaded is kept.
	alice.online(false)
	alice.do(chromedp.Reload())
	for _, text := range []string{"after 2", "hidden 120", "hidden 1", "before 3"} {
		alice.scrollUntil(fmt.Sprintf("!!(%s)", message(text)), -300)
	}
	alice.see("!document.querySelector('.line.gap')")
}
