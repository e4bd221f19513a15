package chat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
)

// reactions are the reactions to a message as user gets them.
func (b *bench) reactions(user string, id int64) map[string]chat.ReactionCount {
	b.T.Helper()
	_, views, err := b.Pull(b.Ctx, as(user), "g", chat.PullQuery{Before: new(id + 1), Limit: 1})
	b.Must(err)
	return views[0].Reactions
}

func (b *bench) react(user string, id int64, emoji string, removed bool) chat.Sent {
	b.T.Helper()
	sent, err := b.Send(b.Ctx, as(user), "g", chat.Content{Kind: chat.Reaction, Target: id, Emoji: emoji, Removed: removed}, "")
	b.Must(err)
	return sent
}

// TestSpellingsOfAnEmoji: they are one reaction.
func TestSpellingsOfAnEmoji(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	id := b.Say("alice", "g", "hi").ID
	b.react("alice", id, "👍", false)
	b.react("bob", id, "👍\uFE0F", false)
	b.react("alice", id, "❤", false)
	if again := b.react("alice", id, "❤\uFE0F", false); !again.Duplicate {
		t.Errorf("the other spelling: got %+v", again)
	}
	want := map[string]chat.ReactionCount{"👍": {Count: 2, Mine: true}, "❤\uFE0F": {Count: 1, Mine: true}}
	if got := b.reactions("alice", id); cmp.Diff(want, got) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
	b.react("bob", id, "👍", true)
	want["👍"] = chat.ReactionCount{Count: 1, Mine: true}
	if got := b.reactions("alice", id); cmp.Diff(want, got) != "" {
		t.Errorf("after the removal: got %v, want %v", got, want)
	}
}

// TestReactionsOfBefore: a reaction stored by a version that took every text counts under its present spelling, and can be taken back.
func TestReactionsOfBefore(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "carl")
	id := b.Say("alice", "g", "hi").ID
	before := func(user, emoji string) {
		t.Helper()
		e := chat.Entry{Group: "g", From: user, Content: chat.Content{Kind: chat.Reaction, Target: id, Emoji: emoji}}
		_, err := b.Store.Append(b.Ctx, chat.NewAppend(e, 1))
		b.Must(err)
	}
	before("alice", "❤")
	before("bob", "❤\uFE0F")
	before("bob", "lgtm")
	if again := b.react("alice", id, "❤\uFE0F", false); !again.Duplicate {
		t.Errorf("an earlier reaction: got %+v", again)
	}
	b.react("carl", id, "❤\uFE0F", false)
	want := map[string]chat.ReactionCount{"❤\uFE0F": {Count: 3, Mine: true}, "lgtm": {Count: 1}}
	if got := b.reactions("alice", id); cmp.Diff(want, got) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
	b.react("alice", id, "❤\uFE0F", true)
	b.react("bob", id, "lgtm", true)
	want = map[string]chat.ReactionCount{"❤\uFE0F": {Count: 2, Mine: true}}
	if got := b.reactions("bob", id); cmp.Diff(want, got) != "" {
		t.Errorf("after the removals: got %v, want %v", got, want)
	}
}
