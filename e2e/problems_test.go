package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// TestTroublesAreFound stages troubles one after another: each is named by GET /v1/problems, with its cause, and gone once it is
// mended. chatd status shows the same.
func TestTroublesAreFound(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 4*time.Minute)
	server := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	receiver := harness.StartReceiver(t, 1)
	files := t.TempDir() + "/files"
	env := map[string]string{"CHATD_FILES": "dir:" + files, "CHATD_EGRESS_ALLOW": "127.0.0.0/8"}
	node, other := harness.StartNode(t, harness.Config{Redis: server.URL(), Env: env}), harness.StartNode(t, harness.Config{Redis: server.URL(), Env: env})
	root := must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(t)
	alice := node.Client("alice")
	found := func(code, subject string) (client.OpsProblem, error) {
		all, err := root.Problems(ctx)
		if err != nil {
			return client.OpsProblem{}, err
		}
		for _, p := range all {
			if p.Code == code && strings.HasPrefix(p.Subject, subject) {
				return p, nil
			}
		}
		return client.OpsProblem{}, fmt.Errorf("got %+v, want %s of %q", all, code, subject)
	}
	appears := func(code, subject, detail string) {
		t.Helper()
		harness.Eventually(t, time.Minute, code+" is found", func() error {
			p, err := found(code, subject)
			if err == nil && (!strings.Contains(p.Detail, detail) || p.Fix == "" || p.Since.IsZero()) {
				err = fmt.Errorf("got %+v, want %q", p, detail)
			}
			return err
		})
	}
	goes := func(code string) {
		t.Helper()
		harness.Eventually(t, time.Minute, code+" is over", func() error {
			if p, err := found(code, ""); err == nil {
				return fmt.Errorf("still %+v", p)
			}
			return nil
		})
	}
	harness.Eventually(t, time.Minute, "both nodes report", func() error {
		stats, err := root.Stats(ctx)
		if err == nil && len(stats.Nodes) != 2 {
			err = fmt.Errorf("got %d nodes", len(stats.Nodes))
		}
		return err
	})
	if all := must(root.Problems(ctx))(t); len(all) != 0 {
		t.Errorf("nothing is wrong yet: got %+v", all)
	}
	status := func(want string, code int) {
		t.Helper()
		run := node.Command(ctx, "status")
		out, err := run.CombinedOutput()
		if got := run.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
			t.Errorf("chatd status: %v, %s; want exit code %d and %q", err, out, code, want)
		}
	}
	status("Nothing is wrong.", 0)

	// 1 to 3: the server of the store.
	server.Do("CONFIG", "SET", "appendonly", "no")
	appears("store_persistence", "", "Redis")
	server.Do("CONFIG", "SET", "appendonly", "yes")
	goes("store_persistence")
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	appears("store_eviction", "", "allkeys-lru")
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	server.Do("CONFIG", "SET", "maxmemory", fmt.Sprint(server.Field("memory", "used_memory")))
	appears("store_memory", "", "sends are refused")
	server.Do("CONFIG", "SET", "maxmemory", "0")

	// 4 and 5: the queues.
	must(root.PauseQueue(ctx, "core"))(t)
	appears("queue_paused", "core", "paused")
	must(root.ResumeQueue(ctx, "core"))(t)
	tasks := must(queue.NewClient(queue.Options{Client: rdb}))(t)
	if _, _, err := tasks.Enqueue(ctx, queue.Task{Kind: "schedule_end", Payload: []byte(`{"schedule":"not an id"}`)}); err != nil {
		t.Fatal(err)
	}
	appears("tasks_dead", "core", "1 tasks")

	// 6: a webhook.
	receiver.Refuse("w", http.StatusTeapot, 1000, nil)
	failing := must(root.CreateWebhook(ctx, client.WebhookDraft{URL: receiver.Webhook("w")}))(t)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}, BacklogMax: new(int64(10)), Keep: new(int64(0)), Overflow: "block"}))(t)
	appears("webhook_failing", failing.ID, "418")

	// 7: a group, whose slowest member is named.
	for range 8 {
		must(alice.Send(ctx, "g", client.Text("hello")))(t)
	}
	appears("group_held", "g", "bob")

	// 8: a schedule whose group is gone.
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "gone"}))(t)
	at := time.Now().Add(2 * time.Second)
	plan := must(alice.CreateSchedule(ctx, client.ScheduleDraft{Group: "gone", Body: "late", At: &at}))(t)
	if err := alice.DeleteGroup(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	appears("schedule_failed", plan.ID, "alice to group gone")

	// 9: the folder of files.
	if err := os.Rename(files, files+"-away"); err != nil {
		t.Fatal(err)
	}
	appears("files_away", "", "files")
	if err := os.Rename(files+"-away", files); err != nil {
		t.Fatal(err)
	}

	// 10: a node that dies.
	other.Kill()
	appears("node_gone", "", "did not say that it stops")
	status("tasks_dead core", 3)

	// 11: the store. What is critical comes first.
	server.Kill()
	appears("store_away", "", "store")
	all := must(root.Problems(ctx))(t)
	if len(all) == 0 || all[0].Code != "store_away" || all[0].Severity != "critical" {
		t.Errorf("got %+v, want the store first", all)
	}
	status("store_away", 3)
	server.Restart()
	goes("store_away")
	for _, code := range []string{"tasks_dead", "webhook_failing", "group_held", "schedule_failed", "node_gone"} {
		appears(code, "", "")
	}
	terminatedNodesGo(ctx, t, root, node)
}

// terminatedNodesGo: a node that stops in order says so.
func terminatedNodesGo(ctx context.Context, t *testing.T, root *client.Client, node *harness.Node) {
	t.Helper()
	before := must(root.Stats(ctx))(t)
	node.Terminate()
	node.Start()
	harness.Eventually(t, time.Minute, "the node reports again", func() error {
		stats, err := root.Stats(ctx)
		if err == nil && len(stats.Nodes) != len(before.Nodes) {
			err = errors.New("it does not")
		}
		return err
	})
	after := must(root.Stats(ctx))(t)
	same := func(a client.NodeStats) bool {
		return slices.ContainsFunc(before.Nodes, func(b client.NodeStats) bool { return a.ID == b.ID })
	}
	if kept := slices.ContainsFunc(after.Nodes, same); !kept || slices.ContainsFunc(after.Nodes, func(n client.NodeStats) bool { return !same(n) && n.Version == "" }) {
		t.Errorf("before: %+v, after: %+v", before, after)
	}
}
