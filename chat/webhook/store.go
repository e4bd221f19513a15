package webhook

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Store is what webhooks need of a store. Every method is one atomic step unless it says otherwise, and may be repeated.
type Store interface {
	chat.TaskStore
	// Webhooks reads all webhooks in no particular order, with the version of the list. One more change, one more.
	Webhooks(ctx context.Context) (list []Webhook, version int64, err error)
	// Webhook reads one. ErrNotFound.
	Webhook(ctx context.Context, id string) (Webhook, error)
	// SwapWebhook stores w in the place of its Revision, or removes it, and enqueues TaskSpread. ErrConflict: it is
	// another revision by now. ErrOutOfRange: there are too many.
	SwapWebhook(ctx context.Context, w Webhook, remove bool) error
	// RecordAttempt records the outcome of an attempt: why it failed, or that it succeeded (an empty reason). ErrNotFound.
	RecordAttempt(ctx context.Context, id, reason string) error
	// WebhookHealth reads how the deliveries of each webhook go. Those that were never called and have nothing waiting are
	// left out. Not atomic: the partitions are counted one after the other.
	WebhookHealth(ctx context.Context) (map[string]Health, error)
	// SpreadWebhooks records in every partition whether there are webhooks: entries appended from then on are published.
	SpreadWebhooks(ctx context.Context) error
	// Unpublished reads entries of a group that were not published to webhooks yet, at most limit. ErrNotFound.
	Unpublished(ctx context.Context, group string, limit int) (Unpublished, error)
	// PublishEvents enqueues the deliveries of entries up to `to` and records that they are published. It does neither if
	// another call did so before (ErrConflict), the group is gone (ErrNotFound), or too many deliveries wait (ErrFull).
	// Each of the webhooks in use has an equal share of what may wait. What is over it is dropped, counted, and returned by
	// webhook, unless there is only one: then it is ErrFull, and its entries wait in their logs.
	PublishEvents(ctx context.Context, group string, page Unpublished, to int64, deliveries []DeliveryTask, webhooks int,
	) (dropped map[string]int64, err error)
}
