package node

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/web"
)

// Bounds of what a scrape costs the store.
const (
	countTimeout = 2 * time.Second // Prometheus allows a scrape 10 s by default
	countKept    = time.Second     // scrapes within this time share one count
)

// taskMetrics are the metrics of the background work: this node's runs as they end, and the queues as the store counts
// them at a scrape. Labels are queues, kinds, states and verdicts, of which the program has a fixed number.
type taskMetrics struct {
	kinds map[string]bool
	runs  *prometheus.CounterVec
	late  *prometheus.HistogramVec
	took  *prometheus.HistogramVec

	admin  web.TaskAdmin
	missed prometheus.Counter

	mu     sync.Mutex
	at     time.Time
	queues []web.QueueInfo // nil if counting failed
}

var _ prometheus.Collector = (*taskMetrics)(nil)

func newTaskMetrics(admin web.TaskAdmin, kinds map[string]chat.TaskKind) *taskMetrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	f := &taskMetrics{
		kinds: make(map[string]bool, len(kinds)), admin: admin,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chatd_task_runs_total", Help: "Runs of tasks on this node, by kind and by what became of the task.",
		}, []string{"queue", "kind", "verdict"}),
		late: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chatd_task_lateness_seconds", Help: "How long after it was due or enqueued a task was claimed by this node.",
			Buckets: append(buckets, 300, 1800),
		}, []string{"queue"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chatd_task_run_seconds", Help: "Duration of runs of tasks on this node.", Buckets: buckets,
		}, []string{"queue", "kind"}),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "chatd_tasks_count_failures_total", Help: "Scrapes at which the store could not count the tasks in time.",
		}),
	}
	for name := range kinds {
		f.kinds[name] = true
	}
	return f
}

// observe counts one run. Unregistered kinds, whose tasks the engine buries, share one label.
func (f *taskMetrics) observe(r queue.Run) {
	kind := r.Kind
	if !f.kinds[kind] {
		kind = "unknown"
	}
	f.runs.WithLabelValues(r.Queue, kind, r.Verdict).Inc()
	f.late.WithLabelValues(r.Queue).Observe(r.Late.Seconds())
	f.took.WithLabelValues(r.Queue, kind).Observe(r.Took.Seconds())
}

// Counted by the store: every node reports the same values.
var (
	descTasks = prometheus.NewDesc("chatd_tasks", "Tasks that are there, by state; of ready ones by priority.",
		[]string{"queue", "state", "priority"}, nil)
	descOldest = prometheus.NewDesc("chatd_tasks_oldest_seconds", "How long the oldest ready task has waited.", []string{"queue"}, nil)
	descPaused = prometheus.NewDesc("chatd_tasks_paused", "1 while an operator has paused the queue.", []string{"queue"}, nil)

	descUnserved = prometheus.NewDesc("chatd_tasks_unserved_kinds", "Kinds of waiting tasks that no server runs.", []string{"queue"}, nil)

	totals = []struct {
		desc *prometheus.Desc
		of   func(web.QueueInfo) int64
	}{
		{total("enqueued", "Tasks put in."), func(q web.QueueInfo) int64 { return q.Enqueued }},
		{total("processed", "Tasks completed."), func(q web.QueueInfo) int64 { return q.Processed }},
		{total("failed", "Runs that failed."), func(q web.QueueInfo) int64 { return q.Failed }},
		{total("crashed", "Runs that ended with their worker."), func(q web.QueueInfo) int64 { return q.Crashed }},
		{total("buried", "Times that a task became a dead letter."), func(q web.QueueInfo) int64 { return q.Buried }},
		{total("deleted", "Tasks taken away."), func(q web.QueueInfo) int64 { return q.Deleted }},
		{total("dropped", "Dead letters that gave way to newer ones."), func(q web.QueueInfo) int64 { return q.Dropped }},
	}
)

func total(what, help string) *prometheus.Desc {
	return prometheus.NewDesc("chatd_tasks_"+what+"_total", help, []string{"queue"}, nil)
}

// Describe implements prometheus.Collector.
func (f *taskMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range []prometheus.Collector{f.runs, f.late, f.took, f.missed} {
		c.Describe(to)
	}
	for _, d := range []*prometheus.Desc{descTasks, descOldest, descPaused, descUnserved} {
		to <- d
	}
	for _, t := range totals {
		to <- t.desc
	}
}

// Collect implements prometheus.Collector. If the store does not answer, its metrics are left out: a gap shows, an old
// count would be believed.
func (f *taskMetrics) Collect(to chan<- prometheus.Metric) {
	queues := f.count()
	for _, c := range []prometheus.Collector{f.runs, f.late, f.took, f.missed} {
		c.Collect(to)
	}
	for _, q := range queues {
		gauge := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{q.Queue}, labels...)...)
		}
		gauge(descTasks, float64(q.Ready.Critical), "ready", "critical")
		gauge(descTasks, float64(q.Ready.High), "ready", "high")
		gauge(descTasks, float64(q.Ready.Normal), "ready", "normal")
		gauge(descTasks, float64(q.Ready.Low), "ready", "low")
		gauge(descTasks, float64(q.Delayed), "delayed", "")
		gauge(descTasks, float64(q.Parked), "parked", "")
		gauge(descTasks, float64(q.Leased), "leased", "")
		gauge(descTasks, float64(q.Dead), "dead", "")
		gauge(descOldest, float64(q.OldestMs)/1000)
		paused := 0.0
		if q.Paused {
			paused = 1
		}
		gauge(descPaused, paused)
		gauge(descUnserved, float64(len(q.Unserved)))
		for _, t := range totals {
			to <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, float64(t.of(q)), q.Queue)
		}
	}
}

// count asks the store, at most once in countKept however many scrapes there are.
func (f *taskMetrics) count() []web.QueueInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) < countKept {
		return f.queues
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	queues, err := f.admin.Queues(ctx)
	if err != nil {
		f.missed.Inc()
		queues = nil
	}
	f.queues, f.at = queues, time.Now()
	return queues
}
