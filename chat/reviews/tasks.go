package reviews

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// Kinds of the tasks of reviews, with the JSON of their payload. They live where their reviews do.
const (
	TaskReview = "review"  // Report: tells webhooks that a message waits, or its sender what became of it
	TaskOver   = "reviews" // OverTask: ends the reviews whose time is over
)

// State is what a message does, or what became of it.
type State string

// The states. A message is expired where nobody has decided in time.
const (
	Waiting  State = "waiting"
	Released State = "released"
	Dropped  State = "dropped"
	Expired  State = "expired"
)

// OverTask names whose reviews they are: a group's, or those for the inbox of a user.
type OverTask struct {
	Group string `json:"group,omitempty"`
	User  string `json:"user,omitempty"`
}

// Report is what is told about a message. The store adds ID.
type Report struct {
	OverTask
	Review   string    `json:"review"`
	From     string    `json:"from"`
	Kind     chat.Kind `json:"kind"`
	ClientID string    `json:"client_id,omitempty"`
	AtMs     int64     `json:"at_ms"`
	State    State     `json:"state"`
	Reason   string    `json:"reason,omitempty"`
	ID       int64     `json:"id,omitempty"` // of the message that was released
}

// Held is the payload of the task that tells webhooks of a message that waits.
func Held(r chat.Review) []byte { return chat.Encode(about(r, Waiting, r.Reason)) }

// report is chat.ReviewEnd.Report.
func report(r chat.Review, state State, reason string) []byte {
	return bytes.TrimSuffix(chat.Encode(about(r, state, reason)), []byte{'}'})
}

func about(r chat.Review, state State, reason string) Report {
	return Report{OverTask: OverTask{Group: r.Group, User: r.To}, Review: r.ID, From: r.From, Kind: r.Message.ImpliedKind(),
		ClientID: r.Message.ClientID, AtMs: r.At.UnixMilli(), State: state, Reason: reason}
}

// Handlers returns the tasks of reviews, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskReview: chat.Handle(s.publish), TaskOver: chat.Patient(s.end)}
}

// publish tells webhooks that a message waits, or its sender what became of it, once.
func (s *Service) publish(ctx context.Context, t Report) error {
	if _, ok := chat.ParseReviewID(t.Review); !ok || !chat.ValidUserID(t.From) {
		return chat.Invalid("a task names no valid review or user")
	}
	if t.State == Waiting {
		return s.webhooks.Publish(ctx, t.From, webhook.Event{Type: webhook.EventMessageHeld, Key: t.Review, At: chat.TimeMs(t.AtMs), Data: heldData(t)})
	}
	item := chat.Item{Kind: chat.ItemReview, Group: t.Group, To: t.User, ID: t.ID, ClientID: t.ClientID, SentAt: chat.TimeMs(s.core.Options().Now()),
		Data: chat.Encode(struct {
			Review string `json:"review"`
			State  State  `json:"state"`
			Reason string `json:"reason,omitempty"`
		}{t.Review, t.State, t.Reason})}
	return s.core.PutItem(ctx, t.From, item, chat.ItemReview+" "+t.Review)
}

// heldData is a message that waits as webhooks see it. What it says is for moderators.
func heldData(t Report) json.RawMessage {
	return chat.Encode(struct {
		Review string    `json:"review"`
		Group  string    `json:"group,omitempty"`
		To     string    `json:"to,omitempty"`
		From   string    `json:"from"`
		Kind   chat.Kind `json:"kind"`
		Reason string    `json:"reason,omitempty"`
	}{t.Review, t.Group, t.User, t.From, t.Kind, t.Reason})
}

// end ends the reviews whose time is over, and waits for the next.
func (s *Service) end(ctx context.Context, t OverTask) error {
	if t.Group != "" && !chat.ValidGroupID(t.Group) || t.Group == "" && !chat.ValidUserID(t.User) {
		return chat.Invalid("a task names no valid group or user")
	}
	ids, err := s.store.ReviewIDs(ctx, t.Group, t.User)
	if err != nil {
		return err
	}
	now := s.core.Options().Now()
	for _, id := range ids {
		parsed, _ := chat.ParseReviewID(id)
		if left := parsed.At.Add(chat.ReviewKept).UnixMilli() - now; left > 0 {
			return chat.Postpone(time.Duration(left)*time.Millisecond, nil)
		}
		found, err := s.store.ReadReviews(ctx, []Ref{{ID: id, Group: t.Group, To: t.User}})
		if err != nil {
			return err
		}
		for _, r := range found {
			if err := s.store.EndReview(ctx, chat.ReviewEnd{Review: r, Report: report(r, Expired, "")}); err != nil && !errors.Is(err, chat.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}
