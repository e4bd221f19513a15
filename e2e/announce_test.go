package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var announceFlag = flag.Int("announce", 4000, "users of TestAnnouncementSurvivesKills; `make soak` announces to 20,000")

// operator makes a client for one who may announce.
func operator(t *testing.T, node *harness.Node) *client.Client {
	t.Helper()
	token := harness.Token("op", "admin", time.Hour)
	return must(client.New(node.URL(), client.StaticToken(token), patient()))(t)
}

// partitioned is a redis-server with a store of four partitions.
func partitioned(t *testing.T) *redistest.Server {
	t.Helper()
	server := redistest.Start(t)
	server.Do("HSET", "chat:{p00}:layout", "version", "1", "partitions", "4")
	return server
}

// everyInbox reads all inboxes of users from the server itself, by user.
func everyInbox(t *testing.T, server *redistest.Server, users []string) map[string][]client.Item {
	t.Helper()
	conn := must(redistest.Dial(server.Addr))(t)
	defer conn.Close()
	inboxes := make(map[string][]client.Item, len(users))
	for _, user := range users {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(user)) // never fails
		raw := must(conn.Do("LRANGE", fmt.Sprintf("chat:{p%02d}:u:%s:inbox", hash.Sum32()%4, user), "0", "-1"))(t)
		items, _ := raw.([]any)
		inboxes[user] = nil
		for _, one := range items {
			text, _ := one.(string) // its mark, then the item
			var item client.Item
			if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &item); err != nil {
				t.Fatal(err)
			}
			inboxes[user] = append(inboxes[user], item)
		}
	}
	return inboxes
}

// TestAnnouncementSurvivesKills announces to thousands while both nodes are killed, one after the other: each inbox has
// it once, and progress ends at the total.
func TestAnnouncementSurvivesKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute)
	server := partitioned(t)
	// A long way to Redis, or all would be over before anything could be killed.
	far := redistest.StartProxy(t, server.Addr, 40*time.Millisecond).URL()
	nodes := []*harness.Node{harness.StartNode(t, harness.Config{Redis: far}), harness.StartNode(t, harness.Config{Redis: far})}
	op := []*client.Client{operator(t, nodes[0]), operator(t, nodes[1])}
	progress := func(c *client.Client, id string, enough func(client.Announcement) bool) (a client.Announcement) {
		t.Helper()
		harness.Eventually(t, time.Minute, "the announcement goes on", func() error {
			got, err := c.Announcement(ctx, id)
			if err != nil {
				return err // the node that is asked may still be starting
			}
			if a = got; !enough(a) {
				return fmt.Errorf("%s: %d of %d", a.State, a.Delivered, a.Total)
			}
			return nil
		})
		return a
	}
	ended := func(a client.Announcement) bool { return a.State != "pending" && a.State != "running" }

	// Nobody knows them yet: a named user becomes known by the item.
	users := int64(*announceFlag)
	named := users / 2
	began := time.Now()
	var all, welcomes []string
	for i := range users {
		all = append(all, fmt.Sprintf("user-%d", i))
	}
	for some := range slices.Chunk(all, int(named)) {
		draft := client.AnnouncementDraft{To: client.AnnouncementTarget{Users: some}, Body: "welcome"}
		welcomes = append(welcomes, must(op[0].Announce(ctx, draft))(t).ID)
	}
	for _, id := range welcomes {
		if a := progress(op[0], id, ended); a.State != "done" || a.Total != named || a.Delivered != named {
			t.Fatalf("got %s with %d of %d delivered", a.State, a.Delivered, a.Total)
		}
	}
	t.Logf("%d users are known after %v", users, time.Since(began).Round(time.Millisecond))

	began = time.Now()
	a := must(op[0].Announce(ctx, client.AnnouncementDraft{To: client.AnnouncementTarget{All: true}, Body: "hear"}))(t)
	for i, node := range nodes {
		enough := a.Delivered + users/4
		a = progress(op[i], a.ID, func(a client.Announcement) bool { return a.Delivered > enough || ended(a) })
		node.Kill()
		t.Logf("killed a node after %v, at %d of %d", time.Since(began).Round(time.Millisecond), a.Delivered, a.Total)
		if ended(a) {
			t.Fatal("it was over before the kill: the run shows nothing")
		}
		node.Launch()
	}
	a = progress(op[0], a.ID, ended)
	t.Logf("done after %v", time.Since(began).Round(time.Millisecond))
	if a.State != "done" || a.Total != users+1 || a.Delivered != users+1 || a.Failed != 0 {
		t.Errorf("got %s with %d of %d delivered, %d failed; want all of %d users and the operator", a.State, a.Delivered, a.Total, a.Failed, users)
	}
	for user, items := range everyInbox(t, server, all) {
		if len(items) != 2 || items[0].Body != "welcome" || items[1].Body != "hear" || items[1].Seq != 2 {
			t.Fatalf("%s: got %d items: %+v", user, len(items), items)
		}
	}
	inbox := must(nodes[0].Client("user-7").Inbox(ctx, nil, 0))(t)
	if len(inbox.Items) != 2 || inbox.Items[1].Kind != "announcement" || inbox.Items[1].From != "op" {
		t.Errorf("got %+v", inbox.Items)
	}
}

// TestAnnouncementReachesEveryone announces to everyone who was ever known, in whichever way, and to a group.
func TestAnnouncementReachesEveryone(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		op := operator(t, node)
		alice := node.Client("alice")
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
		must(node.Client("carl").Sync(ctx, client.SyncRequest{}))(t)
		must(alice.SendDirect(ctx, "dora", client.Direct{Body: "hi"}))(t)
		live := must(node.Client("erna").Stream(ctx, client.StreamOptions{}))(t)
		defer live.Close()
		next := func(kind string) client.Item {
			return until(ctx, t, live.Next, func(e client.Items) bool { return e.Items[0].Kind == kind }).Items[0]
		}
		must(alice.SendDirect(ctx, "erna", client.Direct{Body: "are you there"}))(t)
		next("direct")

		done := func(a client.Announcement) client.Announcement {
			harness.Eventually(t, 20*time.Second, "the announcement is done", func() error {
				if a = must(op.Announcement(ctx, a.ID))(t); a.State != "done" {
					return fmt.Errorf("it is %s", a.State)
				}
				return nil
			})
			return a
		}
		a := done(must(op.Announce(ctx, client.AnnouncementDraft{To: client.AnnouncementTarget{All: true}, Body: "hear"}))(t))
		if a.Total != 6 || a.Delivered != 6 || a.Failed != 0 {
			t.Errorf("got %d of %d delivered, want 6: those above and the operator", a.Delivered, a.Total)
		}
		if got := next("announcement"); got.Body != "hear" || got.From != "op" {
			t.Errorf("live: got %+v", got)
		}
		for _, user := range []string{"alice", "bob", "carl", "dora", "erna", "op"} {
			heard := 0
			for _, item := range must(node.Client(user).Inbox(ctx, nil, 0))(t).Items {
				if item.Kind == "announcement" && item.Body == "hear" {
					heard++
				}
			}
			if heard != 1 {
				t.Errorf("%s has it %d times", user, heard)
			}
		}
		a = done(must(op.Announce(ctx, client.AnnouncementDraft{To: client.AnnouncementTarget{Groups: []string{"g", "none"}}, Body: "all of you"}))(t))
		if a.Total != 2 || a.Delivered != 1 || a.Failed != 1 {
			t.Errorf("got %+v", a)
		}
		page := must(node.Client("bob").Messages(ctx, "g", client.Range{After: client.At(2)}))(t)
		if len(page.Messages) != 1 || page.Messages[0].Body != "all of you" || page.Messages[0].From != "op" {
			t.Errorf("got %+v", page.Messages)
		}
	})
}

// TestFirstRequestMakesKnown counts what it costs Redis to know a user: one command at the first request on a node.
func TestFirstRequestMakesKnown(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	server := redistest.Start(t)
	node := harness.StartNode(t, harness.Config{Redis: server.URL()})
	monitor := server.Watch(t)
	for want := range 2 {
		monitor.Take(t)
		user := fmt.Sprintf("user-%d", want)
		c := node.Client(user)
		for range 5 {
			must(c.Inbox(ctx, nil, 0))(t)
		}
		stream := must(c.Stream(ctx, client.StreamOptions{}))(t)
		until(ctx, t, stream.Next, func(client.Connected) bool { return true })
		stream.Close()
		writes := 0
		for _, command := range monitor.Take(t) {
			if strings.Contains(command, `"chat:{p00}:users"`) && strings.Contains(command, `"`+user+`"`) {
				writes++
			}
		}
		if writes != 1 {
			t.Errorf("%s: five requests and a hello wrote the list of users %d times, want 1", user, writes)
		}
	}
	if got := server.Int("ZCARD", "chat:{p00}:users"); got != 2 {
		t.Errorf("%d users are known, want 2", got)
	}
}
