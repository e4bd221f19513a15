package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/web/api"
)

// TestPeriodicTasksOfOperators lists, pauses, resumes, runs and deletes periodic tasks of both queues.
func TestPeriodicTasksOfOperators(t *testing.T) {
	o := startOperated(t)
	var want []string
	for i, name := range []string{"core", "egress", "core"} {
		c, err := queue.NewClient(queue.Options{Client: o.rdb, Queue: name})
		if err != nil {
			t.Fatal(err)
		}
		p := queue.Periodic{ID: fmt.Sprint("sweep", i), Cron: "0 3 * * *", Zone: "Europe/Berlin", Kind: "made-up"}
		if err := c.PutPeriodic(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		want = append(want, p.ID)
	}
	var got []string
	for cursor := ""; len(got) <= len(want); {
		var page struct {
			Periodic []api.Periodic
			Next     string
		}
		o.into("GET", "/v1/tasks/periodic?limit=1&cursor="+cursor, &page)
		for _, p := range page.Periodic {
			got = append(got, p.Id)
			if p.Cron != "0 3 * * *" || p.Timezone != "Europe/Berlin" || p.Misfire != "once" || p.Kind != "made-up" || p.Paused || p.NextAt == nil {
				t.Errorf("got %+v", p)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	checkProblem(t, "cursor", o.ask("GET", "/v1/tasks/periodic?cursor=x"), 400, "invalid_request")

	path := "/v1/tasks/periodic/sweep1"
	var p api.Periodic
	if o.into("POST", path+"/pause", &p); !p.Paused || p.NextAt != nil || p.Queue != "egress" {
		t.Errorf("paused: %+v", p)
	}
	if o.into("POST", path+"/resume", &p); p.Paused || p.NextAt == nil || p.NextAt.Before(time.Now()) {
		t.Errorf("resumed: %+v", p)
	}
	o.ask("POST", "/v1/tasks/queues/egress/pause")
	if a := o.ask("POST", path+"/run"); a.status != http.StatusAccepted {
		t.Errorf("run: %d %s", a.status, a.body)
	}
	if q := o.queue("egress"); q.Ready.Normal != 1 {
		t.Errorf("run: %+v", q)
	}
	if a := o.ask("DELETE", path); a.status != http.StatusNoContent {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	for _, verb := range []string{"pause", "resume", "run"} {
		checkProblem(t, verb, o.ask("POST", path+"/"+verb), 404, "not_found")
	}
	checkProblem(t, "deleted", o.ask("DELETE", path), 404, "not_found")
}
