package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

// TestExpiry: what is accepted, and what is served of it.
func TestExpiry(t *testing.T) {
	s := start(t, nil)
	if a := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"expire_s":86400}`); a.field("expire_s") != 86400.0 {
		t.Errorf("got %s", a.body)
	}
	if a := s.must("alice", "POST", "/v1/groups", `{"id":"plain","members":["bob"]}`); a.field("expire_s") != 0.0 {
		t.Errorf("got %s", a.body)
	}
	for _, wrong := range []string{"59", "31536001", "-1"} {
		body := `{"body":"x","expire_s":` + wrong + `}`
		for _, r := range []request{
			{method: "POST", path: "/v1/groups", body: `{"expire_s":` + wrong + `}`},
			{method: "PATCH", path: "/v1/groups/g", body: `{"expire_s":` + wrong + `}`},
			{method: "POST", path: "/v1/groups/g/messages", body: body},
			{method: "POST", path: "/v1/users/bob/messages", body: body},
			{method: "POST", path: "/v1/schedules", body: `{"group":"g","at":"2999-01-01T00:00:00Z","body":"x","expire_s":` + wrong + `}`},
		} {
			r.user = "alice"
			checkProblem(t, r.path+" "+wrong, s.do(r), 400, "out_of_range")
		}
	}
	checkProblem(t, "a reaction", s.do(request{method: "POST", path: "/v1/groups/g/messages", user: "bob", body: `{"kind":"reaction","target":1,"emoji":"👍","expire_s":60}`}), 400, "invalid_request")

	// after is when what an answer shows goes, after it was sent.
	after := func(a answer) time.Duration {
		t.Helper()
		sent, _ := a.field("sent_at").(string)
		end, _ := a.field("expires_at").(string)
		from, _ := chat.ParseTime(sent)
		to, ok := chat.ParseTime(end)
		if !ok {
			return 0
		}
		return to.Sub(from)
	}
	send := func(group, fields string) answer {
		return s.must("bob", "POST", "/v1/groups/"+group+"/messages", `{"body":"x"`+fields+`}`)
	}
	for i, test := range []struct {
		group, fields string
		want          time.Duration
	}{
		{"g", "", 24 * time.Hour}, {"g", `,"expire_s":60`, time.Minute}, {"g", `,"expire_s":31536000`, 24 * time.Hour},
		{"plain", "", 0}, {"plain", `,"expire_s":90,"mentions":["alice"]`, 90 * time.Second},
	} {
		fields := test.fields + fmt.Sprintf(`,"client_id":"c%d"`, i)
		first := send(test.group, fields)
		again := send(test.group, fields)
		if after(first) != test.want || after(again) != test.want || again.field("expires_at") != first.field("expires_at") || again.field("duplicate") != true {
			t.Errorf("%d: want %v, got %s and %s", i, test.want, first.body, again.body)
		}
	}
	checkProblem(t, "another end with the same key", s.do(request{method: "POST", path: "/v1/groups/plain/messages", user: "bob", body: `{"body":"x","client_id":"c4","expire_s":91,"mentions":["alice"]}`}), 409, "key_reused")

	direct := s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"psst","expire_s":60}`)
	if after(direct) != time.Minute {
		t.Errorf("a direct message: %s", direct.body)
	}
	batch := s.must("bob", "POST", "/v1/batch", `{"ops":[{"op":"send","group":"plain","body":"y","expire_s":60}]}`)
	if results, _ := batch.field("results").([]any); len(results) != 1 || results[0].(map[string]any)["expires_at"] == nil {
		t.Errorf("a batch: %s", batch.body)
	}

	s.must("alice", "PATCH", "/v1/groups/g", `{"expire_s":0}`)
	if a := send("g", ""); after(a) != 0 {
		t.Errorf("without an end, got %s", a.body)
	}
}
