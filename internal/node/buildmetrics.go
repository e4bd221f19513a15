package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/internal/build"
)

// buildInfo is a metric of 1 whose labels say which chatd runs, as Prometheus and its exporters do it.
func buildInfo() prometheus.Collector {
	b := build.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "chatd_build_info", Help: "What this node was built from; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "go_version": b.Go},
	})
	info.Set(1)
	return info
}
