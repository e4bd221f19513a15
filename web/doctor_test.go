package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/queue"
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
