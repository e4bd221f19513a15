package admission

import "github.com/prometheus/client_golang/prometheus"

var (
	workingDesc = prometheus.NewDesc("chatd_calls_working", "Calls that the node works on.", nil, nil)
	waitingDesc = prometheus.NewDesc("chatd_calls_waiting", "Calls that wait for their turn.", nil, nil)
	boundDesc   = prometheus.NewDesc("chatd_calls_bound", "How many calls the node works on at once at most, as it is now.", nil, nil)
	refusedDesc = prometheus.NewDesc("chatd_overload_refused_total", "Calls refused because of overload.", nil, nil)
)

// Describe implements prometheus.Collector.
func (l *Line) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(l, to) }

// Collect implements prometheus.Collector.
func (l *Line) Collect(to chan<- prometheus.Metric) {
	s := l.state()
	to <- prometheus.MustNewConstMetric(workingDesc, prometheus.GaugeValue, float64(s.working))
	to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(s.waiting))
	to <- prometheus.MustNewConstMetric(boundDesc, prometheus.GaugeValue, float64(s.bound))
	to <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(s.refused))
}

type state struct{ working, waiting, bound, refused int }

func (l *Line) state() state {
	if l == nil {
		return state{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return state{l.working, l.waiting, int(l.bound), l.refused}
}
