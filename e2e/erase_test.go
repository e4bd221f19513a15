package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

// erasedText stands in everything that is deleted or erased; keptText in what stays.
const (
	erasedText = "XyzzyErasedText"
	keptText   = "PlughKeptText"
)

// TestEraseNow deletes a message, erases a person while the node is killed, has the files rewritten, and searches them all.
func TestEraseNow(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		node := harness.StartNode(t, harness.Config{Data: data, Env: map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(data, "archive.db")}})
		erases(t, node, data)
		if out, err := eraseNow(t, node); err == nil {
			t.Errorf("the embedded store was rewritten while a node runs: %s", out)
		}
		node.Terminate()
		rewrites(t, node, "SQLite", "embedded store")
		nowhere(t, data)
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis, data := redistest.Start(t, "--save", "3600 1", "--rdbcompression", "no"), t.TempDir()
		dir, _ := redis.Do("CONFIG", "GET", "dir").([]any)
		folder, _ := dir[1].(string)
		node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(data, "archive.db")}})
		redis.Do("SAVE")
		erases(t, node, folder, data)
		rewrites(t, node, "SQLite", "append-only file", "snapshot") // the node runs
		nowhere(t, folder, data)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		redis, postgres := redistest.Start(t, "--rdbcompression", "no"), pgtest.Start(t, "min_wal_size=160MB", "autovacuum=off")
		dir, _ := redis.Do("CONFIG", "GET", "dir").([]any)
		folder, _ := dir[1].(string)
		url := postgres.Database()
		node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": url}})
		erases(t, node, folder, postgres.Dir())
		analyze(t, url) // samples of the columns are in the statistics
		rewrites(t, node, "tables entries and reactions and their indexes rewritten", "statistics of columns rewritten", "write-ahead log rewritten", "append-only file")
		nowhere(t, folder, postgres.Dir())
	})
}

// erases writes, deletes a message, and has a person erased, while the node is killed. folders are where the text is found before.
func erases(t *testing.T, node *harness.Node, folders ...string) {
	ctx := bounded(t, 2*time.Minute)
	alice, bob := node.Client("alice"), node.Client("bob")
	root, err := client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour)))
	try(t, err)
	const groups, each = 10, 30
	for g := range groups {
		group := fmt.Sprint("g", g)
		_, err := bob.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"alice"}, Keep: new(int64(5))})
		try(t, err)
		for i := range each {
			_, err := alice.Send(ctx, group, client.Text(fmt.Sprint(erasedText, " ", g, " ", i)))
			try(t, err)
		}
		sent, err := bob.Send(ctx, group, client.Text(erasedText+" of bob"))
		try(t, err)
		_, err = bob.Send(ctx, group, client.Draft{Kind: "delete", Target: sent.ID})
		try(t, err)
		_, err = bob.Send(ctx, group, client.Text(keptText))
		try(t, err)
	}
	_, err = alice.SendDirect(ctx, "bob", client.Direct{Body: erasedText})
	try(t, err)
	if !found(t, erasedText, folders...) {
		t.Fatal("the text is in no file before: the test would show nothing")
	}
	begun, err := alice.EraseMe(ctx)
	try(t, err)
	// Killed in the middle: some messages are erased, some are not.
	report := begun
	for report.Messages == 0 && report.State != "done" {
		report, err = root.Erasure(ctx, begun.ID)
		try(t, err)
	}
	node.Kill()
	node.Start()
	if report.State == "done" {
		t.Log("the erasure was done before the node was killed")
	}
	harness.Eventually(t, time.Minute, "the erasure is done", func() error {
		report, err = root.Erasure(ctx, begun.ID)
		if err == nil && report.State != "done" {
			err = fmt.Errorf("%+v", report)
		}
		return err
	})
	if report.Groups != groups || report.Messages != groups*each+1 {
		t.Errorf("got %+v", report)
	}
	for g := range groups {
		erasedGroup(ctx, t, bob, fmt.Sprint("g", g), each)
	}
}

// erasedGroup checks what is served of a group: every id once, the messages of alice deleted once each, that of bob as it was.
func erasedGroup(ctx context.Context, t *testing.T, bob *client.Client, group string, each int) {
	t.Helper()
	batch, err := bob.Messages(ctx, group, client.Range{After: client.At(0), Limit: 1000})
	try(t, err)
	deleted, deletions, kept := 0, map[int64]int{}, 0
	for i, m := range batch.Messages {
		if m.ID != int64(i+1) {
			t.Fatalf("%s: id %d comes after %d", group, m.ID, i)
		}
		switch {
		case m.Kind == "text" && m.DeletedAt != nil:
			deleted++
		case m.Kind == "text" && m.Body == keptText:
			kept++
		case m.Kind == "delete":
			deletions[m.Target]++
		}
	}
	for target, n := range deletions {
		if n != 1 {
			t.Errorf("%s: %d was deleted %d times", group, target, n)
		}
	}
	if deleted != each+1 || len(deletions) != each+1 || kept != 1 || !batch.Complete {
		t.Errorf("%s: %d messages are deleted by %d entries, %d of bob are left", group, deleted, len(deletions), kept)
	}
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eraseNow(t *testing.T, node *harness.Node) (string, error) {
	t.Helper()
	ctx := bounded(t, time.Minute)
	out, err := node.Command(ctx, "erase", "-now").CombinedOutput()
	return string(out), err
}

// rewrites runs `chatd erase -now` and looks whether it says what it rewrote.
func rewrites(t *testing.T, node *harness.Node, names ...string) {
	t.Helper()
	out, err := eraseNow(t, node)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range names {
		if !bytes.Contains([]byte(out), []byte(name)) {
			t.Errorf("it does not say that it rewrote %s: %s", name, out)
		}
	}
}

// found tells whether a file below folders has a text.
func found(t *testing.T, text string, folders ...string) bool {
	t.Helper()
	for _, folder := range folders {
		where := ""
		try(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var b []byte
				b, err = os.ReadFile(path)
				if bytes.Contains(b, []byte(text)) {
					where = path
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a server that runs removes files
			}
			return err
		}))
		if where != "" {
			t.Logf("%s is in %s", text, where)
			return true
		}
	}
	return false
}

// nowhere checks that no file below folders has the erased text, also as the index of words keeps it, and that what stays is there.
func nowhere(t *testing.T, folders ...string) {
	t.Helper()
	for _, text := range []string{erasedText, "xyzzyerasedtext"} {
		if found(t, text, folders...) {
			t.Errorf("%s is in a file", text)
		}
	}
	if !found(t, keptText, folders...) {
		t.Error("what was kept is in no file: the search finds nothing")
	}
}

// analyze has PostgreSQL take samples of what its tables hold.
func analyze(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	try(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "ANALYZE")
	try(t, err)
}
