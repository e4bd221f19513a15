package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// demoRun is a `chatd demo` that has printed its links.
type demoRun struct {
	cmd   *exec.Cmd
	ended chan error
	temp  string            // its folder for temporary files
	url   string            // of the server
	links map[string]string // of people, by their ids
	names map[string]string
	hint  []string // the command that shows what is wrong, as it is printed
}

var demoLink = regexp.MustCompile(`^\s*((http://[\d.:]+)/#code=([\w-]+)&user=([\w-]+))\s+(.+)$`)

// startDemo runs `chatd demo` until it says what to try. Settings in its environment change nothing.
func startDemo(ctx context.Context, t *testing.T, args ...string) *demoRun {
	t.Helper()
	d := &demoRun{ended: make(chan error, 1), temp: t.TempDir(), links: map[string]string{}, names: map[string]string{}}
	d.cmd = exec.CommandContext(ctx, harness.Binary(t), append([]string{"demo", "-addr", redistest.FreeAddr(t)}, args...)...)
	d.cmd.Env = []string{"TMPDIR=" + d.temp, "PATH=" + os.Getenv("PATH"), "CHATD_REDIS=redis://127.0.0.1:1", "CHATD_JWT_ISSUER=nobody"}
	var log bytes.Buffer
	d.cmd.Stderr = &log
	out := must(d.cmd.StdoutPipe())(t)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); d.hint == nil && lines.Scan(); {
		if _, hint, is := strings.Cut(lines.Text(), "chatd status"); is {
			d.hint = append([]string{"status"}, strings.Fields(hint)...)
		}
		if found := demoLink.FindStringSubmatch(lines.Text()); found != nil {
			d.url, d.links[found[4]], d.names[found[4]] = found[2], found[1], found[5]
		}
	}
	go func() { d.ended <- d.cmd.Wait() }()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("chatd demo wrote:\n%s", log.String())
		}
	})
	return d
}

// signIn does what the page does with the link of a person.
func (d *demoRun) signIn(ctx context.Context, t *testing.T, user string) *client.Client {
	t.Helper()
	found := demoLink.FindStringSubmatch(d.links[user] + "  " + user)
	if found == nil {
		t.Fatalf("there is no link for %s in %v", user, d.links)
	}
	body, _ := json.Marshal(map[string]string{"code": found[3], "user": found[4]})
	r := must(http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/v1/dev/token", bytes.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	answer := must(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	var signed struct{ Token string }
	if err := json.NewDecoder(answer.Body).Decode(&signed); err != nil || signed.Token == "" {
		t.Fatalf("the link of %s: %s, %v", user, answer.Status, err)
	}
	return must(client.New(d.url, client.StaticToken(signed.Token)))(t)
}

// stop ends the demo by a signal, with success; it leaves nothing.
func (d *demoRun) stop(t *testing.T, by os.Signal) {
	t.Helper()
	_ = d.cmd.Process.Signal(by)
	if err := <-d.ended; err != nil {
		t.Errorf("after %s: %v", by, err)
	}
	if left := must(os.ReadDir(d.temp))(t); len(left) != 0 {
		t.Errorf("the demo leaves %v", left)
	}
}

// TestDemo: the links sign people in, again and again, in a world that has what a colleague should see, and troubles that the operator
// finds.
func TestDemo(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 5*time.Minute)
	d := startDemo(ctx, t, "-members", "1000")
	names := map[string]string{"alice": "Alice Martin", "wangwei": "王伟", "zoe": "Zoë Janssen", "amina": "أمينة حداد", "mateo": "Mateo Silva", "operator": "Operator"}
	if len(d.links) != len(names) {
		t.Fatalf("got links %v, want one for each of %v", d.links, names)
	}
	for user, name := range names {
		me := must(d.signIn(ctx, t, user).Me(ctx))(t)
		if me.User != user || me.Name != name || d.names[user] != name || (me.Role == "admin") != (user == "operator") || (me.Picture == "") != (user == "operator") {
			t.Errorf("the link of %s signs in %+v", user, me)
		}
	}
	alice, operator := d.signIn(ctx, t, "alice"), d.signIn(ctx, t, "operator")
	groups := must(alice.Groups(ctx, client.Page{Limit: 100}))(t)
	unread, past := 0, time.Time{}
	for _, g := range groups.Groups {
		if g.Unread > 0 {
			unread++
		}
		switch g.ID {
		case "trailmap-2":
			if g.Unread != 3 || g.MentionsUnread != 1 {
				t.Errorf("the release: got %d unread and %d mentions", g.Unread, g.MentionsUnread)
			}
			past = must(alice.Messages(ctx, g.ID, client.Range{After: client.At(0), Limit: 20}))(t).Messages[10].SentAt
		case "support":
			if g.Last < 400 {
				t.Errorf("the long history ends at %d", g.Last)
			}
		}
	}
	if unread < 5 || time.Since(past) < 48*time.Hour {
		t.Errorf("%d groups are unread, and the conversation began at %s", unread, past)
	}
	kinds := map[string]int{}
	for _, item := range must(alice.Inbox(ctx, nil, 100))(t).Items {
		kinds[item.Kind]++
	}
	if kinds["mention"] == 0 || kinds["direct"] == 0 || kinds["announcement"] != 1 {
		t.Errorf("the inbox has %v", kinds)
	}
	if plans, _, err := alice.Schedules(ctx, client.Page{}); err != nil || len(plans) != 2 {
		t.Errorf("got schedules %v, %v", plans, err)
	}
	harness.Eventually(t, time.Minute, "the operator finds the troubles", func() error {
		all, err := operator.Problems(ctx)
		for _, want := range []string{"webhook_failing answered 500", "webhook_failing answered 403", "tasks_dead 6 tasks", "group_held warehouse-sync", "schedule_failed mateo"} {
			code, detail, _ := strings.Cut(want, " ")
			if !slices.ContainsFunc(all, func(p client.OpsProblem) bool { return p.Code == code && strings.Contains(p.Detail, detail) }) && err == nil {
				err = fmt.Errorf("%s is not among %+v", want, all)
			}
		}
		return err
	})
	status := exec.CommandContext(ctx, harness.Binary(t), d.hint...)
	status.Env = []string{"PATH=" + os.Getenv("PATH")}
	if out, _ := status.CombinedOutput(); status.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "tasks_dead egress") {
		t.Errorf("chatd %s: exit code %d, %s", strings.Join(d.hint, " "), status.ProcessState.ExitCode(), out)
	}
	harness.Eventually(t, 4*time.Minute, "the community has 1,000 members", func() error {
		g, err := operator.Group(ctx, "community")
		if err == nil && g.Members != 1000 {
			err = fmt.Errorf("got %d", g.Members)
		}
		return err
	})
	harness.Eventually(t, time.Minute, "somebody says something", func() error {
		g, err := alice.Group(ctx, "trailmap-2")
		if err == nil && g.Unread == 3 {
			err = errors.New("nobody does")
		}
		return err
	})
	d.stop(t, syscall.SIGINT)
}

// TestDemoIsInterrupted while the community still grows.
func TestDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	d := startDemo(bounded(t, time.Minute), t, "-quiet")
	d.stop(t, syscall.SIGTERM)
}
