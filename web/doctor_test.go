package web_test

import (
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
