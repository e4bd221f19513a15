package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

const hint = "mark 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestOffCostsNothing calls what a send calls, without a tracer.
func TestOffCostsNothing(t *testing.T) {
	var off *Tracer
	ctx := context.Background()
	allocs := testing.AllocsPerRun(100, func() {
		if off.Sampled(ctx) || off.Deliver("g", "mark", 1) != nil || off.Write("g", "mark", 1) != nil {
			t.Error("traced")
		}
		Shared(ctx, 3)
		_, span := off.Command(ctx, "send")
		Done(span, nil)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

// TestBounds tells a node of more messages than it remembers, and writes one to more websockets than get a span.
func TestBounds(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	traces, err := Open(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = traces.Close() }) // nothing takes the spans
	for i := range waysMax + 1 {
		traces.Expect(fmt.Sprint(i), hint)
	}
	if traces.Deliver("0", "mark", 1) != nil || traces.Deliver("1", "mark", 1) == nil || len(traces.ways) != waysMax {
		t.Errorf("remembers %d messages, want the newest %d", len(traces.ways), waysMax)
	}
	spans := 0
	for range writesMax + 1 {
		if traces.Write("1", "mark", 1) != nil {
			spans++
		}
	}
	if spans != writesMax {
		t.Errorf("got %d spans of writes, want %d", spans, writesMax)
	}
	traces.Expect("unsampled", hint[:len(hint)-1]+"0")
	if traces.Deliver("unsampled", "mark", 1) != nil {
		t.Error("got a span of a send that is not sampled")
	}
	ctx, span := traces.Command(t.Context(), "send")
	if !traces.Sampled(ctx) {
		t.Error("a command of a websocket is not sampled")
	}
	Done(span, nil)
	if traces.Sampled(trace.ContextWithSpanContext(t.Context(), trace.SpanContext{})) {
		t.Error("a call without a span is sampled")
	}
}
