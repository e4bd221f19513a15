package e2e

import (
	"io"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/writing"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageStreams: an answer grows as it is written, whoever reads it can ask to stop, and in the end nothing shows of that.
func TestPageStreams(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on"}})
	bot := node.Client("helper")
	must(bot.CreateGroup(ctx, client.GroupDraft{ID: "lab", Name: "Laboratory", Members: []string{"bob"}}))(t)
	must(node.Client("bob").Send(ctx, "lab", client.Text("What is a monad?")))(t)
	answer := must(writing.Open(ctx, bot, "lab", client.Draft{Body: "A monad is "}))(t)

	bob := newPerson(t, startBrowser(t), node, "bob")
	bob.open("lab")
	const body = `document.querySelector(".message[data-from=helper] .body")?.textContent`
	bob.see(body + `?.startsWith("A monad is") && !!document.querySelector(".message .writing .caret")`)
	must(io.WriteString(answer, "a monoid in the category of **endo"))(t)
	bob.see(body + `?.includes("a monoid in the category of")`)
	bob.picture(picturesDir(t), "streams.png")
	bob.click(`[name=stop-writing]`)
	bob.see(`document.body.innerText.includes("Asked to stop")`)
	must(io.WriteString(answer, "functors**."))(t) // the answer to this says so
	select {
	case <-answer.Cancelled():
	case <-ctx.Done():
		t.Fatal("the writer was not asked to stop")
	}
	if err := answer.Close(); err != nil {
		t.Fatal(err)
	}
	bob.see(shows(".message[data-from=helper] .body strong", "endofunctors") + ` && !document.querySelector(".message .writing") && !document.querySelector(".message .meta")`)
}
