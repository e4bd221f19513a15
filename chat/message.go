package chat

import "sync"

// Kind says what an entry of a log is.
type Kind string

// The kinds of entries. Only text and data count as unread messages.
const (
	Text     Kind = "text"
	Data     Kind = "data"
	Edit     Kind = "edit"
	Delete   Kind = "delete"
	Reaction Kind = "reaction"
	Notice   Kind = "notice"
)

// NoticeUsersMax is how many users who joined, or were removed, together share a notice: it has 13 KB at most.
const NoticeUsersMax = 100

// What a notice reports.
const (
	NoticeCreated  = "created"
	NoticeJoined   = "joined"
	NoticeLeft     = "left"
	NoticeRemoved  = "removed"
	NoticeRole     = "role"
	NoticeRenamed  = "renamed"
	NoticeSettings = "settings"
	NoticeBanned   = "banned"
	NoticeMuted    = "muted" // or may write again
	NoticePinned   = "pinned"
	NoticeUnpinned = "unpinned"
	NoticeData     = "data" // of a member; it does not hold the data, which goes with the membership
)

// Message is an entry of a log as the store keeps it and as clients are served: its JSON is written once and never
// encoded again.
type Message struct {
	ID   int64
	Mark string // random, from the message's birth to its end; never changes, also not by an edit
	// Edits are the ids of the edit entries of this message, oldest first; they are blanked with it.
	Edits []int64
	JSON  []byte // the object that clients see, beginning with {"id":<ID>,
}

// Entry is the decoded JSON of a Message. Fields that a kind does not have are absent.
type Entry struct {
	ID    int64  `json:"id"`
	Group string `json:"group"`
	From  string `json:"from"`
	Content
	Erased     []int64      `json:"erased,omitempty"` // ids of entries that this one takes the content and the author of
	SentAt     Time         `json:"sent_at"`
	Via        string       `json:"via,omitempty"` // id of the key by which a program wrote it
	Notice     string       `json:"notice,omitempty"`
	User       string       `json:"user,omitempty"`        // whom a notice concerns
	Users      []string     `json:"users,omitempty"`       // in place of User where it concerns several, NoticeUsersMax at most
	Role       Role         `json:"role,omitempty"`        // the new role, in a notice of role
	Name       *string      `json:"name,omitempty"`        // the new name, in a notice of renamed
	Settings   *GroupChange `json:"settings,omitempty"`    // the new values of what changed, in a notice of settings
	MutedUntil *Time        `json:"muted_until,omitempty"` // in a notice of muted: when User may write again; nil: now
	Until      *Time        `json:"until,omitempty"`       // in a notice of banned: when User may join again; nil: never
	EditedAt   *Time        `json:"edited_at,omitempty"`
	DeletedAt  *Time        `json:"deleted_at,omitempty"`
	ExpiresAt  *Time        `json:"expires_at,omitempty"` // when it goes; the last field, see EndMs
}

// Durability is how much a send waits for, and what it reached.
type Durability string

// Memory: written by the store (the embedded store has written it to its journal, which survives a kill of the process).
// Disk: synced to the store's disk. Replica: a replica has it, too.
const (
	DurabilityMemory  Durability = "memory"
	DurabilityDisk    Durability = "disk"
	DurabilityReplica Durability = "replica"
)

// Sent is the answer to a send.
type Sent struct {
	Message
	SentAt     Time
	Duplicate  bool       // the key was known: this is the first answer again
	Durability Durability // what was reached; empty when the caller asked for nothing
}

// Position is what a client names in `after`: nothing (the server's own cursor), an id, or an id with the epoch and the mark
// of the message there.
type Position struct {
	Set   bool // false: the member's own `seen`
	ID    int64
	Epoch string // empty when only an id was given
	Mark  string // empty when only an id was given, "-" where the mark at ID was not known
}

// Cursors of a member in a group, as answers show them.
type Cursors struct {
	Seen   int64 `json:"seen"`
	Read   int64 `json:"read"`
	Unread int64 `json:"unread"`
}

// Batch is the result of a pull: the messages after a position, and the position after them.
//
// Invariant: Messages hold every id From..To that the member may see, ascending, with no hole. An empty batch has
// To = From-1.
type Batch struct {
	Group    string
	Epoch    string
	From, To int64
	First    int64 // the lowest id that can be read
	Last     int64 // the highest id of the log
	Cursor   string
	Complete bool // false: something between the position and From is gone, or the position is of another log
	HasMore  bool
	Messages []Message
	Cursors  // of the member; Unread is exact
	// Shared is not nil if many sessions get this very batch: a transport may keep its encoding there.
	Shared *Shared
}

// Shared keeps one value, made by the first caller, for all who hold the same batch.
type Shared struct {
	once  sync.Once
	value any
}

// Together is what readers have in common who were answered with the same entries at the same moment.
type Together struct {
	mu      sync.Mutex
	batches map[batchKey]*Shared
}

// batchKey is what batches of the same entries may differ in where they are shown.
type batchKey struct {
	from, to int64
	complete bool
}

// Of returns what is shared by those who get the entries of b, which are of this answer, as one batch. A nil *Together shares
// nothing.
func (t *Together) Of(b *Batch) *Shared {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := batchKey{b.From, b.To, b.Complete}
	if t.batches == nil {
		t.batches = map[batchKey]*Shared{}
	}
	if t.batches[key] == nil {
		t.batches[key] = &Shared{}
	}
	return t.batches[key]
}

// Get returns the value, calling make for the first caller.
func (s *Shared) Get(make func() any) any {
	s.once.Do(func() { s.value = make() })
	return s.value
}
