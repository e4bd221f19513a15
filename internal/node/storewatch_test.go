package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/store/conn"
)

// TestStoreWatch: a condition is logged when it appears and when it is over, and shown for as long as it lasts.
func TestStoreWatch(t *testing.T) {
	var out bytes.Buffer
	var now []conn.Condition
	var failed error
	w := newStoreWatch(nil, slog.New(slog.NewTextHandler(&out, nil)))
	w.conditions = func(context.Context) ([]conn.Condition, error) { return now, failed }
	registry := prometheus.NewRegistry()
	registry.MustRegister(w.gauge)
	figure := func(kind string) float64 {
		families, err := registry.Gather()
		if err != nil || len(families) != 1 {
			t.Fatalf("got %v, %v; want one figure", families, err)
		}
		for _, m := range families[0].GetMetric() {
			if m.GetLabel()[0].GetValue() == kind {
				return m.GetGauge().GetValue()
			}
		}
		t.Fatalf("no figure for %s", kind)
		return 0
	}
	look := func(want string, memory float64) {
		t.Helper()
		out.Reset()
		w.exec(t.Context())
		if got := out.String(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("got log %q, want %q", got, want)
		}
		if got := figure("memory"); got != memory {
			t.Errorf("got figure %v, want %v", got, memory)
		}
	}
	look("", 0)
	now = []conn.Condition{{Kind: conn.ConditionMemory, Message: "nearly full"}}
	look("nearly full", 1)
	now[0].Message = "full" // the same kind: logged once
	look("", 1)
	failed, now = errors.New("away"), nil
	look("", 1)
	failed = nil
	look("condition cleared", 0)
	look("", 0)
}
