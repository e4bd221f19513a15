package admin

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue"
)

//go:embed page.html page.css
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"count": grouped, "ago": func(t *time.Time, now time.Time) string { return Away(t.Sub(now)) }, "when": When, "stateName": stateName,
	"millis":  func(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() },
	"instant": Instant,
}).ParseFS(files, "page.html"))

// Pages configure Handler. The zero value is fine.
type Pages struct {
	NoLimits bool         // leave limits and parked tasks out: the application uses none
	Logger   *slog.Logger // of errors that are not the fault of the viewer; slog.Default by default
}

// Handler returns pages for operators: queues, tasks by state, dead letters, periodic tasks, limits and the totals of days,
// with forms to retry, delete, pause and run. They need no script in the browser. All links are relative, so it may be mounted
// at any path that ends in a slash:
//
//	mux.Handle("/tasks/", http.StripPrefix("/tasks", admin.Handler(tasks, admin.Pages{})))
//
// It does not ask who calls: put it behind whatever lets only operators pass. Forms that pages of other origins send are
// refused (http.CrossOriginProtection).
func Handler(tasks Tasks, o Pages) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return http.NewCrossOriginProtection().Handler(&site{tasks, o})
}

type site struct {
	tasks Tasks
	o     Pages
}

// view is what the templates show; each uses some of it.
type view struct {
	Page, Title, Notice, Problem string
	Limited                      bool
	Now                          time.Time

	States   []queue.State
	State    queue.State
	Queue    string
	Queues   []Queue
	Tasks    []Task
	Task     Task
	Periodic []Periodic
	Limits   []Limit
	Days     []Day
	Bulk     bool              // show the form for many
	More     map[string]string // the fields of a form that goes on with a change of many
	Next     string            // cursor of the next page
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	at := strings.TrimPrefix(r.URL.Path, "/")
	address, _, _ := strings.Cut(r.RequestURI, "?")
	show := map[string]func(context.Context, url.Values, *view) error{
		"": s.queues, "tasks": s.list, "task": s.task, "periodic": s.periodic, "limits": s.limits, "days": s.days,
	}[at]
	switch {
	case at == "act" && r.Method != http.MethodPost, at != "act" && r.Method != http.MethodGet && r.Method != http.MethodHead:
		s.refuse(w, r, http.StatusMethodNotAllowed, "This page does not take a "+r.Method+".")
	case at == "act":
		s.act(w, r)
	case at == "page.css":
		http.ServeFileFS(w, r, files, "page.css")
	case show == nil:
		s.refuse(w, r, http.StatusNotFound, "There is no such page.")
	case at == "" && !strings.HasSuffix(address, "/"): // its links would lead beside it
		redirect(w, path.Base(address)+"/")
	default:
		v := s.view(at)
		v.Notice = notice(r.URL.Query())
		if err := show(r.Context(), r.URL.Query(), v); err != nil {
			s.fail(w, r, err)
			return
		}
		s.render(w, http.StatusOK, v)
	}
}

func (s *site) view(name string) *view {
	return &view{Page: name, Limited: !s.o.NoLimits, Now: time.Now()}
}

// redirect does not use http.Redirect, which would make the target absolute without the path that this is mounted at.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

func (s *site) render(w http.ResponseWriter, status int, v *view) {
	var page bytes.Buffer
	if err := pages.ExecuteTemplate(&page, v.Page, v); err != nil {
		s.o.Logger.Error("queue: page", "page", v.Page, "error", err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w)
}

func (s *site) refuse(w http.ResponseWriter, _ *http.Request, status int, text string) {
	v := s.view("problem")
	v.Title, v.Problem = "That did not work", text
	s.render(w, status, v)
}

// fail shows an error. What is no fault of the caller is logged, and not shown in detail.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	for kind, status := range map[error]int{
		queue.ErrNotFound: http.StatusNotFound, queue.ErrConflict: http.StatusConflict, queue.ErrInvalid: http.StatusBadRequest,
	} {
		if errors.Is(err, kind) {
			s.refuse(w, r, status, err.Error())
			return
		}
	}
	s.o.Logger.ErrorContext(r.Context(), "queue: page", "path", r.URL.Path, "error", err)
	s.refuse(w, r, http.StatusServiceUnavailable, "The tasks cannot be reached.")
}

func (s *site) queues(ctx context.Context, _ url.Values, v *view) (err error) {
	v.Page, v.Title = "queues", "Queues"
	v.Queues, err = s.tasks.Queues(ctx)
	return err
}

func (s *site) list(ctx context.Context, q url.Values, v *view) (err error) {
	v.State, v.Queue = queue.State(q.Get("state")), q.Get("queue")
	v.Title = "All tasks"
	if v.State != "" {
		v.Title = map[queue.State]string{queue.Dead: "Dead letters", queue.Leased: "Running tasks"}[v.State]
	}
	if v.Title == "" {
		v.Title = strings.ToUpper(string(v.State[:1])) + string(v.State[1:]) + " tasks"
	}
	for _, state := range States {
		if v.Limited || state != queue.Parked {
			v.States = append(v.States, state)
		}
	}
	if v.Tasks, v.Next, err = s.tasks.List(ctx, Query{State: v.State, Queue: v.Queue, Cursor: q.Get("cursor")}); err != nil {
		return err
	}
	if v.Queues, err = s.tasks.Queues(ctx); err != nil {
		return err
	}
	v.Bulk = v.State == queue.Dead || v.State == queue.Delayed
	if q.Get("more") != "" {
		v.More = map[string]string{}
		for _, field := range []string{"act", "state", "queue", "kind", "error", "before", "more"} {
			v.More[field] = q.Get(field)
		}
	}
	return nil
}

func (s *site) task(ctx context.Context, q url.Values, v *view) (err error) {
	v.Title = "Task " + q.Get("id")
	v.Task, err = s.tasks.Task(ctx, q.Get("id"))
	return err
}

func (s *site) periodic(ctx context.Context, q url.Values, v *view) (err error) {
	v.Title = "Periodic tasks"
	v.Periodic, v.Next, err = s.tasks.Periodic(ctx, q.Get("cursor"), 0)
	return err
}

func (s *site) limits(ctx context.Context, q url.Values, v *view) (err error) {
	v.Title = "Limits"
	v.Limits, v.Next, err = s.tasks.Limits(ctx, q.Get("cursor"), 100)
	return err
}

func (s *site) days(ctx context.Context, _ url.Values, v *view) (err error) {
	v.Title = "Runs of the last 7 days"
	v.Days, err = s.tasks.Days(ctx, 7)
	return err
}

// done is what the notice after each act says; one of many tasks also says how many.
var done = map[string]string{
	"retry": "The task is ready.", "delete": "The task is deleted.", "pause": "The queue is paused.", "resume": "The queue is resumed.",
	"run-periodic": "An occurrence is enqueued.", "pause-periodic": "The periodic task is paused.",
	"resume-periodic": "The periodic task is resumed.", "delete-periodic": "The periodic task is deleted.",
	"retry-all": "tasks are ready.", "delete-all": "tasks are deleted.",
}

// notice reads what redirect wrote: words come from here alone, and not from a link that someone made.
func notice(q url.Values) string {
	text := done[q.Get("did")]
	if strings.HasSuffix(q.Get("did"), "-all") && text != "" {
		n, _ := strconv.ParseInt(q.Get("n"), 10, 64)
		text = grouped(n) + " " + text
	}
	return text
}

const formBytesMax = 64 << 10

// act does what a form asks for, and goes back to the page that has it.
func (s *site) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, formBytesMax)
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	ctx, id, act := r.Context(), r.PostForm.Get("id"), r.PostForm.Get("act")
	var err error
	switch act {
	case "retry":
		_, err = s.tasks.Retry(ctx, id)
	case "delete":
		err = s.tasks.Delete(ctx, id)
	case "pause", "resume":
		_, err = s.tasks.Pause(ctx, r.PostForm.Get("queue"), act == "pause")
	case "run-periodic":
		_, err = s.tasks.RunPeriodic(ctx, id)
	case "pause-periodic", "resume-periodic":
		_, err = s.tasks.PausePeriodic(ctx, id, act == "pause-periodic")
	case "delete-periodic":
		err = s.tasks.DeletePeriodic(ctx, id)
	case "retry-all", "delete-all":
		s.bulk(w, r, act)
		return
	default:
		err = invalid("act: no such act")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	redirect(w, back(r, act))
}

// back is the page that a form was on, with a notice; the list instead of a task that is gone.
func back(r *http.Request, act string) string {
	to, q := "./", url.Values{}
	if from, err := url.Parse(r.Referer()); err == nil {
		if name := path.Base(from.Path); slices.Contains([]string{"tasks", "task", "periodic"}, name) {
			to, q = name, from.Query()
		}
	}
	for _, field := range []string{"did", "n", "more", "act"} {
		q.Del(field)
	}
	if to == "task" && act == "delete" {
		to, q = "tasks", url.Values{}
	}
	q.Set("did", act)
	return to + "?" + q.Encode()
}

// bulk takes steps for about a second. If there are more tasks, the page that it leads to has a form that goes on.
func (s *site) bulk(w http.ResponseWriter, r *http.Request, act string) {
	f := r.PostForm
	b := Bulk{
		Queue: f.Get("queue"), State: queue.State(f.Get("state")), Kind: f.Get("kind"), Error: f.Get("error"), Cursor: f.Get("more"),
		Act: queue.BulkAct(strings.TrimSuffix(act, "-all")),
	}
	if before := f.Get("before"); before != "" {
		var err error
		if b.Before, err = time.Parse("2006-01-02T15:04", before); err != nil {
			s.fail(w, r, invalid("before: want a time such as 2026-11-23T10:00"))
			return
		}
	}
	changed, err := s.tasks.Bulk(r.Context(), b)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := url.Values{"queue": {b.Queue}, "state": {string(b.State)}, "did": {act}, "n": {strconv.FormatInt(changed.Changed, 10)}}
	if changed.Next != "" {
		for field, value := range map[string]string{"act": act, "kind": b.Kind, "error": b.Error, "before": f.Get("before"), "more": changed.Next} {
			q.Set(field, value)
		}
	}
	redirect(w, "tasks?"+q.Encode())
}

func stateName(state queue.State) string {
	if state == queue.Leased {
		return "running"
	}
	return string(state)
}

// grouped writes a number with a comma between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
