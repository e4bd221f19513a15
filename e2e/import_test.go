package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var importFlag = flag.Int("import", 2000, "messages that are imported")

// TestImportMessages imports the messages of another system into a store with an archive, kills the import in its middle, repeats
// it, and reads everything back over the API.
func TestImportMessages(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute+time.Duration(*importFlag)*10*time.Millisecond)
	node := harness.NewNode(t, harness.Config{Data: t.TempDir()})
	file := pastMessages(t, *importFlag)
	args := []string{"import", "-messages", file, "-group", "old", "-owner", "ann", "-name", "Old times"}

	killed := node.Command(ctx, args...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- killed.Wait() }()
	harness.Eventually(t, time.Minute, "the import to write to the archive", func() error {
		info, err := os.Stat(filepath.Join(node.Data, "archive.db-wal"))
		if err == nil && info.Size() < 500_000 {
			err = fmt.Errorf("it has %d bytes", info.Size())
		}
		if len(exited) > 0 {
			return nil // it was faster than this loop
		}
		return err
	})
	_ = killed.Process.Kill()
	t.Logf("the killed import: %v", <-exited)

	began := time.Now()
	if out, err := runCommand(ctx, node, args...); err != nil || !strings.Contains(out, fmt.Sprintf("%d messages and %d reactions into the group old of 2 members", *importFlag, (*importFlag+9)/10)) {
		t.Fatalf("the repeated import: got %v, %s", err, out)
	}
	t.Logf("the repeated import of %d messages took %s", *importFlag, time.Since(began).Round(10*time.Millisecond))
	if out, err := runCommand(ctx, node, append(args, "-json")...); err != nil || !strings.Contains(out, `{"group":"old","messages":`) || !strings.Contains(out, `"before":true}`) {
		t.Errorf("a third time: got %v, %s", err, out)
	}
	if out, err := runCommand(ctx, node, "doctor"); err != nil {
		t.Errorf("doctor: got %v, %s", err, out)
	}
	node.Start()
	bob := node.Client("bob", patient())
	comparePast(ctx, t, node, bob, "old", *importFlag)
	inbox := must(bob.Inbox(ctx, nil, 10))(t)
	if len(inbox.Items) > 0 {
		t.Errorf("bob got the items %+v", inbox.Items)
	}
	found := must(bob.Search(ctx, client.SearchQuery{Text: fmt.Sprint("number", *importFlag-1)}))(t)
	if len(found.Hits) != 1 {
		t.Errorf("the search found %+v", found.Hits)
	}
}

// TestImportMessagesBesideAServer: with Redis servers run on, and members get the group without signing in again.
func TestImportMessagesBesideAServer(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute)
	node := harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL()})
	file := pastMessages(t, 300)
	if out, err := runCommand(ctx, node, "import", "-messages", file, "-group", "old", "-owner", "ann"); err == nil || !strings.Contains(out, "without an archive") {
		t.Errorf("more than the group keeps: got %v, %s", err, out)
	}
	out, err := runCommand(ctx, node, "import", "-messages", file, "-group", "old", "-owner", "ann", "-keep", "1000")
	if err != nil || !strings.Contains(out, "imported 300 messages") {
		t.Fatalf("got %v, %s", err, out)
	}
	comparePast(ctx, t, node, node.Client("bob", patient()), "old", 300)

	long := filepath.Join(t.TempDir(), "long.ndjson")
	line := fmt.Sprintf(`{"from":"ann","sent_at":"2020-01-01T00:00:00Z","body":%q}`, strings.Repeat("x", 20_000))
	try(t, os.WriteFile(long, []byte("\ufeff"+line+"\n"), 0o600))
	args := []string{"import", "-messages", long, "-group", "long", "-owner", "ann"}
	if out, err := runCommand(ctx, node, args...); err == nil || !strings.Contains(out, "line 1: body: at most 16384 bytes (CHATD_MAX_BODY)") {
		t.Errorf("a body that is too long: got %v, %s", err, out)
	}
	if out, err := runCommand(ctx, node, append(args, "-lenient")...); err != nil || !strings.Contains(out, "cut: 1 bodies") {
		t.Errorf("the same with -lenient: got %v, %s", err, out)
	}
}

func runCommand(ctx context.Context, node *harness.Node, args ...string) (string, error) {
	cmd := node.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// pastMessages writes a file of n messages by ann and bob: every fifth replies to the one before, every tenth has a reaction.
func pastMessages(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		l := map[string]any{"id": i, "from": []string{"ann", "bob"}[i%2], "sent_at": at.Add(time.Duration(i) * time.Second), "body": pastBody(i)}
		if i%5 == 4 {
			l["reply_to"] = i - 1
		}
		if i%10 == 0 {
			l["reactions"] = map[string][]string{"👍": {"bob"}}
		}
		if err := lines.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "past.ndjson")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func pastBody(i int) string { return fmt.Sprintf("the message number%d <&> é", i) }

// comparePast reads the group as a member and compares it with pastMessages.
func comparePast(ctx context.Context, t *testing.T, node *harness.Node, c *client.Client, group string, n int) {
	t.Helper()
	harness.Eventually(t, time.Minute, "the group to be in the list", func() error {
		list, err := c.Groups(ctx, client.Page{Limit: 10})
		if err == nil && (len(list.Groups) != 1 || list.Groups[0].ID != group || list.Groups[0].Unread != 0) {
			err = fmt.Errorf("got %+v", list.Groups)
		}
		return err
	})
	next, i, ids := int64(1), 0, map[int]int64{}
	for after := client.Position("0"); ; {
		page := must(c.Messages(ctx, group, client.Range{After: after, Limit: 500}))(t)
		if !page.Complete {
			t.Fatalf("the page after %s is not complete", after)
		}
		for _, m := range page.Messages {
			if m.ID != next {
				t.Fatalf("got id %d, want %d", m.ID, next)
			}
			next++
			if m.Kind != client.KindText {
				continue
			}
			ids[i] = m.ID
			reply := int64(0)
			if i%5 == 4 {
				reply = ids[i-1]
			}
			sent := time.Date(2020, 1, 1, 0, 0, i, 0, time.UTC)
			if m.Body != pastBody(i) || m.From != []string{"ann", "bob"}[i%2] || !m.SentAt.Equal(sent) || m.ReplyTo != reply || m.Reactions["👍"].Mine != (i%10 == 0) {
				t.Fatalf("message %d is %+v", i, m)
			}
			i++
		}
		if after = page.Cursor; !page.HasMore {
			break
		}
	}
	if want := int64(n + (n+9)/10 + 2); i != n || next-1 != want {
		t.Errorf("got %d messages and %d entries, want %d and %d", i, next-1, n, want)
	}
}
