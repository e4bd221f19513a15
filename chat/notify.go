package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Bounds of the fan-out.
const (
	notifyPage = 500 // members that one step looks at
	tellMax    = 100 // members whom one step tells: each costs the store some look-ups
	inboxTell  = 200 // newest items of an inbox that a notification counts
)

// NotifyStore is what the fan-out asks of a store.
type NotifyStore interface {
	// WantNotify makes the store enqueue a group's fan-out delay after a new message; only where it does so already, if
	// only is true. Repeating it is harmless.
	WantNotify(ctx context.Context, delay time.Duration, only bool) error
	// Behind gives members who have not read up to the newest text or data, paged by the order of joining; next 0: no
	// more. ErrNotFound: the group has another epoch, or is gone.
	Behind(ctx context.Context, group, epoch string, after int64, limit int) (users []string, next int64, err error)
	// TellUsers decides for each of users, who are away, whether to tell them, notes how far they were told, and
	// enqueues the task that makes the deliveries, all in one step. Whoever was told of all there is is not told again.
	TellUsers(ctx context.Context, group, epoch string, users []string) error
	// InboxTold is up to which seq user was told of the inbox.
	InboxTold(ctx context.Context, user string) (int64, error)
	// TellInbox notes that user is told of the inbox up to t.Last and enqueues t in the same step, unless that much was
	// told or acked before.
	TellInbox(ctx context.Context, user string, t TellTask) error
}

// Kinds of the tasks of notifications, with the JSON of their payload. A store's steps enqueue the first three.
const (
	TaskNotify      = "notify"       // NotifyTask: who of a group is to be told
	TaskNotifyInbox = "notify_inbox" // InboxTask: whether a user is to be told of the inbox
	TaskTell        = "tell"         // TellTask: a delivery for each device of those who are told
	TaskPush        = "push"         // PushTask: one delivery
)

// NotifyTask names one life of a group. Again: for those who seemed to be there when it ran before.
type NotifyTask struct {
	GroupTask
	Again bool `json:"again,omitempty"`
}

// InboxTask names the owner of an inbox. Again: as in NotifyTask.
type InboxTask struct {
	User  string `json:"user"`
	Again bool   `json:"again,omitempty"`
}

// TellTask is whom a fan-out tells of what. Group is empty for the inbox; Last and Show are seqs then.
type TellTask struct {
	Group    string   `json:"group"`
	Epoch    string   `json:"epoch"`
	Last     int64    `json:"last"` // where the log ended when they were told
	AtMs     int64    `json:"at_ms"`
	Priority Priority `json:"priority"`
	Users    []Told   `json:"users"`
}

// Told is what one user is told.
type Told struct {
	User     string `json:"user"`
	Count    int64  `json:"count"`    // unread messages
	Mentions int64  `json:"mentions"` // of them, those that mention the user
	Show     int64  `json:"show"`     // id of the message to be shown; 0: none was found near the end
}

// notify is the fan-out of a group: of the members who have not read everything it tells those who have a device and no
// live session. Redoing it after a crash does no harm: who was told is known to the store.
func (s *Service) notify(ctx context.Context, t NotifyTask) error {
	if err := CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	there := false
	for after := int64(0); ; {
		users, next, err := s.stores.Behind(ctx, t.Group, t.Epoch, after, notifyPage)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		live, err := s.tellAway(ctx, t.GroupTask, users)
		if err != nil {
			return err
		}
		there = there || live
		if after = next; after == 0 {
			break
		}
	}
	if !there || t.Again {
		return nil
	}
	return s.lookAgain(ctx, TaskNotify, t.Group, t.Group+":"+t.Epoch, NotifyTask{GroupTask: t.GroupTask, Again: true})
}

// lookAgain runs a fan-out once more when no node can vouch any longer for what it vouched for now: a session may be one of a
// node that is dead, and whoever had it would not be told. One look is for all fan-outs of a span, and comes long enough
// after its end: one that waits already may come too soon for whom this fan-out has met.
func (s *Service) lookAgain(ctx context.Context, kind, subject, name string, payload any) error {
	span := s.opt.Now() / heartbeat.Milliseconds()
	return s.stores.Enqueue(ctx, NewTask{Queue: QueueCore, Kind: kind, Subject: subject, Payload: payload, Priority: PriorityLow,
		Delay: vouchFor + heartbeat, Unique: fmt.Sprint(kind, ":again:", name, ":", span)})
}

// tellAway tells those of users who are away, and says whether others have a device too.
func (s *Service) tellAway(ctx context.Context, t GroupTask, users []string) (there bool, err error) {
	if len(users) == 0 {
		return false, nil
	}
	away, live, err := s.stores.Away(ctx, users)
	if err != nil {
		return false, err
	}
	for some := range slices.Chunk(away, tellMax) {
		if err := s.stores.TellUsers(ctx, t.Group, t.Epoch, some); err != nil && !errors.Is(err, ErrNotFound) {
			return false, err
		}
	}
	return len(live) > 0, nil
}

// notifyInbox tells a user of what others have put into the inbox, unless a session of theirs is live.
func (s *Service) notifyInbox(ctx context.Context, t InboxTask) error {
	if !ValidID(t.User) {
		return Invalid("a task names no valid user")
	}
	away, live, err := s.stores.Away(ctx, []string{t.User})
	if err != nil {
		return err
	}
	if len(live) > 0 && !t.Again {
		return s.lookAgain(ctx, TaskNotifyInbox, t.User, t.User, InboxTask{User: t.User, Again: true})
	}
	if len(away) == 0 {
		return nil
	}
	told, err := s.stores.InboxTold(ctx, t.User)
	if err != nil {
		return err
	}
	batch, err := s.stores.InboxPull(ctx, t.User, nil, 0)
	if err != nil {
		return err
	}
	after := max(batch.From-1, batch.Last-inboxTell)
	if batch, err = s.stores.InboxPull(ctx, t.User, &after, inboxTell); err != nil {
		return err
	}
	tell := TellTask{Epoch: batch.Epoch, AtMs: s.opt.Now(), Priority: PriorityLow, Users: []Told{{User: t.User}}}
	it := &tell.Users[0]
	for i, raw := range batch.Items {
		item, err := decodeItem(raw)
		if err != nil {
			return err
		}
		if item.Kind != ItemDirect && item.Kind != ItemAnnouncement {
			continue
		}
		it.Count++
		tell.Last = batch.From + int64(i)
		if item.Kind == ItemDirect && tell.Last > told {
			tell.Priority = PriorityHigh
		}
	}
	if it.Show = tell.Last; tell.Last <= told {
		return nil
	}
	return s.stores.TellInbox(ctx, t.User, tell)
}

func decodeItem(raw []byte) (item Item, err error) {
	if err := json.Unmarshal(raw, &item); err != nil {
		return Item{}, &Error{Code: CodeInternal, Message: "internal error", Cause: err}
	}
	return item, nil
}

// tellDevices makes a delivery for each device of those who are told. The id of a delivery follows from what it tells
// of, so a repeat makes none twice while it waits, and one that was made already is known to its receiver by that id.
func (s *Service) tellDevices(ctx context.Context, t TellTask) error {
	users := make([]string, len(t.Users))
	for i, told := range t.Users {
		users[i] = told.User
	}
	if t.Epoch == "" || t.Group != "" && !ValidID(t.Group) || slices.ContainsFunc(users, func(u string) bool { return !ValidID(u) }) {
		return Invalid("a task names no valid group, epoch or user")
	}
	all, err := s.stores.Devices(ctx, users)
	if err != nil {
		return err
	}
	var pushes []NewTask
	for i, told := range t.Users {
		for _, d := range all[i] {
			pushes = append(pushes, NewTask{
				Queue: QueueEgress, Kind: TaskPush, Subject: told.User, Priority: t.Priority,
				Key: fmt.Sprint(told.User, " ", d.ID, " ", t.Group, " ", t.Epoch, " ", t.Last),
				Payload: PushTask{User: told.User, Device: d.ID, Group: t.Group, Epoch: t.Epoch, Last: t.Last, AtMs: t.AtMs,
					Count: told.Count, Mentions: told.Mentions, Show: told.Show, Priority: t.Priority},
			})
		}
	}
	if len(pushes) == 0 {
		return nil
	}
	return s.stores.Enqueue(ctx, pushes...)
}
