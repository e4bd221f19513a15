package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

const rightWord = "correct horse battery"

// withOpenAccounts lets everybody register.
func withOpenAccounts(c *node.Config) { c.Accounts, c.Registration = "on", "open" }

// tokens is the answer to a sign-in.
type tokens struct{ Token, Refresh string }

// open makes a call without a token.
func (s *server) open(method, path, body string, header ...string) answer {
	s.t.Helper()
	r := request{method: method, path: path, body: body, header: map[string]string{}}
	for i := 0; i < len(header); i += 2 {
		r.header[header[i]] = header[i+1]
	}
	return s.do(r)
}

func (s *server) registers(user string) {
	s.t.Helper()
	if a := s.open("POST", "/v1/accounts", fmt.Sprintf(`{"user":%q,"password":%q}`, user, rightWord)); a.status != 201 {
		s.t.Fatalf("got %d %s", a.status, a.body)
	}
}

// logs signs a user in.
func (s *server) logs(user string) (p tokens) {
	s.t.Helper()
	return s.tokens(s.open("POST", "/v1/tokens", fmt.Sprintf(`{"user":%q,"password":%q}`, user, rightWord)))
}

func (s *server) tokens(a answer) (p tokens) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != 200 || p.Token == "" {
		s.t.Fatalf("got %d %s", a.status, a.body)
	}
	return p
}

// TestSignIn goes the whole way: register, sign in, refresh, sign out.
func TestSignIn(t *testing.T) {
	s := start(t, withOpenAccounts)
	s.must("known", "GET", "/v1/me", "")
	checkProblem(t, "a known id", s.open("POST", "/v1/accounts", `{"user":"known","password":"`+rightWord+`"}`), 409, "exists")
	a := s.open("POST", "/v1/accounts", `{"user":"alice","password":"`+rightWord+`"}`)
	if a.status != 201 || a.field("user") != "alice" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "twice", s.open("POST", "/v1/accounts", `{"user":"alice","password":"`+rightWord+`"}`), 409, "exists")
	checkProblem(t, "a common password", s.open("POST", "/v1/accounts", `{"user":"bob","password":"1234567890"}`), 400, "invalid_request")
	wrong := s.open("POST", "/v1/tokens", `{"user":"alice","password":"wrong"}`)
	checkProblem(t, "wrong", wrong, 401, "unauthenticated")
	if unknown := s.open("POST", "/v1/tokens", `{"user":"unknown","password":"wrong"}`); unknown.status != wrong.status || unknown.body != wrong.body {
		t.Errorf("an unknown user gets %d %s, want what a wrong password gets", unknown.status, unknown.body)
	}
	for _, body := range []string{`{}`, `{"user":"alice"}`, `{"password":"x"}`, `{"user":"alice","password":"x","nope":1}`, `[]`, ``} {
		checkProblem(t, body, s.open("POST", "/v1/tokens", body), 400, "invalid_request")
	}
	a = s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`"}`)
	p := s.tokens(a)
	ends, err := time.Parse(time.RFC3339, fmt.Sprint(a.field("expires_at")))
	if left := time.Until(ends); err != nil || left > 10*time.Minute || left < 9*time.Minute {
		t.Errorf("the access token ends at %v, %v; want in 10 minutes", ends, err)
	}
	if me := s.with(p.Token, "GET", "/v1/me", ""); me.field("user") != "alice" || me.field("role") != nil {
		t.Errorf("got %s", me.body)
	}
	next := s.tokens(s.open("POST", "/v1/tokens/refresh", `{"refresh":"`+p.Refresh+`"}`))
	if again := s.tokens(s.open("POST", "/v1/tokens/refresh", `{"refresh":"`+p.Refresh+`"}`)); again != next || next.Refresh == p.Refresh {
		t.Errorf("got %+v after %+v", again, next)
	}
	checkProblem(t, "no refresh token", s.open("POST", "/v1/tokens/refresh", ""), 401, "unauthenticated")
	checkProblem(t, "an empty body", s.open("POST", "/v1/tokens/refresh", "{}"), 401, "unauthenticated")
	conn := s.live(next.Token, "")
	if out := s.with(next.Token, "DELETE", "/v1/tokens", ""); out.status != 204 {
		t.Errorf("got %d %s", out.status, out.body)
	}
	closes(t, "of a login that has ended", conn, 4401)
	for _, old := range []tokens{p, next} {
		checkProblem(t, "an ended login", s.with(old.Token, "GET", "/v1/me", ""), 401, "unauthenticated")
		checkProblem(t, "an ended login", s.open("POST", "/v1/tokens/refresh", `{"refresh":"`+old.Refresh+`"}`), 401, "unauthenticated")
		if out := s.open("DELETE", "/v1/tokens", `{"refresh":"`+old.Refresh+`"}`); out.status != 204 {
			t.Errorf("signing out twice: got %d %s", out.status, out.body)
		}
	}
	checkProblem(t, "nothing", s.open("DELETE", "/v1/tokens", ""), 401, "unauthenticated")
	p = s.logs("alice")
	if out := s.open("DELETE", "/v1/tokens", `{"refresh":"`+p.Refresh+`"}`); out.status != 204 {
		t.Errorf("got %d %s", out.status, out.body)
	}
	checkProblem(t, "an ended login", s.with(p.Token, "GET", "/v1/me", ""), 401, "unauthenticated")
	checkProblem(t, "a token of no login", s.with(token(t, "alice", ""), "DELETE", "/v1/tokens", ""), 400, "invalid_request")
	if strings.Contains(s.log.String(), rightWord) || strings.Contains(s.log.String(), p.Refresh) {
		t.Error("the log has a password or a refresh token")
	}
}

// TestCookie: the refresh token in a cookie that no page reads, and that counts for requests of the same origin alone.
func TestCookie(t *testing.T) {
	s := start(t, func(c *node.Config) {
		withOpenAccounts(c)
		c.TrustedProxies, c.Origins = []string{"127.0.0.1"}, []string{"https://app.example.com"}
	})
	s.registers("alice")
	signIn := func(header ...string) (*http.Cookie, answer) {
		t.Helper()
		a := s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`","cookie":true}`, header...)
		set := (&http.Response{Header: a.header}).Cookies()
		if a.status != 200 || len(set) != 1 || a.field("refresh") != nil || a.field("token") == nil {
			t.Fatalf("got %d %s with the cookies %v", a.status, a.body, set)
		}
		return set[0], a
	}
	local, _ := signIn()
	if local.Name != "chatd" || local.Secure || !local.HttpOnly || local.SameSite != http.SameSiteStrictMode || local.Path != "/" || local.Domain != "" {
		t.Errorf("over plain http got %v", local)
	}
	secure, _ := signIn("X-Forwarded-Proto", "https", "X-Forwarded-Host", "chat.example.com")
	if secure.Name != "__Host-chatd" || !secure.Secure || !secure.HttpOnly || secure.SameSite != http.SameSiteStrictMode || secure.Path != "/" || secure.Domain != "" {
		t.Errorf("over https got %v", secure)
	}
	for _, foreign := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "https://app.example.com"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
		a := s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`","cookie":true}`, foreign...)
		checkProblem(t, "a cookie for "+foreign[1], a, 403, "forbidden")
	}
	cookie := "chatd=" + local.Value
	for _, foreign := range [][]string{
		{}, {"Origin", "https://evil.example"}, {"Origin", "https://app.example.com"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"}, {"Origin", s.url, "Sec-Fetch-Site", "cross-site"},
		{"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"}, {"Origin", strings.Replace(s.url, "http:", "https:", 1)},
	} {
		for _, call := range [][2]string{{"POST", "/v1/tokens/refresh"}, {"DELETE", "/v1/tokens"}} {
			a := s.open(call[0], call[1], "", append(foreign, "Cookie", cookie)...)
			checkProblem(t, fmt.Sprint(call, foreign), a, 401, "unauthenticated")
			if a.header.Get("Set-Cookie") != "" {
				t.Errorf("%v %v sets a cookie", call, foreign)
			}
		}
	}
	a := s.open("POST", "/v1/tokens/refresh", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
	set := (&http.Response{Header: a.header}).Cookies()
	if a.status != 200 || len(set) != 1 || set[0].Value == local.Value || a.field("refresh") != nil {
		t.Fatalf("got %d %s with %v", a.status, a.body, set)
	}
	access, _ := a.field("token").(string)
	if got := s.open("GET", "/v1/me", "", "Cookie", "chatd="+set[0].Value, "Origin", s.url); got.status != 401 {
		t.Errorf("the cookie is good for another route: got %d", got.status)
	}
	out := s.open("DELETE", "/v1/tokens", "", "Cookie", "chatd="+set[0].Value, "Origin", s.url)
	if gone := (&http.Response{Header: out.header}).Cookies(); out.status != 204 || len(gone) != 1 || gone[0].MaxAge >= 0 || gone[0].Name != "chatd" {
		t.Errorf("got %d with %v", out.status, gone)
	}
	checkProblem(t, "after signing out", s.with(access, "GET", "/v1/me", ""), 401, "unauthenticated")
	if gone := s.open("POST", "/v1/tokens/refresh", "", "Cookie", "chatd="+set[0].Value, "Origin", s.url); gone.status != 401 || !strings.Contains(gone.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("a cookie that holds no more: got %d %q", gone.status, gone.header.Get("Set-Cookie"))
	}
}

// TestLoginsOfAUser: what a user sees and ends of their devices, and how the password changes.
func TestLoginsOfAUser(t *testing.T) {
	s := start(t, withOpenAccounts)
	s.registers("alice")
	desk, phone, third := s.logs("alice"), s.logs("alice"), s.logs("alice")
	var list struct {
		Logins []struct {
			ID      string
			Current bool
		}
	}
	a := s.with(phone.Token, "GET", "/v1/me/logins", "")
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list.Logins) != 3 || strings.Contains(a.body, "hash") {
		t.Fatalf("got %s", a.body)
	}
	current := 0
	for _, l := range list.Logins {
		if l.Current {
			current++
		}
	}
	if current != 1 {
		t.Errorf("%d logins are current in %s", current, a.body)
	}
	checkProblem(t, "wrong", s.with(phone.Token, "PUT", "/v1/me/password", `{"old":"wrong","new":"another password"}`), 403, "forbidden")
	checkProblem(t, "short", s.with(phone.Token, "PUT", "/v1/me/password", `{"old":"`+rightWord+`","new":"short"}`), 400, "invalid_request")
	if a := s.with(phone.Token, "DELETE", "/v1/me/logins", ""); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	for _, p := range []tokens{desk, third} {
		checkProblem(t, "another one", s.with(p.Token, "GET", "/v1/me", ""), 401, "unauthenticated")
	}
	desk = s.logs("alice")
	conn := s.live(desk.Token, "")
	if a := s.with(phone.Token, "PUT", "/v1/me/password", `{"old":"`+rightWord+`","new":"another password"}`); a.status != 204 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	closes(t, "of before the new password", conn, 4401)
	checkProblem(t, "the old password", s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`"}`), 401, "unauthenticated")
	if a := s.with(phone.Token, "GET", "/v1/me", ""); a.status != 200 {
		t.Errorf("who changed it got %d %s", a.status, a.body)
	}
	if a := s.with(phone.Token, "DELETE", "/v1/me", ""); a.status != 202 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "an erased user", s.with(phone.Token, "GET", "/v1/me", ""), 401, "unauthenticated")
}

// TestOperatorsEndLogins: they list the logins of a user, end one, and see when the user was last there.
func TestOperatorsEndLogins(t *testing.T) {
	s := start(t, withOpenAccounts)
	s.registers("alice")
	desk, phone := s.logs("alice"), s.logs("alice")
	s.with(desk.Token, "GET", "/v1/me", "")
	ids := func() (ids []string) {
		t.Helper()
		a := s.operator("GET", "/v1/users/alice/logins", "")
		var list struct {
			Logins []struct {
				ID      string
				Current bool
			}
		}
		if err := json.Unmarshal([]byte(a.body), &list); err != nil || a.status != 200 || strings.Contains(a.body, "hash") {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		for _, l := range list.Logins {
			if ids = append(ids, l.ID); l.Current {
				t.Errorf("got %s as the operator's own", l.ID)
			}
		}
		return ids
	}
	all := ids()
	if len(all) != 2 {
		t.Fatalf("got %v", all)
	}
	a := s.operator("GET", "/v1/accounts", "")
	if list, _ := a.field("accounts").([]any); len(list) != 1 || list[0].(map[string]any)["last_seen_at"] == nil {
		t.Errorf("got %s, want when alice was last there", a.body)
	}
	checkProblem(t, "another user's", s.do(request{method: "DELETE", path: "/v1/users/bob/logins/" + all[0], user: "operator", role: "admin"}), 404, "not_found")
	for n, id := range all {
		if a := s.operator("DELETE", "/v1/users/alice/logins/"+id, ""); a.status != 204 {
			t.Errorf("got %d %s", a.status, a.body)
		}
		if left := ids(); len(left) != 1-n {
			t.Errorf("%v are left", left)
		}
	}
	for _, p := range []tokens{desk, phone} {
		checkProblem(t, "ended", s.with(p.Token, "GET", "/v1/me", ""), 401, "unauthenticated")
	}
	checkProblem(t, "no login any more", s.do(request{method: "DELETE", path: "/v1/users/alice/logins/" + all[0], user: "operator", role: "admin"}), 404, "not_found")
}

// TestErasureEndsLogins: whatever comes first, and though nobody does it besides.
func TestErasureEndsLogins(t *testing.T) {
	server := redistest.Start(t)
	s := start(t, func(c *node.Config) { c.Accounts, c.Registration, c.Redis = "on", "open", server.URL() })
	s.registers("alice")
	alice := s.logs("alice")
	beside, err := store.Open(t.Context(), store.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = beside.Close() })
	if _, err := beside.BeginErasure(t.Context(), chat.Caller{User: "root", Admin: true}, "alice"); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, time.Minute, "the token is refused", func() error {
		if a := s.with(alice.Token, "GET", "/v1/me", ""); a.status != http.StatusUnauthorized {
			return fmt.Errorf("got %d %s", a.status, a.body)
		}
		return nil
	})
}

// TestCodesAndOperators: what operators do for others, and how the first comes to be.
func TestCodesAndOperators(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Accounts = "on" })
	checkProblem(t, "no invitation", s.open("POST", "/v1/accounts", `{"user":"alice","password":"`+rightWord+`"}`), 403, "forbidden")
	checkProblem(t, "an unknown one", s.open("POST", "/v1/accounts", `{"user":"alice","password":"`+rightWord+`","code":"x"}`), 404, "not_found")
	_, setup, ok := strings.Cut(s.node.SetupLink(), "/#setup=")
	if !ok {
		t.Fatalf("got the setup link %q", s.node.SetupLink())
	}
	checkProblem(t, "a wrong code", s.open("POST", "/v1/tokens", `{"code":"x","user":"root","password":"`+rightWord+`"}`), 401, "unauthenticated")
	checkProblem(t, "a short password", s.open("POST", "/v1/tokens", `{"code":"`+setup+`","user":"root","password":"short"}`), 400, "invalid_request")
	checkProblem(t, "a bad name", s.open("POST", "/v1/tokens", `{"code":"`+setup+`","user":"root","password":"`+rightWord+`","name":"a\u202eb"}`),
		400, "invalid_request")
	root := s.tokens(s.open("POST", "/v1/tokens", `{"code":"`+setup+`","user":"root","password":"`+rightWord+`","name":" Ruth Root "}`))
	if me := s.with(root.Token, "GET", "/v1/me", ""); me.field("role") != "admin" {
		t.Errorf("got %s", me.body)
	}
	if me := s.with(root.Token, "GET", "/v1/me", ""); me.field("name") != "Ruth Root" {
		t.Errorf("got %s", me.body)
	}
	checkProblem(t, "spent", s.open("POST", "/v1/tokens", `{"code":"`+setup+`","user":"toor","password":"`+rightWord+`"}`), 401, "unauthenticated")
	if got := s.node.SetupLink(); got != "" {
		t.Errorf("got the setup link %s although there is an operator", got)
	}
	root = s.logs("root")
	make := func(credential, user, kind string) (code, url string) {
		t.Helper()
		a := s.with(credential, "POST", "/v1/users/"+user+"/codes", `{"kind":"`+kind+`"}`)
		code, _ = a.field("code").(string)
		url, _ = a.field("url").(string)
		if a.status != 201 || url != s.url+"/#"+kind+"="+code {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		return code, url
	}
	code, _ := make(root.Token, "alice", "reset")
	s.tokens(s.open("POST", "/v1/tokens", `{"code":"`+code+`","password":"`+rightWord+`"}`))
	alice := s.logs("alice")
	code, _ = make(root.Token, "alice", "link")
	s.tokens(s.open("POST", "/v1/tokens", `{"code":"`+code+`"}`))
	checkProblem(t, "spent", s.open("POST", "/v1/tokens", `{"code":"`+code+`"}`), 401, "unauthenticated")
	checkProblem(t, "not an operator", s.with(alice.Token, "POST", "/v1/users/root/codes", `{"kind":"link"}`), 403, "forbidden")
	a := s.with(root.Token, "POST", "/v1/keys", `{"name":"k","scopes":["users"]}`)
	key, _ := a.field("key").(string)
	checkProblem(t, "for an operator by a key", s.with(key, "POST", "/v1/users/root/codes", `{"kind":"link"}`), 403, "forbidden")
	make(key, "alice", "link")
	if a := s.with(key, "POST", "/v1/accounts", `{"user":"bob","password":"`+rightWord+`"}`); a.status != 201 {
		t.Errorf("a key registers: got %d %s", a.status, a.body)
	}
	for _, credential := range []string{key, alice.Token} {
		a := s.with(credential, "POST", "/v1/accounts", `{"user":"eve","password":"`+rightWord+`","role":"admin"}`)
		checkProblem(t, "an operator by others", a, 403, "forbidden")
	}
	if a := s.with(root.Token, "POST", "/v1/accounts", `{"user":"second","password":"`+rightWord+`","role":"admin"}`); a.status != 201 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if me := s.with(s.logs("second").Token, "GET", "/v1/me", ""); me.field("role") != "admin" {
		t.Errorf("got %s", me.body)
	}
	for _, user := range []string{"root", "second"} {
		s.operator("PUT", "/v1/users", `{"users":[{"user":"`+user+`","role":null}]}`)
		checkProblem(t, user+", an operator no more", s.with(s.logs(user).Token, "GET", "/v1/accounts", ""), 403, "forbidden")
	}
	checkProblem(t, "the token of before", s.with(root.Token, "GET", "/v1/accounts", ""), 403, "forbidden")
	if got := s.node.SetupLink(); got != "" {
		t.Errorf("got the setup link %s once nobody is an operator any more", got)
	}
	s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","disabled":true}]}`)
	checkProblem(t, "disabled", s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`"}`), 403, "forbidden")
	checkProblem(t, "disabled, refreshing", s.open("POST", "/v1/tokens/refresh", `{"refresh":"`+alice.Refresh+`"}`), 403, "forbidden")
}

// TestNamesOfAccounts: the name of a registration is the profile's, and the user's own to change.
func TestNamesOfAccounts(t *testing.T) {
	s := start(t, withOpenAccounts)
	register := func(user, name string) answer {
		t.Helper()
		return s.open("POST", "/v1/accounts", fmt.Sprintf(`{"user":%q,"password":%q,"name":%q}`, user, rightWord, name))
	}
	for _, bad := range []string{"a\u202eb", strings.Repeat("x", 65), "  "} {
		checkProblem(t, bad, register("alice", bad), 400, "invalid_request")
	}
	if a := register("alice", "Алиса Example"); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	alice := s.logs("alice").Token
	if me := s.with(alice, "GET", "/v1/me", ""); me.field("name") != "Алиса Example" {
		t.Errorf("got %s", me.body)
	}
	if me := s.with(alice, "PATCH", "/v1/me", `{"name":"Alice"}`); me.status != 200 || me.field("name") != "Alice" {
		t.Errorf("got %d %s", me.status, me.body)
	}
	s.logs("alice")
	if me := s.with(alice, "GET", "/v1/me", ""); me.field("name") != "Alice" {
		t.Errorf("another sign-in: got %s", me.body)
	}

	// What an operator has set stays.
	s.operator("PUT", "/v1/users", `{"users":[{"user":"bob","name":"Robert"}]}`)
	if a := s.operator("POST", "/v1/accounts", `{"user":"bob","password":"`+rightWord+`","name":"Bob"}`); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if me := s.with(s.logs("bob").Token, "GET", "/v1/me", ""); me.field("name") != "Robert" {
		t.Errorf("got %s", me.body)
	}
	// A reset may bring one, too.
	code, _ := s.operator("POST", "/v1/users/alice/codes", `{"kind":"reset"}`).field("code").(string)
	s.tokens(s.open("POST", "/v1/tokens", `{"code":"`+code+`","password":"another password","name":"Alicia"}`))
	if me := s.with(alice, "GET", "/v1/users/alice", ""); me.status != 401 {
		t.Errorf("a token of before the reset: got %d %s", me.status, me.body)
	}
	if a := s.operator("GET", "/v1/users/alice", ""); a.field("name") != "Alicia" {
		t.Errorf("got %s", a.body)
	}

	// An erased operator is none: not even with the same id again.
	s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","role":"admin"}]}`)
	if a := s.operator("DELETE", "/v1/users/alice", ""); a.status != 202 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	// Once she is erased, there is none.
	if a := s.do(request{method: "GET", path: "/v1/users/alice", user: "operator", role: "admin"}); a.status != 404 && (a.status != 200 || a.field("role") != nil) {
		t.Errorf("erased: got %d %s", a.status, a.body)
	}
}

// TestInvitedRegister: a code lets one person in, into its group too, and a refusal uses none.
func TestInvitedRegister(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Accounts = "on" })
	s.must("owner", "POST", "/v1/groups", `{"id":"g"}`)
	code := func(body string) string {
		t.Helper()
		code, _ := s.operator("POST", "/v1/invites", body).field("code").(string)
		return code
	}
	register := func(user, password, code string) answer {
		t.Helper()
		return s.open("POST", "/v1/accounts", fmt.Sprintf(`{"user":%q,"password":%q,"code":%q}`, user, password, code))
	}
	mine := code(`{}`)
	checkProblem(t, "a short password", register("alice", "short", mine), 400, "invalid_request")
	checkProblem(t, "a name that is taken", register("owner", rightWord, mine), 409, "exists")
	if a := register("alice", rightWord, mine); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	s.logs("alice")
	checkProblem(t, "used up", register("bob", rightWord, mine), 410, "gone")
	checkProblem(t, "unknown", register("bob", rightWord, "x"), 404, "not_found")
	if a := register("bob", rightWord, code(`{"group":"g"}`)); a.status != 201 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := s.with(s.logs("bob").Token, "GET", "/v1/groups/g/messages", ""); a.status != 200 {
		t.Errorf("who registered by the code of a group is no member: got %d %s", a.status, a.body)
	}
}

// TestWrongPasswordsAreCounted on this host as well, with the time to wait.
func TestWrongPasswordsAreCounted(t *testing.T) {
	s := start(t, withOpenAccounts)
	s.registers("alice")
	for range 5 {
		checkProblem(t, "wrong", s.open("POST", "/v1/tokens", `{"user":"alice","password":"wrong"}`), 401, "unauthenticated")
	}
	a := s.open("POST", "/v1/tokens", `{"user":"alice","password":"`+rightWord+`"}`)
	checkProblem(t, "too many", a, 429, "rate_limited")
	if a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	s.registers("bob")
	s.logs("bob")
}

// TestLoginsEndOnEveryNode: two nodes of a store, and one login that ends on the other.
func TestLoginsEndOnEveryNode(t *testing.T) {
	redis := redistest.Start(t)
	on := func(c *node.Config) {
		withOpenAccounts(c)
		c.Redis, c.Archive, c.Files = redis.URL(), "off", "off"
	}
	one, two := start(t, on), start(t, on)
	if one.node.SetupLink()[len(one.url):] != two.node.SetupLink()[len(two.url):] {
		t.Errorf("got the setup links %s and %s, want one code", one.node.SetupLink(), two.node.SetupLink())
	}
	one.registers("alice")
	p := one.logs("alice")
	conn := two.live(p.Token, "")
	if a := one.with(p.Token, "DELETE", "/v1/tokens", ""); a.status != 204 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	closes(t, "on the other node", conn, 4401)
	checkProblem(t, "on the other node", two.with(p.Token, "GET", "/v1/me", ""), 401, "unauthenticated")

	// Many refreshes on two nodes at the same time.
	p = one.logs("alice")
	var wg sync.WaitGroup
	answers := make([]answer, 100)
	for i := range answers {
		wg.Go(func() {
			answers[i] = []*server{one, two}[i%2].open("POST", "/v1/tokens/refresh", `{"refresh":"`+p.Refresh+`"}`)
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a.status != 200 || a.body != answers[0].body {
			t.Fatalf("got %d %s, want %s", a.status, a.body, answers[0].body)
		}
	}
}

// TestWithoutAccounts: the routes are not there.
func TestWithoutAccounts(t *testing.T) {
	s := start(t, nil)
	for _, call := range [][2]string{{"POST", "/v1/accounts"}, {"POST", "/v1/tokens"}, {"DELETE", "/v1/tokens"}, {"POST", "/v1/tokens/refresh"}} {
		checkProblem(t, call[1], s.open(call[0], call[1], ""), 404, "not_found")
	}
	checkProblem(t, "logins", s.do(request{method: "GET", path: "/v1/me/logins", user: "alice"}), 404, "not_found")
	about := start(t, withOpenAccounts).open("GET", "/v1/server", "")
	if about.field("accounts") != true || about.field("registration") != "open" {
		t.Errorf("got %s", about.body)
	}
}
