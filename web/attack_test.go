package web_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestOneUserInManyGroups has a user in many groups ask as fast as they can in 32 loops, at the limits that a node has by
// default, except for what comes back in a second: a slow machine would not reach that. It asks with calls that answer
// little and look at all of the groups. A user with one small group is served all the time.
func TestOneUserInManyGroups(t *testing.T) {
	const groups, loops, calls = 1500, 32, 50
	s := start(t, func(c *node.Config) { c.RateUser, c.MaxCallsNode = "10/s:2000", "1024" })
	var making sync.WaitGroup
	for i := range 8 {
		making.Go(func() {
			for n := i; n < groups; n += 8 { // operators are not limited
				a := s.do(request{method: "POST", path: "/v1/groups", user: "many", role: "admin", body: fmt.Sprintf(`{"id":"g%d"}`, n)})
				if a.status != http.StatusCreated {
					t.Errorf("group %d: %d %s", n, a.status, a.body)
				}
			}
		})
	}
	making.Wait()
	s.must("few", "POST", "/v1/groups", `{"id":"small"}`)
	attacks := []struct {
		request
		units int64 // at least: in a sync and an unread count, more is read of groups with something new
	}{
		{request{method: "POST", path: "/v1/sync", body: `{"limit":1}`, user: "many"}, (groups + 4*600) / 50},
		{request{method: "GET", path: "/v1/unread", user: "many"}, groups * (1 + 4) / 50},
		{request{method: "GET", path: "/v1/groups?limit=1", user: "many"}, groups / 50},
		{request{method: "GET", path: "/v1/search?q=x&limit=1", user: "many"}, groups * 4 / 50},
	}
	var attacking sync.WaitGroup
	var served, refused, units atomic.Int64
	stop := make(chan struct{})
	begin := time.Now()
	for i := range loops {
		attack := attacks[i%len(attacks)]
		attacking.Go(func() {
			for {
				pause := time.Duration(0)
				if a := s.do(attack.request); a.status == http.StatusOK {
					served.Add(1)
					units.Add(attack.units)
				} else {
					refused.Add(1)
					pause = time.Second
				}
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	<-time.After(3 * time.Second) // an overload shows by then
	for _, call := range []request{
		{method: "POST", path: "/v1/sync", body: `{"limit":1}`, user: "few"},
		{method: "GET", path: "/v1/unread", user: "few"},
	} {
		lost := map[int]int{}
		for range calls {
			if a := s.do(call); a.status != http.StatusOK {
				lost[a.status]++
			}
		}
		if len(lost) > 0 {
			t.Errorf("of %d calls of %s by another user, refused by status: %v", calls, call.path, lost)
		}
	}
	close(stop)
	attacking.Wait()
	// What the user gets is what the rate allows: a full bucket, what came since, and one call of each loop that was under way
	// when nobody knew yet how many groups there are.
	most := 2000 + 10*time.Since(begin).Seconds()
	for i := range loops {
		most += float64(attacks[i%len(attacks)].units)
	}
	if got := units.Load(); float64(got) > most || refused.Load() == 0 {
		t.Errorf("the user in many groups was served for %d units, want at most %.0f; %d calls were refused", got, most, refused.Load())
	}
	t.Logf("%d served, %d refused", served.Load(), refused.Load())
}
