// Package metrics exports the task engine to Prometheus.
package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
)

// Bounds of what a scrape costs Redis.
const (
	countTimeout = 2 * time.Second // Prometheus allows a scrape 10 s by default
	countKept    = time.Second     // scrapes within this time share one count
)

// Counter counts the tasks of queues: an admin.Admin, for example.
type Counter interface {
	Queues(ctx context.Context) ([]admin.Queue, error)
}

// Metrics are the runs of this process as they end, and the queues as Redis counts them at a scrape. Labels are queues,
// kinds, states and verdicts, of which a program has a fixed number. It is a prometheus.Collector.
type Metrics struct {
	kinds  map[string]bool
	runs   *prometheus.CounterVec
	late   *prometheus.HistogramVec
	took   *prometheus.HistogramVec
	missed prometheus.Counter
	counts counts

	counter Counter
	mu      sync.Mutex
	at      time.Time
	queues  []admin.Queue // nil if counting failed
}

var _ prometheus.Collector = (*Metrics)(nil)

// New returns metrics whose names begin with prefix and "_task". counter counts the queues; nil: only runs are exported.
// Runs of kinds other than the given ones share the label "unknown", since anybody can enqueue a task of any kind.
func New(prefix string, counter Counter, kinds ...string) *Metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &Metrics{
		kinds: make(map[string]bool, len(kinds)), counter: counter, counts: newCounts(prefix),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_task_runs_total", Help: "Runs of tasks in this process, by kind and by what became of the task.",
		}, []string{"queue", "kind", "verdict"}),
		late: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "_task_lateness_seconds", Help: "How long after it was due or enqueued a task was claimed by this process.",
			Buckets: append(buckets, 300, 1800),
		}, []string{"queue"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "_task_run_seconds", Help: "Duration of runs of tasks in this process.", Buckets: buckets,
		}, []string{"queue", "kind"}),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: prefix + "_tasks_count_failures_total", Help: "Scrapes at which Redis could not count the tasks in time.",
		}),
	}
	for _, name := range kinds {
		m.kinds[name] = true
	}
	return m
}

// Observe counts one run: it is fit for queue.Options.Observe.
func (m *Metrics) Observe(r queue.Run) {
	kind := r.Kind
	if !m.kinds[kind] {
		kind = "unknown"
	}
	m.runs.WithLabelValues(r.Queue, kind, r.Verdict).Inc()
	m.late.WithLabelValues(r.Queue).Observe(r.Late.Seconds())
	m.took.WithLabelValues(r.Queue, kind).Observe(r.Took.Seconds())
}

// counts describe what Redis counts: every process reports the same values.
type counts struct {
	tasks, oldest, paused, unserved *prometheus.Desc
	totals                          []total
}

type total struct {
	desc *prometheus.Desc
	of   func(admin.Queue) int64
}

func newCounts(prefix string) counts {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"_tasks"+name, help, append([]string{"queue"}, labels...), nil)
	}
	return counts{
		tasks:    desc("", "Tasks that are there, by state; of ready ones by priority.", "state", "priority"),
		oldest:   desc("_oldest_seconds", "How long the oldest ready task has waited."),
		paused:   desc("_paused", "1 while an operator has paused the queue."),
		unserved: desc("_unserved_kinds", "Kinds of waiting tasks that no server runs."),
		totals: []total{
			{desc("_enqueued_total", "Tasks put in."), func(q admin.Queue) int64 { return q.Enqueued }},
			{desc("_processed_total", "Tasks completed."), func(q admin.Queue) int64 { return q.Processed }},
			{desc("_failed_total", "Runs that failed."), func(q admin.Queue) int64 { return q.Failed }},
			{desc("_crashed_total", "Runs that ended with their worker."), func(q admin.Queue) int64 { return q.Crashed }},
			{desc("_buried_total", "Times that a task became a dead letter."), func(q admin.Queue) int64 { return q.Buried }},
			{desc("_deleted_total", "Tasks taken away."), func(q admin.Queue) int64 { return q.Deleted }},
			{desc("_dropped_total", "Dead letters that were dropped for newer ones."), func(q admin.Queue) int64 { return q.Dropped }},
		},
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range []prometheus.Collector{m.runs, m.late, m.took, m.missed} {
		c.Describe(to)
	}
	for _, d := range []*prometheus.Desc{m.counts.tasks, m.counts.oldest, m.counts.paused, m.counts.unserved} {
		to <- d
	}
	for _, t := range m.counts.totals {
		to <- t.desc
	}
}

// Collect implements prometheus.Collector. If Redis does not answer, its metrics are left out: a gap shows, an old count
// would be believed.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	queues := m.count()
	for _, c := range []prometheus.Collector{m.runs, m.late, m.took, m.missed} {
		c.Collect(to)
	}
	for _, q := range queues {
		gauge := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{q.Queue}, labels...)...)
		}
		gauge(m.counts.tasks, float64(q.Ready.Critical), "ready", "critical")
		gauge(m.counts.tasks, float64(q.Ready.High), "ready", "high")
		gauge(m.counts.tasks, float64(q.Ready.Normal), "ready", "normal")
		gauge(m.counts.tasks, float64(q.Ready.Low), "ready", "low")
		gauge(m.counts.tasks, float64(q.Delayed), "delayed", "")
		gauge(m.counts.tasks, float64(q.Parked), "parked", "")
		gauge(m.counts.tasks, float64(q.Leased), "leased", "")
		gauge(m.counts.tasks, float64(q.Dead), "dead", "")
		gauge(m.counts.oldest, float64(q.OldestMs)/1000)
		paused := 0.0
		if q.Paused {
			paused = 1
		}
		gauge(m.counts.paused, paused)
		gauge(m.counts.unserved, float64(len(q.Unserved)))
		for _, t := range m.counts.totals {
			to <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, float64(t.of(q)), q.Queue)
		}
	}
}

// count asks Redis, at most once in countKept however many scrapes there are.
func (m *Metrics) count() []admin.Queue {
	if m.counter == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) < countKept {
		return m.queues
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	queues, err := m.counter.Queues(ctx)
	if err != nil {
		m.missed.Inc()
		queues = nil
	}
	m.queues, m.at = queues, time.Now()
	return queues
}
