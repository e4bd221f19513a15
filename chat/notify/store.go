package notify

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/presence"
	"github.com/chatd/chatd/chat/threads"
)

// Store is what notifications need from a store. Every method is one atomic step unless it says otherwise, and may be
// repeated.
type Store interface {
	Devices
	Levels
	FanOuts
	Presence
	PushKeys
	chat.TaskStore
	// Thread reads how user stands to a thread: see threads.Store.
	Thread(ctx context.Context, group, user string, root, after, before int64, limit int) (t threads.Thread, ids []int64, more bool, err error)
	// Pull and InboxPull read the content of a notification as the user may see it now: see chat.LogStore and
	// chat.InboxStore.
	Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error)
	InboxPull(ctx context.Context, user string, after chat.Position, limit int) (chat.InboxBatch, error)
}

// FanOuts decides who gets notified of what.
type FanOuts interface {
	// WantNotify makes the store enqueue a group's fan-out delay after a new message. If only is true, it does so only
	// if the store enqueues them already. Repeating it is harmless.
	WantNotify(ctx context.Context, delay time.Duration, only bool) error
	// Behind returns members who have not read up to the newest text or data, paged in the order of joining; next "": no
	// more. ErrNotFound: the group has another epoch, or is gone.
	Behind(ctx context.Context, group, epoch, after string, limit int) (users []string, next string, err error)
	// NotifyUsers decides which of these offline users to notify, records up to which message they are notified, and
	// enqueues the task that makes the deliveries, all in one step. Nobody is notified of the same message twice.
	NotifyUsers(ctx context.Context, group, epoch string, users []string) error
	// Followers returns who follows a thread and has neither read nor been notified of its newest reply, paged; next "": no more.
	// ErrNotFound as of Behind.
	Followers(ctx context.Context, group, epoch string, root int64, after string, limit int) (users []string, next string, err error)
	// NotifyFollowers is NotifyUsers for the replies of a thread.
	NotifyFollowers(ctx context.Context, group, epoch string, root int64, users []string) error
	// InboxNotified returns the seq up to which user was notified of inbox items.
	InboxNotified(ctx context.Context, user string) (int64, error)
	// NotifyInbox records that user is notified of the inbox up to t.Last and enqueues t in the same step, unless a
	// notification or an ack covers that much already.
	NotifyInbox(ctx context.Context, user string, t DispatchTask) error
}

// Devices stores the devices of users.
type Devices interface {
	// PutDevice registers a device, or changes its address. If one with the same id and kind exists, its creation time
	// and secret stay; one of another kind is replaced. ErrOutOfRange: the user has too many.
	PutDevice(ctx context.Context, user string, d Device) (kept Device, created bool, err error)
	// Devices reads the devices of each user, in order; one round trip.
	Devices(ctx context.Context, users []string) ([][]Device, error)
	// DropDevice removes a device; if is is given, only if the device is still that one. Repeating it is harmless.
	DropDevice(ctx context.Context, user, id string, is *Device) error
	// Reach reads one device, and whether its user is offline: away means without a live session on any node. An absent
	// device has no Kind.
	Reach(ctx context.Context, user, id string) (d Device, away bool, err error)
	// Away returns those of users who have a device: away are those without a live session on any node, live the
	// others.
	Away(ctx context.Context, users []string) (away, live []string, err error)
}

// Levels stores what members want to be notified of.
type Levels interface {
	// SetLevel sets what a member gets notified of. ErrNotFound, ErrForbidden: not a member.
	SetLevel(ctx context.Context, group, user string, set Setting) error
	// Level returns the setting as it was stored; the caller checks whether it has expired.
	Level(ctx context.Context, group, user string) (Setting, error)
}

// Presence stores who has a live session on which node.
type Presence interface {
	// Arrive records that users have live sessions on node; they expire unless a heartbeat renews them within `lasts`.
	// Repeating it is harmless.
	Arrive(ctx context.Context, node string, users []string, lasts time.Duration) error
	// Depart records that users no longer have a session on node. Repeating it is harmless.
	Depart(ctx context.Context, node string, users []string) error
	// SetState records that users with sessions on node are in a state. Repeating it is harmless.
	SetState(ctx context.Context, node string, state presence.State, users []string) error
	// Heartbeat renews node, which has sessions of exactly these users, and groups that these have open. It corrects what the store holds
	// for the node, and removes some of what dead nodes left behind. alive is how many nodes live where the groups lie, in order.
	Heartbeat(ctx context.Context, node string, users, groups []string, lasts time.Duration) (alive []int64, err error)
}

// PushKeys stores the server's key.
type PushKeys interface {
	// PushKey returns the stored private key; if there is none, it stores candidate.
	PushKey(ctx context.Context, candidate string) (string, error)
}
