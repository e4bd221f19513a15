package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

// listening is a long poll that runs beside the test.
type listening struct {
	t      *testing.T
	answer chan answer
	took   time.Duration // once it is answered
}

// pollMost is how long a poll waits.
const pollMost = 50 * time.Second

// listen begins a long poll of somebody who was added to groups, from the ends of those.
func (s *server) listen(user, more string, added int, groups ...string) *listening {
	s.t.Helper()
	var after []string
	for _, g := range groups {
		after = append(after, fmt.Sprintf(`%q:%v`, g, s.must(user, "GET", "/v1/groups/"+g, "").field("last")))
	}
	harness.Eventually(s.t, time.Minute, user+" is notified of groups", func() error {
		if last := s.must(user, "GET", "/v1/inbox", "").field("last"); last != float64(added) {
			return fmt.Errorf("%v items", last)
		}
		return nil
	})
	body := fmt.Sprintf(`{"after":{%s},"inbox_after":%d,"wait_s":%d%s}`, strings.Join(after, ","), added, int(pollMost.Seconds()), more)
	l := &listening{t: s.t, answer: make(chan answer, 1)}
	began := time.Now()
	go func() {
		a := s.do(request{method: "POST", path: "/v1/sync", body: body, user: user})
		l.took = time.Since(began)
		l.answer <- a
	}()
	return l
}

// typing is what an answer says about it.
func (a answer) typing() string {
	list, _ := a.field("typing").([]any)
	var all []string
	for _, one := range list {
		sign, _ := one.(map[string]any)
		all = append(all, fmt.Sprint(sign["group"], " ", sign["user"]))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// until does something again and again until the poll is answered: what is typed before the poll listens is lost.
func (l *listening) until(do func()) answer {
	l.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(time.Minute); ; {
		select {
		case a := <-l.answer:
			return a
		case <-over:
			l.t.Fatal("the poll is not answered")
		case <-tick.C:
			do()
		}
	}
}

// TestTypingReachesPollsThatAsk: a poll that asks is answered with who types. One that does not ask is answered with the next
// message, and typing of groups that the caller is not in reaches nobody.
func TestTypingReachesPollsThatAsk(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob","carl","dave"]}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"h","members":["eve"]}`)
	both := func() {
		s.must("alice", "POST", "/v1/groups/g/typing", "")
		s.must("dave", "POST", "/v1/groups/g/typing", "")
	}
	const asks = `,"typing":true`
	quiet := s.listen("bob", "", 1, "g")
	carl := s.listen("carl", asks, 1, "g")
	a := carl.until(both)
	if got := a.typing(); got != "g alice, g dave" && got != "g alice" && got != "g dave" || strings.Contains(a.body, "messages") {
		t.Errorf("carl got %s", a.body)
	}
	if carl.took < time.Second {
		t.Errorf("a poll is answered after %v, want typing to wait for a second", carl.took)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi"}`)
	a = quiet.until(func() {})
	if a.typing() != "" || !strings.Contains(a.body, `"body":"hi"`) && quiet.took < pollMost {
		t.Errorf("bob got %s after %v, want the message and nothing else", a.body, quiet.took)
	}
	if a := s.listen("dave", asks, 1, "g").until(both); a.typing() != "g alice" {
		t.Errorf("dave got %s, want alice alone", a.body)
	}
	stranger := s.listen("eve", asks+`,"only":["g","h"]`, 1, "h").until(func() {
		both()
		s.must("alice", "POST", "/v1/groups/h/typing", "")
	})
	if stranger.typing() != "h alice" {
		t.Errorf("eve got %s, want typing of her own group", stranger.body)
	}
	socket := s.sit("bob")
	both()
	socket.await("typing", func(f map[string]any) bool { return f["user"] == "dave" })
}

// TestTypingIsRefused has those say that they type who may not write.
func TestTypingIsRefused(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	direct := fmt.Sprint(s.must("alice", "PUT", "/v1/direct/bob", "").field("id"))
	s.must("alice", "PATCH", "/v1/groups/g/members/bob", `{"muted_until":"9999-12-31T00:00:00.000Z"}`)
	s.must("alice", "PUT", "/v1/blocks/bob", "")
	for _, c := range []struct {
		user, group string
		status      int
		code        string
	}{
		{"eve", "g", http.StatusNotFound, "not_found"},
		{"bob", "nowhere", http.StatusNotFound, "not_found"},
		{"bob", "g", http.StatusForbidden, "muted"},
		{"bob", direct, http.StatusForbidden, "blocked"},
	} {
		a := s.do(request{method: "POST", path: "/v1/groups/" + c.group + "/typing", user: c.user})
		checkProblem(t, c.user+" in "+c.group, a, c.status, c.code)
	}
	if a := s.must("alice", "POST", "/v1/groups/g/typing", ""); a.status != http.StatusNoContent {
		t.Errorf("got %d", a.status)
	}
}

// TestTypingOfLargeGroupsReachesNoPoll: a poll has no group open. No session says how large the groups are.
func TestTypingOfLargeGroupsReachesNoPoll(t *testing.T) {
	s := start(t, nil)
	members := make([]string, 101)
	for n := range members {
		members[n] = fmt.Sprintf(`"u%03d"`, n)
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"large","members":[`+strings.Join(members, ",")+`]}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"small","members":[`+strings.Join(members[2:], ",")+`]}`)
	a := s.listen("u002", `,"typing":true`, 2, "large", "small").until(func() {
		s.must("alice", "POST", "/v1/groups/large/typing", "")
		s.must("alice", "POST", "/v1/groups/small/typing", "")
	})
	if a.typing() != "small alice" {
		t.Errorf("got %s", a.body)
	}
}
