package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// announcements measures an announcement to everyone: how fast it is, what messages wait meanwhile, and whether each inbox
// has it once after both nodes were killed in the middle.
func announcements(b *bench) {
	users := scaled(100_000)
	b.table.section(fmt.Sprintf("an announcement of 200 bytes to %d users", users))
	b.build()
	server := redistest.Start(b.tb)
	node := harness.StartNode(b.tb, harness.Config{Redis: server.URL()})
	op := must(client.New(node.URL(), client.StaticToken(harness.Token("op", "admin", time.Hour)),
		client.WithRetry(60, client.Backoff{Base: 20 * time.Millisecond, Max: time.Second})))
	for first := 0; first < users; first += 1000 {
		add := []string{"ZADD", "chat:{p00}:users"}
		for i := first; i < min(first+1000, users); i++ {
			add = append(add, "0", "user-"+strconv.Itoa(i))
		}
		server.Do(add...)
	}
	must(op.CreateGroup(b.ctx, client.GroupDraft{ID: "talk"}))
	alone := talk(b, op, nil)
	b.table.spread("sends over HTTP, one after the other, before it", alone)

	began := time.Now()
	a := must(announce(b, op))
	over := make(chan struct{})
	var waiting sync.WaitGroup
	var took time.Duration
	var failed error
	waiting.Go(func() {
		defer close(over)
		a, failed = reaches(b, op, a.ID, math.MaxInt)
		took = time.Since(began)
	})
	beside := talk(b, op, over)
	waiting.Wait()
	ok(failed)
	b.table.rate("inboxes filled, from the request until it says done", float64(a.Delivered)/took.Seconds(), 0, "")
	b.table.spread("sends meanwhile", beside)
	announceKilling(b, server, node, op, users)
}

// announceKilling announces once more while two nodes are killed, one at a quarter and one at half of it, and counts what
// each inbox has.
func announceKilling(b *bench, server *redistest.Server, node *harness.Node, op *client.Client, users int) {
	nodes := []*harness.Node{node, harness.StartNode(b.tb, harness.Config{Redis: server.URL()})}
	began := time.Now()
	a := must(announce(b, op))
	kills := 0
	for i, victim := range nodes {
		a = must(reaches(b, op, a.ID, (i+1)*users/4))
		if a.State == "running" {
			kills++
		}
		victim.Kill()
		victim.Start()
	}
	a = must(reaches(b, op, a.ID, math.MaxInt))
	conn := must(redistest.Dial(server.Addr))
	defer conn.Close()
	exactly := 0 // have this one and the one before
	for i := range users {
		items := must(conn.Do("LLEN", "chat:{p00}:u:user-"+strconv.Itoa(i)+":inbox"))
		if items == int64(2) {
			exactly++
		}
	}
	b.table.count(fmt.Sprintf("the same, %d times killed in the middle", kills), "%d of %d inboxes have it once, %d delivered of %d after %v (a lease is 5 s)",
		exactly, users, a.Delivered, a.Total, time.Since(began).Round(time.Second))
	if exactly != users || a.Delivered != a.Total || a.State != "done" {
		ok(fmt.Errorf("%d of %d inboxes have it once; it is %s", exactly, users, a.State))
	}
}

func announce(b *bench, op *client.Client) (client.Announcement, error) {
	return op.Announce(b.ctx, client.AnnouncementDraft{To: client.AnnouncementTarget{All: true}, Body: *body})
}

// reaches waits until an announcement was delivered to so many, or is done.
func reaches(b *bench, op *client.Client, id string, delivered int) (client.Announcement, error) {
	for {
		a, err := op.Announcement(b.ctx, id)
		if err != nil || a.State == "done" || a.Delivered >= int64(delivered) {
			return a, err
		}
		if err := pause(b.ctx, 2*time.Millisecond); err != nil {
			return a, err
		}
	}
}

// talk sends messages one after the other until over, or for a second, and returns how long each took.
func talk(b *bench, op *client.Client, over <-chan struct{}) []time.Duration {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	if over == nil {
		second := make(chan struct{})
		defer time.AfterFunc(shorter(time.Second), func() { close(second) }).Stop()
		over = second
	}
	var took []time.Duration
	for {
		began := time.Now()
		must(op.Send(ctx, "talk", client.Text(*body)))
		took = append(took, time.Since(began))
		select {
		case <-over:
			return took
		default:
		}
	}
}
