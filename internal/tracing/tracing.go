// Package tracing shows the way of a message as spans of OpenTelemetry: the request, the script call, each node that
// gets the signal, and the websockets that write it. A nil *Tracer traces nothing and costs nothing. Spans hold ids of
// groups and messages and nothing else that a user chose.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	waysMax     = 1000            // messages whose way a node remembers; the oldest goes first
	writesMax   = 16              // spans of writes of one message on one node
	closeWithin = 3 * time.Second // to send the last spans to a collector
	parentKey   = "traceparent"   // of the W3C's Trace Context; tracestate is free text of the caller and is not kept
)

// Span is what is under way. It ends once.
type Span = trace.Span

// Tracer makes the spans of one node. It may be used from many goroutines.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	known atomic.Bool // there are ways
	mu    sync.Mutex  // guards what follows
	ways  map[string]*way
	order []string // keys of ways, oldest first
}

// way is a message of a traced send that this node has heard of.
type way struct {
	from   context.Context // the parent of the node's next spans
	writes int
}

// Open starts a tracer that sends its spans by OTLP over HTTP. The standard variables (OTEL_EXPORTER_OTLP_*, OTEL_TRACES_*,
// OTEL_BSP_*, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) say where to and which. Log gets what fails later.
func Open(ctx context.Context, log *slog.Logger) (*Tracer, error) {
	otel.SetLogger(logr.Discard()) // it would print headers that it cannot read, with their secrets
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("spans were not exported", "error", err) }))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("the exporter of spans: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "chatd")), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("the resource of spans: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Tracer{provider: provider, tracer: provider.Tracer("chatd"), ways: map[string]*way{}}, nil
}

// Close sends what has ended, for at most 3 s, and stops.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// Request begins the span of an HTTP request. It continues the caller's trace.
func (t *Tracer) Request(r *http.Request, method, route string) (context.Context, Span) {
	ctx := parse(r.Context(), r.Header.Get(parentKey))
	return t.tracer.Start(ctx, method+" "+route, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route)))
}

// Answered ends the span of a request.
func Answered(span Span, status int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// Command begins the span of a command that a websocket sent.
func (t *Tracer) Command(ctx context.Context, op string) (context.Context, Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, "websocket "+op, trace.WithSpanKind(trace.SpanKindServer))
}

// Sampled tells whether ctx is of a call whose spans are recorded.
func (t *Tracer) Sampled(ctx context.Context) bool {
	return t != nil && trace.SpanContextFromContext(ctx).IsSampled()
}

// Store begins the span of a script that adds a message. hint is what the nodes that follow the group should hear before.
func (t *Tracer) Store(ctx context.Context, name, group, mark string) (_ context.Context, span Span, hint string) {
	ctx, span = t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("chatd.group", group)))
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return ctx, span, mark + " " + carrier[parentKey]
}

// Shared notes how many sends share the script call of this one.
func Shared(ctx context.Context, sends int) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.Int("chatd.send.joined", sends))
	}
}

// Stored ends the span of a script.
func Stored(span Span, id int64, err error) {
	span.SetAttributes(attribute.Int64("chatd.message.id", id))
	Done(span, err)
}

// Done ends a span. What went wrong is in the log: errors may hold what spans must not.
func Done(span Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// Expect takes the hint of a message that is about to come.
func (t *Tracer) Expect(group, hint string) {
	mark, parent, _ := strings.Cut(hint, " ")
	from := parse(context.Background(), parent)
	if t == nil || !trace.SpanContextFromContext(from).IsSampled() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := wayKey(group, mark)
	if t.ways[key] == nil {
		t.order = append(t.order, key)
	}
	t.ways[key] = &way{from: from}
	if len(t.order) > waysMax {
		delete(t.ways, t.order[0])
		t.order = t.order[1:]
	}
	t.known.Store(true)
}

// Deliver begins the span of a signal that reached this node; nil: it is not traced.
func (t *Tracer) Deliver(group, mark string, id int64) Span {
	return t.follow(group, mark, id, "deliver", trace.SpanKindConsumer)
}

// Write begins the span of a websocket that has a message to write; nil: it is not traced, or enough others are.
func (t *Tracer) Write(group, mark string, id int64) Span {
	return t.follow(group, mark, id, "write", trace.SpanKindProducer)
}

func (t *Tracer) follow(group, mark string, id int64, name string, kind trace.SpanKind) Span {
	if t == nil || !t.known.Load() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.ways[wayKey(group, mark)]
	if w == nil || w.writes == writesMax {
		return nil
	}
	ctx, span := t.tracer.Start(w.from, name, trace.WithSpanKind(kind),
		trace.WithAttributes(attribute.String("chatd.group", group), attribute.Int64("chatd.message.id", id)))
	if kind == trace.SpanKindConsumer {
		w.from = ctx
	} else {
		w.writes++
	}
	return span
}

func wayKey(group, mark string) string { return group + " " + mark }

func parse(ctx context.Context, parent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{parentKey: parent})
}
