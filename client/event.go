package client

// Event is what a [Stream] or a [Poll] returns: one of the types below.
type Event interface{ event() }

// Messages are new entries of one group, in ascending order, each with a higher id than the last one returned for this
// group, unless a Gap came in between.
type Messages struct {
	Group    string
	Epoch    string
	From, To int64 // ids of the first and the last of Messages
	First    int64 // the lowest id that the caller may read, where the server said it with them; 0: it did not
	Cursor   Position
	Messages []Message
	// Profiles are the versions of the profiles of senders and of those who are mentioned, by user; Client.Users has those that lack.
	Profiles map[string]int64
}

// Gap means that the caller's copy of a group is incomplete or wrong: the server no longer has the messages between
// After and the next Messages, or the log is a different one (its epoch changed, or a failover rolled it back). Entries
// that the caller holds from From on belong to a log that no longer exists.
type Gap struct {
	Group string
	Epoch string
	After int64 // the id up to which the caller had everything; 0 if its position was only known as a cursor
	From  int64 // the id of the next message
	// Anew: the log is another one, or the position could not be read, so nothing that the caller holds is known to be in it.
	Anew bool
}

// Items are new entries of the inbox. If Complete is false, earlier items are no longer available, or the store lost
// the end of the inbox and these may be different items under seqs that were used before.
type Items struct {
	Epoch    string
	From, To int64
	Cursor   Position // to ack them by
	Complete bool
	Items    []Item
	// Profiles are the versions of the profiles of those who sent Items, by user; Client.Users has those that lack.
	Profiles map[string]int64
}

// CursorMoved means that a member (or another device of the caller) has seen or read more.
type CursorMoved struct {
	Group string `json:"group"`
	User  string `json:"user"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`
}

// Typing means that a member is typing.
type Typing struct {
	Group string `json:"group"`
	User  string `json:"user"`
}

// Here means that who has a group open has changed. It comes for the group that Stream.Focus named.
type Here struct {
	Group string   `json:"group"`
	Count int64    `json:"count"`
	Users []string `json:"users"` // five at most
}

// DraftChanged means that what the caller has begun to write in a group has changed, on another device or this one. Deleted: there is
// no draft any longer.
type DraftChanged struct {
	Group   string `json:"group"`
	Deleted bool   `json:"deleted"`
	KeptDraft
}

// Streamed means that a message that is being written has grown: Append begins at byte Offset. If Body is set, it is the whole text. The
// end of the message comes as an edit in the log.
type Streamed struct {
	Group  string  `json:"group"`
	ID     int64   `json:"id"`
	Offset int64   `json:"offset"`
	Append string  `json:"append"`
	Body   *string `json:"body"`
}

// StreamCancelled means that User asks the caller to stop writing a message.
type StreamCancelled struct {
	Group string `json:"group"`
	ID    int64  `json:"id"`
	User  string `json:"user"`
}

// Joined and Left mean that the caller's membership changed. After Left, the position in the group is forgotten.
type (
	Joined struct {
		Group string `json:"group"`
	}
	Left struct {
		Group string `json:"group"`
	}
)

// Connected means that a session of a Stream has begun. Groups is the state of the caller's groups at that moment.
type Connected struct {
	User    string
	Session string
	Groups  map[string]GroupPosition
}

// GroupPosition is the extent of a group's log, and the caller's cursors in it.
type GroupPosition struct {
	Epoch string `json:"epoch"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`
}

// Disconnected means that a session of a Stream has ended, or could not begin, and that the Stream reconnects. It comes
// once per outage. Err is the reason.
type Disconnected struct{ Err error }

func (Messages) event()        {}
func (Gap) event()             {}
func (Items) event()           {}
func (CursorMoved) event()     {}
func (Typing) event()          {}
func (Here) event()            {}
func (DraftChanged) event()    {}
func (Streamed) event()        {}
func (StreamCancelled) event() {}
func (Joined) event()          {}
func (Left) event()            {}
func (Connected) event()       {}
func (Disconnected) event()    {}
