package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/store/conn"
)

// storeWatchEvery is how often the state of the store is checked, with two commands each time: often enough to react
// before a store that fills up is full.
const storeWatchEvery = 30 * time.Second

// storeWatch warns operators of problems of the store, when they appear and when they are over.
type storeWatch struct {
	conditions func(context.Context) ([]conn.Condition, error)
	log        *slog.Logger
	gauge      *prometheus.GaugeVec
	known      map[conn.ConditionKind]string // kind -> message, from the last check
}

func newStoreWatch(conditions func(context.Context) ([]conn.Condition, error), log *slog.Logger) *storeWatch {
	w := &storeWatch{conditions: conditions, log: log, known: map[conn.ConditionKind]string{},
		gauge: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "chatd_store_condition",
			Help: "1 while something about the store needs an operator: persistence, eviction, memory, replica, coverage.",
		}, []string{"kind"})}
	for _, kind := range conn.ConditionKinds {
		w.gauge.WithLabelValues(string(kind)).Set(0)
	}
	return w
}

// run checks at once, and then periodically until ctx ends.
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

// exec checks once. A store that does not answer is none of its business: /readyz reports that, and the errors of those
// who need it.
func (w *storeWatch) exec(ctx context.Context) {
	conditions, err := w.conditions(ctx)
	if err != nil {
		return
	}
	now := map[conn.ConditionKind]string{}
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
