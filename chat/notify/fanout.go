package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Bounds of the fan-out.
const (
	membersMax    = 500 // members that one step looks at
	usersMax      = 100 // members whom one step tells: each costs the store some look-ups
	inboxItemsMax = 200 // newest items of an inbox that a notification counts
)

// Kinds of the tasks of notifications, with the JSON of their payload. A store's steps enqueue the first three.
const (
	TaskFanOut   = "notify"       // FanOutTask: who of a group is to be told
	TaskInbox    = "notify_inbox" // InboxTask: whether a user is to be told of the inbox
	TaskDispatch = "tell"         // DispatchTask: a delivery for each device of those who are told
	TaskPush     = "push"         // PushTask: one delivery
)

// FanOutTask names one life of a group. Again: for those who seemed to be there when it ran before.
type FanOutTask struct {
	chat.GroupTask
	Again bool `json:"again,omitempty"`
}

// InboxTask names the owner of an inbox. Again: as in FanOutTask.
type InboxTask struct {
	User  string `json:"user"`
	Again bool   `json:"again,omitempty"`
}

// DispatchTask is whom a fan-out tells of what. Group is empty for the inbox; Last and Show are seqs then.
type DispatchTask struct {
	Group    string        `json:"group"`
	Epoch    string        `json:"epoch"`
	Last     int64         `json:"last"` // where the log ended when they were told
	AtMs     int64         `json:"at_ms"`
	Priority chat.Priority `json:"priority"`
	Users    []Recipient   `json:"users"`
}

// Recipient is what one user is told.
type Recipient struct {
	User     string `json:"user"`
	Count    int64  `json:"count"`    // unread messages
	Mentions int64  `json:"mentions"` // of them, those that mention the user
	Show     int64  `json:"show"`     // id of the message to be shown; 0: none was found near the end
}

// fanOut is the fan-out of a group: of the members who have not read everything it tells those who have a device and no
// live session. Redoing it after a crash does no harm: who was told is known to the store.
func (s *Service) fanOut(ctx context.Context, t FanOutTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	there := false
	for after := int64(0); ; {
		users, next, err := s.store.Behind(ctx, t.Group, t.Epoch, after, membersMax)
		if errors.Is(err, chat.ErrNotFound) {
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
	return s.lookAgain(ctx, TaskFanOut, t.Group, t.Group+":"+t.Epoch, FanOutTask{GroupTask: t.GroupTask, Again: true})
}

// lookAgain runs a fan-out once more when no node can vouch any longer for what it vouched for now: a session may be one of a
// node that is dead, and whoever had it would not be told. One look is for all fan-outs of a span, and comes long enough
// after its end: one that waits already may come too soon for whom this fan-out has met.
func (s *Service) lookAgain(ctx context.Context, kind, subject, name string, payload any) error {
	span := s.opt.Now() / heartbeat.Milliseconds()
	return s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: kind, Subject: subject, Payload: payload, Priority: chat.PriorityLow,
		Delay: presenceKept + heartbeat, Unique: fmt.Sprint(kind, ":again:", name, ":", span)})
}

// tellAway tells those of users who are away, and says whether others have a device too.
func (s *Service) tellAway(ctx context.Context, t chat.GroupTask, users []string) (there bool, err error) {
	if len(users) == 0 {
		return false, nil
	}
	away, live, err := s.store.Away(ctx, users)
	if err != nil {
		return false, err
	}
	for some := range slices.Chunk(away, usersMax) {
		if err := s.store.TellUsers(ctx, t.Group, t.Epoch, some); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return false, err
		}
	}
	return len(live) > 0, nil
}

// fanOutInbox tells a user of what others have put into the inbox, unless a session of theirs is live.
func (s *Service) fanOutInbox(ctx context.Context, t InboxTask) error {
	if !chat.ValidID(t.User) {
		return chat.Invalid("a task names no valid user")
	}
	away, live, err := s.store.Away(ctx, []string{t.User})
	if err != nil {
		return err
	}
	if len(live) > 0 && !t.Again {
		return s.lookAgain(ctx, TaskInbox, t.User, t.User, InboxTask{User: t.User, Again: true})
	}
	if len(away) == 0 {
		return nil
	}
	told, err := s.store.InboxTold(ctx, t.User)
	if err != nil {
		return err
	}
	batch, err := s.store.InboxPull(ctx, t.User, nil, 0)
	if err != nil {
		return err
	}
	after := max(batch.From-1, batch.Last-inboxItemsMax)
	if batch, err = s.store.InboxPull(ctx, t.User, &after, inboxItemsMax); err != nil {
		return err
	}
	tell := DispatchTask{Epoch: batch.Epoch, AtMs: s.opt.Now(), Priority: chat.PriorityLow, Users: []Recipient{{User: t.User}}}
	it := &tell.Users[0]
	for i, raw := range batch.Items {
		item, err := decodeItem(raw)
		if err != nil {
			return err
		}
		if item.Kind != chat.ItemDirect && item.Kind != chat.ItemAnnouncement {
			continue
		}
		it.Count++
		tell.Last = batch.From + int64(i)
		if item.Kind == chat.ItemDirect && tell.Last > told {
			tell.Priority = chat.PriorityHigh
		}
	}
	if it.Show = tell.Last; tell.Last <= told {
		return nil
	}
	return s.store.TellInbox(ctx, t.User, tell)
}

func decodeItem(raw []byte) (item chat.Item, err error) {
	if err := json.Unmarshal(raw, &item); err != nil {
		return chat.Item{}, &chat.Error{Code: chat.CodeInternal, Message: "internal error", Cause: err}
	}
	return item, nil
}

// dispatch makes a delivery for each device of those who are told. The id of a delivery follows from what it tells
// of, so a repeat makes none twice while it waits, and one that was made already is known to its receiver by that id.
func (s *Service) dispatch(ctx context.Context, t DispatchTask) error {
	users := make([]string, len(t.Users))
	for i, told := range t.Users {
		users[i] = told.User
	}
	if t.Epoch == "" || t.Group != "" && !chat.ValidID(t.Group) || slices.ContainsFunc(users, func(u string) bool { return !chat.ValidID(u) }) {
		return chat.Invalid("a task names no valid group, epoch or user")
	}
	all, err := s.store.Devices(ctx, users)
	if err != nil {
		return err
	}
	var pushes []chat.NewTask
	for i, told := range t.Users {
		for _, d := range all[i] {
			pushes = append(pushes, chat.NewTask{
				Queue: chat.QueueEgress, Kind: TaskPush, Subject: told.User, Priority: t.Priority,
				Key: fmt.Sprint(told.User, " ", d.ID, " ", t.Group, " ", t.Epoch, " ", t.Last),
				Payload: PushTask{User: told.User, Device: d.ID, Group: t.Group, Epoch: t.Epoch, Last: t.Last, AtMs: t.AtMs,
					Count: told.Count, Mentions: told.Mentions, Show: told.Show, Priority: t.Priority},
			})
		}
	}
	if len(pushes) == 0 {
		return nil
	}
	return s.store.Enqueue(ctx, pushes...)
}
