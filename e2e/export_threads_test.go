package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/writing"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestExportCarriesThreads moves threads, messages with an end and streams from one Redis to another with more partitions, and on to
// the embedded store. Everybody gets the same answers; a writer who has died leaves what stood, and what has ended is in no file.
func TestExportCarriesThreads(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	node := func(c harness.Config) *harness.Node {
		c.Env = map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(t.TempDir(), "archive.db")}
		return harness.NewNode(t, c)
	}
	redis, other := redistest.Start(t), redistest.Start(t)
	first, second, last := node(harness.Config{Redis: redis.URL()}), node(harness.Config{Redis: other.URL()}), node(harness.Config{})
	first.Start()
	users := []string{"ann", "bob", "carl", "dora"}
	root := peopleReply(ctx, t, first, redis, users)
	open := must(writing.Open(ctx, first.Client("bob", patient()), "town", client.Draft{Body: "as far as ", Thread: root}))(t)
	must(io.WriteString(open, "it got"))(t)
	try(t, open.Flush())
	lastPiece(t, redis, open.Message.ID, time.Hour)

	want := answers(ctx, t, first, users, "town")
	for _, part := range []string{`"replies":`, `"threads_unread":`, `"expires_at":`, `"stream":true`, "as far as it got", `"pinned"`} {
		if !strings.Contains(fmt.Sprint(want), part) {
			t.Errorf("no answer has %s: the comparison shows too little", part)
		}
	}
	carry(ctx, t, first, second, "-partitions", "4")
	compareAnswers(t, "other partitions", answers(ctx, t, second, users, "town"), want)

	lastPiece(t, other, open.Message.ID, -time.Hour)
	harness.Eventually(t, time.Minute, "the message of who died is ended", func() error {
		_, replies, _, err := second.Client("ann").Replies(ctx, "town", root, client.ReplyQuery{After: open.Message.ID - 1})
		if err == nil && (len(replies) != 1 || replies[0].Stream != client.StreamCut || replies[0].Body != "as far as it got") {
			err = fmt.Errorf("got %+v", replies)
		}
		return err
	})
	want = answers(ctx, t, second, users, "town")
	if !strings.Contains(fmt.Sprint(want), `"stream":"cut"`) {
		t.Error("no entry says that it was cut")
	}
	must(second.Client("bot", patient()).CreateGroup(ctx, client.GroupDraft{ID: "gone"}))(t)
	second.Terminate()
	direct := openStore(ctx, t, other)
	late := must(direct.send(ctx, "gone", "XyzzyEnded", time.Now().Add(-time.Second)))(t)
	file := exports(ctx, t, second)
	if text := unpacked(t, file); strings.Contains(text, "XyzzyEnded") || !strings.Contains(text, "as far as it got") {
		t.Error("the file has what a message said that has ended")
	}
	imports(ctx, t, last, file, "-partitions", "3")
	last.Start()
	compareAnswers(t, "the embedded store", answers(ctx, t, last, users, "town"), want)
	harness.Eventually(t, time.Minute, "what has ended is deleted", func() error {
		page, err := last.Client("bot").Messages(ctx, "gone", client.Range{After: client.At(0)})
		deletions := 0
		for _, m := range page.Messages {
			if m.ID == late && (m.Body != "" || m.DeletedAt == nil) {
				t.Errorf("it is served as %+v", m)
			}
			if m.Target == late {
				deletions++
			}
		}
		if err == nil && deletions != 1 {
			err = fmt.Errorf("%d entries delete it", deletions)
		}
		return err
	})
}

// peopleReply has people reply in threads of a group, follow, read, edit, delete and pin, also at roots that are only in the archive.
// It returns the root that most is said about.
func peopleReply(ctx context.Context, t *testing.T, node *harness.Node, redis *redistest.Server, users []string) (root int64) {
	t.Helper()
	at := map[string]*client.Client{}
	for _, user := range users {
		at[user] = node.Client(user, patient())
	}
	must(at["ann"].CreateGroup(ctx, client.GroupDraft{ID: "town", Members: users[1:], Keep: new(int64(5))}))(t)
	say := func(user string, d client.Draft) int64 { return must(at[user].Send(ctx, "town", d))(t).ID }
	root = say("ann", client.Draft{Body: "root"})
	edited := say("bob", client.Draft{Body: "first", Thread: root})
	second := say("bob", client.Draft{Body: "second", Thread: root})
	deleted := say("bob", client.Draft{Body: "third", Thread: root})
	say("carl", client.Draft{Body: "what does @dora say", Thread: root, Mentions: []string{"dora"}})
	must(at["ann"].ReadThread(ctx, "town", root, second))(t)
	say("bob", client.Draft{Kind: client.KindEdit, Target: edited, Body: "first, edited"})
	say("bob", client.Draft{Kind: client.KindDelete, Target: deleted})

	pinned := say("bob", client.Draft{Body: "pinned root"})
	try(t, at["ann"].PinMessage(ctx, "town", pinned))
	say("ann", client.Draft{Body: "below a pin", Thread: pinned})
	must(at["carl"].FollowThread(ctx, "town", pinned, true))(t)
	must(at["bob"].FollowThread(ctx, "town", pinned, false))(t)
	w := must(writing.Open(ctx, at["carl"], "town", client.Draft{Body: "a finished ", Thread: pinned}))(t)
	must(io.WriteString(w, "answer"))(t)
	try(t, w.Close())

	gone := say("carl", client.Draft{Body: "root that goes"})
	say("bob", client.Draft{Body: "below it", Thread: gone})
	say("carl", client.Draft{Kind: client.KindDelete, Target: gone})
	ends := say("dora", client.Draft{Body: "root with an end", ExpireS: 7200})
	say("ann", client.Draft{Body: "reply with an end", Thread: ends, ExpireS: 3600})

	last := int64(0)
	for n := range 64 {
		last = say(users[n%4], client.Text(fmt.Sprint("text ", n)))
	}
	for _, user := range users {
		must(at[user].Ack(ctx, "town", last))(t)
	}
	harness.Eventually(t, time.Minute, "the roots are trimmed into the archive", func() error {
		if low := redis.Int("ZCOUNT", "chat:{p00}:g:town:msgs", "-inf", strconv.FormatInt(ends, 10)); low > 0 {
			return fmt.Errorf("%d are stored", low)
		}
		return nil
	})
	say("carl", client.Draft{Body: "to a root in the archive", Thread: root})
	say("dora", client.Draft{Body: "and again", Thread: pinned})
	return root
}

// lastPiece has the last piece of a message that is being written come later, or long ago, and then be looked at now.
func lastPiece(t *testing.T, redis *redistest.Server, id int64, in time.Duration) {
	t.Helper()
	keys, _ := redis.Do("KEYS", "*:g:town:streams").([]any)
	if len(keys) != 1 {
		t.Fatalf("got the keys %v", keys)
	}
	key, _ := keys[0].(string)
	record, _ := redis.Do("HGET", key, strconv.FormatInt(id, 10)).(string)
	words := strings.Fields(record)
	if len(words) != 11 {
		t.Fatalf("message %d is written as %q", id, record)
	}
	words[6], words[7] = strconv.FormatInt(time.Now().Add(in).UnixMilli(), 10), strconv.FormatInt(time.Now().Add(in).UnixMilli(), 10)
	redis.Do("HSET", key, strconv.FormatInt(id, 10), strings.Join(words, " "))
	if in > 0 {
		return
	}
	delayed := strings.TrimSuffix(key, "g:town:streams") + "q:core:delayed"
	tasks, _ := redis.Do("ZRANGE", delayed, "0", "-1").([]any)
	for _, task := range tasks {
		if name, _ := task.(string); strings.Contains(name, "-stream:town:") {
			redis.Do("ZADD", delayed, "XX", "0", name)
		}
	}
}

// unpacked is what an export holds.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	f := must(os.Open(file))(t)
	defer func() { _ = f.Close() }()
	r := must(zstd.NewReader(f))(t)
	defer r.Close()
	return string(must(io.ReadAll(r))(t))
}
