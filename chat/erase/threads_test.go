package erase_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
)

// TestErasureOfThreads: what a person has replied goes out of the counts, and nothing says which threads they followed or wrote in: also in
// a group that they have left.
func TestErasureOfThreads(t *testing.T) {
	b := newBench(t)
	roots := map[string]int64{}
	in := func(thread int64, mentions ...string) func(*chat.Content) {
		return func(c *chat.Content) { c.Thread, c.Mentions = thread, mentions }
	}
	last := map[string]int64{}
	for _, group := range []string{"general", "past"} {
		b.MakeGroup(chat.GroupDraft{ID: group}, "bob", "alice", "carol")
		root := b.send("bob", group, text("root"))
		hers := b.send("alice", group, text(secret))
		b.send("alice", group, text(secret+" below", in(root)))
		last[group] = b.send("carol", group, text("below", in(root, "alice")))
		b.send("alice", group, text(secret+" again", in(root)))
		b.send("carol", group, text("below hers", in(hers, "alice")))
		roots[group] = root
	}
	b.Must(b.RemoveMember(b.Ctx, chattest.As("alice"), "past", "alice"))
	if got := b.named("alice"); len(got) != 3 {
		t.Fatalf("before, threads name her in %q; where she has left, only her replies do", got)
	}
	b.erase("alice")
	b.nowhere(secret)
	if got := b.named("alice"); len(got) > 0 {
		t.Errorf("threads name her in %q", got)
	}
	for group, root := range roots {
		counts, err := b.Store.ReplyCounts(b.Ctx, group, []int64{root, root + 1})
		b.Must(err)
		if len(counts) != 1 || counts[root] != (chat.ReplyCount{Replies: 1, LastID: last[group]}) {
			t.Errorf("%s: got %+v", group, counts)
		}
		infos, err := b.Store.Infos(b.Ctx, "bob", []string{group})
		b.Must(err)
		if infos[0].ThreadsUnread != 1 {
			t.Errorf("%s: %d replies are unread", group, infos[0].ThreadsUnread)
		}
	}
}

// named are the members of the keys of threads that name a user.
func (b *bench) named(user string) (found []string) {
	b.T.Helper()
	keys, _ := b.server.Do("KEYS", "*").([]any)
	groups := map[string]bool{}
	for _, key := range keys {
		name, _ := key.(string)
		if !strings.HasSuffix(name, ":threads") && !strings.HasSuffix(name, ":replies") {
			continue
		}
		all, _ := b.server.Do("ZRANGE", name, "0", "-1").([]any)
		for _, member := range all {
			if strings.Contains(fmt.Sprint(member), user) && !groups[name] {
				groups[name] = true
				found = append(found, fmt.Sprint(name, " ", member))
			}
		}
	}
	return found
}
