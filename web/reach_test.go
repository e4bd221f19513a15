package web_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/harness"
)

// What a key that is bound to groups must never get to see: the id of a group beyond them, and what is in it or in an inbox.
const beyond, secretWord = "b-beyond", "hush"

// bounded is a server where a key is bound to the groups in:*, and acts for a member of some of them and of others.
type bounded struct {
	*server
	id, key                     string
	unbound                     string // the id of another key
	schedule, direct, announced string // of others than its groups
}

// newBounded makes groups in and beyond the bounds in turns, so that a list by activity has both everywhere.
func newBounded(t *testing.T) *bounded {
	s := &bounded{server: start(t, withArchive(t))}
	s.id, s.key = s.server.key(`{"name":"bound","scopes":["groups","users","moderate","announce","events","tasks","ops","keys","send","read"],"as":"any","groups":["in:*"]}`)
	s.unbound, _ = s.server.key(`{"name":"unbound","scopes":["read"]}`)
	for n := range 3 {
		for _, id := range []string{fmt.Sprintf("in:%d", n), fmt.Sprintf("%s%d", beyond, n)} {
			s.must("owner", "POST", "/v1/groups", fmt.Sprintf(`{"id":%q,"name":%q,"visibility":"public","members":["member"]}`, id, fmt.Sprint(n)))
			word := "word"
			if strings.HasPrefix(id, beyond) {
				word = secretWord + " word"
			}
			s.must("owner", "POST", "/v1/groups/"+id+"/messages", fmt.Sprintf(`{"body":"%s","mentions":["member"]}`, word))
		}
	}
	s.must("owner", "POST", "/v1/users/member/messages", `{"body":"`+secretWord+`"}`)
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := func(a answer) string { id, _ := a.field("id").(string); return id }
	s.schedule = made(s.must("member", "POST", "/v1/schedules", `{"group":"`+beyond+`0","body":"`+secretWord+`","at":"`+at+`"}`))
	s.direct = made(s.must("member", "POST", "/v1/schedules", `{"user":"owner","body":"`+secretWord+`","at":"`+at+`"}`))
	s.must("member", "POST", "/v1/schedules", `{"group":"in:0","body":"later","at":"`+at+`"}`)
	a := s.do(request{method: "POST", path: "/v1/announcements", user: "operator", role: "admin", body: `{"to":{"groups":["in:0","` + beyond + `0"]},"body":"` + secretWord + `","at":"` + at + `"}`})
	if s.announced = made(a); a.status != 202 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	return s
}

// want makes a call by the bound key, and checks its status and that the answer has nothing from beyond. parts are what is in it, or
// with a minus in front, what is not.
func (s *bounded) want(as, method, path, body string, status int, parts ...string) {
	s.t.Helper()
	a := s.by(s.key, as, request{method: method, path: path, body: body})
	if a.status != status || strings.Contains(a.body, secretWord) {
		s.t.Errorf("%s %s %s as %q: got %d %s, want %d and nothing from beyond", method, path, body, as, a.status, a.body, status)
	}
	if status == http.StatusForbidden && (a.code() != "forbidden" || !strings.Contains(a.body, "scope ")) {
		s.t.Errorf("%s %s: got %s, want a scope named", method, path, a.body)
	}
	for _, part := range append(parts, "-"+beyond+"2") {
		if absent, not := strings.CutPrefix(part, "-"); strings.Contains(a.body, absent) == not {
			s.t.Errorf("%s %s %s: got %s; want %q in it: %v", method, path, body, a.body, absent, !not)
		}
	}
}

// reaches says how the bound key fares with the routes that name no group in their path: refused as a whole, or as the function
// checks.
var reaches = map[string]func(s *bounded){
	"GET /v1/groups": func(s *bounded) {
		s.want("member", "GET", "/v1/groups?limit=2", "", 200, `"total":3`, `"id":"in:2"`, `"id":"in:1"`, `-"next":null`)
		a := s.by(s.key, "member", request{method: "GET", path: "/v1/groups?limit=2"})
		s.want("member", "GET", fmt.Sprintf("/v1/groups?limit=2&cursor=%v", a.field("next")), "", 200, `"id":"in:0"`, `"next":null`, "-"+beyond)
	},
	"GET /v1/groups/public": func(s *bounded) {
		for _, as := range []string{"", "member"} {
			s.want(as, "GET", "/v1/groups/public?limit=2", "", 200, `"id":"in:0"`, `"id":"in:1"`, `-"next":null`, "-"+beyond)
			a := s.by(s.key, as, request{method: "GET", path: "/v1/groups/public?limit=2"})
			s.want(as, "GET", fmt.Sprintf("/v1/groups/public?limit=2&cursor=%v", a.field("next")), "", 200, `"id":"in:2"`, `"next":null`, "-"+beyond)
		}
	},
	"POST /v1/batch": func(s *bounded) {
		s.want("", "POST", "/v1/batch", `{"ops":[{"op":"send","as":"member","group":"in:0","body":"x"},{"op":"update_group","group":"in:0","name":"N"}]}`, 200, `{"status":201`, `{"status":200`, `-"status":403`)
		for _, op := range []string{
			`{"op":"send","as":"member","group":"` + beyond + `0","body":"x"}`, `{"op":"update_group","group":"` + beyond + `0","name":"N"}`,
			`{"op":"add_member","group":"` + beyond + `0","user":"other"}`, `{"op":"remove_member","as":"owner","group":"` + beyond + `0","user":"member"}`,
			`{"op":"set_role","group":"` + beyond + `0","user":"member","role":"admin"}`, `{"op":"create_group","id":"` + beyond + `"}`, `{"op":"create_group"}`,
			`{"op":"direct","as":"member","user":"owner","body":"x"}`, `{"op":"put_user","user":"owner","name":"N"}`,
		} {
			s.want("", "POST", "/v1/batch", `{"ops":[`+op+`]}`, 200, `"status":403`, "scope ", `-{"status":2`)
		}
	},
	"POST /v1/groups": func(s *bounded) {
		s.must("member", "POST", "/v1/groups", `{"id":"mine"}`)
		for _, as := range []string{"", "member"} {
			s.want(as, "POST", "/v1/groups", `{"id":"`+beyond+`"}`, 403)
			s.want(as, "POST", "/v1/groups", `{}`, 403)
			s.want(as, "POST", "/v1/groups", `{"id":"in:new`+as+`"}`, 201)
		}
		once := map[string]string{"Idempotency-Key": "once"}
		s.do(request{method: "POST", path: "/v1/groups", user: "member", body: `{"id":"kept"}`, header: once})
		checkProblem(s.t, "a repeat", s.by(s.key, "member", request{method: "POST", path: "/v1/groups", body: `{"id":"kept"}`, header: once}), 403, "forbidden")
	},
	"GET /v1/drafts": func(s *bounded) {
		for _, group := range []string{"in:0", beyond + "0"} {
			s.must("member", "PUT", "/v1/groups/"+group+"/draft", `{"body":"begun","rev":1}`)
		}
		s.want("member", "GET", "/v1/drafts", "", 200, `"drafts":[{"group":"in:0","body":"begun","rev":1}]`, "-"+beyond)
		s.want("member", "GET", "/v1/drafts?limit=1", "", 200, `"next":null`, "-"+beyond)
	},
	"GET /v1/unread": func(s *bounded) {
		s.want("member", "GET", "/v1/unread", "", 200, `"total":3`, `"mentions":3`, `"in:0":1`, "-"+beyond)
	},
	"POST /v1/sync": func(s *bounded) {
		s.want("member", "POST", "/v1/sync", `{}`, 200, `"in:0"`, `"in:1"`, `"in:2"`, "-"+beyond, `-"inbox":{`)
		s.want("member", "POST", "/v1/sync", `{"after":{"`+beyond+`0":0,"in:0":0}}`, 200, `"left":["`+beyond+`0"]`, `"in:1"`)
		s.want("member", "POST", "/v1/sync", `{"ack":{"`+beyond+`0":3,"in:0":0}}`, 200, `"left":["`+beyond+`0"]`, `"in:1"`)
		s.want("member", "POST", "/v1/sync", `{"only":["`+beyond+`0","in:0"],"inbox_after":0}`, 200, `"errors":[{"group":"`+beyond+`0","code":"not_found"}]`, `-"in:1"`, `-"inbox":{`)
		s.want("member", "POST", "/v1/sync", `{"only":["`+beyond+`0"]}`, 200, `"code":"not_found"`, `-"in:0"`)
		s.want("member", "POST", "/v1/sync", `{"inbox_ack":1}`, 200, `"inbox":true,"code":"forbidden"`)
		if a := s.must("member", "GET", "/v1/groups/"+beyond+"0", ""); a.status != 200 {
			s.t.Errorf("got %s", a.body)
		}
		if a := s.must("member", "POST", "/v1/sync", `{"only":["`+beyond+`0"]}`); !strings.Contains(a.body, secretWord) || !strings.Contains(a.body, `"acked":0`) {
			s.t.Errorf("got %s, want nothing acked", a.body)
		}
	},
	"GET /v1/search": func(s *bounded) {
		s.want("member", "GET", "/v1/search?q=word", "", 200, `"in:0"`, `"in:1"`, `"in:2"`, "-"+beyond)
		s.want("member", "GET", "/v1/search?q=word&group="+beyond+"0", "", 403)
		s.want("member", "GET", "/v1/search?q=word&group=in%3A0", "", 200, `"in:0"`)
	},
	"GET /v1/me": func(s *bounded) { s.want("member", "GET", "/v1/me", "", 200, `"user":"member"`) },
	"POST /v1/schedules": func(s *bounded) {
		s.want("member", "POST", "/v1/schedules", `{"group":"`+beyond+`0","body":"x","cron":"@daily"}`, 403)
		s.want("member", "POST", "/v1/schedules", `{"user":"owner","body":"x","cron":"@daily"}`, 403)
		s.want("member", "POST", "/v1/schedules", `{"group":"in:0","body":"x","cron":"@daily"}`, 201)
	},
	"GET /v1/schedules": func(s *bounded) {
		s.want("member", "GET", "/v1/schedules?limit=1", "", 200, `"group":"in:0"`, "-"+beyond, `-"user":"owner"`)
	},
	"GET /v1/schedules/{schedule}":    func(s *bounded) { s.schedules("GET", "", "") },
	"PATCH /v1/schedules/{schedule}":  func(s *bounded) { s.schedules("PATCH", "", `{"paused":true}`) },
	"DELETE /v1/schedules/{schedule}": func(s *bounded) { s.schedules("DELETE", "", "") },
	"POST /v1/schedules/{schedule}/run": func(s *bounded) {
		s.schedules("POST", "/run", "")
	},
	"POST /v1/announcements": func(s *bounded) {
		for _, to := range []string{`{"all":true}`, `{"users":["member"]}`, `{"groups":["in:0","` + beyond + `0"]}`, `{"groups":["in:0"],"users":["member"]}`} {
			s.want("", "POST", "/v1/announcements", `{"to":`+to+`,"body":"x"}`, 403)
		}
		s.want("", "POST", "/v1/announcements", `{"to":{"groups":["in:0"]},"body":"x"}`, 202)
	},
	"GET /v1/announcements": func(s *bounded) {
		s.want("", "GET", "/v1/announcements?limit=1", "", 200, "-"+beyond)
	},
	"GET /v1/announcements/{announcement}":    func(s *bounded) { s.want("", "GET", "/v1/announcements/"+s.announced, "", 404) },
	"DELETE /v1/announcements/{announcement}": func(s *bounded) { s.want("", "DELETE", "/v1/announcements/"+s.announced, "", 404) },
	"POST /v1/invites": func(s *bounded) {
		s.want("", "POST", "/v1/invites", `{"group":"in:0"}`, 201, `"code":"`)
		s.want("", "POST", "/v1/invites", `{"group":"`+beyond+`0"}`, 403)
		s.want("", "POST", "/v1/invites", `{}`, 403)
	},
	"GET /v1/invites": func(s *bounded) {
		s.want("", "GET", "/v1/invites?group=in%3A0", "", 200, "-"+beyond)
		s.want("", "GET", "/v1/invites?group="+beyond+"0", "", 403)
		s.want("", "GET", "/v1/invites", "", 403)
	},
	"DELETE /v1/invites/{invite}": func(s *bounded) {
		id := s.must("owner", "POST", "/v1/invites", `{"group":"`+beyond+`0"}`).field("id").(string)
		s.want("", "DELETE", "/v1/invites/"+id, "", 404)
	},
	"POST /v1/invites/accept": func(s *bounded) {
		code := s.must("owner", "POST", "/v1/invites", `{"group":"`+beyond+`0"}`).field("code").(string)
		s.want("member", "POST", "/v1/invites/accept", `{"code":"`+code+`"}`, 403)
	},
	"GET /v1/reviews": func(s *bounded) {
		s.reviewed()
		s.want("", "GET", "/v1/reviews?group=in:0", "", 200, `"body":"odd"`)
		s.want("", "GET", "/v1/reviews?group="+beyond+"0", "", 403)
		s.want("", "GET", "/v1/reviews", "", 403)
	},
	"POST /v1/reviews/{review}": func(s *bounded) {
		for path, id := range s.reviewed() {
			status := 404
			if path == "/v1/groups/in:0/messages" {
				status = 200
			}
			s.want("", "POST", "/v1/reviews/"+id, `{"action":"drop"}`, status)
		}
	},
	"POST /v1/keys": func(s *bounded) {
		for _, groups := range []string{``, `,"groups":["in*"]`, `,"groups":["in:*","` + beyond + `"]`} {
			a := s.by(s.key, "", request{method: "POST", path: "/v1/keys", body: `{"name":"n","scopes":["read"],"as":["m"]` + groups + `}`})
			checkProblem(s.t, groups, a, 403, "forbidden")
		}
		s.want("", "POST", "/v1/keys", `{"name":"n","scopes":["read"],"as":["m"],"groups":["in:1*"]}`, 201)
	},
	"GET /v1/keys":               func(s *bounded) { s.want("", "GET", "/v1/keys", "", 200, `"name":"bound"`, `-"name":"unbound"`) },
	"GET /v1/keys/{key}":         func(s *bounded) { s.keys("GET", "", "") },
	"PATCH /v1/keys/{key}":       func(s *bounded) { s.keys("PATCH", "", `{"name":"n"}`) },
	"DELETE /v1/keys/{key}":      func(s *bounded) { s.keys("DELETE", "", "") },
	"POST /v1/keys/{key}/rotate": func(s *bounded) { s.keys("POST", "/rotate", "") },

	"GET /v1/audit": func(s *bounded) {
		for _, group := range []string{"in:2", beyond + "0"} { // the group that was active last stays so
			s.must("owner", "PUT", "/v1/groups/"+group+"/bans/nobody", `{}`)
		}
		s.want("", "GET", "/v1/audit", "", 200, `"group":"in:2"`, "-"+beyond)
		s.want("", "GET", "/v1/audit?group=in%3A2", "", 200, `"group":"in:2"`)
		s.want("", "GET", "/v1/audit?group="+beyond+"0", "", 403)
	},
	"GET /v1/reports": func(s *bounded) {
		for _, group := range []string{"in:0", beyond + "0"} {
			s.must("member", "POST", "/v1/groups/"+group+"/messages/3/reports", `{"reason":"spam"}`)
		}
		s.want("", "GET", "/v1/reports", "", 200, `"group":"in:0"`, "-"+beyond)
	},
	"POST /v1/reports/{report}": func(s *bounded) {
		for group, status := range map[string]int{"in:0": 204, beyond + "0": 403} {
			id, _ := s.must("member", "POST", "/v1/groups/"+group+"/messages/3/reports", `{"reason":"spam"}`).field("id").(string)
			s.want("", "POST", "/v1/reports/"+id, `{"action":"dismiss"}`, status)
		}
	},

	// What is about a user, or about the whole server.
	"POST /v1/users/{user}/messages": nil, "PUT /v1/direct/{user}": nil, "GET /v1/inbox": nil, "GET /v1/blocks": nil, "PUT /v1/blocks/{user}": nil, "GET /v1/blocks/{user}": nil, "DELETE /v1/blocks/{user}": nil, "POST /v1/inbox/ack": nil,
	"GET /v1/devices": nil, "PUT /v1/devices/{device}": nil, "GET /v1/devices/{device}": nil, "DELETE /v1/devices/{device}": nil, "GET /v1/push/key": nil,
	"PATCH /v1/me": nil, "PUT /v1/me/avatar": nil, "DELETE /v1/me/avatar": nil, "GET /v1/users": nil, "GET /v1/users/{user}": nil, "POST /v1/presence": nil,
	"DELETE /v1/me": nil, "GET /v1/me/export": nil, "DELETE /v1/users/{user}": nil, "GET /v1/erasures/{erasure}": nil,
	"GET /v1/accounts": nil, "PUT /v1/me/password": nil, "GET /v1/me/logins": nil, "DELETE /v1/me/logins": nil, "DELETE /v1/me/logins/{login}": nil, "POST /v1/users/{user}/codes": nil, "GET /v1/users/{user}/logins": nil, "DELETE /v1/users/{user}/logins/{login}": nil,
	"PUT /v1/users": nil, "POST /v1/users/{user}/revoke": nil, "POST /v1/users/{user}/disconnect": nil, "GET /v1/users/{user}/sessions": nil,
	"GET /v1/words": nil, "PUT /v1/words": nil, "POST /v1/hooks": nil, "GET /v1/hooks": nil, "GET /v1/hooks/{hook}": nil, "PATCH /v1/hooks/{hook}": nil, "DELETE /v1/hooks/{hook}": nil,
	"POST /v1/webhooks": nil, "GET /v1/webhooks": nil, "GET /v1/webhooks/{webhook}": nil, "DELETE /v1/webhooks/{webhook}": nil, "POST /v1/webhooks/{webhook}/rotate": nil, "POST /v1/webhooks/{webhook}/test": nil,
	"GET /v1/doctor": nil, "POST /v1/doctor": nil, "GET /v1/doctor/run": nil, "DELETE /v1/doctor/run": nil, "GET /v1/problems": nil, "GET /v1/stats": nil, "GET /v1/blockers": nil, "GET /v1/settings": nil, "GET /v1/tasks": nil, "POST /v1/tasks/bulk": nil, "GET /v1/tasks/queues": nil, "POST /v1/tasks/queues/{queue}/pause": nil,
	"POST /v1/tasks/queues/{queue}/resume": nil, "GET /v1/tasks/days": nil, "GET /v1/tasks/limits": nil, "GET /v1/tasks/periodic": nil,
	"DELETE /v1/tasks/periodic/{periodic}": nil, "POST /v1/tasks/periodic/{periodic}/pause": nil, "POST /v1/tasks/periodic/{periodic}/resume": nil,
	"POST /v1/tasks/periodic/{periodic}/run": nil, "GET /v1/tasks/{task}": nil, "DELETE /v1/tasks/{task}": nil, "POST /v1/tasks/{task}/retry": nil, "GET /v1/tasks/{task}/payload": nil,
}

// reviewed has a message of the member wait for a moderator in a group of the key, in one beyond, and for an inbox, by what it is sent to.
func (s *bounded) reviewed() map[string]string {
	s.t.Helper()
	if a := s.do(request{method: "PUT", path: "/v1/words", user: "operator", role: "admin", body: `{"review":["odd"]}`}); a.status != http.StatusOK {
		s.t.Fatalf("got %d %s", a.status, a.body)
	}
	ids := map[string]string{}
	for path, body := range map[string]string{"/v1/groups/in:0/messages": "odd", "/v1/groups/" + beyond + "0/messages": "odd " + secretWord, "/v1/users/owner/messages": "odd " + secretWord} {
		a := s.do(request{method: "POST", path: path, user: "member", body: `{"body":"` + body + `"}`})
		if ids[path], _ = a.field("id").(string); a.status != http.StatusAccepted {
			s.t.Fatalf("%s: got %d %s", path, a.status, a.body)
		}
	}
	return ids
}

func (s *bounded) schedules(method, more, body string) {
	for _, id := range []string{s.schedule, s.direct} {
		s.want("member", method, "/v1/schedules/"+id+more, body, 404)
	}
}

// keys asks for a key that may do more than the bound one; the answer names no scope, as the one that is used is there.
func (s *bounded) keys(method, more, body string) {
	s.t.Helper()
	checkProblem(s.t, method, s.by(s.key, "", request{method: method, path: "/v1/keys/" + s.unbound + more, body: body}), 403, "forbidden")
}

// rank puts first what changes nothing.
func rank(r described) int {
	if r.method == http.MethodGet {
		return 0
	}
	return 1
}

// TestKeysReachTheirGroups calls every route of the description with a key that is bound to groups.
func TestKeysReachTheirGroups(t *testing.T) {
	s := newBounded(t)
	all := routes(t)
	slices.SortStableFunc(all, func(a, b described) int { return cmp.Compare(rank(a), rank(b)) })
	for _, r := range all {
		if r.open {
			continue
		}
		route := r.method + " " + r.template
		personal := r.scope == "send" || r.scope == "read"
		if strings.Contains(r.template, "{group}") {
			path := strings.Replace(r.template, "{group}", "{inside}", 1)
			fields := strings.Fields(matrix[route].private)
			inside := strings.Replace(fill(path, "", "other"), "{inside}", "in%3A0", 1)
			if a := s.by(s.key, "member", request{method: r.method, path: inside, body: bodies[route]}); a.status == 403 && strings.Contains(a.body, "groups:") || a.status == 401 {
				t.Errorf("%s in its group: got %d %s, want what others get: %s", route, a.status, a.body, fields)
			}
			outside := fill(r.template, beyond+"0", "other")
			s.want("member", r.method, outside, bodies[route], 403)
			if !personal {
				s.want("", r.method, outside, bodies[route], 403)
			}
			continue
		}
		check, listed := reaches[route]
		switch as := map[bool]string{true: "member"}[personal]; {
		case !listed:
			t.Errorf("%s: what does a key that is bound to groups get? Say it in reaches", route)
		case check == nil:
			s.want(as, r.method, fill(r.template, "", "other"), bodies[route], 403)
		default:
			check(s)
		}
	}
	s.want("member", "POST", "/v1/groups/in:0/files", `{"from":{"group":"`+beyond+`0","id":"f"}}`, 403)
}

// commands says what the bound key gets for the commands of the websocket, in its groups and beyond.
var commands = map[string]struct{ inside, beyond string }{
	"send":      {`{"op":"send","group":"in:0","body":"x"}`, `{"op":"send","group":"b-beyond0","body":"x"}`},
	"ack":       {`{"op":"ack","group":"in:0","id":1}`, `{"op":"ack","group":"b-beyond0","id":1}`},
	"read":      {`{"op":"read","group":"in:0","id":1}`, `{"op":"read","group":"b-beyond0","id":1}`},
	"typing":    {`{"op":"typing","group":"in:0"}`, `{"op":"typing","group":"b-beyond0"}`},
	"focus":     {`{"op":"focus","group":"in:0"}`, `{"op":"focus","group":"b-beyond0"}`},
	"stream":    {``, `{"op":"stream","group":"b-beyond0","id":4,"offset":0,"append":"x"}`},
	"inbox_ack": {``, `{"op":"inbox_ack","seq":1}`},
	"auth":      {`{"op":"auth","token":KEY}`, `{"op":"auth","token":TOKEN}`},
	"hello":     {``, ``}, // begins the session
}

// ops are those that clients may send, by the description.
func ops(t *testing.T) (all []string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range doc.Components.Schemas["ClientFrame"].Value.OneOf {
		schema := one.Value
		for _, part := range append(schema.AllOf, one) {
			if op := part.Value.Properties["op"]; op != nil {
				for _, name := range op.Value.Enum {
					all = append(all, fmt.Sprint(name))
				}
			}
		}
	}
	if len(all) < 6 {
		t.Fatalf("got only %v", all)
	}
	return all
}

// frames reads what a socket gets until a frame has all of some parts. Nothing from beyond is in them.
func (s *bounded) frames(conn *websocket.Conn, parts ...string) string {
	s.t.Helper()
	for {
		_, frame, err := conn.ReadMessage()
		if err != nil {
			s.t.Fatalf("waiting for %q: %v", parts, err)
		}
		text := string(frame)
		if strings.Contains(text, secretWord) || strings.Contains(text, `"op":"inbox"`) || strings.Contains(text, beyond) && !strings.Contains(text, `"op":"left"`) {
			s.t.Errorf("got %s from beyond", text)
		}
		found := true
		for _, part := range parts {
			found = found && strings.Contains(text, part)
		}
		if found {
			return text
		}
	}
}

// TestSocketsReachTheirGroups: a socket by a key that is bound to groups has nothing to do with others.
func TestSocketsReachTheirGroups(t *testing.T) {
	s := newBounded(t)
	conn := s.dial()
	welcome := hello(t, conn, fmt.Sprintf(`{"op":"hello","token":%q,"as":"member","after":{"%s0":0}}`, s.key, beyond))
	if !strings.Contains(welcome, `"in:2"`) || strings.Contains(welcome, beyond) {
		t.Fatalf("got %s, want its groups", welcome)
	}
	s.frames(conn, `"op":"left"`, beyond+"0")
	for _, op := range ops(t) {
		c, listed := commands[op]
		if !listed {
			t.Errorf("%s: what does a key that is bound to groups get? Say it in commands", op)
		}
		for ref, frame := range map[string]string{"in": c.inside, "out": c.beyond} {
			if frame == "" {
				continue
			}
			quoted, _ := json.Marshal(token(t, "member", ""))
			frame = strings.NewReplacer("KEY", `"`+s.key+`"`, "TOKEN", string(quoted)).Replace(frame)
			frame = fmt.Sprintf(`{"ref":%q,%s`, op+ref, strings.TrimPrefix(frame, "{"))
			if err := conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
				t.Fatal(err)
			}
			got := s.frames(conn, `"ref":"`+op+ref+`"`)
			if want := map[string]string{"in": `"op":"ok"`, "out": `"code":"forbidden"`}[ref]; !strings.Contains(got, want) || ref == "out" && op != "auth" && !strings.Contains(got, "scope ") {
				t.Errorf("%s: got %s, want %s", frame, got, want)
			}
		}
	}
	// Of what happens beyond nothing arrives; another socket of the member tells when it has happened.
	other := s.dial()
	hello(t, other, fmt.Sprintf(`{"op":"hello","token":%q,"only":["%s0","%s3"]}`, token(t, "member", ""), beyond, beyond))
	s.must("owner", "POST", "/v1/groups", `{"id":"`+beyond+`3","members":["member"]}`)
	s.must("owner", "DELETE", "/v1/groups/"+beyond+"1/members/member", "")
	s.must("owner", "POST", "/v1/users/member/messages", `{"body":"`+secretWord+`"}`)
	s.must("owner", "POST", "/v1/groups/"+beyond+"0/ack", `{"id":1}`)
	s.must("owner", "POST", "/v1/groups/"+beyond+"0/messages", `{"body":"last"}`)
	for {
		_, frame, err := other.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(frame), "last") {
			break
		}
	}
	s.must("owner", "POST", "/v1/groups/in:1/messages", `{"body":"the end"}`)
	s.frames(conn, "the end")
	s.must("owner", "POST", "/v1/groups", `{"id":"in:3","members":["member"]}`)
	s.frames(conn, `"op":"joined"`, "in:3")
	only := s.dial()
	got := hello(t, only, fmt.Sprintf(`{"op":"hello","token":%q,"as":"member","only":["%s0","in:0"]}`, s.key, beyond))
	if !strings.Contains(got, `"errors":[{"group":"`+beyond+`0","code":"not_found"}]`) || strings.Contains(got, `"in:1"`) {
		t.Errorf("got %s", got)
	}
	// A key that is bound to other groups by now begins another session.
	s.do(request{method: "PATCH", path: "/v1/keys/" + s.id, user: "operator", role: "admin", body: `{"groups":["in:1"]}`})
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, 4401) {
				t.Errorf("got %v, want 4401", err)
			}
			break
		}
	}
}

// TestWaitingReachesItsGroups: a poll of a key that is bound to groups is not answered for what happens in others.
func TestWaitingReachesItsGroups(t *testing.T) {
	s := newBounded(t)
	s.must("member", "POST", "/v1/sync", `{"ack":{"in:0":3,"in:1":3,"in:2":3}}`)
	for n, only := range []string{``, `,"only":["in:0"]`} {
		answers := make(chan answer, 1)
		go func() {
			answers <- s.by(s.key, "member", request{method: "POST", path: "/v1/sync", body: `{"wait_s":50` + only + `}`})
		}()
		untilWaiting(t, 1)
		s.must("owner", "POST", "/v1/groups/"+beyond+"0/messages", `{"body":"`+secretWord+`"}`)
		s.must("owner", "POST", "/v1/users/member/messages", `{"body":"`+secretWord+`"}`)
		s.must("member", "POST", "/v1/sync", `{"wait_s":1,"only":["`+beyond+`0"]}`) // the signals have come
		s.must("owner", "POST", "/v1/groups/in:0/messages", `{"body":"here"}`)
		if a := <-answers; a.status != 200 || !strings.Contains(a.body, "here") || strings.Contains(a.body, secretWord) {
			t.Errorf("got %d %s", a.status, a.body)
		}
		s.must("member", "POST", "/v1/groups/in:0/ack", fmt.Sprintf(`{"id":%d}`, 4+n))
	}
}

// TestVoidKeysEndTheirCalls: what waits or goes on by a key ends when that is removed, changed or expires.
func TestVoidKeysEndTheirCalls(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"h","members":["bot"]}`)
	harness.Eventually(t, 30*time.Second, "a task has told bot of the group", func() error { // a poll would end with it
		if a := s.must("bot", "GET", "/v1/inbox", ""); !strings.Contains(a.body, `"added"`) {
			return errors.New(a.body)
		}
		return nil
	})
	s.must("bot", "POST", "/v1/sync", `{"ack":{"h":2},"inbox_ack":1}`)
	operator := func(method, id, body string) {
		t.Helper()
		if a := s.do(request{method: method, path: "/v1/keys/" + id, body: body, user: "operator", role: "admin"}); a.status >= 300 {
			t.Fatalf("%s %s: got %d %s", method, body, a.status, a.body)
		}
	}
	for _, c := range []struct {
		method, body string
		status       int
	}{
		{"DELETE", "", 401}, {"PATCH", `{"as":["other"]}`, 401}, {"PATCH", `{"scopes":["send"]}`, 403}, {"PATCH", `{"groups":["h*"]}`, 503},
		{"PATCH", fmt.Sprintf(`{"expires_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339)), 0},
	} {
		id, key := s.key(`{"name":"k","scopes":["read"],"as":["bot"]}`)
		answers := make(chan answer, 1)
		go func() { answers <- s.by(key, "bot", request{method: "POST", path: "/v1/sync", body: `{"wait_s":50}`}) }()
		untilWaiting(t, 1)
		operator(c.method, id, c.body)
		if c.status == 0 { // it still may
			s.must("alice", "POST", "/v1/groups/h/messages", `{"body":"x"}`)
			if a := <-answers; a.status != 200 || !strings.Contains(a.body, `"body":"x"`) {
				t.Errorf("%s: got %d %s", c.body, a.status, a.body)
			}
			continue
		}
		select {
		case a := <-answers:
			if a.status != c.status || strings.Contains(a.body, "groups\":") {
				t.Errorf("%s %s: got %d %s, want %d", c.method, c.body, a.status, a.body, c.status)
			}
		case <-time.After(40 * time.Second):
			t.Fatalf("%s %s: still waiting", c.method, c.body)
		}
	}
	_, key := s.key(fmt.Sprintf(`{"name":"k","scopes":["read"],"as":["bot"],"expires_at":%q}`, time.Now().Add(2*time.Second).Format(time.RFC3339Nano)))
	s.must("bot", "POST", "/v1/sync", `{"ack":{"h":3}}`)
	began := time.Now()
	checkProblem(t, "an expired key", s.by(key, "bot", request{method: "POST", path: "/v1/sync", body: `{"wait_s":50}`}), 401, "unauthenticated")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	// A download that goes on.
	s.longGroup("bot")
	id, key := s.key(`{"name":"k","scopes":["ops"]}`)
	resp := s.slowCaller(key, "GET /v1/groups/g/export", 1<<20)
	begin := make([]byte, 1000)
	if _, err := io.ReadFull(resp.Body, begin); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d %v", resp.StatusCode, err)
	}
	operator("DELETE", id, "")
	rest, err := io.ReadAll(resp.Body)
	if err == nil || strings.Contains(string(rest), `{"end":`) {
		t.Errorf("got %d bytes and %v, want the export cut off", len(rest), err)
	}
	// An upload that goes on.
	id, key = s.key(`{"name":"k","scopes":["send"],"as":["alice"]}`)
	path := s.create(`{"name":"n","size":10}`)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nChatd-As: alice\r\nContent-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nContent-Length: 10\r\n\r\n", path, key)
	s.waitFor(`chatd_requests_in_flight 2`)
	operator("DELETE", id, "")
	_, _ = fmt.Fprint(conn, "0123456789")
	said := make([]byte, 12)
	if _, err := io.ReadFull(conn, said); err != nil || string(said) != "HTTP/1.1 401" || s.offset(path) != 0 {
		t.Errorf("got %q %v, want the upload refused", said, err)
	}
}
