package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/chatd/chatd/chat"
)

// WithdrawTask names entries of a log that lost their content.
type WithdrawTask struct {
	Group string  `json:"group"`
	Epoch string  `json:"epoch"`
	IDs   []int64 `json:"ids"`
}

// StoredDelivery is a delivery as it waits, runs or has failed for good.
type StoredDelivery struct {
	DeliveryTask
	Task    string // its id
	Payload []byte // as it was read
}

// withdrawPage is how many deliveries one step of a withdrawal looks for.
const withdrawPage = 500

// withdrawEntries takes the content of entries out of the deliveries that report them. Those that are made from now on have none:
// the store makes no delivery of what it read before a deletion.
func (s *Service) withdrawEntries(ctx context.Context, t WithdrawTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	webhooks, _, err := s.store.AllWebhooks(ctx)
	if err != nil {
		return err
	}
	at := chat.TimeMs(s.opt.Now())
	var events []DeliveryTask
	look := func() error {
		found, err := s.store.Deliveries(ctx, t.Group, events)
		if events = events[:0]; err != nil {
			return err
		}
		return s.withdraw(ctx, found, at, false, func(StoredDelivery, chat.Entry) bool { return true })
	}
	for _, w := range webhooks {
		for _, id := range t.IDs {
			for _, what := range []EventType{EventMessageCreated, EventMessageEdited} {
				events = append(events, DeliveryTask{Webhook: w.ID, ID: eventID(w.ID, what, entryKey(t.Epoch, id))})
			}
			if len(events) >= withdrawPage {
				if err := look(); err != nil {
					return err
				}
			}
		}
	}
	return look()
}

// withdrawGroup takes the content of all entries of a deleted group out of their deliveries.
func (s *Service) withdrawGroup(ctx context.Context, group, epoch string, at chat.Time) error {
	return s.withdrawAll(ctx, group, at, false, func(d StoredDelivery, e chat.Entry) bool {
		return e.Group == group && (d.Epoch == epoch || d.Epoch == "") // an earlier version did not store it
	})
}

// WithdrawAuthored takes the content of all entries of a person out of their deliveries, of any group.
func (s *Service) WithdrawAuthored(ctx context.Context, user string) error {
	return s.withdrawAll(ctx, "", chat.TimeMs(s.opt.Now()), true, func(_ StoredDelivery, e chat.Entry) bool {
		return e.From == user || e.From == "" && e.User == user // who asks to join is no author
	})
}

// withdrawRemoved takes the content of all entries out of the deliveries to webhooks that were removed, dead letters above all: nobody
// finds them once an entry is deleted.
func (s *Service) withdrawRemoved(ctx context.Context) (err error) {
	removed := map[string]bool{}
	failed := s.withdrawAll(ctx, "", chat.TimeMs(s.opt.Now()), false, func(d StoredDelivery, _ chat.Entry) bool {
		if _, known := removed[d.Webhook]; !known && err == nil {
			_, failed := s.store.Webhook(ctx, d.Webhook)
			if removed[d.Webhook] = errors.Is(failed, chat.ErrNotFound); failed != nil && !removed[d.Webhook] {
				err = failed
			}
		}
		return removed[d.Webhook]
	})
	return cmp.Or(err, failed)
}

func (s *Service) withdrawAll(ctx context.Context, group string, at chat.Time, authored bool, wanted func(StoredDelivery, chat.Entry) bool) error {
	for cursor := ""; ; {
		page, next, err := s.store.WalkDeliveries(ctx, group, cursor)
		if err == nil {
			err = s.withdraw(ctx, page, at, authored, wanted)
		}
		if err != nil || next == "" {
			return err
		}
		cursor = next
	}
}

// withdraw rewrites the deliveries that are wanted, without their author if authored says so. The event stays, with its id and
// what a deletion leaves of its entry, so a receiver misses none.
func (s *Service) withdraw(ctx context.Context, list []StoredDelivery, at chat.Time, authored bool, wanted func(StoredDelivery, chat.Entry) bool) error {
	for _, d := range list {
		var body struct {
			Type      EventType       `json:"type"`
			Timestamp chat.Time       `json:"timestamp"`
			Data      json.RawMessage `json:"data"`
		}
		var e chat.Entry
		if json.Unmarshal(d.Body, &body) != nil || json.Unmarshal(body.Data, &e) != nil {
			continue // of another kind of event, or version
		}
		switch body.Type {
		case EventMessageCreated, EventMessageEdited, EventMessageDeleted:
			body.Data = left(e, authored, at)
		case EventMemberRequested:
			body.Data = withoutNote(body.Data)
		default:
			continue
		}
		if !wanted(d, e) {
			continue
		}
		if err := s.store.RewriteDelivery(ctx, d, chat.Encode(body)); err != nil {
			return err
		}
	}
	return nil
}

// withoutNote is what stays of a request to join.
func withoutNote(data json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // an object: it was read as an entry
	delete(fields, "note")
	return chat.Encode(fields)
}

// left is what stays of an entry that lost its content, or its author with it.
func left(e chat.Entry, authored bool, at chat.Time) json.RawMessage {
	switch {
	case authored && e.Kind != chat.Notice:
		e = e.AuthorErased(chat.Entry{SentAt: at})
	case e.Kind == chat.Delete:
		e.ClientID = ""
	case e.Kind != chat.Notice && e.DeletedAt == nil:
		e = e.Deleted(chat.Entry{From: e.From, SentAt: at})
	}
	return chat.Encode(e)
}
