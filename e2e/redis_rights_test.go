package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestNodeWithRestrictedRights runs a node as a Redis user who may do what docs/redis.acl lists and nothing else: live
// delivery, a schedule, and what operators do with tasks.
func TestNodeWithRestrictedRights(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	rules := must(os.ReadFile("../docs/redis.acl"))(t)
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
	redis := redistest.Start(t, "--aclfile", file)
	node := harness.StartNode(t, harness.Config{Redis: strings.Replace(redis.URL(), "://", "://chatd:change-this-password@", 1)})
	alice, op := node.Client("alice"), operator(t, node)
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	stream := must(node.Client("bob").Stream(ctx, quick(nil)))(t)
	defer stream.Close()
	must(alice.SendLater(ctx, "g", client.Draft{Body: "soon"}, time.Now().Add(100*time.Millisecond)))(t)
	must(alice.Send(ctx, "g", client.Draft{Body: "@bob", Mentions: []string{"bob"}}))(t)
	until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 4 })

	must(alice.SendLater(ctx, "g", client.Draft{Body: "much later"}, time.Now().Add(time.Hour)))(t)
	delayed, _, err := op.Tasks(ctx, client.TaskDelayed, "core", client.Page{})
	if err != nil || len(delayed) == 0 {
		t.Fatalf("got %d delayed tasks, %v; want the schedule's", len(delayed), err)
	}
	must(op.Task(ctx, delayed[0].ID))(t)
	must(op.PauseQueue(ctx, "core"))(t)
	must(alice.Send(ctx, "g", client.Draft{Body: "@bob again", Mentions: []string{"bob"}}))(t)
	ready, _, err := op.Tasks(ctx, client.TaskReady, "core", client.Page{})
	if err != nil || len(ready) == 0 {
		t.Fatalf("got %d ready tasks, %v; want the mention's", len(ready), err)
	}
	if err := op.DeleteTask(ctx, ready[0].ID); err != nil {
		t.Error(err)
	}
	must(op.ResumeQueue(ctx, "core"))(t)
	if err := op.DeleteTask(ctx, delayed[0].ID); err != nil {
		t.Error(err)
	}
	node.Terminate()
	if log, ok := redis.Do("ACL", "LOG").([]any); !ok || len(log) > 0 {
		t.Errorf("rights are missing: %v", log)
	}
	for _, what := range []string{"cannot read the eviction policy", "NOPERM"} {
		if strings.Contains(string(node.Log()), what) {
			t.Errorf("the log speaks of %q: %s", what, node.Log())
		}
	}
}
