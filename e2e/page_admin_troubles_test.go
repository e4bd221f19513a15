package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// operatorPage opens the page for operators as one who is signed in.
func operatorPage(t *testing.T, node *harness.Node, user, role string) *person {
	t.Helper()
	page := openAt(t, startBrowser(t), node.URL()+"/docs", user)
	page.signInTo(node, user, role)
	return page
}

// signInTo signs in by a token that is kept, and opens the page for operators.
func (p *person) signInTo(node *harness.Node, user, role string) {
	p.t.Helper()
	kept := fmt.Sprintf(`{"user":%q,"token":%q,"expires_at":"","dev":false}`, user, harness.Token(user, role, time.Hour))
	ask[bool](p, fmt.Sprintf(`(localStorage.setItem("chatd.signin", %q), true)`, kept))
	p.do(chromedp.Navigate(node.URL() + "/admin"))
}

// trouble selects a problem on the overview.
func trouble(code string) string { return fmt.Sprintf(".trouble[data-code=%s]", code) }

// troubled is a server whose troubles are staged one after another, and the page that shows them.
type troubled struct {
	t       *testing.T
	root    *client.Client
	page    *person
	slowest float64 // ms from when the server knew of a trouble until the page showed it
}

// shows waits until the server knows of a trouble, and then for the page, which shows it with its cause, since when it is there and what to do
// about it by its second look at the latest: it looks every 5 s.
func (r *troubled) shows(ctx context.Context, code, subject, cause string) {
	r.t.Helper()
	harness.Eventually(r.t, time.Minute, "the server knows of "+code, func() error {
		all, err := r.root.Problems(ctx)
		for _, p := range all {
			if p.Code == code && strings.HasPrefix(p.Subject, subject) && strings.Contains(p.Detail, cause) {
				return nil
			}
		}
		return fmt.Errorf("got %+v, %w", all, err)
	})
	type seen struct {
		Looks  int
		Ms     float64
		Whole  bool
		Button bool
	}
	got := ask[seen](r.page, fmt.Sprintf(`new Promise((tell) => {
		performance.setResourceTimingBufferSize(10000);
		const begin = performance.now();
		const look = () => {
			const e = document.querySelector(%q);
			if (!e) return void setTimeout(look, 20);
			const now = performance.now();
			tell({
				Looks: performance.getEntriesByType("resource").filter((r) => r.name.endsWith("/v1/problems") && r.startTime > begin).length, Ms: now - begin,
				Whole: ["h2", ".cause", ".fix"].every((s) => e.querySelector(s).textContent.length > 5) && Date.parse(e.querySelector(".since time").dateTime) > 0,
				Button: !!e.querySelector(".mend .button"),
			});
		};
		look();
	})`, trouble(code)))
	if got.Looks > 2 || !got.Whole || got.Button == (code == "node_gone") {
		r.t.Errorf("%s: got %+v, want all of it in two looks, with a button unless nothing here mends it", code, got)
	}
	r.slowest = max(r.slowest, got.Ms)
}

// goes waits until the server knows that a trouble is over, and then for the page. The server keeps what it found about groups for 30 times as long
// as that took to find: up to a minute.
func (r *troubled) goes(code string) {
	r.t.Helper()
	harness.Eventually(r.t, 2*time.Minute, code+" is over", func() error {
		all, err := r.root.Problems(r.t.Context())
		if err != nil || slices.ContainsFunc(all, func(p client.OpsProblem) bool { return p.Code == code }) {
			return fmt.Errorf("got %+v, %w", all, err)
		}
		return nil
	})
	r.page.see(fmt.Sprintf(`document.querySelector(".figures") && !document.querySelector(%q)`, trouble(code)))
}

// mends presses the button of a trouble, then what mends it where that leads to, and comes back to see the trouble gone.
func (r *troubled) mends(code, press string) {
	r.t.Helper()
	r.page.click(trouble(code) + " .mend .button")
	if press != "" {
		r.page.click(press + " button")
		r.page.click(press + " .button.danger")
		r.page.see(fmt.Sprintf(`!document.querySelector(%q)`, press+" .button.danger"))
		r.page.click(`a[href="/admin"]`)
	}
	r.goes(code)
}

// TestPageAdminShowsTenTroubles stages ten troubles: each is on the page once it has looked, all of them in the order of the server, worst first.
// Those that a button mends are mended by it, the others go by themselves when their cause does.
func TestPageAdminShowsTenTroubles(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	server := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	receiver := harness.StartReceiver(t, 1)
	files := t.TempDir() + "/files"
	env := map[string]string{"CHATD_FILES": "dir:" + files, "CHATD_EGRESS_ALLOW": "127.0.0.0/8"}
	node, other := harness.StartNode(t, harness.Config{Redis: server.URL(), Env: env}), harness.StartNode(t, harness.Config{Redis: server.URL(), Env: env})
	r := &troubled{t: t, root: operator(t, node), page: operatorPage(t, node, "olga", "admin")}
	r.page.see(`document.querySelector("h1")?.textContent === "Nothing is wrong"`)
	alice := node.Client("alice")

	// A group holds what bob does not fetch, and is full after two messages of a schedule.
	receiver.Refuse("w", http.StatusTeapot, 1000, nil)
	failing := must(r.root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.Webhook("w")}))(t)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}, BacklogMax: new(int64(10)), Keep: new(int64(0)), Overflow: "block"}))(t)
	var last int64
	for range 8 {
		last = must(alice.Send(ctx, "g", client.Text("hello")))(t).ID
	}
	must(alice.Ack(ctx, "g", last))(t)
	plan := must(alice.CreateSchedule(ctx, client.ScheduleDraft{Group: "g", Body: "every second", Cron: "* * * * * *"}))(t)
	r.shows(ctx, "webhook_failing", failing.ID, "418")
	r.shows(ctx, "group_held", "g", "bob")
	r.shows(ctx, "schedule_failed", plan.ID, "alice to group g")
	tasks := must(queue.NewClient(queue.Options{Client: rdb}))(t)
	if _, _, err := tasks.Enqueue(ctx, queue.Task{Kind: "schedule_end", Payload: []byte(`{"schedule":"not an id"}`)}); err != nil {
		t.Fatal(err)
	}
	r.shows(ctx, "tasks_dead", "core", "1 tasks")
	must(r.root.PauseQueue(ctx, "egress"))(t)
	r.shows(ctx, "queue_paused", "egress", "paused")
	other.Kill()
	r.shows(ctx, "node_gone", "", "did not say that it stops")
	if err := os.Rename(files, files+"-away"); err != nil {
		t.Fatal(err)
	}
	r.shows(ctx, "files_away", "", "files")
	server.Do("CONFIG", "SET", "appendonly", "no")
	r.shows(ctx, "store_persistence", "", "Redis")
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	r.shows(ctx, "store_eviction", "", "allkeys-lru")
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	server.Do("CONFIG", "SET", "maxmemory", fmt.Sprint(server.Field("memory", "used_memory")))
	r.shows(ctx, "store_memory", "", "sends are refused")
	server.Do("CONFIG", "SET", "maxmemory", "0")
	r.goes("store_memory")
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	r.shows(ctx, "store_eviction", "", "allkeys-lru")

	r.inOrder(ctx)
	r.mendAll(server, files, plan.ID, failing.ID)
	t.Logf("the slowest trouble was on the page %.1f s after the server knew of it", r.slowest/1000)
}

// inOrder compares the page with the server's list: critical ones before warnings.
func (r *troubled) inOrder(ctx context.Context) {
	r.t.Helper()
	harness.Eventually(r.t, time.Minute, "page and server say the same", func() error {
		var want []string
		for _, p := range must(r.root.Problems(ctx))(r.t) {
			want = append(want, p.Severity+" "+p.Code)
		}
		got := ask[string](r.page, `[...document.querySelectorAll(".trouble")].map((e) => e.dataset.severity + " " + e.dataset.code).join()`)
		if len(want) < 9 || got != strings.Join(want, ",") || !strings.HasPrefix(got, "critical") || strings.Contains(got[strings.Index(got, "warning"):], "critical") {
			return fmt.Errorf("got %s, want %v", got, want)
		}
		return nil
	})
}

// mendAll ends every trouble but that of the node, which stays gone for an hour.
func (r *troubled) mendAll(server *redistest.Server, files, plan, webhook string) {
	r.t.Helper()
	server.Do("CONFIG", "SET", "appendonly", "yes")
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	if err := os.Rename(files+"-away", files); err != nil {
		r.t.Fatal(err)
	}
	for _, code := range []string{"store_persistence", "store_eviction", "files_away"} {
		r.goes(code)
	}
	r.mends("queue_paused", "")
	r.mends("tasks_dead", "[data-act=delete]")
	r.mends("schedule_failed", fmt.Sprintf("tr[data-key='%s'] [data-act=delete]", plan))
	r.mends("group_held", "tr[data-key=g] [data-user=bob] [data-act=remove]")
	r.mends("webhook_failing", fmt.Sprintf("tr[data-key='%s'] [data-act=delete]", webhook))
	r.page.see(`document.querySelector("h1").textContent === "1 problem" && document.title === "1 problem · chatd"`)
}

// TestPageAdminComesBack: a page whose server goes away says so, and shows all again by itself once it is back.
func TestPageAdminComesBack(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{})
	page := operatorPage(t, node, "olga", "admin")
	page.see(`document.querySelector("h1")?.textContent === "Nothing is wrong"`)
	page.see(`performance.getEntriesByType("resource").some((r) => /more-[^/]*\.js$/.test(r.name) && r.responseEnd > 0)`)
	page.refused(true)
	node.Kill()
	page.see(`document.querySelector(".problem")?.textContent.includes("asks again by itself")`)
	page.click(`a[href="/admin/keys"]`)
	page.see(`document.querySelector("h1").textContent === "Keys" && document.querySelector(".problem") && !document.body.innerText.includes("No keys yet")`)
	node.Start()
	page.see(`!document.querySelector(".problem") && document.querySelector(".empty").textContent.startsWith("No keys yet")`)
	page.click(`a[href="/admin"]`)
	page.see(`document.querySelector(".figures") && !document.querySelector(".problem")`)
	page.refused(false)
}
