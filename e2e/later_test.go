package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestKillLosesNothingThatIsPlanned kills chatd on the embedded store while scheduled messages come due one after the other, at
// first in the moment when an announcement does. After the restart all of it goes on: each message, each occurrence and each item
// comes once, and none early.
func TestKillLosesNothingThatIsPlanned(t *testing.T) {
	t.Parallel()
	const (
		planned = 300
		over    = 4 * time.Second
		ticks   = 5
		known   = 1000
		kills   = 3
	)
	ctx := bounded(t, 2*time.Minute)
	node := harness.StartNode(t, harness.Config{})
	alice, op := node.Client("alice", patient()), operator(t, node)
	keep := int64(10_000)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}, Keep: &keep}))(t)
	var users []string
	for i := range known {
		users = append(users, fmt.Sprintf("user-%d", i))
	}
	begin := time.Now().Add(2 * time.Second)
	due, ids := map[string]time.Time{}, []string{}
	for i := range planned {
		body, at := fmt.Sprint(i), begin.Add(over*time.Duration(i)/planned)
		due[body] = at
		if i%2 == 0 {
			ids = append(ids, must(alice.SendLater(ctx, "g", client.Draft{Body: body}, at))(t).ID)
		} else {
			ids = append(ids, must(alice.SendDirectLater(ctx, "carl", client.Direct{Body: body}, at))(t).ID)
		}
	}
	tick := must(alice.CreateSchedule(ctx, client.ScheduleDraft{Group: "g", Body: "tick", Cron: "* * * * * *", Count: ticks}))(t)
	ids = append(ids, tick.ID)
	first := begin.Add(over / 10)
	a := must(op.Announce(ctx, client.AnnouncementDraft{To: client.AnnouncementTarget{Users: users, Groups: []string{"g"}}, Body: "hear", At: &first}))(t)

	for i := range kills {
		harness.Pause(ctx, time.Until(first.Add(over*time.Duration(i)/kills)))
		node.Kill()
		node.Start()
	}
	harness.Eventually(t, time.Minute, "all has come", func() error {
		for _, id := range ids {
			if v := must(alice.Schedule(ctx, id))(t); v.State != client.ScheduleDone {
				return fmt.Errorf("%s (%s) is %s", id, v.Body, v.State)
			}
		}
		if a = must(op.Announcement(ctx, a.ID))(t); a.State != "done" {
			return fmt.Errorf("the announcement is %s, %d of %d", a.State, a.Delivered, a.Total)
		}
		return nil
	})
	if a.Delivered != known+1 || a.Failed != 0 {
		t.Errorf("got %d delivered, %d failed", a.Delivered, a.Failed)
	}
	count := map[string]int{}
	take := func(body string, sent time.Time) {
		count[body]++
		if at, ok := due[body]; ok && sent.Before(at.Truncate(time.Millisecond)) {
			t.Errorf("%s came at %v, before %v", body, sent, at)
		}
	}
	for _, m := range must(alice.Messages(ctx, "g", client.Range{After: client.At(0), Limit: 1000}))(t).Messages {
		if m.Kind == "text" {
			take(m.Body, m.SentAt)
		}
	}
	for _, item := range must(node.Client("carl").Inbox(ctx, nil, 1000))(t).Items {
		take(item.Body, item.SentAt)
	}
	for body := range due {
		if count[body] != 1 {
			t.Errorf("%s came %d times", body, count[body])
		}
	}
	if count["tick"] != ticks || count["hear"] != 1 {
		t.Errorf("got %d ticks of %d, and the announcement %d times", count["tick"], ticks, count["hear"])
	}
	for _, user := range users {
		if items := must(node.Client(user).Inbox(ctx, nil, 10))(t).Items; len(items) != 1 {
			t.Fatalf("%s has %d items", user, len(items))
		}
	}
}
