package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Kinds of the tasks of webhooks.
const (
	TaskEvents = "events" // GroupTask: a group has entries that webhooks were not told of
	TaskEnded  = "ended"  // EndedTask: a group was deleted
	TaskHook   = "hook"   // HookTask: one delivery
)

// A delivery that failed is tried again after these pauses; then it is a dead letter (Standard Webhooks, "Deliverability
// and reliability").
var hookPauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Bounds of telling.
const (
	hookTimeout   = 30 * time.Second
	hookAgeMax    = 4 * 24 * time.Hour // longer than all pauses: what was never tried because its endpoint is away ends too
	untoldPage    = 100                // entries of one step
	deliveriesMax = 500                // deliveries of one step, and their size: unless a single entry makes more
	deliveryBytes = 1 << 20            // the store takes about 4 ms for so much
	toldSteps     = 20                 // steps of one run: then other groups have their turn
	fullPause     = time.Second        // while too many deliveries wait
	hooksKept     = 10 * time.Second   // how long a node goes on with the list of webhooks that it read, if it did not change
)

// ErrHooksFull tells that as many deliveries wait as may.
var ErrHooksFull = &Error{Code: CodeUnavailable, Message: "as many deliveries wait as may"}

// Untold are the oldest entries of a group that webhooks were not told of.
type Untold struct {
	Epoch      string
	Generation int64 // which time in the life of the store that there are webhooks; 0: there are none
	Version    int64 // of the list of webhooks
	Told       int64 // up to which entry they were told
	Messages   []Message
}

// HookTask is the delivery of one event to one webhook.
type HookTask struct {
	Webhook string          `json:"webhook"`
	ID      string          `json:"id"` // of what is delivered: the same for every attempt
	Body    json.RawMessage `json:"body"`
}

// EndedTask tells that a group was deleted, and of the entries that nobody was told of before.
type EndedTask struct {
	Group  string            `json:"group"`
	Epoch  string            `json:"epoch"`
	By     string            `json:"by"`
	AtMs   int64             `json:"at_ms"`
	Untold []json.RawMessage `json:"untold"`
}

// HookEvent is something that webhooks are told of. Key tells it from all others.
type HookEvent struct {
	Type EventType
	Key  string
	At   Time
	Data any
}

// hookList is what a node last read of the webhooks.
type hookList struct {
	mu      sync.Mutex
	version int64
	at      time.Time
	hooks   []Webhook
}

// hookKind is the kind of deliveries: outside, so it has a queue, a bound and attempts of its own.
func (s *Service) hookKind() TaskKind {
	kind := HandleRun(s.callHook)
	kind.Queue, kind.Timeout, kind.AttemptsMax = QueueEgress, hookTimeout, len(hookPauses)+1
	return kind
}

// tellEvents makes the deliveries of the entries of a group that webhooks were not told of yet.
func (s *Service) tellEvents(ctx context.Context, t GroupTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	for range toldSteps {
		page, err := s.stores.Untold(ctx, t.Group, untoldPage)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if page.Epoch != t.Epoch || page.Generation == 0 || len(page.Messages) == 0 {
			return nil
		}
		if first := page.Messages[0].ID; first > page.Told+1 {
			s.opt.Log.ErrorContext(ctx, "messages were trimmed before webhooks were told of them", "group", t.Group,
				"from", page.Told+1, "to", first-1)
		}
		hooks, err := s.hooksAt(ctx, page.Version)
		if err != nil {
			return err
		}
		deliveries, to, err := deliveriesOf(page, hooks)
		if err != nil {
			return fmt.Errorf("group %s: %w", t.Group, err)
		}
		err = s.stores.TellEvents(ctx, t.Group, page, to, deliveries)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil
		case err == error(ErrHooksFull): //nolint:errorlint // errors.Is would take every unavailable for it
			return Postpone(fullPause, nil)
		case err != nil && !errors.Is(err, ErrConflict): // a conflict: another run was faster, and there may be more
			return err
		}
	}
	return Postpone(0, nil)
}

// hooksAt is the list of webhooks at a version, or a later one.
func (s *Service) hooksAt(ctx context.Context, version int64) ([]Webhook, error) {
	l := &s.hooks
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version == version && time.Since(l.at) < hooksKept {
		return l.hooks, nil
	}
	hooks, now, err := s.stores.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	l.hooks, l.version, l.at = hooks, now, time.Now()
	return hooks, nil
}

// deliveriesOf makes the deliveries of the first entries of a page, up to the entry that is returned.
func deliveriesOf(page Untold, hooks []Webhook) (deliveries []HookTask, to int64, err error) {
	bytes := 0
	for _, m := range page.Messages {
		var e Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return nil, 0, fmt.Errorf("message %d of an event: %w", m.ID, err)
		}
		var more []HookTask
		if what := eventOf(e); what != "" {
			event := HookEvent{Type: what, Key: fmt.Sprintf("%s %d", page.Epoch, m.ID), At: e.SentAt, Data: json.RawMessage(m.JSON)}
			more = event.deliveries(hooks)
		}
		if len(more) > 0 {
			bytes += len(more) * len(more[0].Body) // all have the same
		}
		if len(deliveries) > 0 && (len(deliveries)+len(more) > deliveriesMax || bytes > deliveryBytes) {
			break
		}
		deliveries, to = append(deliveries, more...), m.ID
	}
	return deliveries, to, nil
}

// eventOf names the event of an entry; empty: none.
func eventOf(e Entry) EventType {
	switch e.Kind {
	case Text, Data:
		return EventMessageCreated
	case Edit:
		return EventMessageEdited
	case Delete:
		return EventMessageDeleted
	case Reaction:
	case Notice:
		switch e.Notice {
		case NoticeCreated:
			return EventGroupCreated
		case NoticeJoined:
			return EventMemberJoined
		case NoticeLeft, NoticeRemoved:
			return EventMemberLeft
		}
	}
	return ""
}

// deliveries makes one for each webhook that wants to know.
func (e HookEvent) deliveries(hooks []Webhook) []HookTask {
	var tasks []HookTask
	var body []byte
	for _, w := range hooks {
		if !w.wants(e.Type) {
			continue
		}
		if body == nil {
			body = Encode(struct {
				Type      EventType `json:"type"`
				Timestamp Time      `json:"timestamp"`
				Data      any       `json:"data"`
			}{e.Type, e.At, e.Data})
		}
		id := "evt_" + Hash([]byte(w.ID), []byte(e.Type), []byte(e.Key))
		tasks = append(tasks, HookTask{Webhook: w.ID, ID: id, Body: body})
	}
	return tasks
}

// TellHooks makes the deliveries of events that are in no log; subject is the group or user they are about. Repeating it
// while the deliveries wait does no harm, and later their ids are still the same.
func (s *Service) TellHooks(ctx context.Context, subject string, events ...HookEvent) error {
	hooks, _, err := s.stores.Webhooks(ctx)
	if err != nil {
		return err
	}
	for _, e := range events {
		var tasks []NewTask
		for _, t := range e.deliveries(hooks) {
			tasks = append(tasks, NewTask{Queue: QueueEgress, Kind: TaskHook, Subject: subject, Key: t.ID, Payload: t, Priority: PriorityNormal})
		}
		if err := s.stores.Enqueue(ctx, tasks...); err != nil {
			return err
		}
	}
	return nil
}

// tellEnded tells of the last entries of a deleted group, and of its end.
func (s *Service) tellEnded(ctx context.Context, t EndedTask) error {
	if err := CheckTask(t.Group, t.Epoch, t.By); err != nil {
		return err
	}
	var events []HookEvent
	for _, raw := range t.Untold {
		var e Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("a message of the deleted group %s: %w", t.Group, err)
		}
		if what := eventOf(e); what != "" {
			events = append(events, HookEvent{Type: what, Key: fmt.Sprintf("%s %d", t.Epoch, e.ID), At: e.SentAt, Data: raw})
		}
	}
	at := TimeMs(t.AtMs)
	events = append(events, HookEvent{Type: EventGroupDeleted, Key: t.Epoch, At: at, Data: struct {
		Group     string `json:"group"`
		From      string `json:"from"`
		DeletedAt Time   `json:"deleted_at"`
	}{t.Group, t.By, at}})
	return s.TellHooks(ctx, t.Group, events...)
}

// callHook makes one attempt of a delivery. What was removed or disabled meanwhile gets nothing.
func (s *Service) callHook(ctx context.Context, t HookTask, run TaskRun) error {
	if !ValidID(t.Webhook) || t.ID == "" {
		return Invalid("a task names no valid webhook")
	}
	if s.opt.Sender == nil {
		return Errorf(CodeUnavailable, "this node does not make deliveries")
	}
	w, err := s.stores.Webhook(ctx, t.Webhook)
	if errors.Is(err, ErrNotFound) || err == nil && w.DisabledAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	out := s.opt.Sender.Webhook(ctx, HookCall{URL: w.URL, ID: t.ID, Body: t.Body, Secrets: w.signing(s.opt.Now())})
	switch {
	case out.Verdict == Delivered:
		return nil
	case out.Verdict == Gone && out.Status == 410:
		return s.disableWebhook(ctx, w, out)
	case out.Verdict == Busy && time.Since(run.Enqueued) > hookAgeMax:
		return Invalid("its endpoint was away for %s", hookAgeMax)
	case out.Verdict == Busy:
		return Postpone(out.After, nil)
	case ctx.Err() != nil:
		return ctx.Err() // the node stops, or the task was cancelled: that is no failure of the endpoint
	}
	s.opt.Log.DebugContext(ctx, "a webhook was not delivered", "webhook", w.ID, "id", t.ID, "cause", out.Cause)
	return Postpone(max(out.After, hookPause(run.Failed)), Errorf(CodeUnavailable, "%s", out.Cause))
}

// disableWebhook ends a webhook whose endpoint says that it is gone.
func (s *Service) disableWebhook(ctx context.Context, w Webhook, out Outcome) error {
	now := TimeMs(s.opt.Now())
	w.DisabledAt = &now
	err := s.stores.SwapWebhook(ctx, w, false)
	if err != nil {
		return err // changed meanwhile: the next attempt looks again
	}
	s.opt.Log.WarnContext(ctx, "a webhook was disabled: its endpoint says that it is gone", "webhook", w.ID, "status", out.Status)
	return s.stores.SpreadWebhooks(ctx)
}

// hookPause is how long to wait after a number of failures before this one, up to a tenth longer so that what failed
// together does not come back together.
func hookPause(failed int) time.Duration {
	pause := hookPauses[min(failed, len(hookPauses)-1)]
	return pause + rand.N(pause/10)
}
