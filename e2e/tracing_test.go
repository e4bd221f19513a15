package e2e

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestSendIsTraced sends at one node, with the trace of a caller, what a websocket of the other node gets.
func TestSendIsTraced(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	exports := make(chan []byte, 1000)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		exports <- body
	}))
	t.Cleanup(endpoint.Close)
	redis := redistest.Start(t)
	start := func(name string) *harness.Node {
		return harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{
			"CHATD_TRACING": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.URL, "OTEL_BSP_SCHEDULE_DELAY": "50",
			"OTEL_SERVICE_NAME": name, "OTEL_TRACES_SAMPLER": "parentbased_always_off",
		}})
	}
	one, two := start("one"), start("two")
	_, stream := between(ctx, t, one, two)
	defer stream.Close()

	const traceID, caller, body = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "quokka"
	token := harness.Token("alice", "", time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, one.URL()+"/v1/groups/g/messages", strings.NewReader(`{"body":"`+body+`"}`))
	try(t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json", "traceparent": "00-" + traceID + "-" + caller + "-01",
	} {
		req.Header.Set(name, value)
	}
	res := must(http.DefaultClient.Do(req))(t)
	try(t, res.Body.Close())
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("got status %d", res.StatusCode)
	}

	got := spansOf(ctx, t, exports, traceID, []string{body, token, "alice", "bob"}, 4, "write two")
	parent := caller
	for _, name := range []string{"POST /v1/groups/{group}/messages one", "append one", "deliver two", "write two"} {
		span := got[name]
		if span == nil {
			t.Fatalf("no span %q", name)
		}
		if is := hex.EncodeToString(span.GetParentSpanId()); is != parent {
			t.Errorf("%s: got parent %s, want %s", name, is, parent)
		}
		parent = hex.EncodeToString(span.GetSpanId())
	}
	if text := got["append one"].String(); !strings.Contains(text, "chatd.send.joined") || !strings.Contains(text, "chatd.message.id") {
		t.Errorf("the span of the script lacks attributes: %s", text)
	}
}

// spansOf collects the spans of a trace, by name and service, until there are so many and the last of them. None may hold a secret.
func spansOf(ctx context.Context, t *testing.T, exports <-chan []byte, traceID string, secrets []string, count int, last string) map[string]*otlp.Span {
	t.Helper()
	got := map[string]*otlp.Span{}
	for len(got) < count || got[last] == nil {
		var b []byte
		select {
		case b = <-exports:
		case <-ctx.Done():
			t.Fatalf("got only %d spans: %v", len(got), got)
		}
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("the spans hold %q", secret)
			}
		}
		var batch collector.ExportTraceServiceRequest
		try(t, proto.Unmarshal(b, &batch))
		for _, from := range batch.GetResourceSpans() {
			service := ""
			for _, a := range from.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					service = a.GetValue().GetStringValue()
				}
			}
			for _, scope := range from.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					if hex.EncodeToString(span.GetTraceId()) != traceID {
						t.Errorf("a span of another trace: %s", span.GetName())
					}
					got[span.GetName()+" "+service] = span
				}
			}
		}
	}
	return got
}
