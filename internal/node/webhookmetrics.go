package node

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat/webhook"
)

// Bounds of what a scrape costs the store.
const (
	countTimeout = 2 * time.Second // Prometheus allows a scrape 10 s by default
	countKept    = time.Second     // scrapes within this time share one count
)

// webhookMetrics are the metrics of webhooks as the store counts them at a scrape, over all nodes. They have no labels:
// GET /v1/webhooks shows which webhook it is.
type webhookMetrics struct {
	totals func(context.Context) (webhook.Totals, error)

	mu    sync.Mutex
	at    time.Time
	last  webhook.Totals
	known bool
}

var _ prometheus.Collector = (*webhookMetrics)(nil)

var (
	descWebhooksFailing = prometheus.NewDesc("chatd_webhooks_failing", "Webhooks whose last attempt failed.", nil, nil)
	descWebhooksWaiting = prometheus.NewDesc("chatd_webhook_deliveries_waiting", "Deliveries to webhooks that are not finished.", nil, nil)
	descWebhooksBytes   = prometheus.NewDesc("chatd_webhook_deliveries_waiting_bytes", "What these take in the store.", nil, nil)
)

// Describe implements prometheus.Collector.
func (f *webhookMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descWebhooksFailing, descWebhooksWaiting, descWebhooksBytes} {
		to <- d
	}
}

// Collect implements prometheus.Collector. If the store does not answer, the metrics are left out.
func (f *webhookMetrics) Collect(to chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.at) >= countKept {
		ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
		defer cancel()
		last, err := f.totals(ctx)
		f.last, f.known, f.at = last, err == nil, time.Now()
	}
	if !f.known {
		return
	}
	for d, n := range map[*prometheus.Desc]int64{
		descWebhooksFailing: f.last.Failing, descWebhooksWaiting: f.last.Waiting, descWebhooksBytes: f.last.WaitingBytes,
	} {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n))
	}
}
