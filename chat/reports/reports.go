// Package reports is what members report of messages, for those who manage the group, and operators. A report keeps the message as
// it read until somebody decides about it, in the partition of the group. Whoever is reported never learns who reported them: their
// own reports are hidden from those who manage the group, too.
package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/webhook"
)

// Keep is how long a report stays open at most.
const Keep = 90 * 24 * time.Hour

const (
	reasonMax = 200  // characters
	noteMax   = 1000 // characters
	putTries  = 5    // of a message that keeps changing
	look      = 50   // reports of all groups that are read in one step: 2 MiB at most

	// An action is given up long before somebody else may take the report.
	actFor   = 10 * time.Second
	leaseFor = 30 * time.Second
)

// Report is what a member says of a message.
type Report struct {
	ID      string          `json:"id"`
	Group   string          `json:"group"`
	Target  int64           `json:"target"` // the message
	From    string          `json:"from"`   // who wrote it
	By      string          `json:"by"`     // who reports it
	Reason  string          `json:"reason"`
	Note    string          `json:"note,omitempty"`
	At      chat.Time       `json:"at"`
	Message json.RawMessage `json:"message,omitempty"` // as it read then, for those who decide
}

// Draft is what a member reports.
type Draft struct {
	Reason string
	Note   string
}

// Filed is a report to be kept, with the message as it was read.
type Filed struct {
	Report
	Was   chat.Message
	Below *chat.Below // where it is in the archive
}

// Event is what webhooks get: nobody is named in it.
type Event struct {
	ID     string    `json:"id"`
	Group  string    `json:"group"`
	Target int64     `json:"target"`
	Reason string    `json:"reason"`
	At     chat.Time `json:"at"`
}

// Event is what webhooks get of the report.
func (r Report) Event() Event { return Event{r.ID, r.Group, r.Target, r.Reason, r.At} }

// Action is what is decided about a report.
type Action string

// The actions.
const (
	Dismiss Action = "dismiss" // nothing
	Delete  Action = "delete"  // the message is deleted
	Mute    Action = "mute"    // its author may not write
	Ban     Action = "ban"     // its author is kept out
)

// Decision closes a report. Until is an RFC 3339 time, of Mute and Ban; nil: no end.
type Decision struct {
	Action Action
	Until  *string
}

// Ref names a report and its group.
type Ref struct{ ID, Group string }

// Store keeps reports. Each method but those that read several groups is one step. Errors are those of chat.Store.
type Store interface {
	// PutReport keeps a report, or returns that of the same member about the message. ErrConflict: the message has changed since it was
	// read; CodeQuotaFull: Limits.GroupReportsMax, Limits.MemberReportsMax.
	PutReport(ctx context.Context, f Filed) (r Report, created bool, err error)
	// ReportsBy returns the open reports of a group that a user made.
	ReportsBy(ctx context.Context, group, user string) ([]Report, error)
	// GroupReports pages through the open reports of a group, the newest first. after is next of the page before.
	GroupReports(ctx context.Context, by chat.Caller, group, after string, limit, bytesMax int) (list []Report, next string, err error)
	// AllReports names the open reports of all groups from behind an id on, the newest first.
	AllReports(ctx context.Context, after string, count int) (list []Ref, more bool, err error)
	// ReadReports reads reports, without those that are closed.
	ReadReports(ctx context.Context, list []Ref) ([]Report, error)
	// ReportGroup tells in which group a report is. ErrNotFound.
	ReportGroup(ctx context.Context, id string) (group string, err error)
	// TakeReport takes an open report for a time, in the name of lease. ErrNotFound, also for those who may not know of it; ErrConflict:
	// another one has taken it.
	TakeReport(ctx context.Context, by chat.Caller, r Ref, lease string, d time.Duration) (Report, error)
	// SettleReport closes a report that lease has taken, by what the audit gets, or, with nil, gives it back.
	SettleReport(ctx context.Context, r Ref, lease string, closed *audit.Entry) error
	// ExpireReports removes the reports of a group that have been open for Keep.
	ExpireReports(ctx context.Context, group string) error
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Pull is that of chat.Store.
	Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error)
}

// Service takes reports and decides about them. It may be used from many goroutines.
type Service struct {
	core     *chat.Service
	store    Store
	logs     Logs
	rules    *rules.Service
	webhooks *webhook.Service
}

// New makes a Service. logs are those that the core serves.
func New(core *chat.Service, store Store, logs Logs, decided *rules.Service, webhooks *webhook.Service) *Service {
	return &Service{core, store, logs, decided, webhooks}
}

// newID makes an id: those of later reports come first in the order of bytes.
func newID(nowMs int64) string {
	return fmt.Sprintf("%012x%s", 1<<48-1-nowMs, chat.NewID("")[1:])
}

// Put reports a text or data of somebody else in a group of the caller. Once a member and message: another time returns the first
// report. It is without the message: who made it may not be able to read that any longer.
func (s *Service) Put(ctx context.Context, by chat.Caller, group string, target int64, d Draft) (r Report, created bool, err error) {
	reason, err := chat.Line("reason", strings.TrimSpace(d.Reason), reasonMax)
	if err := cmp.Or(chat.CheckGroup(by, group), err, checkNote(d.Note)); err != nil {
		return Report{}, false, err
	}
	switch {
	case reason == "":
		return Report{}, false, chat.Invalid("reason: missing")
	case target < 1:
		return Report{}, false, chat.Invalid("id: must be at least 1")
	case by.Program():
		return Report{}, false, chat.Invalid("a key reports nothing: Chatd-As names the user")
	}
	err = chat.ErrConflict
	for tries := 0; errors.Is(err, chat.ErrConflict) && tries < putTries; tries++ {
		r, created, err = s.put(ctx, by, group, min(target, chat.IDMax), Draft{reason, d.Note})
	}
	r.Message = nil
	return r, created, err
}

func (s *Service) put(ctx context.Context, by chat.Caller, group string, target int64, d Draft) (Report, bool, error) {
	f, err := s.file(ctx, by, group, target, d)
	if errors.Is(err, chat.ErrNotFound) {
		if first, found := s.first(ctx, by, group, target); found {
			return first, false, nil
		}
	}
	if err != nil {
		return Report{}, false, err
	}
	r, created, err := s.store.PutReport(ctx, f)
	return r, created, chat.AsError(err)
}

// file makes a report of a message as the caller reads it.
func (s *Service) file(ctx context.Context, by chat.Caller, group string, target int64, d Draft) (f Filed, err error) {
	pages, err := s.logs.Pull(ctx, by.User, []chat.Pull{{Group: group, From: target, Limit: 1}})
	if err == nil {
		err = pages[0].Err
	}
	if err != nil {
		return f, s.core.Refused(ctx, by, group, err)
	}
	page := pages[0]
	if len(page.Messages) > 0 && page.Messages[0].ID == target {
		f.Was = page.Messages[0]
	} else if f.Was, err = s.core.OnlyPinned(ctx, page.Info, target); err != nil {
		return f, err
	}
	var e chat.Entry
	if err := json.Unmarshal(f.Was.JSON, &e); err != nil {
		return f, chat.AsError(fmt.Errorf("message %d of %s: %w", target, group, err))
	}
	switch {
	case e.DeletedAt != nil:
		return f, chat.ErrNotFound
	case e.Kind != chat.Text && e.Kind != chat.Data:
		return f, chat.Invalid("id: only text and data can be reported")
	case e.From == by.User:
		return f, chat.Invalid("id: nobody reports themself")
	}
	if target >= page.Info.First && target < page.Info.Held {
		f.Below = &chat.Below{Epoch: page.Info.Epoch, Late: page.Info.Late}
	}
	now := s.core.Options().Now()
	f.Report = Report{newID(now), group, target, e.From, by.User, d.Reason, d.Note, chat.TimeMs(now), f.Was.JSON}
	return f, nil
}

// first is the report that a member made of a message that cannot be read any longer.
func (s *Service) first(ctx context.Context, by chat.Caller, group string, target int64) (Report, bool) {
	if _, err := s.core.MayRead(ctx, by, group); err != nil {
		return Report{}, false
	}
	list, err := s.store.ReportsBy(ctx, group, by.User)
	for _, r := range list {
		if err == nil && r.Target == target {
			return r, true
		}
	}
	return Report{}, false
}

func checkNote(note string) error {
	switch {
	case !utf8.ValidString(note):
		return chat.Invalid("note: not valid UTF-8")
	case utf8.RuneCountInString(note) > noteMax:
		return chat.Invalid("note: at most %d characters", noteMax)
	case strings.ContainsFunc(note, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return chat.Invalid("note: control characters are not allowed")
	}
	return nil
}

// MadeBy lists the open reports of a group that the caller made, without their messages.
func (s *Service) MadeBy(ctx context.Context, by chat.Caller, group string) ([]Report, error) {
	list, err := s.store.ReportsBy(ctx, group, by.User)
	for i := range list {
		list[i].Message = nil
	}
	return list, chat.AsError(err)
}

// OfGroup lists the open reports of a group, the newest first, but for those about the caller: owner, admin, operator.
func (s *Service) OfGroup(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (chat.List[Report], error) {
	limits := s.core.Options().Limits
	most, err := limits.Page(limit)
	if err := cmp.Or(chat.CheckGroup(by, group), err, checkCursor(cursor)); err != nil {
		return chat.List[Report]{}, err
	}
	list, next, err := s.store.GroupReports(ctx, by, group, cursor, most, limits.PageBytesMax)
	return chat.List[Report]{Items: list, Next: next}, chat.AsError(err)
}

// All lists the open reports of all groups that the caller reaches, the newest first: operators.
func (s *Service) All(ctx context.Context, by chat.Caller, limit int, cursor string) (list chat.List[Report], err error) {
	limits := s.core.Options().Limits
	most, err := limits.Page(limit)
	if err := cmp.Or(chat.CheckOperator(by), err, checkCursor(cursor)); err != nil {
		return list, err
	}
	for bytes, more := 0, true; more; {
		var refs []Ref
		if refs, more, err = s.store.AllReports(ctx, cursor, look); err != nil {
			return list, chat.AsError(err)
		}
		found, err := s.store.ReadReports(ctx, refs)
		if err != nil {
			return list, chat.AsError(err)
		}
		for _, r := range found {
			if !by.Reaches(r.Group) || r.From == by.User {
				continue
			}
			bytes += len(r.Message) + len(r.Note)
			if len(list.Items) == most || len(list.Items) > 0 && bytes > limits.PageBytesMax {
				list.Next = list.Items[len(list.Items)-1].ID
				return list, nil
			}
			list.Items = append(list.Items, r)
		}
		if len(refs) > 0 {
			cursor = refs[len(refs)-1].ID
		}
	}
	return list, nil
}

func checkCursor(cursor string) error {
	if cursor != "" && !chat.ValidID(cursor) {
		return chat.Invalid("cursor: not one of this list")
	}
	return nil
}
