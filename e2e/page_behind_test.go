package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestPageBehindTheScenes cuts the wire, loses answers and refuses websockets by the switches of the drawer: nothing is lost and
// nothing comes twice, and the drawer says what was said and which line of code said it.
func TestPageBehindTheScenes(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	group := seed(bounded(t, browserTimeout), t, node.Client("olga"), "trip", 100, 3)
	alice := newPerson(t, startBrowser(t), node, "alice")
	alice.open(group)
	alice.click(".behind-open button")
	alice.see(`document.querySelector(".standing [data-name=phase]")?.textContent.endsWith("websocket")`)

	alice.say("before")
	alice.see(`[...document.querySelectorAll(".frame[data-way=out][data-what=send] code")].some((c) => c.textContent === 'chat.group("trip").send({ body: "before" })')`)
	alice.see(`!document.querySelector(".behind").textContent.includes(JSON.parse(localStorage["chatd.signin"]).token)`)

	alice.click("input[name=cut]")
	alice.see(`document.querySelector(".link-state").dataset.phase === "waiting"`)
	alice.say("while it is cut")
	alice.see(`document.querySelector(".standing [data-name=queued] dd").textContent.startsWith("1")`)
	alice.click("input[name=cut]")
	alice.live()
	alice.stands("while it is cut")

	alice.refused(true) // Chromium says of a websocket that was cut while it was connecting that it was
	alice.click("input[name=lose]")
	want := []string{"before", "while it is cut"}
	for i := range 6 {
		want = append(want, fmt.Sprintf("answer %d", i))
		alice.say(want[len(want)-1])
	}
	alice.stands("answer 5")
	alice.see(`[...document.querySelectorAll(".frame[data-way=net]")].some((f) => f.dataset.what === "lost an answer")`)
	alice.click("input[name=lose]")
	alice.see(`!document.querySelector(".admin-open")`) // she is no operator

	alice.click("input[name=refuse]")
	alice.see(`document.querySelector(".link-state").dataset.by === "poll"`)
	alice.say("by long poll")
	alice.stands("by long poll")
	want = append(want, "by long poll")

	stored, err := node.Client("alice").Messages(bounded(t, waitTimeout), group, client.Range{After: client.At(3)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range stored.Messages {
		if m.Kind == "text" && m.From == "alice" {
			got = append(got, m.Body)
		}
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the server stored %q, want %q", got, want)
	}
	alice.see(fmt.Sprintf(`[...document.querySelectorAll(".message[data-from=alice] .body")].map((b) => b.textContent).join("|") === %q`, strings.Join(want, "|")))
}
