package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestHeldWays: a message that waits says so in a batch, over the websocket and in the Go client, which sends it once; and webhooks hear of
// it, without what it says.
func TestHeldWays(t *testing.T) {
	h := startHooked(t)
	heard := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- string(body)
	}))
	t.Cleanup(receiver.Close)
	if a := h.root("POST", "/v1/webhooks", `{"url":"`+receiver.URL+`","events":["message.held"]}`); a.status != http.StatusCreated {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	h.hook("")
	h.sayText(`{"action":"review","reason":"looks odd"}`)

	got := h.batch("alice", "", `{"op":"send","group":"g","body":"odd 1"}`, `{"op":"direct","user":"bob","body":"odd 2"}`)
	for i, r := range got {
		if id, _ := r.ID.(string); r.Status != http.StatusAccepted || id == "" {
			t.Errorf("op %d: got %+v", i, r)
		}
	}

	conn := h.dial()
	defer func() { _ = conn.Close() }()
	if got := hello(t, conn, `{"op":"hello","token":"`+token(t, "alice", "")+`"}`); !strings.Contains(got, `"welcome"`) {
		t.Fatalf("got %s", got)
	}
	ids := map[string]bool{}
	for range 2 {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"op":"send","ref":"1","group":"g","body":"odd 3","client_id":"k3"}`)); err != nil {
			t.Fatal(err)
		}
		var ok struct{ Op, Ref, State, ID string }
		if err := json.Unmarshal([]byte(frameOf(t, conn, "ok")), &ok); err != nil || ok.Ref != "1" || ok.State != "review" {
			t.Errorf("got %+v, %v", ok, err)
		}
		ids[ok.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("got reviews %v of a repeat, want one", ids)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	alice, err := client.New(h.server.url, client.StaticToken(token(t, "alice", "")))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := alice.Stream(ctx, client.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for name, send := range map[string]func(context.Context, string, client.Draft) (client.Sent, error){"http": alice.Send, "stream": stream.Send} {
		_, err := send(ctx, "g", client.Draft{Body: "odd " + name})
		var e *client.Error
		if !errors.As(err, &e) || e.Code != client.CodeInReview || e.Review == "" {
			t.Errorf("%s: got %v, want that it waits", name, err)
		}
	}
	waiting := h.waiting("")
	if len(waiting) != 5 { // each was sent once
		t.Errorf("got %v", waiting)
	}
	export := h.must("alice", "GET", "/v1/me/export", "").body
	if strings.Count(export, `{"review":{"id":"`) != 5 || !strings.Contains(export, `"odd stream"`) || strings.Contains(export, "looks odd") {
		t.Errorf("the export is %s", export)
	}
	if other := h.must("bob", "GET", "/v1/me/export", "").body; strings.Contains(other, `{"review"`) {
		t.Errorf("what waits for bob is in his export: %s", other)
	}

	for published := map[string]bool{}; len(published) < len(waiting); {
		var event struct {
			Type string
			Data struct{ Review, From, Reason string }
		}
		select {
		case text := <-heard:
			if err := json.Unmarshal([]byte(text), &event); err != nil || event.Type != "message.held" || event.Data.From != "alice" || event.Data.Reason != "looks odd" {
				t.Fatalf("got %s, %v", text, err)
			}
			if strings.Contains(text, "odd 1") || strings.Contains(text, "odd 3") {
				t.Errorf("it says what the message says: %s", text)
			}
			published[event.Data.Review] = true
		case <-ctx.Done():
			t.Fatalf("webhooks have heard of %v, want %v", published, waiting)
		}
	}
}

// TestErasureTakesWhatWaits: nothing that a person sent, or was sent, waits once they are erased.
func TestErasureTakesWhatWaits(t *testing.T) {
	h := startHooked(t)
	if a := h.root("PUT", "/v1/words", `{"review":["odd*"]}`); a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	h.held("/v1/groups/g/messages", `{"body":"odd one","client_id":"k"}`)
	h.held("/v1/users/bob/messages", `{"body":"odd two"}`)
	stays := h.do(request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"odd of bob"}`, user: "bob"}).field("id")
	h.do(request{method: "POST", path: "/v1/users/alice/messages", body: `{"body":"odd to alice"}`, user: "bob"})
	if got := h.waiting(""); len(got) != 4 {
		t.Fatalf("got %v", got)
	}
	id := h.root("DELETE", "/v1/users/alice", "").field("id")
	harness.Eventually(t, time.Minute, "alice is erased", func() error {
		if a := h.root("GET", fmt.Sprint("/v1/erasures/", id), ""); a.field("state") != "done" {
			return errors.New(a.body)
		}
		return nil
	})
	if got := h.waiting(""); len(got) != 1 || got[0] != stays {
		t.Errorf("got %v, want %v alone", got, stays)
	}
}
