package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// walkLog goes through a log by so many pixels at a time until a message is shown. It tells how far what is on screen moves while
// messages are added beyond it, how often that was, which texts it saw by their ids, and where the ids on screen were not in a row. A
// page of messages is held back until the scrolling has come to rest.
const walkLog = `(async (pixels, until) => {
	const el = document.querySelector(".scroller");
	const frames = async (n) => { while (n-- > 0) await new Promise(requestAnimationFrame); };
	const rows = () => [...el.querySelectorAll(".message[data-id]")];
	const edge = () => rows().at(pixels < 0 ? 0 : -1).dataset.id;
	const found = { worst: 0, loads: 0, texts: {}, torn: [] };
	const note = () => {
		const ids = rows().map((r) => Number(r.dataset.id));
		if (ids.some((id, i) => i > 0 && id !== ids[i - 1] + 1)) found.torn.push(ids.join());
		for (const r of rows()) found.texts[r.dataset.id] = r.querySelector(".body").textContent;
		return Object.values(found.texts).includes(until);
	};
	const load = window.fetch;
	let arrive;
	window.fetch = async (url, options) => {
		const answer = await load(url, options);
		if (String(url).includes(pixels < 0 ? "before=" : "after=")) await new Promise((done) => { arrive = done; });
		return answer;
	};
	for (let step = 0; step < 3000 && !note(); step++) {
		el.scrollTop += pixels;
		await frames(2);
		if (!arrive) continue;
		const view = el.getBoundingClientRect();
		const row = rows().find((r) => r.getBoundingClientRect().bottom > view.top);
		const top = row.getBoundingClientRect().top, end = edge();
		arrive();
		arrive = undefined;
		while (edge() === end) await frames(1);
		found.loads++;
		await frames(2);
		found.worst = Math.max(found.worst, Math.abs(row.getBoundingClientRect().top - top));
	}
	window.fetch = load;
	arrive?.();
	return found;
})(%d, %q)`

type walkedLog struct {
	Worst float64
	Loads int
	Texts map[int64]string
	Torn  []string
}

func (p *person) walk(pixels int, until string) walkedLog {
	p.t.Helper()
	walked := ask[walkedLog](p, fmt.Sprintf(walkLog, pixels, until))
	p.t.Logf("moved by %.1f px at most while %d pages were added", walked.Worst, walked.Loads)
	if walked.Worst > 2 || len(walked.Torn) > 0 {
		p.t.Errorf("messages have moved by %.1f px while others were loaded %d times; in the wrong order: %q", walked.Worst, walked.Loads, walked.Torn)
	}
	return walked
}

// inView tells whether a message is wholly on screen.
func inView(text string) string {
	return fmt.Sprintf(`(() => { const row = %s, view = document.querySelector(".scroller").getBoundingClientRect(), at = row?.getBoundingClientRect();
		return row && at.top >= view.top && at.bottom <= view.bottom; })()`, message(text))
}

// TestPageSearchesHistory finds messages of a log of which the store holds the end only, and goes from there to both of its ends: what
// is on screen stays where it is, and everything is there once.
func TestPageSearchesHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t, harness.Config{Data: t.TempDir(), Env: map[string]string{
		"CHATD_DEV": "on", "CHATD_ARCHIVE": "sqlite:" + filepath.Join(t.TempDir(), "archive.db"),
	}})
	const apple = "<b>Apple</b> 👍🏽 pie, apple tart"
	must(h.ann.CreateGroup(h.ctx, client.GroupDraft{ID: "other", Name: "Other", Members: []string{"bob"}}))(t)
	must(h.ann.Send(h.ctx, "other", client.Text(apple)))(t)
	h.make("g", 400)
	must(h.bob.Read(h.ctx, "g", h.last()))(t)
	bob := newPerson(t, startBrowser(t), h.node, "bob")
	bob.open("g")
	bob.stands("message 399 of g")
	find := func(words string, hits int, first string) {
		t.Helper()
		bob.retype("input[name=q]", words)
		bob.see(fmt.Sprintf(`document.querySelectorAll(".hit").length === %d && (document.querySelector(".hit .item-body")?.textContent ?? "") === %q`, hits, first))
	}
	if up := bob.walk(-700, "message 220 of g"); up.Loads == 0 {
		t.Error("no older messages were loaded")
	}

	// In the group, beside it.
	bob.click("[data-open=search]")
	find("mess* 42", 1, "message 42 of g")
	bob.click(".panel .hit")
	bob.see(inView("message 42 of g") + ` && !` + message("message 220 of g"))
	down := bob.walk(700, "message 399 of g")
	if down.Loads == 0 {
		t.Error("no newer messages were loaded")
	}
	up := bob.walk(-700, "message 0 of g")
	want := map[int64]string{}
	for i, body := range h.want {
		if body != client.KindNotice {
			want[int64(i)+1] = body
		}
	}
	if !maps.Equal(up.Texts, want) {
		t.Errorf("the page showed %v", up.Texts)
	}
	for id, text := range down.Texts {
		if want[id] != text {
			t.Errorf("on the way down message %d was %q", id, text)
		}
	}
	bob.scrollUntil(`document.querySelector(".log-top").textContent.startsWith("This is the beginning of")`, -4000)
	find(`"message 20"`, 1, "message 20 of g") // which is loaded
	bob.click(".panel .hit")
	bob.see(inView("message 20 of g"))

	// Everywhere; what was found is marked, and text stays text.
	bob.click("[data-view=search]")
	find("APPLE", 1, apple)
	bob.see(`[...document.querySelectorAll(".hit mark")].map((m) => m.textContent).join(" ") === "Apple apple"`)
	bob.see(shows(".hit small", "Other"))
	bob.click(".hit")
	bob.see(shows(".group-title h1", "Other") + " && " + inView(apple))

	// Page by page, and what is not there.
	bob.click("[data-view=search]")
	find("message", 30, "message 399 of g")
	bob.click(".search > .buttons .button")
	bob.see(`document.querySelectorAll(".hit").length === 60`)
	find("nothing-like-this", 0, "")
	bob.see(shows(".search .nothing h2", "No messages found"))
	bob.refused(true)
	bob.retype("input[name=q]", "-message")
	bob.see(shows(".search .problem", "Name a word to look for: words with a “-” only leave messages out."))
}
