package webhook

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of reporting attempts.
const (
	reportEvery = time.Minute // between two log lines, or two records of the same outcome, about a webhook on a node
	reportsMax  = 1000        // webhooks that a node remembers, including removed ones
)

// Health is the state of the deliveries to a webhook, over all nodes.
type Health struct {
	FailingSince  *chat.Time `json:"failing_since"` // nil: the last attempt succeeded, or there was none
	LastError     *string    `json:"last_error"`    // why the last failed attempt failed, in our own words; nil: none failed
	LastErrorAt   *chat.Time `json:"last_error_at"`
	LastSuccessAt *chat.Time `json:"last_success_at"`
	Waiting       int64      `json:"waiting"`       // deliveries that wait or run
	WaitingBytes  int64      `json:"waiting_bytes"` // their size in the store
	Dropped       int64      `json:"dropped"`       // lost events: too many were already waiting, or their entry was trimmed meanwhile
}

// reports remembers, by webhook, what a node has reported about its attempts.
type reports struct {
	mu   sync.Mutex
	last map[string]*report
}

// report is what was reported about one webhook.
type report struct {
	failing  bool
	recorded time.Time // when the outcome was last recorded
	logged   time.Time // when a failure was last logged
	losing   time.Time // when lost events were last logged
	lost     int64     // since then
	behind   time.Time // when it was last logged that it fell behind
	open     bool      // a failure was logged, and no success since
	failures int       // since then
}

// note counts an attempt and decides whether to record and log it.
func (r *reports) note(webhook string, failed bool, now time.Time) (record, log bool, failures int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(webhook)
	if record = known.failing != failed || now.Sub(known.recorded) >= reportEvery; record {
		known.failing, known.recorded = failed, now
	}
	if !failed {
		log = known.open
		known.open, known.failures = false, 0
		return record, log, 0
	}
	known.failures++
	if log = now.Sub(known.logged) >= reportEvery; log {
		failures, known.failures = known.failures, 0
		known.logged, known.open = now, true
	}
	return record, log, failures
}

// of returns the report of a webhook.
func (r *reports) of(webhook string) *report {
	if r.last == nil || len(r.last) > reportsMax {
		r.last = make(map[string]*report)
	}
	known := r.last[webhook]
	if known == nil {
		known = &report{}
		r.last[webhook] = known
	}
	return known
}

// noteLost counts lost events, and returns how many to log; 0: none yet.
func (r *reports) noteLost(webhook string, n int64, now time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(webhook)
	known.lost += n
	if now.Sub(known.losing) < reportEvery {
		return 0
	}
	n, known.lost, known.losing = known.lost, 0, now
	return n
}

// noteBehind decides whether to log that a webhook fell behind.
func (r *reports) noteBehind(webhook string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(webhook)
	log := now.Sub(known.behind) >= reportEvery
	if log {
		known.behind = now
	}
	return log
}

// reportLost logs the events that webhooks will never get, at most once a minute for each.
func (s *Service) reportLost(ctx context.Context, webhooks []Webhook, lost map[string]int64) {
	for _, w := range webhooks {
		if lost[w.ID] == 0 {
			continue
		}
		if n := s.reports.noteLost(w.ID, lost[w.ID], time.Now()); n > 0 {
			s.opt.Log.ErrorContext(ctx, "webhook events lost: too many deliveries are waiting", "webhook", w.ID, "host", hostOf(w.URL), "lost", n)
		}
	}
}

// reportBehind logs that webhooks fell behind, at most once a minute for each.
func (s *Service) reportBehind(ctx context.Context, webhooks []Webhook, behind []string) {
	for _, w := range webhooks {
		if slices.Contains(behind, w.ID) && s.reports.noteBehind(w.ID, time.Now()) {
			s.opt.Log.WarnContext(ctx, "webhook falls behind: its share of waiting deliveries is used up", "webhook", w.ID, "host", hostOf(w.URL))
		}
	}
}

// inUse counts the webhooks that are not disabled.
func inUse(webhooks []Webhook) int {
	n := 0
	for _, w := range webhooks {
		if w.DisabledAt == nil {
			n++
		}
	}
	return n
}

// report logs and records an attempt: the first of each outcome, and then at most one per minute. reason is empty if it
// succeeded. If recording fails, a later attempt records it.
func (s *Service) report(ctx context.Context, w Webhook, reason string) {
	failed := reason != ""
	record, log, failures := s.reports.note(w.ID, failed, time.Now())
	switch {
	case log && failed:
		s.opt.Log.WarnContext(ctx, "webhook delivery failed", "webhook", w.ID, "host", hostOf(w.URL), "reason", reason, "failures", failures)
	case log:
		s.opt.Log.InfoContext(ctx, "webhook deliveries succeed again", "webhook", w.ID, "host", hostOf(w.URL))
	}
	if !record {
		return
	}
	if err := s.store.RecordAttempt(ctx, w.ID, reason); err != nil {
		s.opt.Log.DebugContext(ctx, "the outcome of a delivery was not recorded", "webhook", w.ID, "error", err)
	}
}

// hostOf returns the only part of an address that may be logged: the rest may be a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Totals summarizes all webhooks.
type Totals struct {
	Failing      int64 // webhooks whose last attempt failed
	Waiting      int64 // deliveries that wait or run
	WaitingBytes int64
}

// Totals sums up the deliveries of all webhooks.
func (s *Service) Totals(ctx context.Context) (Totals, error) {
	all, err := s.store.WebhookHealth(ctx)
	if err != nil {
		return Totals{}, err
	}
	var sum Totals
	for _, h := range all {
		if h.FailingSince != nil {
			sum.Failing++
		}
		sum.Waiting += h.Waiting
		sum.WaitingBytes += h.WaitingBytes
	}
	return sum, nil
}
