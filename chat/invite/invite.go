// Package invite makes invitations: codes that make whoever has one a member of a group or, without a group, let them register. A use
// and what it gives are one step of the store, so the last use goes to one of any number of callers.
package invite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

// Bounds of invitations.
const (
	// OpenMax is how many invitations of a group can be used at a time, and how many without a group.
	OpenMax = 200
	// UsesMax is how many uses one invitation has at most.
	UsesMax = 1000
	// KeptMax is how many invitations are kept for a group: of those that ended, the oldest make room.
	KeptMax = 400

	noteMax = 200 // characters
)

// Invite is an invitation, as its maker sees it. Code and URL are there only where it was made now.
type Invite struct {
	ID        string     `json:"id"`
	Code      string     `json:"code,omitempty"`
	URL       string     `json:"url,omitempty"`
	Group     *string    `json:"group"` // nil: it lets register
	Role      *chat.Role `json:"role"`  // that it gives in the group
	Uses      int64      `json:"uses"`
	Used      int64      `json:"used"`
	ExpiresAt *chat.Time `json:"expires_at"` // nil: no end
	Note      string     `json:"note,omitempty"`
	CreatedBy string     `json:"created_by"`
	CreatedAt chat.Time  `json:"created_at"`
}

// Record is an invitation as a store has it. By is the member who made it, who has to manage the group still when it is used;
// Trusted is set instead where an operator or a key made it.
type Record struct {
	Invite
	Hash    string // SHA-256 of the code, in hex
	Trusted bool
	Revoked bool
}

// Draft is what a client asks for. Nil fields take the defaults.
type Draft struct {
	Group     *string
	Role      *chat.Role
	Uses      *int64
	ExpiresAt *chat.Time
	Note      string
}

// Shown is what whoever has a code may know before they use it.
type Shown struct {
	GroupName string `json:"group_name,omitempty"`
	Members   int64  `json:"members,omitempty"`
	FromName  string `json:"from_name,omitempty"`
	Server    string `json:"server"`
}

// Look is an invitation of a group with what the group says of it now.
type Look struct {
	Record
	GroupName string
	Members   int64
	Manages   bool // its maker may still invite
}

// Note is what the audit gets of something that is done to an invitation.
func Note(by chat.Caller, action audit.Action, i Invite) audit.Entry {
	group := ""
	if i.Group != nil {
		group = *i.Group
	}
	return audit.Note(by, action, group, "", struct {
		Invite string     `json:"invite"`
		Role   *chat.Role `json:"role,omitempty"`
		Uses   int64      `json:"uses,omitempty"`
	}{i.ID, i.Role, i.Uses})
}

// Store keeps the invitations of groups.
type Store interface {
	// CreateInvite keeps an invitation of a group, for a manager or an operator, or returns the one of this id. ErrNotFound,
	// ErrForbidden, CodeQuotaFull.
	CreateInvite(ctx context.Context, by chat.Caller, r Record) (Record, error)
	// InvitedTo tells whose invitation it is. ErrNotFound.
	InvitedTo(ctx context.Context, route uint32, id string) (group string, err error)
	// LookInvite reads an invitation of a group. ErrNotFound.
	LookInvite(ctx context.Context, group, id string) (Look, error)
	// ListInvites lists those of a group, in no order.
	ListInvites(ctx context.Context, group string) ([]Record, error)
	// RevokeInvite ends an invitation; repeating it changes nothing. ErrNotFound.
	RevokeInvite(ctx context.Context, by chat.Caller, group, id string) error
	// AcceptInvite makes m.User a member and counts the use, in one step; who is a member already costs none. ErrNotFound: no such
	// invitation, ErrGone: nothing is left of it.
	AcceptInvite(ctx context.Context, m chat.Membership, id, hash string) error
}

// ErrGone is the answer for an invitation that cannot be used any more.
var ErrGone = chat.Errorf(chat.CodeGone, "the invitation is used up, expired or revoked")

// ErrNotFound is the answer for an invitation that does not exist.
var ErrNotFound = chat.Errorf(chat.CodeNotFound, "no such invitation")

// Open tells whether r can be used at a time.
func (r Record) Open(now time.Time) bool {
	return !r.Revoked && r.Used < r.Uses && !r.expired(now)
}

func (r Record) expired(now time.Time) bool {
	return r.ExpiresAt != nil && !now.Before(r.ExpiresAt.Time)
}

// A code is the id of its invitation and a secret of 128 random bits. The id begins with a letter, which tells whether it is of a
// group, and with a number that leads to the partition of the group however many there are.
const (
	ofGroup, ofServer = "g", "s"

	routeBytes, ownBytes, secretBytes = 4, 6, 16
)

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

var (
	idLen   = 1 + encoding.EncodedLen(routeBytes+ownBytes)
	codeLen = idLen + encoding.EncodedLen(secretBytes)
)

// newID makes an id, the same for the same retry key.
func newID(group *string, retry string) string {
	var b [routeBytes + ownBytes]byte
	kind := ofServer
	if group != nil {
		kind = ofGroup
		h := fnv.New32a()
		_, _ = h.Write([]byte(*group)) // never fails
		binary.BigEndian.PutUint32(b[:], h.Sum32())
	}
	if retry == "" {
		_, _ = rand.Read(b[routeBytes:]) // never fails; see crypto/rand
	} else {
		sum := sha256.Sum256([]byte(retry))
		copy(b[routeBytes:], sum[:])
	}
	return kind + encoding.EncodeToString(b[:])
}

// route is the number in the id of an invitation of a group.
func route(id string) (n uint32, ok bool) {
	if len(id) != idLen || !strings.HasPrefix(id, ofGroup) {
		return 0, false
	}
	b, err := encoding.DecodeString(id[1:])
	if err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// newCode makes a code for an id.
func newCode(id string) string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return id + encoding.EncodeToString(b[:])
}

// idOf is the id in a code; ok is false for what is no code.
func idOf(code string) (id string, ok bool) {
	if len(code) != codeLen {
		return "", false
	}
	_, err := encoding.DecodeString(code[1:idLen])
	return code[:idLen], err == nil && (code[:1] == ofGroup || code[:1] == ofServer)
}

func digest(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// is tells whether r has this code.
func (r Record) is(code string) bool {
	return subtle.ConstantTimeCompare([]byte(r.Hash), []byte(digest(code))) == 1
}

// Text is r as a store keeps it: words, which scripts read, and the note.
func (r Record) Text() string {
	expires := int64(0)
	if r.ExpiresAt != nil {
		expires = r.ExpiresAt.UnixMilli()
	}
	n := func(i int64) string { return strconv.FormatInt(i, 10) }
	return strings.Join([]string{r.Hash, r.CreatedBy, bit(r.Trusted), string(*r.Role), n(r.Uses), n(r.Used), n(expires), bit(r.Revoked),
		n(r.CreatedAt.UnixMilli()), r.Note}, " ")
}

// Parse is the inverse of Text.
func Parse(group, id, text string) (r Record) {
	f := strings.SplitN(text, " ", 10)
	if len(f) < 10 {
		return r // not written by us
	}
	role := chat.Role(f[3])
	r = Record{Hash: f[0], Trusted: f[2] == "1", Revoked: f[7] == "1", Invite: Invite{ID: id, Group: &group, Role: &role,
		Uses: number(f[4]), Used: number(f[5]), Note: f[9], CreatedBy: f[1], CreatedAt: chat.TimeMs(number(f[8]))}}
	if expires := number(f[6]); expires > 0 {
		at := chat.TimeMs(expires)
		r.ExpiresAt = &at
	}
	return r
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// number reads what Text wrote.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
