package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

var (
	emitted = regexp.MustCompile(`(?m)^(chatd_\w+)(?:\{([^}]*)\})? `)
	asksFor = regexp.MustCompile(`chatd_\w+`)
	byLabel = regexp.MustCompile(`by \(([^)]*)\)|\{(\w+)[=!]`)
)

// TestAlertsAndDashboardNameMetrics: what the alerts, the dashboard and the docs of operations ask Prometheus for is what
// a node emits, labels included.
func TestAlertsAndDashboardNameMetrics(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_RATE_USER": "1/h:20"}})
	alice := node.Client("alice", client.WithRetry(1, client.Backoff{}))
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	must(alice.Send(ctx, "g", client.Text("hello")))(t)
	for err := error(nil); err == nil; { // limits and errors are counted once there are any
		_, err = alice.Send(ctx, "g", client.Text("hello"))
	}
	labels := map[string]string{} // of each metric, with values
	harness.Eventually(t, time.Minute, "tasks have run", func() error {
		text, err := getBody(ctx, node.URL()+"/metrics")
		for _, m := range emitted.FindAllStringSubmatch(string(text), -1) {
			labels[strings.TrimSuffix(m[1], "_bucket")] += m[2] + ","
		}
		if err == nil && labels["chatd_task_runs_total"] == "" {
			err = errors.New("chatd_task_runs_total is not there")
		}
		return err
	})
	for name, expressions := range askedFor(t) {
		for _, e := range expressions {
			for _, metric := range asksFor.FindAllString(e, -1) {
				have, ok := labels[strings.TrimSuffix(metric, "_bucket")]
				if !ok {
					t.Errorf("%s: %s: no node emits %s", name, e, metric)
				}
				for _, m := range byLabel.FindAllStringSubmatch(e, -1) {
					for want := range strings.SplitSeq(m[1]+m[2], ", ") {
						if want != "instance" && !strings.Contains(have, want+`="`) {
							t.Errorf("%s: %s: %s has no label %q", name, e, metric, want)
						}
					}
				}
			}
		}
	}
}

// askedFor returns the expressions of each file.
func askedFor(t *testing.T) map[string][]string {
	t.Helper()
	read := func(path string) string { return string(must(os.ReadFile(path))(t)) }
	asked := map[string][]string{}
	find := func(name, text, pattern string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			asked[name] = append(asked[name], m[1])
		}
		if len(asked[name]) < 10 {
			t.Errorf("%s: found only %q", name, asked[name])
		}
	}
	find("alerts.yml", read(deployFolder+"alerts.yml"), `(?m)^ +expr: (.*chatd_.*)$`)
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal([]byte(read(deployFolder+"dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			asked["dashboard.json"] = append(asked["dashboard.json"], target.Expr)
		}
	}
	if len(asked["dashboard.json"]) == 0 {
		t.Error("the dashboard asks for nothing")
	}
	return asked
}
