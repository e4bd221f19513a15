package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/internal/node"
)

// asking is what a hook is asked.
type asking struct {
	id    string
	valid func(secret string) error
	Type  string `json:"type"`
	Data  struct {
		Group, To, From string
		Message         struct {
			Kind, Body string
			Data       json.RawMessage
		}
	} `json:"data"`
}

// hooked is a server with a hook that answers as the test says.
type hooked struct {
	*server
	url   string
	mu    sync.Mutex
	asked []asking
	reply func(w http.ResponseWriter, q asking) // runs without the lock
}

// say has the hook answer.
func (h *hooked) say(reply func(http.ResponseWriter, asking)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply, h.asked = reply, nil
}

// sayText has the hook answer with a text.
func (h *hooked) sayText(text string) {
	h.say(func(w http.ResponseWriter, _ asking) { _, _ = io.WriteString(w, text) })
}

// questions are what the hook was asked since it was told what to say.
func (h *hooked) questions() []asking {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

func (h *hooked) root(method, path, body string) answer {
	h.t.Helper()
	return h.do(request{method: method, path: path, body: body, user: "root", role: "admin"})
}

// hook registers the hook with more fields, and returns its id.
func (h *hooked) hook(more string) (id, secret string) {
	h.t.Helper()
	a := h.root("POST", "/v1/hooks", `{"url":"`+h.url+`"`+more+`}`)
	id, _ = a.field("id").(string)
	secret, _ = a.field("secret").(string)
	if a.status != http.StatusCreated || id == "" || !strings.HasPrefix(secret, "whsec_") {
		h.t.Fatalf("got %d %s", a.status, a.body)
	}
	return id, secret
}

// send sends to the group g as alice.
func (h *hooked) send(body string) answer {
	h.t.Helper()
	return h.do(request{method: "POST", path: "/v1/groups/g/messages", body: body, user: "alice"})
}

// bodies are the texts of a group.
func (h *hooked) bodies(group string) (list []string) {
	h.t.Helper()
	var page struct {
		Messages []struct{ Kind, Body string }
	}
	if err := json.Unmarshal([]byte(h.must("alice", "GET", "/v1/groups/"+group+"/messages", "").body), &page); err != nil {
		h.t.Fatal(err)
	}
	for _, m := range page.Messages {
		if m.Kind == "text" {
			list = append(list, m.Body)
		}
	}
	return list
}

func startHooked(t *testing.T) *hooked {
	h := &hooked{}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		q := asking{id: r.Header.Get("webhook-id")}
		q.valid = func(secret string) error {
			wh, err := standardwebhooks.NewWebhook(secret)
			if err == nil {
				err = wh.Verify(body, r.Header)
			}
			return err
		}
		if err := json.Unmarshal(body, &q); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		h.asked = append(h.asked, q)
		reply := h.reply
		h.mu.Unlock()
		reply(w, q)
	}))
	t.Cleanup(receiver.Close)
	h.url, h.server = receiver.URL, start(t, func(c *node.Config) { c.EgressAllow = []string{"127.0.0.0/8"} })
	h.sayText(`{"action":"allow"}`)
	for _, id := range []string{"g", "other"} {
		h.must("alice", "POST", "/v1/groups", `{"id":"`+id+`","members":["bob"]}`)
	}
	return h
}

// TestHooks: what a hook answers is what becomes of a message, whichever way it comes.
func TestHooks(t *testing.T) {
	h := startHooked(t)
	_, secret := h.hook("")
	sent := h.send(`{"body":"fine","client_id":"k1"}`)
	if q := h.questions(); sent.status != 201 || len(q) != 1 || q[0].Type != "message.before_send" || q[0].Data.Group != "g" || q[0].Data.From != "alice" ||
		q[0].Data.Message.Kind != "text" || q[0].Data.Message.Body != "fine" || q[0].valid(secret) != nil {
		t.Fatalf("got %d %s, asked %+v", sent.status, sent.body, q)
	}
	h.sayText(`{"action":"rewrite","body":"mild"}`)
	first := h.send(`{"body":"harsh","client_id":"k2"}`)
	h.sayText(`{"action":"refuse"}`)
	again := h.send(`{"body":"harsh","client_id":"k2"}`)
	if first.status != 201 || first.field("body") != "mild" || again.status != 200 || again.field("body") != "mild" || again.field("id") != first.field("id") || len(h.questions()) != 0 {
		t.Errorf("got %s, then %d %s after %d questions", first.body, again.status, again.body, len(h.questions()))
	}
	checkProblem(t, "other content under the key", h.send(`{"body":"mild","client_id":"k2"}`), 409, "key_reused")

	h.sayText(`{"action":"refuse","reason":"no\nsuch words"}`)
	target := sent.field("id")
	edit := fmt.Sprintf(`{"kind":"edit","target":%v,"body":"smuggled","client_id":"e"}`, target)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	checkProblem(t, "no such hook", h.root("DELETE", "/v1/hooks/absent", ""), 404, "not_found")
	for _, c := range []struct{ path, body string }{
		{"/v1/groups/g/messages", `{"body":"bad"}`}, {"/v1/groups/g/messages", `{"data":{"bad":1}}`}, {"/v1/groups/g/messages", edit},
		{"/v1/groups/g/messages", `{"body":"bad","deliver_at":"` + later + `"}`}, {"/v1/users/bob/messages", `{"body":"bad"}`},
		{"/v1/users/bob/messages", `{"body":"bad","deliver_at":"` + later + `"}`}, {"/v1/schedules", `{"group":"g","body":"bad","at":"` + later + `"}`},
	} {
		before := len(h.questions())
		a := h.do(request{method: "POST", path: c.path, body: c.body, user: "alice"})
		checkProblem(t, c.path+" "+c.body, a, 422, "refused")
		if a.field("reason") != "no such words" || len(h.questions()) != before+1 {
			t.Errorf("%s %s: got %s after %d questions", c.path, c.body, a.body, len(h.questions())-before)
		}
	}
	batch := h.must("alice", "POST", "/v1/batch", `{"ops":[{"op":"send","group":"g","body":"bad"},{"op":"direct","user":"bob","body":"bad"}]}`)
	if strings.Count(batch.body, `"code":"refused"`) != 2 {
		t.Errorf("batch: got %s", batch.body)
	}
	for _, c := range []string{`{"kind":"reaction","target":%v,"emoji":"👍"}`, `{"kind":"delete","target":%v}`} {
		if a := h.send(fmt.Sprintf(c, target)); a.status != 201 {
			t.Errorf("%s: got %d %s", c, a.status, a.body)
		}
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"", "mild"}) {
		t.Errorf("got %q", got)
	}
	// Nobody is asked for who may not send.
	h.sayText(`{"action":"allow"}`)
	checkProblem(t, "not a member", h.do(request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"x"}`, user: "eve"}), 404, "not_found")
	if n := len(h.questions()); n != 0 {
		t.Errorf("asked %d times for who is no member", n)
	}
}

// TestHooksRewriteEverything: edits, direct messages and schedules are rewritten too, and retries answer as the first time.
func TestHooksRewriteEverything(t *testing.T) {
	h := startHooked(t)
	sent := h.send(`{"body":"before"}`)
	h.hook("")
	h.sayText(`{"action":"rewrite","body":"mild","data":{"seen":true}}`)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var firsts []answer
	calls := []struct{ path, body string }{
		{"/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%v,"body":"harsh","client_id":"e"}`, sent.field("id"))},
		{"/v1/users/bob/messages", `{"body":"harsh","client_id":"d"}`},
		{"/v1/groups/g/messages", `{"body":"harsh","client_id":"l","deliver_at":"` + later + `"}`},
	}
	for _, c := range calls {
		firsts = append(firsts, h.must("alice", "POST", c.path, c.body))
	}
	h.sayText(`{"action":"refuse"}`)
	for i, c := range calls {
		again := h.do(request{method: "POST", path: c.path, body: c.body, user: "alice"})
		for _, field := range []string{"id", "seq", "body"} {
			if again.status != 200 || again.field(field) != firsts[i].field(field) {
				t.Errorf("%s: got %d %s, want as %s", c.body, again.status, again.body, firsts[i].body)
			}
		}
		if firsts[i].field("body") != "mild" || !strings.Contains(again.body, `"seen":true`) {
			t.Errorf("%s: got %s, then %s", c.body, firsts[i].body, again.body)
		}
	}
	if n := len(h.questions()); n != 0 {
		t.Errorf("asked %d times about retries", n)
	}
	checkProblem(t, "a schedule changed", h.do(request{method: "PATCH", path: "/v1/schedules/" + firsts[2].field("id").(string), body: `{"body":"worse"}`, user: "alice"}), 422, "refused")
}

// TestHookErrors: what is no answer is decided by on_error, and the same question comes again with a retry.
func TestHookErrors(t *testing.T) {
	h := startHooked(t)
	id, _ := h.hook(`,"groups":["g"],"on_error":"refuse","timeout_ms":100`)
	hang := make(chan struct{})
	late := func(w http.ResponseWriter, _ asking) { <-hang; _, _ = io.WriteString(w, `{"action":"allow"}`) }
	defer close(hang)
	for what, reply := range map[string]func(http.ResponseWriter, asking){
		"garbage":        func(w http.ResponseWriter, _ asking) { _, _ = io.WriteString(w, "garbage") },
		"another action": func(w http.ResponseWriter, _ asking) { _, _ = io.WriteString(w, `{"action":"explode"}`) },
		"nothing":        func(http.ResponseWriter, asking) {},
		"500":            func(w http.ResponseWriter, _ asking) { w.WriteHeader(http.StatusInternalServerError) },
		"a redirect": func(w http.ResponseWriter, _ asking) {
			w.Header().Set("Location", h.url)
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"too much": func(w http.ResponseWriter, _ asking) {
			_, _ = io.WriteString(w, `{"action":"allow"}`+strings.Repeat(" ", 64<<10))
		},
		"no field of an edit": func(w http.ResponseWriter, _ asking) { _, _ = io.WriteString(w, `{"action":"rewrite","body":""}`) },
		"in the middle":       func(http.ResponseWriter, asking) { panic(http.ErrAbortHandler) },
		"late":                late,
	} {
		h.root("DELETE", "/v1/hooks/"+id, "") // with it goes its breaker
		id, _ = h.hook(`,"groups":["g"],"on_error":"refuse","timeout_ms":100`)
		h.say(reply)
		for range 2 {
			checkProblem(t, what, h.send(`{"body":"x","client_id":"`+strings.ReplaceAll(what, " ", "-")+`"}`), 422, "refused")
		}
		q := h.questions()
		if len(q) != 2 || q[0].id == "" || q[0].id != q[1].id {
			t.Errorf("%s: asked %+v, want the same twice", what, q)
		}
		if a := h.root("PATCH", "/v1/hooks/"+id, `{"on_error":"allow"}`); a.status != 200 {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		if a := h.send(`{"body":"` + what + `"}`); a.status != 201 {
			t.Errorf("%s: got %d %s, want it allowed", what, a.status, a.body)
		}
	}
	// After five failures nobody asks for a while.
	h.say(func(w http.ResponseWriter, _ asking) { w.WriteHeader(http.StatusInternalServerError) })
	for range 10 {
		h.send(`{"body":"x"}`)
	}
	if n := len(h.questions()); n < 2 || n > 6 {
		t.Errorf("asked %d times, want the breaker to end that", n)
	}
	h.sayText(`{"action":"refuse"}`)
	if a := h.do(request{method: "POST", path: "/v1/groups/other/messages", body: `{"body":"x"}`, user: "alice"}); a.status != 201 || len(h.questions()) != 0 {
		t.Errorf("another group: got %d %s after %d questions", a.status, a.body, len(h.questions()))
	}
}

// TestHooksInOrder: several hooks are asked in the order in which they were made, each about what the one before left.
func TestHooksInOrder(t *testing.T) {
	h := startHooked(t)
	for range 9 {
		h.hook("")
	}
	h.say(func(w http.ResponseWriter, q asking) {
		_, _ = fmt.Fprintf(w, `{"action":"rewrite","body":"%sx"}`, q.Data.Message.Body)
	})
	if a := h.send(`{"body":"-"}`); a.field("body") != "-xxxxxxxxx" {
		t.Errorf("got %s", a.body)
	}
	h.hook("")
	checkProblem(t, "an eleventh", h.root("POST", "/v1/hooks", `{"url":"`+h.url+`"}`), 429, "quota_full")
	list := h.root("GET", "/v1/hooks", "")
	if strings.Count(list.body, `"timeout_ms":1500`) != 10 || strings.Contains(list.body, "whsec_") {
		t.Errorf("got %s", list.body)
	}
}

// TestHookLine: what finds the line of a hook full is decided at once, and a send that waits keeps nobody from sending elsewhere,
// over the websocket either. What a session sends to the group meanwhile comes behind it.
func TestHookLine(t *testing.T) {
	h := startHooked(t)
	h.hook(`,"groups":["g"],"in_flight":1,"timeout_ms":5000,"on_error":"refuse"`)
	reached, hang := make(chan string, 10), make(chan struct{}, 10)
	h.say(func(w http.ResponseWriter, q asking) {
		reached <- q.Data.Message.Body
		<-hang
		w.WriteHeader(http.StatusNoContent)
	})
	conn := h.dial()
	defer func() { _ = conn.Close() }()
	if got := hello(t, conn, `{"op":"hello","token":"`+token(t, "alice", "")+`"}`); !strings.Contains(got, `"welcome"`) {
		t.Fatalf("got %s", got)
	}
	write := func(frame string) {
		t.Helper()
		if err := conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"op":"send","ref":"1","group":"g","body":"one"}`)
	<-reached
	write(`{"op":"send","ref":"2","group":"g","body":"two"}`)
	write(`{"op":"send","ref":"3","group":"other","body":"free"}`)
	if got := frameOf(t, conn, "ok"); !strings.Contains(got, `"ref":"3"`) {
		t.Errorf("got %s, want the send to the other group", got)
	}
	began := time.Now()
	checkProblem(t, "a full line", h.send(`{"body":"no room"}`), 422, "refused")
	if took := time.Since(began); took > 4*time.Second { // the hook has 5 s
		t.Errorf("refused after %s, want at once", took)
	}
	hang <- struct{}{}
	if got := frameOf(t, conn, "ok"); !strings.Contains(got, `"ref":"1"`) {
		t.Errorf("got %s, want the first", got)
	}
	if got := <-reached; got != "two" {
		t.Errorf("asked about %q, want what came next", got)
	}
	hang <- struct{}{}
	if got := frameOf(t, conn, "ok"); !strings.Contains(got, `"ref":"2"`) {
		t.Errorf("got %s, want the second", got)
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("got %q", got)
	}
}
