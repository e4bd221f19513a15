package client

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"time"
)

// TestBlockersOfARefusedSend: over HTTP and over the websocket, the error names the members that a send has to wait for.
func TestBlockersOfARefusedSend(t *testing.T) {
	want := []Blocker{{User: "bob", Behind: 3, Bytes: 5}}
	header := http.Header{"Retry-After": {"1"}}
	overHTTP := answerError(429, header, []byte(`{"code":"backlog_full","detail":"d","blockers":[{"user":"bob","behind":3,"bytes":5}]}`), time.Now())
	var frame reply
	if err := json.Unmarshal([]byte(`{"op":"error","code":"backlog_full","retry_after_ms":1000,"blockers":[{"user":"bob","behind":3,"bytes":5}]}`), &frame); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Error{overHTTP, frame.err()} {
		if e.Code != CodeBacklogFull || e.RetryAfter != time.Second || !reflect.DeepEqual(e.Blockers, want) {
			t.Errorf("got %+v", e)
		}
	}
}
