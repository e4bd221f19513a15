package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// The interfaces below are what the domain asks of a store. Every method is one atomic step in the store unless it says
// otherwise, checks rights at the instant of the write, and may be repeated: a repeat after a lost answer does no harm.
// Errors wrap one of the Err values of this package; ErrUnavailable where the store could not be reached.

// Caller is the user on whose behalf a step runs. Admin marks an operator or a backend, who manages every group like its
// owner.
type Caller struct {
	User  string
	Admin bool
	// Session names the caller's websocket session, if there is one: it gets no events about its own acks. 1 to 32 of
	// `A-Za-z0-9_-`.
	Session string
	// Via is the id of the key by which a program makes the call, for User or, where User is key:<id>, for itself; empty: a
	// person's own token. What is written names it.
	Via string
	// Reach tells which groups the call may have to do with; nil: all.
	Reach Reach
}

// Reach tells which groups a caller may reach.
type Reach interface {
	InGroup(group string) bool
}

// Reaches tells whether the caller may have to do with a group at all.
func (c Caller) Reaches(group string) bool { return c.Reach == nil || c.Reach.InGroup(group) }

// Reached are those of an index that the caller reaches.
func (c Caller) Reached(index []UserGroup) []UserGroup {
	if c.Reach == nil {
		return index
	}
	return slices.DeleteFunc(slices.Clone(index), func(g UserGroup) bool { return !c.Reaches(g.Group) })
}

// Program tells whether the caller is a key that acts for nobody.
func (c Caller) Program() bool { return c.Via != "" && c.User == keyPrefix+c.Via }

// Info is a group as one user stands to it, read in one instant.
type Info struct {
	Group
	Role                   Role   // empty: not a member
	Joined                 int64  // id of the notice of joining
	Seen, Read             int64  // cursors; 0 for a non-member
	Unread, MentionsUnread int64  // exact, over the newest BacklogMax messages
	ThreadsUnread          int64  // replies in threads that the user follows
	Threads                bool   // messages of the group have threads
	Blocked                bool   // in a direct group: the other user blocks this one, who may not write
	Acted                  bool   // created the group, acked since joining, or sent: false for users who were only put into the group
	ActiveMs               int64  // when the newest entry was sent
	NewestID               int64  // id of the newest text or data; 0: none yet
	Streams                bool   // messages are being written; not of all reads
	LastMark               string // mark of the entry at Last, also where that entry is trimmed
	Trimmed                Trimmed

	// What the store holds itself, and what of the log is in the archive. Without an archive First is Held, and the others
	// are 0.
	Held     int64 // the lowest id that is stored: what counts as unread, and where a new member begins, is above it
	Archived int64 // the highest id that the archive has confirmed
	Late     int64 // the newest entry that changed (edited, deleted, reacted to) an entry below Held
	Changed  int64 // the newest entry that changed any: above Archived, the archive is behind on what it serves
}

// NoticeEntry is an entry that the server writes: its JSON from after `{"id":N,` to the closing brace, and its mark.
type NoticeEntry struct {
	Mark string
	Rest []byte
}

// NewGroup is the record of a group to be created.
type NewGroup struct {
	Group            // ID, Name, Visibility, CreatedBy, CreatedAt, Epoch and the settings; Join and Pins may be empty: by what it is
	Key     string   // retry key hash, or empty: creating again with the same key is no error
	Members []string // besides the owner, each once
	// Notices are: created, then joined for each NoticeUsersMax of Members, in order.
	Notices []NoticeEntry
}

// Owner is who owns the group at first, and is a member: its creator. A group that a program made has none.
func (g NewGroup) Owner() string {
	if strings.HasPrefix(g.CreatedBy, keyPrefix) {
		return ""
	}
	return g.CreatedBy
}

// GroupChange is a change of name or settings; nil fields stay. A notice of settings carries it without the name.
type GroupChange struct {
	Name         *string         `json:"name,omitempty"`
	Visibility   *Visibility     `json:"visibility,omitempty"`
	Keep         *int64          `json:"keep,omitempty"`
	BacklogMax   *int64          `json:"backlog_max,omitempty"`
	Overflow     *Overflow       `json:"overflow,omitempty"`
	BacklogBytes *int64          `json:"backlog_bytes,omitempty"`
	Post         *Posting        `json:"post,omitempty"`
	History      *bool           `json:"history,omitempty"`
	RetainDays   *int64          `json:"retain_days,omitempty"`
	SlowS        *int64          `json:"slow_s,omitempty"`
	ExpireS      *int64          `json:"expire_s,omitempty"`
	Receipts     *Receipting     `json:"receipts,omitempty"`
	Join         *Joining        `json:"join,omitempty"`
	Pins         *Pinning        `json:"pins,omitempty"`
	MentionAll   *Mentioning     `json:"mention_all,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"` // a JSON Merge Patch; in a notice, and for a store, all of it
}

// Membership is a change of one user's membership, with its notice.
type Membership struct {
	Group  string
	User   string
	By     Caller
	Role   Role // for Join and SetRole; a join by anyone but owner, admin or operator is always Ordinary
	AtMs   int64
	Notice NoticeEntry
	// Heir is for Leave by the owner: the notice of role of the successor, in two halves around the user's id
	// (the id needs no escaping). It is written only where the owner left others behind.
	HeirMark           string
	HeirHead, HeirTail []byte
}

// UsersNotice is a notice in two halves around whom it concerns: `"user":"<id>"`, or `"users":["<id>",...]` for several.
type UsersNotice struct {
	Mark       string
	Head, Tail []byte
}

// InfoStore tells how users stand to groups.
type InfoStore interface {
	// Infos reads each group as user stands to it, in order; one round trip a partition. One that does not exist has no Epoch, none Data.
	Infos(ctx context.Context, user string, groups []string) ([]Info, error)
	// Views is Infos with Data, which may be much: it is for what is shown.
	Views(ctx context.Context, user string, groups []string) ([]Info, error)
}

// GroupStore keeps groups.
type GroupStore interface {
	// CreateGroup makes the group with its first members and notices, a task that completes it, and a list of those who
	// wait to become members. ErrExists when the id is taken by another creation, ErrGone while a deleted group of this
	// id is not cleaned up yet.
	CreateGroup(ctx context.Context, g NewGroup) error
	// Waiting reads NoticeUsersMax of the users who still have to be added since the creation; none: everyone is a member.
	Waiting(ctx context.Context, group string) ([]string, error)
	// Invite adds those of users who still have to be added, with one notice of joining. ErrNotFound: no such life of the group.
	Invite(ctx context.Context, group, epoch string, atMs int64, users []string, notice UsersNotice) error
	// UpdateGroup changes name, settings and data and appends the notices (renamed, settings). ErrNotFound, ErrForbidden;
	// ErrConflict unless the group still has the Epoch and the Version of was, if that is given.
	UpdateGroup(ctx context.Context, by Caller, group string, was *Group, change GroupChange, notices []NoticeEntry, atMs int64) error
	// DeleteGroup removes the group (owner or operator). What is left of it beyond one step is removed by a task. ErrConflict as
	// of UpdateGroup.
	DeleteGroup(ctx context.Context, by Caller, group string, was *Group) error
	// PublicGroups pages through the public groups that by reaches, by name, then id. after is "" or what next was, which
	// clients get as it is: anything else is CodeInvalid.
	PublicGroups(ctx context.Context, by Caller, after string, limit int) (groups []string, next string, err error)
	// Gone names some of the users of a deleted group, as many as one step of Cleanup takes: those who were members or
	// sent something. Their index may still hold the group. None: everything is cleaned up.
	Gone(ctx context.Context, group string) (users []string, err error)
	// Cleanup removes what users, named by Gone, left behind in a deleted group. Update their index before: nothing lists
	// them afterwards. more: call both again.
	Cleanup(ctx context.Context, group string, users []string) (more bool, err error)
}

// MemberStore keeps the members of groups.
type MemberStore interface {
	// Join adds m.User, as its own step or by an owner, admin or operator. Already a member: added is false and
	// nothing changes. Errors: ErrNotFound (no group, or private and By is outside), ErrForbidden, ErrOutOfRange (full).
	Join(ctx context.Context, m Membership) (member Member, added bool, err error)
	// SetRole changes a member's role. Owner makes m.User the owner and the former owner an admin; only the owner (or
	// an operator) does that. ErrNotFound: not a member.
	SetRole(ctx context.Context, m Membership) (member Member, changed bool, err error)
	// Leave removes m.User: by itself (notice left), or by an owner, admin or operator (removed). Succession, and the
	// deletion of the group with the last one out, happen in the same step. Not a member: ErrNotFound.
	Leave(ctx context.Context, m Membership) (deleted bool, err error)
	// Members pages through the members by the order of joining, for a member; user "" is an operator, who manages every
	// group. after is next of the page before, `<joined id>.<user>` of its last one, "" for the first page.
	Members(ctx context.Context, group, user, after string, limit int) (members []Member, next string, err error)
	// Blockers reads which members hold back trimming or, with OverflowBlock, may have a send refused, the slowest first, at most
	// BlockersMax: owner, admin or operator. by is left out, unless it is an operator.
	// ErrNotFound, ErrForbidden.
	Blockers(ctx context.Context, by Caller, group string) ([]Blocker, error)
}

// Append is an entry to be appended by a client.
type Append struct {
	Group      string
	From       string
	Kind       Kind
	Mark       string
	Rest       []byte // JSON of the entry after `{"id":N,`
	SentAtMs   int64
	Key        string   // client_id, or empty
	Content    string   // hash of the content, compared when Key is known already; empty without a Key
	Mentions   []string // only members among them are counted and notified
	ReplyTo    int64    // above last: ErrOutOfRange
	Thread     int64    // the root: ErrNotFound when it is trimmed or deleted, CodeOutOfRange when it is nothing to reply to
	ExpireS    int64    // seconds after which it goes, if the group says none that are fewer; 0: no such
	Target     int64    // of a reaction: ErrNotFound when trimmed or deleted
	Emoji      string
	Removed    bool
	Below      *Below     // the target, or the root of the thread, is in the archive; nil: the store holds it
	Operator   bool       // From is an operator, who as a member manages whatever the role
	Decided    bool       // of a deletion: by who managed the group then; From need not be a member
	Actor      Caller     // of a deletion of another's message: whom the audit names; without a User it gets no entry
	Durability Durability // empty: memory
	Files      []string   // ids of the files that Rest shows
	Look       bool       // checks a text or data, and appends nothing: the first answer where the Key is known, else no ID
	Release    *ReviewEnd // the entry was reviewed: the review ends with it, and slow mode does not count
	Stream     bool       // it is still being written
	Body       string     // of a stream
	FilesGone  bool       // they cannot be named: only a Key that is known is answered, and CodeInvalid otherwise
}

// Below is how a target stood in the archive when it was read there. ErrConflict: an entry in the archive has changed since.
type Below struct {
	Epoch string // of the log
	Late  int64  // Info.Late
	// Same is the reaction that says the same already, with its mark; an ID of 0: there is none.
	Same Message
	// Author is who wrote the root of a thread.
	Author string
}

// Appended is where an entry ended up.
type Appended struct {
	ID         int64
	Epoch      string
	Mark       string
	SentAtMs   int64 // of the first time, for a duplicate
	EndsMs     int64 // when it goes; 0: never, or it is gone
	Duplicate  bool
	Durability Durability
}

// Pull asks for a page of one group: entries from From on, or those that end before Before.
type Pull struct {
	Group  string
	From   int64 // the lowest id to be read
	Before int64 // > 0: the newest entries below this id, instead of From
	Limit  int   // entries; 0: only Info
	// Unseen: From is a guess, and nothing up to the member's seen is needed.
	Unseen bool
	// Counted asks for the reactions to the entries of the page.
	Counted bool
	// Shared: others are likely to ask for the same entries at this moment. The store may read them once for all; the answer is
	// the same, of an instant not before the call, and a long page may end earlier.
	Shared bool
	// NoUnread: Info.Unread is not needed, and may be 0.
	NoUnread bool
}

// Page is the answer to a Pull: the group, and the entries that were asked for as far as the member may see them. Info
// lacks what serving entries does not need: name, creation, settings but History, mentions, activity, and Joined where
// history is shown; of those outside it has Epoch and Visibility. Err is
// ErrNotFound (no such group, or private and not a member) or ErrForbidden (public and not a member); Info is set then
// as far as it is known. Anything else is of a log that cannot be read, which spoils none of the other pages.
type Page struct {
	Info     Info
	Messages []Message // ascending, dense; none below Info.Visible(), and redacted by Info.Redact
	Cut      bool      // nothing was read: the pulls before it have filled what one call reads
	// Reactions are those to the entries that the store itself holds (from Info.Held on), read in the same step. It is nil if
	// Pull.Counted is not set, or if there are too many for one step: LogStore.Reactions reads those.
	Reactions map[int64]map[string]ReactionCount
	// Together is not nil if others were answered with the same Messages.
	Together *Together
	Err      error
}

// LogStore keeps the messages of groups.
type LogStore interface {
	// Append appends an entry, or gives the first answer again when the key is known. ErrNotFound, ErrForbidden
	// (public and not a member, or only admins post), ErrKeyReused, ErrOutOfRange, ErrConflict (too many emoji).
	Append(ctx context.Context, a Append) (Appended, error)
	// SendableFiles reads files that a message of user may name: complete ones that user uploaded to the group. CodeInvalid.
	SendableFiles(ctx context.Context, group, user string, ids []string) ([]File, error)
	// Revise appends an edit or a delete entry and changes what it touches, in one step. changes[0] is the target.
	// ErrConflict when one of changes no longer reads as Old: read again and retry. asAdmin: the role must manage.
	// A known key is answered before anything is compared, as in Append.
	Revise(ctx context.Context, a Append, changes []Change, asAdmin bool) (Appended, error)
	// Unreact takes the emoji out of some reactions to a deleted message that Revise, or an erasure, left; next is where to go on,
	// 0 at the end. ErrNotFound: no such life of the group.
	Unreact(ctx context.Context, t UnreactTask) (next int64, err error)
	PullStore
	// Range reads entries from..(from+limit-1) for the node itself, without a member's rights, with the end of the log. The one
	// that reaches bytesMax, in bytes of what is stored, is the last; 0: no such bound.
	Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]Message, LogEnd, error)
	// Entries reads single messages by id; absent ones are left out.
	Entries(ctx context.Context, group string, ids []int64) ([]Message, error)
	// Pinned reads a pinned message, which the log may have trimmed. ErrNotFound: it is not pinned.
	Pinned(ctx context.Context, group string, id int64) (Message, error)
	// Reactions gives, for the messages from..to, the reactions with their counts and whether user is among them.
	Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]ReactionCount, error)
	replyCounts
	// Trim removes at most 500 messages that nobody needs any longer. more: call again.
	Trim(ctx context.Context, group string) (more bool, err error)
}

// ReactionCount is how many members reacted with one emoji.
type ReactionCount struct {
	Count int64 `json:"count"`
	Mine  bool  `json:"mine"`
}

// CursorStore moves cursors.
type CursorStore interface {
	// Ack moves seen to a position, and read too where read is true; never backward. It trims what that frees, within a bound;
	// the rest is a task. ErrOutOfRange: id above last. ErrConflict: a cursor of another log, or of what is not there any
	// longer. ErrNotFound, ErrForbidden: not a member.
	// The signal of the move carries origin, an opaque word, or empty.
	Ack(ctx context.Context, group, user string, at Position, read bool, origin string) (Cursors, error)
	// Unread moves read back to id-1 (never forward, and not below what the member may see). seen stays.
	Unread(ctx context.Context, group, user string, id int64) (Cursors, error)
	// Receipts of message id, paged by the order of joining. For members. A trimmed message is answered from the cursors
	// alone, over all members. ErrNotFound: no such id yet, or hidden from user.
	Receipts(ctx context.Context, group, user string, id int64, after string, limit int) (Receipts, error)
}

// UserGroup is an entry of a user's index: a hint, which may lag behind the group.
type UserGroup struct {
	Group string
	Seen  int64
	// Invited: someone else added the user, and the user has not acted there yet. Such groups are counted separately, so
	// that nobody can use up what a user needs for their own groups.
	Invited bool
	By      string // who added them, to be written: they may block that user; empty: nobody, or it does not matter
}

// Indexed says how many groups a user's index has, whether a certain one is among them, and whom the user blocks.
type Indexed struct {
	Groups  int64
	Invited int64 // of these: see UserGroup
	Has     bool
	Blocks  bool // the user blocks the one who asks
}

// IndexStore keeps the index of the groups of a user, in the user's partition. It is derived: repaired from the groups.
type IndexStore interface {
	// UserGroups returns the whole index (bounded by twice Limits.UserGroupsMax), in no particular order.
	UserGroups(ctx context.Context, user string) ([]UserGroup, error)
	// Looks tells of each group, in order, how far user is in it and where it ends: one round trip, a command a partition.
	Looks(ctx context.Context, user string, groups []string, at LookAt) ([]Look, error)
	// Indexed reports for each of users, in order, how large the index is, whether group is in it, and whether they block by, empty:
	// that is not asked. It reads no index.
	Indexed(ctx context.Context, by, group string, users []string) ([]Indexed, error)
	// AddUserGroups puts group into the index of each of users and signals joined to them. A hint that is there already
	// is lowered to seen where it is above, never raised. ErrBlocked, when all others are done: some block g.By.
	AddUserGroups(ctx context.Context, users []string, g UserGroup) error
	// DropUserGroup takes a group out of the index and signals left if it was there.
	DropUserGroup(ctx context.Context, user, group string) error
	// ClaimAdds counts, for each of users, that by adds them to group: once for a group, until they leave it or act there, or for
	// ten minutes where they are not added after all. full are those for whom nothing is counted, because by has added them to
	// Limits.AddedByOneMax such groups.
	ClaimAdds(ctx context.Context, by, group string, users []string) (full []string, err error)
	// HintSeen raises the hints of a user, for groups that are in the index.
	HintSeen(ctx context.Context, user string, seen []UserGroup) error
	// KnowAll puts users on the list of all users that the server has ever known: those who authenticated, became a member, or got an
	// inbox item. The steps that write an index or an inbox add their user themselves.
	// It returns those who are on it, also where it fails for others.
	KnowAll(ctx context.Context, users []string) (written []string, err error)
}

// Arriving is what a sync asks for when it begins.
type Arriving struct {
	After    Position // of the inbox; not set: what was acked
	Limit    int      // of items
	Groups   []string // to look at
	At       LookAt
	NoIndex  bool // the index is known. With Grounded: where there is no Ground, it may be that nothing is read
	Grounded bool // what was known is compared
}

// Arrivals is what a sync begins with.
type Arrivals struct {
	Groups []UserGroup // the whole index
	Inbox  InboxBatch
	Looks  []Look // at the groups that were asked for, in order; nil: not read

	// Ground names the store that the node's signals come from. All that were published before this was read are delivered. Where the
	// ground was the same before, and none was missed meanwhile, nothing has changed of which no signal came. Empty: that is not known.
	Ground string
}

// NewItem is an item to be put into an inbox.
type NewItem struct {
	To          string
	From        string // the sender; "$chat" for the server's own
	Rest        []byte // JSON of the item after `{"seq":N,`
	SentAtMs    int64
	Key         string     // client_id, or the server's own key; empty: no deduplication
	Content     string     // hash of the content
	System      bool       // an item of the server: it displaces others of its like instead of being refused
	Cause       string     // the user who caused it: an inbox holds at most Limits.InboxSenderMax unacked items per cause; empty: nobody
	Author      string     // on whose account it comes: ErrBlocked where To blocks them, or nothing happens if it is of the server
	ToStrangers bool       // To may be a user who has never used the server, without counting against the sender
	Mention     bool       // it counts against Limits.InboxMentionsMax instead
	Look        bool       // put nothing in: the answer is the first one where the Key is known, and else has no seq
	Release     *ReviewEnd // the item was reviewed: the review ends with it
	Notify      Priority   // how urgently to notify an offline owner of the item; empty: not at all
}

// InboxStore keeps inboxes.
type InboxStore interface {
	// InboxAppend puts an item in. ErrInboxFull, also where From would have more than Limits.StrangersBytesMax waiting with
	// users who have never used the server; ErrKeyReused.
	InboxAppend(ctx context.Context, item NewItem) (seq, sentAtMs int64, duplicate bool, err error)
	// InboxPull reads up to limit items after a position; not set: after what was acked. Epoch "" never occurs.
	InboxPull(ctx context.Context, user string, after Position, limit int) (InboxBatch, error)
	// InboxAck moves acked forward and drops what is acked, except for the newest Limits.InboxKeep items. Above the last:
	// ErrOutOfRange; ErrConflict for a cursor of another life of the inbox, or of what is not there any longer.
	InboxAck(ctx context.Context, user string, at Position) (acked int64, err error)
}

// Answer is the first answer to a creation with a key.
type Answer struct {
	Status int
	Body   json.RawMessage
}

// KeyStore remembers the answers to creations that carry an Idempotency-Key, per user.
type KeyStore interface {
	// Claim remembers that user began something with key. It returns the answer if that was finished before, and nil if it
	// is new or was left unfinished (then the creation runs again, and is itself idempotent). ErrKeyReused if content
	// differs.
	Claim(ctx context.Context, user, key, content string) (*Answer, error)
	// Finish keeps the answer.
	Finish(ctx context.Context, user, key string, answer Answer) error
}

// Store is everything that the core asks of a store. Features ask for more, each with a Store of its own.
type Store interface {
	InfoStore
	GroupStore
	MemberStore
	HoldStore
	LogStore
	CursorStore
	IndexStore
	InboxStore
	KeyStore
	ReviewStore
}

// Kinds of the tasks that a store's steps enqueue and Service.Handlers runs, with the JSON of their payload.
const (
	TaskMention = "mention" // MentionTask
	TaskMember  = "member"  // MemberTask
	TaskTrim    = "trim"    // GroupTask
	TaskCleanup = "cleanup" // GroupTask: the rest of a deleted group
	TaskUnreact = "unreact" // UnreactTask: the other reactions to a deleted message
)

// MentionTask puts an item into the inboxes of members whom a message mentions.
type MentionTask struct {
	Group string   `json:"group"`
	Epoch string   `json:"epoch"`
	ID    int64    `json:"id"`
	From  string   `json:"from"`
	Users []string `json:"users"`
}

// MemberTask updates the index of users to the state of the group, and puts an item into the inboxes of those who did not
// act themselves.
type MemberTask struct {
	Group string   `json:"group"`
	Epoch string   `json:"epoch"`
	ID    int64    `json:"id"` // of the (first) notice: part of the key of the items
	By    string   `json:"by"`
	What  string   `json:"what"` // joined, left, removed, imported
	Users []string `json:"users"`
	AtMs  int64    `json:"at_ms"`
}

// UnreactTask takes the emoji out of the reactions to a deleted message.
type UnreactTask struct {
	Group     string `json:"group"`
	Epoch     string `json:"epoch"`
	Target    int64  `json:"target"`
	From      int64  `json:"from"`       // the lowest id of a reaction that is left
	DeletedAt string `json:"deleted_at"` // as it stands in entries
	Deletion  int64  `json:"deletion"`   // id of the entry that deleted the message
}

// GroupTask names one life of a group.
type GroupTask struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"`
}
