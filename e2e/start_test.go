package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// refused starts a node that must not come up, and returns what it wrote.
func refused(t *testing.T, cfg harness.Config) string {
	t.Helper()
	node := harness.NewNode(t, cfg)
	harness.Binary(t) // building it takes its own time
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := node.Command(ctx).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() <= 0 {
		t.Fatalf("chatd ended with %v, want a refusal:\n%s", err, out)
	}
	return string(out)
}

func TestStartIsRefusedWithTheReason(t *testing.T) {
	redis := redistest.Start(t)
	forgetful := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	tests := []struct {
		name string
		cfg  harness.Config
		want string
	}{
		{"Redis without a secret", harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_JWT_SECRET": ""}}, "CHATD_JWT_SECRET"},
		{"a short secret", harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": "short"}}, "CHATD_JWT_SECRET"},
		{"a setting that is none", harness.Config{Env: map[string]string{"CHATD_REDDIS": "redis://x"}}, "CHATD_REDDIS"},
		{"a Redis that is not there", harness.Config{Redis: "redis://127.0.0.1:1/0"}, "does not answer"},
		{"a Redis that evicts", harness.Config{Redis: forgetful.URL()}, "maxmemory-policy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := refused(t, test.cfg)
			if !strings.Contains(out, test.want) {
				t.Errorf("chatd does not name %s:\n%s", test.want, out)
			}
			if strings.Contains(out, "goroutine ") {
				t.Errorf("chatd shows a stack:\n%s", out)
			}
			if strings.Contains(out, "pool.go") {
				t.Errorf("a library writes past the log:\n%s", out)
			}
		})
	}
}

func TestSecondProcessOnTheSameFolderIsRefused(t *testing.T) {
	ctx := bounded(t, time.Minute)
	first := harness.StartNode(t, harness.Config{})
	must(first.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	if out := refused(t, harness.Config{Data: first.Data}); !strings.Contains(out, first.Data) {
		t.Errorf("chatd does not name the folder:\n%s", out)
	}
	must(first.Client("alice").Send(ctx, "g", client.Text("still here")))(t)
}

// TestDataAndSecretSurviveARestart starts with nothing but a folder, as a newcomer does.
func TestDataAndSecretSurviveARestart(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	if log := node.Log(); !bytes.Contains(log, []byte("chatd token")) || !bytes.Contains(log, []byte("embedded")) {
		t.Errorf("the start does not say how to get a token and which store is in use:\n%s", log)
	}
	out, err := node.Command(ctx, "token", "-user", "alice").Output()
	if err != nil {
		t.Fatalf("chatd token: %v", err)
	}
	token := strings.TrimSpace(string(out))
	alice := must(client.New(node.URL(), client.StaticToken(token)))(t)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	sent := must(alice.Send(ctx, "g", client.Draft{Body: "before", ClientID: "k"}))(t)
	must(alice.SendDirect(ctx, "bob", client.Direct{Body: "psst"}))(t)
	before := must(alice.Messages(ctx, "g", client.Range{After: client.At(0)}))(t)

	for _, stop := range []func(){node.Terminate, node.Kill} {
		stop()
		node.Start()
		after := must(alice.Messages(ctx, "g", client.Range{After: client.At(0)}))(t)
		if after.Epoch != before.Epoch || after.Cursor != before.Cursor || len(after.Messages) != len(before.Messages) {
			t.Errorf("after the restart: got %+v, want %+v", after, before)
		}
		if again := must(alice.Send(ctx, "g", client.Draft{Body: "before", ClientID: "k"}))(t); again.ID != sent.ID || !again.Duplicate {
			t.Errorf("after the restart the same key gave %+v, want the duplicate of %d", again, sent.ID)
		}
	}
	private(t, node.Data)
}

// private checks that nobody else can read the files of a folder, one of which holds the secret.
func private(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		var info os.FileInfo
		if err == nil && !d.IsDir() {
			info, err = d.Info()
		}
		switch {
		case errors.Is(err, os.ErrNotExist): // a server that runs removes files
			return nil
		case info != nil:
			files++
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files in %s: %v", files, folder, err)
	}
}

// journal finds the newest file of the embedded store's journal.
func journal(t *testing.T, data string) string {
	t.Helper()
	var newest string
	var at time.Time
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		var info os.FileInfo
		if err == nil && !d.IsDir() && strings.Contains(d.Name(), "journal") {
			info, err = d.Info()
		}
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case info != nil && info.Size() > 0 && info.ModTime().After(at):
			newest, at = path, info.ModTime()
		}
		return err
	})
	if err != nil || newest == "" {
		t.Fatalf("no journal in %s: %v", data, err)
	}
	return newest
}

// cutWithin cuts the journal within the last record that holds a text, as a power loss would. It is not always the last
// record of all: the node marks what it has synced, and runs tasks, until it is killed.
func cutWithin(t *testing.T, path, text string) {
	t.Helper()
	at := bytes.LastIndex(must(os.ReadFile(path))(t), []byte(text))
	if at < 0 {
		t.Fatalf("%s does not hold %q", path, text)
	}
	if err := os.Truncate(path, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// TestTornTailIsCutAndSaid cuts the journal within the record of the last message. What is left of that record goes out of
// the file: the next start finds nothing to cut.
func TestTornTailIsCutAndSaid(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	alice := node.Client("alice", patient())
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	const text = "more than is written at the next start "
	var last int64
	for range 20 {
		last = must(alice.Send(ctx, "g", client.Text(strings.Repeat(text, 400))))(t).ID
	}
	end := must(alice.Messages(ctx, "g", client.Range{After: client.At(last - 1)}))(t).Cursor
	node.Kill()
	cutWithin(t, journal(t, node.Data), text)
	node.Start()
	page := must(alice.Messages(ctx, "g", client.Range{After: client.At(0)}))(t)
	if page.To != last-1 || !page.Complete || int64(len(page.Messages)) != last-1 {
		t.Errorf("got messages to %d, want all but the torn one, to %d", page.To, last-1)
	}
	cuts := func() int { return strings.Count(string(node.Log()), "the record was removed") }
	if cuts() != 1 {
		t.Errorf("the start does not say that something was cut:\n%s", node.Log())
	}
	node.Kill()
	node.Start()
	if cuts() != 1 {
		t.Errorf("the torn record is still in the journal at the next start:\n%s", node.Log())
	}
	answer := must(alice.Messages(ctx, "g", client.Range{After: client.At(last)}))(t)
	if answer.Complete {
		t.Errorf("a position beyond the end got %+v, want complete: false", answer)
	}
	if got := must(alice.Send(ctx, "g", client.Text("again")))(t); got.ID != last {
		t.Errorf("got id %d, want %d", got.ID, last)
	}
	// A client that holds the lost message has another one under its id: only the mark in the cursor tells.
	if answer = must(alice.Messages(ctx, "g", client.Range{After: end}))(t); answer.Complete {
		t.Errorf("the cursor of a message that was rewritten got %+v, want complete: false", answer)
	}
}

// TestDamageIsRefused turns a byte in the middle of the journal.
func TestDamageIsRefused(t *testing.T) {
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: withoutArchive})
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)
	for range 20 {
		must(alice.Send(ctx, "g", client.Text("hello")))(t)
	}
	node.Kill()
	path := journal(t, node.Data)
	data := must(os.ReadFile(path))(t)
	data[len(data)/2] ^= 0x40
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := refused(t, harness.Config{Data: node.Data}); !strings.Contains(out, filepath.Base(path)) {
		t.Errorf("chatd does not name the damaged file:\n%s", out)
	}
}
