package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// operate makes a call as an operator.
func (s *server) operate(method, path, body string, header map[string]string) answer {
	s.t.Helper()
	return s.do(request{method: method, path: path, body: body, user: "op", role: "admin", header: header})
}

// announced waits until an announcement is done.
func (s *server) announced(id string) answer {
	s.t.Helper()
	var a answer
	harness.Eventually(s.t, 10*time.Second, "the announcement is done", func() error {
		if a = s.operate("GET", "/v1/announcements/"+id, "", nil); a.field("state") != "done" {
			return fmt.Errorf("%d %s", a.status, a.body)
		}
		return nil
	})
	return a
}

func TestAnnouncements(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "GET", "/v1/groups", "") // known by a request alone
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	body := `{"to":{"all":true},"body":"hear","data":{"a":1},"priority":"high"}`
	header := map[string]string{"Idempotency-Key": "k"}
	first, again := s.operate("POST", "/v1/announcements", body, header), s.operate("POST", "/v1/announcements", body, header)
	if first.status != 202 || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("first %d %s, again %d %s", first.status, first.body, again.status, again.body)
	}
	id, _ := first.field("id").(string)
	// alice, bob, and the operator, whom the request made known.
	if a := s.announced(id); a.field("total") != 3. || a.field("delivered") != 3. || a.field("failed") != 0. {
		t.Errorf("got %s", a.body)
	}
	if inbox := s.must("bob", "GET", "/v1/inbox", ""); strings.Count(inbox.body, `"kind":"announcement","from":"op","body":"hear","data":{"a":1}`) != 1 {
		t.Errorf("got %s", inbox.body)
	}
	checkProblem(t, "what is done", s.operate("DELETE", "/v1/announcements/"+id, "", nil), 409, "conflict")

	named := s.operate("POST", "/v1/announcements", `{"to":{"groups":["g","none"],"users":["carl"]},"data":[1]}`, nil)
	if strings.Contains(named.body, `"to"`) || strings.Contains(named.body, "carl") || named.field("total") != 3. {
		t.Errorf("the answer repeats whom it is for: %s", named.body)
	}
	id, _ = named.field("id").(string)
	if a := s.operate("GET", "/v1/announcements/"+id, "", nil); !strings.Contains(a.body, `"to":{"groups":["g","none"],"users":["carl"]}`) {
		t.Errorf("got %s", a.body)
	}
	if a := s.announced(id); a.field("total") != 3. || a.field("delivered") != 2. || a.field("failed") != 1. {
		t.Errorf("got %s", a.body)
	}
	if page := s.must("bob", "GET", "/v1/groups/g/messages?after=2", ""); !strings.Contains(page.body, `"from":"op","kind":"data","data":[1]`) {
		t.Errorf("got %s", page.body)
	}

	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	later := s.operate("POST", "/v1/announcements", `{"to":{"users":["bob"]},"body":"later","at":"`+at+`"}`, nil)
	id, _ = later.field("id").(string)
	if later.field("state") != "pending" || !strings.HasPrefix(fmt.Sprint(later.field("next_at")), strings.TrimSuffix(at, "Z")) {
		t.Errorf("got %s, want it at %s", later.body, at)
	}
	s.operate("POST", "/v1/announcements", `{"to":{"users":["bob"]},"body":"daily","cron":"0 9 * * *","timezone":"Europe/Berlin"}`, nil)
	for range 2 {
		if a := s.operate("DELETE", "/v1/announcements/"+id, "", nil); a.status != 204 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	var bodies []string
	cursor := ""
	for {
		list := s.operate("GET", "/v1/announcements?limit=3"+cursor, "", nil)
		items, _ := list.field("announcements").([]any)
		for _, item := range items {
			one, _ := item.(map[string]any)
			bodies = append(bodies, fmt.Sprint(one["body"], " ", one["state"]))
		}
		next, ok := list.field("next").(string)
		if !ok {
			break
		}
		cursor = "&cursor=" + next
	}
	if got, want := strings.Join(bodies, ", "), "daily pending, later cancelled, <nil> done, hear done"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAnnouncementFields tries what a schema or the domain does not allow.
func TestAnnouncementFields(t *testing.T) {
	s := start(t, nil)
	many := strings.Repeat(`"a",`, 30_000)
	for rest, values := range map[string][]string{
		`"body":"b","to":`: {
			`{}`, `{"all":false}`, `{"all":true,"users":["a"]}`, `{"users":[]}`, `{"users":["a b"]}`, `{"groups":["a~b"]}`, `{"users":["in:a"]}`, `{"users":[1]}`, `{"groups":"g"}`,
			`{"all":"yes"}`, `{"all":null}`, `{"users":null}`, `{"everyone":true}`, `{"users":["a"],"role":"admin"}`, `[]`, `null`, `"all"`, `1`,
		},
		`"to":{"users":["a"]},"body":`:                                        {`""`, `1`, `null`, `{}`, `"\u0000"`},
		`"to":{"users":["a"]},"body":"b","at":`:                               {`""`, `"soon"`, `"2030-01-01"`, `"2030-01-01T00:00:00"`, `1`, `null`},
		`"to":{"users":["a"]},"body":"b","cron":`:                             {`""`, `"x"`, `"* * * *"`, `"0 25 * * *"`, `"@every 1s"`, `"TZ=UTC 0 9 * * *"`, `"0 0 30 2 *"`, `1`, `null`},
		`"to":{"users":["a"]},"body":"b","timezone":`:                         {`"UTC"`, `1`, `null`},
		`"to":{"users":["a"]},"body":"b","priority":`:                         {`""`, `"critical"`, `"LOW"`, `1`, `null`},
		`"to":{"users":["a"]},"body":"b","from":`:                             {`"bob"`},
		`"to":{"users":["a"]},"body":"b","id":`:                               {`"a-1"`},
		`"to":{"users":["a"]},"body":"b","state":`:                            {`"done"`},
		`"to":{"users":["a"]},"body":"b","deliver_at":`:                       {`"2030-01-01T00:00:00Z"`},
		`"to":{"users":["a"]},"cron":"@daily","body":"b","timezone":`:         {`"Local"`, `"Mars/Base"`, `"../etc/passwd"`},
		`"to":{"users":["a"]},"cron":"@daily","body":"b","at":`:               {`"2030-01-01T00:00:00Z"`},
		`"to":{"users":["a"]},"priority":"low","cron":"@daily","timezone":`:   {`"UTC"`},
		`"to":{"users":["a"]},"body":"b","data":{"a":1,"a":2},"priority":`:    {`"low"`},
		`"body":"b","to":{"users":["a"],"users":["b"]},"priority":`:           {`"low"`},
		`"body":"b","at":"2020-01-01T00:00:00Z","cron":"@daily","to":`:        {`{"users":["a"]}`},
		`"body":"b","to":{"groups":["g"]},"timezone":"Europe/Berlin","data":`: {`1`},
	} {
		for _, value := range values {
			body := "{" + rest + value + "}"
			checkProblem(t, body, s.operate("POST", "/v1/announcements", body, nil), 400, "invalid_request")
		}
	}
	for _, body := range []string{
		`{"to":{"users":["a"]},"body":"b","at":"2999-01-01T00:00:00Z"}`,
		`{"to":{"users":[` + many + `"a"]},"body":"b"}`,
		`{"to":{"groups":[` + many[:4*3000] + `"a"]},"body":"b"}`,
	} {
		checkProblem(t, body[:min(100, len(body))], s.operate("POST", "/v1/announcements", body, nil), 400, "out_of_range")
	}
	large := strings.Repeat("x", 16<<10+1)
	checkProblem(t, "a large body", s.operate("POST", "/v1/announcements", `{"to":{"all":true},"body":"`+large+`"}`, nil), 413, "too_large")
	for _, key := range []string{"ä", strings.Repeat("k", 65)} {
		checkProblem(t, "key "+key, s.operate("POST", "/v1/announcements", `{"to":{"all":true},"body":"b"}`, map[string]string{"Idempotency-Key": key}), 400, "invalid_request")
	}
	checkProblem(t, "cursor", s.operate("GET", "/v1/announcements?cursor=x", "", nil), 400, "invalid_request")
	if list := s.operate("GET", "/v1/announcements", "", nil); !strings.Contains(list.body, `"announcements":[]`) {
		t.Errorf("something was announced: %s", list.body)
	}
}
