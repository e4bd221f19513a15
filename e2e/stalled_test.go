package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

const (
	stalledUsers    = 15
	stalledSockets  = 10 // of a user
	stalledMessages = 200
	stalledItems    = 60

	// Without a bound it would be 1 GiB.
	stalledMemoryMax   = 100 << 20 // that the Go runtime takes from the system, garbage included
	stalledResidentMax = 500 << 20 // of the whole process: the race detector's shadow of that memory is several times as large
)

// narrow dials so that a client that does not read leaves little to the buffers of the kernel.
var narrow = &websocket.Dialer{
	Subprotocols: []string{"chatd.v1"},
	NetDialContext: (&net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		}), err)
	}}).DialContext,
}

// stall opens a session that is owed everything, and reads nothing of it.
func stall(t *testing.T, node *harness.Node, user string) *websocket.Conn {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + harness.Token(user, "", time.Hour)}}
	conn, _, err := narrow.Dial("ws"+strings.TrimPrefix(node.URL(), "http")+"/v1/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"op":"hello","after":{"red":0}}`)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestClientsThatDoNotRead opens 150 sessions that are owed the largest messages and items there are, and that read nothing:
// the node takes little memory for them, serves others meanwhile, and the first of them misses nothing when it wakes up.
func TestClientsThatDoNotRead(t *testing.T) {
	ctx := bounded(t, 2*time.Minute)
	node := harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL()})
	users := []string{"bob"}
	for i := range stalledUsers {
		users = append(users, fmt.Sprint("slow", i))
	}
	ann, bob := node.Client("ann"), node.Client("bob")
	must(ann.CreateGroup(ctx, client.GroupDraft{ID: "red", Members: users}))(t)
	for _, user := range users { // an inbox of someone who never signed in takes little
		must(node.Client(user).Sync(ctx, client.SyncRequest{}))(t)
	}
	large := strings.Repeat("x", 16<<10)
	data := json.RawMessage(`"` + large[2:] + `"`)
	for range stalledMessages {
		must(ann.Send(ctx, "red", client.Draft{Body: large, Data: data}))(t)
	}
	var senders sync.WaitGroup
	for _, user := range users[1:] {
		senders.Go(func() {
			for range stalledItems {
				if _, err := ann.SendDirect(ctx, user, client.Direct{Body: large, Data: data}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	senders.Wait()
	must(bob.Sync(ctx, client.SyncRequest{}))(t)
	node.ForgetPeak()
	resident := node.PeakMemory()
	memory := watchMemory(ctx, t, node)

	var first *websocket.Conn
	for range stalledSockets {
		for _, user := range users[1:] {
			if conn := stall(t, node, user); first == nil {
				first = conn
			}
		}
	}
	last := int64(0)
	for range 3 { // while the sessions are stalled, the others are served
		sent := must(ann.Send(ctx, "red", client.Draft{Body: large, Data: data}))(t)
		last = sent.ID
		must(bob.Ack(ctx, "red", last-1))(t)
		answer := must(bob.Sync(ctx, client.SyncRequest{WaitS: 20}))(t)
		if len(answer.Groups) != 1 || answer.Groups[0].To != last {
			t.Errorf("somebody else got %+v, want message %d", answer.Groups, last)
		}
	}
	awaitStalled(ctx, t, node)
	for _, m := range []struct {
		of          string
		taken, most int64
	}{
		{"of the Go runtime", memory(), stalledMemoryMax},
		{"of the process", node.PeakMemory() - resident, stalledResidentMax},
	} {
		t.Logf("%d sessions that do not read take %d MiB %s", stalledUsers*stalledSockets, m.taken>>20, m.of)
		if m.taken > m.most {
			t.Errorf("want at most %d MiB %s", m.most>>20, m.of)
		}
	}
	misses(t, first, last)
}

// watchMemory gives, when called, how much more memory the node's Go runtime held since than it holds now.
func watchMemory(ctx context.Context, t *testing.T, node *harness.Node) (grew func() int64) {
	t.Helper()
	before := must(node.RuntimeMemory(ctx))(t)
	most := before
	watch, stop := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for watch.Err() == nil {
			now, err := node.RuntimeMemory(watch)
			if err != nil && watch.Err() == nil {
				t.Error(err)
			}
			most = max(most, now)
			harness.Pause(watch, 100*time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-watching })
	return func() int64 { stop(); <-watching; return most - before }
}

// awaitStalled waits until every session has got as far as it gets: nothing is read from the store any longer.
func awaitStalled(ctx context.Context, t *testing.T, node *harness.Node) {
	t.Helper()
	for peak, same := node.PeakMemory(), 0; same < 5; {
		harness.Pause(ctx, 500*time.Millisecond)
		if now := node.PeakMemory(); now == peak {
			same++
		} else {
			peak, same = now, 0
		}
	}
}

// misses reads on and wants each message of the group up to last, once and in order.
func misses(t *testing.T, conn *websocket.Conn, last int64) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	for to := int64(0); to < last; {
		var f struct {
			Op       string `json:"op"`
			From, To int64
			Complete bool              `json:"complete"`
			Messages []json.RawMessage `json:"messages"`
		}
		err := conn.ReadJSON(&f)
		if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) {
			t.Logf("closed after %d messages, none of them missing: %v", to, err)
			return // a client that takes nothing for 30 s may be closed, and goes on after the last message by another connection
		}
		if err != nil {
			t.Fatalf("after %d messages: %v", to, err)
		}
		if f.Op != "messages" {
			continue
		}
		if f.From != to+1 || !f.Complete || int64(len(f.Messages)) != f.To-f.From+1 {
			t.Fatalf("after %d: got %d messages from %d to %d, complete %v", to, len(f.Messages), f.From, f.To, f.Complete)
		}
		to = f.To
	}
}
