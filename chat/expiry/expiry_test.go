package expiry_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/internal/chattest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// bench is a core whose messages were sent whenever the test says, and whose store is served without what had to go.
type bench struct {
	*chattest.Bench
	sentAt   *atomic.Int64 // ms
	archiver *archive.Archiver
	service  *expiry.Service
}

func newBench(t *testing.T, archived bool) *bench {
	t.Helper()
	b := &bench{sentAt: new(atomic.Int64)}
	b.ago(0)
	b.Bench = chattest.New(t, func(o *chat.Options) { o.Now = b.sentAt.Load })
	var logs chat.Store = b.Store
	if archived {
		db, err := sqlarchive.Open(b.Ctx, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"))
		b.Must(err)
		t.Cleanup(func() { _ = db.Close() })
		b.archiver = archive.New(b.Store, db, archive.Options{})
		b.Must(b.archiver.Switch(b.Ctx))
		logs = archive.Serve(b.Store, db, b.archiver.CatchUp, chat.DefaultLimits())
	}
	clock := expiry.NewClock(b.Store.Clock)
	b.Must(clock.Ask(b.Ctx))
	opt := b.Options()
	opt.StoreNow = clock.NowMs
	b.Service = chat.New(chat.Living(logs, clock.NowMs), opt)
	b.service = expiry.New(b.Store.Expiry, logs, clock, slog.New(slog.DiscardHandler))
	return b
}

// ago makes what is sent from now on as old as that.
func (b *bench) ago(age time.Duration) { b.sentAt.Store(time.Now().Add(-age).UnixMilli()) }

// run runs the task of a group once.
func (b *bench) run(group string) {
	b.T.Helper()
	info, err := b.Group(b.Ctx, chattest.As("alice"), group)
	b.Must(err)
	payload, err := json.Marshal(chat.GroupTask{Group: group, Epoch: info.Epoch})
	b.Must(err)
	b.Must(b.service.Handlers()[expiry.TaskExpire].Run(b.Ctx, chat.TaskRun{Payload: payload}))
}

// log is what a member is served of a log.
func (b *bench) log(group string) (entries []chat.Entry, text string) {
	b.T.Helper()
	from := "0"
	batch, _, err := b.Pull(b.Ctx, chattest.As("bob"), group, chat.PullQuery{After: &from, Limit: 1000})
	b.Must(err)
	for _, m := range batch.Messages {
		var e chat.Entry
		b.Must(json.Unmarshal(m.JSON, &e))
		entries, text = append(entries, e), text+string(m.JSON)
	}
	return entries, text
}

func (b *bench) edit(user, group string, target int64, body string) {
	b.T.Helper()
	_, err := b.Send(b.Ctx, chattest.As(user), group, chat.Content{Kind: chat.Edit, Target: target, Body: &body}, "")
	b.Must(err)
}

// TestExpire: what has to go is not served even before it is deleted, and is deleted once, by its author.
func TestExpire(t *testing.T) {
	for _, archived := range []bool{false, true} {
		name := "without an archive"
		if archived {
			name = "trimmed into the archive"
		}
		t.Run(name, func(t *testing.T) {
			b := newBench(t, archived)
			b.MakeGroup(chat.GroupDraft{ID: "g", ExpireS: new(int64(3600)), Keep: new(int64(0))}, "alice", "bob")
			old := b.Say("bob", "g", "secret")
			b.edit("bob", "g", old.ID, "secret again")
			emoji := "👍"
			_, err := b.Send(b.Ctx, chattest.As("alice"), "g", chat.Content{Kind: chat.Reaction, Target: old.ID, Emoji: emoji}, "")
			b.Must(err)
			b.Say("bob", "g", "stays")
			if _, text := b.log("g"); strings.Count(text, "secret") != 2 || strings.Count(text, "expires_at") != 3 {
				t.Fatalf("got %s", text)
			}
			b.ago(2 * time.Hour)
			late := b.Say("bob", "g", "over")
			entries, text := b.log("g")
			if strings.Contains(text, `"over"`) || !strings.Contains(text, "stays") || len(entries) == 0 {
				t.Fatalf("before it is deleted, got %s", text)
			}
			last := entries[len(entries)-1].ID
			if last != late.ID || entries[len(entries)-1].DeletedAt == nil {
				t.Fatalf("got %s", text)
			}
			// The end of the first comes.
			b.Must(b.Store.Client().ZAdd(b.Ctx, b.Store.Prefix()+":{p00}:g:g:expires", redis.Z{Score: 1, Member: old.ID}).Err())
			if archived {
				b.Must(b.archiver.CatchUp(b.Ctx, "g", last))
				for _, user := range []string{"alice", "bob"} {
					_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(last))
					b.Must(err)
				}
			}
			for range 3 {
				b.run("g")
			}
			entries, text = b.log("g")
			if strings.Contains(text, "secret") || strings.Contains(text, `"over"`) || strings.Contains(text, emoji) || !strings.Contains(text, "stays") {
				t.Fatalf("got %s", text)
			}
			deletions := slices.DeleteFunc(slices.Clone(entries), func(e chat.Entry) bool { return e.Kind != chat.Delete })
			if len(deletions) != 2 || deletions[0].From != "bob" || deletions[0].Target != old.ID || deletions[1].Target != late.ID || deletions[0].ID != last+1 {
				t.Errorf("got deletions %+v", deletions)
			}
		})
	}
}

// TestExpireUnderHold: the content is kept for operators.
func TestExpireUnderHold(t *testing.T) {
	b := newBench(t, false)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	_, err := b.PutHold(b.Ctx, chattest.Operator("op"), "g", "a reason")
	b.Must(err)
	b.ago(time.Hour)
	body := "secret"
	_, err = b.Send(b.Ctx, chattest.As("bob"), "g", chat.Content{Body: &body, ExpireS: 60}, "")
	b.Must(err)
	b.run("g")
	if _, text := b.log("g"); strings.Contains(text, "secret") {
		t.Errorf("got %s", text)
	}
	kept, err := b.Store.Client().ZRange(b.Ctx, b.Store.Prefix()+":{p00}:g:g:kept", 0, -1).Result()
	if err != nil || len(kept) != 1 || !strings.Contains(kept[0], "secret") {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// TestClock: the time goes on between two looks, and is that of the store.
func TestClock(t *testing.T) {
	b := newBench(t, false)
	c := expiry.NewClock(b.Store.Clock)
	if d := time.Now().UnixMilli() - c.NowMs(); d < 0 || d > 60_000 {
		t.Errorf("before it was asked it is %d ms off", d)
	}
	b.Must(c.Ask(b.Ctx))
	first := c.NowMs()
	now, err := b.Store.Clock(b.Ctx)
	b.Must(err)
	if second := c.NowMs(); first > second || second < now-1 {
		t.Errorf("got %d, then %d, where the store has %d between", first, second, now)
	}
}
