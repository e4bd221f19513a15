package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageAdmin shows an operator what is wrong, and mends it from there: a paused queue is resumed, dead letters are read and
// tried again, a member who holds a group back is removed, a user is disconnected. Nobody else sees the page.
func TestPageAdmin(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(receiver.Close)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
	ctx := bounded(t, browserTimeout)
	root := operator(t, node)
	must(root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.URL, Events: []string{client.EventMessageCreated}}))(t)
	group := must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "trip", Members: []string{"bob"}}))(t)
	must(node.Client("alice").Send(ctx, group.ID, client.Text("hello")))(t)

	page := operatorPage(t, node, "alice", "")
	page.see(`document.querySelector(".nothing h1")?.textContent === "For operators"`)
	page.signInTo(node, "olga", "admin")
	page.see(`document.querySelectorAll(".figures li").length === 6`)
	page.see(`document.querySelector(".trouble[data-code=webhook_failing]")`)

	must(root.PauseQueue(ctx, "core"))(t)
	page.see(`document.querySelector(".trouble[data-code=queue_paused][data-subject=core]")`)
	page.click(`.trouble[data-code=queue_paused] [data-act=resume] button`)
	page.see(`!document.querySelector(".trouble[data-code=queue_paused]")`)

	harness.Eventually(t, waitTimeout, "the delivery is a dead letter", func() error {
		must(root.ChangeTasks(ctx, client.TasksQuery{Queue: "egress", State: "delayed", Act: "run"}))(t)
		for _, q := range must(root.Queues(ctx))(t) {
			if q.Queue == "egress" && q.Dead == 1 {
				return nil
			}
		}
		return errors.New("not yet")
	})
	page.click(`a[href="/admin/tasks"]`)
	page.click(`.queue[data-queue=egress]`)
	page.click(`[data-act=payload] button`)
	page.see(`document.querySelector(".payload")?.textContent.includes("message.created")`)
	page.click(`[data-act=retry] button`)
	page.see(`document.querySelector(".queue[data-queue=egress] .dead, .empty")`)

	page.click(`a[href="/admin/settings"]`)
	page.see(`[...document.querySelectorAll("tr[data-key]")].some((r) => r.dataset.key === "CHATD_EGRESS_ALLOW")`)
	page.see(fmt.Sprintf(`!document.body.innerText.includes(%q)`, harness.Secret))
	page.refused(true) // no examination yet, which is a 404
	page.click(`a[href="/admin/doctor"]`)
	page.see(`document.querySelector(".facts")`)
	page.click(`[data-act=examine] button`)
	page.see(`document.querySelector("[data-ended=done]")?.textContent.includes("0 findings")`)
	page.click(`a[href="/admin/announcements"]`)
	page.see(`document.querySelector(".empty")`)
	page.click(`a[href="/admin/users"]`)
	page.fill("input[name=q]", "ali")
	page.click(`tr[data-key=alice] button`)
	page.click(`[data-act=disconnect] button`)
	page.see(`document.querySelector("[data-act=disconnect] button").textContent.endsWith("✓")`)

	page.click(`a[href="/"]`)
	page.click(`a.admin-open`)
	page.see(`location.pathname === "/admin" && document.querySelectorAll(".figures li").length === 6`)
}
