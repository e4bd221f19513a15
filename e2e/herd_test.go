package e2e

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var herdFlag = flag.Int("herd", 300, "websockets of TestSocketsOfADeadNodeComeBack; `make soak` takes 10,000")

// TestSocketsOfADeadNodeComeBack kills one of three nodes behind nginx. Its websockets reconnect to the others, as the
// Go client does by default, and everybody gets the next message once.
func TestSocketsOfADeadNodeComeBack(t *testing.T) {
	t.Parallel()
	const (
		each    = 10    // websockets of one user
		proxied = 4_000 // websockets of one nginx
	)
	ctx := bounded(t, 10*time.Minute)
	redis := redistest.Start(t)
	var nodes []*harness.Node
	for range 3 {
		env := map[string]string{"CHATD_TRUSTED_PROXIES": "127.0.0.1/32", "CHATD_MAX_CONNS_IP": "off"}
		nodes = append(nodes, harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: env}))
	}
	var urls []string // nginx has two open files for each websocket, and often no more than 20,000
	for range 1 + *herdFlag/proxied {
		urls = append(urls, startNginx(t, nodes))
	}
	users := make([]string, *herdFlag/each)
	for i := range users {
		users[i] = fmt.Sprint("user-", i)
	}
	owner := harness.ClientAt(t, urls[0], "owner", patient())
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: users}))(t)
	joined := must(owner.Send(ctx, "g", client.Text("before")))(t) // after the notices of all who joined

	var welcome, lost, back, got atomic.Int64
	var reading sync.WaitGroup
	room := make(chan struct{}, opening)
	until, stop := context.WithCancel(ctx)
	for i, name := range users {
		c := harness.ClientAt(t, urls[i%len(urls)], name)
		must(c.Ack(ctx, "g", joined.ID))(t)
		for range each {
			reading.Go(func() {
				room <- struct{}{}
				stream, err := c.Stream(until, client.StreamOptions{})
				if err != nil {
					<-room
					t.Error(err)
					return
				}
				defer stream.Close()
				entered := sync.OnceFunc(func() { <-room })
				defer entered()
				received := 0
				for here, gone := false, false; ; {
					event, err := stream.Next(until)
					if err != nil {
						return // the end of the test
					}
					switch e := event.(type) {
					case client.Connected:
						entered()
						if gone {
							back.Add(1)
						} else if !here {
							welcome.Add(1)
						}
						here, gone = true, false
					case client.Disconnected:
						if here { // otherwise it was not let in yet, and tries again
							gone = true
							lost.Add(1)
						}
					case client.Messages:
						for _, m := range e.Messages {
							if m.Body != "after" {
								continue
							}
							got.Add(1)
							if received++; received > 1 {
								t.Errorf("%s has message %d twice", name, m.ID)
							}
						}
					case client.Gap:
						t.Errorf("a gap: %+v", e)
					}
				}
			})
		}
	}
	defer reading.Wait()
	defer stop()
	reach := func(what string, count *atomic.Int64, want func() int64) {
		t.Helper()
		harness.Eventually(t, 2*time.Minute, what, func() error {
			if have := count.Load(); have != want() {
				return fmt.Errorf("%d of %d", have, want())
			}
			return nil
		})
	}
	all := func() int64 { return int64(len(users) * each) }
	reach("all are connected", &welcome, all)
	if lost.Load() != 0 {
		t.Fatalf("%d websockets ended before the kill", lost.Load())
	}
	nodes[0].Kill()
	began := time.Now()
	must(owner.Send(ctx, "g", client.Text("after")))(t)
	reach("all have the message", &got, all)
	reach("all are back", &back, lost.Load)
	t.Logf("%d of %d websockets lost their node, and were back after %v", lost.Load(), all(), time.Since(began).Round(time.Millisecond))
	if lost.Load() == 0 {
		t.Error("no websocket was on the node: the run shows nothing")
	}
}
