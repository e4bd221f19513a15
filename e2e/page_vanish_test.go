package e2e

import (
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestPageVanishing: a message that is to disappear is sent at once, and says when it goes.
func TestPageVanishing(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Trip", Members: []string{"alice"}}))(t)
	must(bob.Send(ctx, "trip", client.Text("hello")))(t)

	p := newPerson(t, startBrowser(t), node, "alice")
	p.open("trip")
	p.stands("hello")
	p.fill(".write textarea", "the code is 4711")
	p.click(".send-buttons .later")
	p.see(`document.activeElement.role === "menuitem"`)
	p.picture(picturesDir(t), "vanish-menu.png")
	p.click(".later-menu [role=menuitem]:last-of-type")
	p.see(`document.querySelectorAll("dialog .buttons button").length === 3`)
	p.picture(picturesDir(t), "vanish.png")
	p.click("dialog .buttons button:nth-of-type(2)")
	p.see(`!document.querySelector("dialog") && ` + field + `.value === "" && document.querySelector(".toast")`)
	p.stands("the code is 4711")
	p.see(message("the code is 4711") + `.querySelector(".expires .icon") && ` + message("the code is 4711") + `.querySelector(".expires").title.startsWith("Disappears ")`)
	sent := texts(t, bob, "trip", 2)
	if m := sent[len(sent)-1]; m.Body != "the code is 4711" || m.ExpiresAt == nil || m.ExpiresAt.Sub(m.SentAt) != 24*time.Hour {
		t.Errorf("got %+v", m)
	}
}
