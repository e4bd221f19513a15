package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/queuetest"
)

// shown is a page that is mounted below a path, as an application would, in front of queues "mail" and "media".
type shown struct {
	t      *testing.T
	base   string
	redis  *queuetest.Redis
	server *queue.Server
	admin  *admin.Admin
}

const foreign = `550 <script>alert("x")</script> & more`

func show(t *testing.T, o admin.Pages) *shown {
	t.Helper()
	s := &shown{t: t, redis: queuetest.New(t)}
	options := s.redis.Options("")
	options.Queues = []queue.QueueOptions{{Name: "mail"}, {Name: "media"}}
	var queues []admin.Of
	for _, q := range options.Queues {
		client, err := queue.NewClient(s.redis.Options(q.Name))
		if err != nil {
			t.Fatal(err)
		}
		queues = append(queues, admin.Of{Name: q.Name, Client: client})
	}
	s.admin = admin.New(queues, nil)
	var err error
	if s.server, err = queue.New(options); err != nil {
		t.Fatal(err)
	}
	s.server.Handle("welcome", func(context.Context, queue.Task) error { return nil })
	s.server.Handle("invoice", func(context.Context, queue.Task) error { return queue.Bury(errors.New(foreign)) })
	mux := http.NewServeMux()
	mux.Handle("/inside/tasks/", http.StripPrefix("/inside/tasks", admin.Handler(s.admin, o)))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s.base = web.URL + "/inside/tasks/"
	return s
}

// bury makes n dead letters and returns their ids.
func (s *shown) bury(n int) (ids []string) {
	s.t.Helper()
	for range n {
		id, _, err := s.server.Enqueue(s.t.Context(), queue.Task{Kind: "invoice", Payload: []byte("words of a user")})
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	s.redis.RunAll(s.t.Context(), s.server)
	return ids
}

// page follows redirects, as a browser does, and returns where it ended.
func (s *shown) page(r *http.Request) (status int, address, body string) {
	s.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, answer.Request.URL.String(), string(text)
}

func (s *shown) get(at string) (status int, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.base+at, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	status, _, body = s.page(r)
	return status, body
}

// post sends a form as the page from does; header is what a browser adds.
func (s *shown) post(from string, header map[string]string, fields ...string) (status int, address, body string) {
	s.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"act", strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Referer", s.base+from)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return s.page(r)
}

func (s *shown) has(body string, want ...string) {
	s.t.Helper()
	for _, words := range want {
		if !strings.Contains(body, words) {
			s.t.Errorf("the page does not have %q:\n%s", words, body)
		}
	}
}

// TestPagesLeadToEachOther follows every link from the first page on: all of them exist, below the path of the mount.
func TestPagesLeadToEachOther(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	s.bury(2)
	if err := s.server.PutPeriodic(t.Context(), queue.Periodic{ID: "weekly", Cron: "0 8 * * MON", Kind: "welcome"}); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`(?:href|action)="([^"]*)"`)
	seen, left := map[string]bool{"act": true}, []string{""}
	for len(left) > 0 {
		at := left[0]
		left = left[1:]
		status, body := s.get(at)
		if status != http.StatusOK {
			t.Errorf("%s: %d", at, status)
		}
		for _, found := range link.FindAllStringSubmatch(body, -1) {
			to := strings.ReplaceAll(found[1], "&amp;", "&")
			if strings.Contains(to, "//") || strings.HasPrefix(to, "/") {
				t.Errorf("%s: the link %q does not stay below the mount", at, to)
			}
			if to = strings.TrimPrefix(to, "./"); !seen[to] {
				seen[to] = true
				left = append(left, to)
			}
		}
		if strings.Contains(body, "<script") || strings.Contains(body, "style=") || strings.Contains(body, "words of a user") {
			t.Errorf("%s has a script, a style or a payload:\n%s", at, body)
		}
	}
	for _, want := range []string{"page.css", "tasks?state=dead", "tasks?queue=mail&state=ready", "periodic", "limits", "days"} {
		if !seen[want] {
			t.Errorf("no link leads to %s", want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"tasks", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'self'") {
		t.Errorf("policy %q", policy)
	}
}

func TestFormsAct(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	ids := s.bury(4)
	_, body := s.get("tasks?state=dead")
	s.has(body, ids[0], ids[3], "550 &lt;script&gt;", "Retry all of them")

	status, address, body := s.post("tasks?state=dead&queue=mail", nil, "act", "retry", "id", ids[0])
	if s.has(body, "The task is ready."); status != http.StatusOK || address != s.base+"tasks?did=retry&queue=mail&state=dead" {
		t.Errorf("retry: %d %s", status, address)
	}
	if info, err := s.server.Get(t.Context(), ids[0]); err != nil || info.State != queue.Ready {
		t.Errorf("retried: %+v, %v", info, err)
	}
	_, address, _ = s.post("task?id="+ids[1], nil, "act", "delete", "id", ids[1])
	if _, err := s.server.Get(t.Context(), ids[1]); !errors.Is(err, queue.ErrNotFound) || address != s.base+"tasks?did=delete" {
		t.Errorf("deleted: %v, and leads to %s", err, address)
	}
	if status, _, body = s.post("tasks", nil, "act", "retry", "id", ids[0]); status != http.StatusConflict {
		t.Errorf("retry of a ready one: %d", status)
	}
	s.has(body, "already ready")
	if status, body = s.get("task?id=" + ids[1]); status != http.StatusNotFound {
		t.Errorf("a task that is gone: %d", status)
	}
	s.has(body, "no such task")

	s.post("", nil, "act", "pause", "queue", "media")
	if _, body = s.get(""); strings.Count(body, ">paused<") != 1 {
		t.Errorf("one queue is paused:\n%s", body)
	}
	s.post("", nil, "act", "resume", "queue", "media")
	if _, body = s.get(""); strings.Contains(body, ">paused<") {
		t.Errorf("resumed:\n%s", body)
	}
	for _, wrong := range [][]string{{"act", "bury"}, {"act", "pause", "queue", "nope"}, {"act", "retry-all", "queue", "mail", "state", "dead", "before", "x"}} {
		if status, _, _ := s.post("", nil, wrong...); status != http.StatusBadRequest && status != http.StatusNotFound {
			t.Errorf("%v: %d", wrong, status)
		}
	}
	if status, body := s.get("act"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET act: %d %s", status, body)
	}
}

// TestFormsActOnMany deletes more dead letters than one step takes, those with an error alone, and goes on where it stopped.
func TestFormsActOnMany(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	s.bury(250)
	_, _, body := s.post("tasks?state=dead", nil, "act", "delete-all", "queue", "mail", "state", "dead", "error", "no such error")
	s.has(body, "0 tasks are deleted.")
	at := time.Now().Add(-24 * time.Hour).UTC().Format("2006-01-02T15:04")
	_, _, body = s.post("tasks?state=dead", nil, "act", "retry-all", "queue", "mail", "state", "dead", "kind", "invoice", "before", at)
	s.has(body, "0 tasks are ready.")
	_, _, body = s.post("tasks?state=dead", nil, "act", "delete-all", "queue", "mail", "state", "dead", "error", "550")
	s.has(body, "250 tasks are deleted.", "There are none.")
	_, body = s.get("tasks?state=dead&queue=mail&did=delete-all&n=1234&act=delete-all&error=550&more=cursor")
	s.has(body, "1,234 tasks are deleted.", `<input type="hidden" name="more" value="cursor">`, `<input type="hidden" name="error" value="550">`)
}

// TestFormsOfOtherPagesAreRefused: a page of another origin can make the browser of an operator send a form.
func TestFormsOfOtherPagesAreRefused(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	id := s.bury(1)[0]
	for _, header := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
	} {
		if status, _, _ := s.post("tasks", header, "act", "delete", "id", id); status != http.StatusForbidden {
			t.Errorf("%v: %d", header, status)
		}
	}
	if _, err := s.server.Get(t.Context(), id); err != nil {
		t.Errorf("it was deleted: %v", err)
	}
	if status, _, _ := s.post("tasks", map[string]string{"Sec-Fetch-Site": "same-origin"}, "act", "delete", "id", id); status != http.StatusOK {
		t.Errorf("of the page itself: %d", status)
	}
}

// TestPeriodicTasksAndLimitsShow pauses, resumes, runs and deletes a periodic task, and names who has a slot.
func TestPeriodicTasksAndLimitsShow(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	ctx := t.Context()
	if err := s.server.PutPeriodic(ctx, queue.Periodic{ID: "weekly", Cron: "0 8 * * MON", Zone: "Europe/Berlin", Kind: "welcome"}); err != nil {
		t.Fatal(err)
	}
	slot, err := s.server.Hold(ctx, "account 7", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slot.Release(ctx) }()
	_, body := s.get("limits")
	s.has(body, "account 7")
	_, body = s.get("periodic")
	s.has(body, "weekly", "0 8 * * MON", "Europe/Berlin")
	_, address, body := s.post("periodic", nil, "act", "pause-periodic", "id", "weekly")
	if s.has(body, ">paused<"); address != s.base+"periodic?did=pause-periodic" {
		t.Errorf("pause leads to %s", address)
	}
	_, _, body = s.post("periodic", nil, "act", "resume-periodic", "id", "weekly")
	s.has(body, "is resumed")
	_, _, body = s.post("periodic", nil, "act", "run-periodic", "id", "weekly")
	s.has(body, "An occurrence is enqueued.")
	_, _, body = s.post("periodic", nil, "act", "delete-periodic", "id", "weekly")
	s.has(body, "There are none.")

	without := show(t, admin.Pages{NoLimits: true})
	if _, body := without.get(""); strings.Contains(body, "limits") || strings.Contains(body, "Parked") {
		t.Errorf("limits are shown:\n%s", body)
	}
}

// TestPagesSayWhenRedisIsAway without what only the log is for.
func TestPagesSayWhenRedisIsAway(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	if err := s.redis.Client.Close(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"", "tasks", "periodic", "limits", "days"} {
		status, body := s.get(at)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "cannot be reached") || strings.Contains(body, "closed") {
			t.Errorf("%s: %d %s", at, status, body)
		}
	}
}

// TestAMountWithoutASlashLeadsToOneWithIt: relative links would lead beside the mount.
func TestAMountWithoutASlashLeadsToOneWithIt(t *testing.T) {
	t.Parallel()
	s := show(t, admin.Pages{})
	w := httptest.NewRecorder()
	http.StripPrefix("/deep/tasks", admin.Handler(s.admin, admin.Pages{})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/deep/tasks?x=1", nil))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "tasks/" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
}

// ExampleHandler mounts the pages.
func ExampleHandler() {
	var tasks *admin.Admin // of admin.New
	mux := http.NewServeMux()
	mux.Handle("/tasks/", http.StripPrefix("/tasks", admin.Handler(tasks, admin.Pages{})))
	_, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, "/tasks/periodic", nil))
	fmt.Println(pattern)
	// Output: /tasks/
}
