package chat

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat/schedule/cron"
)

// announcementsRead is how many announcements are read at a time: one may name ten thousand users.
const announcementsRead = 20

var errNoAnnouncement = &Error{Code: CodeNotFound, Message: "no such announcement"}

// Announce puts a message into the logs of groups and an item into the inboxes of users, for operators: now, at a time, or
// again and again. It is on its way when this returns.
func (s *Service) Announce(ctx context.Context, by Caller, d AnnouncementDraft) (Announcement, error) {
	if err := CheckOperator(by); err != nil {
		return Announcement{}, err
	}
	a, err := s.newAnnounced(by, d)
	if err != nil {
		return Announcement{}, err
	}
	nowMs, err := s.stores.Clock(ctx)
	if err != nil {
		return Announcement{}, AsError(err)
	}
	n := NewAnnouncement{ID: announcementID(by, d.Key, a), Draft: Encode(a), Priority: a.Priority, Page: a.page(),
		All: a.To.All, Groups: a.To.Groups, Users: a.To.Users}
	if n.StartMs, err = a.start(nowMs); err != nil {
		return Announcement{}, err
	}
	err = s.stores.CreateAnnouncement(ctx, n)
	if errors.Is(err, ErrOutOfRange) {
		// All places are taken: some of those who hold one may have ended.
		if forgotten, e := s.stores.ForgetAnnouncements(ctx); e != nil {
			err = e
		} else if forgotten > 0 {
			err = s.stores.CreateAnnouncement(ctx, n)
		}
	}
	if err != nil {
		return Announcement{}, AsError(err)
	}
	return s.announcement(ctx, n.ID)
}

// newAnnounced checks a draft.
func (s *Service) newAnnounced(by Caller, d AnnouncementDraft) (AnnouncementText, error) {
	a := AnnouncementText{From: by.User, To: AnnouncementTarget{All: d.To.All}, Body: d.Body, Cron: d.Cron, Timezone: d.Timezone, Priority: d.Priority}
	if d.Key != "" && !ValidKey(d.Key) {
		return a, Invalid("the key must be 1 to %d printable ASCII characters", keyBytesMax)
	}
	named := len(d.To.Groups) + len(d.To.Users)
	if d.To.All == (named > 0) {
		return a, Invalid("to: everyone, or groups and users")
	}
	var err error
	if a.To.Groups, err = UniqueIDs("groups", d.To.Groups, s.opt.Limits.AnnouncementGroupsMax); err != nil {
		return a, err
	}
	if a.To.Users, err = UniqueIDs("users", d.To.Users, s.opt.Limits.AnnouncementUsersMax); err != nil {
		return a, err
	}
	if d.Data != nil && string(d.Data) != "null" {
		if a.Data, err = CompactData(d.Data, s.opt.Limits.BodyBytesMax); err != nil {
			return a, err
		}
	}
	if a.Body != nil || a.Data == nil {
		if err := CheckBody(a.Body, s.opt.Limits.BodyBytesMax); err != nil {
			return a, err
		}
	}
	switch a.Priority {
	case "":
		a.Priority = PriorityLow
	case PriorityHigh, PriorityNormal, PriorityLow:
	default:
		return a, Invalid("priority: %s, %s or %s", PriorityHigh, PriorityNormal, PriorityLow)
	}
	switch {
	case d.At != nil && d.Cron != "":
		return a, Invalid("at, cron: one of the two")
	case d.Cron == "" && d.Timezone != "":
		return a, Invalid("timezone: only with cron")
	case d.At != nil:
		at := TimeMs(instantMs(*d.At))
		a.At = &at
	}
	return a, nil
}

// start is when the first run begins; 0: now.
func (a AnnouncementText) start(nowMs int64) (int64, error) {
	switch {
	case a.Cron != "":
		next, err := a.next(nowMs)
		if err == nil && next == 0 {
			err = Errorf(CodeOutOfRange, "cron: it never comes")
		}
		return next, err
	case a.At == nil || a.At.UnixMilli() <= nowMs:
		return 0, nil
	case a.At.UnixMilli()-nowMs > aheadMax.Milliseconds():
		return 0, Errorf(CodeOutOfRange, "at most %d days ahead", int(aheadMax.Hours()/24))
	}
	return a.At.UnixMilli(), nil
}

// next is when the run after an instant begins; 0: there is none.
func (a AnnouncementText) next(afterMs int64) (int64, error) {
	if a.Cron == "" {
		return 0, nil
	}
	plan, err := cron.Parse(a.Cron, a.Timezone)
	if err != nil {
		return 0, &Error{Code: CodeInvalid, Message: err.Error(), Cause: err}
	}
	at, ok := plan.Next(time.UnixMilli(afterMs))
	if !ok {
		return 0, nil
	}
	return at.UnixMilli(), nil
}

// announcementID makes an id: the same one for the same request, where it has a key. It outlives the time for which the
// answer to the key is kept.
func announcementID(by Caller, key string, a AnnouncementText) string {
	var b [15]byte
	if key == "" {
		_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	} else {
		hash, _ := base64.RawURLEncoding.DecodeString(Hash([]byte(by.User), []byte(key), Encode(a))) // made there
		copy(b[:], hash)
	}
	return "a-" + hex.EncodeToString(b[:])
}

// Announcements lists all announcements that are kept, the newest first.
func (s *Service) Announcements(ctx context.Context, by Caller, limit int, cursor string) (List[Announcement], error) {
	var list List[Announcement]
	if err := CheckOperator(by); err != nil {
		return list, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return list, err
	}
	before := int64(0)
	if cursor != "" {
		var ok bool
		if before, ok = ParseID(cursor); !ok || before == 0 {
			return list, Invalid("cursor: not one of this list")
		}
	}
	bytes := 0
	for len(list.Items) < limit {
		want := min(limit-len(list.Items), announcementsRead)
		records, err := s.stores.Announcements(ctx, before, want+1)
		if err != nil {
			return list, AsError(err)
		}
		more := len(records) > want
		for _, r := range records[:min(want, len(records))] {
			if bytes += len(r.Draft); bytes > s.opt.Limits.PageBytesMax && len(list.Items) > 0 {
				list.Next = strconv.FormatInt(before, 10)
				return list, nil
			}
			view, err := r.view()
			if err != nil {
				return list, AsError(err)
			}
			list.Items = append(list.Items, view)
			before = r.Place
		}
		if !more {
			return list, nil
		}
	}
	list.Next = strconv.FormatInt(before, 10)
	return list, nil
}

// Announcement shows an operator how far an announcement is.
func (s *Service) Announcement(ctx context.Context, by Caller, id string) (Announcement, error) {
	if err := CheckOperator(by); err != nil {
		return Announcement{}, err
	}
	if !ValidID(id) {
		return Announcement{}, Invalid("announcement: not a valid id")
	}
	return s.announcement(ctx, id)
}

func (s *Service) announcement(ctx context.Context, id string) (Announcement, error) {
	r, err := s.stores.Announcement(ctx, id)
	if err != nil {
		return Announcement{}, noAnnouncement(err)
	}
	v, err := r.view()
	return v, AsError(err)
}

// CancelAnnouncement ends an announcement: once it has returned nobody further gets it. Repeating it is harmless.
// ErrConflict where everybody has it.
func (s *Service) CancelAnnouncement(ctx context.Context, by Caller, id string) error {
	if err := CheckOperator(by); err != nil {
		return err
	}
	if !ValidID(id) {
		return Invalid("announcement: not a valid id")
	}
	err := s.stores.CancelAnnouncement(ctx, id)
	if errors.Is(err, ErrConflict) {
		return Errorf(CodeConflict, "the announcement is done")
	}
	return noAnnouncement(err)
}

// noAnnouncement names what was not found.
func noAnnouncement(err error) error {
	if errors.Is(err, ErrNotFound) {
		return errNoAnnouncement
	}
	return AsError(err)
}

func (r AnnouncementRecord) text() (AnnouncementText, error) {
	var a AnnouncementText
	if err := json.Unmarshal(r.Draft, &a); err != nil {
		return a, fmt.Errorf("announcement %s: %w", r.ID, err)
	}
	return a, nil
}

// view is what operators see of a record.
func (r AnnouncementRecord) view() (Announcement, error) {
	a, err := r.text()
	v := Announcement{ID: r.ID, State: r.State, AnnouncementText: a, Total: r.Total, Delivered: r.Delivered, Failed: r.Failed,
		CreatedAt: TimeMs(r.CreatedMs)}
	if r.NextMs > 0 {
		next := TimeMs(r.NextMs)
		v.NextAt = &next
	}
	return v, err
}
