package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/harness"
)

// longer makes of an English text what the page shows with ?lang=pseudo: about 40 % more letters, as in other languages.
var longer = strings.NewReplacer("a", "aá", "e", "eé", "i", "ií", "n", "nñ", "o", "oó", "u", "uú", "y", "yý")

// TestPageLongTexts looks at each view with long texts, in a wide window and in one of 320 px, which is a usual window at 400 %.
// No text is cut off but with an ellipsis, none covers another one, and nothing scrolls sideways but code, tables and the tabs of the operators.
func TestPageLongTexts(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	furnish(bounded(t, browserTimeout), t, node)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	alice.do(chromedp.Navigate(node.URL() + "/?lang=pseudo"))
	alice.live()
	alice.long = longer
	for _, s := range stops() {
		alice.goTo(s)
		alice.readable(s.name)
	}

	kept := fmt.Sprintf(`{"user":"olga","token":%q,"expires_at":"","dev":false}`, harness.Token("olga", "admin", time.Hour))
	olga := openAt(t, browser, node.URL()+"/docs", "olga")
	olga.script(`localStorage.setItem("chatd.signin", %q)`, kept)
	olga.refused(true) // no examination yet, which is a 404
	for _, view := range []string{"", "/tasks", "/users", "/settings", "/doctor", "/announcements", "/audit"} {
		olga.do(chromedp.Navigate(node.URL() + "/admin" + view + "?lang=pseudo"))
		olga.see(`document.querySelector("main, .empty, table, .facts, .figures")`)
		olga.readable("/admin" + view)
	}
}

// readable fails the test for each text that is cut off or covered by another one, and for what scrolls sideways.
func (p *person) readable(where string) {
	p.t.Helper()
	for _, size := range [][2]int64{{320, 256}, {1280, 800}} {
		p.size(size[0], size[1])
		p.frames(2)
		for _, problem := range ask[[]string](p, unreadable) {
			p.t.Errorf("%s at %d px: %s", where, size[0], problem)
		}
	}
}

// unreadable looks at the lines of all texts that are drawn. A line is cut off where an ancestor that hides what overflows is smaller, unless
// that ancestor shows an ellipsis, counts lines, or scrolls. Lines cover each other if both are on top of what else is there.
const unreadable = `(() => {
	const problems = [], lines = [];
	const says = (text) => JSON.stringify(text.trim().slice(0, 40));
	const at = (e) => e.tagName.toLowerCase() + [...e.classList].map((c) => "." + c).join("");
	const cut = (node, r) => {
		let x = true, y = true;
		for (let e = node.parentElement; e && (x || y); e = e.parentElement) {
			const s = getComputedStyle(e), box = e.getBoundingClientRect();
			if (s.textOverflow === "ellipsis" || s.webkitLineClamp !== "none" || e.matches(".body.is-long")) return null;
			if (x && s.overflowX !== "visible") {
				if (/auto|scroll/.test(s.overflowX) && e.matches("pre, .table, nav")) x = false;
				else if (r.left < box.left - 1 || r.right > box.right + 1) return e;
			}
			if (y && s.overflowY !== "visible") {
				if (/auto|scroll/.test(s.overflowY)) y = false;
				else if (r.top < box.top - 2 || r.bottom > box.bottom + 2) return e;
			}
			if (s.position === "fixed" || e.matches("dialog, [popover]")) break;
		}
		return x && (r.left < -1 || r.right > innerWidth + 1) ? document.documentElement : null;
	};
	const shown = (e, { left, top, right, bottom }) => { // of which an ellipsis may stand for the rest
		for (; e; e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible") {
			const box = e.getBoundingClientRect();
			[left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
		}
		return { left, top, right, bottom };
	};
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const parent = node.parentElement;
		if (!node.data.trim() || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || parent.closest("select, script, style, [aria-hidden=true]")) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const r of range.getClientRects()) {
			if (r.width < 2 || parent.getBoundingClientRect().width < 2) continue;
			const by = cut(node, r);
			if (by) problems.push(says(node.data) + " of " + at(parent) + " is cut off by " + at(by));
			const top = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2);
			if (top && parent.contains(top)) lines.push([node, shown(parent, r)]);
		}
	}
	for (const [i, [a, p]] of lines.entries()) for (const [b, q] of lines.slice(i + 1)) {
		if (a !== b && Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) problems.push(says(a.data) + " and " + says(b.data) + " cover each other");
	}
	for (const e of document.querySelectorAll("*")) {
		if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && (e === document.documentElement || /auto|scroll/.test(getComputedStyle(e).overflowX)) && !e.matches("pre, textarea, input, .table, nav")) problems.push(at(e) + " scrolls sideways: " + e.scrollWidth + " in " + e.clientWidth);
	}
	return [...new Set(problems)];
})()`
