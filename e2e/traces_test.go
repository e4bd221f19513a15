package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

// canary begins a word that stands in one field of one record, and nowhere else.
const canary = "quokka"

// TestCanaries writes a word of its own into every field that a person fills, deletes some of it, erases the person, and looks for the
// words in all files, in exports, in a dump, and in what a webhook gets that was away meanwhile.
func TestCanaries(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		node := harness.NewNode(t, harness.Config{Data: data, Env: canaryEnv(map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(data, "archive.db")})})
		canaries(t, node, data)
	})
	t.Run("redis and postgres", func(t *testing.T) {
		t.Parallel()
		redis, postgres, blobs := redistest.Start(t, "--save", "3600 1", "--rdbcompression", "no"), pgtest.Start(t, "min_wal_size=160MB", "autovacuum=off"), t.TempDir()
		dir, _ := redis.Do("CONFIG", "GET", "dir").([]any)
		folder, _ := dir[1].(string)
		node := harness.NewNode(t, harness.Config{Redis: redis.URL(), Env: canaryEnv(map[string]string{"CHATD_ARCHIVE": postgres.Database(), "CHATD_FILES": "dir:" + blobs})})
		canaries(t, node, folder, postgres.Dir(), blobs)
	})
}

func canaryEnv(env map[string]string) map[string]string {
	env["CHATD_EGRESS_ALLOW"] = "127.0.0.0/8"
	return env
}

// canaries runs the test on a node that has not started, whose files are in folders.
func canaries(t *testing.T, node *harness.Node, folders ...string) {
	node.Start()
	ctx := bounded(t, 2*time.Minute)
	alice, bob := node.Client("alice"), node.Client("bob")
	root, err := client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour)))
	try(t, err)
	bodies := make(chan []byte, 1000)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- body
	}))
	t.Cleanup(endpoint.Close)
	_, err = root.CreateWebhook(ctx, client.WebhookDraft{URL: endpoint.URL})
	try(t, err)
	_, err = root.PauseQueue(ctx, "egress") // the endpoint is away
	try(t, err)
	for _, group := range []string{"stored", "archived"} {
		writeCanaries(ctx, t, group, alice, bob)
	}
	_, err = alice.SendDirect(ctx, "bob", client.Direct{Body: canary + "direct", Data: json.RawMessage(`"` + canary + `directdata"`), ClientID: canary + "directkey"})
	try(t, err)
	_, err = bob.SendDirect(ctx, "alice", client.Direct{Body: canary + "inbox"})
	try(t, err)
	_, err = alice.SendDirectLater(ctx, "bob", client.Direct{Body: canary + "later"}, time.Now().Add(time.Hour))
	try(t, err)
	_, err = alice.UpdateMe(ctx, client.ProfileChange{
		Name: new(canary + "ofprofile"), Picture: new("https://example.com/" + canary + "picture"), Status: json.RawMessage(`{"text":"` + canary + `status"}`),
		Data: json.RawMessage(`{"` + canary + `field":"` + canary + `value"}`), Settings: json.RawMessage(`{"` + canary + `setting":"` + canary + `set"}`),
	})
	try(t, err)
	_, err = alice.PutDevice(ctx, "phone", client.DeviceDraft{Kind: "webhook", URL: endpoint.URL + "/" + canary + "device"})
	try(t, err)
	sent, err := bob.Send(ctx, "stored", client.Text("the last one, which stays"))
	try(t, err)
	harness.Eventually(t, time.Minute, "the archive has everything", func() error {
		page, err := bob.Search(ctx, client.SearchQuery{Text: canary + "archiveddata"})
		if err == nil && len(page.Hits) == 0 {
			err = errors.New("nothing is found")
		}
		return err
	})
	if !found(t, canary, folders[0]) {
		t.Fatal("the words are in no file before: the test would show nothing")
	}

	begun, err := alice.EraseMe(ctx)
	try(t, err)
	harness.Eventually(t, time.Minute, "the erasure is done", func() error {
		report, err := root.Erasure(ctx, begun.ID)
		if err == nil && (report.State != "done" || report.Messages != 2*2+1) {
			err = fmt.Errorf("%+v", report)
		}
		return err
	})
	// What is read from now on has none.
	var lines [][]byte
	each := func(line []byte) error { lines = append(lines, bytes.Clone(line)); return nil }
	for _, group := range []string{"stored", "archived"} {
		_, err := root.ExportGroup(ctx, group, "", each)
		try(t, err)
	}
	try(t, bob.ExportMe(ctx, each))
	_, err = root.ResumeQueue(ctx, "egress")
	try(t, err)
	for last := fmt.Appendf(nil, `"id":%d,"group":"stored",`, sent.ID); len(lines) == 0 || !bytes.Contains(lines[len(lines)-1], []byte("message.created")) || !bytes.Contains(lines[len(lines)-1], last); {
		select {
		case body := <-bodies:
			lines = append(lines, body)
		case <-ctx.Done():
			t.Fatal("the webhook does not get everything")
		}
	}
	for _, line := range lines {
		if bytes.Contains(line, []byte(canary)) {
			t.Errorf("a line of an export, or a delivery: %s", line)
		}
	}

	harness.Eventually(t, time.Minute, "the files of the person are gone", func() error {
		for _, group := range []string{"stored", "archived"} {
			for _, name := range []string{"", "own"} {
				if found(t, canary+group+name+"bytes", folders[len(folders)-1]) {
					return errors.New("one is there")
				}
			}
		}
		return nil
	})
	node.Terminate()
	rewrites(t, node)
	dump := filepath.Join(t.TempDir(), "dump")
	if out, err := node.Command(ctx, "export", dump).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	unpackDump(t, dump)
	for _, folder := range append(folders, filepath.Dir(dump)) {
		if found(t, canary, folder) {
			t.Errorf("a canary is in %s", folder)
		}
	}
	if !found(t, "the last one, which stays", filepath.Dir(dump)) {
		t.Error("the dump holds no text that can be found")
	}
}

// unpackDump rewrites a dump as text.
func unpackDump(t *testing.T, dump string) {
	t.Helper()
	packed, err := os.ReadFile(dump)
	try(t, err)
	reader, err := zstd.NewReader(bytes.NewReader(packed))
	try(t, err)
	defer reader.Close()
	text, err := io.ReadAll(reader)
	try(t, err)
	try(t, os.WriteFile(dump, text, 0o600))
}

// writeCanaries fills every field of messages, edits, reactions and deletions by alice in a group, and of reactions to them by bob.
func writeCanaries(ctx context.Context, t *testing.T, group string, alice, bob *client.Client) {
	t.Helper()
	word := func(field string) string { return canary + group + field }
	_, err := bob.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"alice"}, Keep: new(map[string]int64{"stored": 100}[group])})
	try(t, err)
	kept, err := bob.Send(ctx, group, client.Text("a message that stays"))
	try(t, err)
	n := 0
	send := func(by *client.Client, d client.Draft) int64 {
		t.Helper()
		n++
		if by == alice || d.Kind != "delete" { // that of a deletion by someone who stays is no content
			d.ClientID = word(fmt.Sprint("key", n))
		}
		sent, err := by.Send(ctx, group, d)
		try(t, err)
		return sent.ID
	}
	message := func(by *client.Client, name string) client.Draft {
		t.Helper()
		content := word(name + "bytes")
		if by == bob {
			content = "bytes that stay for up to an hour"
		}
		file, err := by.UploadFile(ctx, group, client.FileDraft{Name: word(name + "file"), Size: int64(len(content))}, strings.NewReader(content))
		try(t, err)
		return client.Draft{Body: word(name + "body"), Data: json.RawMessage(`{"` + word(name+"field") + `":"` + word(name+"data") + `"}`),
			ReplyTo: kept.ID, Mentions: []string{word(name + "mention")}, Files: []string{file}}
	}
	erased := send(alice, message(alice, ""))
	send(alice, client.Draft{Kind: "edit", Target: erased, Body: word("edit")})
	send(bob, client.Draft{Kind: "reaction", Target: erased, Emoji: ":" + word("bob") + ":"})
	send(alice, client.Draft{Kind: "reaction", Target: kept.ID, Emoji: ":star:"}) // its removal shows it
	send(alice, client.Draft{Kind: "reaction", Target: kept.ID, Emoji: ":wave:"})
	send(alice, client.Draft{Kind: "reaction", Target: kept.ID, Emoji: ":wave:", Removed: true})
	send(alice, client.Draft{Kind: "data", Data: json.RawMessage(`"` + word("data") + `"`)})
	for by, name := range map[*client.Client]string{alice: "own", bob: "others"} { // what is deleted, and not by an erasure
		deleted := send(by, message(by, name))
		send(by, client.Draft{Kind: "edit", Target: deleted, Body: word(name + "edit")})
		send(bob, client.Draft{Kind: "reaction", Target: deleted, Emoji: ":" + word(name) + ":"})
		send(by, client.Draft{Kind: "delete", Target: deleted})
	}
	_, err = bob.UpdateMember(ctx, group, "alice", json.RawMessage(`{"`+word("memberfield")+`":"`+word("membervalue")+`"}`))
	try(t, err)
	_, err = alice.SendLater(ctx, group, client.Draft{Body: word("later"), Data: json.RawMessage(`"` + word("laterdata") + `"`)}, time.Now().Add(time.Hour))
	try(t, err)
	last, err := bob.Send(ctx, group, client.Text("another one that stays"))
	try(t, err)
	for _, who := range []*client.Client{alice, bob} {
		_, err := who.Ack(ctx, group, last.ID)
		try(t, err)
	}
}
