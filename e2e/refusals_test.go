package e2e

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestLogSaysWhyTheStoreRefuses: whatever a Redis refuses and however many calls that fails, the log has one line for it with
// the cause, whose text fits it, and one when calls succeed again. A caller hears what matters to it.
func TestLogSaysWhyTheStoreRefuses(t *testing.T) {
	t.Parallel()
	for cause, change := range map[string]struct {
		begin, end []string
		says       string // to a caller
	}{
		"full":        {[]string{"CONFIG", "SET", "maxmemory", "1mb"}, []string{"CONFIG", "SET", "maxmemory", "0"}, "the store is full"},
		"read-only":   {[]string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}, "takes no writes"},
		"credentials": {[]string{"CONFIG", "SET", "requirepass", "secret"}, []string{"CONFIG", "SET", "requirepass", ""}, "not available"},
		"away":        {says: "not available"},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			node := harness.StartNode(t, harness.Config{Redis: redis.URL()})
			alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
			must(alice.CreateGroup(t.Context(), client.GroupDraft{ID: "g"}))(t)
			// Its task is claimed every second: the engine fails too.
			must(alice.CreateSchedule(t.Context(), client.ScheduleDraft{Group: "g", Body: "s", Cron: "* * * * * *"}))(t)
			operator := must(redistest.Dial(redis.Addr))(t)
			defer operator.Close()
			do := func(args ...string) {
				if len(args) > 0 {
					must(operator.Do(args...))(t)
				}
			}
			before := len(node.Log())
			switch do(change.begin...); cause {
			case "away":
				redis.Kill()
			case "credentials":
				do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
				do("CLIENT", "KILL", "TYPE", "pubsub")
			}
			began, failed, says := time.Now(), 0, ""
			for deadline := began.Add(time.Minute); failed < 100 || time.Since(began) < 3*time.Second; harness.Pause(t.Context(), 5*time.Millisecond) {
				if _, err := alice.Send(t.Context(), "g", client.Draft{Body: "x"}); err != nil {
					failed++
					says = err.Error()
				}
				if time.Now().After(deadline) {
					t.Fatalf("only %d sends failed", failed)
				}
			}
			lines := bytes.Split(bytes.TrimSpace(node.Log()[before:]), []byte("\n"))
			named := 0
			for _, line := range lines {
				if bytes.Contains(line, []byte("cause="+cause)) {
					named++
					if cause != "away" && bytes.Contains(line, []byte("cannot be reached")) {
						t.Errorf("the text does not fit the cause: %s", line)
					}
				}
			}
			if !strings.Contains(says, change.says) {
				t.Errorf("a caller hears %q, want %q", says, change.says)
			}
			// Connections that were killed are a cause of their own.
			if named != 1 || len(lines) > 2 || bytes.Contains(node.Log(), []byte("answers again")) {
				t.Errorf("%d sends failed; of the cause %d lines, want 1, of %d:\n%s", failed, named, len(lines), bytes.Join(lines, []byte("\n")))
			}
			do(change.end...)
			if cause == "away" {
				redis.Restart()
			}
			for deadline := time.Now().Add(time.Minute); !strings.Contains(string(node.Log()), `answers again" cause=`+cause); {
				_, err := alice.Send(t.Context(), "g", client.Draft{Body: "x"})
				if time.Now().After(deadline) {
					t.Fatalf("the log does not say that it is over; the last send: %v", err)
				}
			}
		})
	}
}
