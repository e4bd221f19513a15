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
	// SpreadWebhooks tells every partition whether there are webhooks: entries that are appended from then on are told of.
	SpreadWebhooks(ctx context.Context) error
	// Untold reads entries of a group that webhooks were not told of, at most limit. ErrNotFound.
	Untold(ctx context.Context, group string, limit int) (Untold, error)
	// TellEvents enqueues the deliveries of entries up to to, and notes that; nothing of it where another did so before
	// (ErrConflict), where the group is gone (ErrNotFound), or where too many deliveries wait (ErrFull).
	TellEvents(ctx context.Context, group string, page Untold, to int64, deliveries []DeliveryTask) error
}
