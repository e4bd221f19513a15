package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

// Kinds of the tasks of webhooks. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskEvents  = "events" // EventsTask: a group has entries that were not published yet
	TaskEnded   = "ended"  // EndedTask: a group was deleted
	TaskDeliver = "hook"   // DeliveryTask: one delivery
	// WithdrawTask: entries lost their content, and deliveries that report them may wait
	TaskWithdraw = "withdraw"
)

// A failed delivery is retried after these pauses; then it becomes a dead letter (Standard Webhooks, "Deliverability
// and reliability").
var pauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Bounds of publishing.
const (
	callTimeout     = 30 * time.Second
	ageMax          = 4 * 24 * time.Hour // longer than all pauses: bounds deliveries that were never attempted because the endpoint is down
	unpublishedPage = 100                // entries of one step
	deliveriesMax   = 500                // deliveries of one step, and their size, unless a single entry makes more
	deliveryBytes   = 1 << 20            // the store takes about 4 ms for this much
	publishSteps    = 20                 // steps of one run: then other groups get their turn
	fullPause       = time.Second        // while too many deliveries wait
	listKept        = 10 * time.Second   // how long a node caches the list of webhooks, if it has not changed
)

// ErrFull means that the maximum of deliveries waits already, and none was added. Only the service sees it.
var ErrFull = errors.New("too many deliveries are waiting")

// Unpublished holds the oldest entries of a group that have not been published to webhooks yet.
type Unpublished struct {
	Epoch      string
	Generation int64 // counts how often the store went from no webhooks to some; 0: there are none
	Version    int64 // of the list of webhooks
	Published  int64 // the last published entry; -1: published to no webhook yet, or the webhook is not behind
	Others     int64 // the same for all webhooks that keep up
	Behind     []string
	Deleted    string // id of the newest deletion when Messages were read; empty: there was none
	Messages   []chat.Message
	Ended      map[int64]chat.Message // as they read: those whose streams end in Messages, as far as they are stored
}

// EventsTask names a group with unpublished entries: for the webhooks that keep up, or for one that is behind.
type EventsTask struct {
	Group   string `json:"group"`
	Epoch   string `json:"epoch"`
	Webhook string `json:"webhook,omitempty"`
}

// DeliveryTask is the delivery of one event to one webhook.
type DeliveryTask struct {
	Webhook string          `json:"webhook"`
	ID      string          `json:"id"`              // of the event: the same for every attempt
	Epoch   string          `json:"epoch,omitempty"` // of the group, if the event is an entry of its log
	Body    json.RawMessage `json:"body"`
	Entry   int64           `json:"-"` // the log entry that it reports
}

// EndedTask reports that a group was deleted, and which of its entries were not published before.
type EndedTask struct {
	Group       string            `json:"group"`
	Epoch       string            `json:"epoch"`
	By          string            `json:"by"`
	AtMs        int64             `json:"at_ms"`
	Unpublished []json.RawMessage `json:"untold"`
	// Behind is, for each webhook that was behind, how many entries it missed.
	Behind map[string]int64 `json:"behind"`
}

// Event is something that webhooks may subscribe to. Key is unique to it.
type Event struct {
	Type EventType
	Key  string
	At   chat.Time
	Data any

	epoch string // DeliveryTask.Epoch
}

// knownList caches the list of webhooks on a node.
type knownList struct {
	mu       sync.Mutex
	version  int64
	at       time.Time
	webhooks []Webhook
}

// deliveryKind is the kind of delivery tasks. They call external servers, so they have their own queue, timeout and
// attempts.
func (s *Service) deliveryKind() chat.TaskKind {
	kind := chat.HandleRun(s.deliver)
	kind.Queue, kind.Timeout, kind.AttemptsMax = chat.QueueEgress, callTimeout, len(pauses)+1
	return kind
}

// publishEntries makes the deliveries of a group's unpublished entries.
func (s *Service) publishEntries(ctx context.Context, t EventsTask, run chat.TaskRun) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	if t.Webhook != "" {
		return s.catchUp(ctx, t, run)
	}
	for range publishSteps {
		page, err := s.store.Unpublished(ctx, t.Group, "", unpublishedPage)
		if errors.Is(err, chat.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if page.Epoch != t.Epoch || page.Generation == 0 || len(page.Messages) == 0 {
			return nil
		}
		if first := page.Messages[0].ID; first > page.Published+1 {
			s.opt.Log.ErrorContext(ctx, "messages were trimmed before they were published to webhooks", "group", t.Group,
				"from", page.Published+1, "to", first-1)
		}
		webhooks, err := s.listAt(ctx, page.Version)
		if err != nil {
			return err
		}
		page.Messages = chat.LiveAll(page.Messages, s.opt.StoreNow())
		deliveries, to, err := deliveriesOf(page, slices.DeleteFunc(slices.Clone(webhooks), func(w Webhook) bool { return slices.Contains(page.Behind, w.ID) }))
		if err != nil {
			return fmt.Errorf("group %s: %w", t.Group, err)
		}
		behind, err := s.store.PublishEvents(ctx, t.Group, page, to, deliveries, inUse(webhooks))
		s.reportBehind(ctx, webhooks, behind)
		switch {
		case errors.Is(err, chat.ErrNotFound):
			return nil
		case errors.Is(err, ErrFull):
			return chat.Postpone(fullPause, nil)
		case err != nil && !errors.Is(err, chat.ErrConflict): // on a conflict, another run was faster, and there may be more
			return err
		}
	}
	return chat.Postpone(0, nil)
}

// listAt returns the list of webhooks at a version, or a later one.
func (s *Service) listAt(ctx context.Context, version int64) ([]Webhook, error) {
	l := &s.known
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version == version && time.Since(l.at) < listKept {
		return l.webhooks, nil
	}
	webhooks, now, err := s.store.AllWebhooks(ctx)
	if err != nil {
		return nil, err
	}
	l.webhooks, l.version, l.at = webhooks, now, time.Now()
	return webhooks, nil
}

// deliveriesOf makes the deliveries of the first entries of a page, up to the entry `to`.
func deliveriesOf(page Unpublished, webhooks []Webhook) (deliveries []DeliveryTask, to int64, err error) {
	bytes := 0
	for _, m := range page.Messages {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return nil, 0, fmt.Errorf("message %d of an event: %w", m.ID, err)
		}
		var more []DeliveryTask
		events := eventsOf(e, page.Epoch, m.JSON)
		switch {
		case e.Kind == chat.Edit && e.Stream != "":
			events = []Event{createdEvent(e, page)}
		case e.Kind == chat.Text && streamed(e, m):
			events = nil // its event comes with its end
		}
		for _, event := range events {
			more = append(more, event.deliveries(webhooks)...)
		}
		if len(more) > 0 {
			bytes += len(more) * len(more[0].Body) // all have the same body, but for the user
		}
		if len(deliveries) > 0 && (len(deliveries)+len(more) > deliveriesMax || bytes > deliveryBytes) {
			break
		}
		for i := range more {
			more[i].Entry = m.ID
		}
		deliveries, to = append(deliveries, more...), m.ID
	}
	return deliveries, to, nil
}

// streamed tells whether a text was, or is being, written piece by piece, and not edited since: then it has the edit that ended it, and no
// time of an edit.
func streamed(e chat.Entry, m chat.Message) bool {
	return e.Stream != "" || len(m.Edits) > 0 && e.EditedAt == nil && e.DeletedAt == nil
}

// createdEvent is the event of a message whose stream ends with an entry: it is whole now.
func createdEvent(end chat.Entry, page Unpublished) Event {
	m := chat.Entry{ID: end.Target, Group: end.Group, From: end.From, Via: end.Via, SentAt: end.SentAt,
		Content: chat.Content{Kind: chat.Text, Body: end.Body, Data: end.Data}}
	raw := page.Ended[end.Target].JSON
	if len(raw) == 0 { // the log has trimmed it
		raw = chat.Encode(m)
	}
	return Event{Type: EventMessageCreated, Key: entryKey(page.Epoch, end.Target), At: end.SentAt, Data: json.RawMessage(raw), epoch: page.Epoch}
}

// entryKey is the Key of the event that reports an entry.
func entryKey(epoch string, id int64) string { return fmt.Sprintf("%s %d", epoch, id) }

// eventsOf are the events that report an entry with this JSON: one, or none; one for each user whom a notice names.
func eventsOf(e chat.Entry, epoch string, raw json.RawMessage) []Event {
	event := Event{Type: eventOf(e), Key: entryKey(epoch, e.ID), At: e.SentAt, Data: raw, epoch: epoch}
	switch {
	case event.Type == "":
		return nil
	case len(e.Users) == 0:
		return []Event{event}
	}
	events := make([]Event, len(e.Users))
	for i, user := range e.Users {
		one := e
		one.User, one.Users = user, nil
		events[i] = event
		events[i].Key, events[i].Data = event.Key+" "+user, json.RawMessage(chat.Encode(one))
	}
	return events
}

// eventOf names the event of an entry; empty: none.
func eventOf(e chat.Entry) EventType {
	switch e.Kind {
	case chat.Text, chat.Data:
		return EventMessageCreated
	case chat.Edit:
		return EventMessageEdited
	case chat.Delete:
		if len(e.Erased) == 0 { // else these had no content any more
			return EventMessageDeleted
		}
	case chat.Reaction:
	case chat.Notice:
		switch e.Notice {
		case chat.NoticeCreated:
			return EventGroupCreated
		case chat.NoticeJoined:
			return EventMemberJoined
		case chat.NoticeLeft, chat.NoticeRemoved:
			return EventMemberLeft
		case chat.NoticeBanned:
			return EventMemberBanned
		case chat.NoticeMuted:
			return EventMemberMuted
		case chat.NoticePinned:
			return EventMessagePinned
		case chat.NoticeUnpinned:
			return EventMessageUnpinned
		}
	}
	return ""
}

// deliveries makes one for each webhook that wants the event.
func (e Event) deliveries(webhooks []Webhook) []DeliveryTask {
	var tasks []DeliveryTask
	var body []byte
	for _, w := range webhooks {
		if !w.wants(e.Type) {
			continue
		}
		if body == nil {
			body = e.body()
		}
		tasks = append(tasks, DeliveryTask{Webhook: w.ID, ID: eventID(w.ID, e.Type, e.Key), Epoch: e.epoch, Body: body})
	}
	return tasks
}

// body is what a webhook gets.
func (e Event) body() []byte {
	return chat.Encode(struct {
		Type      EventType `json:"type"`
		Timestamp chat.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{e.Type, e.At, e.Data})
}

// eventID names an event to a webhook.
func eventID(webhook string, what EventType, key string) string {
	return "evt_" + chat.Hash([]byte(webhook), []byte(what), []byte(key))
}

// Publish makes the deliveries of events that are in no log; subject is the group or user they are about. It may be
// repeated: the deliveries keep their ids, and those that still wait are not duplicated. Events that a webhook has no
// room for are lost, and counted.
func (s *Service) Publish(ctx context.Context, subject string, events ...Event) error {
	return s.publish(ctx, subject, nil, events...)
}

func (s *Service) publish(ctx context.Context, subject string, missed map[string]int64, events ...Event) error {
	webhooks, _, err := s.store.AllWebhooks(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(missed, func(id string, _ int64) bool {
		return !slices.ContainsFunc(webhooks, func(w Webhook) bool { return w.ID == id && w.DisabledAt == nil })
	})
	for _, e := range events {
		deliveries := e.deliveries(webhooks)
		if len(deliveries)+len(missed) == 0 {
			continue
		}
		lost, err := s.store.Publish(ctx, subject, deliveries, missed, inUse(webhooks))
		if err != nil {
			return err
		}
		missed = nil
		s.reportLost(ctx, webhooks, lost)
	}
	return nil
}

// publishEnded publishes the last entries of a deleted group, and its deletion.
func (s *Service) publishEnded(ctx context.Context, t EndedTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch, t.By); err != nil {
		return err
	}
	at := chat.TimeMs(t.AtMs)
	// Waiting deliveries first: those made now have no content.
	if err := s.withdrawGroup(ctx, t.Group, t.Epoch, at); err != nil {
		return err
	}
	var events []Event
	for _, raw := range t.Unpublished {
		var e chat.Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("a message of the deleted group %s: %w", t.Group, err)
		}
		events = append(events, eventsOf(e, t.Epoch, left(e, false, at))...)
	}
	events = append(events, Event{Type: EventGroupDeleted, Key: t.Epoch, At: at, Data: struct {
		Group     string    `json:"group"`
		From      string    `json:"from"`
		DeletedAt chat.Time `json:"deleted_at"`
	}{t.Group, t.By, at}})
	return s.publish(ctx, t.Group, t.Behind, events...)
}

// named is the body of a delivery with the names of its people as they are now. They are not stored with it: who is erased meanwhile has none.
func (s *Service) named(ctx context.Context, body json.RawMessage) []byte {
	if s.Profiles == nil || len(body) == 0 || body[len(body)-1] != '}' {
		return body
	}
	var event struct{ Data json.RawMessage }
	if json.Unmarshal(body, &event) != nil {
		return body
	}
	names := s.Profiles(ctx, event.Data)
	if len(names) == 0 {
		return body
	}
	return slices.Concat(body[:len(body)-1], []byte(`,"profiles":`), names, []byte{'}'})
}

// deliver makes one attempt of a delivery. A webhook that was removed or disabled meanwhile gets nothing.
func (s *Service) deliver(ctx context.Context, t DeliveryTask, run chat.TaskRun) error {
	if !chat.ValidID(t.Webhook) || t.ID == "" {
		return chat.Invalid("a task names no valid webhook")
	}
	if s.sender == nil {
		return chat.Errorf(chat.CodeUnavailable, "this node does not make deliveries")
	}
	w, err := s.store.Webhook(ctx, t.Webhook)
	if errors.Is(err, chat.ErrNotFound) || err == nil && w.DisabledAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	out := s.sender.Webhook(ctx, Call{Owner: w.owner(), URL: w.URL, ID: t.ID, Body: s.named(ctx, t.Body), Secrets: w.signing(s.opt.Now())})
	switch {
	case out.Verdict == Delivered:
		s.report(ctx, w, "")
		return nil
	case out.Verdict == Gone && out.Status == 410:
		s.report(ctx, w, out.Cause)
		return s.disable(ctx, w, out)
	case out.Verdict == Busy && time.Since(run.Enqueued) > ageMax:
		return chat.Invalid("its endpoint was unavailable for %s", ageMax)
	case out.Verdict == Busy:
		return chat.Postpone(out.After, nil)
	case ctx.Err() != nil:
		return ctx.Err() // the node stops, or the task was cancelled: not the endpoint's fault
	}
	s.report(ctx, w, out.Cause)
	return chat.Postpone(max(out.After, pauseAfter(run.Failed)), chat.Errorf(chat.CodeUnavailable, "%s", out.Cause))
}

// disable disables a webhook whose endpoint answered that it is gone.
func (s *Service) disable(ctx context.Context, w Webhook, out Outcome) error {
	now := chat.TimeMs(s.opt.Now())
	w.DisabledAt = &now
	err := s.store.SwapWebhook(ctx, w, false, audit.Entry{})
	if err != nil {
		return err // if it changed meanwhile, the next attempt checks again
	}
	s.opt.Log.WarnContext(ctx, "webhook disabled: its endpoint answered that it is gone", "webhook", w.ID, "status", out.Status)
	return s.store.SpreadWebhooks(ctx)
}

// pauseAfter returns how long to wait after the given number of earlier failures, up to a tenth longer at random, so
// that deliveries that failed together do not retry together.
func pauseAfter(failed int) time.Duration {
	pause := pauses[min(failed, len(pauses)-1)]
	return pause + rand.N(pause/10)
}
