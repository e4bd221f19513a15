package announce

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// Store is what announcements need of a store. Every method is one atomic step unless it says otherwise, and may be repeated.
type Store interface {
	Records
	Runs
	// Clock is the clock that decides what is due, in ms.
	Clock(ctx context.Context) (int64, error)
}

// Records keeps announcements.
type Records interface {
	// CreateAnnouncement makes an announcement and the task that starts it; again with the same id does nothing.
	// ErrOutOfRange where Limits.AnnouncementsMax are kept.
	CreateAnnouncement(ctx context.Context, a NewAnnouncement) error
	// Announcement reads one. ErrNotFound.
	Announcement(ctx context.Context, id string) (Record, error)
	// Announcements reads up to limit of them, the newest first, those before a place where it is not 0.
	Announcements(ctx context.Context, before int64, limit int) ([]Record, error)
	// CancelAnnouncement ends one: nobody further gets it. ErrNotFound; ErrConflict where all is done. Several steps.
	CancelAnnouncement(ctx context.Context, id string) error
	// ForgetAnnouncements removes a few of the oldest that have ended, and tells how many. Several steps.
	ForgetAnnouncements(ctx context.Context) (int, error)
}

// Runs does the runs of announcements.
type Runs interface {
	// BeginAnnouncement begins a run when its time has come and the one before is over, and enqueues the task of the next
	// at nextMs (0: none). goOn: start its parts. wait: ask again after that; 0: it is over or another's turn.
	BeginAnnouncement(ctx context.Context, id string, run, nextMs int64) (goOn bool, wait time.Duration, err error)
	// StartAnnouncement starts the part of a run in each partition, with the task that does it. One step a partition.
	StartAnnouncement(ctx context.Context, id string, run int64) error
	// AnnouncementPage reads what comes next in a part; nil: nothing does.
	AnnouncementPage(ctx context.Context, part Part) (*Batch, error)
	// AnnounceToUsers puts the item into the inboxes of a page, as one of the server's own; To is not used.
	AnnounceToUsers(ctx context.Context, page *Batch, item chat.NewItem) error
	// AnnounceToGroup appends the message to the log of the group of a page, whether the sender is a member or not.
	AnnounceToGroup(ctx context.Context, page *Batch, a chat.Append) error
	// CloseAnnouncement writes what came of a run, where every part is done with it.
	CloseAnnouncement(ctx context.Context, id string, run int64) error
}
