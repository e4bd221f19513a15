package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/internal/node"
)

// key makes a key as an operator, and returns it with its id.
func (s *server) key(draft string) (id, key string) {
	s.t.Helper()
	a := s.do(request{method: "POST", path: "/v1/keys", user: "operator", role: "admin", body: draft})
	var v keys.View
	if err := json.Unmarshal([]byte(a.body), &v); a.status != http.StatusCreated || err != nil {
		s.t.Fatalf("%s: got %d %s", draft, a.status, a.body)
	}
	return v.ID, v.Key
}

// by makes a request with a key, as a user unless that is empty.
func (s *server) by(key, as string, r request) answer {
	s.t.Helper()
	r.user, r.role = "", ""
	header := map[string]string{"Authorization": "Bearer " + key}
	if as != "" {
		header["Chatd-As"] = as
	}
	for name, value := range r.header {
		header[name] = value
	}
	r.header = header
	return s.do(r)
}

// TestAuthorisationOfKeys calls every route of the description with keys: without the scope, with it, outside its groups, for a user
// whom it may not act for, and for a member of the group. What is answered follows from the matrix of persons.
func TestAuthorisationOfKeys(t *testing.T) {
	s := start(t, withAccounts(t))
	const all = `"groups","users","moderate","announce","events","tasks","ops","keys"`
	_, others := s.key(`{"name":"others","scopes":["moderate"],"as":"any"}`)
	_, announces := s.key(`{"name":"announces","scopes":["announce"],"as":"any"}`)
	_, every := s.key(`{"name":"every","scopes":[` + all + `,"send","read"]}`)
	_, bound := s.key(`{"name":"bound","scopes":[` + all + `,"send","read"],"as":"any","groups":["elsewhere*"]}`)
	_, acts := s.key(`{"name":"acts","scopes":["send","read"],"as":["member*","another-*"]}`)
	_, manages := s.key(`{"name":"manages","scopes":[` + all + `],"as":"any"}`)
	untouched := s.newGroup("g-private", "private")
	n := 0
	for _, r := range routes(t) {
		if r.open {
			continue
		}
		route := r.method + " " + r.template
		wants := strings.Fields(matrix[route].private)
		asMember, asOperator := wants[3], wants[6]
		if r.scope == "any" {
			continue // what it does is checked by itself: TestBatchOfKeys
		}
		personal := r.scope == "send" || r.scope == "read"
		call := func(what, key, as, want string) {
			t.Helper()
			group := untouched
			if r.method != http.MethodGet && strings.HasPrefix(want, "2") {
				n++
				group = s.newGroup(fmt.Sprintf("g%d", n), "private")
			}
			kind := "operator"
			if as == "member" {
				kind = "member"
			}
			req := asCaller(kind, request{method: r.method, path: fill(r.template+queries[route], group, "other"), body: bodies[route]})
			if as == "member" {
				as = req.user // who is another one for an erasure
			}
			a := s.by(key, as, req)
			if got := fmt.Sprint(a.status); got != want {
				t.Errorf("%s with a key %s: got %d %s, want %s", route, what, a.status, a.body, want)
			}
		}
		none := others
		if r.scope == "moderate" {
			none = announces
		}
		call("without the scope", none, "", "403")
		call("without the scope, acting", none, "member", "403")
		call("outside of as", acts, "stranger", "403")
		call("acting", acts, "member", asMember)
		if personal {
			call("for itself", every, "", "400")
			call("that cannot act", every, "member", "403")
			call("that may not write or read", manages, "member", "403")
		} else {
			call("for itself", every, "", asOperator)
		}
		if strings.Contains(r.template, "{group}") {
			call("outside of its groups", bound, map[bool]string{true: "member"}[personal], "403")
		}
	}
}

// TestScopesAreNamed: a refusal names the scope.
func TestScopesAreNamed(t *testing.T) {
	s := start(t, nil)
	_, key := s.key(`{"name":"k","scopes":["read"],"as":["bot*"]}`)
	for _, c := range []struct{ method, path, as, body, want string }{
		{"GET", "/v1/tasks", "", "", "scope tasks"},
		{"POST", "/v1/groups", "", `{"id":"g"}`, "scope groups"},
		{"POST", "/v1/groups", "bot", `{"id":"g"}`, "scope send"},
		{"POST", "/v1/groups/g/messages", "bot", `{"body":"x"}`, "scope send"},
	} {
		a := s.by(key, c.as, request{method: c.method, path: c.path, body: c.body})
		checkProblem(t, c.path, a, 403, "forbidden")
		if !strings.Contains(a.body, c.want) {
			t.Errorf("%s: got %s, want %q in it", c.path, a.body, c.want)
		}
	}
	checkProblem(t, "a token that acts", s.do(request{method: "GET", path: "/v1/me", user: "alice", role: "admin", header: map[string]string{"Chatd-As": "bob"}}), 403, "forbidden")
	checkProblem(t, "no token at all that acts", s.do(request{method: "GET", path: "/v1/me", header: map[string]string{"Authorization": "Bearer x", "Chatd-As": "bob"}}), 401, "unauthenticated")
	for _, as := range []string{"key:x", "in:x", "bot*", "bot 1", "bot/1", ".bot", "bot,bot2", "b\xc3\xb6t", strings.Repeat("b", 129)} {
		checkProblem(t, as, s.by(key, as, request{method: "GET", path: "/v1/me"}), 400, "invalid_request")
	}
	checkProblem(t, "another spelling", s.by(key, "Bot", request{method: "GET", path: "/v1/me"}), 403, "forbidden")
	checkProblem(t, "a key that is cut", s.by(key[:len(key)-1], "bot", request{method: "GET", path: "/v1/me"}), 401, "unauthenticated")
	checkProblem(t, "in the query", s.by(key, "bot", request{method: "GET", path: "/v1/me?token=" + key}), 400, "invalid_request")
	if a := s.do(request{method: "GET", path: "/v1/me", header: map[string]string{"Authorization": "bEARER " + key, "Chatd-As": "bot"}}); a.status != 200 {
		t.Errorf("another case of the scheme: got %d %s", a.status, a.body)
	}
	checkProblem(t, "no user", s.by(key, "key:x", request{method: "GET", path: "/v1/me"}), 400, "invalid_request")
	if a := s.by(key, "bot1", request{method: "GET", path: "/v1/me"}); a.field("user") != "bot1" || a.field("role") != nil {
		t.Errorf("got %s, want bot1", a.body)
	}
}

// TestKeysOverHTTP makes, reads, changes, rotates and removes a key.
func TestKeysOverHTTP(t *testing.T) {
	s := start(t, nil)
	operator := func(method, path, body string, header map[string]string) answer {
		return s.do(request{method: method, path: path, body: body, user: "operator", role: "admin", header: header})
	}
	draft := `{"name":"bot","scopes":["read","send"],"rate":"5/h","as":["bot*"],"groups":["g*"],"from":["127.0.0.0/8","::1/128"],"expires_at":"2999-01-01T00:00:00Z"}`
	once := map[string]string{"Idempotency-Key": "once"}
	first, again := operator("POST", "/v1/keys", draft, once), operator("POST", "/v1/keys", draft, once)
	if first.status != 201 || again.status != 201 || first.field("id") != again.field("id") || again.field("key") != nil || again.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("got %d %s and %d %s", first.status, first.body, again.status, again.body)
	}
	checkProblem(t, "another draft", operator("POST", "/v1/keys", `{"name":"other","scopes":["read"]}`, once), 409, "key_reused")
	id, _ := first.field("id").(string)
	key, _ := first.field("key").(string)
	if !strings.HasPrefix(key, "ck_"+id+"_") {
		t.Fatalf("got the key %q", key)
	}
	for _, a := range []answer{operator("GET", "/v1/keys/"+id, "", nil), operator("GET", "/v1/keys", "", nil)} {
		if a.status != 200 || strings.Contains(a.body, "ck_") || strings.Contains(a.body, "sha256") || !strings.Contains(a.body, `"last_used_at":null`) {
			t.Errorf("got %d %s, want the key without any secret", a.status, a.body)
		}
	}
	for i := range 5 {
		if a := s.by(key, "bot", request{method: "GET", path: "/v1/me"}); a.status != 200 {
			t.Fatalf("call %d: got %d %s", i, a.status, a.body)
		}
	}
	if a := s.by(key, "bot2", request{method: "GET", path: "/v1/me"}); a.status != 429 || a.header.Get("Retry-After") == "" ||
		!strings.Contains(a.header.Get("RateLimit"), `"key";r=0`) || !strings.Contains(a.header.Get("RateLimit-Policy"), `"key"`) {
		t.Errorf("above its rate: got %d %s", a.status, a.body)
	}
	if a := operator("GET", "/v1/keys/"+id, "", nil); a.field("last_used_at") == nil {
		t.Errorf("got %s, want when it was used", a.body)
	}
	a := operator("PATCH", "/v1/keys/"+id, `{"rate":null,"groups":null,"name":"renamed"}`, nil)
	if a.status != 200 || a.field("rate") != nil || a.field("groups") != nil || a.field("name") != "renamed" || fmt.Sprint(a.field("as")) != "[bot*]" {
		t.Errorf("got %d %s", a.status, a.body)
	}
	for _, body := range []string{`{"name":null}`, `{"scopes":null}`, `{"scopes":["all"]}`, `{"as":[]}`, `{"expires_at":"soon"}`, `{"nope":1}`, `{"from":["x"]}`} {
		if a := operator("PATCH", "/v1/keys/"+id, body, nil); a.status != 400 {
			t.Errorf("%s: got %d %s", body, a.status, a.body)
		}
	}
	rotation := map[string]string{"Idempotency-Key": "rotation"}
	rotated, repeated := operator("POST", "/v1/keys/"+id+"/rotate", `{"overlap_s":0}`, rotation), operator("POST", "/v1/keys/"+id+"/rotate", `{"overlap_s":0}`, rotation)
	next, _ := rotated.field("key").(string)
	if repeated.status != 200 || repeated.field("id") != id || repeated.field("key") != nil || repeated.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the rotation again: got %d %s", repeated.status, repeated.body)
	}
	checkProblem(t, "the key before", s.by(key, "bot", request{method: "GET", path: "/v1/me"}), 401, "unauthenticated")
	if a := s.by(next, "bot", request{method: "GET", path: "/v1/me"}); a.status != 200 {
		t.Errorf("the new key: got %d %s", a.status, a.body)
	}
	checkProblem(t, "a long overlap", operator("POST", "/v1/keys/"+id+"/rotate", `{"overlap_s":2592001}`, nil), 400, "out_of_range")
	if a := operator("POST", "/v1/keys/"+id+"/rotate", "", nil); a.status != 200 {
		t.Errorf("without a body: got %d %s", a.status, a.body)
	}
	if a := operator("DELETE", "/v1/keys/"+id, "", nil); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "a removed key", s.by(next, "bot", request{method: "GET", path: "/v1/me"}), 401, "unauthenticated")
	checkProblem(t, "removing it again", operator("DELETE", "/v1/keys/"+id, "", nil), 404, "not_found")
}

// TestKeysOfKeys: a key with the scope keys makes others within itself.
func TestKeysOfKeys(t *testing.T) {
	s := start(t, nil)
	id, maker := s.key(`{"name":"maker","scopes":["keys","read"],"as":["bot*"]}`)
	make := func(draft string) answer {
		return s.by(maker, "", request{method: "POST", path: "/v1/keys", body: draft})
	}
	a := make(`{"name":"child","scopes":["read"],"as":["bot1"]}`)
	if a.status != 201 || a.field("created_by") != "key:"+id {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "more scopes", make(`{"name":"child","scopes":["send"]}`), 403, "forbidden")
	checkProblem(t, "other users", make(`{"name":"child","scopes":["read"],"as":"any"}`), 403, "forbidden")
	child, _ := a.field("id").(string)
	checkProblem(t, "a wider change", s.by(maker, "", request{method: "PATCH", path: "/v1/keys/" + child, body: `{"as":["b*"]}`}), 403, "forbidden")
	if a := s.by(maker, "", request{method: "GET", path: "/v1/keys"}); strings.Count(a.body, `"name"`) != 2 {
		t.Errorf("got %s, want the maker and its child", a.body)
	}
}

// dial opens a websocket.
func (s *server) dial() *websocket.Conn {
	s.t.Helper()
	conn, answer, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.url, "http")+"/v1/ws", http.Header{"Sec-WebSocket-Protocol": {"chatd.v1"}})
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	s.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	return conn
}

// hello sends a frame and returns the answer, or how the socket was closed.
func hello(t *testing.T, conn *websocket.Conn, frame string) string {
	t.Helper()
	if err := conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		t.Fatal(err)
	}
	_, answer, err := conn.ReadMessage()
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// TestVoidKeysAreClosed: the socket of a key that is removed, rotated or may no longer act for its user closes with 4401.
func TestVoidKeysAreClosed(t *testing.T) {
	s := start(t, nil)
	for what, change := range map[string]func(id string) request{
		"removed": func(id string) request { return request{method: "DELETE", path: "/v1/keys/" + id} },
		"rotated": func(id string) request {
			return request{method: "POST", path: "/v1/keys/" + id + "/rotate", body: `{"overlap_s":0}`}
		},
		"without the user": func(id string) request {
			return request{method: "PATCH", path: "/v1/keys/" + id, body: `{"as":["other"]}`}
		},
		"without the scope": func(id string) request {
			return request{method: "PATCH", path: "/v1/keys/" + id, body: `{"scopes":["send"]}`}
		},
	} {
		id, key := s.key(`{"name":"k","scopes":["read"],"as":["bot"]}`)
		conn := s.dial()
		got := hello(t, conn, fmt.Sprintf(`{"op":"hello","token":%q,"as":"bot"}`, key))
		if !strings.Contains(got, `"op":"welcome"`) || !strings.Contains(got, `"user":"bot"`) {
			t.Fatalf("%s: got %s", what, got)
		}
		r := change(id)
		r.user, r.role = "operator", "admin"
		if a := s.do(r); a.status >= 300 {
			t.Fatalf("%s: got %d %s", what, a.status, a.body)
		}
		if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, 4401) {
			t.Errorf("%s: got %v, want it with 4401", what, err)
		}
	}
	_, key := s.key(`{"name":"k","scopes":["read"],"as":["bot"]}`)
	if got := hello(t, s.dial(), fmt.Sprintf(`{"op":"hello","token":%q}`, key)); !strings.Contains(got, "4401") {
		t.Errorf("without as: got %s, want it closed with 4401", got)
	}
	for what, token := range map[string]string{"a key that may not act so": key, "a person for another": token(t, "alice", "")} {
		if got := hello(t, s.dial(), fmt.Sprintf(`{"op":"hello","token":%q,"as":"other"}`, token)); !strings.Contains(got, "4403") {
			t.Errorf("%s: got %s, want it closed with 4403", what, got)
		}
	}
}

// TestChangedKeysHoldInSessions: a session may do what its key may now, and gets no other key than one that lets it begin.
func TestChangedKeysHoldInSessions(t *testing.T) {
	s := start(t, nil)
	s.must("bot", "POST", "/v1/groups", `{"id":"g"}`)
	id, key := s.key(`{"name":"k","scopes":["read","send"],"as":["bot"]}`)
	_, writes := s.key(`{"name":"k","scopes":["send"],"as":["bot"]}`)
	conn := s.dial()
	hello(t, conn, fmt.Sprintf(`{"op":"hello","token":%q,"as":"bot","only":[]}`, key))
	ask := func(frame string) string { return hello(t, conn, frame) }
	if got := ask(`{"op":"send","ref":"1","group":"g","body":"x"}`); !strings.Contains(got, `"op":"ok"`) {
		t.Errorf("got %s", got)
	}
	if got := ask(fmt.Sprintf(`{"op":"auth","ref":"2","token":%q}`, writes)); !strings.Contains(got, "lacks the scope read") {
		t.Errorf("got %s", got)
	}
	if a := s.do(request{method: "PATCH", path: "/v1/keys/" + id, user: "operator", role: "admin", body: `{"scopes":["read"]}`}); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if got := ask(`{"op":"send","ref":"3","group":"g","body":"y"}`); !strings.Contains(got, "lacks the scope send") {
		t.Errorf("got %s", got)
	}
	if a := s.do(request{method: "PATCH", path: "/v1/keys/" + id, user: "operator", role: "admin", body: fmt.Sprintf(`{"expires_at":%q}`, time.Now().Add(3*time.Second).Format(time.RFC3339Nano))}); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, 4401) {
		t.Errorf("got %v, want 4401 when the key ends", err)
	}
}

// TestKeysOweForBodies: a call that costs more than the key's rate holds is let in, and the next one waits.
func TestKeysOweForBodies(t *testing.T) {
	s := start(t, nil)
	_, key := s.key(`{"name":"k","scopes":["users"],"rate":"5/h"}`)
	for n, want := range []int{200, 429} {
		var users []string
		for i := range 20 {
			users = append(users, fmt.Sprintf(`{"user":"u%d"}`, i))
		}
		body := `{"users":[` + strings.Join(users, ",") + `]}`
		if a := s.by(key, "", request{method: "PUT", path: "/v1/users", body: body}); a.status != want {
			t.Errorf("call %d: got %d %s", n, a.status, a.body)
		}
	}
}

// TestRefusedKeysCost: who may not act so, or not from there, pays with the address.
func TestRefusedKeysCost(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateIP, c.TrustedProxies = "1/h:4", []string{"127.0.0.1"} })
	_, key := s.key(`{"name":"k","scopes":["read"],"as":["bot"],"from":["192.0.2.0/24"]}`)
	call := func(from, as string) int {
		return s.by(key, as, request{method: "GET", path: "/v1/me", header: map[string]string{"X-Forwarded-For": from}}).status
	}
	for n, want := range []int{403, 400, 403, 403, 429} {
		as := []string{"other", "a/b", "other", "Bot", "other"}[n]
		if got := call("192.0.2.1", as); got != want {
			t.Errorf("call %d: got %d, want %d", n, got, want)
		}
	}
	if got := call("198.51.100.1", "bot"); got != 403 {
		t.Errorf("from elsewhere: got %d", got)
	}
	if got := call("192.0.2.1", "bot"); got != 200 {
		t.Errorf("a call that is allowed: got %d", got)
	}
}

// TestProgramsWrite: what a key writes for a user carries the key, and what it does for itself has no user.
func TestProgramsWrite(t *testing.T) {
	s := start(t, nil)
	id, key := s.key(`{"name":"bot","scopes":["groups","send","read","ops"],"as":["bot"]}`)
	via := `"via":"` + id + `"`
	made := s.by(key, "", request{method: "POST", path: "/v1/groups", body: `{"id":"g","name":"by a program","members":["bot","alice"]}`})
	if made.status != 201 || made.field("created_by") != "key:"+id || fmt.Sprint(made.field("members")) != "2" {
		t.Fatalf("got %d %s", made.status, made.body)
	}
	if a := s.by(key, "bot", request{method: "GET", path: "/v1/groups/g/messages?after=0"}); strings.Count(a.body, via) != 2 || strings.Count(a.body, `"from":"key:`+id) != 2 {
		t.Errorf("got %s, want two notices of the key", a.body)
	}
	if a := s.by(key, "", request{method: "GET", path: "/v1/groups/g/members"}); a.status != 200 || strings.Contains(a.body, "owner") || strings.Contains(a.body, "key:") {
		t.Errorf("got %d %s, want no owner", a.status, a.body)
	}
	if a := s.must("bob", "POST", "/v1/groups", `{"id":"other"}`); strings.Contains(a.body, "via") {
		t.Errorf("got %s, want nothing of a key", a.body)
	}
	sent := s.by(key, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"hi","client_id":"c"}`})
	again := s.by(key, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"hi","client_id":"c"}`})
	if sent.status != 201 || !strings.Contains(sent.body, via) || again.status != 200 || !strings.Contains(again.body, via) {
		t.Errorf("got %d %s and %d %s, want the key in both", sent.status, sent.body, again.status, again.body)
	}
	s.by(key, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: `{"kind":"reaction","target":3,"emoji":"👍"}`})
	s.by(key, "bot", request{method: "POST", path: "/v1/groups/g/messages", body: `{"kind":"edit","target":3,"body":"hello"}`})
	if a := s.must("alice", "POST", "/v1/sync", `{"only":["g"]}`); strings.Count(a.body, via) != 5 {
		t.Errorf("got %s, want the key in five entries", a.body)
	}
	if a := s.by(key, "bot", request{method: "POST", path: "/v1/users/alice/messages", body: `{"body":"psst"}`}); a.status != 201 || !strings.Contains(a.body, via) {
		t.Errorf("a direct message: got %d %s", a.status, a.body)
	}
	if a := s.must("alice", "GET", "/v1/inbox", ""); !strings.Contains(a.body, via) {
		t.Errorf("got %s, want the key in the item", a.body)
	}
	for _, c := range []struct{ method, path, body string }{
		{"PUT", "/v1/groups/g/members/alice", `{"role":"owner"}`}, {"PATCH", "/v1/groups/g", `{"name":"renamed"}`}, {"PUT", "/v1/groups/g/members/carl", ""},
		{"DELETE", "/v1/groups/g/members/carl", ""}, {"POST", "/v1/groups", `{"id":"empty"}`},
	} {
		if a := s.by(key, "", request{method: c.method, path: c.path, body: c.body}); a.status >= 300 {
			t.Errorf("%s %s: got %d %s", c.method, c.path, a.status, a.body)
		}
	}
	if a := s.must("alice", "GET", "/v1/groups/g/members", ""); !strings.Contains(a.body, `"user":"alice","role":"owner"`) {
		t.Errorf("got %s, want alice as owner", a.body)
	}
	if a := s.by(key, "", request{method: "PUT", path: "/v1/groups/empty/members/dora", body: ""}); a.status != 201 {
		t.Errorf("the first member: got %d %s", a.status, a.body)
	}
	s.must("dora", "DELETE", "/v1/groups/empty/members/dora", "")
	if a := s.by(key, "", request{method: "GET", path: "/v1/groups/empty"}); a.status != 404 {
		t.Errorf("after the last one has left: got %d %s", a.status, a.body)
	}
	if a := s.by(key, "", request{method: "GET", path: "/v1/doctor"}); a.status != 200 || !strings.Contains(a.body, `"findings":[]`) {
		t.Errorf("got %d %s, want no findings", a.status, a.body)
	}
}

// TestKeysOfSomeGroups: a key that is bound to groups makes no others.
func TestKeysOfSomeGroups(t *testing.T) {
	s := start(t, nil)
	_, key := s.key(`{"name":"bot","scopes":["groups","send","read","tasks"],"as":["bot"],"groups":["a:*"]}`)
	for path, status := range map[string]int{"a:1": 201, "b": 403, "": 403} {
		body := `{"members":["bot"]}`
		if path != "" {
			body = `{"id":"` + path + `","members":["bot"]}`
		}
		if a := s.by(key, "", request{method: "POST", path: "/v1/groups", body: body}); a.status != status {
			t.Errorf("%q: got %d %s, want %d", path, a.status, a.body, status)
		}
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"b","members":["bot"]}`)
	for _, c := range []struct{ method, path, as string }{
		{"GET", "/v1/groups/b", ""}, {"GET", "/v1/groups/b/messages", "bot"}, {"GET", "/v1/inbox", "bot"}, {"GET", "/v1/tasks", ""}, {"GET", "/v1/me/export", "bot"},
	} {
		checkProblem(t, c.path, s.by(key, c.as, request{method: c.method, path: c.path}), 403, "forbidden")
	}
	checkProblem(t, "a direct message", s.by(key, "bot", request{method: "POST", path: "/v1/users/alice/messages", body: `{"body":"x"}`}), 403, "forbidden")
}

// TestKeysOfSomeGroupsManageKeys: a key that is bound to groups manages itself and keys within its groups, and finds no others.
func TestKeysOfSomeGroupsManageKeys(t *testing.T) {
	s := start(t, nil)
	id, key := s.key(`{"name":"team","scopes":["keys","read"],"groups":["a*"]}`)
	other, _ := s.key(`{"name":"other","scopes":["read"]}`)
	by := func(method, path, body string) answer {
		return s.by(key, "", request{method: method, path: path, body: body})
	}
	made := by("POST", "/v1/keys", `{"name":"within","scopes":["read"],"groups":["a:1"]}`)
	if made.status != 201 {
		t.Fatalf("within: got %d %s", made.status, made.body)
	}
	within := "/v1/keys/" + made.field("id").(string)
	for _, draft := range []string{`{"name":"all","scopes":["read"]}`, `{"name":"b","scopes":["read"],"groups":["b"]}`} {
		checkProblem(t, draft, by("POST", "/v1/keys", draft), 403, "forbidden")
	}
	if a := by("GET", "/v1/keys", ""); a.status != 200 || !strings.Contains(a.body, id) || strings.Contains(a.body, other) {
		t.Errorf("list: got %d %s", a.status, a.body)
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "", ""}, {"PATCH", "", `{"name":"x"}`}, {"POST", "/rotate", `{}`}, {"DELETE", "", ""},
	} {
		checkProblem(t, c.method+c.path, by(c.method, "/v1/keys/"+other+c.path, c.body), 403, "forbidden")
		if a := by(c.method, within+c.path, c.body); a.status/100 != 2 {
			t.Errorf("%s%s within: got %d %s", c.method, c.path, a.status, a.body)
		}
	}
	checkProblem(t, "beyond", by("PATCH", "/v1/keys/"+id, `{"groups":null}`), 403, "forbidden")
	if a := by("POST", "/v1/keys/"+id+"/rotate", `{"overlap_s":60}`); a.status != 200 || a.field("key") == nil {
		t.Errorf("its own: got %d %s", a.status, a.body)
	}
}
