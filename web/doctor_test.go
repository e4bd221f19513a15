package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/web/api"
)

// TestDoctorRoute: operators see what is wrong with the server of the store, and with the queues.
func TestDoctorRoute(t *testing.T) {
	o := startOperated(t)
	var report api.DoctorReport
	o.into("GET", "/v1/doctor", &report)
	if report.Server.Kind != "redis" || report.Server.Layout != 1 || len(report.Findings) != 0 {
		t.Fatalf("a sound store: got %+v", report)
	}
	if err := o.rdb.ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil {
		t.Fatal(err)
	}
	counts := queue.NewKeys("chat", 0, "egress").Of("counts")
	if err := o.rdb.HIncrBy(t.Context(), counts, "enqueued", 7).Err(); err != nil {
		t.Fatal(err)
	}
	o.into("GET", "/v1/doctor", &report)
	if len(report.Findings) != 2 || report.Findings[0].Kind != "persistence" || report.Findings[1].Kind != "queue" || report.Findings[1].Key != counts {
		t.Errorf("got findings %+v", report.Findings)
	}
}

// TestExaminationRoutes: an operator has the whole store examined and repaired beside the running node, sees how far that is, and stops it.
func TestExaminationRoutes(t *testing.T) {
	o := startOperated(t)
	checkProblem(t, "none yet", o.ask("GET", "/v1/doctor/run"), 404, "not_found")
	checkProblem(t, "none yet", o.ask("DELETE", "/v1/doctor/run"), 404, "not_found")
	o.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	o.eventually("core", "the tasks of the creation are done", func(q admin.Queue) bool { return q.Enqueued == q.Processed })
	if err := o.rdb.Del(t.Context(), "chat:{p00}:named").Err(); err != nil { // the list of all groups
		t.Fatal(err)
	}
	examined := func(repair bool) (run api.DoctorRun) {
		t.Helper()
		a := o.do(request{method: "POST", path: "/v1/doctor", user: "root", role: "admin", body: fmt.Sprintf(`{"repair":%v}`, repair)})
		if a.status != http.StatusAccepted || a.field("state") != "running" || a.field("repair") != repair {
			t.Fatalf("got %d %s", a.status, a.body)
		}
		harness.Eventually(t, time.Minute, "it has ended", func() error {
			if o.into("GET", "/v1/doctor/run", &run); run.State == api.DoctorRunning {
				return fmt.Errorf("got %+v", run)
			}
			return nil
		})
		if run.Id != a.field("id") || run.EndedAt == nil || run.Node == "" || run.Keys == 0 || run.KeysTotal < run.Keys || run.Error != nil {
			t.Errorf("got %+v", run)
		}
		return run
	}
	found := examined(false)
	if found.State != api.DoctorDone || found.Found == 0 || found.Open != found.Found || found.Findings[0].Repaired || found.Findings[0].Kind != "listed" {
		t.Errorf("got %+v", found)
	}
	if repaired := examined(true); repaired.Open != 0 || repaired.Found != found.Found || !repaired.Findings[0].Repaired {
		t.Errorf("got %+v", repaired)
	}
	if sound := examined(false); sound.Found != 0 || len(sound.Findings) != 0 {
		t.Errorf("got %+v", sound)
	}
}

// TestSettingsRoute: operators see the settings of the node that answers, by the name that its figures have.
func TestSettingsRoute(t *testing.T) {
	o := startOperated(t)
	var shown api.Settings
	o.into("GET", "/v1/settings", &shown)
	var stats struct{ Nodes []struct{ ID string } }
	o.into("GET", "/v1/stats", &stats)
	i := slices.IndexFunc(shown.Settings, func(s api.Setting) bool { return s.Key == "CHATD_REDIS" })
	if i < 0 || len(shown.Settings) < 40 || len(stats.Nodes) == 1 && stats.Nodes[0].ID != shown.Node || shown.Node == "" {
		t.Fatalf("got %+v of %+v", shown, stats)
	}
	if one := shown.Settings[i]; one.Value == nil || !strings.Contains(*one.Value, o.store.Addr) || one.Source != "flag" {
		t.Errorf("got %+v", one)
	}
}
