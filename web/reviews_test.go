package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// held sends as alice what a moderator is to see, and returns the id of the review.
func (h *hooked) held(path, body string) string {
	h.t.Helper()
	a := h.do(request{method: "POST", path: path, body: body, user: "alice"})
	id, _ := a.field("id").(string)
	if a.status != http.StatusAccepted || a.field("state") != "review" || id == "" {
		h.t.Fatalf("%s: got %d %s", body, a.status, a.body)
	}
	return id
}

// decide decides about a review as a user, and returns the status.
func (h *hooked) decide(user, id, action string) int {
	h.t.Helper()
	r := request{method: "POST", path: "/v1/reviews/" + id, body: `{"action":"` + action + `","reason":"so it is"}`, user: user}
	if user == "root" {
		r.role = "admin"
	}
	return h.do(r).status
}

// became waits for what alice's inbox says of a review.
func (h *hooked) became(id string) (item map[string]any) {
	h.t.Helper()
	harness.Eventually(h.t, 10*time.Second, "the sender hears of it", func() error {
		var page struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(h.must("alice", "GET", "/v1/inbox?after=0", "").body), &page); err != nil {
			return err
		}
		for _, item = range page.Items {
			if data, ok := item["data"].(map[string]any); ok && item["kind"] == "review" && data["review"] == id {
				return nil
			}
		}
		return fmt.Errorf("the inbox has %v", page.Items)
	})
	return item
}

// waiting are the ids of what waits in a group.
func (h *hooked) waiting(query string) (ids []string) {
	h.t.Helper()
	var page struct{ Reviews []struct{ ID string } }
	a := h.root("GET", "/v1/reviews"+query, "")
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != http.StatusOK {
		h.t.Fatalf("got %d %s, %v", a.status, a.body, err)
	}
	for _, r := range page.Reviews {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestReview: what a hook wants reviewed is in no log before a moderator releases it, whichever way it came, and a retry is answered as
// the first time, whatever became of it.
func TestReview(t *testing.T) {
	h := startHooked(t)
	h.hook("")
	first := h.must("alice", "POST", "/v1/groups/g/messages", `{"body":"before"}`)
	h.sayText(`{"action":"review","reason":"looks odd"}`)
	const messages = "/v1/groups/g/messages"
	text := h.held(messages, `{"body":"odd","client_id":"k"}`)
	edit := h.held(messages, fmt.Sprintf(`{"kind":"edit","target":%v,"body":"after"}`, first.field("id")))
	direct := h.held("/v1/users/bob/messages", `{"body":"psst","client_id":"d"}`)
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	planned := h.held(messages, `{"body":"later","client_id":"s","deliver_at":"`+later+`"}`)
	dropped := h.held(messages, `{"body":"bad","client_id":"x"}`)
	if got := h.held(messages, `{"body":"odd","client_id":"k"}`); got != text {
		t.Errorf("a retry: got %s, want %s", got, text)
	}
	checkProblem(t, "another text", h.send(`{"body":"other","client_id":"k"}`), 409, "key_reused")
	if got := h.waiting("?group=g"); !slices.Equal(got, []string{text, edit, planned, dropped}) {
		t.Errorf("waiting in the group: got %v", got)
	}
	if got := h.waiting(""); !slices.Equal(got, []string{text, edit, direct, planned, dropped}) {
		t.Errorf("waiting: got %v", got)
	}
	one := h.root("GET", "/v1/reviews?group=g&limit=1", "")
	for _, want := range []string{`"from":"alice"`, `"reason":"looks odd"`, `"body":"odd"`, `"group":"g"`, `"next":"` + text} {
		if !strings.Contains(one.body, want) {
			t.Errorf("%s lacks %s", one.body, want)
		}
	}
	if got := h.waiting("?group=g&limit=1&cursor=" + planned); !slices.Equal(got, []string{dropped}) {
		t.Errorf("a page: got %v", got)
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"before"}) {
		t.Errorf("before anything is released: got %q", got)
	}

	h.sayText(`{"action":"refuse"}`) // nobody is asked about what is released
	for _, id := range []string{text, edit, direct, planned} {
		if got := h.decide("root", id, "release"); got != 200 {
			t.Errorf("%s: got %d", id, got)
		}
		if got := h.decide("root", id, "release"); got != 404 {
			t.Errorf("%s again: got %d", id, got)
		}
		if item := h.became(id); item["data"].(map[string]any)["state"] != "released" || item["data"].(map[string]any)["reason"] != "so it is" {
			t.Errorf("%s: got %v", id, item)
		}
	}
	if h.decide("root", dropped, "drop") != 200 || h.decide("root", dropped, "release") != 404 {
		t.Error("it was not dropped once")
	}
	if item := h.became(dropped); item["data"].(map[string]any)["state"] != "dropped" || item["client_id"] != "x" || item["group"] != "g" {
		t.Errorf("got %v", item)
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"after", "odd"}) {
		t.Errorf("got %q", got)
	}
	if a := h.must("bob", "GET", "/v1/inbox", ""); !strings.Contains(a.body, `"psst"`) {
		t.Errorf("got %s", a.body)
	}
	if a := h.must("alice", "GET", "/v1/schedules", ""); strings.Count(a.body, `"body":"later"`) != 1 {
		t.Errorf("got %s", a.body)
	}
	for id, c := range map[string][2]string{
		text: {messages, `{"body":"odd","client_id":"k"}`}, dropped: {messages, `{"body":"bad","client_id":"x"}`},
		direct: {"/v1/users/bob/messages", `{"body":"psst","client_id":"d"}`}, planned: {messages, `{"body":"later","client_id":"s","deliver_at":"` + later + `"}`},
	} {
		if got := h.held(c[0], c[1]); got != id {
			t.Errorf("%s: got %s, want %s", c[1], got, id)
		}
	}
	if got := h.waiting(""); len(got) != 0 {
		t.Errorf("still waiting: %v", got)
	}
	if got, _ := h.audited("root", "admin", "user=alice"); !slices.Equal(got, []string{"review.drop", "review.release", "review.release", "review.release", "review.release"}) {
		t.Errorf("the audit has %v", got)
	}
	if got, _ := h.audited("root", "admin", "group=g"); len(got) != 4 { // the direct message is of no group
		t.Errorf("the audit of the group has %v", got)
	}
}

// TestReleaseAsksForRights: a message is released with the rights that its sender has then, but for slow mode, and else goes on waiting.
func TestReleaseAsksForRights(t *testing.T) {
	h := startHooked(t)
	h.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"admin"}`)
	h.must("alice", "PUT", "/v1/groups/g/members/carl", "")
	h.hook(`,"on_error":"review"`)
	h.say(func(w http.ResponseWriter, _ asking) { w.WriteHeader(http.StatusTeapot) })
	as := func(body string) string {
		t.Helper()
		a := h.do(request{method: "POST", path: "/v1/groups/g/messages", body: body, user: "carl"})
		id, _ := a.field("id").(string)
		if a.status != http.StatusAccepted {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		return id
	}
	one, two := as(`{"body":"one"}`), as(`{"body":"two"}`)
	if got := h.decide("carl", one, "release"); got != 403 {
		t.Errorf("a member: got %d", got)
	}
	if got := h.decide("eve", one, "release"); got != 404 {
		t.Errorf("somebody else: got %d", got)
	}
	const never = "9999-12-31T00:00:00.000Z"
	for _, rule := range []struct{ method, path, on, off string }{
		{"PATCH", "/v1/groups/g/members/carl", `{"muted_until":"` + never + `"}`, `{"muted_until":null}`},
		{"PATCH", "/v1/groups/g", `{"post":"none"}`, `{"post":"members"}`},
	} {
		h.must("alice", rule.method, rule.path, rule.on)
		if got := h.decide("bob", one, "release"); got != 409 {
			t.Errorf("%s: got %d", rule.on, got)
		}
		h.must("alice", rule.method, rule.path, rule.off)
	}
	h.must("alice", "PATCH", "/v1/groups/g", `{"slow_s":3600}`)
	for _, id := range []string{one, two} {
		if got := h.decide("bob", id, "release"); got != 200 {
			t.Errorf("in slow mode: got %d", got)
		}
	}
	h.must("alice", "PATCH", "/v1/groups/g", `{"slow_s":0}`)
	three := as(`{"body":"three"}`)
	h.must("alice", "PUT", "/v1/groups/g/bans/carl", "")
	if got := h.decide("bob", three, "release"); got != 409 {
		t.Errorf("banned: got %d", got)
	}
	if got := h.bodies("g"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("got %q", got)
	}
}

// TestReleasedOnce: of many moderators who release or drop a message at once, one decides.
func TestReleasedOnce(t *testing.T) {
	h := startHooked(t)
	h.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"admin"}`)
	if a := h.root("PUT", "/v1/words", `{"review":["odd*"]}`); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	for round := range 20 {
		id := h.held("/v1/groups/g/messages", fmt.Sprintf(`{"body":"oddity %d"}`, round))
		var wg sync.WaitGroup
		got := make([]int, 8)
		for i := range got {
			wg.Go(func() {
				got[i] = h.decide([]string{"alice", "bob"}[i%2], id, []string{"release", "release", "drop", "release"}[i%4])
			})
		}
		wg.Wait()
		slices.Sort(got)
		if !slices.Equal(got, []int{200, 404, 404, 404, 404, 404, 404, 404}) {
			t.Fatalf("got %v", got)
		}
		state := h.became(id)["data"].(map[string]any)["state"]
		if there := slices.Contains(h.bodies("g"), fmt.Sprint("oddity ", round)); there != (state == "released") {
			t.Fatalf("it is %v, and in the log is %v", state, there)
		}
	}
}
