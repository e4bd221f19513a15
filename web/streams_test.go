package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/writing"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
)

// streams begins a message that is written piece by piece, and returns its path.
func (s *server) streams(user, group, body string) (path string, id int64) {
	s.t.Helper()
	a := s.must(user, "POST", "/v1/groups/"+group+"/messages", fmt.Sprintf(`{"stream":true,"body":%q}`, body))
	if a.field("stream") != true || a.field("body") != body {
		s.t.Fatalf("got %s", a.body)
	}
	n, _ := a.field("id").(float64)
	return fmt.Sprintf("/v1/groups/%s/messages/%d/stream", group, int64(n)), int64(n)
}

// piece writes a piece until the rate lets it.
func (s *server) piece(user, path, body string) answer {
	s.t.Helper()
	for {
		a := s.do(request{user: user, method: "PATCH", path: path, body: body})
		if a.code() != "rate_limited" {
			return a
		}
	}
}

// message is one of a group as a page has it.
func (s *server) message(user, group string, id int64) (m map[string]any) {
	s.t.Helper()
	var page struct{ Messages []map[string]any }
	a := s.must(user, "GET", fmt.Sprintf("/v1/groups/%s/messages?after=%d&limit=1", group, id-1), "")
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || len(page.Messages) == 0 {
		s.t.Fatalf("got %s, %v", a.body, err)
	}
	return page.Messages[0]
}

// lasts is where a group ends, and how much a user has not read anywhere.
func (s *server) lasts(user, group string) (last, unread int64) {
	s.t.Helper()
	g := s.must(user, "GET", "/v1/groups/"+group, "")
	n, _ := g.field("last").(float64)
	u, _ := s.must(user, "GET", "/v1/unread", "").field("total").(float64)
	return int64(n), int64(u)
}

func checkWritten(t *testing.T, what string, a answer, status int, length int64) {
	t.Helper()
	if a.status != status || a.field("length") != float64(length) {
		t.Errorf("%s: got %d %s, want %d with length %d", what, a.status, a.body, status, length)
	}
}

// TestStreams: a message is written piece by piece, readable at any time, and one entry ends it.
func TestStreams(t *testing.T) {
	s := start(t, nil)
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	path, id := s.streams("bot", "g", "Hé")
	last, unread := s.lasts("ann", "g")
	if unread != 1 {
		t.Errorf("ann has %d unread messages", unread)
	}
	checkWritten(t, "a piece", s.piece("bot", path, `{"offset":3,"append":"llo"}`), 200, 6)
	checkWritten(t, "the same again", s.piece("bot", path, `{"offset":3,"append":"llo"}`), 200, 6)
	checkWritten(t, "within", s.piece("bot", path, `{"offset":1,"append":"él"}`), 200, 6)
	for what, body := range map[string]string{"other content": `{"offset":3,"append":"LLO"}`, "a hole": `{"offset":7,"append":"x"}`, "more than stands": `{"offset":5,"append":"o!"}`} {
		a := s.piece("bot", path, body)
		checkProblem(t, what, a, 409, "conflict")
		checkWritten(t, what, a, 409, 6)
	}
	for what, body := range map[string]string{"within a character": `{"offset":2,"append":"x"}`, "half a character": `{"offset":6,"append":"\ud83d"}`, "nothing": `{}`, "no offset": `{"append":"x"}`,
		"both": `{"body":"x","append":"y","offset":6}`, "a control character": `{"offset":6,"append":"\u0007"}`, "a negative offset": `{"offset":-1,"append":"x"}`, "an unknown field": `{"offset":6,"append":"x","then":1}`} {
		if a := s.piece("bot", path, body); a.status != 400 {
			t.Errorf("%s: got %d %s", what, a.status, a.body)
		}
	}
	if m := s.message("ann", "g", id); m["body"] != "Héllo" || m["stream"] != true {
		t.Errorf("a page has %v", m)
	}
	if l, _ := s.lasts("ann", "g"); l != last {
		t.Errorf("the log ends at %d, not at %d", l, last)
	}
	checkWritten(t, "another text", s.piece("bot", path, `{"body":"\"Hi\"\n"}`), 200, 5)
	checkProblem(t, "by another", s.piece("ann", path, `{"offset":5,"append":"x"}`), 403, "forbidden")
	checkProblem(t, "from outside", s.piece("eve", path, `{"offset":5,"append":"x"}`), 404, "not_found")
	checkProblem(t, "an edit", s.do(request{user: "bot", method: "POST", path: "/v1/groups/g/messages", body: fmt.Sprintf(`{"kind":"edit","target":%d,"body":"x"}`, id)}), 409, "conflict")
	s.must("ann", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"reaction","target":%d,"emoji":"👍"}`, id))
	s.must("ann", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"go on","reply_to":%d}`, id))

	before, _ := s.lasts("ann", "g")
	checkWritten(t, "the end", s.piece("bot", path, `{"offset":5,"append":"Bye","done":true}`), 200, 8)
	after, _ := s.lasts("ann", "g")
	end := s.message("ann", "g", after)
	if after != before+1 || end["kind"] != "edit" || end["body"] != "\"Hi\"\nBye" || end["target"] != float64(id) || end["from"] != "bot" {
		t.Errorf("the log went from %d to %d: %v", before, after, end)
	}
	m := s.message("ann", "g", id)
	if _, open := m["stream"]; open || m["body"] != "\"Hi\"\nBye" || m["edited_at"] != nil || m["reactions"] == nil {
		t.Errorf("a page has %v", m)
	}
	checkWritten(t, "a repeat of the end", s.piece("bot", path, `{"offset":5,"append":"Bye","done":true}`), 200, 8)
	checkWritten(t, "a repeat", s.piece("bot", path, `{"offset":0,"append":"\"Hi"}`), 200, 8)
	checkWritten(t, "more after the end", s.piece("bot", path, `{"offset":8,"append":"x"}`), 409, 8)
	checkProblem(t, "by another, after the end", s.piece("ann", path, `{"offset":0,"append":"x"}`), 403, "forbidden")
	checkProblem(t, "no message", s.piece("bot", "/v1/groups/g/messages/99/stream", `{"offset":0,"append":"x"}`), 404, "not_found")
	s.must("bot", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"edit","target":%d,"body":"mine"}`, id))
	if m := s.message("ann", "g", id); m["body"] != "mine" || m["edited_at"] == nil {
		t.Errorf("after an edit a page has %v", m)
	}
	for what, body := range map[string]string{"data": `{"stream":true,"data":{}}`, "cut": `{"stream":"cut","body":"x"}`, "files": `{"stream":true,"files":["a-0"]}`, "later": `{"stream":true,"body":"x","deliver_at":"2099-01-01T00:00:00Z"}`} {
		if a := s.do(request{user: "bot", method: "POST", path: "/v1/groups/g/messages", body: body}); a.status != 400 {
			t.Errorf("%s: got %d %s", what, a.status, a.body)
		}
	}
}

// TestStreamBounds: 64 KiB, 20 pieces a second, 20 at once in a group.
func TestStreamBounds(t *testing.T) {
	s := start(t, nil)
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	path, _ := s.streams("bot", "g", "")
	most := strings.Repeat("é", 32<<10)
	checkProblem(t, "too long at once", s.piece("bot", path, `{"body":"`+most+`x"}`), 413, "too_large")
	checkWritten(t, "as long as may be", s.piece("bot", path, `{"offset":0,"append":"`+most+`"}`), 200, 64<<10)
	checkProblem(t, "a byte more", s.piece("bot", path, `{"offset":65536,"append":"x"}`), 413, "too_large")
	checkWritten(t, "the end", s.piece("bot", path, `{"offset":65536,"append":"","done":true}`), 200, 64<<10)

	opened := 0
	for range 21 {
		a := s.do(request{user: "bot", method: "POST", path: "/v1/groups/g/messages", body: `{"stream":true,"body":""}`})
		if a.status == http.StatusCreated {
			opened++
		} else {
			checkProblem(t, "one more", a, 429, "quota_full")
		}
	}
	if opened != 20 {
		t.Errorf("%d are open", opened)
	}
	s.must("bot", "POST", "/v1/groups", `{"id":"other"}`)
	fast, _ := s.streams("bot", "other", "")
	taken, refused := int64(0), 0
	for range 300 {
		a := s.do(request{user: "bot", method: "PATCH", path: fast, body: fmt.Sprintf(`{"offset":%d,"append":"x"}`, taken)})
		if a.status == http.StatusOK {
			taken++
			continue
		}
		checkProblem(t, "too fast", a, 429, "rate_limited")
		if refused++; a.header.Get("Retry-After") == "" {
			t.Error("nothing says when to come again")
		}
		break
	}
	if refused == 0 {
		t.Log("this machine is too slow to be refused")
	}
}

// nextOf waits for the next frame of one of some ops.
func nextOf(t *testing.T, conn *websocket.Conn, ops ...string) map[string]any {
	t.Helper()
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			if bytes.HasPrefix(frame, []byte(`{"op":"`+op+`"`)) {
				var f map[string]any
				if err := json.Unmarshal(frame, &f); err != nil {
					t.Fatal(err)
				}
				return f
			}
		}
	}
}

// followStream reads frames until the text of a message is whole.
func followStream(t *testing.T, conn *websocket.Conn, id int64, text, want string) {
	t.Helper()
	for text != want {
		f := nextOf(t, conn, "stream")
		if f["id"] != float64(id) {
			continue
		}
		if body, ok := f["body"].(string); ok {
			text = body
			continue
		}
		add, _ := f["append"].(string)
		if f["offset"] != float64(len(text)) {
			t.Fatalf("%d bytes stand, and got %v", len(text), f)
		}
		text += add
		if !strings.HasPrefix(want, text) {
			t.Fatalf("got %q", text)
		}
	}
}

// TestStreamFrames: live readers get the pieces on every node, one that begins gets what stands, and the websocket takes pieces.
func TestStreamFrames(t *testing.T) {
	p := startPair(t)
	s := p.nodes[0]
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	near, far, author := s.live(token(t, "ann", ""), ""), p.nodes[1].live(token(t, "ann", ""), ""), p.nodes[1].live(token(t, "bot", ""), "")
	path, id := s.streams("bot", "g", "Hé")
	for _, conn := range []*websocket.Conn{near, far} {
		for {
			f := nextOf(t, conn, "messages")
			if f["to"] == float64(id) {
				break
			}
		}
	}
	checkWritten(t, "a piece", s.piece("bot", path, `{"offset":3,"append":"llo"}`), 200, 6)
	for _, conn := range []*websocket.Conn{near, far} {
		if f := nextOf(t, conn, "stream"); f["group"] != "g" || f["id"] != float64(id) || f["offset"] != float64(3) || f["append"] != "llo" {
			t.Errorf("got %v", f)
		}
	}
	late := s.live(token(t, "ann", ""), "")
	if f := nextOf(t, late, "stream"); f["body"] != "Héllo" || f["id"] != float64(id) {
		t.Errorf("a late comer got %v", f)
	}
	say := func(frame string) map[string]any {
		t.Helper()
		if err := author.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		return nextOf(t, author, "ok", "error")
	}
	if f := say(fmt.Sprintf(`{"op":"stream","ref":"1","group":"g","id":%d,"offset":6,"append":", <you>"}`, id)); f["op"] != "ok" || f["length"] != float64(13) {
		t.Errorf("got %v", f)
	}
	if f := say(fmt.Sprintf(`{"op":"stream","ref":"2","group":"g","id":%d,"offset":20,"append":"x"}`, id)); f["code"] != "conflict" || f["length"] != float64(13) {
		t.Errorf("got %v", f)
	}
	for _, conn := range []*websocket.Conn{near, far, late} {
		followStream(t, conn, id, "Héllo", "Héllo, <you>")
	}
	s.must("ann", "POST", path+"/cancel", "")
	if f := nextOf(t, author, "stream_cancel"); f["group"] != "g" || f["id"] != float64(id) || f["user"] != "ann" {
		t.Errorf("got %v", f)
	}
	checkProblem(t, "from outside", s.do(request{user: "eve", method: "POST", path: path + "/cancel"}), 404, "not_found")
	if f := say(fmt.Sprintf(`{"op":"stream","ref":"3","group":"g","id":%d,"body":"Bye","done":true}`, id)); f["op"] != "ok" || f["cancelled"] != true {
		t.Errorf("got %v", f)
	}
	for _, conn := range []*websocket.Conn{near, far, late} {
		for {
			f := nextOf(t, conn, "messages")
			list, _ := f["messages"].([]any)
			if m, _ := list[len(list)-1].(map[string]any); m["kind"] == "edit" {
				if m["body"] != "Bye" {
					t.Errorf("got %v", m)
				}
				break
			}
		}
	}
	checkProblem(t, "cancelled after the end", s.do(request{user: "ann", method: "POST", path: path + "/cancel"}), 409, "conflict")
}

// TestStreamsAndHooks: a hook decides about the whole text, once.
func TestStreamsAndHooks(t *testing.T) {
	h := startHooked(t)
	h.hook("")
	write := func(reply string) (a decided) {
		t.Helper()
		h.sayText(reply)
		path, id := h.streams("alice", "g", "one ")
		checkWritten(t, "a piece", h.piece("alice", path, `{"offset":4,"append":"two "}`), 200, 8)
		asked := len(h.questions())
		a.answer, a.id = h.piece("alice", path, `{"offset":8,"append":"three","done":true}`), id
		if q := h.questions(); len(q) != asked+1 || q[len(q)-1].Data.Message.Body != "one two three" {
			t.Errorf("the hook was asked %d times", len(q)-asked)
		}
		return a
	}
	a := write(`{"action":"rewrite","body":"one 2 three"}`)
	if m := h.message("bob", "g", a.id); a.status != 200 || m["body"] != "one 2 three" || m["stream"] != nil {
		t.Errorf("rewritten: got %d %s, %v", a.status, a.body, m)
	}
	a = write(`{"action":"refuse","reason":"no"}`)
	checkProblem(t, "refused", a.answer, 422, "refused")
	if m := h.message("bob", "g", a.id); m["body"] != nil || m["deleted_at"] == nil {
		t.Errorf("refused: got %v", m)
	}
	a = write(`{"action":"review"}`)
	review, _ := a.field("id").(string)
	if m := h.message("bob", "g", a.id); a.status != 202 || review == "" || m["deleted_at"] == nil {
		t.Errorf("held: got %d %s, %v", a.status, a.body, m)
	}
	if got := h.decide("root", review, "release"); got/100 != 2 {
		t.Errorf("released: got %d", got)
	}
	if got := h.bodies("g"); got[len(got)-1] != "one two three" {
		t.Errorf("the group has %q", got)
	}
}

// decided is the answer to the end of a stream that a hook decided about.
type decided struct {
	answer
	id int64
}

// TestStreamsAndWebhooks: one event, when the text is whole.
func TestStreamsAndWebhooks(t *testing.T) {
	events := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events <- string(body)
	}))
	defer receiver.Close()
	s := start(t, func(c *node.Config) { c.EgressAllow = []string{"127.0.0.0/8"} })
	if a := s.do(request{method: "POST", path: "/v1/webhooks", body: `{"url":"` + receiver.URL + `","events":["message.created","message.edited"]}`, user: "root", role: "admin"}); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	path, id := s.streams("bot", "g", "one ")
	s.must("ann", "POST", "/v1/groups/g/messages", `{"body":"between"}`)
	checkWritten(t, "the end", s.piece("bot", path, `{"offset":4,"append":"two","done":true}`), 200, 7)
	s.must("ann", "POST", "/v1/groups/g/messages", `{"body":"after"}`)
	var got []string
	for range 3 {
		var e struct {
			Type string
			Data struct {
				ID   int64
				Body string
			}
		}
		if err := json.Unmarshal([]byte(<-events), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Type, " ", e.Data.Body))
		if e.Data.Body == "one two" && e.Data.ID != id {
			t.Errorf("the event is about %d", e.Data.ID)
		}
	}
	for _, want := range []string{"message.created between", "message.created one two", "message.created after"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("got %q, without %q", got, want)
		}
	}
}

// TestStreamWriter: the Go client writes what comes, and goes on after errors.
func TestStreamWriter(t *testing.T) {
	s := start(t, nil)
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	c, err := client.New(s.url, client.StaticToken(token(t, "bot", "")))
	if err != nil {
		t.Fatal(err)
	}
	w, err := writing.Open(t.Context(), c, "g", client.Draft{Body: "¡"})
	if err != nil {
		t.Fatal(err)
	}
	want := "¡"
	for i := range 200 {
		text := fmt.Sprintf("Wört %d ", i)
		want += text
		for _, half := range []string{text[:2], text[2:]} { // in the middle of a character
			if _, err := io.WriteString(w, half); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.must("ann", "POST", fmt.Sprintf("/v1/groups/g/messages/%d/stream/cancel", w.Message.ID), "")
	if _, err := io.WriteString(w, "."); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-w.Cancelled()
	if m := s.message("ann", "g", w.Message.ID); m["body"] != want+"." || m["stream"] != nil {
		t.Errorf("got %v", m)
	}
}

// TestStreamsEnd: with the group, a deletion, an erasure nothing of a text is left.
func TestStreamsEnd(t *testing.T) {
	s := startOperated(t)
	s.must("bot", "POST", "/v1/groups", `{"id":"g","members":["ann"]}`)
	remain := func(what string) {
		t.Helper()
		harness.Eventually(t, 20*time.Second, what, func() error {
			keys, err := s.rdb.Keys(t.Context(), "*:stream*").Result()
			if err == nil && len(keys) > 0 {
				return fmt.Errorf("there are %q", keys)
			}
			return err
		})
	}
	path, id := s.streams("bot", "g", "secret")
	checkWritten(t, "a piece", s.piece("bot", path, `{"offset":6,"append":"more"}`), 200, 10)
	s.must("bot", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"kind":"delete","target":%d}`, id))
	remain("deleted")
	checkProblem(t, "a piece of what is deleted", s.piece("bot", path, `{"offset":10,"append":"x"}`), 404, "not_found")
	s.streams("bot", "g", "secret")
	s.must("ann", "POST", "/v1/groups", `{"id":"theirs","members":["bot"]}`)
	s.streams("bot", "theirs", "secret")
	if a := s.do(request{method: "DELETE", path: "/v1/users/bot", user: "root", role: "admin"}); a.status/100 != 2 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	remain("erased")
}
