package chat

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"
)

// ReviewKept is how long a message waits for a moderator; then it is gone.
const ReviewKept = 7 * 24 * time.Hour

// InReview is why a message is not stored: Before wants a moderator to see it, for Reason, or it waits for one as the review ID.
type InReview struct{ ID, Reason string }

// MarshalJSON is what its sender gets. The reason is for moderators.
func (r *InReview) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		State string `json:"state"`
		ID    string `json:"id"`
	}{"review", r.ID})
}

func (r *InReview) Error() string { return "the message waits for a moderator" }

// IsInReview tells whether err says that a message waits for a moderator, or has to.
func IsInReview(err error) (r *InReview, ok bool) { return r, errors.As(err, &r) }

// Review is a message that waits for a moderator: a record without a place in a log or an inbox.
type Review struct {
	ID       string          `json:"-"`
	Group    string          `json:"group,omitempty"` // that it is for; or
	To       string          `json:"to,omitempty"`    // the user whose inbox it is for
	From     string          `json:"from"`
	Via      string          `json:"via,omitempty"`
	Operator bool            `json:"operator,omitempty"` // From was one
	Reason   string          `json:"reason,omitempty"`   // for moderators
	At       Time            `json:"at"`
	Message  Content         `json:"message"`
	Schedule json.RawMessage `json:"schedule,omitempty"` // of a message to be sent later: what makes its schedule
}

// NewReview is a review to be kept. Key is what its sender would repeat it with, and Content a hash of what was sent.
type NewReview struct {
	Review
	Key, Content string
}

// ReviewEnd ends a review, in the step that stores its message if that is released.
type ReviewEnd struct {
	Review
	Report []byte // payload, without its last brace, of the task that tells its sender; empty: nobody is told
	By     Caller // who decided; without a User nobody did
	Epoch  string // of the group then; empty: it is for an inbox
}

// ErrReviewGone is the answer for a review that is not there, or not any longer.
var ErrReviewGone = Errorf(CodeNotFound, "no such review")

var errFilesGone = Errorf(CodeConflict, "its files are gone")

// ReviewStore keeps messages that wait for a moderator.
type ReviewStore interface {
	// PutReview keeps one under its ID, or returns the id of the one that its key stands for; empty: the key stands for a message that is
	// stored. CodeQuotaFull: Limits.GroupReviewsMax wait in the group or for the inbox, or Limits.SenderReviewsMax of the sender.
	PutReview(ctx context.Context, r NewReview) (id string, err error)
}

// Caller is the sender, as who sent.
func (r Review) Caller() Caller { return Caller{User: r.From, Admin: r.Operator, Via: r.Via} }

// An id of a review begins with its time, so that ids sort by it, a letter, the hash of the group or the user that leads to their
// partition however many there are, and the hash of its sender.
const (
	reviewTimeLen, reviewRouteLen, reviewRandomBytes = 11, 8, 6

	reviewOfGroup, reviewOfUser = "g", "u"

	reviewIDLen = reviewTimeLen + 1 + 2*reviewRouteLen + 2*reviewRandomBytes
)

// NewReviewID makes an id for r.
func NewReviewID(r Review) string {
	var random [reviewRandomBytes]byte
	_, _ = rand.Read(random[:]) // never fails; see crypto/rand
	letter, of := reviewOfGroup, r.Group
	if r.To != "" {
		letter, of = reviewOfUser, r.To
	}
	return fmt.Sprintf("%0*x%s%s%s%s", reviewTimeLen, r.At.UnixMilli(), letter, reviewHash(of), reviewHash(r.From), hex.EncodeToString(random[:]))
}

func reviewHash(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("%0*x", reviewRouteLen, h.Sum32())
}

// ReviewID is what the id of a review says. Who is the same for all reviews of a sender, and for few of others.
type ReviewID struct {
	At    Time
	Inbox bool // it is for a user's inbox, not for a group
	Route uint32
	Who   string
}

// ParseReviewID reads an id; ok is false for what is none.
func ParseReviewID(id string) (r ReviewID, ok bool) {
	if len(id) != reviewIDLen {
		return r, false
	}
	ms, errTime := strconv.ParseInt(id[:reviewTimeLen], 16, 64)
	letter, rest := id[reviewTimeLen:reviewTimeLen+1], id[reviewTimeLen+1:]
	route, errRoute := strconv.ParseUint(rest[:reviewRouteLen], 16, 32)
	_, errRest := hex.DecodeString(rest)
	r = ReviewID{At: TimeMs(ms), Inbox: letter == reviewOfUser, Route: uint32(route), Who: rest[reviewRouteLen : 2*reviewRouteLen]}
	return r, errors.Join(errTime, errRoute, errRest) == nil && (letter == reviewOfGroup || letter == reviewOfUser)
}

// ReviewSender is what Who is in the ids of the reviews of a user.
func ReviewSender(user string) string { return reviewHash(user) }

// review keeps what was to be appended for a moderator. Its error is an InReview unless it failed; without one, the key of a was used
// meanwhile, and the answer is the first to it.
func (s *sends) review(ctx context.Context, by Caller, a Append, e Entry, reason string) (Appended, error) {
	r := Review{Group: e.Group, From: by.User, Via: by.Via, Operator: by.Admin, Reason: reason, At: TimeMs(s.opt.Now()), Message: e.Content}
	if err := s.Review(ctx, r, a.Key, a.Content); err != nil {
		return Appended{}, err
	}
	return s.look(ctx, by, a, e)
}

// Review keeps a message for a moderator. The error is an InReview with its id; nil: the key stands for a message that is stored.
func (s *base) Review(ctx context.Context, r Review, key, content string) error {
	r.ID = NewReviewID(r)
	id, err := s.reviews.PutReview(ctx, NewReview{r, key, content})
	if err == nil && id != "" {
		return &InReview{ID: id}
	}
	return AsError(err)
}

// Release appends the message of a review, with the rights that its sender has now but for slow mode, and ends the review with it.
func (s *sends) Release(ctx context.Context, r ReviewEnd) (Sent, error) {
	by, c := r.Caller(), r.Message
	if len(c.Files) > 0 {
		files, gone, err := s.sendable(ctx, by, r.Group, c)
		if gone {
			err = errFilesGone
		}
		if err != nil {
			return Sent{}, err
		}
		c.Files = files
	}
	e := Entry{Group: r.Group, From: by.User, Via: by.Via, Content: c}
	a := NewAppend(e, s.opt.Now())
	a.Operator, a.Files, a.Release = by.Admin, fileIDs(c.Files), &r
	a.Key, a.Content = "", "" // its key stands for the review
	done, err := s.append(ctx, by, a, e)
	if err != nil {
		return Sent{}, AsError(err)
	}
	return NewSent(e, a, done), nil
}

// ReleaseDirect puts the direct message of a review into the inbox that it is for, as Release does.
func (s *inboxes) ReleaseDirect(ctx context.Context, r ReviewEnd) error {
	if err := s.strangers.MayWrite(ctx, r.Caller(), r.To); err != nil {
		return err
	}
	item := NewDirect(r.To, directItem(r.Caller(), r.Message, s.opt.Now()))
	item.Key, item.ToStrangers, item.Release = "", r.Operator, &r
	_, _, _, err := s.store.InboxAppend(ctx, item)
	return AsError(err)
}
