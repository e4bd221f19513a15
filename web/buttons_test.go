package web_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
)

const question = `{"body":"Deploy?","actions":[{"id":"yes","label":"Deploy","style":"primary","confirm":"To production?"},{"id":"no","label":"No"}]}`

// TestActions: a program adds actions, members press them, and webhooks get each press once.
func TestActions(t *testing.T) {
	bodies := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer receiver.Close()
	s := start(t, func(c *node.Config) { c.EgressAllow = []string{"127.0.0.0/8"} })
	hook := s.do(request{method: "POST", path: "/v1/webhooks", body: `{"url":"` + receiver.URL + `","events":["message.action","message.created"]}`, user: "root", role: "admin"})
	if hook.status != http.StatusCreated {
		t.Fatalf("%d %s", hook.status, hook.body)
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"g","keep":0,"members":["bob","bot"]}`)
	name, bot := s.key(`{"name":"bot","scopes":["send","read"],"as":["alice","bot"]}`)
	sent := s.by(bot, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: question})
	if sent.status != http.StatusCreated {
		t.Fatalf("%d %s", sent.status, sent.body)
	}
	id := sent.field("id")
	number, _ := id.(float64)
	path := fmt.Sprintf("/v1/groups/g/messages/%v/actions", id)

	// Everybody sees them, as they were given, also after an edit.
	if a := s.by(bot, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: fmt.Sprintf(`{"kind":"edit","target":%v,"body":"Deploy now?"}`, id)}); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	page := s.must("bob", "GET", fmt.Sprintf("/v1/groups/g/messages?after=%v&limit=1", number-1), "")
	for _, want := range []string{`"body":"Deploy now?"`, `"actions":[{"id":"yes","label":"Deploy","style":"primary","confirm":"To production?"},{"id":"no","label":"No"}]`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("%s lacks %s", page.body, want)
		}
	}

	press := func(user, body string) {
		t.Helper()
		if a := s.do(request{user: user, method: "POST", path: path, body: body}); a.status != http.StatusAccepted || a.body != "" {
			t.Fatalf("%s: got %d %s", body, a.status, a.body)
		}
	}
	press("bob", `{"id":"yes","value":{"to":["a", "b"]}}`)
	press("bob", `{"id":"yes","value":"again"}`)
	press("alice", `{"id":"yes"}`)
	press("bob", `{"id":"no","value":null}`)
	s.by(bot, "alice", request{method: "POST", path: path, body: `{"id":"no"}`})
	var got []string
	for len(got) < 4 {
		a := answer{body: <-bodies}
		if a.field("type") != "message.action" {
			continue
		}
		data, _ := a.field("data").(map[string]any)
		if data["message"] != id || data["via"] != name || data["from"] != "bot" || data["group"] != "g" {
			t.Errorf("got %s", a.body)
		}
		got = append(got, fmt.Sprint(data["user"], " ", data["action"], " ", data["value"]))
	}
	slices.Sort(got)
	if want := []string{"alice no <nil>", "alice yes <nil>", "bob no <nil>", "bob yes map[to:[a b]]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	for _, c := range []struct {
		name, user, path, body string
		status                 int
		code                   string
	}{
		{"another action", "bob", path, `{"id":"maybe"}`, 404, "not_found"},
		{"another message", "bob", "/v1/groups/g/messages/900/actions", `{"id":"yes"}`, 404, "not_found"},
		{"a message without actions", "bob", "/v1/groups/g/messages/1/actions", `{"id":"yes"}`, 404, "not_found"},
		{"no member", "eve", path, `{"id":"yes"}`, 404, "not_found"},
		{"no id", "bob", path, `{}`, 400, "invalid_request"},
		{"a bad id", "bob", path, `{"id":"a b"}`, 400, "invalid_request"},
		{"a large value", "bob", path, `{"id":"yes","value":"` + strings.Repeat("x", 4<<10) + `"}`, 413, "too_large"},
		{"a person's message", "bob", "/v1/groups/g/messages", question, 403, "forbidden"},
		{"a person's message for later", "bob", "/v1/groups/g/messages", `{"body":"x","deliver_at":"2099-01-02T03:04:05.000Z","actions":[{"id":"a","label":"A"}]}`, 403, "forbidden"},
	} {
		checkProblem(t, c.name, s.do(request{user: c.user, method: "POST", path: c.path, body: c.body}), c.status, c.code)
	}
	batch := `{"ops":[{"op":"send","group":"g","body":"x","actions":[{"id":"a","label":"A"}]}]}`
	if a := s.must("bob", "POST", "/v1/batch", batch); !strings.Contains(a.body, `"status":403`) {
		t.Errorf("got %s", a.body)
	}

	// What is deleted has none.
	if a := s.by(bot, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: fmt.Sprintf(`{"kind":"delete","target":%v}`, id)}); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	checkProblem(t, "a deleted message", s.do(request{user: "bob", method: "POST", path: path, body: `{"id":"yes"}`}), 404, "not_found")
	if a := s.must("bob", "GET", fmt.Sprintf("/v1/groups/g/messages?after=%v&limit=1", number-1), ""); strings.Contains(a.body, "actions") {
		t.Errorf("a deleted message still has actions: %s", a.body)
	}

	// What is sent later has them too.
	later := time.Now().Add(time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	s.by(bot, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"Still?","deliver_at":"` + later + `","actions":[{"id":"a","label":"A"}]}`})
	harness.Eventually(t, time.Minute, "the message is sent", func() error {
		if a := s.must("bob", "GET", fmt.Sprintf("/v1/groups/g/messages?after=%v", number), ""); !strings.Contains(a.body, `"actions":[{"id":"a","label":"A"}]`) {
			return errors.New(a.body)
		}
		return nil
	})
}
