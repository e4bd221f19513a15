package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
)

func fill(template, group, user string) string {
	return strings.NewReplacer("{group}", group, "{user}", user, "{id}", "1", "{queue}", "egress", "{task}", "p00-absent", "{periodic}", "absent", "{schedule}", "p00-absent", "{device}", "absent", "{webhook}", "absent", "{hook}", "absent", "{invite}", "absent", "{review}", strings.Repeat("0", 40), "{report}", "absent", "{key}", "absent", "{login}", "absent", "{announcement}", "a-absent", "{erasure}", "p00-absent", "{file}", "ABSENT-0").Replace(template)
}

// Who calls, in the order of the columns of the matrix.
var callers = []string{"anonymous", "non-member", "ex-member", "member", "admin", "owner", "operator"}

// matrix says what each route answers to each kind of caller: in a private group of others, then in a public one. The
// rows of routes without a group are the same for everyone with a token.
var matrix = map[string]struct{ private, public string }{
	"GET /v1/groups":                                      {"401 200 200 200 200 200 200", ""},
	"POST /v1/groups":                                     {"401 201 201 201 201 201 201", ""},
	"POST /v1/batch":                                      {"401 200 200 200 200 200 200", ""},
	"GET /v1/groups/public":                               {"401 200 200 200 200 200 200", ""},
	"GET /v1/groups/{group}":                              {"401 404 404 200 200 200 200", "401 200 200 200 200 200 200"},
	"PATCH /v1/groups/{group}":                            {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"DELETE /v1/groups/{group}":                           {"401 404 404 403 403 204 204", "401 403 403 403 403 204 204"},
	"GET /v1/groups/{group}/export":                       {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"GET /v1/groups/{group}/blockers":                     {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"PUT /v1/groups/{group}/hold":                         {"401 403 403 403 403 403 200", "401 403 403 403 403 403 200"},
	"DELETE /v1/groups/{group}/hold":                      {"401 403 403 403 403 403 204", "401 403 403 403 403 403 204"},
	"GET /v1/groups/{group}/members":                      {"401 404 404 200 200 200 200", "401 403 403 200 200 200 200"},
	"PUT /v1/groups/{group}/members":                      {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"PUT /v1/groups/{group}/members/{user}":               {"401 404 404 403 201 201 201", "401 403 403 403 201 201 201"},
	"PATCH /v1/groups/{group}/members/{user}":             {"401 404 404 403 404 404 404", "401 403 403 403 404 404 404"}, // other is in no group
	"DELETE /v1/groups/{group}/members/{user}":            {"401 404 404 403 204 204 204", "401 403 403 403 204 204 204"},
	"GET /v1/groups/{group}/words":                        {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"PUT /v1/groups/{group}/words":                        {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"GET /v1/groups/{group}/bans":                         {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"PUT /v1/groups/{group}/bans/{user}":                  {"401 404 404 403 201 201 201", "401 403 403 403 201 201 201"},
	"DELETE /v1/groups/{group}/bans/{user}":               {"401 404 404 403 404 404 404", "401 403 403 403 404 404 404"}, // other is not banned
	"GET /v1/groups/{group}/requests":                     {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"PUT /v1/groups/{group}/requests/{user}":              {"401 404 404 403 404 404 404", "401 403 403 403 404 404 404"}, // other does not ask
	"PUT /v1/groups/{group}/requests/me":                  {"401 404 404 409 409 409 404", "401 409 409 409 409 409 409"}, // everybody may join
	"DELETE /v1/groups/{group}/requests/me":               {"401 404 404 404 404 404 404", "401 404 404 404 404 404 404"},
	"POST /v1/groups/{group}/messages":                    {"401 404 404 201 201 201 403", "401 403 403 201 201 201 403"},
	"GET /v1/groups/{group}/messages":                     {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"POST /v1/groups/{group}/ack":                         {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"POST /v1/groups/{group}/read":                        {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"POST /v1/groups/{group}/unread":                      {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"GET /v1/groups/{group}/messages/{id}/receipts":       {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"PUT /v1/groups/{group}/messages/{id}/quorum":         {"401 404 404 400 400 400 400", "401 403 403 400 400 400 400"}, // of a notice
	"GET /v1/groups/{group}/messages/{id}/quorum":         {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"DELETE /v1/groups/{group}/messages/{id}/quorum":      {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"POST /v1/groups/{group}/messages/{id}/reports":       {"401 404 404 400 400 400 403", "401 403 403 400 400 400 403"}, // of a notice
	"POST /v1/groups/{group}/messages/{id}/actions":       {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"}, // of a notice, which has none
	"GET /v1/groups/{group}/reports":                      {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"POST /v1/groups/{group}/files":                       {"401 404 404 201 201 201 403", "401 403 403 201 201 201 403"},
	"GET /v1/groups/{group}/files/{file}":                 {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"PATCH /v1/groups/{group}/files/{file}":               {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"DELETE /v1/groups/{group}/files/{file}":              {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"GET /v1/search":                                      {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"GET /v1/unread":                                      {"401 200 200 200 200 200 200", ""},
	"POST /v1/sync":                                       {"401 200 200 200 200 200 200", ""},
	"POST /v1/users/{user}/messages":                      {"401 201 201 201 201 201 201", ""},
	"POST /v1/invites":                                    {"401 403 403 403 403 403 201", ""},
	"GET /v1/invites":                                     {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"DELETE /v1/invites/{invite}":                         {"401 404 404 404 404 404 404", ""},
	"POST /v1/invites/accept":                             {"401 404 404 404 404 404 404", ""},
	"PUT /v1/direct/{user}":                               {"401 201 201 201 201 201 201", ""},
	"GET /v1/reviews":                                     {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"POST /v1/reviews/{review}":                           {"401 404 404 404 404 404 404", ""},
	"GET /v1/drafts":                                      {"401 200 200 200 200 200 200", ""},
	"GET /v1/blocks":                                      {"401 200 200 200 200 200 200", ""},
	"PUT /v1/blocks/{user}":                               {"401 201 201 201 201 201 201", ""},
	"GET /v1/blocks/{user}":                               {"401 404 404 404 404 404 404", ""},
	"DELETE /v1/blocks/{user}":                            {"401 204 204 204 204 204 204", ""},
	"GET /v1/inbox":                                       {"401 200 200 200 200 200 200", ""},
	"POST /v1/schedules":                                  {"401 201 201 201 201 201 201", ""},
	"GET /v1/schedules":                                   {"401 200 200 200 200 200 200", ""},
	"GET /v1/schedules/{schedule}":                        {"401 404 404 404 404 404 404", ""},
	"PATCH /v1/schedules/{schedule}":                      {"401 404 404 404 404 404 404", ""},
	"DELETE /v1/schedules/{schedule}":                     {"401 404 404 404 404 404 404", ""},
	"POST /v1/schedules/{schedule}/run":                   {"401 404 404 404 404 404 404", ""},
	"GET /v1/devices":                                     {"401 200 200 200 200 200 200", ""},
	"PUT /v1/devices/{device}":                            {"401 201 201 201 201 201 201", ""},
	"GET /v1/devices/{device}":                            {"401 404 404 404 404 404 404", ""},
	"DELETE /v1/devices/{device}":                         {"401 204 204 204 204 204 204", ""},
	"GET /v1/push/key":                                    {"401 200 200 200 200 200 200", ""},
	"PUT /v1/groups/{group}/notify":                       {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"PATCH /v1/groups/{group}/messages/{id}/stream":       {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"}, // of a notice
	"POST /v1/groups/{group}/messages/{id}/stream/cancel": {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"POST /v1/groups/{group}/typing":                      {"401 404 404 204 204 204 403", "401 403 403 204 204 204 403"},
	"GET /v1/groups/{group}/presence":                     {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"POST /v1/presence":                                   {"401 200 200 200 200 200 200", ""},
	"GET /v1/groups/{group}/pins":                         {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"PUT /v1/groups/{group}/pins/{id}":                    {"401 404 404 403 400 400 400", "401 403 403 403 400 400 400"}, // of a notice
	"DELETE /v1/groups/{group}/pins/{id}":                 {"401 404 404 403 204 204 204", "401 403 403 403 204 204 204"},
	"GET /v1/groups/{group}/threads":                      {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"PUT /v1/groups/{group}/threads/{id}":                 {"401 404 404 400 400 400 403", "401 403 403 400 400 400 403"}, // of a notice
	"GET /v1/groups/{group}/threads/{id}/messages":        {"401 404 404 400 400 400 403", "401 403 403 400 400 400 403"},
	"POST /v1/groups/{group}/threads/{id}/read":           {"401 404 404 400 400 400 403", "401 403 403 400 400 400 403"},
	"PUT /v1/groups/{group}/draft":                        {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"GET /v1/groups/{group}/draft":                        {"401 404 404 404 404 404 403", "401 403 403 404 404 404 403"},
	"DELETE /v1/groups/{group}/draft":                     {"401 404 404 204 204 204 403", "401 403 403 204 204 204 403"},
	"GET /v1/groups/{group}/notify":                       {"401 404 404 200 200 200 403", "401 403 403 200 200 200 403"},
	"POST /v1/inbox/ack":                                  {"401 200 200 200 200 200 200", ""},
	"POST /v1/webhooks":                                   {"401 403 403 403 403 403 201", ""},
	"GET /v1/webhooks":                                    {"401 403 403 403 403 403 200", ""},
	"GET /v1/webhooks/{webhook}":                          {"401 403 403 403 403 403 404", ""},
	"DELETE /v1/webhooks/{webhook}":                       {"401 403 403 403 403 403 404", ""},
	"POST /v1/webhooks/{webhook}/rotate":                  {"401 403 403 403 403 403 404", ""},

	"GET /v1/audit":             {"401 404 404 403 200 200 200", "401 403 403 403 200 200 200"},
	"GET /v1/reports":           {"401 403 403 403 403 403 200", ""},
	"POST /v1/reports/{report}": {"401 404 404 404 404 404 404", ""},
	"GET /v1/words":             {"401 403 403 403 403 403 200", ""},
	"PUT /v1/words":             {"401 403 403 403 403 403 200", ""},
	"POST /v1/hooks":            {"401 403 403 403 403 403 201", ""},
	"GET /v1/hooks":             {"401 403 403 403 403 403 200", ""},
	"GET /v1/hooks/{hook}":      {"401 403 403 403 403 403 404", ""},
	"PATCH /v1/hooks/{hook}":    {"401 403 403 403 403 403 404", ""},
	"DELETE /v1/hooks/{hook}":   {"401 403 403 403 403 403 404", ""},

	"POST /v1/announcements":                  {"401 403 403 403 403 403 202", ""},
	"GET /v1/announcements":                   {"401 403 403 403 403 403 200", ""},
	"GET /v1/announcements/{announcement}":    {"401 403 403 403 403 403 404", ""},
	"DELETE /v1/announcements/{announcement}": {"401 403 403 403 403 403 404", ""},

	"POST /v1/keys":              {"401 403 403 403 403 403 201", ""},
	"GET /v1/keys":               {"401 403 403 403 403 403 200", ""},
	"GET /v1/keys/{key}":         {"401 403 403 403 403 403 404", ""},
	"PATCH /v1/keys/{key}":       {"401 403 403 403 403 403 404", ""},
	"DELETE /v1/keys/{key}":      {"401 403 403 403 403 403 404", ""},
	"POST /v1/keys/{key}/rotate": {"401 403 403 403 403 403 404", ""},

	"GET /v1/accounts":             {"401 403 403 403 403 403 200", ""},
	"PUT /v1/me/password":          {"401 403 403 403 403 403 403", ""}, // none of them has one
	"GET /v1/me/logins":            {"401 200 200 200 200 200 200", ""},
	"DELETE /v1/me/logins":         {"401 204 204 204 204 204 204", ""},
	"DELETE /v1/me/logins/{login}": {"401 404 404 404 404 404 404", ""},
	"POST /v1/users/{user}/codes":  {"401 403 403 403 403 403 201", ""},

	"GET /v1/me":                 {"401 200 200 200 200 200 200", ""},
	"PATCH /v1/me":               {"401 200 200 200 200 200 200", ""},
	"PUT /v1/me/avatar":          {"401 400 400 400 400 400 400", ""}, // what is sent is no picture
	"DELETE /v1/me/avatar":       {"401 204 204 204 204 204 204", ""},
	"DELETE /v1/me":              {"401 202 202 202 202 202 202", ""},
	"GET /v1/me/export":          {"401 200 200 200 200 200 200", ""},
	"DELETE /v1/users/{user}":    {"401 403 403 403 403 403 202", ""},
	"GET /v1/erasures/{erasure}": {"401 403 403 403 403 403 404", ""},

	"GET /v1/users":                    {"401 200 200 200 200 200 200", ""},
	"GET /v1/users/{user}":             {"401 200 200 200 200 200 200", ""}, // everyone has written to them by then; TestWhoSeesUsers has strangers,
	"PUT /v1/users":                    {"401 403 403 403 403 403 200", ""},
	"POST /v1/users/{user}/revoke":     {"401 403 403 403 403 403 204", ""},
	"POST /v1/users/{user}/disconnect": {"401 403 403 403 403 403 204", ""},
	"GET /v1/users/{user}/sessions":    {"401 403 403 403 403 403 200", ""},

	"GET /v1/doctor":                            {"401 403 403 403 403 403 200", ""},
	"GET /v1/problems":                          {"401 403 403 403 403 403 200", ""},
	"GET /v1/stats":                             {"401 403 403 403 403 403 200", ""},
	"GET /v1/settings":                          {"401 403 403 403 403 403 200", ""},
	"POST /v1/webhooks/{webhook}/test":          {"401 403 403 403 403 403 404", ""},
	"POST /v1/doctor":                           {"401 403 403 403 403 403 202", ""},
	"GET /v1/doctor/run":                        {"401 403 403 403 403 403 200", ""},
	"DELETE /v1/doctor/run":                     {"401 403 403 403 403 403 204", ""},
	"GET /v1/users/{user}/logins":               {"401 403 403 403 403 403 200", ""},
	"DELETE /v1/users/{user}/logins/{login}":    {"401 403 403 403 403 403 404", ""},
	"GET /v1/blockers":                          {"401 403 403 403 403 403 200", ""},
	"GET /v1/tasks":                             {"401 403 403 403 403 403 200", ""},
	"POST /v1/tasks/bulk":                       {"401 403 403 403 403 403 200", ""},
	"GET /v1/tasks/queues":                      {"401 403 403 403 403 403 200", ""},
	"POST /v1/tasks/queues/{queue}/pause":       {"401 403 403 403 403 403 200", ""},
	"POST /v1/tasks/queues/{queue}/resume":      {"401 403 403 403 403 403 200", ""},
	"GET /v1/tasks/days":                        {"401 403 403 403 403 403 200", ""},
	"GET /v1/tasks/limits":                      {"401 403 403 403 403 403 200", ""},
	"GET /v1/tasks/periodic":                    {"401 403 403 403 403 403 200", ""},
	"DELETE /v1/tasks/periodic/{periodic}":      {"401 403 403 403 403 403 404", ""},
	"POST /v1/tasks/periodic/{periodic}/pause":  {"401 403 403 403 403 403 404", ""},
	"POST /v1/tasks/periodic/{periodic}/resume": {"401 403 403 403 403 403 404", ""},
	"POST /v1/tasks/periodic/{periodic}/run":    {"401 403 403 403 403 403 404", ""},
	"GET /v1/tasks/{task}":                      {"401 403 403 403 403 403 404", ""},
	"DELETE /v1/tasks/{task}":                   {"401 403 403 403 403 403 404", ""},
	"POST /v1/tasks/{task}/retry":               {"401 403 403 403 403 403 404", ""},
	"GET /v1/tasks/{task}/payload":              {"401 403 403 403 403 403 404", ""},
}

// queries are those of routes that need one.
var queries = map[string]string{"GET /v1/search": "?q=word&group={group}", "GET /v1/invites": "?group={group}", "GET /v1/reviews": "?group={group}", "GET /v1/audit": "?group={group}", "GET /v1/users": "?ids=other"}

// TestAuthorisation calls every route of the description as everyone. A route without a row fails.
func TestAuthorisation(t *testing.T) {
	s := start(t, withAccounts(t))
	untouched := map[string]string{"private": s.newGroup("g-private", "private"), "public": s.newGroup("g-public", "public")}
	n := 0
	for _, r := range routes(t) {
		if r.open {
			continue
		}
		key := r.method + " " + r.template
		row, ok := matrix[key]
		if !ok {
			t.Errorf("%s: no row in the matrix", key)
			continue
		}
		for _, visibility := range []string{"private", "public"} {
			wants := row.private
			if visibility == "public" {
				wants = row.public
			}
			for i, want := range strings.Fields(wants) {
				group := untouched[visibility]
				if r.method != http.MethodGet && strings.HasPrefix(want, "2") {
					n++
					group = s.newGroup(fmt.Sprintf("g%d", n), visibility)
				}
				a := s.do(asCaller(callers[i], request{method: r.method, path: fill(r.template+queries[key], group, "other"), body: bodies[key]}))
				if got := fmt.Sprint(a.status); got != want {
					t.Errorf("%s in a %s group as %s: got %d %s, want %s", key, visibility, callers[i], a.status, a.body, want)
				}
				if a.status == 404 {
					absent := s.do(asCaller(callers[i], request{method: r.method, path: fill(r.template+queries[key], "absent", "other"), body: bodies[key]}))
					if absent.status != a.status || absent.body != a.body {
						t.Errorf("%s as %s: a private group answers %q, one that does not exist %q", key, callers[i], a.body, absent.body)
					}
				}
			}
		}
	}
}

// forOperators tells whether a route answers nobody else. Whom an invitation is for stands in its body.
func forOperators(r described) bool {
	if r.template == "/v1/invites" {
		return false
	}
	row := matrix[r.method+" "+r.template].private
	return strings.HasPrefix(row, "401 403 403 403 403 403 ") && !strings.HasSuffix(row, " 403")
}

// TestOperatorsFirst asks what is for operators as someone else, with what would be refused to them as well: nobody learns more
// than that it is not for them.
func TestOperatorsFirst(t *testing.T) {
	s := start(t, nil)
	n := 0
	for _, r := range routes(t) {
		if !forOperators(r) {
			continue
		}
		n++
		path := fill(r.template, "g", "other")
		for _, call := range []request{{path: path + "?nope=1"}, {path: path, body: `{"nope":`}, {path: path, body: `{}`}} {
			call.method, call.user = r.method, "member"
			checkProblem(t, r.method+" "+call.path+" "+call.body, s.do(call), 403, "forbidden")
		}
	}
	if n != 60 {
		t.Errorf("got %d routes for operators, want 60", n)
	}
}

// withAccounts is a server with an archive and with accounts.
func withAccounts(t *testing.T) func(*node.Config) {
	archive := withArchive(t)
	return func(c *node.Config) {
		archive(c)
		c.Accounts = "on"
	}
}

// newGroup makes a group with one member of each kind, and someone else whom calls are about. What a call is about is a
// member already, except for the call that adds.
func (s *server) newGroup(id, visibility string) string {
	s.must("owner", "POST", "/v1/groups", `{"id":"`+id+`","visibility":"`+visibility+`","members":["admin","member","ex-member"]}`)
	s.must("owner", "PUT", "/v1/groups/"+id+"/members/admin", `{"role":"admin"}`)
	s.must("ex-member", "DELETE", "/v1/groups/"+id+"/members/ex-member", "")
	return id
}

func asCaller(kind string, r request) request {
	switch kind {
	case "anonymous":
	case "operator":
		r.user, r.role = "operator", "admin"
	default:
		r.user = kind
	}
	if r.method == "DELETE" && strings.HasSuffix(r.path, "/members/other") {
		// Someone who is in: a member cannot be removed by another one, and one who is not in cannot be removed at all.
		r.path = strings.TrimSuffix(r.path, "other") + "member"
		if kind == "member" {
			r.path = strings.TrimSuffix(r.path, "member") + "admin"
		}
	}
	if r.method == "DELETE" && r.path == "/v1/users/other" { // who has to stay for the other routes, as all callers have
		r.path = "/v1/users/nobody"
	}
	if r.method == "DELETE" && r.path == "/v1/me" && r.user != "" {
		r.user = "another-" + r.user
	}
	if r.method == "PUT" && r.path == "/v1/devices/absent" { // which is absent for the other methods
		r.path = "/v1/devices/new"
	}
	return r
}
