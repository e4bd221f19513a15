package web_test

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestWaitingPollsTakeLittleMemory counts what polls take in a node while they wait: of the heap, 10 KiB are buffers of net/http,
// and of the stacks 2 KiB are that of its reader, which notices that a client is gone. The race detector takes as much again.
func TestWaitingPollsTakeLittleMemory(t *testing.T) {
	const polls = 200
	heapMost, stackMost := int64(24<<10), int64(20<<10)
	if raceDetector(t) {
		heapMost, stackMost = 40<<10, 44<<10
	}
	s := start(t, func(c *node.Config) { c.MaxConnsIP = "off" })
	users := make([]string, polls)
	for i := range users {
		users[i] = fmt.Sprintf(`"u%d"`, i)
	}
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":[`+strings.Join(users, ",")+`]}`)
	const after = `{"after":{"g":3},"wait_s":60,` // the creation, and two notices of 100 who joined
	for i := range users {                        // their inboxes say that they were added, sooner or later
		if a := s.must(fmt.Sprint("u", i), "POST", "/v1/sync", after+`"inbox_after":0}`); !strings.Contains(a.body, `"added"`) {
			t.Fatal(a.body)
		}
	}
	var clients []net.Conn
	for i := range users {
		clients = append(clients, s.poll(fmt.Sprint("u", i), after+`"inbox_after":1}`))
	}
	untilWaiting(t, polls)
	heap, stack := inUse()
	for _, c := range clients {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	untilWaiting(t, 0) // what is left is of the node
	heapLeft, stackLeft := inUse()
	heap, stack = (heap-heapLeft)/polls, (stack-stackLeft)/polls
	t.Logf("a poll takes %d bytes of heap and %d of stacks", heap, stack)
	if heap > heapMost || stack > stackMost {
		t.Errorf("a poll takes %d bytes of heap and %d of stacks, want at most %d and %d", heap, stack, heapMost, stackMost)
	}
}

// poll sends a sync on a connection of its own, and reads nothing.
func (s *server) poll(user, body string) net.Conn {
	s.t.Helper()
	c, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "POST /v1/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", token(s.t, user, ""), len(body), body); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// raceDetector tells whether the test was built with it.
func raceDetector(t *testing.T) bool {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("the test does not know how it was built")
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// inUse is how many bytes are in use after what is garbage was collected.
func inUse() (heap, stack int64) {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}

var waitingStack = regexp.MustCompile(`(?m)^(\d+) @.*\n#\t0x[0-9a-f]+\t\S*grows`)

// untilWaiting waits until so many polls wait.
func untilWaiting(t *testing.T, polls int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(time.Minute); ; {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, found := range waitingStack.FindAllStringSubmatch(stacks.String(), -1) {
			some, _ := strconv.Atoi(found[1])
			n += some
		}
		if n == polls {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%d polls wait, want %d", n, polls)
		}
	}
}
