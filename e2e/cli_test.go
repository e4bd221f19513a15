package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

const (
	deadLetters = 2300 // three pages
	cliWait     = time.Minute
)

// commands runs `chatd tasks` beside a node.
type commands struct {
	t    *testing.T
	node *harness.Node
}

// run returns what a command writes; failed tells that it ended with an error.
func (c commands) run(args ...string) (stdout, stderr string, failed bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), cliWait)
	defer cancel()
	cmd := c.node.Command(ctx, append([]string{"tasks"}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	if ctx.Err() != nil {
		c.t.Fatalf("%v: no end within %v", args, cliWait)
	}
	return out.String(), log.String(), err != nil
}

func (c commands) must(args ...string) string {
	c.t.Helper()
	out, log, failed := c.run(args...)
	if failed {
		c.t.Fatalf("%v: %s", args, log)
	}
	return out
}

// refused runs a command that has to fail and say the words of want.
func (c commands) refused(want []string, args ...string) {
	c.t.Helper()
	out, log, failed := c.run(args...)
	if !failed || out != "" {
		c.t.Errorf("%v: failed %v, wrote %q", args, failed, out)
	}
	for _, words := range want {
		if !strings.Contains(log, words) {
			c.t.Errorf("%v: does not say %q: %s", args, words, log)
		}
	}
}

// queue reads the counts of one queue, which have to add up.
func (c commands) queue(name string) client.Queue {
	c.t.Helper()
	for line := range strings.Lines(c.must("stats", "-json")) {
		var q client.Queue
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			c.t.Fatalf("%q: %v", line, err)
		}
		if sum := q.ReadyAll() + q.Parked + q.Delayed + q.Leased + q.Dead + q.Processed + q.Deleted + q.Dropped; sum != q.Enqueued {
			c.t.Errorf("%d enqueued, %d accounted for: %s", q.Enqueued, sum, line)
		}
		if q.Queue == name {
			return q
		}
	}
	c.t.Fatalf("no queue %s", name)
	return client.Queue{}
}

// eventually waits for the core queue without a command, each of which is a process.
func (c commands) eventually(what string, is func(client.Queue) bool) {
	c.t.Helper()
	op := c.client("-user", "op", "-role", "admin")
	harness.Eventually(c.t, cliWait, what, func() error {
		queues, err := op.Queues(c.t.Context())
		if err != nil {
			return err
		}
		for _, q := range queues {
			if q.Queue == "core" && is(q) {
				return nil
			}
		}
		return fmt.Errorf("%+v", queues)
	})
}

// client is one with the token that the node's own command makes.
func (c commands) client(args ...string) *client.Client {
	c.t.Helper()
	token := must(c.node.Command(c.t.Context(), append([]string{"token"}, args...)...).Output())(c.t)
	return must(client.New(c.node.URL(), client.StaticToken(strings.TrimSpace(string(token)))))(c.t)
}

// enqueueDoomed puts tasks into the core queue that no server knows.
func enqueueDoomed(t *testing.T, rdb queue.Redis) {
	t.Helper()
	c, err := queue.NewClient(queue.Options{Client: rdb})
	if err != nil {
		t.Fatal(err)
	}
	tasks := make([]queue.Task, deadLetters)
	for i := range tasks {
		tasks[i] = queue.Task{Kind: "doomed", Payload: []byte("words of a user")}
	}
	if _, err := c.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
}

// TestTasksCommand sees and steers the tasks of a node from the command line.
func TestTasksCommand(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		// The tasks are in the store before its one process begins. The secret is the one that the first start makes.
		data := t.TempDir()
		e, err := embedded.Open(t.Context(), embedded.Options{Dir: filepath.Join(data, "store")})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Options{Embedded: e})
		if err != nil {
			t.Fatal(err)
		}
		enqueueDoomed(t, s.Client())
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Fatal(err)
		}
		testTasksCommand(t, harness.StartNode(t, harness.Config{Data: data, Env: map[string]string{"CHATD_JWT_SECRET": ""}}))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		r := redistest.Start(t)
		node := harness.StartNode(t, harness.Config{Redis: r.URL()})
		rdb := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, DisableIdentity: true})
		t.Cleanup(func() { _ = rdb.Close() })
		enqueueDoomed(t, rdb)
		testTasksCommand(t, node, testTasksSteering, testTasksRefusals) // which are the same for every store
	})
}

func testTasksCommand(t *testing.T, node *harness.Node, further ...func(c commands, ids []string)) {
	c := commands{t, node}
	c.eventually("all are buried", func(q client.Queue) bool { return q.Dead == deadLetters })

	out, log, failed := c.run("ls")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); failed || len(lines) != 101 || !strings.HasPrefix(lines[0], "ID ") ||
		!strings.Contains(lines[1], "unknown kind") || !strings.Contains(log, "-limit 0") {
		t.Errorf("ls: %d lines, %s\n%s", len(lines), log, out)
	}
	ids := strings.Fields(c.must("ls", "-state", "dead", "-queue=core", "-ids", "-limit", "0"))
	different := map[string]bool{}
	for _, id := range ids {
		different[id] = true
	}
	if len(ids) != deadLetters || len(different) != deadLetters {
		t.Fatalf("ls of all: %d ids, %d different ones, want %d", len(ids), len(different), deadLetters)
	}
	out = c.must("ls", "-json", "-limit", "2")
	for line := range strings.Lines(out) {
		var task client.Task
		if err := json.Unmarshal([]byte(line), &task); err != nil || task.State != client.TaskDead || !different[task.ID] || task.LastError == nil {
			t.Errorf("ls -json: %q, %v", line, err)
		}
	}
	if strings.Count(out, "\n") != 2 || strings.Contains(out, "words of a user") {
		t.Errorf("ls -json: %s", out)
	}
	if out := c.must("ls", "-state", "leased"); out != "" {
		t.Errorf("ls of nothing: %q", out)
	}
	out = c.must("show", ids[0])
	for _, want := range []string{ids[0], "core", "doomed", "dead", "unknown kind", "died"} {
		if !strings.Contains(out, want) {
			t.Errorf("show does not say %q:\n%s", want, out)
		}
	}
	if out = c.must("stats"); !strings.Contains(out, "egress") || !strings.Contains(out, fmt.Sprint(deadLetters)) {
		t.Errorf("stats:\n%s", out)
	}

	c.refused([]string{"limits"}, "limits") // chatd's tasks have none
	op := c.client("-user", "op", "-role", "admin")
	harness.Eventually(t, cliWait, "the totals of the day", func() error {
		days, err := op.Days(t.Context(), 1)
		if len(days) == 0 || days[0].Kind != "*" || days[0].Buried != deadLetters {
			return fmt.Errorf("%+v, %w", days, err)
		}
		return nil
	})
	if out := c.must("days", "-days", "2"); !strings.HasPrefix(out, "DAY ") || !strings.Contains(out, fmt.Sprintf(" %d", deadLetters)) {
		t.Errorf("days:\n%s", out)
	}
	c.refused([]string{"-days", "1 to 90"}, "days", "-days", "91")

	for _, test := range further {
		test(c, ids)
	}
	node.Terminate()
	c.refused([]string{"no server answers", node.Addr, "-url"}, "stats")
}

func testTasksSteering(c commands, ids []string) {
	t := c.t
	before := c.queue("core")
	if out := c.must("pause", "core"); !strings.HasPrefix(out, "core is paused") {
		t.Errorf("pause: %q", out)
	}
	alice := c.client("-user", "alice")
	must(alice.CreateGroup(t.Context(), client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	waiting := c.queue("core")
	if !waiting.Paused || waiting.ReadyAll() == 0 || waiting.Processed != before.Processed {
		t.Errorf("paused: %+v", waiting)
	}
	out, log, failed := c.run("retry", "p00-absent", ids[0], ids[1])
	if !failed || strings.Count(out, "\n") != 2 || !strings.Contains(out, ids[0]+" is ready") || !strings.Contains(log, "p00-absent: no such task") {
		t.Errorf("retry: %q, %q", out, log)
	}
	c.refused([]string{"already ready"}, "retry", ids[0])
	if out := c.must("delete", ids[0], ids[2]); strings.Count(out, "is deleted") != 2 {
		t.Errorf("delete: %q", out)
	}
	// A task of the new group may have become due meanwhile.
	if q := c.queue("core"); q.Deleted != 2 || q.Dead != deadLetters-3 || q.ReadyAll()+q.Delayed != waiting.ReadyAll()+waiting.Delayed+1 {
		t.Errorf("after retry and delete: %+v", q)
	}
	c.refused([]string{"no such task"}, "show", ids[0])
	var q client.Queue
	if err := json.Unmarshal([]byte(c.must("resume", "core", "-json")), &q); err != nil || q.Paused {
		t.Errorf("resume: %+v, %v", q, err)
	}
	c.eventually("the queue goes on", func(q client.Queue) bool {
		return q.ReadyAll() == 0 && q.Processed > before.Processed && q.Dead == deadLetters-2 && q.Buried == deadLetters+1
	})
	testTasksTogether(c)
}

// testTasksTogether steers all dead tasks at once.
func testTasksTogether(c commands) {
	c.refused([]string{"-all"}, "delete")
	c.refused([]string{"-all"}, "retry", "-kind", "doomed")
	c.refused([]string{"not both"}, "retry", "-all", "p00-x")
	c.refused([]string{"-before", "soon"}, "retry", "-all", "-before", "soon")
	if out := c.must("retry", "-all", "-error", "no such text"); !strings.HasPrefix(out, fmt.Sprintf("0 of %d dead tasks", deadLetters-2)) {
		c.t.Errorf("retry of none: %q", out)
	}
	if out := c.must("retry", "-all", "-before", "240h", "-json"); out != fmt.Sprintf(`{"looked":0,"changed":0,"left":%d}`, deadLetters-2)+"\n" {
		c.t.Errorf("retry of what died ten days ago: %q", out)
	}
	if out := c.must("retry", "-all", "-kind", "doomed", "-queue", "core", "-before", "2100-01-01T00:00:00Z"); !strings.HasPrefix(out, fmt.Sprint(deadLetters-2, " of")) {
		c.t.Errorf("retry of all: %q", out)
	}
	c.eventually("they are dead again", func(q client.Queue) bool { return q.Dead == deadLetters-2 && q.Buried == 2*deadLetters-1 })
	if out := c.must("delete", "-all"); !strings.HasPrefix(out, fmt.Sprint(deadLetters-2, " of")) {
		c.t.Errorf("delete of all: %q", out)
	}
	c.eventually("they are gone", func(q client.Queue) bool { return q.Dead == 0 && q.Deleted == deadLetters })
}

func testTasksRefusals(c commands, ids []string) {
	t := c.t
	token := must(c.node.Command(t.Context(), "token", "-user", "alice").Output())(t)
	ordinary := strings.TrimSpace(string(token))
	c.refused([]string{"an operator's: with the role admin"}, "ls", "-token", ordinary)
	c.refused([]string{"refuses the token", "CHATD_TOKEN"}, "ls", "-token", "x.y.z")
	c.refused([]string{"no such queue"}, "pause", "nope")
	c.refused([]string{"queue:"}, "ls", "-queue", "nope")
	c.refused([]string{"state"}, "ls", "-state", "done")
	c.refused([]string{"-url"}, "ls", "-url", "ftp://x")
	c.refused([]string{"no such task"}, "show", "queues")
	c.refused([]string{"no such task"}, "show", ids[0]+"x")
	c.refused([]string{"no such route"}, "ls", "-url", c.node.URL()+"/elsewhere")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer page.Close()
	c.refused([]string{"does not seem to be chatd"}, "ls", "-url", page.URL)
	absent := httptest.NewServer(http.NotFoundHandler())
	defer absent.Close()
	c.refused([]string{"is not chatd: 404"}, "ls", "-url", absent.URL)
}

// TestTasksCommandIsInterrupted presses ctrl-C while the server does not answer.
func TestTasksCommandIsInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	cmd := harness.NewNode(t, harness.Config{}).Command(bounded(t, cliWait), "tasks", "ls", "-url", "http://"+silent.Addr().String())
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(log.String(), "interrupted") {
		t.Errorf("%v: %s", err, log.String())
	}
	if took := time.Since(began); took > 15*time.Second { // without the signal, two attempts wait for 20 s each
		t.Errorf("it ended after %v", took)
	}
}
