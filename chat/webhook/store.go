package webhook

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat/audit"
)

// Store is what webhooks need from a store. Every method is one atomic step unless it says otherwise, and may be
// repeated.
type Store interface {
	// AllWebhooks reads all webhooks in no particular order, and the version of the list, which every change raises by
	// one.
	AllWebhooks(ctx context.Context) (list []Webhook, version int64, err error)
	// Webhook reads one. ErrNotFound.
	Webhook(ctx context.Context, id string) (Webhook, error)
	// SwapWebhook replaces the webhook of w's Revision by w, or removes it, and enqueues TaskSpread. ErrConflict: it
	// has another revision by now. ErrOutOfRange: there are too many. The audit gets note; nothing for an empty one.
	SwapWebhook(ctx context.Context, w Webhook, remove bool, note audit.Entry) error
	// RecordAttempt records the outcome of an attempt: why it failed, or an empty reason if it succeeded. ErrNotFound.
	RecordAttempt(ctx context.Context, id, reason string) error
	// WebhookHealth reads the state of the deliveries to each webhook. It leaves out those that were never called and
	// have nothing waiting. Not atomic: it counts one partition after the other.
	WebhookHealth(ctx context.Context) (map[string]Health, error)
	// SpreadWebhooks records in every partition whether there are webhooks: entries appended from then on are published.
	SpreadWebhooks(ctx context.Context) error
	// Unpublished reads at most limit unpublished entries of a group: those for all webhooks that keep up, or for one
	// that is behind (else ""). ErrNotFound.
	Unpublished(ctx context.Context, group, behind string, limit int) (Unpublished, error)
	// PublishEvents enqueues the deliveries of entries up to `to`, in their order, and records that they are published.
	// It does neither if another call did so before or something was deleted since the page was read (ErrConflict), the
	// group is gone (ErrNotFound), or too many
	// deliveries wait (ErrFull). Each active webhook has an equal share of what may wait. One over its share gets
	// nothing more: from that entry on it is behind in this group, gets its own task (EventsTask), and is returned.
	PublishEvents(ctx context.Context, group string, page Unpublished, to int64, deliveries []DeliveryTask, webhooks int,
	) (behind []string, err error)
	// CatchUp enqueues the deliveries of entries up to `to` to a webhook that is behind, counts how many it missed, and
	// advances its position. Once that reaches the position of the others, it is no longer behind. It does nothing if
	// another call did so before or the webhook is not behind (ErrConflict), the group is gone (ErrNotFound), or more
	// than half of its share still waits (ErrFull).
	CatchUp(ctx context.Context, group, webhook string, page Unpublished, to, missed int64, deliveries []DeliveryTask, webhooks int,
	) (behind bool, err error)
	// Deliveries reads the deliveries of events with these ids, each of its Webhook, that wait, run or have failed for good in the
	// partition of a group.
	Deliveries(ctx context.Context, group string, events []DeliveryTask) ([]StoredDelivery, error)
	// WalkDeliveries goes through all deliveries of the partition of a group, or of all partitions for an empty group: from an empty
	// cursor until next is empty, those that are there all the while are returned at least once.
	WalkDeliveries(ctx context.Context, group, cursor string) (list []StoredDelivery, next string, err error)
	// RewriteDelivery replaces the body of a delivery, if it is as it was read. A run that has begun keeps the one that it has.
	RewriteDelivery(ctx context.Context, d StoredDelivery, body json.RawMessage) error
	// Publish enqueues deliveries of events that are in no log; subject determines the partition. Deliveries over the
	// share of a webhook are lost and counted, and so is what it has missed already. Deliveries that wait, run or are
	// dead letters stay as they are.
	Publish(ctx context.Context, subject string, deliveries []DeliveryTask, missed map[string]int64, webhooks int,
	) (lost map[string]int64, err error)
}
