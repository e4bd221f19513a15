package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

var exportFlag = flag.Int("export", 600, "messages that are exported and imported; `make soak` takes 100,000")

// TestExportCarriesEverything moves a service from the embedded store with SQLite to Redis with PostgreSQL and back to another
// embedded store, each with another number of partitions. Every member gets the same answers from all three, and what was pending goes on.
func TestExportCarriesEverything(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute+time.Duration(*exportFlag)*20*time.Millisecond)
	sqlite := func() harness.Config {
		return harness.Config{Data: t.TempDir(), Env: map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(t.TempDir(), "archive.db")}}
	}
	first := harness.StartNode(t, sqlite())
	users := peopleWrite(ctx, t, first, *exportFlag)
	groups := []string{"g0", "g1", "g2"}
	want := answers(ctx, t, first, users, groups...)
	if len(want) < 10*len(users) {
		t.Fatalf("only %d answers are compared", len(want))
	}

	second := harness.NewNode(t, harness.Config{Redis: redistest.Start(t, "--appendonly", "yes").URL(), Env: map[string]string{"CHATD_ARCHIVE": pgtest.Start(t).Database()}})
	carry(ctx, t, first, second, "-partitions", "4")
	compareAnswers(t, "Redis and PostgreSQL", answers(ctx, t, second, users, groups...), want)
	last := harness.NewNode(t, sqlite())
	carry(ctx, t, second, last, "-partitions", "3")
	compareAnswers(t, "the embedded store and SQLite", answers(ctx, t, last, users, groups...), want)

	// What was pending goes on, repeats are known, and ids go on.
	ann := last.Client("ann", patient())
	group := must(ann.Group(ctx, "g0"))(t)
	again := must(ann.Send(ctx, "g0", client.Draft{Body: "kept", ClientID: "the key"}))(t)
	if !again.Duplicate || must(ann.Send(ctx, "g0", client.Text("next")))(t).ID != group.Last+1 {
		t.Errorf("a send with an earlier key: got %+v", again)
	}
}

// peopleWrite has four people use a service, and returns who they are.
func peopleWrite(ctx context.Context, t *testing.T, node *harness.Node, messages int) (users []string) {
	t.Helper()
	users = []string{"ann", "bob", "carl", "dora"}
	clients := map[string]*client.Client{}
	for _, user := range users {
		clients[user] = node.Client(user, patient())
	}
	keep := int64(20)
	for g := range 3 {
		must(clients["ann"].CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprint("g", g), Members: users[1 : 2+g], Keep: &keep}))(t)
	}
	last := make([]int64, 3)
	var sending sync.WaitGroup
	for g := range last {
		sending.Go(func() {
			for n := g; n < messages; n += 3 {
				sent, err := clients[users[n%2]].Send(ctx, fmt.Sprint("g", g), client.Text(fmt.Sprintf("message %d <&> é", n)))
				if err != nil {
					t.Error(err)
					return
				}
				last[g] = sent.ID
			}
		})
	}
	sending.Wait()
	// The newest keys of a sender are kept.
	last[0] = must(clients["ann"].Send(ctx, "g0", client.Draft{Body: "kept", ClientID: "the key"}))(t).ID
	for g, id := range last {
		group := fmt.Sprint("g", g)
		must(clients["bob"].Send(ctx, group, client.Draft{Kind: client.KindReaction, Target: id, Emoji: ":+1:"}))(t)
		for _, user := range users[:2] {
			must(clients[user].Ack(ctx, group, id))(t)
		}
	}
	for n := range 5 {
		must(clients["ann"].SendDirect(ctx, "bob", client.Direct{Body: fmt.Sprint("direct ", n)}))(t)
	}
	must(clients["ann"].SendLater(ctx, "g0", client.Text("tomorrow"), time.Now().Add(24*time.Hour)))(t)
	return users
}

// carry stops a node, exports its store, fills that of another one, and starts that.
func carry(ctx context.Context, t *testing.T, from, to *harness.Node, args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "never.zst")
	if out, err := runCommand(ctx, from, "export", file); err == nil || !strings.Contains(out, "running") {
		t.Errorf("an export beside a running server: got %v, %s", err, out)
	}
	from.Terminate()
	imports(ctx, t, to, exports(ctx, t, from), args...)
	to.Start()
}

// exports exports the store of a node that is stopped.
func exports(ctx context.Context, t *testing.T, from *harness.Node) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "all.zst")
	out, err := runCommand(ctx, from, "export", "-json", file)
	if err != nil || !strings.Contains(out, `{"file":"`+file+`","lines":`) {
		t.Fatalf("export: got %v, %s", err, out)
	}
	if out, err := runCommand(ctx, from, "export", file); err == nil || !strings.Contains(out, "already") {
		t.Errorf("a second export to the same file: got %v, %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: got %v, %v", info, err)
	}
	return file
}

// imports fills the store of a node that is stopped.
func imports(ctx context.Context, t *testing.T, to *harness.Node, file string, args ...string) {
	t.Helper()
	if out, err := runCommand(ctx, to, append([]string{"import", file}, args...)...); err != nil || !strings.Contains(out, "imported ") {
		t.Fatalf("import: got %v, %s", err, out)
	}
	if out, err := runCommand(ctx, to, "doctor"); err != nil {
		t.Errorf("doctor: got %v, %s", err, out)
	}
	if out, err := runCommand(ctx, to, "import", file); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("a second import: got %v, %s", err, out)
	}
}

// answers is what each user gets from every call that reads, by user and call.
func answers(ctx context.Context, t *testing.T, node *harness.Node, users []string, groups ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, user := range users {
		token := harness.Token(user, "", time.Hour)
		get := func(path string) []byte {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, node.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			found[user+" "+path] = fmt.Sprint(res.StatusCode, " ", string(body))
			return body
		}
		get("/v1/groups")
		get("/v1/unread")
		get("/v1/inbox")
		get("/v1/schedules")
		for _, id := range groups {
			group := "/v1/groups/" + url.PathEscape(id)
			get(group)
			get(group + "/members")
			get(group + "/notify")
			get(group + "/messages/5/receipts")
			get(group + "/pins")
			get(group + "/export")
			get(group + "/threads?following=1")
			get(group + "/threads?unread=1")
			var threads struct {
				Threads []client.Thread `json:"threads"`
			}
			if err := json.Unmarshal(get(group+"/threads"), &threads); err != nil {
				t.Fatal(err)
			}
			for _, thread := range threads.Threads {
				get(fmt.Sprintf("%s/threads/%d/messages", group, thread.ID))
			}
			for after, more := "0", true; more; {
				var page struct {
					Cursor  string `json:"cursor"`
					HasMore bool   `json:"has_more"`
				}
				if err := json.Unmarshal(get(group+"/messages?limit=500&after="+after), &page); err != nil {
					t.Fatal(err)
				}
				more, after = page.HasMore, page.Cursor
			}
		}
	}
	return found
}

// partitionTag begins the ids of schedules: it changes with the number of partitions.
var partitionTag = regexp.MustCompile(`"p\d+-`)

func compareAnswers(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for call, answer := range want {
		if partitionTag.ReplaceAllString(got[call], `"p-`) != partitionTag.ReplaceAllString(answer, `"p-`) {
			t.Errorf("%s: %s: got\n%.600s\nwant\n%.600s", what, call, got[call], answer)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d answers, want %d", what, len(got), len(want))
	}
}
