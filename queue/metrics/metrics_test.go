package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/metrics"
	"github.com/chatd/chatd/queue/queuetest"
)

// scrape returns what Prometheus sees.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	return w.Body.String()
}

// TestMetricsCountTasksAndRuns under the prefix of the application. Kinds that it does not name share a label: a caller who
// enqueues could make any number of them.
func TestMetricsCountTasksAndRuns(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("mail")
	client, err := queue.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New("shop", admin.New([]admin.Of{{Name: "mail", Client: client}}, nil), "welcome")
	o.Observe = m.Observe
	server, err := queue.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server.Handle("welcome", func(context.Context, queue.Task) error { return nil })
	server.Handle("*", func(context.Context, queue.Task) error { return queue.Bury(errors.New("no")) })
	for _, kind := range []string{"welcome", "made-up-1", "made-up-2"} {
		if _, _, err := server.Enqueue(t.Context(), queue.Task{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	r.RunAll(t.Context(), server)
	text := scrape(t, m)
	for _, want := range []string{
		`shop_tasks{priority="",queue="mail",state="dead"} 2`, `shop_tasks_processed_total{queue="mail"} 1`, `shop_tasks_paused{queue="mail"} 0`,
		`shop_task_runs_total{kind="welcome",queue="mail",verdict="complete"} 1`, `shop_task_runs_total{kind="unknown",queue="mail",verdict="bury"} 2`,
		`shop_task_run_seconds_count{kind="welcome",queue="mail"} 1`, `shop_task_lateness_seconds_count{queue="mail"} 3`, `shop_tasks_count_failures_total 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text := scrape(t, metrics.New("runs", nil)); strings.Contains(text, "runs_tasks{") {
		t.Errorf("nothing counts tasks:\n%s", text)
	}
}
