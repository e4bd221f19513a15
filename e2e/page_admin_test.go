package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestPageAdmin shows an operator what is wrong, and mends it from there: a paused queue is resumed, dead letters are read and
// tried again, a webhook is tested, a key gets a new secret and ends, the doctor repairs, a user is disconnected. Nobody else sees the
// page, and an operator comes to it from a phone, too.
func TestPageAdmin(t *testing.T) {
	t.Parallel()
	var answers atomic.Int32
	answers.Store(http.StatusForbidden)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(answers.Load())) }))
	t.Cleanup(receiver.Close)
	server := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: server.URL(), Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
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

	page.click(`a[href="/admin/webhooks"]`)
	page.click(`[data-act=test] button`)
	page.see(`document.querySelector(".row-acts [role=status]")?.textContent.includes("403")`)
	answers.Store(http.StatusNoContent)
	page.click(`[data-act=test] button`)
	page.see(`/^answered 204 in \d+ ms$/.test(document.querySelector(".row-acts [role=status]").textContent)`)

	page.turnsKeys(root, node)
	page.click(`a[href="/admin/settings"]`)
	page.see(`[...document.querySelectorAll("tr[data-key]")].some((r) => r.dataset.key === "CHATD_EGRESS_ALLOW")`)
	page.see(fmt.Sprintf(`!document.body.innerText.includes(%q)`, harness.Secret))
	page.refused(true) // no examination yet, which is a 404
	page.click(`a[href="/admin/doctor"]`)
	page.see(`document.querySelector(".facts")`)
	page.click(`[data-act=examine] button`)
	page.see(`document.querySelector("[data-ended=done]")?.textContent.includes("0 findings")`)
	managers, ok := server.Do("KEYS", "*managers").([]any)
	if !ok || len(managers) != 1 {
		t.Fatalf("the groups have %v", managers)
	}
	listed := func() bool { return server.Do("ZSCORE", fmt.Sprint(managers[0]), "alice") != nil }
	server.Do("ZREM", fmt.Sprint(managers[0]), "alice")
	page.click(`[data-act=examine] button`)
	page.see(`document.querySelector("[data-ended=done]")?.textContent.includes("1 finding, 1 open")`)
	if listed() {
		t.Error("looking at the store has changed it")
	}
	page.click(`[data-act=repair] button`)
	page.see(`document.activeElement?.textContent === "Cancel"`) // it asks first
	page.picture(picturesDir(t), "admin-doctor.png")
	page.click(`[data-act=repair] .button.danger`)
	page.see(`document.querySelector("[data-ended=done]")?.textContent.includes("1 finding, 0 open")`)
	if !listed() {
		t.Error("nothing was repaired")
	}
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

	// The drawer is for operators where no development goes on, too.
	page.refused(false)
	page.click(`a[href="/"]`)
	page.live()
	page.click(".behind-open button")
	page.see(`document.querySelector(".standing [data-name=me] dd")?.textContent === "olga" && document.querySelector(".frame")`)
	page.click(".behind-head > .icon-button")
	page.see(`!document.querySelector(".behind")`)

	page.phone()
	page.see(`!document.querySelector(".admin-open, .behind-open").checkVisibility()`)
	page.click(".rail .me")
	page.see(reachable("a[data-way=admin]"))
	page.fits()
	page.picture(picturesDir(t), "phone-me-operator.png")
	page.click("a[data-way=admin]")
	page.see(`location.pathname === "/admin" && document.querySelectorAll(".figures li").length === 6`)
	page.fits()
	page.picture(picturesDir(t), "phone-admin.png")
}

// turnsKeys gives a key a new secret, which works, and ends it.
func (p *person) turnsKeys(root *client.Client, node *harness.Node) {
	t := p.t
	t.Helper()
	key := must(root.CreateKey(t.Context(), client.KeyDraft{Name: "robot", Scopes: []string{client.ScopeSend}, As: client.ActsFor{Users: []string{"alice"}}}))(t)
	sends := func(secret string) error {
		_, err := must(client.New(node.URL(), client.StaticToken(secret)))(t).As("alice").Send(t.Context(), "trip", client.Text("from a robot"))
		return err
	}
	p.click(`a[href="/admin/keys"]`)
	row := fmt.Sprintf("tr[data-key='%s'] ", key.ID)
	p.click(row + "[data-act=rotate] button")
	p.see(`document.querySelector(".secret")`)
	secret := ask[string](p, `document.querySelector(".secret").textContent`)
	if secret == key.Key {
		t.Error("the secret is the one from before")
	}
	if err := sends(secret); err != nil {
		t.Errorf("with its new secret: %v", err)
	}
	p.picture(picturesDir(t), "admin-keys.png")
	p.click(row + "[data-act=delete] button")
	p.click(row + "[data-act=delete] .button.danger")
	p.see(`document.querySelector(".empty")?.textContent.startsWith("No keys yet")`)
	harness.Eventually(t, waitTimeout, "the key is void", func() error { // within a second, on every node
		if err := sends(secret); client.CodeOf(err) != client.CodeUnauthenticated {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}
