package notify_test

import (
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/internal/chattest"
)

// TestNothingOfTheBlockedIsShown: a delivery shows the newest that is left of others, in a group and of the inbox, or is not made.
func TestNothingOfTheBlockedIsShown(t *testing.T) {
	r := newBench(t)
	alice := chattest.As("alice")
	r.Must(func() error { _, _, err := r.PutMember(r.Ctx, alice, "g", "eve", ""); return err }())
	r.blocked = map[string]bool{"eve": true}
	r.arrives(0, r.push(r.Say("eve", "g", "out with it").ID, nil))
	r.Say("alice", "g", "hello")
	newest := r.Say("eve", "g", "again").ID
	r.arrives(1, r.push(newest, nil))
	if d := r.receiver.Got("bob")[0].Data; d.From != "alice" || d.Preview != "hello" {
		t.Errorf("bob was told %+v", d)
	}

	// With the level of mentions, what does not mention bob is nothing to show.
	_, err := r.SetLevel(r.Ctx, chattest.As("bob"), "g", notify.Setting{Level: notify.Mentions})
	r.Must(err)
	mention := "@bob"
	sent, err := r.Send(r.Ctx, chattest.As("eve"), "g", chat.Content{Kind: chat.Text, Body: &mention, Mentions: []string{"bob"}}, "")
	r.Must(err)
	mentioned := func(p *notify.PushTask, _ *chat.TaskRun) { p.Mentions = 1 }
	r.arrives(1, r.push(sent.ID, mentioned))

	var last int64
	for _, from := range []string{"alice", "eve"} {
		it, _, err := r.SendDirect(r.Ctx, chattest.As(from), "bob", chat.Direct{Body: &mention})
		r.Must(err)
		last = it.Seq
	}
	inbox, err := r.Inbox(r.Ctx, chattest.As("bob"), chat.Position{}, 0)
	r.Must(err)
	ofInbox := func(p *notify.PushTask, _ *chat.TaskRun) { p.Group, p.Epoch = "", inbox.Epoch }
	r.arrives(2, r.push(last, ofInbox))
	if d := r.receiver.Got("bob")[1].Data; d.From != "alice" {
		t.Errorf("bob was told %+v", d)
	}
	_, err = r.AckInbox(r.Ctx, chattest.As("bob"), chat.Position{Set: true, ID: last - 1})
	r.Must(err)
	r.arrives(2, r.push(last, ofInbox))
}
