package live_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// TestIdleReadersTakeLittleHeap counts what the reader of a session that is in 20 groups takes while nothing happens. It is not
// parallel, because it reads the heap of the process.
func TestIdleReadersTakeLittleHeap(t *testing.T) {
	const users, groups, most = 150, 20, 4 << 10
	l := startLive(t, signalsOnly)
	var names []string
	for i := range users {
		names = append(names, fmt.Sprint("user", i))
	}
	after := map[string]string{}
	for i := range groups {
		id := fmt.Sprint("group", i)
		l.group(t, id, "owner", names...)
		after[id] = fmt.Sprint(users + 1)
	}
	heap := func() int64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	readers := make([]*live.Follower, users)
	for i, name := range names {
		f, err := l.Follow(t.Context(), chat.Caller{User: name}, live.Scope{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.Welcome().Groups); got != groups {
			t.Fatalf("the reader follows %d groups, want %d", got, groups)
		}
		readers[i] = f
	}
	took := (heap() - before) / users
	for _, f := range readers {
		f.Close()
	}
	t.Logf("a reader takes %d bytes of heap", took)
	if took > most {
		t.Errorf("a reader takes %d bytes of heap, want at most %d", took, most)
	}
}
