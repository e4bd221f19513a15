package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/webhook"
)

// Tasks of reports. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskReported = "reported"    // ReportedTask: webhooks are to hear of a report
	TaskEnd      = "reports_end" // EndTask: reports of a group may have been open for too long
)

// ReportedTask is a report as webhooks get it.
type ReportedTask struct {
	Group  string          `json:"group"`
	Report json.RawMessage `json:"report"` // Event
}

// EndTask names a group with reports.
type EndTask struct {
	Group string `json:"group"`
}

// Handlers are the tasks of reports, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskReported: chat.Patient(func(ctx context.Context, t ReportedTask) error {
			var e Event
			if err := chat.CheckGroupID("group", t.Group); err != nil || json.Unmarshal(t.Report, &e) != nil {
				return chat.Invalid("a task names no valid group or report")
			}
			return s.webhooks.Publish(ctx, t.Group, webhook.Event{Type: webhook.EventMessageReported, Key: e.ID, At: e.At, Data: e})
		}),
		TaskEnd: chat.Patient(func(ctx context.Context, t EndTask) error {
			if err := chat.CheckGroupID("group", t.Group); err != nil {
				return err
			}
			return s.store.ExpireReports(ctx, t.Group)
		}),
	}
}

// closing is what the audit says of a decision.
type closing struct {
	Report string `json:"report"`
	Target int64  `json:"target"`
	Action Action `json:"action"`
}

// forever is the end of a mute that has none.
const forever = "9999-12-31T00:00:00.000Z"

var errNoReport = chat.Errorf(chat.CodeNotFound, "no such report")

// Decide carries out what is decided about an open report, and closes it: those who manage its group, and operators; nobody about a
// message of theirs. It is done once: whoever comes second finds no report, and chat.ErrConflict while the first is at it. Where the
// action is refused, the report stays open.
func (s *Service) Decide(ctx context.Context, by chat.Caller, id string, d Decision) error {
	if err := cmp.Or(chat.CheckCaller(by), chat.CheckID("report", id), chat.CheckWord("action", &d.Action, Dismiss, Delete, Mute, Ban)); err != nil {
		return err
	}
	if d.Until != nil && d.Action != Mute && d.Action != Ban {
		return chat.Invalid("until: only with mute or ban")
	}
	group, err := s.store.ReportGroup(ctx, id)
	if errors.Is(err, chat.ErrNotFound) {
		return errNoReport
	}
	if err != nil {
		return chat.AsError(err)
	}
	if !by.Reaches(group) {
		return chat.ErrReach
	}
	ref, lease := Ref{ID: id, Group: group}, chat.NewID("")
	r, err := s.store.TakeReport(ctx, by, ref, lease, leaseFor)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return errNoReport
	case errors.Is(err, chat.ErrConflict):
		return chat.Errorf(chat.CodeConflict, "somebody else is deciding about this report")
	case err != nil:
		return chat.AsError(err)
	}
	done := s.act(ctx, by, r, d)
	var closed *audit.Entry
	if done == nil {
		closed = new(audit.Note(by, audit.ReportClose, group, r.From, closing{id, r.Target, d.Action}))
	}
	// What is done is done, also if the caller has gone by now.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), actFor)
	defer cancel()
	return cmp.Or(done, chat.AsError(s.store.SettleReport(after, ref, lease, closed)))
}

// act does what is decided. It may be done twice, where a node dies before the report is closed.
func (s *Service) act(ctx context.Context, by chat.Caller, r Report, d Decision) (err error) {
	ctx, cancel := context.WithTimeout(ctx, actFor)
	defer cancel()
	switch d.Action {
	case Delete:
		err = s.rules.Delete(ctx, by, r.Group, r.Target)
	case Mute:
		_, err = s.rules.Mute(ctx, by, r.Group, r.From, chat.Encode(cmp.Or(d.Until, new(forever))))
		if errors.Is(err, chat.ErrNotFound) {
			err = chat.Errorf(chat.CodeConflict, "the author is not in the group any longer")
		}
	case Ban:
		_, _, err = s.rules.Ban(ctx, by, r.Group, r.From, rules.BanDraft{Reason: r.Reason, Until: d.Until})
	}
	return err
}
