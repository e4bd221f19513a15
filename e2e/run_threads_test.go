package e2e

import (
	"context"
	"slices"
	"sync"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// replied are the replies of a run in one thread.
type replied struct {
	root int64

	mu    sync.Mutex
	acked []int64
}

func (t *replied) add(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acked = append(t.acked, id)
}

// inThreads has some of the sends of a run be replies: to a message in each group of which nothing is trimmed.
func (r *run) inThreads(ctx context.Context) {
	r.t.Helper()
	r.threads = map[string]*replied{}
	owner := r.nodes[0].Client("owner", patient())
	for group, keep := range r.keep {
		if keep < 100_000 {
			continue
		}
		id := "root-" + group
		r.ledger.Attempt(id)
		sent := must(owner.Send(ctx, group, client.Draft{Body: harness.BodyOf(id), ClientID: id}))(r.t)
		try(r.t, r.ledger.Acked(group, sent.ID, id))
		r.threads[group] = &replied{root: sent.ID}
	}
}

// checkThreads checks that each thread has the replies that were acknowledged, in their order, and counts them, and that its author, who has
// read none, follows it.
func (r *run) checkThreads(ctx context.Context) {
	r.t.Helper()
	owner, sum := r.nodes[0].Client("owner", patient()), 0
	for group, thread := range r.threads {
		slices.Sort(thread.acked)
		var got []int64
		for after, more := int64(0), true; more; {
			var page []client.Message
			var at client.Thread
			var err error
			at, page, more, err = owner.Replies(ctx, group, thread.root, client.ReplyQuery{After: after, Limit: 500})
			try(r.t, err)
			for _, m := range page {
				got, after = append(got, m.ID), m.ID
			}
			if n := int64(len(thread.acked)); at.Replies != n || at.Unread != n || !at.Following || n > 0 && at.LastID != thread.acked[n-1] {
				r.t.Errorf("%s: the thread has %+v, acknowledged were %d replies", group, at, n)
				break
			}
		}
		if !slices.Equal(got, thread.acked) {
			r.t.Errorf("%s: the thread has the replies %v, acknowledged were %v", group, got, thread.acked)
		}
		sum += len(got)
	}
	if sum == 0 {
		r.t.Error("nothing was a reply: the run shows nothing of threads")
	}
	r.t.Logf("%d sends were replies", sum)
}
