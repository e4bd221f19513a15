package queue_test

import (
	"context"
	"strings"

	"github.com/chatd/chatd/store/queue"
)

func servesStrictly(c *coming) {
	o := c.options
	o.Queues = []queue.QueueOptions{{Name: "mail", Strict: true}}
	server, err := queue.New(o)
	if err != nil {
		c.Fatal(err)
	}
	c.server = server
	var order strings.Builder
	server.Handle("k", func(_ context.Context, t queue.Task) error { order.Write(t.Payload); return nil })
	for _, p := range []queue.Priority{queue.Low, queue.Normal, queue.High, queue.Critical} {
		for range 5 {
			c.enqueue(queue.Task{Kind: "k", Payload: []byte(p.String()[:1]), Priority: p})
		}
	}
	c.runs(0, 20)
	if got, want := order.String(), "ccccchhhhhnnnnnlllll"; got != want {
		c.Errorf("ran %s, want %s", got, want)
	}
}
