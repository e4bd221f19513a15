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

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// opResult is what a test looks at of one result.
type opResult struct {
	Status       int
	ID           any
	Code, Detail string
	Seq          int
	Body         string
	Via, From    string
	User         string
	Version      int64
	Duplicate    bool
	RetryAfterMs int `json:"retry_after_ms"`
}

func resultsOf(t testing.TB, a answer) (results []opResult) {
	t.Helper()
	var page struct{ Results []opResult }
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return page.Results
}

func statuses(results []opResult) (list []int) {
	for _, r := range results {
		list = append(list, r.Status)
	}
	return list
}

// batch makes a batch with a retry key, or none.
func (s *server) batch(user, key string, ops ...string) []opResult {
	s.t.Helper()
	r := request{method: "POST", path: "/v1/batch", user: user, body: `{"ops":[` + strings.Join(ops, ",") + `]}`}
	if key != "" {
		r.header = map[string]string{"Idempotency-Key": key}
	}
	return resultsOf(s.t, s.do(r))
}

// TestBatchDoesWhatSingleCallsDo makes one write of each sort, and some that are refused; those on one group run in their order.
func TestBatchDoesWhatSingleCallsDo(t *testing.T) {
	s := start(t, nil)
	ops := []string{
		`{"op":"create_group","id":"g","members":["bob"]}`,
		`{"op":"send","group":"g","body":"one"}`,
		`{"op":"send","group":"g","body":"two"}`,
		`{"op":"send","group":"g","kind":"edit","target":3,"body":"1"}`,
		`{"op":"send","group":"g","body":"three","mentions":["bob"]}`,
		`{"op":"update_group","group":"g","name":"G"}`,
		`{"op":"add_member","group":"g","user":"carl"}`,
		`{"op":"set_role","group":"g","user":"carl","role":"admin"}`,
		`{"op":"remove_member","group":"g","user":"bob"}`,
		`{"op":"direct","user":"bob","body":"bye"}`,
		`{"op":"direct","user":"bob","body":"bye again"}`,
		`{"op":"send","group":"g","body":"later","deliver_at":"` + time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339) + `"}`,
		`{"op":"send","group":"h","body":"x"}`,
		`{"op":"nope","group":"g"}`,
		`{"op":"send","group":"g","body":"x","nope":1}`,
		`{"op":"set_role","group":"g","user":"carl"}`,
		`{"op":"send","group":"g","as":"bob","body":"x"}`,
		`{"op":"send","group":"g"}`,
		`{"op":"create_group"}`,
		`7`,
	}
	got := s.batch("alice", "", ops...)
	want := []int{201, 201, 201, 201, 201, 200, 201, 200, 204, 201, 201, 202, 404, 400, 400, 400, 403, 400, 201, 400}
	if !slices.Equal(statuses(got), want) {
		t.Errorf("got %v\n%+v\nwant %v", statuses(got), got, want)
	}
	if got[1].ID != 3.0 || got[2].ID != 4.0 || got[3].ID != 5.0 || got[4].ID != 6.0 || got[1].Body != "one" || got[1].From != "alice" {
		t.Errorf("the messages: %+v", got[1:5])
	}
	if got[9].Seq >= got[10].Seq {
		t.Errorf("direct messages: seq %d and %d, want them in order", got[9].Seq, got[10].Seq)
	}
	if got[12].Code != "not_found" || got[12].Detail == "" || got[13].Code != "invalid_request" || got[16].Code != "forbidden" {
		t.Errorf("refusals: %+v", got[12:17])
	}
	if members := s.must("carl", "GET", "/v1/groups/g/members", "").body; strings.Contains(members, `"bob"`) || !strings.Contains(members, `"role":"admin"`) {
		t.Errorf("the members: %s", members)
	}
	checkProblem(t, "no token", s.do(request{method: "POST", path: "/v1/batch", body: `{"ops":[]}`}), 401, "unauthenticated")
	many := `{"ops":[` + strings.Repeat(`{"op":"x"},`, 1000) + `{"op":"x"}]}`
	checkProblem(t, "too many", s.do(request{method: "POST", path: "/v1/batch", user: "alice", body: many}), 400, "out_of_range")
	large := `{"ops":[{"op":"send","group":"g","body":"` + strings.Repeat("x", 8<<20) + `"}]}`
	checkProblem(t, "too large", s.do(request{method: "POST", path: "/v1/batch", user: "alice", body: large}), 413, "too_large")
	fits := `{"ops":[{"op":"send","group":"g","body":"` + strings.Repeat("x", 2<<20) + `"}]}`
	if got := resultsOf(t, s.do(request{method: "POST", path: "/v1/batch", user: "alice", body: fits})); got[0].Status != 413 {
		t.Errorf("a batch of 2 MiB is read, its op refused: got %+v", got)
	}
}

// TestBatchOfUsers changes users: the changes of one in their order, and what is wrong with one is no other's.
func TestBatchOfUsers(t *testing.T) {
	s := start(t, nil)
	ops := `{"ops":[{"op":"put_user","user":"bob","name":"B"},{"op":"put_user","user":"carl","name":"a\u202eb"},{"op":"put_user","user":"bob","name":"Bob","data":{"team":"red"}},
		{"op":"put_user","user":"dora","role":"owner"},{"op":"put_user","user":"dora","name":null},{"op":"put_user","name":"x"}]}`
	got := resultsOf(t, s.operator("POST", "/v1/batch", ops))
	if want := []int{200, 400, 200, 400, 200, 400}; !slices.Equal(statuses(got), want) {
		t.Errorf("got %+v, want %v", got, want)
	}
	if got[0].User != "bob" || got[0].Version == 0 || got[2].Version <= got[0].Version || got[1].Detail == "" || got[3].Code != "invalid_request" {
		t.Errorf("got %+v", got)
	}
	bob := s.operator("GET", "/v1/users/bob", "").fields()
	same(t, "bob", []any{bob["name"], bob["data"]}, `["Bob",{"team":"red"}]`)
	if got := s.batch("alice", "", `{"op":"put_user","user":"alice","name":"A"}`); got[0].Status != 403 {
		t.Errorf("by a user: %+v", got)
	}
}

// TestBatchRepeated cuts a batch at several places, which is as if the rest had never come, and repeats it: the same ids, nothing twice.
func TestBatchRepeated(t *testing.T) {
	s := start(t, nil)
	for _, key := range []string{"k", strings.Repeat("k", 64)} {
		s.must("alice", "POST", "/v1/groups", `{"id":"g`+key[:1]+fmt.Sprint(len(key))+`"}`)
		group := fmt.Sprint("g", key[:1], len(key))
		var ops []string
		for i := range 60 {
			ops = append(ops, fmt.Sprintf(`{"op":"send","group":"%s","body":"m%d"}`, group, i))
		}
		ops = append(ops, `{"op":"create_group","name":"N"}`, `{"op":"direct","user":"bob","body":"x"}`, fmt.Sprintf(`{"op":"send","group":"%s","body":"own","client_id":"mine%d"}`, group, len(key)))
		first := s.batch("alice", key, ops[:25]...)
		first = append(first, s.batch("alice", key, ops...)[25:]...)
		last := s.must("alice", "GET", "/v1/groups/"+group, "").field("last")
		again := s.batch("alice", key, ops...)
		for i := range ops {
			if first[i].ID != again[i].ID || first[i].Seq != again[i].Seq || again[i].Status/100 != 2 {
				t.Errorf("op %d: first %+v, then %+v", i, first[i], again[i])
			}
		}
		if now := s.must("alice", "GET", "/v1/groups/"+group, "").field("last"); now != last || now != 62.0 {
			t.Errorf("the log ends at %v, then at %v, want 62", last, now)
		}
		other := slices.Clone(ops)
		other[3] = `{"op":"send","group":"` + group + `","body":"another"}`
		other[4] = `{"op":"update_group","group":"` + group + `","name":"another"}`
		changed := s.batch("alice", key, other...)
		for i := range other {
			want := again[i].Status
			if i == 3 || i == 4 {
				want = 409
			}
			if changed[i].Status != want || want == 409 && changed[i].Code != "key_reused" {
				t.Errorf("op %d of another batch with the key: %+v, want %d", i, changed[i], want)
			}
		}
	}
}

// TestBatchOfKeys makes writes with keys: as whom, with which scopes and in which groups is checked for each op.
func TestBatchOfKeys(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl"]}`)
	_, acts := s.key(`{"name":"acts","scopes":["send"],"as":["a*","b*"]}`)
	id, bound := s.key(`{"name":"bound","scopes":["groups","send"],"as":"any","groups":["team-*"]}`)
	by := func(key, as string, ops ...string) []opResult {
		t.Helper()
		return resultsOf(t, s.by(key, as, request{method: "POST", path: "/v1/batch", body: `{"ops":[` + strings.Join(ops, ",") + `]}`}))
	}
	got := by(acts, "", `{"op":"send","as":"alice","group":"g","body":"1"}`, `{"op":"send","as":"bob","group":"g","body":"2"}`,
		`{"op":"send","as":"carl","group":"g","body":"3"}`, `{"op":"send","group":"g","body":"4"}`, `{"op":"create_group","id":"x"}`, `{"op":"send","as":"","group":"g","body":"5"}`)
	if want := []int{201, 201, 403, 400, 403, 400}; !slices.Equal(statuses(got), want) || got[0].From != "alice" || got[1].From != "bob" || got[0].Via == "" {
		t.Errorf("got %+v, want %v", got, want)
	}
	if got := by(acts, "bob", `{"op":"send","group":"g","body":"6"}`); got[0].Status != 201 || got[0].From != "bob" {
		t.Errorf("the caller acts for bob: %+v", got)
	}
	got = by(bound, "", `{"op":"create_group","id":"team-a","members":["bob"]}`, `{"op":"send","group":"team-a","as":"bob","body":"hi"}`, `{"op":"add_member","group":"team-a","user":"carl"}`,
		`{"op":"create_group","id":"other"}`, `{"op":"send","group":"g","as":"bob","body":"hi"}`, `{"op":"direct","user":"carl","as":"bob","body":"hi"}`)
	if want := []int{201, 201, 201, 403, 403, 403}; !slices.Equal(statuses(got), want) || got[1].Via != id {
		t.Errorf("got %+v, want %v", got, want)
	}
}

// TestLimitsCountEachOp makes more sends than a user may with one batch.
func TestLimitsCountEachOp(t *testing.T) {
	s := start(t, func(c *node.Config) { c.RateSend = "10/m" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	op := `{"op":"send","group":"g","body":"x"}`
	got := s.batch("alice", "", slices.Repeat([]string{op}, 30)...)
	sent := 0
	for _, r := range got {
		if r.Status == http.StatusCreated {
			sent++
		} else if r.Status != 429 || r.Code != "rate_limited" || r.RetryAfterMs <= 0 {
			t.Errorf("got %+v", r)
		}
	}
	if sent == 0 || sent >= 10 {
		t.Errorf("%d of 30 were sent, want less than 10, as the creation counts too", sent)
	}
}

// TestBatchCostsLess sends 1,000 messages to 100 groups by 1,000 calls over 8 connections and by one batch: that takes no more commands
// of Redis. How much less time it takes is measured in bench.
func TestBatchCostsLess(t *testing.T) {
	r := redistest.Start(t)
	s := start(t, func(c *node.Config) { c.Redis, c.RateUser, c.RateSend = r.URL(), "off", "off" })
	calls := func() (n int64) {
		for _, each := range r.Calls() {
			n += each
		}
		return n
	}
	var create, ops []string
	for i := range 100 {
		create = append(create, fmt.Sprintf(`{"op":"create_group","id":"g%d","members":["bob"]}`, i))
	}
	s.batch("alice", "", create...)
	for i := range 1000 {
		ops = append(ops, fmt.Sprintf(`{"op":"send","group":"g%d","body":"hello %d"}`, i%100, i))
	}
	single := func(prefix string) int64 {
		before := calls()
		var wg sync.WaitGroup
		for c := range 8 {
			wg.Go(func() {
				for i := c; i < 1000; i += 8 {
					a := s.do(request{method: "POST", user: "alice", path: fmt.Sprintf("/v1/groups/g%d/messages", i%100), body: fmt.Sprintf(`{"body":"hello %d","client_id":"%s%d"}`, i, prefix, i)})
					if a.status != 201 {
						t.Errorf("%d %s", a.status, a.body)
					}
				}
			})
		}
		wg.Wait()
		return calls() - before
	}
	together := func(key string) int64 {
		before := calls()
		for i, r := range s.batch("alice", key, ops...) {
			if r.Status != 201 {
				t.Fatalf("op %d: %+v", i, r)
			}
		}
		return calls() - before
	}
	single("warm")
	together("warm")
	one, all := single("s"), together("b")
	t.Logf("1,000 sends to 100 groups: %d commands by themselves over 8 connections, %d in a batch", one, all)
	if all > one {
		t.Errorf("a batch takes %d commands, more than the %d of its sends", all, one)
	}
}
