package e2e

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestPageDirection measures where the last glyph of a text stands: each text has the direction of its first letter that has one, whatever
// is in it, and code goes from left to right. The field in which one writes follows, too.
func TestPageDirection(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	eve := node.Client("eve")
	must(eve.CreateGroup(ctx, client.GroupDraft{ID: "texts", Name: "فريق التخطيط (2)", Members: []string{"alice"}}))(t)
	texts := []struct{ body, last string }{
		{"שלום עולם, מה שלומך? (טוב).", "leftmost"},
		{"مرحبا، عندي 3 تفاحات!", "leftmost"},
		{"العدد هو 42", "left of the first"}, // the 2 of a number stands right of its 4
		{"Hello עולם.", "rightmost"},
		{"Two lines, English first.\nשלום.", "leftmost"},
		{"Version 2 של התוכנה", "right of the first"},
		{"שלום world", "left of the first"},
		{"123 שלום.", "leftmost"},
		{"הפקודה `go build ./...` בונה.", "leftmost"},
		{"```\nשלום := 1;\n```", "rightmost"},
		{"> ציטוט (טוב).", "leftmost"},
		{"@eve שלום.", "leftmost"}, // a mention is a name, which says nothing of the text
		{"🎉 שלום!", "leftmost"},
	}
	for _, text := range texts {
		draft := client.Text(text.body)
		if text.body[0] == '@' {
			draft.Mentions = []string{"eve"}
		}
		must(eve.Send(ctx, "texts", draft))(t)
	}
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open("texts")
	first := 3 // two notices are before
	alice.see(fmt.Sprintf(`document.querySelector(".message[data-id='%d']")`, first+len(texts)-1))
	for i, text := range texts {
		at := fmt.Sprintf(".message[data-id='%d'] .body", first+i)
		if got := ask[string](alice, fmt.Sprintf(lastGlyph, at)); got != text.last {
			t.Errorf("%q: the last glyph is %s, want %s", text.body, got, text.last)
		}
	}
	for _, at := range []string{".group-title h1", ".group-link .group-name", ".group-link .group-last"} {
		if got, want := ask[string](alice, fmt.Sprintf(lastGlyph, at)), "leftmost"; got != want {
			t.Errorf("%s: the last glyph is %s, want %s", at, got, want)
		}
	}
	alice.see(`document.querySelector(".write textarea").matches(":dir(ltr)")`)
	alice.fill(".write textarea", "שלום world.")
	alice.see(`document.querySelector(".write textarea").matches(":dir(rtl)")`)
}

// lastGlyph tells where the last glyph of an element stands among those of its line.
const lastGlyph = `((e) => {
	const glyphs = [], walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		if (node.parentElement.closest("button")) continue;
		for (let i = 0; i < node.length; i++) {
			const range = document.createRange();
			range.setStart(node, i);
			range.setEnd(node, i + 1);
			const [r] = range.getClientRects();
			if (r?.width > 0 && node.data[i].trim()) glyphs.push(r);
		}
	}
	const last = glyphs.at(-1), line = glyphs.filter((r) => r.bottom > last.top + 2 && r.top < last.bottom - 2);
	if (line.every((r) => r.left >= last.left)) return "leftmost";
	if (line.every((r) => r.right <= last.right)) return "rightmost";
	return last.left < line[0].left ? "left of the first" : "right of the first";
})(document.querySelector(%q))`
