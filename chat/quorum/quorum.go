// Package quorum is how many members have to read a message until a time, who is reminded, and what came of it.
package quorum

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// TaskQuorum is the kind of the task that goes on with a quorum. A kind is stored with its tasks.
const TaskQuorum = "quorum" // Task

// Task names a message with a quorum.
type Task struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"`
	ID    int64  `json:"id"`
}

// State is what became of a quorum.
type State string

// Open is followed by one of the others, which are final; after Cancelled another one may be asked for.
const (
	Open      State = "open"
	Met       State = "met"
	Missed    State = "missed"
	Cancelled State = "cancelled"
)

// Bounds of what is asked.
const (
	UsersMax    = 100
	EscalateMax = 20
	RemindMax   = 10
	countMax    = 100_000
	untilMax    = 366 * 24 * time.Hour
	pageUsers   = 100 // that a reminder goes to before it looks again who has not read
	stepsMax    = 100 // of a run: then other tasks have their turn
)

// first is the cursor of the first page of members.
const first = "0"

// MoreToCount is what a step says instead of a reminder.
const MoreToCount = -1

// Need is who has to read the message: one of these.
type Need struct {
	Percent int64    `json:"percent,omitempty"`
	Count   int64    `json:"count,omitempty"`
	Users   []string `json:"users,omitempty"`
}

// Reminder goes to those who have not read yet.
type Reminder struct {
	AfterS int64  `json:"after_s"`
	Via    string `json:"via"` // inbox or push
}

// Draft is what is asked.
type Draft struct {
	Need     Need
	Until    time.Time
	Remind   []Reminder
	Escalate []string
}

// Quorum is what was asked of a message, and how it stands.
type Quorum struct {
	Group     string
	ID        int64
	State     State
	Need      Need
	Author    string
	By        string // who asked; empty: somebody who is erased
	At        chat.Time
	Until     chat.Time
	Remind    []Reminder
	Escalate  []string
	Reminded  int        // of Remind, in the order of time
	DecidedAt *chat.Time // nil: it is open
	Of, Read  int64
	Announced bool

	RemindAfter string // cursor of those to whom the next reminder has yet to go
}

// Standing is a quorum with a page of those who have not read.
type Standing struct {
	Quorum
	Epoch   string
	Pending []string
	Next    string
}

// Store keeps quorums. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// PutQuorum asks. ErrConflict: it is decided.
	PutQuorum(ctx context.Context, by chat.Caller, q Quorum) (created bool, err error)
	// Standing reads a quorum, decides it if it can be, and reads a page of those who have not read. User "" is the server.
	Standing(ctx context.Context, group, user string, id int64, after string, limit int) (Standing, error)
	// DropQuorum cancels one.
	DropQuorum(ctx context.Context, by chat.Caller, group string, id int64) error
	// QuorumStep says which reminder is due, 0 for none; then a task goes on later. MoreToCount: it counted some of who has read.
	QuorumStep(ctx context.Context, t Task) (q Quorum, due int, err error)
	// QuorumDone notes that the reminders up to one are sent, and the next to those before a cursor, or that the end is announced.
	QuorumDone(ctx context.Context, q Quorum, sent int, after string, announced bool) error
}

// Core is what the package needs of the core.
type Core interface {
	Refused(ctx context.Context, by chat.Caller, group string, err error) error
	PutItem(ctx context.Context, to string, it chat.Item, key string) error
	PutUrgentItem(ctx context.Context, to string, it chat.Item, key string) error
	Options() chat.Options
}

// Entries reads messages.
type Entries interface {
	Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error)
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
}

// Waits has calls look at a group again whenever a member has read something.
type Waits interface {
	Await(ctx context.Context, user, group string, wait time.Duration, look func() (done bool)) error
}

// Service keeps quorums. It may be used from many goroutines.
type Service struct {
	core     Core
	store    Store
	logs     Entries
	waits    Waits
	webhooks *webhook.Service
}

// New makes a Service. logs are those that the core serves.
func New(core Core, store Store, logs Entries, waits Waits, webhooks *webhook.Service) *Service {
	return &Service{core, store, logs, waits, webhooks}
}

// Check refuses what cannot be asked.
func (s *Service) Check(d Draft) error {
	kinds := 0
	for _, is := range []bool{d.Need.Percent != 0, d.Need.Count != 0, d.Need.Users != nil} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return chat.Invalid("need: want exactly one of percent, count and users")
	}
	now := time.UnixMilli(s.core.Options().Now())
	switch {
	case d.Need.Percent < 0 || d.Need.Percent > 100:
		return chat.OutOfRange("need.percent", 1, 100)
	case d.Need.Count < 0 || d.Need.Count > countMax:
		return chat.OutOfRange("need.count", 1, countMax)
	case d.Need.Users != nil && len(d.Need.Users) == 0 || len(d.Need.Users) > UsersMax:
		return chat.Errorf(chat.CodeOutOfRange, "need.users: want 1 to %d", UsersMax)
	case !d.Until.After(now) || d.Until.Sub(now) > untilMax:
		return chat.Errorf(chat.CodeOutOfRange, "until: want a time within the next 366 days")
	case len(d.Remind) > RemindMax:
		return chat.Errorf(chat.CodeOutOfRange, "remind: at most %d", RemindMax)
	case len(d.Escalate) > EscalateMax:
		return chat.Errorf(chat.CodeOutOfRange, "escalate: at most %d users", EscalateMax)
	}
	for _, r := range d.Remind {
		if r.AfterS < 1 || time.Duration(r.AfterS) > untilMax/time.Second {
			return chat.OutOfRange("remind.after_s", 1, int64(untilMax/time.Second))
		}
		if r.Via != "inbox" && r.Via != "push" {
			return chat.Invalid("remind.via: want inbox or push")
		}
	}
	for field, users := range map[string][]string{"need.users": d.Need.Users, "escalate": d.Escalate} {
		for _, user := range users {
			if err := chat.CheckUserID(field, user); err != nil {
				return err
			}
		}
	}
	return nil
}

// Put asks that a text or data be read: its author, those who manage the group, and operators. As long as it is open, it may be asked anew.
func (s *Service) Put(ctx context.Context, by chat.Caller, group string, id int64, d Draft) (q Standing, created bool, err error) {
	if err := cmp.Or(s.check(by, group, id), s.Check(d)); err != nil {
		return q, false, err
	}
	e, err := s.entry(ctx, by, group, id)
	if err != nil {
		return q, false, err
	}
	slices.SortStableFunc(d.Remind, func(a, b Reminder) int { return cmp.Compare(a.AfterS, b.AfterS) })
	asked := Quorum{Group: group, ID: id, Need: d.Need, Author: e.From, By: by.User, Until: chat.TimeMs(d.Until.UnixMilli()), Remind: d.Remind,
		Escalate: d.Escalate}
	asked.Need.Users = sorted(d.Need.Users)
	asked.Escalate = sorted(d.Escalate)
	if created, err = s.store.PutQuorum(ctx, by, asked); err != nil {
		return q, false, s.core.Refused(ctx, by, group, err)
	}
	q, err = s.store.Standing(ctx, group, "", id, first, pageUsers)
	return q, created, chat.AsError(err)
}

// Ask is Put with the send of a message. A retry asks only if the first attempt did not.
func (s *Service) Ask(ctx context.Context, by chat.Caller, group string, sent chat.Sent, d Draft) error {
	if sent.Duplicate {
		if _, err := s.store.Standing(ctx, group, "", sent.ID, first, 1); !errors.Is(err, chat.ErrNotFound) {
			return s.core.Refused(ctx, by, group, err)
		}
	}
	_, _, err := s.Put(ctx, by, group, sent.ID, d)
	return err
}

func sorted(users []string) []string {
	users = slices.Clone(users)
	slices.Sort(users)
	return slices.Compact(users)
}

func (s *Service) check(by chat.Caller, group string, id int64) error {
	return cmp.Or(chat.CheckGroup(by, group), chat.CheckRange("id", &id, 1, chat.IDMax))
}

// entry reads a text or data that the caller sees.
func (s *Service) entry(ctx context.Context, by chat.Caller, group string, id int64) (e chat.Entry, err error) {
	var list []chat.Message
	if by.Admin {
		list, err = s.logs.Entries(ctx, group, []int64{id})
	} else {
		var pages []chat.Page
		if pages, err = s.logs.Pull(ctx, by.User, []chat.Pull{{Group: group, From: id, Limit: 1}}); err == nil {
			list, err = pages[0].Messages, pages[0].Err
		}
	}
	if err != nil {
		return e, s.core.Refused(ctx, by, group, err)
	}
	if len(list) == 0 || list[0].ID != id {
		return e, chat.ErrNotFound
	}
	if err := json.Unmarshal(list[0].JSON, &e); err != nil {
		return e, chat.AsError(fmt.Errorf("message %d of %s: %w", id, group, err))
	}
	switch {
	case e.DeletedAt != nil:
		return e, chat.ErrNotFound
	case e.Kind != chat.Text && e.Kind != chat.Data:
		return e, chat.Invalid("id: want a text or data")
	}
	return e, nil
}

// Get tells members how a quorum stands, and who has not read. With a wait it answers once the state is no longer open.
func (s *Service) Get(ctx context.Context, by chat.Caller, group string, id int64, limit int, cursor string, wait time.Duration) (q Standing, err error) {
	limits := s.core.Options().Limits
	if limit, err = limits.Page(limit); err != nil {
		return q, err
	}
	if err := s.check(by, group, id); err != nil {
		return q, err
	}
	if cursor != "" && (len(cursor) > 300 || strings.ContainsAny(cursor, " \n") || cursor[0] < '0' || cursor[0] > '9') {
		return q, chat.Invalid("cursor: not one of this list")
	}
	user := by.User
	if by.Admin {
		user = ""
	}
	look := func() bool {
		if q, err = s.store.Standing(ctx, group, user, id, cmp.Or(cursor, first), limit); err != nil {
			err = s.core.Refused(ctx, by, group, err)
		}
		return err != nil || q.State != Open
	}
	// Looking first tells whether the caller may follow the group. What moves a quorum moves a cursor or the log; that its time is over,
	// or that somebody has cancelled it, a wait finds out when it looks again all the same.
	if look() || wait <= 0 {
		return q, err
	}
	if waitErr := s.waits.Await(ctx, by.User, group, wait, look); waitErr != nil {
		return q, waitErr
	}
	return q, err
}

// Drop cancels an open quorum.
func (s *Service) Drop(ctx context.Context, by chat.Caller, group string, id int64) error {
	if err := s.check(by, group, id); err != nil {
		return err
	}
	if err := s.store.DropQuorum(ctx, by, group, id); err != nil {
		return s.core.Refused(ctx, by, group, err)
	}
	return nil
}

// Event is what webhooks get.
type Event struct {
	Group string    `json:"group"`
	ID    int64     `json:"id"`
	From  string    `json:"from"`
	Of    int64     `json:"of"`
	Read  int64     `json:"read"`
	Until chat.Time `json:"until"`
	At    chat.Time `json:"at"`
}

// Handlers are the tasks of quorums, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskQuorum: chat.Patient(s.goOn)}
}

// goOn does what is due for a quorum. Each step is noted, and what is repeated does no harm. It ends with each page of a reminder and
// runs again: a task that nodes die over a few times counts as one that kills them.
func (s *Service) goOn(ctx context.Context, t Task) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil || t.ID < 1 {
		return chat.Invalid("a task names no valid group or message")
	}
	for range stepsMax {
		q, due, err := s.store.QuorumStep(ctx, t)
		switch {
		case errors.Is(err, chat.ErrNotFound):
			return nil
		case err != nil:
			return err
		case q.State != Open:
			return s.announce(ctx, q)
		case due == 0:
			return nil
		case due == MoreToCount:
			continue
		}
		after, err := s.remind(ctx, q, due)
		switch {
		case err != nil:
			return err
		case after != "":
			return cmp.Or(s.store.QuorumDone(ctx, q, due-1, after, false), chat.Postpone(0, nil))
		}
		if err := s.store.QuorumDone(ctx, q, due, first, false); err != nil {
			return err
		}
	}
	return chat.Postpone(0, nil)
}

// remind puts an item into the inboxes of a page of those who have not read, and returns where the next begins; empty: it was the last.
func (s *Service) remind(ctx context.Context, q Quorum, due int) (next string, err error) {
	put := s.core.PutItem
	if q.Remind[due-1].Via == "push" {
		put = s.core.PutUrgentItem
	}
	page, err := s.store.Standing(ctx, q.Group, "", q.ID, q.RemindAfter, pageUsers)
	if errors.Is(err, chat.ErrNotFound) {
		return "", nil
	}
	if err != nil || page.State != Open || page.At != q.At {
		return "", err
	}
	for _, user := range page.Pending {
		if err := s.put(ctx, put, user, q, fmt.Sprint("remind ", due), nil); err != nil {
			return "", err
		}
	}
	return page.Next, nil
}

func (s *Service) put(ctx context.Context, put func(context.Context, string, chat.Item, string) error, user string, q Quorum, what string, data json.RawMessage) error {
	item := chat.Item{Kind: chat.ItemQuorum, From: q.By, Group: q.Group, ID: q.ID, Data: data, SentAt: chat.TimeMs(s.core.Options().Now())}
	return put(ctx, user, item, fmt.Sprintf("%s %s %d %d %s", chat.ItemQuorum, q.Group, q.ID, q.At.UnixMilli(), what))
}

// announce has webhooks, and those who are to hear of a quorum that was missed, hear of its end.
func (s *Service) announce(ctx context.Context, q Quorum) error {
	if q.Announced {
		return nil
	}
	kind := webhook.EventQuorumMet
	if q.State == Missed {
		kind = webhook.EventQuorumMissed
		data := fmt.Appendf(nil, `{"state":%q,"of":%d,"read":%d}`, q.State, q.Of, q.Read)
		for _, user := range q.Escalate {
			if err := s.put(ctx, s.core.PutUrgentItem, user, q, "escalate", data); err != nil {
				return err
			}
		}
	}
	if q.State != Cancelled {
		e := webhook.Event{Type: kind, Key: fmt.Sprintf("%s %d %d", q.Group, q.ID, q.At.UnixMilli()), At: *q.DecidedAt,
			Data: Event{q.Group, q.ID, q.Author, q.Of, q.Read, q.Until, *q.DecidedAt}}
		if err := s.webhooks.Publish(ctx, q.Group, e); err != nil {
			return err
		}
	}
	return s.store.QuorumDone(ctx, q, q.Reminded, first, true)
}
