package e2e

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var ruleRaces = flag.Int("rule-races", 6, "rounds of each rule in TestRulesUnderWrites; `make soak` takes 1,000")

// rule is something that alice decides about bob, who writes at another node meanwhile.
type rule struct {
	begins, ends string // the notices of the steps in which it begins and ends; the same: it does both in turn
	codes        []string
	texts        int  // that bob may send while it holds
	free         bool // edits and reactions go on
	set, unset   func(ctx context.Context, alice *client.Client, group string) error
}

func second[T any](_ T, err error) error { return err }

func setGroup(change client.GroupChange) func(context.Context, *client.Client, string) error {
	return func(ctx context.Context, alice *client.Client, group string) error {
		return second(alice.UpdateGroup(ctx, group, change))
	}
}

func muteBob(until time.Time) func(context.Context, *client.Client, string) error {
	return func(ctx context.Context, alice *client.Client, group string) error {
		return second(alice.Mute(ctx, group, "bob", until))
	}
}

var racedRules = map[string]rule{
	"ban": {begins: "banned", ends: "joined", codes: []string{client.CodeForbidden, "banned"},
		set: func(ctx context.Context, alice *client.Client, group string) error {
			return second(alice.Ban(ctx, group, "bob", client.BanDraft{}))
		},
		unset: func(ctx context.Context, alice *client.Client, group string) error {
			if err := alice.Unban(ctx, group, "bob"); err != nil {
				return err
			}
			return second(alice.PutMember(ctx, group, "bob", ""))
		}},
	"mute":   {begins: "muted", ends: "muted", codes: []string{"muted"}, set: muteBob(client.Forever), unset: muteBob(time.Time{})},
	"freeze": {begins: "settings", ends: "settings", codes: []string{client.CodeForbidden}, set: setGroup(client.GroupChange{Post: new("none")}), unset: setGroup(client.GroupChange{Post: new("members")})},
	"slow": {begins: "settings", ends: "settings", codes: []string{client.CodeRateLimited}, texts: 1, free: true,
		set: setGroup(client.GroupChange{SlowS: new(int64(21_600))}), unset: setGroup(client.GroupChange{SlowS: new(int64(0))})},
}

// TestRulesUnderWrites has a rule come while bob sends, edits, reacts and joins by HTTP and over a websocket, at another node, again and
// again: behind the notice of the rule there is nothing of his in the log, in what somebody else reads over a websocket, and in what he
// reads himself once he is kept out; and what he tries after the answer is refused.
func TestRulesUnderWrites(t *testing.T) {
	t.Parallel()
	nodes := twoNodes(t)
	for name, r := range racedRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := bounded(t, time.Minute+time.Duration(*ruleRaces)*time.Second)
			alice, bob := nodes[0].Client("alice"), nodes[1].Client("bob", client.WithRetry(1, client.Backoff{}))
			must(alice.CreateGroup(ctx, client.GroupDraft{ID: name, Members: []string{"bob", "carol"}, Visibility: "public", Keep: new(int64(100_000)), History: new(false)}))(t)
			target := must(alice.Send(ctx, name, client.Text("to react to")))(t).ID
			socket := must(nodes[1].Client("bob").Stream(ctx, quick(nil)))(t)
			defer socket.Close()
			his, hers := watch(ctx, t, socket, name), watch(ctx, t, must(nodes[1].Client("carol").Stream(ctx, quick(nil)))(t), name)
			for range *ruleRaces {
				raceRule(ctx, t, r, alice, bob, socket, name, target)
			}
			r.check(ctx, t, alice, name, his, hers)
		})
	}
}

// attack repeats what bob does until the rule was answered and once more, which is refused unless it is free.
func attack(answered *atomic.Bool, begun func(), r rule, what string, free bool, do func() error) error {
	for {
		last := answered.Load()
		err := do()
		begun()
		code := client.CodeOf(err)
		switch {
		case err != nil && !slices.Contains(r.codes, code) && code != client.CodeNotFound && code != client.CodeConflict:
			return fmt.Errorf("%s: %w", what, err)
		case last && err == nil && !free && r.texts > 0: // it is not refused yet; how many are done, the log tells
		case last && err == nil && !free:
			return fmt.Errorf("%s: done after the answer to the rule", what)
		case last:
			return nil
		}
	}
}

func raceRule(ctx context.Context, t *testing.T, r rule, alice, bob *client.Client, socket *client.Stream, group string, target int64) {
	t.Helper()
	own, err := bob.Send(ctx, group, client.Text("to edit"))
	if err != nil && client.CodeOf(err) != client.CodeRateLimited {
		t.Fatal(err)
	}
	var answered atomic.Bool
	var n atomic.Int64
	writing := make(chan struct{})
	begun := func() {
		if n.Add(1) == 8 {
			close(writing)
		}
	}
	ways := map[string]func() error{
		"send":   func() error { return second(bob.Send(ctx, group, client.Text("x"))) },
		"stream": func() error { return second(socket.Send(ctx, group, client.Text("y"))) },
		"edit": func() error {
			return second(bob.Send(ctx, group, client.Draft{Kind: "edit", Target: own.ID, Body: fmt.Sprint(n.Load())}))
		},
		"react": func() error {
			return second(bob.Send(ctx, group, client.Draft{Kind: "reaction", Target: target, Emoji: "👍", Removed: n.Load()%2 == 1}))
		},
	}
	if r.begins == "banned" {
		ways["join"] = func() error { return second(bob.PutMember(ctx, group, "bob", "")) }
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(ways))
	for what, do := range ways {
		wg.Go(func() { errs <- attack(&answered, begun, r, what, r.free && (what == "edit" || what == "react"), do) })
	}
	<-writing
	err = r.set(ctx, alice, group)
	answered.Store(true)
	wg.Wait()
	close(errs)
	for e := range errs {
		if e != nil {
			t.Error(e)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.unset(ctx, alice, group); err != nil {
		t.Fatal(err)
	}
}

// watched is what a socket got of a group.
type watched struct {
	mu      sync.Mutex
	entries []client.Message
}

func watch(ctx context.Context, t *testing.T, stream *client.Stream, group string) *watched {
	t.Helper()
	w := &watched{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event, err := range stream.Events(ctx) {
			if err != nil {
				return
			}
			if m, ok := event.(client.Messages); ok && m.Group == group {
				w.mu.Lock()
				w.entries = append(w.entries, m.Messages...)
				w.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		stream.Close()
		<-done
	})
	return w
}

func (w *watched) last() (int64, []client.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.entries) == 0 {
		return 0, nil
	}
	return w.entries[len(w.entries)-1].ID, slices.Clone(w.entries)
}

// check goes through the log, and through what bob and carol got of it.
func (r rule) check(ctx context.Context, t *testing.T, alice *client.Client, group string, his, hers *watched) {
	t.Helper()
	var log []client.Message
	for after, more := int64(0), true; more; {
		page := must(alice.Messages(ctx, group, client.Range{After: client.At(after)}))(t)
		log = append(log, page.Messages...)
		after, more = page.To, page.HasMore
	}
	holds, texts, begun, before := false, 0, 0, 0
	out := map[int64]bool{} // what came while bob was kept out
	for _, e := range log {
		switch {
		case !holds && e.Notice == r.begins:
			holds, texts = true, 0
			begun++
		case holds && e.Notice == r.ends && e.From == "alice":
			holds = false
		case holds && e.From == "bob" && e.Kind == "text" && texts < r.texts:
			texts++
		case holds && e.From == "bob" && (!r.free || e.Kind == "text"):
			t.Errorf("behind the notice of the rule there is %+v", e)
		case e.From == "bob":
			before++
		}
		out[e.ID] = holds && r.begins == "banned" && e.Notice != r.begins
	}
	if begun != *ruleRaces || before < *ruleRaces {
		t.Errorf("the rule began %d times in %d rounds, and bob wrote %d entries: nothing was raced", begun, *ruleRaces, before)
	}
	last := log[len(log)-1].ID
	var got []client.Message
	harness.Eventually(t, time.Minute, "carol and bob have everything", func() error {
		at, entries := hers.last()
		to, _ := his.last()
		if got = entries; at < last || to < last {
			return fmt.Errorf("up to %d and %d of %d", at, to, last)
		}
		return nil
	})
	for i, e := range got {
		if i > 0 && e.ID != got[i-1].ID+1 || e.From != log[e.ID-1].From || e.Kind != log[e.ID-1].Kind {
			t.Fatalf("carol got %+v behind %d, the log has %+v", e, got[max(0, i-1)].ID, log[e.ID-1])
		}
	}
	_, entries := his.last()
	for _, e := range entries {
		if out[e.ID] {
			t.Errorf("bob got %+v, which came while he was kept out", e)
		}
	}
	t.Logf("%d entries, %d of bob while nothing was against them", len(log), before)
}

// TestBlocksUnderWrites has alice and dave block bob while he writes to them and mentions them, at another node, again and again: behind
// the answer there is nothing of his in their inboxes, and a device gets no notification of him until the block ends.
func TestBlocksUnderWrites(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	c := harness.Config{Redis: redis.URL(), Env: notifying("50ms")}
	nodes := []*harness.Node{harness.StartNode(t, c), harness.StartNode(t, c)}
	ctx := bounded(t, time.Minute+time.Duration(*ruleRaces)*2*time.Second)
	run := &notifyRun{T: t, ctx: ctx, node: nodes[0], receiver: harness.StartReceiver(t, 1), alice: nodes[0].Client("alice")}
	must(run.alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob", "dave"}}))(t)
	run.webhook("dave", "phone")
	defer run.online("alice")()
	root := must(client.New(nodes[0].URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
	for range *ruleRaces {
		raceBlock(run, nodes, root)
	}
}

func raceBlock(run *notifyRun, nodes []*harness.Node, root *client.Client) {
	run.Helper()
	ctx, bob := run.ctx, nodes[1].Client("bob", client.WithRetry(1, client.Backoff{}))
	var answered atomic.Bool
	var n atomic.Int64
	writing := make(chan struct{})
	begun := func() {
		if n.Add(1) == 6 {
			close(writing)
		}
	}
	r := rule{codes: []string{"blocked"}}
	mention := func() error {
		return second(bob.Send(ctx, "g", client.Draft{Body: "look", Mentions: []string{"alice", "dave"}}))
	}
	ways := map[string]func() error{
		"to alice": func() error { return second(bob.SendDirect(ctx, "alice", client.Direct{Body: "x"})) },
		"to dave":  func() error { return second(bob.SendDirect(ctx, "dave", client.Direct{Body: "x"})) },
		"mention":  mention,
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(ways))
	for what, do := range ways {
		wg.Go(func() { errs <- attack(&answered, begun, r, what, what == "mention", do) })
	}
	<-writing
	ends := map[string]int64{}
	for _, user := range []string{"alice", "dave"} {
		must(nodes[0].Client(user).Block(ctx, "bob"))(run)
		ends[user] = must(nodes[0].Client(user).Inbox(ctx, nil, 1))(run).Last
	}
	answered.Store(true)
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			run.Error(err)
		}
	}
	look := func() {
		run.Helper()
		at := must(nodes[0].Client("dave").Group(ctx, "g"))(run).Last
		must(nodes[0].Client("dave").Read(ctx, "g", at))(run) // so that the next message notifies again
		if err := mention(); err != nil {
			run.Fatal(err)
		}
	}
	settled(run, root)
	notified := len(run.receiver.Got("dave-phone"))
	look()
	settled(run, root)
	if got := run.receiver.Got("dave-phone")[notified:]; len(got) > 0 {
		run.Errorf("dave is notified of who is blocked: %+v", got[0].Data)
	}
	for user, end := range ends {
		c := nodes[0].Client(user)
		for after, more := end, true; more; {
			page := must(c.Inbox(ctx, &after, 0))(run)
			for _, item := range page.Items {
				if item.From == "bob" {
					run.Errorf("the inbox of %s has %+v, behind %d, where it ended when bob was blocked", user, item, end)
				}
			}
			after, more = page.To, page.HasMore
			if err := c.InboxAck(ctx, after); err != nil { // what is not acked fills it over many rounds
				run.Fatal(err)
			}
		}
		if err := c.Unblock(ctx, "bob"); err != nil {
			run.Fatal(err)
		}
	}
	look()
	if got := run.receiver.Wait(time.Minute, "dave-phone", notified+1); got[notified].Data.From != "bob" {
		run.Errorf("after the block dave is notified of %+v, want of bob", got[notified].Data)
	}
}

// settled waits until no task is left that would bring something to a user.
func settled(run *notifyRun, root *client.Client) {
	run.Helper()
	harness.Eventually(run, time.Minute, "what is to be brought to users is there", func() error {
		tasks, _, err := root.Tasks(run.ctx, "", "", client.Page{Limit: 1000})
		for _, task := range tasks {
			if slices.Contains([]string{"mention", "notify", "notify_inbox", "tell", "push"}, task.Kind) {
				return fmt.Errorf("%s is %s", task.Kind, task.State)
			}
		}
		return err
	})
}
