package e2e

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var releaseKills = flag.Int("release-kills", 6, "how often TestReleasedOnceUnderKills kills a node; `make soak` kills 100 times")

// heldAtOnce is how many messages of a sender wait for a moderator at most, by default.
const heldAtOnce = 20

// releases are what moderators were answered.
type releases struct {
	mu       sync.Mutex
	answers  int
	messages map[string][]int64 // by review: the messages of those who were told that they released it
	unknown  int                // no answer came
	mark     int                // so many answers close reached
	reached  chan struct{}
}

func (r *releases) answered(review string, d client.ReviewDecided, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.messages[review] = append(r.messages[review], d.MessageID)
	}
	if r.answers++; r.answers == r.mark {
		close(r.reached)
	}
}

// release has a moderator release messages in turn. Where a node gives no answer they ask another one.
func (r *releases) release(ctx context.Context, at []*client.Client, reviews []string) error {
	for _, id := range reviews {
		var d client.ReviewDecided
		var err error
		for _, c := range at {
			if d, err = c.DecideReview(ctx, id, client.ReviewRelease, ""); err == nil || client.CodeOf(err) != "" {
				break
			}
			r.mu.Lock()
			r.unknown++
			r.mu.Unlock()
		}
		if err != nil && client.CodeOf(err) != client.CodeNotFound {
			return fmt.Errorf("%s: %w", id, err)
		}
		r.answered(id, d, err)
	}
	return nil
}

// TestReleasedOnceUnderKills has two moderators release the same messages at two nodes, of which one is killed meanwhile, again and
// again: each message is there once, at most one of them is told that it was they, and its sender hears of it once.
func TestReleasedOnceUnderKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute+time.Duration(*releaseKills)*10*time.Second)
	nodes, dice := twoNodes(t), random(t)
	alice := nodes[0].Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"ann", "bob"}, Keep: new(int64(100_000))}))(t)
	must(alice.PutMember(ctx, "g", "ann", "admin"))(t)
	must(alice.PutGroupWords(ctx, "g", client.Words{Review: []string{"odd"}}))(t)
	once := client.WithRetry(1, client.Backoff{})
	r := &releases{messages: map[string][]int64{}}
	held := map[string]string{} // by body
	for kill := range *releaseKills {
		bob := nodes[kill%2].Client("bob", patient())
		var reviews []string
		for i := range heldAtOnce {
			body := fmt.Sprintf("odd %d %d", kill, i)
			_, err := bob.Send(ctx, "g", client.Draft{Body: body, ClientID: body})
			var e *client.Error
			if !errors.As(err, &e) || e.Review == "" {
				t.Fatalf("a message with a word for moderators: got %v", err)
			}
			held[body] = e.Review
			reviews = append(reviews, e.Review)
		}
		r.mu.Lock()
		r.mark, r.reached = r.answers+1+dice.IntN(2*heldAtOnce-1), make(chan struct{})
		r.mu.Unlock()
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i, user := range []string{"alice", "ann"} {
			at := []*client.Client{nodes[i].Client(user, once), nodes[1-i].Client(user, once)}
			wg.Go(func() { errs[i] = r.release(ctx, at, reviews) })
		}
		<-r.reached
		dead := nodes[dice.IntN(2)]
		dead.Kill()
		wg.Wait()
		if err := cmp.Or(errs...); err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		dead.Start()
	}
	t.Logf("%d answers, %d questions without one, %d messages", r.answers, r.unknown, len(held))
	r.check(ctx, t, nodes[0], held)
}

// check compares what is in the log, and what the sender heard, with what was held and answered.
func (r *releases) check(ctx context.Context, t *testing.T, node *harness.Node, held map[string]string) {
	t.Helper()
	log, bob := map[string][]int64{}, node.Client("bob", patient())
	for after, more := int64(0), true; more; {
		page := must(bob.Messages(ctx, "g", client.Range{After: client.At(after)}))(t)
		for _, m := range page.Messages {
			if m.Kind == "text" {
				log[m.Body] = append(log[m.Body], m.ID)
			}
		}
		after, more = page.To, page.HasMore
	}
	for body, review := range held {
		answers := r.messages[review]
		if len(log[body]) != 1 || len(answers) > 1 || len(answers) == 1 && answers[0] != log[body][0] {
			t.Errorf("%q is there as %v, and who released it was answered %v", body, log[body], answers)
		}
	}
	if left, _, err := node.Client("alice", patient()).Reviews(ctx, "g", client.Page{}); err != nil || len(left) > 0 {
		t.Errorf("%d messages wait still, %v", len(left), err)
	}
	harness.Eventually(t, time.Minute, "the sender has heard of each", func() error {
		heard := map[string]int{}
		for after, more := int64(0), true; more; {
			page, err := bob.Inbox(ctx, &after, 0)
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				if item.Kind != "review" {
					continue
				}
				if heard[item.ClientID]++; heard[item.ClientID] > 1 {
					t.Fatalf("the sender has heard of %q twice", item.ClientID)
				}
				if len(log[item.ClientID]) != 1 || item.ID != log[item.ClientID][0] {
					t.Fatalf("the sender has heard %+v, the message is %v", item, log[item.ClientID])
				}
			}
			after, more = page.To, page.HasMore
		}
		if len(heard) < len(held) {
			return fmt.Errorf("of %d of %d", len(heard), len(held))
		}
		return nil
	})
}
