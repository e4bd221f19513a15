package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

// EventType names an event that a webhook may subscribe to.
type EventType string

// The events.
const (
	EventMessageCreated  EventType = "message.created"
	EventMessageEdited   EventType = "message.edited"
	EventMessageDeleted  EventType = "message.deleted"
	EventMessageReported EventType = "message.reported"
	EventMessageAction   EventType = "message.action"
	EventQuorumMet       EventType = "quorum.met"
	EventQuorumMissed    EventType = "quorum.missed"
	EventMessagePinned   EventType = "message.pinned"
	EventMessageUnpinned EventType = "message.unpinned"
	EventMemberJoined    EventType = "member.joined"
	EventMemberLeft      EventType = "member.left"
	EventMemberBanned    EventType = "member.banned"
	EventMemberRequested EventType = "member.requested"
	EventMemberMuted     EventType = "member.muted"
	EventGroupCreated    EventType = "group.created"
	EventGroupDeleted    EventType = "group.deleted"
	EventScheduleFailed  EventType = "schedule.failed"
	EventMessageHeld     EventType = "message.held"
)

var eventTypes = []EventType{EventMessageCreated, EventMessageEdited, EventMessageDeleted, EventMessagePinned, EventMessageUnpinned, EventMessageReported, EventMessageAction, EventQuorumMet, EventQuorumMissed, EventMemberJoined, EventMemberLeft, EventMemberMuted, EventMemberBanned, EventMemberRequested,
	EventGroupCreated, EventGroupDeleted, EventScheduleFailed, EventMessageHeld}

// Bounds of webhooks.
const (
	secretsMax    = 4              // secrets that sign: the newest, and those it replaced within a day
	secretOverlap = 24 * time.Hour // how long a replaced secret goes on signing
	swapTries     = 4              // of a change that conflicts with another
)

// TaskSpread makes the change of the webhook list known to all partitions, if the change itself could not.
const TaskSpread = "webhooks" // SpreadTask

// SpreadTask names the version of the list, or an older one.
type SpreadTask struct {
	Version int64 `json:"version"`
}

// Webhook is an address of a backend that receives events. All of it is secret.
type Webhook struct {
	ID         string      `json:"-"`
	Revision   int64       `json:"-"`               // changes with every change; 0: not stored yet
	Owner      string      `json:"owner,omitempty"` // the operator who registered it; empty: unknown
	URL        string      `json:"url"`
	Events     []EventType `json:"events,omitempty"` // empty: all
	Secrets    []Secret    `json:"secrets"`          // the newest first
	CreatedAt  chat.Time   `json:"created_at"`
	DisabledAt *chat.Time  `json:"disabled_at,omitempty"`
}

// Secret signs requests to a webhook, until a day after another has replaced it.
type Secret struct {
	Secret string     `json:"secret"`
	Until  *chat.Time `json:"until,omitempty"`
}

// View is a webhook as operators see it.
type View struct {
	ID         string      `json:"id"`
	URL        string      `json:"url"`
	Events     []EventType `json:"events"`
	Secret     string      `json:"secret,omitempty"` // only in the answers that create it or rotate its secret
	CreatedAt  chat.Time   `json:"created_at"`
	DisabledAt *chat.Time  `json:"disabled_at"`
	Health
}

// Draft is a webhook that an operator asks for. Without Events it gets all. A repeat with the same Key returns the same
// webhook.
type Draft struct {
	Key    string
	URL    string
	Events []EventType
}

// Create registers a webhook. No other answer contains its secret.
func (s *Service) Create(ctx context.Context, by chat.Caller, draft Draft) (View, error) {
	if err := chat.CheckOperator(by); err != nil {
		return View{}, err
	}
	w, err := s.newWebhook(by, draft)
	if err != nil {
		return View{}, err
	}
	err = s.store.SwapWebhook(ctx, w, false, note(by, audit.WebhookCreate, w))
	if errors.Is(err, chat.ErrConflict) && draft.Key != "" {
		w, err = s.store.Webhook(ctx, w.ID) // created by the first request, whose answer was lost
	}
	if err == nil {
		err = s.store.SpreadWebhooks(ctx)
	}
	if err != nil {
		return View{}, chat.AsError(err)
	}
	v := w.view()
	v.Secret = w.Secrets[0].Secret
	return v, nil
}

func (s *Service) newWebhook(by chat.Caller, d Draft) (Webhook, error) {
	if d.URL == "" {
		return Webhook{}, chat.Invalid("url: missing")
	}
	if len(d.URL) > AddressBytesMax {
		return Webhook{}, chat.Invalid("url: at most %d bytes", AddressBytesMax)
	}
	if s.sender != nil {
		if err := s.sender.CheckURL(d.URL); err != nil {
			return Webhook{}, chat.Invalid("url: %s", err.Error())
		}
	}
	w := Webhook{ID: chat.NewID(""), Owner: by.User, URL: d.URL, Secrets: []Secret{{Secret: NewSecret()}}, CreatedAt: chat.TimeMs(s.opt.Now())}
	if d.Key != "" {
		if err := chat.CheckKey("Idempotency-Key", d.Key); err != nil {
			return Webhook{}, err
		}
		w.ID = chat.NewID(chat.Hash([]byte("webhook"), []byte(by.User), []byte(d.Key), []byte(d.URL)))
	}
	for i, e := range d.Events {
		if !slices.Contains(eventTypes, e) {
			return Webhook{}, chat.Invalid("events[%d]: unknown event %q", i, string(e))
		}
		if !slices.Contains(w.Events, e) {
			w.Events = append(w.Events, e)
		}
	}
	return w, nil
}

// List lists the webhooks, oldest first. after is "" or an earlier Next.
func (s *Service) List(ctx context.Context, by chat.Caller, limit int, after string) (chat.List[View], error) {
	if err := chat.CheckOperator(by); err != nil {
		return chat.List[View]{}, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return chat.List[View]{}, err
	}
	var past Webhook
	if after != "" {
		ms, id, ok := strings.Cut(after, "-")
		at, err := strconv.ParseInt(ms, 10, 64)
		if !ok || err != nil {
			return chat.List[View]{}, chat.Invalid("cursor: not one of this list")
		}
		past.ID, past.CreatedAt = id, chat.TimeMs(at)
	}
	all, _, err := s.store.AllWebhooks(ctx)
	if err != nil {
		return chat.List[View]{}, chat.AsError(err)
	}
	slices.SortFunc(all, compareWebhooks)
	health, err := s.store.WebhookHealth(ctx)
	if err != nil {
		return chat.List[View]{}, chat.AsError(err)
	}
	list := chat.List[View]{Items: []View{}}
	for _, w := range all {
		if after != "" && compareWebhooks(w, past) <= 0 {
			continue
		}
		if len(list.Items) == limit {
			last := list.Items[limit-1]
			list.Next = strconv.FormatInt(last.CreatedAt.UnixMilli(), 10) + "-" + last.ID
			break
		}
		v := w.view()
		v.Health = health[w.ID]
		list.Items = append(list.Items, v)
	}
	return list, nil
}

func compareWebhooks(a, b Webhook) int {
	return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
}

// Get returns one webhook.
func (s *Service) Get(ctx context.Context, by chat.Caller, id string) (View, error) {
	w, err := s.get(ctx, by, id)
	if err != nil {
		return View{}, err
	}
	health, err := s.store.WebhookHealth(ctx)
	if err != nil {
		return View{}, chat.AsError(err)
	}
	v := w.view()
	v.Health = health[id]
	return v, nil
}

func (s *Service) get(ctx context.Context, by chat.Caller, id string) (Webhook, error) {
	if err := cmp.Or(chat.CheckOperator(by), chat.CheckID("webhook", id)); err != nil {
		return Webhook{}, err
	}
	w, err := s.store.Webhook(ctx, id)
	if errors.Is(err, chat.ErrNotFound) {
		return w, chat.Errorf(chat.CodeNotFound, "no such webhook")
	}
	return w, chat.AsError(err)
}

// Drop removes a webhook; its waiting deliveries are no longer sent.
func (s *Service) Drop(ctx context.Context, by chat.Caller, id string) error {
	_, err := s.change(ctx, by, id, audit.WebhookDelete, nil)
	if err != nil {
		return err
	}
	return chat.AsError(s.store.SpreadWebhooks(ctx))
}

// Rotate gives a webhook a new secret. The previous one goes on signing for a day.
func (s *Service) Rotate(ctx context.Context, by chat.Caller, id string) (View, error) {
	w, err := s.change(ctx, by, id, audit.WebhookRotate, func(w *Webhook) {
		now := s.opt.Now()
		until := chat.TimeMs(now + secretOverlap.Milliseconds())
		w.Secrets[0].Until = &until
		w.Secrets = slices.DeleteFunc(w.Secrets, func(secret Secret) bool { return secret.Until.UnixMilli() <= now })
		w.Secrets = append([]Secret{{Secret: NewSecret()}}, w.Secrets[:min(len(w.Secrets), secretsMax-1)]...)
	})
	if err != nil {
		return View{}, err
	}
	v := w.view()
	v.Secret = w.Secrets[0].Secret
	return v, nil
}

// note is what the audit gets of something that is done to a webhook.
func note(by chat.Caller, action audit.Action, w Webhook) audit.Entry {
	return audit.Note(by, action, "", "", struct {
		Webhook string `json:"webhook"`
	}{w.ID})
}

// change reads, changes and stores a webhook, and starts over if another change came in between. A nil change removes
// it.
func (s *Service) change(ctx context.Context, by chat.Caller, id string, action audit.Action, change func(*Webhook)) (Webhook, error) {
	for range swapTries {
		w, err := s.get(ctx, by, id)
		if err != nil {
			return Webhook{}, err
		}
		if change != nil {
			change(&w)
		}
		err = s.store.SwapWebhook(ctx, w, change == nil, note(by, action, w))
		if !errors.Is(err, chat.ErrConflict) {
			return w, chat.AsError(err)
		}
	}
	return Webhook{}, chat.ErrConflict
}

// spread runs a SpreadTask, see TaskSpread.
func (s *Service) spread(ctx context.Context, t SpreadTask) error {
	if t.Version < 1 {
		return chat.Invalid("a task names no version of the webhooks")
	}
	if err := s.store.SpreadWebhooks(ctx); err != nil {
		return err
	}
	return s.withdrawRemoved(ctx)
}

func (w Webhook) view() View {
	v := View{ID: w.ID, URL: w.URL, Events: w.Events, CreatedAt: w.CreatedAt, DisabledAt: w.DisabledAt}
	if v.Events == nil {
		v.Events = []EventType{}
	}
	return v
}

// owner names the share of the workers that its deliveries use while its endpoint has not answered yet.
func (w Webhook) owner() string { return "webhooks of " + cmp.Or(w.Owner, w.ID) }

// wants reports whether the webhook subscribes to an event.
func (w Webhook) wants(e EventType) bool {
	return w.DisabledAt == nil && (len(w.Events) == 0 || slices.Contains(w.Events, e))
}

// signing returns the secrets that sign now.
func (w Webhook) signing(nowMs int64) []string {
	var secrets []string
	for _, secret := range w.Secrets {
		if secret.Until == nil || secret.Until.UnixMilli() > nowMs {
			secrets = append(secrets, secret.Secret)
		}
	}
	return secrets
}
