package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

var (
	quorumKills   = flag.Int("quorum-kills", 3, "how often TestRemindersUnderKills kills a node; `make soak` kills 20 times")
	quorumMembers = flag.Int("quorum-members", 60, "members of TestRemindersUnderKills besides the author; `make soak` has 10,000")
)

// reminded is a message that members have to read, of which they are reminded again and again.
type reminded struct {
	t       *testing.T
	direct  *store.Store
	id      int64
	members int
	samples []string // members who never read, from the first who joined to the last
}

// TestRemindersUnderKills has members reminded of a message, while some of them read it, at two nodes of which one is killed again and
// again: who does not read gets each reminder once, who has read gets none any more, and the end is what was read.
func TestRemindersUnderKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute+time.Duration(*quorumKills)*20*time.Second+time.Duration(*quorumMembers)*100*time.Millisecond)
	redis, dice := redistest.Start(t), random(t)
	r := &reminded{t: t, direct: must(store.Open(ctx, store.Options{URL: redis.URL()}))(t), members: *quorumMembers}
	t.Cleanup(func() { _ = r.direct.Close() })
	gather(ctx, t, r.direct, r.members)
	for _, key := range queue.NewKeys(r.direct.Prefix(), 0, chat.QueueCore).Work() {
		redis.Do("UNLINK", key) // telling all of them that they were added is not what this is about
	}
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: redis.URL()}), harness.StartNode(t, harness.Config{Redis: redis.URL()}),
	}
	owner := nodes[0].Client("owner", patient())
	r.id = must(owner.Send(ctx, "big", client.Text("read this")))(t).ID
	readers := r.members / 3 // of three members one reads before anything is asked, one between two reminders, and one never
	r.reads(ctx, 0, readers)
	for i := 2; i < r.members; i += max(3, r.members/30*3) {
		r.samples = append(r.samples, manyUser(i))
	}
	const reminders = 5
	draft := client.QuorumDraft{Need: client.QuorumNeed{Count: int64(2*readers + 1)}, Until: time.Now().Add(24 * time.Hour), Escalate: []string{"owner"}}
	for i := range reminders {
		draft.Remind = append(draft.Remind, client.QuorumReminder{AfterS: int64(1 + 4*i), Via: []string{"inbox", "push"}[i%2]})
	}
	asked := must(owner.PutQuorum(ctx, "big", r.id, draft))(t)
	began := time.Now()
	var reading sync.WaitGroup
	reading.Go(func() { r.reads(ctx, 1, readers) })
	for kill := range *quorumKills {
		before, more := r.count(ctx), 1+dice.IntN(1+len(r.samples)/2)
		harness.Eventually(t, 2*time.Minute, "more are reminded", func() error {
			if n := r.count(ctx); n < min(before+more, reminders*len(r.samples)) {
				return fmt.Errorf("%d reminders, %d before", n, before)
			}
			return nil
		})
		dead := nodes[dice.IntN(2)]
		dead.Kill()
		dead.Start()
		t.Logf("kill %d after %d of %d reminders, %v", kill, r.count(ctx), reminders*len(r.samples), time.Since(began).Round(time.Millisecond))
	}
	reading.Wait()
	harness.Eventually(t, 5*time.Minute, "all reminders are sent", func() error {
		q, err := owner.Quorum(ctx, "big", r.id, client.Page{})
		if err != nil {
			return err
		}
		if q.State != "open" || q.Read != int64(2*readers) || q.Of != int64(r.members) {
			t.Fatalf("%s, %d of %d have read, and not %d", q.State, q.Read, q.Of, 2*readers)
		}
		for _, m := range q.Reminders {
			if !m.Sent {
				return fmt.Errorf("the one after %d s is not", m.AfterS)
			}
		}
		return nil
	})
	t.Logf("%d members, %d kills, %d reminders: %v", r.members, *quorumKills, reminders, time.Since(began).Round(time.Millisecond))
	r.check(ctx, 3*readers, reminders)
	must(nodes[1].Client(manyUser(2), patient()).Read(ctx, "big", r.id))(t)
	if q := must(owner.Quorum(ctx, "big", r.id, client.Page{}))(t); q.State != "met" || !q.Until.Equal(asked.Until) {
		t.Errorf("got %+v, want it met", q)
	}
}

// reads has members of one of the three kinds read the message.
func (r *reminded) reads(ctx context.Context, kind, n int) {
	r.t.Helper()
	for i := range n {
		if _, err := r.direct.Ack(ctx, "big", manyUser(3*i+kind), chat.At(r.id), true, ""); err != nil {
			r.t.Errorf("%s reads: %v", manyUser(3*i+kind), err)
			return
		}
	}
}

// items counts the reminders that a member got.
func (r *reminded) items(ctx context.Context, user string) (n int) {
	r.t.Helper()
	batch, err := r.direct.InboxPull(ctx, user, chat.Position{}, 100)
	if err != nil {
		r.t.Fatalf("the inbox of %s: %v", user, err)
	}
	for _, stored := range batch.Items {
		var item chat.Item
		if err := json.Unmarshal(stored.JSON, &item); err != nil {
			r.t.Fatalf("%s: %v", stored.JSON, err)
		}
		if item.Kind == chat.ItemQuorum {
			n++
		}
	}
	return n
}

func (r *reminded) count(ctx context.Context) (n int) {
	r.t.Helper()
	for _, user := range r.samples {
		n += r.items(ctx, user)
	}
	return n
}

// check compares what all members got with whether they read. Who read meanwhile may have got the reminders before.
func (r *reminded) check(ctx context.Context, threes, reminders int) {
	r.t.Helper()
	for i := range r.members {
		least, most := reminders, reminders
		switch {
		case i < threes && i%3 == 0:
			least, most = 0, 0
		case i < threes && i%3 == 1:
			least = 0
		}
		if n := r.items(ctx, manyUser(i)); n < least || n > most {
			r.t.Errorf("%s got %d reminders, want %d to %d", manyUser(i), n, least, most)
		}
	}
	if n := r.items(ctx, "owner"); n > 0 {
		r.t.Errorf("the author got %d", n)
	}
}
