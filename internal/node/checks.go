package node

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/internal/build"
	"github.com/chatd/chatd/store/conn"
)

// From when on something is a problem.
const (
	lateMax        = 10 * time.Second // that a task waits while workers are there
	lateCritical   = time.Minute
	archiveLateMax = time.Minute
	diskShareMin   = 0.1      // of the disk of the data, free
	diskShareLast  = 0.02     // from here on it is critical
	diskFreeEnough = 20 << 30 // bytes: a share of a large disk is a lot
	heldShare      = 0.5      // of the backlog that a group allows
	problemsOfKind = 20       // that are listed of one kind; more are one
)

// openHealth makes the service that finds what is wrong.
func (n *Node) openHealth() *health.Service {
	groups := &heldGroups{directory: n.services.Directory}
	return health.New(n.store, health.Options{
		Node: n.services.Notifications.Node(), Version: build.Read().Version, Sample: n.sample, Holds: n.holds, Now: time.Now, Log: n.log,
		Checks: []health.Check{
			{Name: "store", Look: n.checkStore}, {Name: "disk", Look: n.checkDisk}, {Name: "archive", Look: n.checkArchive},
			{Name: "files", Look: n.checkFiles}, {Name: "tasks", Look: n.checkTasks}, {Name: "webhooks", Look: n.checkWebhooks},
			{Name: "groups", Look: groups.check},
		},
	})
}

// sample is what this node has done so far.
func (n *Node) sample() health.Totals {
	t := n.meter.Totals()
	t.Sessions = int64(n.sessions.Count())
	return t
}

// criticalConditions are those of the server that users notice, or that lose something.
var criticalConditions = map[conn.ConditionKind]bool{conn.ConditionPersistence: true, conn.ConditionMemory: true, conn.ConditionReplica: true}

// storeProblems are the codes of the conditions of the server.
var storeProblems = map[conn.ConditionKind]health.Code{
	conn.ConditionPersistence: health.StorePersistence, conn.ConditionEviction: health.StoreEviction, conn.ConditionMemory: health.StoreMemory,
	conn.ConditionReplica: health.StoreReplica, conn.ConditionCoverage: health.StoreCoverage,
}

func (n *Node) checkStore(ctx context.Context, _ chat.Caller) (found []health.Problem, err error) {
	if err := n.store.Ready(ctx); err != nil {
		return []health.Problem{{Code: health.StoreAway, Severity: health.Critical, Detail: "the store does not answer, or takes no writes: nothing is sent and nothing is read",
			Fix: "start its server, or make room on its disk; chatd goes on by itself"}}, nil
	}
	conditions, err := n.store.Conn().Conditions(ctx)
	for _, c := range conditions {
		p := health.Problem{Code: storeProblems[c.Kind], Severity: health.Warning, Detail: c.Message, Fix: "change the settings of Redis as docs/operations.md says"}
		if criticalConditions[c.Kind] {
			p.Severity = health.Critical
		}
		found = append(found, p)
	}
	return found, err
}

// checkDisk looks at the disks on which this node writes: that of the embedded store, of SQLite, and of files.
func (n *Node) checkDisk(context.Context, chat.Caller) (found []health.Problem, err error) {
	dirs := map[string]string{}
	if n.store.server != nil {
		dirs["store"] = n.set.Data
	}
	if path, ok := strings.CutPrefix(n.set.Archive, "sqlite:"); ok && n.archiveDB != nil {
		dirs["archive"] = filepath.Dir(path)
	}
	if path, ok := strings.CutPrefix(n.set.Files, "dir:"); ok && n.blobs != nil {
		dirs["files"] = path
	}
	for _, part := range []string{"store", "archive", "files"} {
		dir := dirs[part]
		if dir == "" {
			continue
		}
		free, size, known := diskOf(dir)
		if p, low := lowDisk(free, size); known && low {
			p.Subject = part
			return []health.Problem{p}, nil // mostly they are on one disk
		}
	}
	return nil, nil
}

// lowDisk says what is wrong with a disk that is nearly full.
func lowDisk(free, size uint64) (p health.Problem, low bool) {
	share := float64(free) / math.Max(1, float64(size))
	if share >= diskShareMin || free >= diskFreeEnough {
		return p, false
	}
	p = health.Problem{Code: health.DiskLow, Severity: health.Warning, Fix: "make room, or move CHATD_DATA to a larger disk",
		Detail: fmt.Sprintf("%d MiB of the disk are free (%.0f %%); when it is full, nothing more can be sent", free>>20, 100*share)}
	if share < diskShareLast {
		p.Severity = health.Critical
	}
	return p, true
}

func (n *Node) checkArchive(context.Context, chat.Caller) (found []health.Problem, err error) {
	if at := n.archiver.AwaySince(); !at.IsZero() {
		since := chat.TimeMs(at.UnixMilli())
		return []health.Problem{{Code: health.ArchiveAway, Severity: health.Critical, Since: &since,
			Detail: "the database of the archive does not answer: older messages cannot be read or searched, and new ones wait in the store",
			Fix:    "start the database; chatd goes on by itself"}}, nil
	}
	if f := n.archiver.Stats(); f.Oldest > archiveLateMax {
		found = append(found, health.Problem{Code: health.ArchiveLate, Severity: health.Warning,
			Detail: fmt.Sprintf("%d messages of %d groups wait to be archived, the oldest for %s", f.Entries, f.Groups, f.Oldest.Round(time.Second)),
			Fix:    "look at the database and its disk; nothing is lost meanwhile"})
	}
	return found, nil
}

func (n *Node) checkFiles(ctx context.Context, _ chat.Caller) ([]health.Problem, error) {
	if n.services.Files.Ready(ctx) == nil {
		return nil, nil
	}
	return []health.Problem{{Code: health.FilesAway, Severity: health.Critical, Detail: "the folder or bucket of files cannot be reached: nothing is uploaded or downloaded",
		Fix: "see CHATD_FILES, its rights and its network"}}, nil
}

func (n *Node) checkTasks(ctx context.Context, _ chat.Caller) (found []health.Problem, err error) {
	queues, err := n.taskAdmin.Queues(ctx)
	if err != nil {
		return nil, chat.ErrUnavailable // the check of the store says so
	}
	for _, q := range queues {
		add := func(code health.Code, s health.Severity, fix, format string, args ...any) {
			found = append(found, health.Problem{Code: code, Severity: s, Subject: q.Queue, Detail: fmt.Sprintf(format, args...), Fix: fix})
		}
		late := time.Duration(q.OldestMs) * time.Millisecond
		switch {
		case q.Paused:
			add(health.QueuePaused, health.Warning, "chatd tasks resume "+q.Queue, "the queue is paused, with %d tasks waiting", q.ReadyAll())
		case late > lateMax:
			severity := health.Warning
			if late > lateCritical {
				severity = health.Critical
			}
			add(health.TasksLate, severity, "start more nodes, or see what the workers do: chatd tasks ls -state leased", "%d tasks wait, the oldest for %s", q.ReadyAll(), late.Round(time.Second))
		}
		if q.Dead > 0 {
			add(health.TasksDead, health.Warning, "mend the cause that chatd tasks ls -state dead shows, then chatd tasks retry", "%d tasks failed too often and were given up", q.Dead)
		}
		if len(q.Unserved) > 0 {
			add(health.TasksUnserved, health.Warning, "start a node of the version that knows them", "no node runs tasks of the kinds %s", strings.Join(q.Unserved, ", "))
		}
	}
	return found, nil
}

func (n *Node) checkWebhooks(ctx context.Context, by chat.Caller) (found []health.Problem, err error) {
	more := 0
	for after, first := "", true; first || after != ""; first = false {
		page, err := n.services.Webhooks.List(ctx, by, 0, after)
		if err != nil {
			return found, err
		}
		after = page.Next
		for _, w := range page.Items {
			if w.FailingSince == nil || w.DisabledAt != nil {
				continue
			}
			if len(found) == problemsOfKind {
				more++
				continue
			}
			cause := "it does not answer as it should"
			if w.LastError != nil {
				cause = *w.LastError
			}
			lost := ""
			if w.Dropped > 0 {
				lost = fmt.Sprintf(", %d events are lost", w.Dropped)
			}
			found = append(found, health.Problem{Code: health.WebhookFailing, Severity: health.Warning, Subject: w.ID, Since: w.FailingSince,
				Detail: fmt.Sprintf("%s; %d deliveries wait%s", cause, w.Waiting, lost),
				Fix:    "mend its backend: what waits is delivered then; or remove the webhook"})
		}
	}
	if more > 0 {
		found[len(found)-1].Detail += fmt.Sprintf("; %d webhooks more fail", more)
	}
	return found, nil
}

// heldGroups finds groups whose messages are kept for members who are far behind. There may be very many groups: each look is at the next
// ones of them, and again at the worst of those before. What was found is used for a while that grows with how long that took.
type heldGroups struct {
	directory interface {
		Held(ctx context.Context, by chat.Caller, limit int, cursor string) (directory.HeldPage, error)
		Rows(ctx context.Context, by chat.Caller, groups []string) ([]directory.Row, error)
	}

	mu    sync.Mutex
	next  string // cursor of the next look
	until time.Time
	found []directory.Row
}

// Bounds of how long what was found is used.
const (
	heldFor   = 5 * time.Second
	heldTimes = 30 // as long as it took
)

func (h *heldGroups) check(ctx context.Context, by chat.Caller) (found []health.Problem, err error) {
	rows, err := h.rows(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, g := range rows {
		if float64(g.Held) < heldShare*float64(g.BacklogMax) || !by.Reaches(g.ID) {
			continue
		}
		names := make([]string, len(g.Blockers))
		for i, b := range g.Blockers {
			names[i] = fmt.Sprintf("%s (%d behind)", b.User, b.Behind)
		}
		p := health.Problem{Code: health.GroupHeld, Severity: health.Warning, Subject: g.ID, Since: g.HeldSince,
			Detail: fmt.Sprintf("%d messages are kept for members who have not fetched them, of at most %d; slowest: %s", g.Held, g.BacklogMax, strings.Join(names, ", ")),
			Fix:    "see whether their clients still run; remove the members, or set overflow to drop: they then get a gap"}
		if g.Overflow == chat.OverflowBlock && g.Held >= g.BacklogMax {
			p.Severity, p.Detail = health.Critical, "sends are refused: "+p.Detail
		}
		found = append(found, p)
	}
	return found, nil
}

func (h *heldGroups) rows(ctx context.Context, by chat.Caller) ([]directory.Row, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	begin := time.Now()
	if begin.Before(h.until) {
		return h.found, nil
	}
	by.Reach = nil // what each caller may know is chosen from it
	page, err := h.directory.Held(ctx, by, problemsOfKind, h.next)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, g := range h.found {
		if !slices.ContainsFunc(page.Groups, func(r directory.Row) bool { return r.ID == g.ID }) {
			known = append(known, g.ID)
		}
	}
	again, err := h.directory.Rows(ctx, by, known)
	if err != nil {
		return nil, err
	}
	all := append(page.Groups, again...)
	slices.SortStableFunc(all, func(a, b directory.Row) int { return cmp.Compare(b.Held, a.Held) })
	now := time.Now()
	h.found, h.next, h.until = all[:min(len(all), problemsOfKind)], page.Next, now.Add(max(heldFor, heldTimes*now.Sub(begin)))
	return h.found, nil
}

// noteFailed remembers that a schedule sent nothing.
func (n *Node) noteFailed(ctx context.Context, t schedule.FailedTask, reason string) error {
	to := "group " + t.Group
	if t.Group == "" {
		to = "user " + t.User
	}
	r, _, err := n.store.Schedule(ctx, t.Schedule)
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return err
	}
	return n.services.Health.Remember(ctx, health.Problem{Code: health.ScheduleFailed, Severity: health.Warning, Subject: t.Schedule,
		Detail: fmt.Sprintf("a message of %s to %s was not sent: %s", t.Owner, to, reason),
		Fix:    "the owner was told; this is forgotten once the schedule sends, and a day after it failed"}, fmt.Sprint(r.Sent))
}

// failedSchedules are those that noteFailed was told of.
func (n *Node) failedSchedules(ctx context.Context) (failed []schedule.Failure, err error) {
	noted, err := n.services.Health.Remembered(ctx, health.ScheduleFailed)
	for _, p := range noted {
		failed = append(failed, schedule.Failure{ID: p.Subject, SinceMs: p.Since.UnixMilli()})
	}
	return failed, err
}

// holds tells whether the schedule that failed has sent nothing since.
func (n *Node) holds(ctx context.Context, p health.Problem) (bool, error) {
	r, _, err := n.store.Schedule(ctx, p.Subject)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return false, nil
	}
	return err == nil && r.LastError != "" && r.State != schedule.Cancelled, err
}
