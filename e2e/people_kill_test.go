package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestInvitationsAndNamesSurviveAKill kills the server while people accept an invitation and change their names: who got an answer has
// what it says, who got none has all of it or nothing, a retry ends that and costs no second use, and the doctor finds nothing.
func TestInvitationsAndNamesSurviveAKill(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"redis", "embedded"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			c := harness.Config{}
			if store == "redis" {
				c.Redis = redistest.Start(t).URL()
			}
			killPeople(t, harness.StartNode(t, c))
		})
	}
}

func killPeople(t *testing.T, node *harness.Node) {
	t.Helper()
	ctx := bounded(t, 3*time.Minute)
	once := client.WithRetry(1, client.Backoff{})
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	invite := must(alice.CreateInvite(ctx, client.InviteDraft{Group: "g", Uses: 1000}))(t)

	var wg sync.WaitGroup
	killed, stop := context.WithCancel(ctx)
	accepted := make([]map[string]error, 3)
	for i := range accepted {
		accepted[i] = map[string]error{}
		wg.Go(func() {
			for n := 0; killed.Err() == nil && n < 300; n++ {
				user := fmt.Sprintf("guest-%d-%d", i, n)
				_, accepted[i][user] = node.Client(user, once).AcceptInvite(ctx, invite.Code)
			}
		})
	}
	name := func(i, n int) string { return fmt.Sprintf("Renamed%d Times%d", i, n) }
	renamed := make([]int, 3) // how often, as far as an answer came
	for i := range renamed {
		wg.Go(func() {
			me := node.Client(fmt.Sprint("renamer-", i), once)
			for killed.Err() == nil {
				next := name(i, renamed[i]+1)
				if _, err := me.UpdateMe(ctx, client.ProfileChange{Name: &next}); err != nil {
					return
				}
				renamed[i]++
			}
		})
	}
	harness.Eventually(t, time.Minute, "some have joined", func() error {
		g, err := alice.Group(ctx, "g")
		if err == nil && g.Members < 20 {
			err = fmt.Errorf("%d members", g.Members)
		}
		return err
	})
	node.Kill()
	stop()
	wg.Wait()
	node.Start()

	guests, unknown := int64(0), 0
	for _, all := range accepted {
		for user, err := range all {
			guests++
			guest := node.Client(user)
			if err != nil {
				unknown++
				must(guest.AcceptInvite(ctx, invite.Code))(t)
			}
			if _, err := guest.Group(ctx, "g"); err != nil {
				t.Errorf("%s, who was answered %v: %v", user, all[user], err)
			}
		}
	}
	g := must(alice.Group(ctx, "g"))(t)
	invites, _, err := alice.Invites(ctx, "g", client.Page{})
	if err != nil || len(invites) != 1 || invites[0].Used != guests || g.Members != guests+1 {
		t.Errorf("%d guests, of whom %d had no answer: got %d members and %+v, %v", guests, unknown, g.Members, invites, err)
	}
	root := must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
	for i, n := range renamed {
		user := fmt.Sprint("renamer-", i)
		me := node.Client(user)
		if got := must(me.Me(ctx))(t).Name; got != name(i, n) && got != name(i, n+1) {
			t.Errorf("%s is called %q, want %q or the next one", user, got, name(i, n))
		}
		next := name(i, n+1)
		must(me.UpdateMe(ctx, client.ProfileChange{Name: &next}))(t)
		for of, want := range map[int]int{n: 0, n + 1: 1} {
			if of == 0 {
				continue // it never had a name
			}
			if found, _, err := root.FindUsers(ctx, name(i, of), ""); err != nil || len(found) != want {
				t.Errorf("by %q: got %d users, %v, want %d", name(i, of), len(found), err, want)
			}
		}
	}
	node.Terminate()
	out, err := node.Command(ctx, "doctor", "-json").Output() // its exit code says that there are findings
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	if got := kindsOf(t, out); got != "" {
		t.Errorf("the doctor found %q: %s", got, out)
	}
}
