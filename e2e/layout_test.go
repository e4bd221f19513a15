package e2e

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestFirstLayout: this version goes on with what the first one wrote. There ann, bob and carl talked in a group that keeps 3: with
// a mention, a reaction, an edit and a deletion; ann sent bob two direct messages, of which he acked one.
func TestFirstLayout(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.NewNode(t, harness.Config{Data: t.TempDir()})
	unpack(t, filepath.Join("testdata", "first-release-journal.gz"), filepath.Join(node.Data, "store", "journal-00000001"))
	for _, what := range []string{"up", "status", "up"} {
		if out, err := runCommand(ctx, node, "migrate", what); err != nil || !strings.Contains(out, "layout   1, the newest") {
			t.Errorf("migrate %s: got %v, %s", what, err, out)
		}
	}
	node.Start()
	ann, bob, carl := node.Client("ann", patient()), node.Client("bob", patient()), node.Client("carl", patient())

	list := must(bob.Groups(ctx, client.Page{}))(t)
	if len(list.Groups) != 1 {
		t.Fatalf("bob has the groups %+v", list.Groups)
	}
	g := list.Groups[0]
	if g.ID != "general" || g.First != 7 || g.Last != 13 || g.Seen != 11 || g.Read != 10 || g.Unread != 0 || g.Keep != 3 {
		t.Errorf("got %+v", g)
	}
	page := must(carl.Messages(ctx, "general", client.Range{}))(t)
	var got []string
	for _, m := range page.Messages {
		got = append(got, fmt.Sprintf("%d %s %s %q", m.ID, m.From, m.Kind, m.Body))
	}
	want := []string{`7 ann text "text 4"`, `8 ann text ""`, `9 ann text "text 6, edited"`, `10 bob text "hello @ann"`, `11 bob reaction ""`,
		`12 ann edit "text 6, edited"`, `13 ann delete ""`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || !page.Complete {
		t.Errorf("carl, who had seen 6, got %q", got)
	}
	if inbox := must(bob.Inbox(ctx, nil, 10))(t); len(inbox.Items) != 2 || inbox.Items[0].Body != "direct 1" {
		t.Errorf("the inbox of bob is %+v", inbox)
	}
	again := must(ann.Send(ctx, "general", client.Draft{Body: "text 1", ClientID: "k1"}))(t)
	if next := must(ann.Send(ctx, "general", client.Text("next")))(t); !again.Duplicate || again.ID != 4 || next.ID != 14 {
		t.Errorf("got %+v and then %+v", again, next)
	}
	node.Terminate()
	if out, err := runCommand(ctx, node, "doctor"); err != nil {
		t.Errorf("doctor: got %v, %s", err, out)
	}
}

// unpack writes what a compressed file holds to a file in a new folder.
func unpack(t *testing.T, packed, to string) {
	t.Helper()
	file, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(reader)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, all, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
