package announce

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
)

// recordsRead is how many announcements are read at once: one may name ten thousand users.
const recordsRead = 20

// Service manages announcements. It is safe for concurrent use.
type Service struct {
	core  *chat.Service
	store Store
	opt   chat.Options
}

// New makes a Service that shares the limits, the log and the clock of core.
func New(core *chat.Service, store Store) *Service {
	return &Service{core: core, store: store, opt: core.Options()}
}

// Handlers returns the tasks of announcements, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskRun:  chat.Patient(s.run),
		TaskPart: chat.Patient(s.runPart),
	}
}

var errNotFound = &chat.Error{Code: chat.CodeNotFound, Message: "no such announcement"}

// Create sends a message to the logs of groups and an item to the inboxes of users, for operators: now, at a time, or
// recurring. When it returns, the announcement is stored and its task enqueued.
func (s *Service) Create(ctx context.Context, by chat.Caller, d Draft) (Announcement, error) {
	if err := chat.CheckOperator(by); err != nil {
		return Announcement{}, err
	}
	a, err := s.newAnnounced(by, d)
	if err != nil {
		return Announcement{}, err
	}
	if a.To.All {
		// Everyone includes the users who called this node before the announcement was made.
		if err := s.core.FlushKnown(ctx); err != nil {
			return Announcement{}, err
		}
	}
	nowMs, err := s.store.Clock(ctx)
	if err != nil {
		return Announcement{}, chat.AsError(err)
	}
	n := NewAnnouncement{ID: newID(by, d.Key, a), Draft: chat.Encode(a), Priority: a.Priority, Page: a.page(),
		All: a.To.All, Groups: a.To.Groups, Users: a.To.Users}
	if n.StartMs, err = a.start(nowMs); err != nil {
		return Announcement{}, err
	}
	err = s.store.CreateAnnouncement(ctx, n)
	if errors.Is(err, chat.ErrOutOfRange) {
		// The limit is reached, but some announcements may have ended.
		if forgotten, e := s.store.ForgetAnnouncements(ctx); e != nil {
			err = e
		} else if forgotten > 0 {
			err = s.store.CreateAnnouncement(ctx, n)
		}
	}
	if err != nil {
		return Announcement{}, chat.AsError(err)
	}
	return s.get(ctx, n.ID)
}

// newAnnounced checks a draft.
func (s *Service) newAnnounced(by chat.Caller, d Draft) (Plan, error) {
	a := Plan{From: by.User, To: Target{All: d.To.All}, Cron: d.Cron, Timezone: d.Timezone, Priority: d.Priority}
	if err := chat.CheckKey("Idempotency-Key", d.Key); err != nil {
		return a, err
	}
	named := len(d.To.Groups) + len(d.To.Users)
	if d.To.All == (named > 0) {
		return a, chat.Invalid("to: everyone, or groups and users")
	}
	var err error
	if a.To.Groups, err = chat.UniqueGroups("to.groups", d.To.Groups, s.opt.Limits.AnnouncementGroupsMax); err != nil {
		return a, err
	}
	if a.To.Users, err = chat.UniqueUsers("to.users", d.To.Users, s.opt.Limits.AnnouncementUsersMax); err != nil {
		return a, err
	}
	if string(d.Content.Data) == "null" {
		d.Content.Data = nil
	}
	if a.Content, err = d.Content.Checked(s.opt.Limits); err != nil {
		return a, err
	}
	if err := a.NamesNoFiles(); err != nil {
		return a, err
	}
	if !a.To.reachedBy(by) {
		return a, chat.ErrReach
	}
	a.Kind = "" // follows from the content, and has no use in an inbox
	a.Priority = cmp.Or(a.Priority, chat.PriorityLow)
	if err := chat.CheckWord("priority", &a.Priority, chat.PriorityHigh, chat.PriorityNormal, chat.PriorityLow); err != nil {
		return a, err
	}
	switch {
	case d.At != nil && d.Cron != "":
		return a, chat.Invalid("at, cron: one of the two")
	case d.Cron == "" && d.Timezone != "":
		return a, chat.Invalid("timezone: only with cron")
	case d.At != nil:
		at := chat.TimeMs(schedule.InstantMs(*d.At))
		a.At = &at
	}
	return a, nil
}

// start returns when the first run starts; 0: now.
func (a Plan) start(nowMs int64) (int64, error) {
	switch {
	case a.Cron != "":
		next, err := a.next(nowMs)
		if err == nil && next == 0 {
			err = chat.Errorf(chat.CodeOutOfRange, "cron: it never fires")
		}
		return next, err
	case a.At == nil || a.At.UnixMilli() <= nowMs:
		return 0, nil
	case a.At.UnixMilli()-nowMs > schedule.AheadMax.Milliseconds():
		return 0, chat.Errorf(chat.CodeOutOfRange, "at: at most %d days ahead", int(schedule.AheadMax.Hours()/24))
	}
	return a.At.UnixMilli(), nil
}

// next returns when the next run after an instant starts; 0: there is none.
func (a Plan) next(afterMs int64) (int64, error) {
	if a.Cron == "" {
		return 0, nil
	}
	return schedule.NextMs(a.Cron, a.Timezone, afterMs)
}

// newID makes an id, the same one for the same request if it has a key. So a repeat is recognized even after the stored
// answer to the key has expired.
func newID(by chat.Caller, key string, a Plan) string {
	var b [15]byte
	if key == "" {
		_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	} else {
		hash, _ := base64.RawURLEncoding.DecodeString(chat.Hash([]byte(by.User), []byte(key), chat.Encode(a))) // chat.Hash encodes it
		copy(b[:], hash)
	}
	return "a-" + hex.EncodeToString(b[:])
}

// List lists all announcements that are kept, newest first.
func (s *Service) List(ctx context.Context, by chat.Caller, limit int, cursor string) (chat.List[Announcement], error) {
	var list chat.List[Announcement]
	if err := chat.CheckOperator(by); err != nil {
		return list, err
	}
	limit, err := s.opt.Limits.Page(limit)
	if err != nil {
		return list, err
	}
	before := int64(0)
	if cursor != "" {
		var ok bool
		if before, ok = chat.ParseID(cursor); !ok || before == 0 {
			return list, chat.Invalid("cursor: not one of this list")
		}
	}
	bytes := 0
	for len(list.Items) < limit {
		want := min(limit-len(list.Items), recordsRead)
		records, err := s.store.AnnouncementsBefore(ctx, before, want+1)
		if err != nil {
			return list, chat.AsError(err)
		}
		more := len(records) > want
		for _, r := range records[:min(want, len(records))] {
			view, err := r.view()
			if err != nil {
				return list, chat.AsError(err)
			}
			if !view.To.reachedBy(by) {
				before = r.Position
				continue
			}
			if bytes += len(r.Draft); bytes > s.opt.Limits.PageBytesMax && len(list.Items) > 0 {
				list.Next = strconv.FormatInt(before, 10)
				return list, nil
			}
			list.Items = append(list.Items, view)
			before = r.Position
		}
		if !more {
			return list, nil
		}
	}
	list.Next = strconv.FormatInt(before, 10)
	return list, nil
}

// Get shows an operator the progress of an announcement.
func (s *Service) Get(ctx context.Context, by chat.Caller, id string) (Announcement, error) {
	if err := cmp.Or(chat.CheckOperator(by), chat.CheckID("announcement", id)); err != nil {
		return Announcement{}, err
	}
	v, err := s.get(ctx, id)
	if err == nil && !v.To.reachedBy(by) {
		return Announcement{}, errNotFound
	}
	return v, err
}

// reachedBy tells whether a caller may have to do with an announcement to t: one who is bound to groups only where each of them is
// named.
func (t Target) reachedBy(by chat.Caller) bool {
	return by.Reach == nil || !t.All && len(t.Users) == 0 && !slices.ContainsFunc(t.Groups, func(g string) bool { return !by.Reaches(g) })
}

func (s *Service) get(ctx context.Context, id string) (Announcement, error) {
	r, err := s.store.Announcement(ctx, id)
	if err != nil {
		return Announcement{}, notFound(err)
	}
	v, err := r.view()
	return v, chat.AsError(err)
}

// Cancel ends an announcement: after it returns, nobody else gets it. Repeating it is harmless. ErrConflict: everybody
// has it.
func (s *Service) Cancel(ctx context.Context, by chat.Caller, id string) error {
	if err := cmp.Or(chat.CheckOperator(by), chat.CheckID("announcement", id)); err != nil {
		return err
	}
	if by.Reach != nil {
		if _, err := s.Get(ctx, by, id); err != nil {
			return err
		}
	}
	err := s.store.CancelAnnouncement(ctx, id)
	if errors.Is(err, chat.ErrConflict) {
		return chat.Errorf(chat.CodeConflict, "the announcement is done")
	}
	return notFound(err)
}

// notFound adds to ErrNotFound what was not found.
func notFound(err error) error {
	if errors.Is(err, chat.ErrNotFound) {
		return errNotFound
	}
	return chat.AsError(err)
}

func (r Record) text() (Plan, error) {
	var a Plan
	if err := json.Unmarshal(r.Draft, &a); err != nil {
		return a, fmt.Errorf("announcement %s: %w", r.ID, err)
	}
	return a, nil
}

// view returns a record as operators see it.
func (r Record) view() (Announcement, error) {
	a, err := r.text()
	v := Announcement{ID: r.ID, State: r.State, Plan: a, Total: r.Total, Delivered: r.Delivered, Failed: r.Failed,
		CreatedAt: chat.TimeMs(r.CreatedMs)}
	if r.NextMs > 0 {
		next := chat.TimeMs(r.NextMs)
		v.NextAt = &next
	}
	return v, err
}
