package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestStartWhileTheStoreIsAway: a node that cannot reach its store, or one master of it, ends with an error that names the
// setting and the address, for readers of the log of a supervisor. Once the server is back, the next start succeeds.
func TestStartWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	stores := map[string]func(*testing.T) (url string, away *redistest.Server, named string){
		"a single server": func(t *testing.T) (string, *redistest.Server, string) {
			redis := redistest.Start(t)
			return redis.URL(), redis, redis.Addr
		},
		"one master of a cluster": func(t *testing.T) (string, *redistest.Server, string) {
			cluster := redistest.StartCluster(t, 3, 0)
			return cluster.URL(), cluster.Nodes[1], cluster.Nodes[1].Addr
		},
		"the primary of a sentinel": func(t *testing.T) (string, *redistest.Server, string) {
			primary := redistest.Start(t)
			sentinel := redistest.StartSentinel(t, "chat", primary)
			return "redis-sentinel://" + sentinel.Addr + "/0?master_name=chat", primary, sentinel.Addr
		},
	}
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, away, named := start(t)
			node := harness.StartNode(t, harness.Config{Redis: url})
			must(node.Client("alice").CreateGroup(t.Context(), client.GroupDraft{ID: "g"}))(t)
			node.Terminate()
			away.Kill()
			ctx := bounded(t, 30*time.Second)
			out, err := node.Command(ctx).CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() <= 0 {
				t.Errorf("chatd ended with %v, want a refusal:\n%s", err, out)
			}
			for _, want := range []string{"CHATD_REDIS", named} {
				if !strings.Contains(string(out), want) {
					t.Errorf("chatd does not name %s:\n%s", want, out)
				}
			}
			away.Restart()
			node.Start()
		})
	}
}
