package web_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web/api"
)

const taskWait = 10 * time.Second

// operated is a node whose queues a test reaches past it.
type operated struct {
	*server
	rdb   *redis.Client
	store *redistest.Server
}

func startOperated(t *testing.T) operated {
	t.Helper()
	r := redistest.Start(t)
	s := start(t, func(c *node.Config) { c.Redis = r.URL() })
	rdb := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	return operated{s, rdb, r}
}

// ask makes a call as an operator.
func (o operated) ask(method, path string) answer {
	o.t.Helper()
	return o.do(request{method: method, path: path, user: "root", role: "admin"})
}

// into reads the answer to a call that has to succeed.
func (o operated) into(method, path string, v any) {
	o.t.Helper()
	a := o.ask(method, path)
	if a.status != http.StatusOK {
		o.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		o.t.Fatal(err)
	}
}

func (o operated) enqueue(name string, t queue.Task) string {
	o.t.Helper()
	c, err := queue.NewClient(queue.Options{Client: o.rdb, Queue: name})
	if err != nil {
		o.t.Fatal(err)
	}
	id, enqueued, err := c.Enqueue(o.t.Context(), t)
	if err != nil || !enqueued {
		o.t.Fatalf("enqueue: %v, %v", enqueued, err)
	}
	return id
}

// queue returns the counts of one queue, which have to add up at every instant.
func (o operated) queue(name string) admin.Queue {
	o.t.Helper()
	var list struct{ Queues []admin.Queue }
	o.into("GET", "/v1/tasks/queues", &list)
	var found admin.Queue
	for _, q := range list.Queues {
		sum := q.Ready.Critical + q.Ready.High + q.Ready.Normal + q.Ready.Low + q.Parked + q.Delayed + q.Leased + q.Dead + q.Processed + q.Deleted + q.Dropped
		if q.Enqueued != sum {
			o.t.Errorf("%s: %d enqueued, %d accounted for: %+v", q.Queue, q.Enqueued, sum, q)
		}
		if q.Queue == name {
			found = q
		}
	}
	if found.Queue == "" {
		o.t.Fatalf("no queue %s in %+v", name, list)
	}
	return found
}

func (o operated) task(id string) api.Task {
	o.t.Helper()
	var t api.Task
	o.into("GET", "/v1/tasks/"+id, &t)
	return t
}

// eventually waits until a queue is as it should be.
func (o operated) eventually(name, what string, is func(admin.Queue) bool) admin.Queue {
	o.t.Helper()
	var q admin.Queue
	harness.Eventually(o.t, taskWait, what, func() error {
		if q = o.queue(name); !is(q) {
			return fmt.Errorf("%+v", q)
		}
		return nil
	})
	return q
}

// list returns the ids of all pages.
func (o operated) list(query string, limit int) (ids []string) {
	o.t.Helper()
	cursor := ""
	for range 100 {
		var page struct {
			Tasks []api.Task
			Next  string
		}
		path := fmt.Sprintf("/v1/tasks?limit=%d%s", limit, query)
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		o.into("GET", path, &page)
		if len(page.Tasks) > limit {
			o.t.Fatalf("%s: %d tasks", path, len(page.Tasks))
		}
		for _, t := range page.Tasks {
			ids = append(ids, t.Id)
		}
		if cursor = page.Next; cursor == "" {
			return ids
		}
	}
	o.t.Fatalf("%s: pages without an end", query)
	return nil
}

// TestOperatorsSeeAndSteerTasks pauses a queue, looks at what waits in it from all sides, and lets it go on.
func TestOperatorsSeeAndSteerTasks(t *testing.T) {
	o := startOperated(t)
	const canary = "words of a user"
	var core admin.Queue
	if o.into("POST", "/v1/tasks/queues/core/pause", &core); !core.Paused || core.Queue != "core" {
		t.Fatalf("paused: %+v", core)
	}
	o.into("POST", "/v1/tasks/queues/core/pause", &core) // again does no harm
	waiting := []string{
		o.enqueue("core", queue.Task{Kind: "none", Payload: []byte(canary), Priority: queue.High}),
		o.enqueue("core", queue.Task{Kind: "none", Payload: []byte(canary), Priority: queue.High}),
		o.enqueue("core", queue.Task{Kind: "none", Payload: []byte(canary), Priority: queue.Low}),
	}
	delayed := []string{
		o.enqueue("core", queue.Task{Kind: "none", Payload: []byte(canary), Delay: time.Hour, Deadline: time.Now().Add(24 * time.Hour)}),
		o.enqueue("core", queue.Task{Kind: "none", Payload: []byte(canary), Delay: 2 * time.Hour}),
	}
	// A queue that is not paused goes on beside it.
	other := o.enqueue("egress", queue.Task{Kind: "none", Payload: []byte(canary)})
	o.eventually("egress", "a task of no known kind is buried", func(q admin.Queue) bool { return q.Dead == 1 })

	core = o.queue("core")
	if core.Ready.High != 2 || core.Ready.Low != 1 || core.Delayed != 2 || core.Dead != 0 || core.Processed != 0 || !core.Paused {
		t.Errorf("paused: %+v", core)
	}
	o.eventually("core", "the oldest grows older", func(q admin.Queue) bool { return q.OldestMs > core.OldestMs })

	all := append(append(slices.Clone(waiting), delayed...), other)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", all}, {"&queue=core", all[:5]}, {"&queue=egress", all[5:]}, {"&state=ready", waiting}, {"&state=delayed", delayed},
		{"&state=dead", all[5:]}, {"&state=leased", nil}, {"&state=dead&queue=core", nil}, {"&state=delayed&queue=core", delayed},
	} {
		for _, limit := range []int{1, 2, 1000} {
			if got := o.list(c.query, limit); !slices.Equal(got, c.want) {
				t.Errorf("%q by %d: got %v, want %v", c.query, limit, got, c.want)
			}
		}
	}
	for _, path := range []string{"/v1/tasks", "/v1/tasks/" + waiting[0], "/v1/tasks/" + other} {
		if a := o.ask("GET", path); strings.Contains(a.body, canary) || strings.Contains(a.body, base64.StdEncoding.EncodeToString([]byte(canary))) {
			t.Errorf("%s shows what a task carries: %s", path, a.body)
		}
	}
	one := o.task(delayed[0])
	if one.State != "delayed" || one.Kind != "none" || one.Queue != "core" || one.Priority != "normal" || one.AttemptsMax != 10 || one.LastError != nil ||
		one.DueAt == nil || time.Until(one.DueAt.Time) < 55*time.Minute || one.DeadlineAt == nil || one.LeaseUntil != nil || one.DiedAt != nil {
		t.Errorf("delayed: %+v", one)
	}
	dead := o.task(other)
	if dead.State != "dead" || dead.LastError == nil || !strings.Contains(*dead.LastError, "unknown kind") || dead.DiedAt == nil || dead.DueAt != nil {
		t.Errorf("dead: %+v", dead)
	}

	checkProblem(t, "retry of a ready one", o.ask("POST", "/v1/tasks/"+waiting[0]+"/retry"), 409, "conflict")
	one = api.Task{}
	if o.into("POST", "/v1/tasks/"+delayed[0]+"/retry", &one); one.State != "ready" || one.Id != delayed[0] || one.DueAt != nil {
		t.Errorf("a delayed one, now: %+v", one)
	}
	for _, id := range []string{delayed[1], waiting[2]} {
		if a := o.ask("DELETE", "/v1/tasks/"+id); a.status != http.StatusNoContent {
			t.Errorf("delete: %d %s", a.status, a.body)
		}
		checkProblem(t, "deleted", o.ask("GET", "/v1/tasks/"+id), 404, "not_found")
		checkProblem(t, "deleted again", o.ask("DELETE", "/v1/tasks/"+id), 404, "not_found")
	}
	if core = o.queue("core"); core.Deleted != 2 || core.Ready.High != 2 || core.Ready.Normal != 1 {
		t.Errorf("after retry and delete: %+v", core)
	}

	if o.into("POST", "/v1/tasks/queues/core/resume", &core); core.Paused {
		t.Errorf("resumed: %+v", core)
	}
	core = o.eventually("core", "the queue goes on", func(q admin.Queue) bool { return q.Dead == 3 })
	if core.Buried != 3 || core.OldestMs != 0 {
		t.Errorf("in the end: %+v", core)
	}
	if got := o.list("&state=dead&queue=core", 2); len(got) != 3 {
		t.Errorf("dead letters: %v", got)
	}
}

// TestDeadLetterIsRetried makes a task fail for a reason that goes away.
func TestDeadLetterIsRetried(t *testing.T) {
	o := startOperated(t)
	created := o.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	epoch, _ := created.field("epoch").(string)
	o.eventually("core", "the tasks of the creation are done", func(q admin.Queue) bool { return q.Enqueued == q.Processed })
	meta := "chat:{p00}:g:g:meta"
	if err := o.rdb.Rename(t.Context(), meta, "aside").Err(); err != nil {
		t.Fatal(err)
	}
	if err := o.rdb.Set(t.Context(), meta, "damaged", 0).Err(); err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(chat.GroupTask{Group: "g", Epoch: epoch})
	if err != nil {
		t.Fatal(err)
	}
	before := o.queue("core")
	id := o.enqueue("core", queue.Task{Kind: chat.TaskTrim, Payload: payload, AttemptsMax: 1})
	o.eventually("core", "the task dies", func(q admin.Queue) bool { return q.Dead == 1 })
	dead := o.task(id)
	if dead.State != "dead" || dead.Attempts != 1 || dead.AttemptsMax != 1 || dead.LastError == nil || !strings.Contains(*dead.LastError, "WRONGTYPE") {
		t.Errorf("dead: %+v", dead)
	}
	// Retried while its reason stands, it is claimed and dies again at once: the answers show it as it became ready all the same.
	const inVain = 40
	retry := func() {
		t.Helper()
		var again api.Task
		if o.into("POST", "/v1/tasks/"+id+"/retry", &again); again.Id != id || again.State != "ready" || again.Attempts != 0 || again.LeaseUntil != nil || again.DiedAt != nil {
			t.Errorf("retried: %+v", again)
		}
	}
	for i := range inVain {
		retry()
		o.eventually("core", "the task dies again", func(q admin.Queue) bool { return q.Buried == before.Buried+int64(i)+2 && q.Dead == 1 })
	}
	if err := o.rdb.Rename(t.Context(), "aside", meta).Err(); err != nil {
		t.Fatal(err)
	}
	retry()
	after := o.eventually("core", "the task is done", func(q admin.Queue) bool { return q.Processed == before.Processed+1 })
	if after.Dead != 0 || after.Buried != before.Buried+inVain+1 {
		t.Errorf("in the end: %+v", after)
	}
	checkProblem(t, "done", o.ask("GET", "/v1/tasks/"+id), 404, "not_found")
	checkProblem(t, "retry of what is done", o.ask("POST", "/v1/tasks/"+id+"/retry"), 404, "not_found")
}

func TestTaskInputs(t *testing.T) {
	o := startOperated(t)
	raw := func(cursor string) string { return base64.RawURLEncoding.EncodeToString([]byte(cursor)) }
	queries := []string{
		"state=done", "state=", "state=READY", "queue=nope", "queue=a:b", "limit=0", "limit=x",
		"cursor=x", "cursor=ready.core", "cursor=ready.nope.", "cursor=done.core.", "cursor=ready.core.!",
		"state=dead&cursor=ready.core.", "queue=core&cursor=ready.egress.",
	}
	for _, state := range []string{"ready", "parked", "delayed", "leased", "dead"} {
		for _, inner := range []string{"x", "-1 ", "1 ", "99999 ", "0 x", "0 1", "0 1 ", "0  x", "0 x y", "0 1 x y z", "0 1x y", "0 0x10 y", "0 inf y", "0 nan y"} {
			if state == "ready" || !strings.HasPrefix(inner, "0 1 x") {
				queries = append(queries, "cursor="+state+".core."+raw(state+" "+inner))
			}
		}
	}
	for _, query := range queries {
		checkProblem(t, query, o.ask("GET", "/v1/tasks?"+query), 400, "invalid_request")
	}
	for _, id := range []string{"absent", "p00-absent", "p99-absent", "p00-" + strings.Repeat("x", 252), "p00-!~", "-", "p00-"} {
		checkProblem(t, id, o.ask("GET", "/v1/tasks/"+id), 404, "not_found")
		checkProblem(t, id, o.ask("DELETE", "/v1/tasks/"+id), 404, "not_found")
		checkProblem(t, id, o.ask("POST", "/v1/tasks/"+id+"/retry"), 404, "not_found")
	}
	for _, verb := range []string{"pause", "resume"} {
		checkProblem(t, verb, o.ask("POST", "/v1/tasks/queues/nope/"+verb), 404, "not_found")
	}
	if a := o.ask("GET", "/v1/tasks?limit=100000"); a.status != 200 {
		t.Errorf("a limit above the maximum: %d %s", a.status, a.body)
	}
}

// TestTaskMetrics looks at what Prometheus gets: what the store counts, and what this node ran.
func TestTaskMetrics(t *testing.T) {
	o := startOperated(t)
	o.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	o.enqueue("egress", queue.Task{Kind: "made-up", Delay: time.Hour})
	o.enqueue("egress", queue.Task{Kind: "made-up", Priority: queue.Low})
	o.eventually("core", "the tasks of the creation are done", func(q admin.Queue) bool { return q.Enqueued == q.Processed })
	o.ask("POST", "/v1/tasks/queues/core/pause")
	o.enqueue("core", queue.Task{Kind: "made-up", Priority: queue.Critical})
	wants := []string{
		`chatd_tasks{priority="",queue="egress",state="delayed"} 1`, `chatd_tasks{priority="",queue="egress",state="dead"} 1`,
		`chatd_tasks{priority="critical",queue="core",state="ready"} 1`, `chatd_tasks_paused{queue="core"} 1`, `chatd_tasks_unserved_kinds{queue="core"} 1`, `chatd_tasks_paused{queue="egress"} 0`,
		`chatd_tasks_buried_total{queue="egress"} 1`, `chatd_tasks_enqueued_total{queue="egress"} 2`,
		`chatd_task_runs_total{kind="unknown",queue="egress",verdict="bury"} 1`, `chatd_task_runs_total{kind="member",queue="core",verdict="complete"} `,
		`chatd_task_run_seconds_count{kind="member",queue="core"} `, `chatd_task_lateness_seconds_count{queue="egress"} 1`,
		`chatd_tasks_oldest_seconds{queue="core"} `, `chatd_tasks_count_failures_total 0`,
	}
	harness.Eventually(t, taskWait, "the metrics", func() error {
		metrics := o.do(request{method: "GET", path: "/metrics"})
		for _, want := range wants {
			if !strings.Contains(metrics.body, "\n"+want) {
				return fmt.Errorf("there is no %s", want)
			}
		}
		if strings.Contains(metrics.body, "made-up") {
			t.Fatal("the kind of a task that nobody registered became a label")
		}
		return nil
	})
}

// TestTaskMetricsWithoutStore looks at the metrics while the store hangs: they come all the same, without its own.
func TestTaskMetricsWithoutStore(t *testing.T) {
	o := startOperated(t)
	o.eventually("core", "the node works", func(admin.Queue) bool { return true })
	o.store.Signal(syscall.SIGSTOP)
	resume := time.AfterFunc(time.Minute, func() { o.store.Signal(syscall.SIGCONT) })
	began := time.Now()
	metrics := o.do(request{method: "GET", path: "/metrics"})
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the metrics took %v", took)
	}
	resume.Stop()
	o.store.Signal(syscall.SIGCONT)
	if metrics.status != 200 || strings.Contains(metrics.body, "\nchatd_tasks_count_failures_total 0") || strings.Contains(metrics.body, "\nchatd_tasks{") {
		t.Errorf("%d %s", metrics.status, metrics.body)
	}
}

// TestTasksAreChangedTogether: what an operator selects is retried or deleted, in as many calls as it takes, and nothing else.
func TestTasksAreChangedTogether(t *testing.T) {
	o := startOperated(t)
	const n = 250
	c, err := queue.NewClient(queue.Options{Client: o.rdb, Queue: chat.QueueEgress})
	if err != nil {
		t.Fatal(err)
	}
	tasks := make([]queue.Task, n)
	for i := range tasks {
		tasks[i] = queue.Task{Kind: fmt.Sprint("doomed", i%2), Subject: "s"}
		if i >= 200 {
			tasks[i].Delay = time.Hour
		}
	}
	if _, err := c.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	o.eventually(chat.QueueEgress, "the tasks are dead", func(q admin.Queue) bool { return q.Dead == 200 })
	change := func(body string) (looked, changed int64) {
		t.Helper()
		more := ""
		for range 100 {
			a := o.do(request{method: "POST", path: "/v1/tasks/bulk", user: "root", role: "admin", body: strings.TrimSuffix(body, "}") + more + "}"})
			var done api.TaskBulkDone
			if err := json.Unmarshal([]byte(a.body), &done); a.status != http.StatusOK || err != nil {
				t.Fatalf("%s: %d %s", body, a.status, a.body)
			}
			looked, changed = looked+done.Looked, changed+done.Changed
			if done.Next == nil {
				break
			}
			more = `,"cursor":"` + *done.Next + `"`
		}
		return looked, changed
	}
	for _, test := range []struct {
		body            string
		looked, changed int64
	}{
		{`{"queue":"core","state":"dead","act":"delete"}`, 0, 0},
		{`{"queue":"egress","state":"dead","act":"delete","kind":"doomed1","error":"unknown kind"}`, 200, 100},
		{`{"queue":"egress","state":"dead","act":"delete","error":"something else"}`, 100, 0},
		{`{"queue":"egress","state":"dead","act":"delete","before":"2020-01-01T00:00:00Z"}`, 0, 0},
		{`{"queue":"egress","state":"delayed","act":"delete","kind":"doomed0"}`, 50, 25},
		{`{"queue":"egress","state":"delayed","act":"run","before":"2100-01-01T00:00:00Z"}`, 25, 25},
	} {
		if looked, changed := change(test.body); looked != test.looked || changed != test.changed {
			t.Errorf("%s: %d of %d, want %d of %d", test.body, changed, looked, test.changed, test.looked)
		}
	}
	q := o.eventually(chat.QueueEgress, "those that ran are dead", func(q admin.Queue) bool { return q.Dead == 125 && q.Delayed == 0 })
	if q.Deleted != 125 {
		t.Errorf("got %+v", q)
	}
	for body, want := range map[string]string{
		`{"queue":"mail","state":"dead","act":"retry"}`:                                            "queue",
		`{"queue":"core","state":"ready","act":"retry"}`:                                           "state",
		`{"queue":"core","state":"dead","act":"bury"}`:                                             "act",
		`{"queue":"core","state":"dead","act":"run"}`:                                              "act",
		`{"queue":"core","state":"dead"}`:                                                          "act",
		`{"queue":"core","state":"dead","act":"retry","before":"x"}`:                               "a field has a value",
		`{"queue":"core","state":"dead","act":"retry","before":"0001-01-01T00:00:00Z"}`:            "before",
		`{"queue":"core","state":"dead","act":"retry","error":"` + strings.Repeat("ä", 600) + `"}`: "error: at most",
		`{"queue":"core","state":"dead","act":"retry","cursor":"x"}`:                               "cursor",
		`{"queue":"core","state":"dead","act":"retry","kind":"` + strings.Repeat("ä", 200) + `"}`:  "kind",
	} {
		a := o.do(request{method: "POST", path: "/v1/tasks/bulk", user: "root", role: "admin", body: body})
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s, want one about %s", body, a.status, a.body, want)
		}
	}
}

// TestParkedTasksAndLimitsShow: operators see what waits for a slot, who has it, and the figures add up with them.
func TestParkedTasksAndLimitsShow(t *testing.T) {
	o := startOperated(t)
	hold, err := queue.NewClient(queue.Options{Client: o.rdb, Queue: chat.QueueEgress})
	if err != nil {
		t.Fatal(err)
	}
	slot, err := hold.Hold(t.Context(), "printer", 1)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 3 {
		ids = append(ids, o.enqueue(chat.QueueEgress, queue.Task{Kind: "none", Subject: "printer", Limit: &queue.Limit{Key: "printer", Max: 1}}))
	}
	o.eventually(chat.QueueEgress, "all are parked", func(q admin.Queue) bool { return q.Parked == 3 })
	if got := o.list("&state=parked", 2); !slices.Equal(got, ids) {
		t.Errorf("parked: %v, want %v", got, ids)
	}
	one := o.task(ids[1])
	if one.State != "parked" || one.ParkedAt == nil || one.Limit == nil || one.Limit.Key != "printer" || one.Limit.Max != 1 {
		t.Errorf("parked: %+v", one)
	}
	var page struct {
		Limits []api.LimitInfo
		Next   *string
	}
	o.into("GET", "/v1/tasks/limits?limit=1", &page)
	if len(page.Limits) != 1 {
		t.Fatalf("got %+v", page)
	}
	l := page.Limits[0]
	if l.Queue != chat.QueueEgress || l.Key != "printer" || l.Held != 1 || l.Waiting != 3 || l.WaitingSince == nil || !slices.Equal(l.Waiters, ids) ||
		len(l.Holders) != 1 || o.task(l.Holders[0]).Kind != queue.KindHold {
		t.Errorf("got %+v", l)
	}
	metric := `chatd_tasks{priority="",queue="egress",state="parked"} 3`
	harness.Eventually(t, taskWait, "the metrics", func() error {
		if metrics := o.do(request{method: "GET", path: "/metrics"}); !strings.Contains(metrics.body, "\n"+metric) {
			return fmt.Errorf("there is no %s", metric)
		}
		return nil
	})
	for _, cursor := range []string{"x", "egress", "nope.", "egress.x"} {
		checkProblem(t, cursor, o.ask("GET", "/v1/tasks/limits?cursor="+cursor), 400, "invalid_request")
	}
	if err := slot.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.eventually(chat.QueueEgress, "nobody waits", func(q admin.Queue) bool { return q.Parked == 0 && q.Dead == 3 })
	page.Limits = nil
	if o.into("GET", "/v1/tasks/limits", &page); len(page.Limits) != 0 {
		t.Errorf("afterwards: %+v", page)
	}
}
