package client

// Event is what a [Stream] or a [Poll] hands out: one of the types below.
type Event interface{ event() }

// Messages are new entries of one group, ascending, each one higher than the last one handed out of this group, unless
// a Gap came in between.
type Messages struct {
	Group    string
	Epoch    string
	From, To int64 // ids of the first and the last of Messages
	Cursor   Position
	Messages []Message
}

// Gap tells that the caller's copy of a group has a hole: what lay between After and the next Messages is gone on the
// server, or the log is another one than before (its epoch changed, or a failover rolled it back). What the caller
// holds above From-1 is of a log that no longer exists.
type Gap struct {
	Group string
	Epoch string
	After int64 // the id up to which the caller had everything; 0 where the position was only known as a cursor
	From  int64 // the next id to come
}

// Items are new entries of the inbox. Complete false: others before them are not to be had, or the store lost the end of the
// inbox and these may be other items under seqs that came before.
type Items struct {
	Epoch    string
	From, To int64
	Cursor   Position // to ack them by
	Complete bool
	Items    []Item
}

// CursorMoved tells that a member (or another device of the caller) has seen or read further.
type CursorMoved struct {
	Group string `json:"group"`
	User  string `json:"user"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`
}

// Typing tells that a member is writing.
type Typing struct {
	Group string `json:"group"`
	User  string `json:"user"`
}

// Joined and Left tell that the caller's membership changed. After Left the position in the group is forgotten.
type (
	Joined struct {
		Group string `json:"group"`
	}
	Left struct {
		Group string `json:"group"`
	}
)

// Connected tells that a session of a Stream began. Groups says how the caller's groups stood at that moment.
type Connected struct {
	User    string
	Session string
	Groups  map[string]GroupPosition
}

// GroupPosition is how far a group's log reaches, and the caller in it.
type GroupPosition struct {
	Epoch string `json:"epoch"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	Seen  int64  `json:"seen"`
	Read  int64  `json:"read"`
}

// Disconnected tells that a session of a Stream ended, or could not begin, and that another one is tried: once per
// outage. Err says why.
type Disconnected struct{ Err error }

func (Messages) event()     {}
func (Gap) event()          {}
func (Items) event()        {}
func (CursorMoved) event()  {}
func (Typing) event()       {}
func (Joined) event()       {}
func (Left) event()         {}
func (Connected) event()    {}
func (Disconnected) event() {}
