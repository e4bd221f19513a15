package chat

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventType names what an application is told of.
type EventType string

// The events.
const (
	EventMessageCreated EventType = "message.created"
	EventMessageEdited  EventType = "message.edited"
	EventMessageDeleted EventType = "message.deleted"
	EventMemberJoined   EventType = "member.joined"
	EventMemberLeft     EventType = "member.left"
	EventGroupCreated   EventType = "group.created"
	EventGroupDeleted   EventType = "group.deleted"
	EventScheduleFailed EventType = "schedule.failed"
)

var eventTypes = []EventType{EventMessageCreated, EventMessageEdited, EventMessageDeleted, EventMemberJoined, EventMemberLeft,
	EventGroupCreated, EventGroupDeleted, EventScheduleFailed}

// Bounds of webhooks.
const (
	webhookSecretsMax = 4              // that sign: the newest, and those it replaced within a day
	secretOverlap     = 24 * time.Hour // how long a secret signs on that was replaced
	swapTries         = 4              // of a change that meets another one
)

// TaskWebhooks tells the partitions that the list of webhooks changed, where the change could not do it by itself.
const TaskWebhooks = "webhooks" // WebhooksTask

// WebhooksTask names the version of the list, or an older one.
type WebhooksTask struct {
	Version int64 `json:"version"`
}

// Webhook is an address of a backend that is told of events. It is a secret as a whole.
type Webhook struct {
	ID         string          `json:"-"`
	Revision   int64           `json:"-"` // changes with every change; 0: not stored yet
	URL        string          `json:"url"`
	Events     []EventType     `json:"events,omitempty"` // empty: all
	Secrets    []WebhookSecret `json:"secrets"`          // the newest first
	CreatedAt  Time            `json:"created_at"`
	DisabledAt *Time           `json:"disabled_at,omitempty"`
}

// WebhookSecret signs what a webhook gets, until another has replaced it long enough.
type WebhookSecret struct {
	Secret string `json:"secret"`
	Until  *Time  `json:"until,omitempty"`
}

// WebhookView is a webhook as operators see it.
type WebhookView struct {
	ID         string      `json:"id"`
	URL        string      `json:"url"`
	Events     []EventType `json:"events"`
	Secret     string      `json:"secret,omitempty"` // in the answers that made it, and no other
	CreatedAt  Time        `json:"created_at"`
	DisabledAt *Time       `json:"disabled_at"`
}

// WebhookDraft is what an operator registers. No events: all of them. A Key makes the same webhook again.
type WebhookDraft struct {
	Key    string
	URL    string
	Events []EventType
}

// WebhookStore keeps the webhooks.
type WebhookStore interface {
	// Webhooks reads all webhooks in no particular order, with the version of the list. One more change, one more.
	Webhooks(ctx context.Context) (list []Webhook, version int64, err error)
	// Webhook reads one. ErrNotFound.
	Webhook(ctx context.Context, id string) (Webhook, error)
	// SwapWebhook stores w in the place of its Revision, or removes it, and enqueues TaskWebhooks. ErrConflict: it is
	// another revision by now. ErrOutOfRange: there are too many.
	SwapWebhook(ctx context.Context, w Webhook, remove bool) error
	// SpreadWebhooks tells every partition whether there are webhooks: entries that are appended from then on are told of.
	SpreadWebhooks(ctx context.Context) error
	// Untold reads entries of a group that webhooks were not told of, at most limit. ErrNotFound.
	Untold(ctx context.Context, group string, limit int) (Untold, error)
	// TellEvents enqueues the deliveries of entries up to to, and notes that; nothing of it where another did so before
	// (ErrConflict), where the group is gone (ErrNotFound), or where too many deliveries wait (ErrHooksFull).
	TellEvents(ctx context.Context, group string, page Untold, to int64, deliveries []HookTask) error
}

// CreateWebhook registers a webhook. Its secret is in no other answer than this one.
func (s *Service) CreateWebhook(ctx context.Context, by Caller, draft WebhookDraft) (WebhookView, error) {
	if err := CheckOperator(by); err != nil {
		return WebhookView{}, err
	}
	w, err := s.newWebhook(by, draft)
	if err != nil {
		return WebhookView{}, err
	}
	err = s.stores.SwapWebhook(ctx, w, false)
	if errors.Is(err, ErrConflict) && draft.Key != "" {
		w, err = s.stores.Webhook(ctx, w.ID) // made by the first time, whose answer was lost
	}
	if err == nil {
		err = s.stores.SpreadWebhooks(ctx)
	}
	if err != nil {
		return WebhookView{}, AsError(err)
	}
	v := w.view()
	v.Secret = w.Secrets[0].Secret
	return v, nil
}

func (s *Service) newWebhook(by Caller, d WebhookDraft) (Webhook, error) {
	if d.URL == "" {
		return Webhook{}, Invalid("url: missing")
	}
	if len(d.URL) > AddressBytesMax {
		return Webhook{}, Invalid("url: at most %d bytes", AddressBytesMax)
	}
	if s.opt.Sender != nil {
		if err := s.opt.Sender.CheckURL(d.URL); err != nil {
			return Webhook{}, Invalid("url: %s", err.Error())
		}
	}
	w := Webhook{ID: NewID(""), URL: d.URL, Secrets: []WebhookSecret{{Secret: NewSecret()}}, CreatedAt: TimeMs(s.opt.Now())}
	if d.Key != "" {
		if err := CheckKey("Idempotency-Key", d.Key); err != nil {
			return Webhook{}, err
		}
		w.ID = NewID(Hash([]byte("webhook"), []byte(by.User), []byte(d.Key), []byte(d.URL)))
	}
	for _, e := range d.Events {
		if !slices.Contains(eventTypes, e) {
			return Webhook{}, Invalid("events: no event is called %q", string(e))
		}
		if !slices.Contains(w.Events, e) {
			w.Events = append(w.Events, e)
		}
	}
	return w, nil
}

// Webhooks lists the webhooks, the oldest first. after is "" or what Next was.
func (s *Service) Webhooks(ctx context.Context, by Caller, limit int, after string) (List[WebhookView], error) {
	if err := CheckOperator(by); err != nil {
		return List[WebhookView]{}, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return List[WebhookView]{}, err
	}
	var past Webhook
	if after != "" {
		ms, id, ok := strings.Cut(after, "-")
		at, err := strconv.ParseInt(ms, 10, 64)
		if !ok || err != nil {
			return List[WebhookView]{}, Invalid("cursor: not one of this list")
		}
		past.ID, past.CreatedAt = id, TimeMs(at)
	}
	all, _, err := s.stores.Webhooks(ctx)
	if err != nil {
		return List[WebhookView]{}, AsError(err)
	}
	slices.SortFunc(all, compareWebhooks)
	list := List[WebhookView]{Items: []WebhookView{}}
	for _, w := range all {
		if after != "" && compareWebhooks(w, past) <= 0 {
			continue
		}
		if len(list.Items) == limit {
			last := list.Items[limit-1]
			list.Next = strconv.FormatInt(last.CreatedAt.UnixMilli(), 10) + "-" + last.ID
			break
		}
		list.Items = append(list.Items, w.view())
	}
	return list, nil
}

func compareWebhooks(a, b Webhook) int {
	return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
}

// Webhook gives one webhook.
func (s *Service) Webhook(ctx context.Context, by Caller, id string) (WebhookView, error) {
	w, err := s.webhook(ctx, by, id)
	return w.view(), err
}

func (s *Service) webhook(ctx context.Context, by Caller, id string) (Webhook, error) {
	if !ValidID(id) {
		return Webhook{}, Invalid("webhook: not a valid id")
	}
	if err := CheckOperator(by); err != nil {
		return Webhook{}, err
	}
	w, err := s.stores.Webhook(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return w, Errorf(CodeNotFound, "no such webhook")
	}
	return w, AsError(err)
}

// DropWebhook removes a webhook: what waits for it is not delivered any longer.
func (s *Service) DropWebhook(ctx context.Context, by Caller, id string) error {
	_, err := s.changeWebhook(ctx, by, id, nil)
	if err != nil {
		return err
	}
	return AsError(s.stores.SpreadWebhooks(ctx))
}

// RotateWebhook gives a webhook a new secret. The one before signs as well for a day.
func (s *Service) RotateWebhook(ctx context.Context, by Caller, id string) (WebhookView, error) {
	w, err := s.changeWebhook(ctx, by, id, func(w *Webhook) {
		now := s.opt.Now()
		until := TimeMs(now + secretOverlap.Milliseconds())
		w.Secrets[0].Until = &until
		w.Secrets = slices.DeleteFunc(w.Secrets, func(secret WebhookSecret) bool { return secret.Until.UnixMilli() <= now })
		w.Secrets = append([]WebhookSecret{{Secret: NewSecret()}}, w.Secrets[:min(len(w.Secrets), webhookSecretsMax-1)]...)
	})
	if err != nil {
		return WebhookView{}, err
	}
	v := w.view()
	v.Secret = w.Secrets[0].Secret
	return v, nil
}

// changeWebhook reads, changes and stores a webhook, again where another change came between. A nil change removes it.
func (s *Service) changeWebhook(ctx context.Context, by Caller, id string, change func(*Webhook)) (Webhook, error) {
	for range swapTries {
		w, err := s.webhook(ctx, by, id)
		if err != nil {
			return Webhook{}, err
		}
		if change != nil {
			change(&w)
		}
		err = s.stores.SwapWebhook(ctx, w, change == nil)
		if !errors.Is(err, ErrConflict) {
			return w, AsError(err)
		}
	}
	return Webhook{}, ErrConflict
}

// spreadWebhooks is a task, see TaskWebhooks.
func (s *Service) spreadWebhooks(ctx context.Context, t WebhooksTask) error {
	if t.Version < 1 {
		return Invalid("a task names no version of the webhooks")
	}
	return s.stores.SpreadWebhooks(ctx)
}

func (w Webhook) view() WebhookView {
	v := WebhookView{ID: w.ID, URL: w.URL, Events: w.Events, CreatedAt: w.CreatedAt, DisabledAt: w.DisabledAt}
	if v.Events == nil {
		v.Events = []EventType{}
	}
	return v
}

// wants tells whether the webhook is to be told of an event.
func (w Webhook) wants(e EventType) bool {
	return w.DisabledAt == nil && (len(w.Events) == 0 || slices.Contains(w.Events, e))
}

// signing are the secrets that sign now.
func (w Webhook) signing(nowMs int64) []string {
	var secrets []string
	for _, secret := range w.Secrets {
		if secret.Until == nil || secret.Until.UnixMilli() > nowMs {
			secrets = append(secrets, secret.Secret)
		}
	}
	return secrets
}
