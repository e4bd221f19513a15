package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// optional are the calls whose body may be absent.
var optional = map[string]bool{
	"PUT /v1/groups/{group}/members/{user}": true, "PUT /v1/groups/{group}/bans/{user}": true, "PUT /v1/groups/{group}/requests/me": true, "POST /v1/users/{user}/revoke": true,
}

// bodies are a right body for each POST, PUT and PATCH, empty for one that takes none; group, user and id are those of
// TestBadInput.
var bodies = map[string]string{
	"POST /v1/groups":                  `{"name":"n"}`,
	"POST /v1/keys":                    `{"name":"n","scopes":["moderate"]}`,
	"PATCH /v1/keys/{key}":             `{"name":"n"}`,
	"POST /v1/keys/{key}/rotate":       "",
	"PUT /v1/users":                    `{"users":[{"user":"nobody","name":"N","picture":"https://a.example/p","data":{},"role":null,"disabled":true}]}`,
	"PATCH /v1/me":                     `{"name":"N","picture":"https://a.example/p","data":{"a":1},"status":{"text":"t"},"settings":{"a":1},"presence":"hidden"}`,
	"POST /v1/presence":                `{"users":["nobody"]}`,
	"PUT /v1/me/avatar":                "",
	"POST /v1/users/{user}/revoke":     `{"before":"2026-11-20T10:00:00Z"}`,
	"POST /v1/users/{user}/disconnect": "",
	"PUT /v1/direct/{user}":            "",
	"POST /v1/reviews/{review}":        `{"action":"drop"}`,
	"POST /v1/groups/{group}/messages/{id}/stream/cancel": "",
	"POST /v1/groups/{group}/typing":                      "",
	"PUT /v1/groups/{group}/pins/{id}":                    "",
	"PUT /v1/groups/{group}/threads/{id}":                 `{"following":true}`,
	"POST /v1/groups/{group}/threads/{id}/read":           `{"id":1}`,
	"PUT /v1/groups/{group}/draft":                        `{"body":"Shall we","data":{"a":1},"reply_to":1,"thread":1,"rev":1}`,
	"PUT /v1/blocks/{user}":                               "",
	"POST /v1/invites":                                    `{"uses":1}`,
	"POST /v1/invites/check":                              `{"code":"x"}`,
	"POST /v1/invites/accept":                             `{"code":"x"}`,
	"PATCH /v1/groups/{group}":                            `{"name":"n"}`,
	"POST /v1/batch":                                      `{"ops":[]}`,
	"PUT /v1/groups/{group}/members":                      `{"add":[{"user":"newcomer"}]}`,
	"PUT /v1/groups/{group}/members/{user}":               `{"role":"member"}`,
	"PUT /v1/groups/{group}/bans/{user}":                  `{"reason":"spam"}`,
	"PUT /v1/groups/{group}/requests/me":                  `{"note":"hi"}`,
	"PUT /v1/groups/{group}/requests/{user}":              `{"accept":true}`,
	"PATCH /v1/groups/{group}/members/{user}":             `{"data":{"a":1}}`,
	"POST /v1/groups/{group}/messages":                    `{"body":"hi"}`,
	"POST /v1/groups/{group}/ack":                         `{"id":1}`,
	"POST /v1/groups/{group}/read":                        `{"id":1}`,
	"POST /v1/groups/{group}/unread":                      `{"id":1}`,
	"POST /v1/groups/{group}/files":                       `{"name":"n","size":1}`,
	"PATCH /v1/groups/{group}/files/{file}":               "",
	"POST /v1/sync":                                       `{"wait_s":0}`,
	"POST /v1/users/{user}/messages":                      `{"body":"hi"}`,
	"PUT /v1/devices/{device}":                            `{"kind":"webhook","url":"https://example.com/hook"}`,
	"PUT /v1/groups/{group}/notify":                       `{"level":"mentions"}`,
	"PUT /v1/groups/{group}/hold":                         `{"reason":"case"}`,
	"POST /v1/inbox/ack":                                  `{"seq":0}`,
	"POST /v1/schedules":                                  `{"user":"bob","body":"hi","cron":"0 9 * * *"}`,
	"PATCH /v1/schedules/{schedule}":                      `{"paused":true}`,
	"POST /v1/schedules/{schedule}/run":                   "",
	"PUT /v1/groups/{group}/messages/{id}/quorum":         `{"need":{"percent":50},"until":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `","remind":[{"after_s":60,"via":"push"}],"escalate":["alice"]}`,
	"POST /v1/groups/{group}/messages/{id}/reports":       `{"reason":"spam"}`,
	"PATCH /v1/groups/{group}/messages/{id}/stream":       `{"offset":0,"append":"x"}`,
	"POST /v1/groups/{group}/messages/{id}/actions":       `{"id":"ok","value":{"n":1}}`,
	"POST /v1/reports/{report}":                           `{"action":"dismiss"}`,
	"PUT /v1/groups/{group}/words":                        `{"refuse":["zzz","two words"],"mask":["yyy*"]}`,
	"PUT /v1/words":                                       `{"refuse":["zzz","two words"],"mask":["yyy*"]}`,
	"POST /v1/hooks":                                      `{"url":"https://hooks.example/","timeout_ms":500}`,
	"PATCH /v1/hooks/{hook}":                              `{"timeout_ms":700,"groups":["public-*"]}`,
	"POST /v1/webhooks":                                   `{"url":"https://hooks.example/","events":["schedule.failed"]}`,
	"POST /v1/webhooks/{webhook}/rotate":                  "",
	"POST /v1/webhooks/{webhook}/test":                    "",
	"POST /v1/users/{user}/codes":                         `{"kind":"link"}`,
	"PUT /v1/me/password":                                 `{"old":"x","new":"a new password"}`,

	"POST /v1/announcements": `{"to":{"users":["nobody"]},"body":"b"}`,

	"POST /v1/doctor":                           `{"repair":false}`,
	"POST /v1/tasks/bulk":                       `{"queue":"egress","state":"dead","act":"retry"}`,
	"POST /v1/tasks/queues/{queue}/pause":       "",
	"POST /v1/tasks/queues/{queue}/resume":      "",
	"POST /v1/tasks/{task}/retry":               "",
	"POST /v1/tasks/periodic/{periodic}/pause":  "",
	"POST /v1/tasks/periodic/{periodic}/resume": "",
	"POST /v1/tasks/periodic/{periodic}/run":    "",
}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// badIDs are no ids, as they stand in a path.
var badIDs = []string{"a%7Bb%7D", "a~b", "a*", "a%3F", "%5Ba", "a%5C", "a%00", "a%0D%0A", "a%20b", ".a", "..%2Fa", "a%2Fb", "%2561", strings.Repeat("a", 129), "%C3%A4", "%EF%BD%81", "%F0%9F%91%8D", strings.Repeat("a", 257)}

// badTaskID tells which of badIDs are no ids of tasks either: those may hold more characters and be longer.
func badTaskID(escaped string) bool {
	id, err := url.PathUnescape(escaped)
	return err != nil || len(id) > 256 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' })
}

// TestBadInput sends each kind of bad input to each route of the description.
func TestBadInput(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	for _, r := range routes(t) {
		if r.open {
			continue
		}
		key := r.method + " " + r.template
		path := fill(r.template, "g", "bob")
		body, listed := bodies[key]
		if listed == (r.method == http.MethodGet || r.method == http.MethodDelete) {
			t.Errorf("%s: no row in bodies, or one too many", key)
			continue
		}
		role := ""
		if forOperators(r) {
			role = "admin"
		}
		call := func(path, body string, header map[string]string) answer {
			return s.do(request{method: r.method, path: path, body: body, user: "alice", role: role, header: header})
		}
		for _, found := range placeholder.FindAllStringSubmatch(r.template, -1) {
			if found[1] == "id" {
				continue
			}
			bads := badIDs
			if found[1] == "user" {
				bads = append(slices.Clip(bads), "in:a", "reader%3Aa", "key:a")
			}
			for _, bad := range bads {
				if found[1] == "task" && !badTaskID(bad) {
					continue
				}
				with := fill(strings.Replace(r.template, found[0], bad, 1), "g", "bob")
				checkProblem(t, key+" "+found[1]+" "+bad, call(with, body, nil), 400, "invalid_request")
			}
		}
		if strings.Contains(r.template, "{id}") {
			for _, bad := range []string{"0", "-1", "1e3", "1.0", "9223372036854775808", "x", "%31%20", "+1", "0x1"} {
				with := strings.TrimSuffix(strings.Replace(path+"/", "/1/", "/"+bad+"/", 1), "/")
				checkProblem(t, key+" id "+bad, call(with, body, nil), 400, "invalid_request")
			}
		}
		for _, query := range []string{"?nope=1", "?token=x", "?limit", "?%zz", "?a;b", "?limit=1&limit=2&cursor=a&cursor=b&nope"} {
			checkProblem(t, key+query, call(path+query, body, nil), 400, "invalid_request")
		}
		for _, name := range r.query {
			if name == "limit" || name == "before" || (name == "after" && r.template == "/v1/inbox") {
				for _, bad := range []string{"-1", "x", "1.5", "1e2", "9223372036854775808", "", "%201", "%2B1", "1_0"} {
					checkProblem(t, key+"?"+name+"="+bad, call(path+"?"+name+"="+bad, body, nil), 400, "invalid_request")
				}
			}
			checkProblem(t, key+" twice "+name, call(path+"?"+name+"=1&"+name+"=2", body, nil), 400, "invalid_request")
		}
		checkProblem(t, key+" compressed", call(path, body, map[string]string{"Content-Encoding": "gzip"}), 415, "invalid_request")
		if body == "" {
			continue
		}
		for _, bad := range []string{"x", "[]", "1", "null", `"a"`, body + body, strings.Replace(body, `"`, `"x`, 1), body[:len(body)-1] + `,"nope":1}`, strings.ToUpper(body), "{\"\xff\":1}"} {
			checkProblem(t, key+" body "+bad, call(path, bad, nil), 400, "invalid_request")
		}
		if !optional[key] {
			checkProblem(t, key+" no body", call(path, "", nil), 400, "invalid_request")
		}
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "multipart/form-data; boundary=x", "x y"} {
			checkProblem(t, key+" "+kind, call(path, body, map[string]string{"Content-Type": kind}), 415, "invalid_request")
		}
		most := 1 << 20
		if key == "POST /v1/batch" {
			most = 8 << 20
		}
		large := `{"name":"` + strings.Repeat("x", most) + `"}`
		checkProblem(t, key+" 1 MiB and more", call(path, large, nil), 413, "too_large")
	}
}

// pushKeys are those of the example of RFC 8291.
const pushKeys = `"keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}`

// TestBadFields tries values that a schema does not allow, field by field.
func TestBadFields(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	integers := []string{`-1`, `1.5`, `1e3`, `9223372036854775808`, `"1"`, `true`, `[1]`, `{}`, `null`, `-9223372036854775809`}
	texts := []string{`1`, `true`, `[]`, `{}`, `null`}
	ids := append([]string{`""`, `".a"`, `"a~b"`, `"{}"`, `"*"`, `"a b"`, `"ä"`, `"\u0000"`, `"` + strings.Repeat("a", 129) + `"`}, texts...)
	keys := append([]string{`""`, `"\n"`, `"ä"`, `"\u0000"`, `"` + strings.Repeat("a", 65) + `"`}, texts...)
	lists := []string{`1`, `"a"`, `{}`, `null`, `[1]`, `[["a"]]`, `["a~b"]`, `["key:b"]`}
	words := append([]string{`""`, `"nope"`, `"PUBLIC"`}, texts...)
	bools := []string{`1`, `"true"`, `null`, `[]`}
	times := append([]string{`""`, `"x"`, `"2026-11-20"`, `"2026-11-20T10:00:00"`, `"2026-13-01T00:00:00Z"`, `"2026-02-30T00:00:00Z"`, `"2026-11-20T25:00:00Z"`,
		`"2026-11-20 10:00:00Z"`, `"2026-11-20T10:00:00+99:00"`, `1794000000`, `"1794000000"`}, texts...)
	crons := append([]string{`""`, `"x"`, `"* * * *"`, `"* * * * * * *"`, `"60 * * * *"`, `"0 0 30 2 *"`, `", * * * *"`, `"@every 1s"`, `"TZ=UTC * * * * *"`,
		`"* * * * *\u0000"`, `"` + strings.Repeat("1,", 200) + `1 * * * *"`}, texts...)
	zones := append([]string{`""`, `"Local"`, `"Mars"`, `"../UTC"`, `"/etc/passwd"`, `"utc"`, `"UTC\n"`, `"` + strings.Repeat("A", 65) + `"`}, texts...)
	once := s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"a","deliver_at":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`).field("id").(string)
	recurs := s.must("alice", "POST", "/v1/schedules", `{"user":"bob","body":"a","cron":"0 9 * * *"}`).field("id").(string)
	cases := []struct {
		method, path, rest, field string
		values                    []string
	}{
		{"POST", "/v1/groups", "", "id", ids},
		{"POST", "/v1/groups", "", "name", texts},
		{"POST", "/v1/groups", "", "members", lists},
		{"POST", "/v1/groups", "", "visibility", words},
		{"POST", "/v1/groups", "", "post", words},
		{"POST", "/v1/groups", "", "keep", integers},
		{"POST", "/v1/groups", "", "backlog_max", append([]string{`0`}, integers...)},
		{"POST", "/v1/groups", "", "history", bools},
		{"PATCH", "/v1/groups/g", "", "name", texts},
		{"PATCH", "/v1/groups/g", "", "visibility", words},
		{"PATCH", "/v1/groups/g", "", "post", words},
		{"PATCH", "/v1/groups/g", "", "pins", words},
		{"POST", "/v1/groups", "", "pins", words},
		{"PATCH", "/v1/groups/g", "", "keep", integers},
		{"PATCH", "/v1/groups/g", "", "backlog_max", integers},
		{"PATCH", "/v1/groups/g", "", "history", bools},
		{"PATCH", "/v1/groups/g", "", "retain_days", integers},
		{"PATCH", "/v1/groups/g", "", "epoch", []string{`"a"`}},
		{"PATCH", "/v1/groups/g", "", "last", []string{`1`}},
		{"PUT", "/v1/groups/g/members/bob", "", "role", words},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "kind", append([]string{`"notice"`}, words...)},
		{"POST", "/v1/groups/g/messages", ``, "body", texts},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "client_id", keys},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "reply_to", append([]string{`0`}, integers...)},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "mentions", lists},
		{"POST", "/v1/groups/g/messages", `"kind":"delete",`, "target", append([]string{`0`}, integers...)},
		{"POST", "/v1/groups/g/messages", `"kind":"reaction","target":1,`, "emoji", texts},
		{"POST", "/v1/groups/g/messages", `"kind":"reaction","target":1,"emoji":":x:",`, "removed", bools},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "deliver_at", times},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "from", []string{`"bob"`}},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "id", []string{`7`}},
		{"POST", "/v1/groups/g/messages", `"body":"a",`, "sent_at", []string{`"2026-11-20T10:00:00Z"`}},
		{"POST", "/v1/groups/g/ack", "", "id", integers},
		{"POST", "/v1/groups/g/read", "", "id", integers},
		{"POST", "/v1/groups/g/unread", "", "id", integers},
		{"POST", "/v1/sync", "", "ack", []string{`1`, `[]`, `null`, `{"g":"1"}`, `{"g":-1}`, `{"g":1.5}`, `{"g":1e3}`, `{"g":null}`, `{"a~b":1}`, `{"":1}`, `{"g":1,"g":2}`, `{"g":9223372036854775808}`}},
		{"POST", "/v1/sync", "", "after", []string{`1`, `[]`, `null`, `{"g":-1}`, `{"g":1.5}`, `{"g":1e3}`, `{"a~b":1}`, `{"g":true}`, `{"g":"12"}`, `{"g":null}`, `{"g":[1]}`, `{"g":9223372036854775808}`}},
		{"POST", "/v1/sync", "", "inbox_ack", integers},
		{"POST", "/v1/sync", "", "inbox_after", integers},
		{"POST", "/v1/sync", "", "limit", append([]string{`0`}, integers...)},
		{"POST", "/v1/sync", "", "wait_s", integers},
		{"POST", "/v1/users/bob/messages", ``, "body", texts},
		{"POST", "/v1/users/bob/messages", `"body":"a",`, "client_id", keys},
		{"POST", "/v1/users/bob/messages", `"body":"a",`, "deliver_at", times},
		{"POST", "/v1/users/bob/messages", `"body":"a",`, "from", []string{`"mallory"`}},
		{"POST", "/v1/inbox/ack", "", "seq", integers},
		{"POST", "/v1/schedules", `"body":"a","cron":"@daily",`, "group", ids},
		{"POST", "/v1/schedules", `"body":"a","cron":"@daily",`, "user", ids},
		{"POST", "/v1/schedules", `"user":"bob","cron":"@daily",`, "body", append([]string{`""`}, texts...)},
		{"POST", "/v1/schedules", `"user":"bob","body":"a",`, "at", times},
		{"POST", "/v1/schedules", `"user":"bob","body":"a",`, "cron", crons},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "timezone", zones},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "misfire", words},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "until", times},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "count", append([]string{`0`}, integers...)},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "at", []string{`"2026-11-20T10:00:00Z"`}},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "group", []string{`"g"`}},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "state", []string{`"done"`}},
		{"POST", "/v1/schedules", `"user":"bob","body":"a","cron":"@daily",`, "owner", []string{`"bob"`}},
		{"PATCH", "/v1/schedules/" + once, "", "at", times},
		{"PATCH", "/v1/schedules/" + once, "", "cron", []string{`"@daily"`}},
		{"PATCH", "/v1/schedules/" + once, "", "body", append([]string{`""`}, texts...)},
		{"PATCH", "/v1/schedules/" + once, "", "paused", bools},
		{"PATCH", "/v1/schedules/" + once, "", "group", []string{`"g"`}},
		{"PATCH", "/v1/schedules/" + recurs, "", "cron", crons},
		{"PATCH", "/v1/schedules/" + recurs, "", "timezone", zones},
		{"PATCH", "/v1/schedules/" + recurs, "", "misfire", words},
		{"PATCH", "/v1/schedules/" + recurs, "", "until", times},
		{"PATCH", "/v1/schedules/" + recurs, "", "count", append([]string{`0`}, integers...)},
		{"PUT", "/v1/devices/d", `"url":"https://example.com/",`, "kind", words},
		{"PUT", "/v1/devices/d", `"kind":"webhook",`, "url", append([]string{`""`, `"x"`, `"http://example.com/"`, `"ftp://example.com/"`, `"https://u@example.com/"`, `"https://10.0.0.1/"`, `"https://[::1]/"`, `"https://example.com:8080/"`, `"https://0x7f000001/"`, `"https://` + strings.Repeat("a", 2048) + `"`}, texts...)},
		{"PUT", "/v1/devices/d", `"kind":"webhook","url":"https://example.com/",`, "endpoint", append([]string{`"https://example.com/"`}, texts...)},
		{"PUT", "/v1/devices/d", `"kind":"webhook","url":"https://example.com/",`, "secret", []string{`"whsec_x"`}},
		{"PUT", "/v1/devices/d", `"kind":"webpush",` + pushKeys + `,`, "endpoint", append([]string{`""`, `"https://example.com/"`, `"http://fcm.googleapis.com/x"`, `"https://fcm.googleapis.com.example.com/x"`}, texts...)},
		{"PUT", "/v1/devices/d", `"kind":"webpush","endpoint":"https://fcm.googleapis.com/x",`, "keys", append([]string{`{"p256dh":"","auth":""}`, `{"p256dh":"BCVx","auth":"BTBZMqHH6r4Tts7J_aSIgg"}`, `{"auth":"BTBZMqHH6r4Tts7J_aSIgg"}`, `{"p256dh":1,"auth":2}`, strings.Replace(pushKeys[7:], "}", `,"nope":1}`, 1), strings.Replace(pushKeys[7:], "BCVx", "BCVy", 1)}, texts...)},
		{"PUT", "/v1/devices/d", `"kind":"webpush","endpoint":"https://fcm.googleapis.com/x",` + pushKeys + `,`, "url", append([]string{`"https://example.com/"`}, texts...)},
		{"PUT", "/v1/groups/g/notify", "", "level", words},
		{"PUT", "/v1/groups/g/draft", `"body":"x",`, "rev", append([]string{`0`, `null`}, integers...)},
		{"PUT", "/v1/groups/g/draft", `"rev":1,`, "body", append([]string{`null`}, texts...)},
		{"PUT", "/v1/groups/g/draft", `"body":"x","rev":1,`, "reply_to", append([]string{`0`}, integers...)},
		{"PUT", "/v1/groups/g/draft", `"body":"x","rev":1,`, "thread", append([]string{`0`}, integers...)},
		{"PUT", "/v1/groups/g/notify", `"level":"none",`, "until", append([]string{`""`, `"x"`, `"2030-01-01"`, `"2030-01-01T00:00:00"`}, texts...)},
	}
	for _, c := range cases {
		for _, value := range c.values {
			body := "{" + c.rest + `"` + c.field + `":` + value + "}"
			a := s.do(request{method: c.method, path: c.path, body: body, user: "alice"})
			checkProblem(t, c.method+" "+c.path+" "+body, a, 400, "invalid_request")
		}
	}
	if a := s.must("alice", "GET", "/v1/groups/g/messages?after=0", ""); a.field("last") != float64(1) {
		t.Errorf("something was written: %s", a.body)
	}
}

// TestChunkedBodyIsBounded sends a body without a length and looks whether the server stops reading it.
func TestChunkedBodyIsBounded(t *testing.T) {
	s := start(t, func(c *node.Config) { c.MaxRequest = "4096" })
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "POST /v1/groups HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n", token(t, "alice", ""))
	for range 5 {
		_, _ = fmt.Fprintf(conn, "400\r\n%s\r\n", strings.Repeat(" ", 1024)) // the server may have closed by then
	}
	// The body goes on, yet the answer comes.
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(b), `"too_large"`) || !resp.Close {
		t.Errorf("got %d %q, %v, closing %v; want 413 too_large on a connection that closes", resp.StatusCode, b, err, resp.Close)
	}
}

func TestAcceptedContentTypes(t *testing.T) {
	s := start(t, nil)
	for _, kind := range []string{"", "application/json", "application/json; charset=UTF-8", "Application/JSON"} {
		a := s.do(request{method: "POST", path: "/v1/groups", body: `{}`, user: "alice", header: map[string]string{"Content-Type": kind}})
		if a.status != http.StatusCreated {
			t.Errorf("%q: %d %s", kind, a.status, a.body)
		}
	}
}

// TestErrorsNameTheEntry: an error names the entry of a map, the element of a list or the field that is wrong, and nothing beside it.
func TestErrorsNameTheEntry(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	webpush := `{"kind":"webpush","endpoint":"https://fcm.googleapis.com/x","keys":`
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/v1/sync", `{"ack":{"g":null}}`, "ack.g: want an id"},
		{"POST", "/v1/sync", `{"ack":{"g":1,"h":"1"}}`, "ack.h: want an id"},
		{"POST", "/v1/sync", `{"ack":{"a~b":1}}`, "ack.a~b: want 1 to 128"},
		{"POST", "/v1/sync", `{"after":{"a\u0000":1}}`, `after."a\x00": want 1 to 128`},
		{"POST", "/v1/sync", `{"after":{"g":[1]}}`, "after.g: want an id"},
		{"POST", "/v1/sync", `{"only":["g",null]}`, "only[1]: must not be null"},
		{"POST", "/v1/sync", `{"only":["g","a~b"]}`, "only[1]: want 1 to 128"},
		{"POST", "/v1/groups", `{"members":["bob","a~b"]}`, "members[1]: want 1 to 128"},
		{"POST", "/v1/groups/g/messages", `{"body":"a","mentions":["bob","key:b"]}`, "mentions[1]: want"},
		{"POST", "/v1/groups/g/messages", `{"body":"a","files":["abc","a~b"]}`, "files[1]: want"},
		{"POST", "/v1/groups/g/messages", `{"body":"a","files":["abc","abc"]}`, "files[1]: the file is named before"},
		{"PUT", "/v1/devices/d", webpush + `{"p256dh":1}}`, "keys.auth is required"},
		{"PUT", "/v1/devices/d", webpush + `{"auth":"BTBZMqHH6r4Tts7J_aSIgg"}}`, "keys.p256dh is required"},
		{"PUT", "/v1/devices/d", webpush + `{"p256dh":1,"auth":"x"}}`, `"keys.p256dh": want a string`},
		{"PUT", "/v1/devices/d", webpush + `{}}`, "keys.auth, keys.p256dh are required"},
		{"POST", "/v1/announcements", `{"to":{"groups":["g","a~b"]},"body":"b"}`, "to.groups[1]: want 1 to 128"},
		{"POST", "/v1/announcements", `{"to":{"users":["a","in:b"]},"body":"b"}`, "to.users[1]: want 1 to 128"},
		{"PUT", "/v1/words", `{"mask":["fine","*both*"]}`, "mask[1]: want a word"},
		{"POST", "/v1/hooks", `{"url":"https://hooks.example/","events":["nope"]}`, "events[0]: want message.before_send"},
		{"POST", "/v1/webhooks", `{"url":"https://hooks.example/","events":["group.created","nope"]}`, "events[1]: unknown event"},
	} {
		a := s.do(request{method: c.method, path: c.path, body: c.body, user: "alice", role: "admin"})
		checkProblem(t, c.body, a, 400, "invalid_request")
		if detail := fmt.Sprint(a.field("detail")); !strings.HasPrefix(detail, c.want) {
			t.Errorf("%s: got %q, want %q", c.body, detail, c.want)
		}
	}
}
