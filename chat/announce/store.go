package announce

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Store is what announcements need from a store. Every method is one atomic step unless it says otherwise, and may be
// repeated.
type Store interface {
	Records
	Runs
	// Clock is the clock that decides what is due, in ms.
	Clock(ctx context.Context) (int64, error)
}

// Records stores announcements.
type Records interface {
	// CreateAnnouncement creates an announcement and the task that starts it; repeating it with the same id does
	// nothing. ErrOutOfRange: Limits.AnnouncementsMax are kept already.
	CreateAnnouncement(ctx context.Context, a NewAnnouncement) error
	// Announcement reads one. ErrNotFound.
	Announcement(ctx context.Context, id string) (Record, error)
	// AnnouncementsBefore reads up to limit of them, newest first, those below the position before unless it is 0.
	AnnouncementsBefore(ctx context.Context, before int64, limit int) ([]Record, error)
	// CancelAnnouncement ends one: nobody else gets it. ErrNotFound; ErrConflict if everything is done. Several steps.
	CancelAnnouncement(ctx context.Context, id string) error
	// ForgetAnnouncements removes a few of the oldest ended ones, and returns how many. Several steps.
	ForgetAnnouncements(ctx context.Context) (int, error)
}

// Runs advances the runs of announcements.
type Runs interface {
	// BeginAnnouncement starts a run when its time has come and the previous one is over, and enqueues the task of the
	// next run at nextMs (0: none). goOn: start its parts. wait: ask again after that; 0: the run is over, or it is
	// another run's turn.
	BeginAnnouncement(ctx context.Context, id string, run, nextMs int64) (goOn bool, wait time.Duration, err error)
	// StartAnnouncement starts the part of a run in each partition, with its task. One step per partition.
	StartAnnouncement(ctx context.Context, id string, run int64) error
	// AnnouncementPage reads the next batch of a part; nil: there is none.
	AnnouncementPage(ctx context.Context, part Part) (*Batch, error)
	// AnnounceToUsers puts the item into the inboxes of a batch, with the server as its sender; To is not used.
	AnnounceToUsers(ctx context.Context, page *Batch, item chat.NewItem) error
	// AnnounceToGroup appends the message to the log of the batch's group, whether the sender is a member or not.
	AnnounceToGroup(ctx context.Context, page *Batch, a chat.Append) error
	// CloseAnnouncement records the result of a run once every part has finished it.
	CloseAnnouncement(ctx context.Context, id string, run int64) error
}
