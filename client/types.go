package client

import (
	"encoding/json"
	"time"
)

// Kinds of messages.
const (
	KindText     = "text"
	KindData     = "data"
	KindEdit     = "edit"
	KindDelete   = "delete"
	KindReaction = "reaction"
	KindNotice   = "notice"
)

// MentionAll in the mentions of a message stands for all members of the group.
const MentionAll = "@all"

// Content is the content of a message. Which fields are set depends on Kind.
type Content struct {
	Kind     string          `json:"kind,omitempty"`   // empty in a send: text, or data if only Data is set
	Stream   StreamState     `json:"stream,omitempty"` // of a text that is written piece by piece; see package writing
	Body     string          `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"` // makes repeated sends store only one message; generated if empty
	ReplyTo  int64           `json:"reply_to,omitempty"`
	Thread   int64           `json:"thread,omitempty"` // the message whose thread it is in
	Mentions []string        `json:"mentions,omitempty"`
	Files    []string        `json:"files,omitempty"`    // ids of complete files that the sender uploaded to the group
	Target   int64           `json:"target,omitempty"`   // of an edit, a delete or a reaction
	Emoji    string          `json:"emoji,omitempty"`    // of a reaction
	Removed  bool            `json:"removed,omitempty"`  // the reaction was removed
	Actions  []Action        `json:"actions,omitempty"`  // buttons; only of keys and operators
	ExpireS  int64           `json:"expire_s,omitempty"` // in a send: seconds after which it is deleted for everyone, if its group says none that are fewer
}

// Draft is the content of a message to send. Text makes the usual one; see [Client.Send] for the others.
type Draft = Content

// Message is an entry of a group's log.
type Message struct {
	Group string `json:"group"`
	ID    int64  `json:"id"`
	From  string `json:"from"`
	Via   string `json:"via,omitempty"` // id of the key by which a program wrote it for From, or for itself
	Content
	Files      []File              `json:"files,omitempty"`
	Erased     []int64             `json:"erased,omitempty"` // ids of entries that an erasure took the author off, with this entry
	SentAt     time.Time           `json:"sent_at"`
	Notice     string              `json:"notice,omitempty"`      // created, joined, left, removed, role, renamed, settings
	User       string              `json:"user,omitempty"`        // the user that a notice is about
	Users      []string            `json:"users,omitempty"`       // in place of User where a notice is about several
	Role       string              `json:"role,omitempty"`        // the new role, in a notice of role
	Name       *string             `json:"name,omitempty"`        // the new name, in a notice of renamed; may be empty
	Settings   *GroupChange        `json:"settings,omitempty"`    // the new values, in a notice of settings
	MutedUntil *time.Time          `json:"muted_until,omitempty"` // in a notice of muted; nil: now
	Until      *time.Time          `json:"until,omitempty"`       // in a notice of banned; nil: no end
	EditedAt   *time.Time          `json:"edited_at,omitempty"`
	DeletedAt  *time.Time          `json:"deleted_at,omitempty"` // of a text or data, and of the edits of one: their content is gone
	ExpiresAt  *time.Time          `json:"expires_at,omitempty"` // when it is deleted for everyone; nil: never
	Reactions  map[string]Reaction `json:"reactions,omitempty"`  // only in answers to Messages

	Replies     int64 `json:"replies,omitempty"`       // in its thread; only in answers to Messages
	LastReplyID int64 `json:"last_reply_id,omitempty"` // the newest of them
}

// File is a file that a message names.
type File struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	Type   string `json:"type"`
	SHA256 string `json:"sha256"`
	Width  int    `json:"width,omitempty"` // of a picture, in pixels
	Height int    `json:"height,omitempty"`
}

// Reaction counts those who reacted with one emoji.
type Reaction struct {
	Count int64 `json:"count"`
	Mine  bool  `json:"mine"`
}

// Text is a Draft of a plain message.
func Text(body string) Draft { return Draft{Body: body} }

// Sent is a message as the log has it.
type Sent struct {
	Message
	Duplicate  bool   `json:"duplicate"`            // an earlier attempt had already stored it
	Durability string `json:"durability,omitempty"` // what was reached, if SendDurable asked for it
}

// Group is a log with members.
type Group struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Visibility   string    `json:"visibility"` // private or public
	CreatedBy    string    `json:"created_by"`
	CreatedAt    time.Time `json:"created_at"`
	Epoch        string    `json:"epoch"`
	First        int64     `json:"first"`
	Last         int64     `json:"last"`
	Members      int64     `json:"members"`
	Keep         int64     `json:"keep"`
	BacklogMax   int64     `json:"backlog_max"`
	Overflow     string    `json:"overflow"` // drop: members more than BacklogMax behind are no longer waited for; block: sends are refused instead
	BacklogBytes int64     `json:"backlog_bytes"`
	Direct       []string  `json:"direct"` // of a direct group: its two users, sorted
	Post         string    `json:"post"`   // members, admins or none
	History      bool      `json:"history"`
	RetainDays   int64     `json:"retain_days"` // after how many days messages go; 0: never
	Join         string    `json:"join"`        // who may add themself: open, ask or closed
	Pins         string    `json:"pins"`        // who may pin messages: managers or members
	MentionAll   string    `json:"mention_all"` // who may mention all members: members, managers or off
	ExpireS      int64     `json:"expire_s"`    // seconds after which messages are deleted for everyone; 0: never
	Receipts     string    `json:"receipts"`    // what receipts say: optional, required, counts or off
	SlowS        int64     `json:"slow_s"`      // seconds that a member waits between messages; 0: none
	MutedUntil   time.Time `json:"muted_until"` // when the caller may write again; zero: now
	Hold         *Hold     `json:"hold"`        // nil unless the caller is an operator and the group is under legal hold

	Data json.RawMessage `json:"data,omitempty"` // custom fields, an object; nil: none
	Tag  string          `json:"-"`              // of name, settings and data, as Group and UpdateGroup answer it; see GroupChange
}

// Blocker is a member who holds back trimming.
type Blocker struct {
	User   string    `json:"user"`
	Behind int64     `json:"behind"` // entries that they have not seen
	Bytes  int64     `json:"bytes"`  // of files in these
	Since  time.Time `json:"since"`  // when the oldest of these was sent; zero in an [Error], and if it is not known
}

// Hold is a legal hold on a group.
type Hold struct {
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
}

// GroupState is a group as the caller sees it.
type GroupState struct {
	Group
	Seen           int64    `json:"seen"`
	Read           int64    `json:"read"`
	Unread         int64    `json:"unread"`
	MentionsUnread int64    `json:"mentions_unread"`
	ThreadsUnread  int64    `json:"threads_unread"` // replies in threads that the caller follows
	LastMessage    *Message `json:"last_message"`
}

// GroupList is a page of the caller's groups.
type GroupList struct {
	Groups []GroupState `json:"groups"`
	Total  int64        `json:"total"` // groups on all pages
	Next   string       `json:"next"`  // cursor of the next page; empty after the last one
}

// GroupDraft is a group to create. Zero fields get the server's defaults.
type GroupDraft struct {
	ID           string   `json:"id,omitempty"`
	Name         string   `json:"name,omitempty"`
	Members      []string `json:"members,omitempty"`
	Visibility   string   `json:"visibility,omitempty"`
	Keep         *int64   `json:"keep,omitempty"`
	BacklogMax   *int64   `json:"backlog_max,omitempty"`
	Overflow     string   `json:"overflow,omitempty"` // drop or block
	BacklogBytes *int64   `json:"backlog_bytes,omitempty"`
	Post         string   `json:"post,omitempty"`
	History      *bool    `json:"history,omitempty"`
	RetainDays   *int64   `json:"retain_days,omitempty"`
	SlowS        *int64   `json:"slow_s,omitempty"`
	ExpireS      *int64   `json:"expire_s,omitempty"`
	Receipts     string   `json:"receipts,omitempty"`
	Join         string   `json:"join,omitempty"`
	Pins         string   `json:"pins,omitempty"`
	MentionAll   string   `json:"mention_all,omitempty"`

	Data json.RawMessage `json:"data,omitempty"` // custom fields, an object

	// Key makes repeated requests create only one group (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// GroupChange is a change of a group; nil fields stay.
type GroupChange struct {
	Name         *string `json:"name,omitempty"`
	Visibility   *string `json:"visibility,omitempty"`
	Keep         *int64  `json:"keep,omitempty"`
	BacklogMax   *int64  `json:"backlog_max,omitempty"`
	Overflow     *string `json:"overflow,omitempty"`
	BacklogBytes *int64  `json:"backlog_bytes,omitempty"`
	Post         *string `json:"post,omitempty"`
	History      *bool   `json:"history,omitempty"`
	RetainDays   *int64  `json:"retain_days,omitempty"`
	Join         *string `json:"join,omitempty"`
	Pins         *string `json:"pins,omitempty"`
	MentionAll   *string `json:"mention_all,omitempty"`
	SlowS        *int64  `json:"slow_s,omitempty"`
	ExpireS      *int64  `json:"expire_s,omitempty"`
	Receipts     *string `json:"receipts,omitempty"`

	Data json.RawMessage `json:"data,omitempty"` // a JSON Merge Patch (RFC 7396); in a notice, all of what is there now

	// Tag, if given, is that of the Group that the change is for: CodeConflict if its name, settings or data have changed since.
	Tag string `json:"-"`
}

// MembersChange is whom to add to a group, or give a role, and whom to remove.
type MembersChange struct {
	Add    []Addition `json:"add,omitempty"`
	Remove []string   `json:"remove,omitempty"`
}

// Addition is a user to add; without a Role as a member.
type Addition struct {
	User string `json:"user"`
	Role string `json:"role,omitempty"`
}

// MembersChanged counts what a MembersChange changed, and says for whom it was refused.
type MembersChanged struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Errors  []struct {
		User string `json:"user"`
		Code string `json:"code"`
	} `json:"errors"`
}

// Member is one user in one group.
type Member struct {
	User     string    `json:"user"`
	Role     string    `json:"role"` // owner, admin or member
	JoinedAt time.Time `json:"joined_at"`
	Seen     int64     `json:"seen"` // 0 also where it is hidden
	Read     int64     `json:"read"` // the same

	Data       json.RawMessage `json:"data,omitempty"` // custom fields, an object; nil: none
	MutedUntil time.Time       `json:"muted_until"`    // when they may write again; zero: now
}

// Progress is the caller's two cursors in a group, and the number of unread messages above `read`.
type Progress struct {
	Seen   int64 `json:"seen"`
	Read   int64 `json:"read"`
	Unread int64 `json:"unread"`
}

// Batch is a page of a group's log.
type Batch struct {
	Group    string    `json:"group"`
	Epoch    string    `json:"epoch"`
	From     int64     `json:"from"`
	To       int64     `json:"to"`
	First    int64     `json:"first"`
	Last     int64     `json:"last"`
	Cursor   Position  `json:"cursor"` // the end of this page
	Complete bool      `json:"complete"`
	HasMore  bool      `json:"has_more"`
	Messages []Message `json:"messages"`
	// Profiles are the versions of the profiles of senders and of those who are mentioned, by user.
	Profiles map[string]int64 `json:"profiles,omitempty"`
	// Previews are what links in texts lead to, by link, where the server fetches that and has done so.
	Previews map[string]Preview `json:"previews,omitempty"`
	Progress                    // only in answers to Sync
}

// Kinds of inbox items.
const (
	ItemDirect         = "direct"
	ItemAdded          = "added"
	ItemRemoved        = "removed"
	ItemRequest        = "request" // what came of asking to join Group: Accepted
	ItemMention        = "mention"
	ItemAnnouncement   = "announcement"
	ItemScheduleFailed = "schedule_failed"
	ItemReview         = "review" // what became of a message that waited for a moderator
)

// Item is an entry of the caller's inbox.
type Item struct {
	Seq      int64           `json:"seq"`
	Kind     string          `json:"kind"`
	From     string          `json:"from,omitempty"`
	To       string          `json:"to,omitempty"`
	Via      string          `json:"via,omitempty"` // id of the key by which a program wrote it
	Group    string          `json:"group,omitempty"`
	ID       int64           `json:"id,omitempty"` // the message in Group that a mention refers to
	Body     string          `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"`
	Accepted *bool           `json:"accepted,omitempty"` // of an ItemRequest
	SentAt   time.Time       `json:"sent_at"`
	// DeletedAt is when the content of a direct message was erased together with its sender, or had to go.
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // when its content goes; nil: never
}

// Inbox is a page of the caller's inbox.
type Inbox struct {
	Epoch    string   `json:"epoch"`
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	First    int64    `json:"first"` // the lowest seq available
	Last     int64    `json:"last"`
	Acked    int64    `json:"acked"`
	Cursor   Position `json:"cursor"`   // the end of this page; see Position
	Complete bool     `json:"complete"` // false: items before From are no longer available, or the inbox is a different one
	HasMore  bool     `json:"has_more"`
	Items    []Item   `json:"items"`
	// Profiles are the versions of the profiles of those who sent the items, by user.
	Profiles map[string]int64 `json:"profiles,omitempty"`
}

// Direct is an item to put into a user's inbox.
type Direct struct {
	Body     string          `json:"body,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ClientID string          `json:"client_id,omitempty"` // generated if empty
}

// DirectSent is the position of a stored Direct.
type DirectSent struct {
	To        string    `json:"to"`
	Seq       int64     `json:"seq"`
	SentAt    time.Time `json:"sent_at"`
	Duplicate bool      `json:"duplicate"`
}

// Page selects a part of a list. The zero value is the first page of the server's default size.
type Page struct {
	Limit  int
	Cursor string // the Next of the previous page
}

// Receipt is the progress of one member.
type Receipt struct {
	User string `json:"user"`
	Seen int64  `json:"seen"`
	Read int64  `json:"read"`
}

// Receipts says who has seen and read one message: all members but its sender, or all members if the message is
// trimmed.
type Receipts struct {
	ID      int64     `json:"id"`
	Members int64     `json:"members"`
	Seen    int64     `json:"seen"`
	Read    int64     `json:"read"`
	SeenBy  []Receipt `json:"seen_by"`
	Pending []string  `json:"pending"`
	Next    string    `json:"next"`
}

// Unread counts other users' messages above `read`.
type Unread struct {
	Total    int64            `json:"total"`
	Mentions int64            `json:"mentions"`
	Threads  int64            `json:"threads"` // replies in threads that the caller follows
	Groups   map[string]int64 `json:"groups"`
}

// Preview is what a link leads to, as its page says.
type Preview struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Site        string `json:"site,omitempty"`
	Image       string `json:"image,omitempty"` // an https URL that the server has not fetched
}
