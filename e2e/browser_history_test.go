package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// archivedNode offers the development sign-in and keeps its logs in SQLite.
func archivedNode(t *testing.T) *history {
	t.Helper()
	return newHistory(t, harness.Config{Data: t.TempDir(), Env: map[string]string{
		"CHATD_DEV": "on", "CHATD_ARCHIVE": "sqlite:" + filepath.Join(t.TempDir(), "archive.db"),
	}})
}

// bodies are the texts of a group, a line each, and the expression of those that the page shows.
func (h *history) bodies() (texts, shown string) {
	for _, body := range h.want {
		if body != client.KindNotice {
			texts += body + "\n"
		}
	}
	return texts, `[...document.querySelectorAll(".message .body")].map((b) => b.textContent + "\n").join("")`
}

// scrollUp goes up to the beginning, step by step, and tells how far what is on screen moves while older messages are added above
// it. A page of them is held back until the scrolling has come to rest.
const scrollUp = `(async () => {
	const el = document.querySelector(".scroller");
	const frames = async (n) => { while (n-- > 0) await new Promise(requestAnimationFrame); };
	const rows = () => [...el.querySelectorAll("[data-key]")];
	const load = fetch;
	let arrive;
	fetch = async (url, options) => {
		const answer = await load(url, options);
		if (url.includes("before=")) await new Promise((done) => { arrive = done; });
		return answer;
	};
	let worst = 0, loads = 0;
	for (let step = 0; step < 3000 && !el.querySelector(".log-top").textContent.includes("beginning"); step++) {
		el.scrollTop -= 700;
		await frames(2);
		if (!arrive) continue;
		const view = el.getBoundingClientRect();
		const row = rows().find((r) => r.getBoundingClientRect().bottom > view.top);
		const top = row.getBoundingClientRect().top, n = rows().length;
		arrive();
		arrive = undefined;
		while (rows().length === n) await frames(1);
		loads++;
		await frames(2);
		worst = Math.max(worst, Math.abs(row.getBoundingClientRect().top - top));
	}
	return { worst, loads };
})()`

// TestBrowserScrollsThroughHistory goes up to the beginning of a log of which the store holds the end only.
func TestBrowserScrollsThroughHistory(t *testing.T) {
	t.Parallel()
	h := archivedNode(t)
	h.make("g", 400)
	must(h.bob.Read(h.ctx, "g", h.last()))(t)
	bob := newPerson(t, startBrowser(t), h.node, "bob")
	bob.open("g")
	bob.stands("message 399 of g")
	moved := ask[struct {
		Worst float64
		Loads int
	}](bob, scrollUp)
	t.Logf("moved by %.1f px at most while %d pages were added", moved.Worst, moved.Loads)
	if moved.Worst > 2 || moved.Loads < 3 { // of 60 messages each; some may be there before the scrolling
		t.Errorf("messages have moved by %.1f px while older ones were loaded %d times", moved.Worst, moved.Loads)
	}
	bob.see(message("message 0 of g"))
	texts, shown := h.bodies()
	if got := ask[string](bob, shown); got != texts {
		t.Errorf("the page shows\n%s", got)
	}
}

// refill writes into a field in place of what it holds.
func (p *person) refill(selector, text string) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf(`(document.querySelector(%q).select(), true)`, selector))
	p.fill(selector, text)
}

// inView tells whether a message is wholly on screen.
func inView(text string) string {
	return fmt.Sprintf(`(() => { const row = %s, view = document.querySelector(".scroller").getBoundingClientRect(), at = row?.getBoundingClientRect();
		return row && at.top >= view.top && at.bottom <= view.bottom; })()`, message(text))
}

// TestBrowserSearches finds old messages and goes to their places in the log.
func TestBrowserSearches(t *testing.T) {
	t.Parallel()
	h := archivedNode(t)
	must(h.ann.CreateGroup(h.ctx, client.GroupDraft{ID: "other", Name: "Other", Members: []string{"bob"}}))(t)
	must(h.ann.Send(h.ctx, "other", client.Text("<b>Apple</b> 👍🏽 pie, apple tart")))(t)
	h.make("g", 300)
	must(h.bob.Read(h.ctx, "g", h.last()))(t)
	bob := newPerson(t, startBrowser(t), h.node, "bob")
	bob.open("g")
	bob.stands("message 299 of g")
	find := func(button, words string, hits int) {
		t.Helper()
		bob.click(fmt.Sprintf("button[aria-label=%q]", button))
		bob.fill("dialog input[name=q]", words)
		bob.enter()
		bob.see(fmt.Sprintf(`document.querySelectorAll(".hit").length === %d && !document.querySelector("dialog .problem")`, hits))
	}
	find("Search in this group", "mess* 42", 1)
	bob.click(".hit")
	bob.see(`!document.querySelector("dialog") && ` + inView("message 42 of g"))
	bob.see(`!` + message("message 299 of g"))
	// From there in both directions: everything once, in order, down to the end and up to the beginning.
	bob.scrollUntil(message("message 299 of g"), 4000)
	bob.scrollUntil(message("message 0 of g"), -4000)
	texts, shown := h.bodies()
	if got := ask[string](bob, shown); got != texts {
		t.Errorf("the page shows\n%s", got)
	}
	// What is loaded is only scrolled to.
	find("Search in this group", `"message 250"`, 1)
	bob.click(".hit")
	bob.see(inView("message 250 of g"))

	// In another group; what was found is marked, and text stays text.
	find("Search messages", "APPLE", 1)
	bob.see(`[...document.querySelectorAll(".hit mark")].map((m) => m.textContent).join(" ") === "Apple apple"`)
	bob.see(`document.querySelector(".hit .item-body").textContent === "<b>Apple</b> 👍🏽 pie, apple tart" && document.querySelector(".hit small").textContent === "Other"`)
	bob.click(".hit")
	bob.see(`document.querySelector(".group-title h2").textContent === "Other" && ` + inView("<b>Apple</b> 👍🏽 pie, apple tart"))

	// Page by page, and what is not there.
	find("Search messages", "message", 20)
	bob.click("dialog .hits + .button")
	bob.see(`document.querySelectorAll(".hit").length === 40`)
	bob.refill("dialog input[name=q]", "nothing-like-this")
	bob.enter()
	bob.see(`document.querySelector("dialog [role=status]").textContent === "No messages found."`)
	bob.refused(true)
	bob.refill("dialog input[name=q]", "-message")
	bob.enter()
	bob.see(`document.querySelector("dialog .problem")?.textContent.startsWith("Q: name a word")`)
}

// TestBrowserChangesWhatIsKept is a setting of a group.
func TestBrowserChangesWhatIsKept(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := newPerson(t, startBrowser(t), node, "alice")
	id := makeGroup(alice, "Attic", "", "private")
	alice.click(`button[aria-label="Members"]`)
	alice.see(`document.querySelector("dialog input[name=keep]")?.value === "100" && document.querySelector("dialog form[name=retention] button").disabled`)
	alice.refill("dialog input[name=keep]", "250")
	alice.click("dialog form[name=retention] button")
	alice.see(`document.querySelector("dialog form[name=retention] button").disabled`)
	alice.see(`[...document.querySelectorAll(".line.notice")].at(-1).textContent.includes("at least 250 messages are kept")`)
	alice.see(`document.querySelector("dialog input[name=retain_days]")?.value === "0"`)
	alice.refill("dialog input[name=retain_days]", "30")
	alice.click("dialog form[name=retention] button")
	alice.see(`[...document.querySelectorAll(".line.notice")].at(-1).textContent.includes("changed the settings 2 times")`)
	alice.see(`document.querySelector("dialog form[name=retention] button").disabled`)
	if got := must(node.Client("alice").Group(ctx, id))(t); got.Keep != 250 || got.RetainDays != 30 {
		t.Errorf("keep is %d, retain_days %d", got.Keep, got.RetainDays)
	}
}
