package webhook

import "context"

// Store is what webhooks need of a store. Every method is one atomic step unless it says otherwise, and may be repeated.
type Store interface {
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
	// Unpublished reads entries of a group that were not published yet, at most limit: to all webhooks that keep up, or to one
	// that is behind (else ""). ErrNotFound.
	Unpublished(ctx context.Context, group, behind string, limit int) (Unpublished, error)
	// PublishEvents enqueues the deliveries of entries up to `to`, in their order, and records that they are published. It does
	// neither if another call did so before (ErrConflict), the group is gone (ErrNotFound), or too many deliveries wait
	// (ErrFull). Each of the webhooks in use has an equal share of what may wait. One that is over it gets nothing more: it is
	// behind in this group from that entry on, has a task of its own (EventsTask), and is returned.
	PublishEvents(ctx context.Context, group string, page Unpublished, to int64, deliveries []DeliveryTask, webhooks int,
	) (behind []string, err error)
	// CatchUp enqueues the deliveries of entries up to `to` to a webhook that is behind, counts how many it missed, and moves its
	// position. At that of the others, or above, it is behind no longer. It does nothing if another call did so before or it is
	// not behind (ErrConflict), the group is gone (ErrNotFound), or more than half of its share still waits (ErrFull).
	CatchUp(ctx context.Context, group, webhook string, page Unpublished, to, missed int64, deliveries []DeliveryTask, webhooks int,
	) (behind bool, err error)
	// Publish enqueues deliveries of events that are in no log; subject says in which partition. What is over the share of a
	// webhook is lost and counted, as what it missed already. Deliveries that wait, run or are dead letters are left as they are.
	Publish(ctx context.Context, subject string, deliveries []DeliveryTask, missed map[string]int64, webhooks int,
	) (lost map[string]int64, err error)
}
