package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageButtons: a program asks in a group; what people press below its message comes to it, and it answers by an edit.
func TestPageButtons(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	env := map[string]string{"CHATD_DEV": "on", "CHATD_EGRESS_ALLOW": "127.0.0.0/8"}
	node := harness.StartNode(t, harness.Config{Env: env})
	owner := node.Client("alice")
	root := must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
	made := must(root.CreateKey(ctx, client.KeyDraft{Name: "deploys", Scopes: []string{client.ScopeSend, client.ScopeRead}, As: client.ActsFor{Users: []string{"deploys"}}}))(t)
	bot := must(client.New(node.URL(), client.StaticToken(made.Key)))(t).As("deploys")
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Data struct {
				Message      int64
				User, Action string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		said := fmt.Sprintf("%s said %s", event.Data.User, event.Data.Action)
		if _, err := bot.Send(ctx, "ops", client.Draft{Kind: client.KindEdit, Target: event.Data.Message, Body: said}); err != nil {
			t.Error(err)
		}
	}))
	defer receiver.Close()
	must(root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.URL, Events: []string{client.EventMessageAction}}))(t)
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "ops", Name: "Operations", Members: []string{"bob", "deploys"}}))(t)
	actions := []client.Action{{ID: "yes", Label: "Deploy", Style: "danger", Confirm: "Deploy 1.4 to production?"}, {ID: "no", Label: "Not now"}, {ID: "log", Label: "Changes", URL: "https://example.com/changes"}}
	must(bot.Send(ctx, "ops", client.Draft{Body: "Version 1.4 is ready.", Actions: actions}))(t)

	bob := newPerson(t, startBrowser(t), node, "bob")
	bob.open("ops")
	bob.see(`[...document.querySelectorAll(".actions > button")].map((b) => b.textContent).join() === "Deploy,Not now,Changes ↗"`)
	bob.picture(picturesDir(t), "buttons.png")
	bob.click(`.actions > [name=no]`)
	bob.see(shows(".message .body", "bob said no"))
	bob.click(`.actions > [name=yes]`)
	bob.see(shows("dialog p", "Deploy 1.4 to production?"))
	bob.press(kb.Escape)
	bob.see(`!document.querySelector("dialog")`)
	bob.click(`.actions > [name=yes]`)
	bob.click(`dialog .button.danger`)
	bob.see(shows(".message .body", "bob said yes") + ` && !document.querySelector("dialog")`)
	loadAxe(t, bob)
	bob.axe("buttons")
}
