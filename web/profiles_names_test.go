package web_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// TestFindUsers: by the beginning of an id or a word of a name, among those whom the directory shows.
func TestFindUsers(t *testing.T) {
	for _, directory := range []string{"shared", "all", "off"} {
		t.Run(directory, func(t *testing.T) {
			s := start(t, func(c *node.Config) {
				switch directory {
				case "all":
					c.Directory = "all"
				case "off":
					c.Directory = "off"
				}
			})
			s.operator("PUT", "/v1/users", `{"users":[{"user":"u1","name":"Ánna Schmidt"},{"user":"u2","name":"Hans Annen"},{"user":"u3","name":"Anna Anna"},{"user":"anna4","name":"X"},{"user":"u5","name":"Stranger Anna"}]}`)
			s.must("u1", "POST", "/v1/groups", `{"id":"g","members":["u2","u3","anna4","annabel","me"]}`)
			find := func(as, q string, limit int) (found []string) {
				t.Helper()
				cursor := ""
				for range 20 {
					path := fmt.Sprintf("/v1/users?limit=%d&q=%s&cursor=%s", limit, url.QueryEscape(q), cursor)
					a := s.must(as, "GET", path, "").fields()
					list := a["users"].([]any)
					if len(list) > limit {
						t.Errorf("got a page of %d", len(list))
					}
					for _, u := range list {
						found = append(found, u.(map[string]any)["user"].(string))
					}
					if a["next"] == nil {
						return found
					}
					cursor = a["next"].(string)
				}
				t.Fatalf("the pages of %q do not end", q)
				return nil
			}
			stranger := map[string]string{"all": " u5"}[directory]
			for _, c := range []struct{ q, want string }{
				{"anna", "u3" + stranger + " u1 anna4 annabel"}, {"ANNÁ SCH", "u1"}, {"annen", "u2"}, {"schm", "u1"}, {"nna", ""}, {"u1", "u1"}, {"annab", "annabel"}, {"zz", ""},
			} {
				want := strings.Fields(c.want)
				if directory == "off" {
					want = nil
				}
				for _, limit := range []int{1, 2, 50} {
					got := find("me", c.q, limit)
					seen := map[string]int{}
					for _, user := range got {
						seen[user]++
					}
					wanted := map[string]int{}
					for _, user := range want {
						wanted[user]++
					}
					if !maps.Equal(seen, wanted) {
						t.Errorf("%s by %d: got %q, want %q", c.q, limit, got, want)
					}
				}
			}
			if got := s.operator("GET", "/v1/users?q=stranger", "").fields()["users"].([]any); len(got) != 1 {
				t.Errorf("an operator found %v", got)
			}
			for _, bad := range []string{"?q=%20", "?q=" + strings.Repeat("x", 65), "?q=a&ids=b", "", "?q=a&cursor=x!", "?q=a&cursor=YWI"} {
				checkProblem(t, bad, s.do(request{method: "GET", path: "/v1/users" + bad, user: "me"}), 400, "invalid_request")
			}
		})
	}
}

// TestProfilesFromTokens: claims fill a profile, once, and users cannot change what comes from them.
func TestProfilesFromTokens(t *testing.T) {
	redis := redistest.Start(t)
	s := start(t, func(c *node.Config) {
		c.Redis = redis.URL()
		c.JWTProfile = []string{"name", "picture"}
	})
	token := func(user, name, picture string, at int64) string {
		claims := map[string]any{"sub": user, "exp": time.Now().Add(time.Hour).Unix(), "iat": at}
		for field, value := range map[string]string{"name": name, "picture": picture} {
			if value != "" {
				claims[field] = value
			}
		}
		return harness.Sign(map[string]any{"alg": "HS256"}, claims, secret)
	}
	now := time.Now().Unix()
	me := func(token string) string {
		t.Helper()
		a := s.with(token, "GET", "/v1/me", "")
		return fmt.Sprint(a.field("name"), " ", a.field("picture"))
	}
	first := token("alice", " Alice\u202e ", "https://example.com/a", now-10)
	if got := me(first); got != "Alice https://example.com/a" {
		t.Errorf("got %s", got)
	}
	version := s.with(first, "GET", "/v1/me", "").field("version")
	writes := redis.Calls()["hset"]
	for i := range int64(5) {
		me(token("alice", "Alice", "https://example.com/a", now-9+i)) // newer tokens that say the same
	}
	if after := redis.Calls()["hset"]; after != writes || s.with(first, "GET", "/v1/me", "").field("version") != version {
		t.Errorf("%d writes of what was there already", after-writes)
	}
	if got := me(token("alice", "Al", "javascript:x", now)); got != "Al https://example.com/a" {
		t.Errorf("a newer token: got %s", got)
	}
	if got := me(first); got != "Al https://example.com/a" {
		t.Errorf("an older token: got %s", got)
	}
	for _, body := range []string{`{"name":"mine"}`, `{"picture":null}`} {
		checkProblem(t, body, s.with(first, "PATCH", "/v1/me", body), 403, "forbidden")
	}
	if a := s.with(first, "PATCH", "/v1/me", `{"status":{"text":"x"}}`); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","name":"Pinned"}]}`)
	if got := me(token("alice", "Other", "", now+1)); got != "Pinned https://example.com/a" {
		t.Errorf("pinned: got %s", got)
	}
	if got := me(token("bob", "", "", now)); got != "<nil> <nil>" {
		t.Errorf("no claims: got %s", got)
	}
}

// TestWhatProfilesCost: a rename costs the same in a hundred groups as in one, and what a node remembers costs no command.
func TestWhatProfilesCost(t *testing.T) {
	redis := redistest.Start(t)
	s := start(t, func(c *node.Config) { c.Redis = redis.URL() })
	for i := range 100 {
		s.must("many", "POST", "/v1/groups", fmt.Sprintf(`{"id":"g%d","members":["reader"]}`, i))
	}
	s.must("one", "POST", "/v1/groups", `{"id":"single","members":["reader"]}`)
	s.must("many", "POST", "/v1/groups/g0/messages", `{"body":"x"}`)
	// about are the commands that have to do with profiles, and with groups.
	watch := redis.Watch(t)
	about := func(what func()) (profiles, groups int) {
		watch.Take(t)
		what()
		for _, line := range watch.Take(t) {
			if strings.Contains(line, ":profile") {
				profiles++
			}
			if strings.Contains(line, ":g:g") || strings.Contains(line, ":g:single") {
				groups++
			}
		}
		return profiles, groups
	}
	page := func() (profiles, groups int) {
		return about(func() { s.must("reader", "GET", "/v1/groups/g0/messages", "") })
	}
	page()
	profiles, without := page()
	if profiles != 0 || without == 0 {
		t.Errorf("a page costs %d commands of profiles though there are none, and %d of groups", profiles, without)
	}
	rename := func(user, name string) (profiles, groups int) {
		return about(func() { s.must(user, "PATCH", "/v1/me", `{"name":"`+name+`"}`) })
	}
	rename("many", "First")
	rename("one", "First")
	for _, user := range []string{"many", "one"} {
		// The read, the write, what is published, and what the node reads of that; a poll that falls in between reads it once more.
		if profiles, groups := rename(user, "Other"); groups != 0 || profiles < 3 || profiles > 5 {
			t.Errorf("a rename of %s: %d commands of profiles, %d of groups", user, profiles, groups)
		}
	}
	harness.Eventually(t, time.Minute, "a page costs what it did without profiles", func() error {
		if profiles, with := page(); profiles != 0 || with != without {
			return fmt.Errorf("got %d commands of profiles and %d of groups, want %d of these", profiles, with, without)
		}
		return nil
	})
	if !strings.Contains(s.must("reader", "GET", "/v1/groups/g0/messages", "").body, `"profiles":{"many":`) {
		t.Error("the page names no profile")
	}
}
