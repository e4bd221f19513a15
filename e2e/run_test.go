package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// run is a set of writers and readers over some nodes, and what they know in the end.
type run struct {
	t      *testing.T
	nodes  []*harness.Node
	rand   *rand.Rand
	ledger harness.Ledger
	keep   map[string]int64 // of each group
	// threads are those in which some of the sends are, by group: see inThreads.
	threads map[string]*replied

	writers, readers []string
	readings         []*reading
	retried          atomic.Int64 // acknowledged sends that were duplicates of an earlier attempt
	stop             context.CancelFunc
	reading          sync.WaitGroup
}

// newRun makes the groups, each with all writers and readers as members. Every third group keeps so many messages that
// nothing is ever trimmed, the others few.
func newRun(ctx context.Context, t *testing.T, nodes []*harness.Node, writers, readers, groups int) *run {
	t.Helper()
	r := &run{t: t, nodes: nodes, rand: random(t), keep: map[string]int64{}}
	for i := range writers {
		r.writers = append(r.writers, fmt.Sprintf("writer%d", i))
	}
	for i := range readers {
		r.readers = append(r.readers, fmt.Sprintf("reader%d", i))
	}
	owner := nodes[0].Client("owner", patient())
	for i := range groups {
		keep := int64(20 + 30*i)
		if i%3 == 0 {
			keep = 100_000
		}
		group := fmt.Sprintf("group%d", i)
		members := append(append([]string{}, r.writers...), r.readers...)
		must(owner.CreateGroup(ctx, client.GroupDraft{ID: group, Members: members, Keep: &keep}))(t)
		r.keep[group] = keep
	}
	return r
}

// clients are user's clients, one at each node.
func (r *run) clients(user string, opts ...client.Option) []*client.Client {
	all := make([]*client.Client, len(r.nodes))
	for i, node := range r.nodes {
		all[i] = node.Client(user, opts...)
	}
	return all
}

// read starts reader i of the run in the given way.
func (r *run) read(ctx context.Context, i int, read reader) {
	name := r.readers[i]
	one := &reading{
		at: r.clients(name, patient()), rand: rand.New(rand.NewPCG(r.rand.Uint64(), 0)), got: &harness.Transcript{Name: name},
	}
	r.readings = append(r.readings, one)
	r.reading.Go(func() {
		if err := read(ctx, one); err != nil {
			r.t.Error(err)
		}
	})
}

// write lets the writers send n messages each, to groups by chance, and returns when all are acknowledged. Writers with
// an odd number send over a websocket. Everything sent has an own client id, so that it is safe to repeat.
func (r *run) write(ctx context.Context, n int) {
	r.t.Helper()
	var writing sync.WaitGroup
	for i, name := range r.writers {
		c := r.nodes[i%len(r.nodes)].Client(name, patient())
		choices := rand.New(rand.NewPCG(r.rand.Uint64(), 0))
		writing.Go(func() {
			send := c.Send
			if i/len(r.nodes)%2 == 1 {
				stream, err := c.Stream(ctx, quick(nil))
				if err != nil {
					r.t.Error(err)
					return
				}
				defer stream.Close()
				go func() { // what others write comes along
					for {
						if _, err := stream.Next(ctx); err != nil {
							return
						}
					}
				}()
				send = stream.Send
			}
			if err := r.writeOne(ctx, name, n, choices, send); err != nil {
				r.t.Errorf("%s: %v", name, err)
			}
		})
	}
	writing.Wait()
}

func (r *run) writeOne(ctx context.Context, name string, n int, choices *rand.Rand, send func(context.Context, string, client.Draft) (client.Sent, error)) error {
	last := map[string]int64{}
	for range n {
		group := fmt.Sprintf("group%d", choices.IntN(len(r.keep)))
		id := fmt.Sprintf("%s-%016x", name, choices.Uint64())
		r.ledger.Attempt(id)
		draft := client.Draft{Body: harness.BodyOf(id), ClientID: id}
		thread := r.threads[group]
		if thread != nil && choices.IntN(3) == 0 {
			draft.Thread = thread.root
		}
		sent, err := send(ctx, group, draft)
		if err != nil {
			return err
		}
		if sent.ID <= last[group] {
			return fmt.Errorf("group %s: %s got id %d, after %d was acknowledged", group, id, sent.ID, last[group])
		}
		last[group] = sent.ID
		if sent.Duplicate {
			r.retried.Add(1)
		}
		if err := r.ledger.Acked(group, sent.ID, id); err != nil {
			return err
		}
		if draft.Thread != 0 {
			thread.add(sent.ID)
		}
	}
	return nil
}

// caughtUp waits until every reader has every message, ends the readers, and checks what they got.
func (r *run) caughtUp(ctx context.Context, limit time.Duration) map[string]int64 {
	r.t.Helper()
	last := map[string]int64{}
	for group := range r.keep {
		last[group] = must(r.nodes[0].Client("owner", patient()).Group(ctx, group))(r.t).Last
	}
	harness.Eventually(r.t, limit, "every reader has every message", func() error {
		if r.t.Failed() {
			r.t.FailNow() // a reader has given up, so the rest of the time would only be waited for
		}
		for _, one := range r.readings {
			for group, want := range last {
				if got := one.got.Last(group); got < want {
					return fmt.Errorf("%s has %s up to %d of %d", one.got.Name, group, got, want)
				}
			}
		}
		return nil
	})
	r.stop()
	r.reading.Wait()
	transcripts := make([]*harness.Transcript, len(r.readings))
	for i, one := range r.readings {
		transcripts[i] = one.got
	}
	r.ledger.Check(r.t, last, transcripts...)
	return last
}

// ackAll lets every member ack everything, and checks that each group then holds exactly what it keeps.
func (r *run) ackAll(ctx context.Context, last map[string]int64, stored func(group string) int64) {
	r.t.Helper()
	ack := make(map[string]client.Position, len(last))
	for group, id := range last {
		ack[group] = client.At(id)
	}
	for _, name := range append(append([]string{"owner"}, r.writers...), r.readers...) {
		answer := must(r.nodes[0].Client(name, patient()).Sync(ctx, client.SyncRequest{Ack: ack}))(r.t)
		if len(answer.Errors)+len(answer.Left)+len(answer.Groups) > 0 {
			r.t.Errorf("%s: a sync that acks everything says %+v", name, answer)
		}
	}
	owner := r.nodes[0].Client("owner")
	for group, keep := range r.keep {
		want := min(last[group], keep)
		harness.Eventually(r.t, 20*time.Second, group+" is trimmed", func() error {
			g, err := owner.Group(ctx, group)
			if err != nil {
				return err
			}
			if held := g.Last - g.First + 1; held != want {
				return fmt.Errorf("holds %d messages by its first and last, want %d", held, want)
			}
			if got := stored(group); got != want {
				return fmt.Errorf("the store holds %d messages, want %d", got, want)
			}
			return nil
		})
		page := must(owner.Messages(ctx, group, client.Range{After: client.At(0), Limit: 1}))(r.t)
		if page.Complete != (want == last[group]) || page.From != last[group]-want+1 {
			r.t.Errorf("%s: a page from the start says %+v, want from %d", group, page, last[group]-want+1)
		}
	}
}
