package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
)

// TestInboxStepsAreShort does the most that inboxes at their bounds can ask of the server in one step.
func TestInboxStepsAreShort(t *testing.T) {
	server := redistest.Start(t)
	b := chattest.Open(t, server.URL())
	key := func(run int, name string) string { return fmt.Sprintf("chat:{p00}:u:bob%d:%s", run, name) }
	// fill makes an inbox of n items of so many bytes, of which one is missing in the middle, before it one of the server.
	fill := func(run, n, bytes int) {
		server.Do("DEL", key(run, "inbox"), key(run, "inbox:base"), key(run, "inbox:server"))
		args := []string{"RPUSH", key(run, "inbox")}
		for seq := 1; seq <= n+1; seq++ {
			if seq != n/2+1 {
				args = append(args, fmt.Sprintf(`abcdef{"seq":%d,"kind":"direct","body":"%s"}`, seq, strings.Repeat("x", bytes)))
			}
			if len(args) == 1002 || seq == n+1 {
				server.Do(args...)
				args = args[:2]
			}
		}
		server.Do("HSET", key(run, "inbox:base"), "epoch", "e", "gaps", "1")
		server.Do("ZADD", key(run, "inbox:server"), fmt.Sprint(n/2), fmt.Sprint(n/2))
	}
	most := chat.DefaultLimits().InboxItemsMax
	for name, step := range map[string]step{
		"acking a full inbox": {
			prepare: func(run int) { fill(run, most, 200) },
			do: func(run int) {
				_, err := b.Store.InboxAck(b.Ctx, fmt.Sprint("bob", run), chat.At(int64(most)))
				b.Must(err)
			},
		},
		"an item of the server for a full inbox": {
			prepare: func(run int) { fill(run, most, 200) },
			do: func(run int) {
				b.Must(b.PutItem(b.Ctx, fmt.Sprint("bob", run), chat.Item{Kind: chat.ItemAnnouncement, SentAt: chat.TimeMs(1)}, "k"))
			},
		},
		"a page of large items": {
			prepare: func(run int) { fill(run, 300, 32<<10) },
			do: func(run int) {
				_, err := b.Inbox(b.Ctx, chattest.As(fmt.Sprint("bob", run)), chat.Position{}, 1000)
				b.Must(err)
			},
		},
	} {
		us, of := server.Longest(stepMax, step.prepare, step.do)
		t.Logf("%s: at most %d us, %s", name, us, of)
		if us > stepMax {
			t.Errorf("%s: the server was busy for %d us with %s, want at most %d", name, us, of, stepMax)
		}
	}
}
