package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/store"
)

// storeWatchEvery is how often the state of the store is looked at: soon enough to act before a store that fills is full,
// and two commands a look.
const storeWatchEvery = 30 * time.Second

// storeWatch warns of what operators should change about the store: when it appears, and when it is over.
type storeWatch struct {
	conditions func(context.Context) ([]store.Condition, error)
	log        *slog.Logger
	gauge      *prometheus.GaugeVec
	known      map[store.ConditionKind]string // kind -> message of the last look
}

func newStoreWatch(s *store.Store, log *slog.Logger) *storeWatch {
	w := &storeWatch{conditions: s.Conditions, log: log, known: map[store.ConditionKind]string{},
		gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chatd_store_condition",
			Help: "1 while something about the store needs an operator: persistence, eviction, memory, replica.",
		}, []string{"kind"})}
	for _, kind := range store.ConditionKinds {
		w.gauge.WithLabelValues(string(kind)).Set(0)
	}
	return w
}

// run looks at once, then from time to time until ctx ends.
func (w *storeWatch) run(ctx context.Context) {
	ticker := time.NewTicker(storeWatchEvery)
	defer ticker.Stop()
	for {
		w.exec(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// exec looks once. A store that does not answer is left to /readyz and to the errors of whoever needs it.
func (w *storeWatch) exec(ctx context.Context) {
	conditions, err := w.conditions(ctx)
	if err != nil {
		return
	}
	now := map[store.ConditionKind]string{}
	for _, c := range conditions {
		now[c.Kind] = c.Message
		w.gauge.WithLabelValues(string(c.Kind)).Set(1)
		if _, warned := w.known[c.Kind]; !warned {
			w.log.Warn(c.Message, "store", c.Kind)
		}
	}
	for kind := range w.known {
		if _, holds := now[kind]; !holds {
			w.gauge.WithLabelValues(string(kind)).Set(0)
			w.log.Info("store condition cleared", "store", kind)
		}
	}
	w.known = now
}
