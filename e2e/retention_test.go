package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

const (
	agedMessages  = 4000 // sent three days ago
	freshMessages = 160
)

// TestRetentionSurvivesKills kills a node twice in the middle of removing old messages, which are in the database and in Redis.
// In the end every one of them is gone from both, and none of the young.
func TestRetentionSurvivesKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	redis, postgres := redistest.Start(t), pgtest.Start(t)
	database := postgres.Database()
	writeAged(ctx, t, redis.URL())
	begin := func(days string) *harness.Node {
		return harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": database, "CHATD_RETAIN_DAYS": days}})
	}
	first := func() int64 { return redis.Int("HGET", "chat:{p00}:g:g:meta", "archived_from") }

	node := begin("0")
	last := must(node.Client("ann").Group(ctx, "g"))(t).Last
	harness.Eventually(t, 30*time.Second, "most is in the database alone", func() error {
		for _, user := range []string{"ann", "bob"} {
			must(node.Client(user).Ack(ctx, "g", last-freshMessages-100))(t)
		}
		if got := stored(redis, "g"); got > freshMessages+100 {
			return fmt.Errorf("redis holds %d messages", got)
		}
		return nil
	})
	node.Terminate()
	for _, at := range []int64{agedMessages / 8, agedMessages / 2} {
		node = begin("2")
		harness.Eventually(t, 30*time.Second, "the removal is under way", func() error {
			if got := first(); got < at {
				return fmt.Errorf("the log begins at %d", got)
			}
			return nil
		})
		node.Kill()
		t.Logf("killed when the log began at %d of %d", first(), last)
	}
	node = begin("2")
	db := must(sqlarchive.Open(ctx, database))(t)
	defer func() { _ = db.Close() }()
	log := archive.Log{Group: "g", Epoch: must(node.Client("ann").Group(ctx, "g"))(t).Epoch}
	harness.Eventually(t, 30*time.Second, "what is old is gone", func() error {
		has, err := db.Read(ctx, log, archive.Span{From: 1, To: last - freshMessages, Limit: 1, BytesMax: 1})
		if got := first(); err != nil || got != last-freshMessages+1 || len(has) > 0 {
			return fmt.Errorf("the log begins at %d, the database at %v, %w", got, has, err)
		}
		return nil
	})
	page := must(node.Client("bob").Messages(ctx, "g", client.Range{After: client.At(0), Limit: freshMessages}))(t)
	if page.Complete || page.From != last-freshMessages+1 || len(page.Messages) != freshMessages {
		t.Errorf("got %d messages from %d, complete %v", len(page.Messages), page.From, page.Complete)
	}
	if got := stored(redis, "g"); got != freshMessages {
		t.Errorf("redis holds %d messages, want %d", got, freshMessages)
	}
}

// writeAged makes a group of ann and bob with many messages of three days ago and some of now, as a node of that time did.
func writeAged(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	now := time.Now().Add(-72 * time.Hour)
	s := must(store.Open(ctx, store.Options{URL: url, Limits: chat.DefaultLimits()}))(t)
	defer func() { _ = s.Close() }()
	core := chat.New(s, chat.Options{Now: func() int64 { return now.UnixMilli() }})
	ann, keep := chat.Caller{User: "ann"}, int64(freshMessages+50)
	must(core.CreateGroup(ctx, ann, chat.GroupDraft{ID: "g", Members: []string{"bob"}, Keep: &keep}))(t)

	say := func(n int) {
		var sending sync.WaitGroup
		for range 8 {
			sending.Go(func() {
				for i := range n / 8 {
					body := fmt.Sprintf("text %d", i)
					if _, err := core.Send(ctx, ann, "g", chat.Content{Body: &body}, ""); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		sending.Wait()
	}
	say(agedMessages)
	now = time.Now()
	say(freshMessages)
}
