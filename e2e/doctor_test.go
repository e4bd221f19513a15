package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// kindsOf are the kinds of the findings of a doctor's report, but that the server of a test keeps nothing.
func kindsOf(t *testing.T, report []byte) string {
	t.Helper()
	var read struct {
		Findings []struct{ Kind string }
	}
	if err := json.Unmarshal(report, &read); err != nil || read.Findings == nil {
		t.Fatalf("%v: %s", err, report)
	}
	var kinds []string
	for _, f := range read.Findings {
		if f.Kind != "persistence" {
			kinds = append(kinds, f.Kind)
		}
	}
	return strings.Join(kinds, " ")
}

// TestDoctorInAnIncident: what operators ask while Redis is full and the archive is lost answers, and says so.
func TestDoctorInAnIncident(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	database := filepath.Join(t.TempDir(), "archive.db")
	node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: map[string]string{"CHATD_ARCHIVE": "sqlite:" + database}})
	alice := node.Client("alice")
	must(alice.CreateGroup(t.Context(), client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	must(alice.Send(t.Context(), "g", client.Draft{Body: "x"}))(t)
	must(alice.CreateSchedule(t.Context(), client.ScheduleDraft{Group: "g", Body: "s", Cron: "0 0 1 1 *"}))(t)
	kinds := func() string {
		t.Helper()
		out, err := node.Command(t.Context(), "doctor", "-json").Output() // its exit code says that there are findings
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		return kindsOf(t, out)
	}
	running := func() string {
		t.Helper()
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, node.URL()+"/v1/doctor", nil))(t)
		req.Header.Set("Authorization", "Bearer "+harness.Token("root", "admin", time.Hour))
		answer := must(http.DefaultClient.Do(req))(t)
		defer answer.Body.Close()
		return kindsOf(t, must(io.ReadAll(answer.Body))(t))
	}
	if got, also := kinds(), running(); got != "" || also != "" {
		t.Errorf("before: %q and %q", got, also)
	}
	redis.Do("CONFIG", "SET", "maxmemory", "1mb")
	if got := kinds(); got != "memory" {
		t.Errorf("a full Redis: found %q", got)
	}
	redis.Do("CONFIG", "SET", "maxmemory", "0")
	for _, replaced := range []string{"", "x"} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(database + suffix); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if replaced != "" { // by one that has never seen anything
			other := node.Command(t.Context(), "migrate", "up")
			if out, err := other.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		if got, also := kinds(), running(); got != "archive" || also != "archive" {
			t.Errorf("an archive that is gone (%q): found %q and %q, want archive", replaced, got, also)
		}
	}
	node.Kill()
	redis.Kill()
	out, err := node.Command(t.Context(), "doctor", "-json").Output()
	var blind struct{ Error string }
	if jsonErr := json.Unmarshal(out, &blind); jsonErr != nil || err == nil || !strings.Contains(blind.Error, "does not answer") {
		t.Errorf("without a store: %v, %v: %s", err, jsonErr, out)
	}
}
