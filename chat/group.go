package chat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Visibility says who may know of a group.
type Visibility string

// A private group answers not_found to everyone outside it; a public one shows its description.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// Role is what a member may do: the owner everything, an admin all but deleting the group, a member post and read.
type Role string

// The three roles.
const (
	Owner    Role = "owner"
	Admin    Role = "admin"
	Ordinary Role = "member"
)

// Manages reports whether the role may change settings, add and remove members, and delete anyone's messages.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// Posting says who may post in a group.
type Posting string

// Everyone in the group, or only its owner and admins.
const (
	PostMembers Posting = "members"
	PostAdmins  Posting = "admins"
	PostNone    Posting = "none" // nobody posts or edits; announcements come
)

// Mentioning says who may mention all members at once. In a group of more than MentionAllMax members only those who manage it may.
type Mentioning string

// Who may mention all.
const (
	MentionMembers  Mentioning = "members"
	MentionManagers Mentioning = "managers"
	MentionOff      Mentioning = "off"
)

// MentionAll in the mentions of a message stands for all members. It is no user's id.
const MentionAll = "@all"

// MentionAllMax is up to how many members a group may have for its ordinary members to mention all.
const MentionAllMax = 1000

// Joining says who may add themself to a public group. Nobody adds themself to a private one.
type Joining string

const (
	JoinOpen   Joining = "open"
	JoinAsk    Joining = "ask" // those who manage the group decide
	JoinClosed Joining = "closed"
)

// JoiningOf is that of a group that says nothing of it.
func JoiningOf(v Visibility) Joining {
	if v == Public {
		return JoinOpen
	}
	return JoinClosed
}

// Pinning says who may pin messages. In a direct group, which nobody manages, both may unless it says otherwise.
type Pinning string

const (
	PinManagers Pinning = "managers"
	PinMembers  Pinning = "members" // who may write
)

// PinningOf is that of a group that says nothing of it.
func PinningOf(direct bool) Pinning {
	if direct {
		return PinMembers
	}
	return PinManagers
}

// Receipting says what receipts of a group say.
type Receipting string

// What receipts say. Everybody is counted whatever they hide, but with ReceiptsOff, where there are none.
const (
	ReceiptsOptional Receipting = "optional" // who has read, but for those who hide it
	ReceiptsRequired Receipting = "required" // who has read, hidden or not
	ReceiptsCounts   Receipting = "counts"   // how many have read
	ReceiptsOff      Receipting = "off"
)

// Overflow says what happens where a member falls behind.
type Overflow string

// Drop: a member who is more than BacklogMax messages behind is no longer waited for. Block: nobody is passed by; sends are
// refused with CodeBacklogFull while a member other than the sender is that far behind.
const (
	OverflowDrop  Overflow = "drop"
	OverflowBlock Overflow = "block"
)

// Group is a log with members, as a client sees it.
//
// Invariant: First <= Last+1; the ids First..Last can be read, from the store or from the archive.
type Group struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Visibility   Visibility `json:"visibility"`
	CreatedBy    string     `json:"created_by"`
	CreatedAt    Time       `json:"created_at"`
	Epoch        string     `json:"epoch"`
	First        int64      `json:"first"`
	Last         int64      `json:"last"`
	Members      int64      `json:"members"`
	Keep         int64      `json:"keep"`
	BacklogMax   int64      `json:"backlog_max"`
	Overflow     Overflow   `json:"overflow"`
	BacklogBytes int64      `json:"backlog_bytes"`    // of files in messages that not all have seen, where Overflow is OverflowBlock
	Direct       []string   `json:"direct,omitempty"` // of a direct group: its two users, sorted
	Post         Posting    `json:"post"`
	History      bool       `json:"history"`
	RetainDays   int64      `json:"retain_days"` // after how many days messages go; 0: never
	Join         Joining    `json:"join"`
	SlowS        int64      `json:"slow_s"`   // seconds that a member waits between messages; 0: none
	ExpireS      int64      `json:"expire_s"` // seconds after which messages go; 0: never
	Receipts     Receipting `json:"receipts"`
	Pins         Pinning    `json:"pins"`
	MentionAll   Mentioning `json:"mention_all"`

	Data    json.RawMessage `json:"data,omitempty"` // custom fields, see MergeData; nil: none
	Version int64           `json:"-"`              // of name, settings and data, which each change raises
	Hold    *Hold           `json:"hold,omitempty"` // for operators alone

	MutedUntil *Time `json:"muted_until,omitempty"` // when the caller may write again; nil: now
}

// Tag is the entity tag of what UpdateGroup changes.
func (g Group) Tag() string { return fmt.Sprintf(`"%s.%d"`, g.Epoch, g.Version) }

// Match tells whether a caller wants to change what has a tag.
type Match func(tag string) bool

// matched refuses with ErrConflict unless the tag of g meets all of matches; nil ones ask for nothing.
func (g Group) matched(matches []Match) error {
	for _, match := range matches {
		if match != nil && !match(g.Tag()) {
			return ErrConflict
		}
	}
	return nil
}

// Member is one user in one group.
type Member struct {
	User     string `json:"user"`
	Role     Role   `json:"role"`
	JoinedAt Time   `json:"joined_at"`
	Seen     int64  `json:"seen"`
	Read     int64  `json:"read"`
	Veiled   bool   `json:"-"` // Seen and Read are hidden from who asks

	Data json.RawMessage `json:"data,omitempty"` // custom fields, see MergeData; nil: none

	MutedUntil *Time      `json:"muted_until,omitempty"` // when they may write again; nil: now
	Receipts   Receipting `json:"-"`                     // of the group, in a list of members; empty: as by default
}

// Time is an instant as the wire shows it: RFC 3339, UTC, milliseconds.
type Time struct{ time.Time }

// TimeLayout is the one layout of times on the wire.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// String formats t with TimeLayout.
func (t Time) String() string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes t with TimeLayout, quoted.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads an RFC 3339 time.
func (t *Time) UnmarshalJSON(b []byte) error { return t.Time.UnmarshalJSON(b) }

// TimeMs is the instant ms milliseconds after the Unix epoch.
func TimeMs(ms int64) Time { return Time{time.UnixMilli(ms).UTC()} }

var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// ParseTime reads a time as RFC 3339 has it, with any offset. The standard library also takes what that has not: a comma, an hour
// of one digit, offsets of more than a day; and refuses the t and z that it has.
func ParseTime(text string) (time.Time, bool) {
	if !rfc3339.MatchString(text) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return time.Time{}, false // it could not be answered: a year has four digits
	}
	return t, err == nil
}
