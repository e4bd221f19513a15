package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

const readersLog = 450 // messages of 33 kB: many times what the kernel keeps of an answer that nobody reads

// exported is the answer of an export, as far as it was read.
type exported struct {
	*http.Response
	lines *bufio.Reader
	ids   []int64 // of the entries
}

// beginExport asks for an export over a connection of which the kernel keeps little, and reads nothing of it.
func beginExport(ctx context.Context, t *testing.T, node *harness.Node, path string) *exported {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, node.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+harness.Token("ann", "", time.Hour))
	transport := &http.Transport{DialContext: narrow.NetDialContext, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &exported{Response: answer, lines: bufio.NewReader(answer.Body)}
}

// read reads up to n entries, and tells whether the export is complete.
func (e *exported) read(t *testing.T, n int) (complete bool) {
	t.Helper()
	for len(e.ids) < n {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			return false
		}
		var entry struct {
			ID      int64
			Message struct{ ID int64 }
			End     any
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("%.100s: %v", line, err)
		}
		if entry.End != nil {
			return true
		}
		if id := max(entry.ID, entry.Message.ID); id > 0 {
			e.ids = append(e.ids, id)
		}
	}
	return false
}

// TestExportsOfClientsThatDoNotRead: an export reads no more than the client takes, ends where that takes nothing, and goes on
// where a connection was cut.
func TestExportsOfClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 9*time.Minute)
	redis := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
	ann := node.Client("ann")
	must(ann.CreateGroup(ctx, client.GroupDraft{ID: "red", Members: []string{"bob"}}))(t)
	large := strings.Repeat("x", 16<<10)
	for range readersLog {
		must(ann.Send(ctx, "red", client.Draft{Body: large, Data: json.RawMessage(`"` + large[2:] + `"`)}))(t)
	}
	last := must(ann.Group(ctx, "red"))(t).Last
	read := func() (n int64) { // what the node has read of the store
		for line := range strings.Lines(fmt.Sprint(redis.Do("INFO", "stats"))) {
			_, _ = fmt.Sscanf(line, "total_net_output_bytes:%d", &n)
		}
		return n
	}
	const group, me = "/v1/groups/red/export", "/v1/me/export"
	mine := func() (answer *exported) { // the one export of a user at a time
		harness.Eventually(t, time.Minute, "an export of what ann wrote", func() error {
			if answer = beginExport(ctx, t, node, me); answer.StatusCode != http.StatusOK {
				return fmt.Errorf("got %s", answer.Status)
			}
			return nil
		})
		return answer
	}

	begun := read()
	slow, own := beginExport(ctx, t, node, group), beginExport(ctx, t, node, me)
	whole := mine() // once the node has given up the other
	if complete := whole.read(t, 2*readersLog); !complete || len(whole.ids) != readersLog {
		t.Errorf("got %d entries, complete %v", len(whole.ids), complete)
	}
	if all, size := read()-begun, int64(readersLog*2*len(large)); all > 2*size+size/4 {
		t.Errorf("a whole export and two that nobody took read %d bytes of the store, which holds %d", all, size)
	}
	if own.read(t, 2*readersLog) || len(own.ids) >= readersLog {
		t.Errorf("an export that nobody took in time has %d entries, and says that it is complete", len(own.ids))
	}
	harness.Eventually(t, time.Minute, "the node gives up the other export, too", func() error {
		m, err := node.Metrics(ctx)
		if n := m["chatd_requests_in_flight"]; err == nil && n > 1 { // besides this question
			err = fmt.Errorf("%.0f requests are under way", n-1)
		}
		return err
	})
	if slow.read(t, 2*readersLog) {
		t.Error("an export that nobody took in time says that it is complete")
	}

	// Each time the connection is cut in the middle, and the last one is not.
	ids := slow.ids
	for _, n := range []int{30, 150, 2 * readersLog} {
		answer := beginExport(ctx, t, node, fmt.Sprint(group, "?after=", ids[len(ids)-1]))
		complete := answer.read(t, n)
		if ids = append(ids, answer.ids...); complete != (n > readersLog) {
			t.Errorf("after %d entries: complete %v", n, complete)
		}
		_ = answer.Body.Close()
	}
	for i, id := range ids {
		if id != int64(i)+1 {
			t.Fatalf("entry %d is %d", i+1, id)
		}
	}
	if int64(len(ids)) != last {
		t.Errorf("got %d entries, want %d", len(ids), last)
	}
	cut := mine()
	cut.read(t, 1)
	_ = cut.Body.Close()
	mine() // its place is free again
}
