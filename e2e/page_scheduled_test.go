package e2e

import (
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestPageScheduled: what goes out next is first in the list, and what recurs says how often, and its next times in both zones.
func TestPageScheduled(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	owner := node.Client("alice")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Trip"}))(t)
	must(owner.SendLater(ctx, "trip", client.Text("in ten days"), time.Now().AddDate(0, 0, 10)))(t)
	must(owner.CreateSchedule(ctx, client.ScheduleDraft{Group: "trip", Body: "good morning", Cron: "50 8 * * *", Timezone: "Asia/Kathmandu"}))(t)
	must(owner.SendLater(ctx, "trip", client.Text("in two days"), time.Now().AddDate(0, 0, 2)))(t)

	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.click("[data-view=scheduled]")
	alice.see(`[...document.querySelectorAll(".schedule .text")].map((p) => p.textContent).join() === "good morning,in two days,in ten days"`)
	alice.see(`document.querySelector(".schedule strong").textContent.split(" · ").length === 3`)
	alice.see(`document.querySelector(".schedule").textContent.includes("Every day · Asia/Kathmandu")`)
	alice.see(`/There: .*8:50/.test(document.querySelector(".schedule").textContent)`)
}
