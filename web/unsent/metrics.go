package unsent

import "github.com/prometheus/client_golang/prometheus"

var (
	bytesDesc   = prometheus.NewDesc("chatd_unsent_bytes", "Bytes of large answers that their clients have not taken yet.", nil, nil)
	waitingDesc = prometheus.NewDesc("chatd_unsent_waiting", "Large answers that wait for room before they are read.", nil, nil)
	refusedDesc = prometheus.NewDesc("chatd_unsent_refused_total", "Calls refused because there was no room for their answer.", nil, nil)
)

// Describe implements prometheus.Collector.
func (b *Budget) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(b, to) }

// Collect implements prometheus.Collector.
func (b *Budget) Collect(to chan<- prometheus.Metric) {
	s := b.state()
	to <- prometheus.MustNewConstMetric(bytesDesc, prometheus.GaugeValue, float64(s.held))
	to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(s.waiting))
	to <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(s.refused))
}

type state struct {
	held             int64
	waiting, refused int
}

func (b *Budget) state() state {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := state{held: b.held, refused: b.refused}
	for _, c := range b.turns {
		s.waiting += len(c.line)
	}
	return s
}
