package e2e

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

var lettersFlag = flag.Int("letters", 1500, "dead letters that TestPageAdminRetriesMany retries by one click; `make soak` retries 10,000")

// Bounds of one call that changes many: the server goes on for a second, and looks at so many tasks in one script.
const (
	bulkCall = time.Second
	bulkStep = 100
)

// TestPageAdminRetriesMany retries thousands of dead letters by one click, each once, in calls of bounded time. Stop ends that after the call
// under way, and with it after one script where the store is slow.
func TestPageAdminRetriesMany(t *testing.T) {
	t.Parallel()
	n := int64(*lettersFlag)
	ctx := bounded(t, browserTimeout)
	server := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	node := harness.StartNode(t, harness.Config{Redis: server.URL()})
	root := operator(t, node)
	began := time.Now()
	doomed := make([]queue.Task, n) // of a kind that no node knows
	for i := range doomed {
		doomed[i].Kind = "doomed"
	}
	must(must(queue.NewClient(queue.Options{Client: rdb, Queue: chat.QueueEgress}))(t).EnqueueAll(ctx, doomed))(t)
	died := func(buried int64) {
		t.Helper()
		harness.Eventually(t, 2*time.Minute, fmt.Sprintf("%d deaths", buried), func() error {
			for _, q := range must(root.Queues(ctx))(t) {
				if q.Queue == chat.QueueEgress && (q.Dead != n || q.Buried != buried) {
					return fmt.Errorf("got %d dead, %d buried in all", q.Dead, q.Buried)
				}
			}
			return nil
		})
	}
	died(n)
	staged := time.Since(began)

	page := operatorPage(t, node, "olga", "admin")
	page.click(trouble("tasks_dead") + " .mend .button")
	page.see(fmt.Sprintf(`document.querySelector(".queue .dead")?.textContent === "%s dead letters" && document.querySelectorAll("tr[data-key]").length === 100`, grouped(n)))
	server.Do("CLIENT", "PAUSE", "60000", "WRITE") // the first script takes longer than a call goes on for
	clicked := time.Now()
	page.click(`[data-act=retry] button`)
	page.see(fmt.Sprintf(`document.querySelector(".progress progress")?.max === %d && document.querySelector(".progress span").textContent === "0 of %s"`, n, grouped(n)))
	page.click(`[data-act=stop]`)
	harness.Eventually(t, waitTimeout, "the call has gone on for its time", func() error {
		if went := time.Since(clicked); went < bulkCall+bulkCall/2 {
			return fmt.Errorf("it went on for %v", went)
		}
		return nil
	})
	server.Do("CLIENT", "UNPAUSE")
	page.see(`document.querySelector("[data-ended=stopped]")`)
	stopped := ask[int64](page, `Number(document.querySelector("[data-ended=stopped]").textContent.replace(/\D/g, ""))`)
	if stopped > bulkStep {
		t.Errorf("%d were retried by one script, want %d at most", stopped, bulkStep)
	}
	died(n + stopped)

	ask[bool](page, `(() => {
		const real = window.fetch;
		window.calls = [];
		window.fetch = async (...a) => {
			const at = performance.now(), res = await real(...a);
			if (String(a[0]).endsWith("/v1/tasks/bulk")) window.calls.push({ ms: performance.now() - at, changed: (await res.clone().json()).changed });
			return res;
		};
		return true;
	})()`)
	clicked = time.Now()
	page.click(`[data-act=retry] button`)
	page.see(fmt.Sprintf(`document.querySelector("[data-ended=done]")?.textContent === "%s retried."`, grouped(n)))
	took := time.Since(clicked)
	died(2*n + stopped)
	calls := ask[[]struct {
		Ms      float64
		Changed int64
	}](page, `window.calls`)
	var changed int64
	for _, c := range calls {
		changed += c.Changed
		if limit := harness.Slack * 2 * bulkCall; time.Duration(c.Ms)*time.Millisecond > limit {
			t.Errorf("a call took %.0f ms, want %v at most", c.Ms, limit)
		}
	}
	if changed != n {
		t.Errorf("%d calls changed %d, want %d", len(calls), changed, n)
	}
	t.Logf("%d dead letters: staged in %v, retried by one click and %d calls in %v; stopped after %d", n, staged, len(calls), took, stopped)
	page.see(`document.querySelectorAll("tr[data-key]").length === 100`)
	page.click(`tr[data-key] [data-act=payload] button`)
	page.see(`document.querySelector(".payload")?.textContent === "empty"`)
}

// grouped is a number as the page writes it, up to a million.
func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
