package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageDeskFollows: what waits for those who manage a group comes and goes in an open panel, whoever decides it, and the sender of
// a message that waited sees what became of it.
func TestPageDeskFollows(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := devNode(t)
	owner, dora := node.Client("alice"), node.Client("dora")
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "town", Name: "Town", Visibility: "public", Join: "ask", Members: []string{"bob", "carl", "dora"}}))(t)
	must(owner.PutMember(ctx, "town", "dora", "admin"))(t)
	must(owner.PutGroupWords(ctx, "town", client.Words{Refuse: []string{}, Mask: []string{}, Review: []string{"offer*"}}))(t)
	browser := startBrowser(t)
	alice, carl := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "carl")
	alice.open("town")
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(`document.querySelector(".panel li[data-user=carl]") && !document.querySelector(".requests")`)

	// They come.
	carl.open("town")
	for _, body := range []string{"An offer for you", "An offering for the church", "An offer again"} {
		carl.say(body)
	}
	carl.see(`document.querySelectorAll(".message .waits").length === 3`)
	carl.picture(picturesDir(t), "waits.png")
	bad := must(node.Client("carl").Send(ctx, "town", client.Text("Cheap watches")))(t)
	must(node.Client("bob").Report(ctx, "town", bad.ID, client.ReportDraft{Reason: "spam"}))(t)
	must(node.Client("eve").AskToJoin(ctx, "town", "please"))(t)
	rows := func(reviews, reports, requests int) {
		t.Helper()
		alice.see(fmt.Sprintf(`["review", "report", "request"].map((what) => document.querySelectorAll("li[data-" + what + "]").length).join() === "%d,%d,%d"`, reviews, reports, requests))
	}
	rows(3, 1, 1)

	// Another one decides them: they go.
	reviews, _, err := dora.Reviews(ctx, "town", client.Page{})
	if err != nil || len(reviews) != 3 {
		t.Fatalf("got %+v, %v", reviews, err)
	}
	must(dora.DecideReview(ctx, reviews[0].ID, "drop", "no selling here"))(t)
	must(dora.DecideReview(ctx, reviews[1].ID, "release", ""))(t)
	reports, _, err := dora.GroupReports(ctx, "town", client.Page{})
	if err != nil || len(reports) != 1 {
		t.Fatalf("got %+v, %v", reports, err)
	}
	must(struct{}{}, dora.DecideReport(ctx, reports[0].ID, "dismiss", nil))(t)
	must(struct{}{}, dora.AnswerRequest(ctx, "town", "eve", true))(t)
	rows(1, 0, 0)

	// Its sender sees what became of it, also after a reload.
	dropped := message("An offer for you")
	for range 2 {
		carl.see(dropped + `?.querySelector(".failed")?.textContent.startsWith("Not sent: a moderator did not let it through. “no selling here”")`)
		carl.see(message("An offering for the church") + `?.dataset.id > 0 && document.querySelectorAll(".message .waits").length === 1`)
		carl.do(chromedp.Reload())
		carl.live()
	}
	carl.picture(picturesDir(t), "dropped.png")
	carl.see(`!` + dropped + `.textContent.includes("Retry")`) // the server would give its first answer
	carl.script(`[...%s.querySelectorAll(".failed button")].find((b) => b.textContent === "Discard").click()`, dropped)
	carl.see(`!` + dropped)
	carl.frames(2)
	if said := ask[string](carl, `document.querySelector(".toast")?.textContent ?? ""`); said != "" {
		t.Errorf("what they did themself is told as %q", said)
	}
	carl.click(`a[href="/inbox"]`)
	carl.see(shows(`.item[data-kind=review] strong`, "A moderator did not let your message through"))
	carl.see(shows(`.item[data-kind=review] .item-body`, "no selling here"))
	carl.see(`document.querySelectorAll(".item[data-kind=review]").length === 1`) // what was let through is read in its group
	carl.picture(picturesDir(t), "inbox-review.png")

	// Much that is said has the lists read at most once in three seconds.
	asked := func() int {
		t.Helper()
		return ask[int](alice, `performance.getEntriesByType("resource").filter((r) => r.name.includes("/v1/reviews")).length`)
	}
	alice.script(`performance.clearResourceTimings()`) // it holds only so many
	began := ask[float64](alice, `performance.now()`)
	for i := range 30 {
		must(node.Client("carl").Send(ctx, "town", client.Text(fmt.Sprintf("hello %d", i))))(t)
	}
	alice.see(message("hello 29"))
	harness.Eventually(t, waitTimeout, "the lists are read", func() error {
		if asked() == 0 {
			return errors.New("not yet")
		}
		return nil
	})
	if got, ms := asked(), ask[float64](alice, `performance.now()`)-began; float64(got) > 2+ms/3000 {
		t.Errorf("%d calls in %.0f ms", got, ms)
	}
}
