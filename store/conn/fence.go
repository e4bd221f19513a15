package conn

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// fence finds out whether the subscription of a node has delivered all that was published before it was read. It publishes a
// word on a channel that this one connection alone is subscribed to. If the server that answers the node's commands has a
// subscriber there, the connection leads to that server, and not to another one; and once the word has come back over the
// connection, so has all that the server published before, because a connection keeps the order.
type fence struct {
	of      *subscription
	channel string
	word    string
	passed  chan struct{}
	info    *redis.Cmd
	heard   *redis.IntCmd
}

// QueueFence adds a fence to commands that go to the server together. wait returns once the subscription has delivered what was
// published before the fence; call it after the commands. replication names the history of the server: it is another one after every
// change between primary and replica. "": it is not known what was missed.
//
// wait is nil where there is no fence to be had. A cluster has several subscriptions, and the embedded store has no other node. A
// subscription that was renewed has one again when all that is followed is confirmed.
func QueueFence(ctx context.Context, d *Deployment, pipe redis.Pipeliner) (wait func(context.Context) (replication string)) {
	s, ok := d.follows.(*subscription)
	if !ok || d.embedded != nil || d.unfenced.Load() {
		return nil
	}
	f := s.fence()
	if f == nil {
		return nil
	}
	f.info = pipe.Do(ctx, "INFO", "replication")
	f.heard = pipe.Publish(ctx, f.channel, f.word)
	return f.wait
}

func (f *fence) wait(ctx context.Context) (replication string) {
	defer f.of.unfence(f.word)
	if redis.HasErrorPrefix(f.info.Err(), "NOPERM") {
		f.of.of.unfenced.Store(true)
	}
	if f.info.Err() != nil || f.heard.Err() != nil || f.heard.Val() < 1 {
		return ""
	}
	late := time.NewTimer(fenceWait)
	defer late.Stop()
	select {
	case <-f.passed:
		text, _ := f.info.Text()
		return replicationOf(text)
	case <-late.C:
		f.of.overdue(f.channel)
	case <-ctx.Done():
	}
	return ""
}

// replicationOf reads the id of a primary's history.
func replicationOf(info string) string {
	if !strings.Contains(info, "role:master\r\n") {
		return ""
	}
	_, rest, _ := strings.Cut(info, "master_replid:")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id
}

// fences are those of one subscription. The lock of the subscription guards them.
type fences struct {
	channel string                   // of the present connection; "": there is none
	whole   bool                     // the server has confirmed it, once
	late    bool                     // a word is overdue: none is sent until it has come
	waiting map[string]chan struct{} // by word
}

// begin makes the channel of a new connection.
func (f *fences) begin(slot string) (channel string) {
	*f = fences{channel: slot + "fence:" + rand.Text(), waiting: map[string]chan struct{}{}}
	return f.channel
}

func (f *subscription) fence() *fence {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost || !f.fences.whole || f.fences.late {
		return nil
	}
	one := &fence{of: f, channel: f.fences.channel, word: rand.Text(), passed: make(chan struct{})}
	f.fences.waiting[one.word] = one.passed
	return one
}

func (f *subscription) unfence(word string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.fences.waiting, word)
}

func (f *subscription) overdue(channel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fences.late = f.fences.late || channel == f.fences.channel
}

// pass notes that a word has come back, and reports whether the message was one. All that came before it is delivered by now.
func (f *subscription) pass(m *redis.Message) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Channel != f.fences.channel {
		return false
	}
	f.fences.late = false
	if passed := f.fences.waiting[m.Payload]; passed != nil {
		close(passed)
		delete(f.fences.waiting, m.Payload)
	}
	return true
}

// confirmFence notes that the server subscribed to a channel of fences, and reports whether it is one. Where it does so again,
// go-redis has opened another connection by itself: whoever still hears on the old one does not count.
func (f *subscription) confirmFence(name string) bool {
	if name == "" || name != f.fences.channel {
		return false
	}
	if f.fences.whole {
		f.lost, f.fences = true, fences{}
	} else {
		f.fences.whole = true
	}
	return true
}
