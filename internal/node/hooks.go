package node

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat/hook"
)

// hookMetrics are the metrics of hooks as this node asks them. They have no label of a hook: its id tells nobody anything.
type hookMetrics struct {
	answers *prometheus.CounterVec
	seconds prometheus.Histogram
}

func newHookMetrics() hookMetrics {
	m := hookMetrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chatd_hook_questions_total", Help: "What questions to hooks came to.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "chatd_hook_seconds", Help: "How long a message waited for a hook.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
	}
	for _, outcome := range hook.Outcomes {
		m.answers.WithLabelValues(outcome)
	}
	return m
}

func (m hookMetrics) observe(outcome string, took time.Duration) {
	m.answers.WithLabelValues(outcome).Inc()
	m.seconds.Observe(took.Seconds())
}

// hooks makes the service of hooks of a node.
func (m hookMetrics) hooks(n *Node) *hook.Service {
	return hook.New(n.store.Tables, hook.Options{Limits: n.set.limits, Caller: n.sender, Observe: m.observe, Now: time.Now, Log: n.log})
}
