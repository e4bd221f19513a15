package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
)

// fields are those of an answer.
func (a answer) fields() (fields map[string]any) {
	_ = json.Unmarshal([]byte(a.body), &fields)
	return fields
}

// same compares what is left of an answer, as JSON.
func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil || string(text) != want {
		t.Errorf("%s: got %s %v, want %s", what, text, err, want)
	}
}

// TestOwnProfile: who changes what of themselves.
func TestOwnProfile(t *testing.T) {
	s := start(t, nil)
	none := s.must("alice", "GET", "/v1/me", "")
	same(t, "nothing yet", none.fields(), `{"presence":"shown","receipts":"shown","user":"alice","version":0}`)
	if tag := none.header.Get("ETag"); tag != `"0"` {
		t.Errorf("got the tag %s", tag)
	}
	me := s.must("alice", "PATCH", "/v1/me", `{"name":"  Alice\u0301 \u0645\u200c\u06cc ","picture":"https://example.com/a.png","data":{"a":1,"b":{"c":2}},
		"status":{"text":" away ","emoji":"🚂","until":"2999-01-01T00:00:00Z"},"settings":{"theme":"dark"}}`)
	got := me.fields()
	version := fmt.Sprintf("%.0f", got["version"])
	if tag := me.header.Get("ETag"); tag != `"`+version+`"` || version == "0" {
		t.Errorf("got the tag %s of version %s", tag, version)
	}
	delete(got, "version")
	same(t, "all fields", got, `{"data":{"a":1,"b":{"c":2}},"name":"Alicé م`+"\u200c"+`ی","picture":"https://example.com/a.png","presence":"shown","receipts":"shown","settings":{"theme":"dark"},`+
		`"status":{"emoji":"🚂","text":"away","until":"2999-01-01T00:00:00.000Z"},"user":"alice"}`)

	ifMatch := func(tag, body string) answer {
		return s.do(request{method: "PATCH", path: "/v1/me", user: "alice", body: body, header: map[string]string{"If-Match": tag}})
	}
	checkProblem(t, "another version", ifMatch(`"1"`, `{"name":"Al"}`), 409, "conflict")
	checkProblem(t, "no tag", ifMatch(`1`, `{"name":"Al"}`), 400, "invalid_request")
	if a := ifMatch(`"`+version+`"`, `{"name":"Al","data":{"a":null,"b":{"d":3}},"settings":{"lang":"en"}}`); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	got = s.must("alice", "GET", "/v1/me", "").fields()
	if fmt.Sprintf("%.0f", got["version"]) == version {
		t.Error("the version is the same after a change")
	}
	same(t, "merged", []any{got["name"], got["data"], got["settings"]}, `["Al",{"b":{"c":2,"d":3}},{"lang":"en","theme":"dark"}]`)
	same(t, "for others no settings", s.do(request{method: "GET", path: "/v1/users/alice", user: "alice"}).fields()["settings"], `null`)
	before := got["version"]
	if again := s.must("alice", "PATCH", "/v1/me", `{"name":"Al"}`).fields(); again["version"] != before {
		t.Error("a change that changes nothing makes a version")
	}
	got = s.must("alice", "PATCH", "/v1/me", `{"name":null,"picture":null,"data":null,"status":null,"settings":null}`).fields()
	if got["version"].(float64) <= before.(float64) {
		t.Errorf("got version %v after %v", got["version"], before)
	}
	delete(got, "version")
	same(t, "cleared", got, `{"presence":"shown","receipts":"shown","user":"alice"}`)

	for _, bad := range []string{
		`{"name":""}`, `{"name":"  "}`, `{"name":"` + strings.Repeat("x", 65) + `"}`, `{"name":"a\u202eb"}`, `{"name":"a\u061cb"}`, `{"name":"a\u200eb"}`, `{"name":"a\u2066b"}`,
		`{"name":"a\nb"}`, `{"name":"a\u0000b"}`, `{"name":1}`, `{"name":"\u200d"}`, `{"picture":"http://example.com/a"}`, `{"picture":"javascript:x"}`, `{"picture":"https://"}`,
		`{"picture":"/avatars/x"}`, `{"picture":"/avatars/../v1/me"}`, `{"picture":"https://a b/"}`, `{"picture":"https://u:p@example.com/"}`, `{"picture":"https://example.com/` + strings.Repeat("x", 2048) + `"}`,
		`{"data":[]}`, `{"data":"x"}`, `{"data":{"a":1,"a":2}}`, `{"status":"x"}`, `{"status":{}}`, `{"status":{"text":"x","nope":1}}`, `{"status":{"text":"` + strings.Repeat("x", 101) + `"}}`,
		`{"status":{"text":"x","emoji":"y"}}`, `{"status":{"text":"x","until":"soon"}}`, `{"version":1}`, `{"role":"admin"}`, `{"user":"bob"}`,
	} {
		checkProblem(t, bad, s.do(request{method: "PATCH", path: "/v1/me", user: "alice", body: bad}), 400, "invalid_request")
	}
	half := `"` + strings.Repeat("x", 2040) + `"`
	s.must("alice", "PATCH", "/v1/me", `{"name":"`+strings.Repeat("ü", 64)+`","data":{"a":`+half+`},"settings":`+`"`+strings.Repeat("x", 8190)+`"}`)
	s.must("alice", "PATCH", "/v1/me", `{"data":{"b":`+half+`}}`)
	for _, large := range []string{`{"data":{"c":"12"}}`, `{"settings":"` + strings.Repeat("x", 8191) + `"}`, `{"status":{"text":"x","until":"2000-01-01T00:00:00Z"}}`} {
		checkProblem(t, "too large", s.do(request{method: "PATCH", path: "/v1/me", user: "alice", body: large}), 400, "out_of_range")
	}
}

// TestPutUsers: what operators set is theirs, and an error of one user is no other's.
func TestPutUsers(t *testing.T) {
	s := start(t, nil)
	put := func(body string) map[string]any {
		t.Helper()
		return s.operator("PUT", "/v1/users", body).fields()
	}
	got := put(`{"users":[{"user":"alice","name":"Alice","data":{"team":"red","x":1}},{"user":"no id","name":"x"},{"user":"bob","name":"a\u202eb"},{"user":"carl","data":{"a":"` + strings.Repeat("x", 4096) + `"}},
		{"user":"dora","picture":"https://example.com/d"},{"user":"alice","data":{"x":null}}]}`)
	same(t, "errors", got["errors"], `[{"code":"invalid_request","user":"no id"},{"code":"invalid_request","user":"bob"},{"code":"out_of_range","user":"carl"}]`)
	done := got["users"].([]any)
	if len(done) != 3 || done[2].(map[string]any)["version"].(float64) <= done[0].(map[string]any)["version"].(float64) {
		t.Errorf("got %v", done)
	}
	me := s.must("alice", "GET", "/v1/me", "").fields()
	same(t, "alice", []any{me["name"], me["data"]}, `["Alice",{"team":"red"}]`)
	same(t, "the version", me["version"], fmt.Sprintf("%.0f", done[2].(map[string]any)["version"]))
	for _, pinned := range []string{`{"name":"Al"}`, `{"name":null}`, `{"data":{"x":1}}`} {
		checkProblem(t, "pinned "+pinned, s.do(request{method: "PATCH", path: "/v1/me", user: "alice", body: pinned}), 403, "forbidden")
	}
	s.must("alice", "PATCH", "/v1/me", `{"picture":"https://example.com/mine"}`)
	put(`{"users":[{"user":"alice","name":null}]}`)
	same(t, "unpinned", s.must("alice", "PATCH", "/v1/me", `{"name":"Al"}`).fields()["name"], `"Al"`)

	tag := s.operator("GET", "/v1/users/alice", "").header.Get("ETag")
	ifMatch := func(body string) answer {
		return s.do(request{method: "PUT", path: "/v1/users", user: "operator", role: "admin", body: body, header: map[string]string{"If-Match": tag}})
	}
	if a := ifMatch(`{"users":[{"user":"alice","name":"A"}]}`); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	checkProblem(t, "changed meanwhile", ifMatch(`{"users":[{"user":"alice","name":"B"}]}`), 409, "conflict")
	checkProblem(t, "for two", ifMatch(`{"users":[{"user":"alice"},{"user":"bob"}]}`), 400, "invalid_request")
	for _, bad := range []string{`"role":"owner"`, `"role":1`, `"disabled":"yes"`} {
		checkProblem(t, bad, s.do(request{method: "PUT", path: "/v1/users", user: "operator", role: "admin", body: `{"users":[{"user":"x",` + bad + `}]}`}), 400, "invalid_request")
	}

	// A user is an operator as long as that is decided, whatever the token says.
	checkProblem(t, "no operator yet", s.do(request{method: "GET", path: "/v1/tasks", user: "dora"}), 403, "forbidden")
	put(`{"users":[{"user":"dora","role":"admin"}]}`)
	same(t, "an operator", s.must("dora", "GET", "/v1/me", "").fields()["role"], `"admin"`)
	s.must("dora", "GET", "/v1/tasks", "")
	now := s.operator("GET", "/v1/users/dora", "").fields()
	same(t, "as operators see it", []any{now["role"], now["disabled"]}, `["admin",false]`)
	first := now["version"].(float64)
	put(`{"users":[{"user":"dora","role":null}]}`)
	checkProblem(t, "no longer", s.do(request{method: "GET", path: "/v1/tasks", user: "dora"}), 403, "forbidden")
	now = s.operator("GET", "/v1/users/dora", "").fields()
	if now["role"] != nil || now["version"].(float64) <= first {
		t.Errorf("got %v, want no role and a newer version than %.0f", now, first)
	}
}

// TestManyUsers creates a thousand users in one call.
func TestManyUsers(t *testing.T) {
	s := start(t, nil)
	var changes []string
	for i := range 1000 {
		changes = append(changes, fmt.Sprintf(`{"user":"u%d","name":"User %d"}`, i, i))
	}
	got := s.operator("PUT", "/v1/users", `{"users":[`+strings.Join(changes, ",")+`]}`).fields()
	if len(got["users"].([]any)) != 1000 || len(got["errors"].([]any)) != 0 {
		t.Errorf("got %d users and %v", len(got["users"].([]any)), got["errors"])
	}
	same(t, "the last one", s.operator("GET", "/v1/users/u999", "").fields()["name"], `"User 999"`)
	a := s.do(request{method: "PUT", path: "/v1/users", user: "operator", role: "admin", body: `{"users":[` + strings.Repeat(`{"user":"x"},`, 1000) + `{"user":"y"}]}`})
	checkProblem(t, "more", a, 400, "out_of_range")
}

// TestWhoSeesUsers: those who share a group or an item of an inbox, and operators.
func TestWhoSeesUsers(t *testing.T) {
	for _, directory := range []string{"shared", "off", "all"} {
		t.Run(directory, func(t *testing.T) {
			s := start(t, func(c *node.Config) {
				switch directory { // shared is the default
				case "off":
					c.Directory = "off"
				case "all":
					c.Directory = "all"
				}
			})
			s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","name":"Alice"},{"user":"dora","name":"Dora"},{"user":"eve","name":"Eve"}]}`)
			s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
			s.must("alice", "POST", "/v1/groups", `{"id":"h","members":["bob"]}`)
			s.must("dora", "POST", "/v1/users/bob/messages", `{"body":"x"}`)
			sees := func(as string, want string) {
				t.Helper()
				got := s.must(as, "GET", "/v1/users?ids=eve,dora,carl,bob,alice,absent,alice", "").fields()
				var names []string
				for _, u := range got["users"].([]any) {
					names = append(names, u.(map[string]any)["user"].(string))
				}
				if directory == "all" {
					want = "eve dora carl bob alice"
				}
				if strings.Join(names, " ") != want || got["next"] != nil {
					t.Errorf("%s sees %v, want %s", as, names, want)
				}
				for _, user := range []string{"eve", "dora", "carl", "bob", "alice", "absent"} {
					a := s.do(request{method: "GET", path: "/v1/users/" + user, user: as})
					if visible := strings.Contains(" "+want+" ", " "+user+" "); visible != (a.status == 200) {
						t.Errorf("%s sees %s: got %d %s", as, user, a.status, a.body)
					} else if !visible {
						checkProblem(t, user, a, 404, "not_found")
					}
					if strings.Contains(a.body, "disabled") || strings.Contains(a.body, "role") {
						t.Errorf("got %s, want nothing for operators", a.body)
					}
				}
			}
			sees("bob", "dora carl bob alice")
			sees("dora", "dora bob")
			sees("carl", "carl bob alice")
			s.must("bob", "DELETE", "/v1/groups/g/members/bob", "")
			sees("carl", "carl alice")
			sees("bob", "dora bob alice")
			same(t, "as operators see them", s.operator("GET", "/v1/users?ids=eve,absent", "").fields()["users"].([]any)[0].(map[string]any)["disabled"], `false`)
			checkProblem(t, "more than 100", s.do(request{method: "GET", path: "/v1/users?ids=a" + strings.Repeat(",b", 300), user: "bob"}), 400, "out_of_range")
			checkProblem(t, "no id", s.do(request{method: "GET", path: "/v1/users?ids=a,,b", user: "bob"}), 400, "invalid_request")
			_, key := s.key(`{"name":"k","scopes":["users"]}`)
			if a := s.by(key, "", request{method: http.MethodGet, path: "/v1/users/eve"}); a.field("name") != "Eve" || a.field("disabled") != false {
				t.Errorf("a key: got %s", a.body)
			}
		})
	}
}
