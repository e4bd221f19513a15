package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web/api"
)

// TestPayloadsAreReadable: operators and keys with the scope ops see what a task works on, in the best way, and not all of a large one.
func TestPayloadsAreReadable(t *testing.T) {
	o := startOperated(t)
	large := strings.Repeat("ä", 40<<10)
	_, tasks := o.key(`{"name":"tasks","scopes":["tasks"]}`)
	_, ops := o.key(`{"name":"ops","scopes":["ops"]}`)
	var last string
	for payload, want := range map[string]string{
		`{"group":"g"}`:    `{"bytes":13,"truncated":false,"json":{"group":"g"}}`,
		"null":             `{"bytes":4,"truncated":false,"json":null}`,
		"":                 `{"bytes":0,"truncated":false,"text":""}`,
		"{ no JSON":        `{"bytes":9,"truncated":false,"text":"{ no JSON"}`,
		"\xff\x00":         `{"bytes":2,"truncated":false,"base64":"/wA="}`,
		"ab\xc3":           `{"bytes":3,"truncated":false,"base64":"YWLD"}`,
		"x" + large:        `{"bytes":81921,"truncated":true,"text":"x` + large[:65534] + `"}`,
		`"` + large + `"`:  `{"bytes":81922,"truncated":true,"text":"\"` + large[:65534] + `"}`,
		"\xff\xff" + large: "base64",
	} {
		last = o.enqueue("egress", queue.Task{Kind: "none", Payload: []byte(payload)})
		a := o.ask("GET", "/v1/tasks/"+last+"/payload")
		if want == "base64" {
			if text, _ := a.field("base64").(string); a.status != 200 || len(text) != 87384 || a.field("truncated") != true {
				t.Errorf("no text: got %d with %d characters", a.status, len(text))
			}
			continue
		}
		var got, wanted map[string]any
		if json.Unmarshal([]byte(a.body), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil || a.status != 200 || fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%.20q: got %d %.200s, want %.200s", payload, a.status, a.body, want)
		}
	}
	path := "/v1/tasks/" + last + "/payload"
	checkProblem(t, "a key for tasks", o.by(tasks, "", request{method: "GET", path: path}), 403, "forbidden")
	if a := o.by(ops, "", request{method: "GET", path: path}); a.status != http.StatusOK {
		t.Errorf("a key for ops: got %d %.200s", a.status, a.body)
	}
	checkProblem(t, "no such task", o.ask("GET", "/v1/tasks/p00-absent/payload"), 404, "not_found")
}

// TestManyDeadLettersAreRetriedOnce: call by call, with any call repeated, and although all of them fail again; a selection too.
func TestManyDeadLettersAreRetriedOnce(t *testing.T) {
	o := startOperated(t)
	const n = 450
	c, err := queue.NewClient(queue.Options{Client: o.rdb, Queue: chat.QueueEgress})
	if err != nil {
		t.Fatal(err)
	}
	tasks := make([]queue.Task, n)
	for i := range tasks {
		tasks[i] = queue.Task{Kind: "doomed", Subject: "s"}
	}
	if _, err := c.EnqueueAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	o.eventually(chat.QueueEgress, "the tasks are dead", func(q admin.Queue) bool { return q.Dead == n })
	serverTime := func() string {
		now, err := o.rdb.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		return now.Add(time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	call := func(before, more string) (done api.TaskBulkDone) {
		t.Helper()
		body := `{"queue":"egress","state":"dead","act":"retry","before":"` + before + `"` + more + `}`
		a := o.do(request{method: "POST", path: "/v1/tasks/bulk", user: "root", role: "admin", body: body})
		if err := json.Unmarshal([]byte(a.body), &done); a.status != http.StatusOK || err != nil || done.Left == nil || *done.Left > n {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		return done
	}
	before, changed := serverTime(), int64(0)
	waitPast(t, o, before)
	for cursor := ""; ; {
		more := ""
		if cursor != "" {
			more = `,"cursor":"` + cursor + `"`
		}
		done := call(before, more)
		changed += done.Changed
		if again := call(before, more); again.Changed != 0 && done.Next == nil {
			t.Errorf("repeated: got %+v", again)
		} else {
			changed += again.Changed
		}
		if done.Next == nil {
			break
		}
		cursor = *done.Next
	}
	q := o.eventually(chat.QueueEgress, "all are dead again", func(q admin.Queue) bool { return q.Dead == n })
	if changed != n || q.Buried != 2*n {
		t.Errorf("%d retried, %d died in all, want %d and %d", changed, q.Buried, n, 2*n)
	}

	ids := o.list("&state=dead&kind=doomed&error=unknown+kind", 100)
	if none := append(o.list("&kind=doom", 100), append(o.list("&error=known+king", 100), o.list("&webhook=none", 1)...)...); len(ids) != n || len(none) != 0 {
		t.Errorf("got %d of them, and %v of others", len(ids), none)
	}
	webhook := o.enqueue(chat.QueueEgress, queue.Task{Kind: "none", ID: queue.WithAccount("p00-one", "w1"), Delay: time.Hour})
	if got := o.list("&webhook=w1", 100); !slices.Equal(got, []string{webhook}) {
		t.Errorf("of a webhook: got %v", got)
	}
	some, err := json.Marshal(append(slices.Clone(ids[:99]), ids[0]))
	if err != nil {
		t.Fatal(err)
	}
	before = serverTime()
	waitPast(t, o, before)
	for _, want := range []int64{99, 0} {
		if done := call(before, `,"tasks":`+string(some)); done.Changed != want || done.Next != nil {
			t.Errorf("a selection: got %+v, want %d", done, want)
		}
	}
	o.eventually(chat.QueueEgress, "these are dead again", func(q admin.Queue) bool { return q.Dead == n && q.Buried == 2*n+99 })
	for more, want := range map[string]string{
		`,"tasks":["` + ids[0] + `"],"cursor":"x"`:                  "cursor: not with tasks",
		`,"tasks":["a b"]`:                                          "tasks[0]",
		`,"tasks":[` + strings.Repeat(`"p00-a",`, 100) + `"p00-a"]`: "tasks",
	} {
		body := `{"queue":"egress","state":"dead","act":"retry"` + more + `}`
		a := o.do(request{method: "POST", path: "/v1/tasks/bulk", user: "root", role: "admin", body: body})
		if checkProblem(t, more, a, 400, "invalid_request"); !strings.Contains(a.body, want) {
			t.Errorf("%s: got %s, want one about %s", more, a.body, want)
		}
	}
}

// waitPast waits until the clock of the store is past a time, so that what dies from now on died after it.
func waitPast(t *testing.T, o operated, at string) {
	t.Helper()
	end, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		t.Fatal(err)
	}
	for now := end.Add(-1); !now.After(end); {
		if now, err = o.rdb.Time(t.Context()).Result(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProblemsAreThoseOfTheDescription: programs act on the codes.
func TestProblemsAreThoseOfTheDescription(t *testing.T) {
	var described []health.Code
	for _, code := range describedSchema(t, "ProblemKind").Enum {
		described = append(described, health.Code(fmt.Sprint(code)))
	}
	if !slices.Equal(described, health.Codes) {
		t.Errorf("the description has %v, the server %v", described, health.Codes)
	}
}
