package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
)

// stepMax is for how long, in microseconds, the server may be busy with one step, whatever is stored.
const stepMax = 5_000

// large is content of the largest message that the default limits allow.
func large() chat.Content {
	body := strings.Repeat("x", 16<<10)
	return chat.Content{Kind: chat.Text, Body: &body, Data: []byte(`"` + body[2:] + `"`)}
}

// readMax is how many bytes a request may make the server answer.
const readMax = 2 << 20

// step is something that users do. prepare makes what it is done to.
type step struct{ prepare, do func(run int) }

// TestStepsAreShort shows that no request makes the server do nothing else for long.
func TestStepsAreShort(t *testing.T) {
	server := redistest.Start(t)
	b := chattest.Open(t, server.URL())
	send := func(group string, c chat.Content) {
		_, err := b.Send(b.Ctx, chattest.As("alice"), group, c, "")
		b.Must(err)
	}
	steps := map[string]step{
		"a deletion of a message with 200 large edits": {
			prepare: func(run int) {
				group := fmt.Sprint("edited", run)
				b.MakeGroup(chat.GroupDraft{ID: group}, "alice")
				send(group, large())
				edit := large()
				edit.Kind, edit.Target = chat.Edit, 2
				for range 200 {
					send(group, edit)
				}
			},
			do: func(run int) { send(fmt.Sprint("edited", run), chat.Content{Kind: chat.Delete, Target: 2}) },
		},
	}
	steps["an erasure of somebody with messages, edits and reactions"] = erasureStep(t, b)
	page := func(group string, q chat.PullQuery) {
		_, _, err := b.Pull(b.Ctx, chattest.As("alice"), group, q)
		b.Must(err)
	}
	pages := func(pulls []chat.Pull) {
		_, err := b.Store.Pull(b.Ctx, "alice", pulls)
		b.Must(err)
	}
	groupList := func(limit int) {
		_, err := b.Groups(b.Ctx, chattest.As("alice"), limit, "")
		b.Must(err)
	}
	members := make([]string, 1000)
	for i := range members {
		members[i] = fmt.Sprint("user", i)
	}
	steps["a creation with 1,000 members"] = step{prepare: func(int) {}, do: func(run int) {
		b.MakeGroup(chat.GroupDraft{ID: fmt.Sprint("large", run)}, "alice", members...)
	}}
	const groups = 50
	for i := range groups {
		group := fmt.Sprint("busy", i)
		b.MakeGroup(chat.GroupDraft{ID: group, Keep: new(int64(1000))}, "alice")
		for range 20 {
			send(group, large())
		}
	}
	many := make([]chat.Pull, groups)
	for i := range many {
		many[i] = chat.Pull{Group: fmt.Sprint("busy", i), Limit: 20}
	}
	b.MakeGroup(chat.GroupDraft{ID: "log", Keep: new(int64(1000))}, "alice")
	for range 200 {
		send("log", large())
	}
	reads := map[string]func(int){
		"a page":                      func(int) { b.PullFrom("alice", "log", "0", 1000) },
		"the page before":             func(int) { page("log", chat.PullQuery{Before: new(int64(150)), Limit: 1000}) },
		"pages of many groups":        func(int) { pages(many) },
		"groups with their last ones": func(int) { groupList(1000) },
	}
	for name, read := range reads {
		steps[name+" of large messages"] = step{prepare: func(int) {}, do: func(run int) {
			before := field(t, server, "stats", "total_net_output_bytes")
			read(run)
			if bytes := field(t, server, "stats", "total_net_output_bytes") - before; bytes > readMax {
				t.Errorf("%s of large messages: the server answered %d bytes, want at most %d", name, bytes, readMax)
			}
		}}
	}
	for name, step := range steps {
		us, of := server.Longest(stepMax, step.prepare, step.do)
		t.Logf("%s: at most %d us, %s", name, us, of)
		if us > stepMax {
			t.Errorf("%s: the server was busy for %d us with %s, want at most %d", name, us, of, stepMax)
		}
	}
}

// erasureStep erases someone who has written a lot into two groups, and reacted to messages of others.
func erasureStep(t *testing.T, b *chattest.Bench) step {
	erasures := erase.New(b.Service, b.Store, b.Store, nil, b.Store, webhook.New(b.Service, b.Store, nil))
	const messages, edits = 60, 100 // few enough steps that the busy machine spares all of them in some run
	user := func(run int) string { return fmt.Sprint("eve", run) }
	send := func(user, group string, c chat.Content) {
		_, err := b.Send(b.Ctx, chattest.As(user), group, c, "")
		b.Must(err)
	}
	prepare := func(run int) {
		for _, name := range []string{"erased", "also"} {
			group := fmt.Sprint(name, run)
			b.MakeGroup(chat.GroupDraft{ID: group, Keep: new(int64(2000))}, "alice", user(run)) // 1 and 2
			for id := int64(3); id < 3+messages; id += 3 {
				b.Say("alice", group, "hello")
				send(user(run), group, large())
				send(user(run), group, chat.Content{Kind: chat.Reaction, Target: id, Emoji: ":+:"})
			}
			edit := large()
			edit.Kind, edit.Target = chat.Edit, 4
			for range edits {
				send(user(run), group, edit)
			}
		}
	}
	do := func(run int) {
		begun, err := erasures.Begin(b.Ctx, chattest.As(user(run)), user(run))
		b.Must(err)
		b.Must(erasures.Handlers()[erase.TaskErase].Run(b.Ctx, chat.TaskRun{Payload: chat.Encode(erase.Task{Erasure: begun.ID})}))
		report, err := erasures.Get(b.Ctx, chat.Caller{User: "root", Admin: true}, begun.ID)
		b.Must(err)
		if want := int64(2 * messages / 3); report.State != erase.Done || report.Messages < want {
			t.Errorf("got %+v, want an erasure of %d messages", report, want)
		}
	}
	return step{prepare, do}
}
