package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

// historyKeep is how many messages the store keeps in these tests; the others are only in the archive.
const historyKeep = int64(10)

// TestHistory reads a log of which the store holds the newest entries only, in every way there is.
func TestHistory(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		newHistory(t, harness.Config{}).run() // an archive is beside the embedded store
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		redis := redistest.Start(t)
		config := harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": pgtest.Start(t).Database()}}
		h := newHistory(t, config)
		h.held = func(group string) int64 { return stored(redis, group) }
		h.run()
	})
}

// history is a group of two people, most of which is archived, and what it must read like.
type history struct {
	t        *testing.T
	ctx      context.Context
	config   harness.Config
	node     *harness.Node
	held     func(group string) int64 // entries in the store; nil: nobody can tell
	ann, bob *client.Client
	root     *client.Client // an operator
	want     []string       // the bodies by id - 1; of other entries their kinds
}

func newHistory(t *testing.T, config harness.Config) *history {
	h := &history{t: t, ctx: bounded(t, time.Minute), config: config, node: harness.StartNode(t, config)}
	h.ann, h.bob = h.node.Client("ann", patient()), h.node.Client("bob", patient())
	h.root = must(client.New(h.node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour)), patient()))(t)
	return h
}

func (h *history) run() {
	h.t.Helper()
	h.make("g", 320)
	h.everywhere("g")
	h.change("g")
	h.everywhere("g")
	h.node.Terminate()
	h.node.Start()
	h.everywhere("g")
	h.newLife("g")
	h.make("h", 30)
	h.switchOff("h")
}

// make creates a group, has messages sent, and everybody read them, until only the archive has most of them.
func (h *history) make(group string, messages int) {
	h.t.Helper()
	keep := historyKeep
	must(h.ann.CreateGroup(h.ctx, client.GroupDraft{ID: group, Members: []string{"bob"}, Keep: &keep}))(h.t)
	h.want = []string{client.KindNotice, client.KindNotice}
	for n := range messages {
		body := fmt.Sprintf("message %d of %s", n, group)
		must(h.ann.Send(h.ctx, group, client.Text(body)))(h.t)
		h.want = append(h.want, body)
	}
	h.acked(group)
	h.archived()
	h.trimmed(group)
}

func (h *history) last() int64 { return int64(len(h.want)) }

func (h *history) acked(group string) {
	h.t.Helper()
	for _, c := range []*client.Client{h.ann, h.bob} {
		must(c.Ack(h.ctx, group, h.last()))(h.t)
	}
}

// archived waits until nothing waits to be archived.
func (h *history) archived() {
	h.t.Helper()
	harness.Eventually(h.t, 20*time.Second, "everything is archived", func() error {
		tasks, _, err := h.root.Tasks(h.ctx, "", "core", client.Page{Limit: 100})
		for _, task := range tasks {
			if task.Kind == "archive" {
				return fmt.Errorf("%+v", task)
			}
		}
		return err
	})
}

func (h *history) trimmed(group string) {
	h.t.Helper()
	if h.held == nil {
		return
	}
	harness.Eventually(h.t, 20*time.Second, group+" is trimmed", func() error {
		if got := h.held(group); got != historyKeep {
			return fmt.Errorf("the store holds %d entries, want %d", got, historyKeep)
		}
		return nil
	})
}

// everywhere compares the log with what is served by pages in both directions, by sync and over a websocket.
func (h *history) everywhere(group string) {
	h.t.Helper()
	state := must(h.bob.Group(h.ctx, group))(h.t)
	if state.First != 1 || state.Last != h.last() {
		h.t.Errorf("%s goes from %d to %d, want 1 to %d", group, state.First, state.Last, h.last())
	}
	var up []client.Message
	for after := client.At(0); ; {
		page := must(h.bob.Messages(h.ctx, group, client.Range{After: after, Limit: 47}))(h.t)
		if !page.Complete || page.First != 1 {
			h.t.Errorf("page after %s: complete is %v, first %d", after, page.Complete, page.First)
		}
		up, after = append(up, page.Messages...), page.Cursor
		if !page.HasMore {
			break
		}
	}
	h.compare("pages upwards", up)

	var down []client.Message
	for before := h.last() + 1; before > 1; {
		page := must(h.bob.Messages(h.ctx, group, client.Range{Before: before, Limit: 53}))(h.t)
		if len(page.Messages) == 0 {
			h.t.Fatalf("nothing before %d", before)
		}
		down, before = append(page.Messages, down...), page.Messages[0].ID
	}
	h.compare("pages downwards", down)

	var synced []client.Message
	for after := client.At(0); int64(len(synced)) < h.last(); {
		answer := must(h.bob.Sync(h.ctx, client.SyncRequest{After: map[string]client.Position{group: after}, Limit: 100}))(h.t)
		if len(answer.Groups) != 1 || len(answer.Errors) != 0 || !answer.Groups[0].Complete {
			h.t.Fatalf("sync after %s: %+v", after, answer)
		}
		synced, after = append(synced, answer.Groups[0].Messages...), answer.Groups[0].Cursor
	}
	h.compare("sync", synced)

	cursors := &client.MemoryCursors{}
	if err := cursors.Save(h.ctx, map[string]client.Position{group: client.At(0)}); err != nil {
		h.t.Fatal(err)
	}
	stream := must(h.bob.Stream(h.ctx, quick(cursors)))(h.t)
	defer stream.Close()
	var streamed []client.Message
	until(h.ctx, h.t, stream.Next, func(m client.Messages) bool {
		if m.Group == group {
			streamed = append(streamed, m.Messages...)
		}
		return int64(len(streamed)) >= h.last()
	})
	h.compare("websocket", streamed)
	if err := honest("websocket", stream.Stats()); err != nil {
		h.t.Error(err)
	}
}

func (h *history) compare(what string, got []client.Message) {
	h.t.Helper()
	if int64(len(got)) != h.last() {
		h.t.Errorf("%s: got %d messages, want %d", what, len(got), h.last())
		return
	}
	for i, m := range got {
		said := m.Body
		if m.Kind != client.KindText && m.Kind != "" {
			said = m.Kind
		}
		if m.ID != int64(i+1) || said != h.want[i] {
			h.t.Errorf("%s: message %d of %d is %d, %q; want %q", what, i+1, len(got), m.ID, said, h.want[i])
			return
		}
	}
}

// change edits, deletes and reacts to messages that only the archive has.
func (h *history) change(group string) {
	h.t.Helper()
	const edited, deleted, liked = 5, 6, 7
	for _, draft := range []client.Draft{
		{Kind: client.KindEdit, Target: edited, Body: "as it is now"}, {Kind: client.KindDelete, Target: deleted},
		{Kind: client.KindReaction, Target: liked, Emoji: "🎉"}, {Kind: client.KindReaction, Target: deleted + 2, Emoji: "🎉"},
		{Kind: client.KindReaction, Target: deleted + 2, Emoji: "🎉", Removed: true},
	} {
		sent := must(h.ann.Send(h.ctx, group, draft))(h.t)
		h.want = append(h.want, draft.Kind)
		if sent.ID != h.last() {
			h.t.Fatalf("%s got id %d, want %d", draft.Kind, sent.ID, h.last())
		}
		switch draft.Kind { // at once, whether it is archived by now or not
		case client.KindEdit:
			h.want[edited-1] = draft.Body
		case client.KindDelete:
			h.want[deleted-1] = ""
		}
		page := must(h.bob.Messages(h.ctx, group, client.Range{After: client.At(edited - 1), Limit: 2}))(h.t)
		for _, m := range page.Messages {
			if m.Body != h.want[m.ID-1] {
				h.t.Errorf("after %s: message %d reads %q, want %q", draft.Kind, m.ID, m.Body, h.want[m.ID-1])
			}
		}
	}
	page := must(h.bob.Messages(h.ctx, group, client.Range{After: client.At(edited - 1), Limit: 4}))(h.t)
	if page.Messages[0].EditedAt == nil || page.Messages[1].DeletedAt == nil {
		h.t.Errorf("got %+v, want an edited message and a deleted one", page.Messages[:2])
	}
	if got := page.Messages[2].Reactions; len(got) != 1 || got["🎉"].Count != 1 || got["🎉"].Mine {
		h.t.Errorf("reactions of message %d: got %v, want one, by ann", liked, got)
	}
	if got := page.Messages[3].Reactions; len(got) != 0 {
		h.t.Errorf("reactions of message %d: got %v, want none", liked+1, got)
	}
	_, err := h.ann.Send(h.ctx, group, client.Draft{Kind: client.KindEdit, Target: deleted, Body: "no"})
	if client.CodeOf(err) != "not_found" {
		h.t.Errorf("edit of a deleted message: %v", err)
	}
	for n := range historyKeep {
		body := fmt.Sprintf("later %d", n)
		must(h.ann.Send(h.ctx, group, client.Text(body)))(h.t)
		h.want = append(h.want, body)
	}
	h.acked(group)
	h.archived()
	h.trimmed(group)
}

// newLife deletes a group and makes another one of the same id: nothing of the old one shows.
func (h *history) newLife(group string) {
	h.t.Helper()
	old := must(h.bob.Messages(h.ctx, group, client.Range{After: client.At(0), Limit: 1}))(h.t).Cursor
	if err := h.ann.DeleteGroup(h.ctx, group); err != nil {
		h.t.Fatal(err)
	}
	h.make(group, 30)
	h.everywhere(group)
	page := must(h.bob.Messages(h.ctx, group, client.Range{After: old, Limit: 5}))(h.t)
	if page.Complete || page.From != 1 {
		h.t.Errorf("a page after a cursor of the life before: complete is %v, from %d", page.Complete, page.From)
	}
	_, err := h.ann.Send(h.ctx, group, client.Draft{Kind: client.KindEdit, Target: 300, Body: "no"})
	if client.CodeOf(err) != "not_found" {
		h.t.Errorf("edit of a message of the life before: %v", err)
	}
}

// switchOff starts the node without its archive: what only that has is out of reach, and the group says so.
func (h *history) switchOff(group string) {
	h.t.Helper()
	h.node.Terminate()
	config := h.config
	config.Env = map[string]string{"CHATD_ARCHIVE": "off"}
	config.Data = h.node.Data
	bob := harness.StartNode(h.t, config).Client("bob", patient())
	harness.Eventually(h.t, 20*time.Second, "the group begins where the store does", func() error {
		state, err := bob.Group(h.ctx, group)
		if want := h.last() - historyKeep + 1; err != nil || state.First != want {
			return fmt.Errorf("first is %d, want %d, %w", state.First, want, err)
		}
		return nil
	})
	page := must(bob.Messages(h.ctx, group, client.Range{After: client.At(0), Limit: 100}))(h.t)
	if page.Complete || int64(len(page.Messages)) != historyKeep || !strings.HasPrefix(page.Messages[0].Body, "message") {
		h.t.Errorf("without the archive: %+v", page)
	}
}
