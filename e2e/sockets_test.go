package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var socketsFlag = flag.Int("sockets", 1000, "websockets that open at once; `make soak` opens 5,000")

// opening is how many sockets are on their way at once by default. A machine that is too busy to get more of them through in
// the 5 s that a node waits for a request would fail the test, and it would say nothing of the node.
const opening = 500

// TestSocketsThatOpenAtOnce: many websockets that are opened at once, half of them with the token in the header and half with
// it in the hello, are all welcome, and all get the message that comes.
func TestSocketsThatOpenAtOnce(t *testing.T) {
	const each = 10
	users, room := *socketsFlag/each, make(chan struct{}, max(opening, *socketsFlag/2))
	node := harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL()})
	ctx := bounded(t, 2*time.Minute)
	alice := node.Client("alice")
	names := make([]string, users)
	for i := range names {
		names[i] = fmt.Sprintf("user-%d", i)
	}
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: names}))(t)
	hello := map[string]any{"op": "hello", "after": map[string]int64{"g": must(alice.Group(ctx, "g"))(t).Last}}

	began := time.Now()
	start := make(chan struct{})
	var welcomes, all sync.WaitGroup
	for _, name := range names {
		token := harness.Token(name, "", time.Hour)
		for i := range each {
			welcomes.Add(1)
			all.Go(func() {
				<-start
				room <- struct{}{}
				welcome := sync.OnceFunc(func() {
					<-room
					welcomes.Done()
				})
				defer welcome()
				if err := burstSocket(ctx, node, maps.Clone(hello), token, i%2 == 0, welcome); err != nil {
					t.Errorf("socket %d of %s: %v", i, name, err)
				}
			})
		}
	}
	close(start)
	welcomes.Wait()
	took := time.Since(began)
	must(alice.Send(ctx, "g", client.Draft{Body: "here"}))(t)
	all.Wait()
	t.Logf("%d sockets were welcome after %v, and had the message after %v", users*each, took.Round(time.Millisecond),
		time.Since(began).Round(time.Millisecond))
}

// burstSocket opens a websocket, calls welcome when it is, and returns once the message is there.
func burstSocket(ctx context.Context, node *harness.Node, hello map[string]any, token string, inHeader bool, welcome func()) error {
	header := http.Header{}
	if inHeader {
		header.Set("Authorization", "Bearer "+token)
	} else {
		hello["token"] = token
	}
	dialer := &websocket.Dialer{Subprotocols: []string{"chatd.v1"}}
	conn, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(node.URL(), "http")+"/v1/ws", header)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetReadDeadline(deadline)
	if err := conn.WriteJSON(hello); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	for {
		_, frame, err := conn.ReadMessage()
		switch {
		case err != nil:
			return err
		case strings.Contains(string(frame), `"op":"welcome"`):
			welcome()
		case strings.Contains(string(frame), `"body":"here"`):
			return nil
		}
	}
}
