package live

import "github.com/chatd/chatd/chat"

// Event is the next thing a Follower has for its session. Exactly one field is set. Other sessions may get the same batch of
// messages: it must not be changed. What concerns only the member (First and the cursors) is set only if the batch was
// read from the store.
type Event struct {
	Messages *chat.Batch
	Inbox    *chat.InboxBatch
	Cursor   *CursorEvent
	Typing   *TypingEvent
	Joined   string // group
	Left     string // group
	Draft    *DraftEvent
	Here     *Here
	Stream   *StreamEvent
	Cancel   *StreamCancelEvent
}

// CursorEvent reports that a member's cursors moved.
type CursorEvent struct {
	Group string `json:"group"`
	User  string `json:"user"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`

	Named  bool   `json:"-"` // it is shown even if the member, or who gets it, hides
	Quiet  bool   `json:"-"` // it is for the member alone
	Origin string `json:"-"` // the session that moved it
}

// TypingEvent reports that a member is typing.
type TypingEvent struct {
	Group string `json:"group"`
	User  string `json:"user"`
}

// DraftEvent reports what the user of the session has begun to write in a group.
type DraftEvent struct {
	Group string
	JSON  string // a drafts.Draft; empty: nothing any longer
}

// Welcome says where a session starts in each group.
type Welcome struct {
	Groups map[string]WelcomeGroup
	Errors []GroupError // positions that cannot be read, and groups that the client chose and the user is not in
}

// WelcomeGroup is one group at the start of a session.
type WelcomeGroup struct {
	Epoch string `json:"epoch"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`
}
