package chat

import "time"

// Limits bounds everything that a caller can make grow. Each field names its unit; DefaultLimits returns the
// documented defaults. The configuration may change some of them (CHATD_MAX_*).
type Limits struct {
	BodyBytesMax       int // body, and data, of one message
	RequestBytesMax    int // one HTTP request
	BatchBytesMax      int // one that is a batch
	PageMessages       int // messages of a page when the caller names no limit
	PageMessagesMax    int // messages of a page whatever the caller names
	PageBytesMax       int // bytes of messages in one answer; has_more tells
	GroupMembersMax    int // members of a group
	GroupBannedMax     int // users who are banned from a group
	GroupRequestsMax   int // open requests to join a group
	GroupReviewsMax    int // messages that wait for a moderator in a group, or for one inbox
	SenderReviewsMax   int // those of one sender among them
	GroupMutedMax      int // members of a group who are muted at a time
	GroupReportsMax    int // open reports of messages in a group
	MemberReportsMax   int // of these by one member
	AuditMax           int // entries of the audit by operators and of the server, and as many of groups, divided among the partitions
	GroupCreateMembers int // members named at the creation of a group
	UserGroupsMax      int // groups of a user
	InboxItemsMax      int // items of an inbox that are not acked
	InboxSenderMax     int // items of one sender in an inbox that are not acked
	InboxMentionsMax   int // mentions by one sender in an inbox that are not acked
	StrangersBytesMax  int // bytes of direct messages of one sender to all who have never used the server, and 1 KiB for each
	UserBlocksMax      int // users whom a user blocks
	UserDraftsMax      int // drafts that a user has
	GroupPinsMax       int // messages that are pinned in a group
	InboxKeep          int // acked items that stay in an inbox for the other devices of its owner
	UserSchedulesMax   int // schedules of a user that have not ended
	UserFiringsMax     int // schedules of a user that fire within any minute; 0: as many as they like
	MentionsMax        int // mentions of a message
	EmojiBytesMax      int // bytes of one emoji
	EmojisMax          int // different emoji on one message
	EditsMax           int // edits of one message: each is blanked when the message is deleted, in one step
	UserDevicesMax     int // devices of a user
	SessionsUserMax    int // live websockets of a user on a node
	SessionsNodeMax    int // live websockets on a node
	KeysMax            int // retry keys kept for a sender in a group

	WebhooksBytesMax      int // bytes of deliveries that wait for webhooks, in equal shares
	AnnouncementsMax      int // announcements that are kept, those that ended included
	AnnouncementGroupsMax int // groups that one names
	AnnouncementUsersMax  int // users that one names

	UserFilesBytesMax  int64         // bytes of files of a user
	UserUploadsMax     int           // uploads of a user under way
	GroupFilesBytesMax int64         // bytes of files of a group
	FileUnused         time.Duration // how long a file is kept that no message names

	KeyAge      time.Duration // how long a retry key is kept at least, within KeysMax
	WaitMax     time.Duration // the longest long poll
	SafetyCheck time.Duration // within which a lost wake-up is repaired: live groups are compared with the store a little more often
	FeedLinger  time.Duration // how long a group without a live reader stays followed
	RingEntries int           // newest messages of a live group kept in memory

	RememberGroups int // from so many groups of a user on, a node remembers what their sync has found

	// What sessions of a node have read and their clients have not taken yet, in bytes of JSON. Beyond, the slowest are closed.
	PendingBytesMax int64

	// What answers of a node hold that their clients have not taken yet, in bytes: of all callers, and of one.
	UnsentBytesMax     int64
	UnsentUserBytesMax int64
}

// AddedByOneMax is how many groups, in which someone has done nothing yet, one user may have added them to: a tenth of the room
// that they have for such groups, so that nobody alone takes it all.
func (l Limits) AddedByOneMax() int { return (l.UserGroupsMax + 9) / 10 }

// Page is how many entries a page holds: the default where the caller names no limit (0), never more than PageMessagesMax.
func (l Limits) Page(limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, Invalid("limit: negative")
	case limit == 0:
		return l.PageMessages, nil
	}
	return min(limit, l.PageMessagesMax), nil
}

// DefaultLimits returns the limits of the wire contract.
func DefaultLimits() Limits {
	return Limits{
		BodyBytesMax:       16 << 10,
		RequestBytesMax:    1 << 20,
		BatchBytesMax:      8 << 20,
		PageMessages:       100,
		PageMessagesMax:    1000,
		PageBytesMax:       1 << 20,
		GroupMembersMax:    100_000,
		GroupBannedMax:     10_000,
		GroupRequestsMax:   1000,
		GroupReviewsMax:    1000,
		SenderReviewsMax:   20,
		GroupMutedMax:      10_000,
		GroupReportsMax:    500,
		MemberReportsMax:   50,
		AuditMax:           100_000,
		GroupCreateMembers: 1000,
		UserGroupsMax:      10_000,
		InboxItemsMax:      10_000,
		InboxSenderMax:     1000,
		InboxMentionsMax:   100,
		StrangersBytesMax:  4 << 20,
		UserBlocksMax:      10_000,
		UserDraftsMax:      1000,
		GroupPinsMax:       100,
		InboxKeep:          100,
		UserSchedulesMax:   10_000,
		UserFiringsMax:     100,
		MentionsMax:        50,
		EmojiBytesMax:      64,
		EmojisMax:          20,
		EditsMax:           200,
		UserDevicesMax:     20,
		SessionsUserMax:    20,
		SessionsNodeMax:    10_000,
		KeysMax:            1000,

		WebhooksBytesMax:      256 << 20,
		AnnouncementsMax:      1000,
		AnnouncementGroupsMax: 1000,
		AnnouncementUsersMax:  10_000,

		UserFilesBytesMax:  10 << 30,
		UserUploadsMax:     20,
		GroupFilesBytesMax: 10 << 30,
		FileUnused:         24 * time.Hour,

		KeyAge:      24 * time.Hour,
		WaitMax:     50 * time.Second, // proxies and load balancers give up after 60 s without an answer
		SafetyCheck: 2 * time.Second,
		FeedLinger:  30 * time.Second,
		RingEntries: 128,

		RememberGroups: 51, // fewer cost less to look at than to make sure that nothing has changed

		PendingBytesMax: 32 << 20,

		UnsentBytesMax:     128 << 20,
		UnsentUserBytesMax: 16 << 20,
	}
}
