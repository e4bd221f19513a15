package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestMembershipBoundsWhatIsServed adds bob to a busy group without history and removes him again, many times, at one
// node, while he reads at the other: he gets everything from his joining to his removal, and nothing before or after.
func TestMembershipBoundsWhatIsServed(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute)
	nodes := twoNodes(t)
	alice := nodes[0].Client("alice", patient())
	history, keep := false, int64(100_000)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"carol"}, History: &history, Keep: &keep}))(t)
	var writing sync.WaitGroup
	writingCtx, enough := context.WithCancel(ctx)
	defer writing.Wait()
	defer enough()
	var sent atomic.Int64
	for i, node := range nodes {
		name := []string{"alice", "carol"}[i]
		writer := node.Client(name, patient())
		writing.Go(func() {
			for writingCtx.Err() == nil {
				if s, err := writer.Send(writingCtx, "g", client.Text("x")); err == nil {
					sent.Store(s.ID)
				}
			}
		})
	}
	bob := nodes[1].Client("bob", patient())
	stream := must(bob.Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	until(ctx, t, stream.Next, func(client.Connected) bool { return true })
	choices := random(t)
	const rounds = 25
	total := 0
	for round := range rounds {
		must(alice.PutMember(ctx, "g", "bob", ""))(t)
		some := sent.Load() + int64(choices.IntN(30))
		var got []client.Message
		take := func(e client.Messages) bool {
			got = append(got, e.Messages...)
			return e.To >= some
		}
		until(ctx, t, stream.Next, take)
		if err := alice.RemoveMember(ctx, "g", "bob"); err != nil {
			t.Fatal(err)
		}
		removed := noticeOf(ctx, t, alice, "removed", sent.Load())
		joined := noticeOf(ctx, t, alice, "joined", got[0].ID)
		for left := false; !left; {
			switch e := must(stream.Next(ctx))(t).(type) {
			case client.Messages:
				got = append(got, e.Messages...)
			case client.Left:
				left = true
			}
		}
		for i, m := range got {
			if m.ID != got[0].ID+int64(i) {
				t.Fatalf("round %d: found message %d at the position of %d", round, m.ID, got[0].ID+int64(i))
			}
		}
		if last := got[len(got)-1].ID; got[0].ID != joined || last > removed {
			t.Fatalf("round %d: got %d to %d, a member from %d to %d", round, got[0].ID, last, joined, removed)
		}
		if _, err := bob.Messages(ctx, "g", client.Range{After: client.At(joined)}); client.CodeOf(err) != client.CodeNotFound {
			t.Fatalf("round %d: a page after the removal got %v, want not_found", round, err)
		}
		if _, err := bob.Send(ctx, "g", client.Text("x")); client.CodeOf(err) != client.CodeNotFound {
			t.Fatalf("round %d: a send after the removal got %v, want not_found", round, err)
		}
		total += len(got)
	}
	t.Logf("%d rounds, %d messages served to bob of %d sent", rounds, total, sent.Load())
	if stats := stream.Stats(); stats.Repeats+stats.Holes > 0 || stats.Sessions != 1 {
		t.Errorf("got %+v, want no repeat and no hole in one session", stats)
	}
}

// noticeOf finds the newest notice about bob, at about the given id.
func noticeOf(ctx context.Context, t *testing.T, c *client.Client, notice string, about int64) int64 {
	t.Helper()
	var found int64
	harness.Eventually(t, 10*time.Second, "the notice "+notice, func() error {
		page, err := c.Messages(ctx, "g", client.Range{After: client.At(max(0, about-500)), Limit: 1000})
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			if m.Kind == client.KindNotice && m.Notice == notice && m.User == "bob" {
				found = m.ID
			}
		}
		if found == 0 {
			return fmt.Errorf("not in %d to %d", page.From, page.To)
		}
		return nil
	})
	return found
}

// TestLastOneOutAndSuccession leaves a group one by one: the longest-standing admin, then member, becomes owner, and the
// last one out deletes it.
func TestLastOneOutAndSuccession(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		names := []string{"ann", "ben", "cas", "dan"}
		owner := node.Client("ann")
		must(owner.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: names[1:]}))(t)
		must(owner.PutMember(ctx, "g", "dan", "admin"))(t)
		if _, err := node.Client("ben").PutMember(ctx, "g", "eve", ""); client.CodeOf(err) != client.CodeForbidden {
			t.Errorf("a member adds another: got %v, want forbidden", err)
		}
		for i, want := range []struct{ leaves, owner string }{{"ann", "dan"}, {"dan", "ben"}, {"ben", "cas"}} {
			if err := node.Client(want.leaves).RemoveMember(ctx, "g", want.leaves); err != nil {
				t.Fatal(err)
			}
			members, _, err := node.Client("cas").Members(ctx, "g", client.Page{})
			if err != nil || len(members) != len(names)-1-i {
				t.Fatalf("got %+v, %v", members, err)
			}
			for _, m := range members {
				if (m.Role == "owner") != (m.User == want.owner) {
					t.Errorf("after %s left: %s is %s, want %s to be owner", want.leaves, m.User, m.Role, want.owner)
				}
			}
		}
		if err := node.Client("cas").RemoveMember(ctx, "g", "cas"); err != nil {
			t.Fatal(err)
		}
		_, err := node.Client("cas").Group(ctx, "g")
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 404 {
			t.Errorf("after the last one left: got %v, want not_found", err)
		}
		fresh := must(owner.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
		if fresh.Last != 1 || fresh.Members != 1 {
			t.Errorf("got %+v, want a fresh group", fresh)
		}
	})
}
