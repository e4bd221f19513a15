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
	membersMax    = 500 // members that one step checks
	usersMax      = 100 // members that one step notifies: each costs the store some look-ups
	inboxItemsMax = 200 // newest items of an inbox that a notification counts
)

// Kinds of the tasks of notifications, with the type of their payload. Scripts of the store enqueue the first three. A kind is
// stored with its tasks, so it keeps its name when the code is renamed.
const (
	TaskFanOut   = "notify"       // FanOutTask: find the members of a group to notify
	TaskInbox    = "notify_inbox" // InboxTask: notify a user of the inbox, if needed
	TaskDispatch = "tell"         // DispatchTask: make a delivery for each device of the recipients
	TaskPush     = "push"         // PushTask: one delivery
)

// FanOutTask names one life of a group. Thread: only the replies of that thread, to its followers. Again: a second run, for members who seemed to be online in the first.
type FanOutTask struct {
	chat.GroupTask
	Thread int64 `json:"thread,omitempty"`
	Again  bool  `json:"again,omitempty"`
}

// InboxTask names the owner of an inbox. Again: as in FanOutTask.
type InboxTask struct {
	User  string `json:"user"`
	Again bool   `json:"again,omitempty"`
}

// DispatchTask is the decision of a fan-out: who gets notified of what. For the inbox, Group is empty, and Last and
// Show are seqs.
type DispatchTask struct {
	Group    string        `json:"group"`
	Thread   int64         `json:"thread,omitempty"` // 0: what is in no thread
	Epoch    string        `json:"epoch"`
	Last     int64         `json:"last"` // the end of the log at that time
	AtMs     int64         `json:"at_ms"`
	Priority chat.Priority `json:"priority"`
	Users    []Recipient   `json:"users"`
}

// Recipient is one user to notify, and the content of the notification.
type Recipient struct {
	User     string `json:"user"`
	Count    int64  `json:"count"`    // unread messages
	Mentions int64  `json:"mentions"` // of them, those that mention the user
	Show     int64  `json:"show"`     // id of the message to show; 0: none was found near the end
}

// fanOut notifies the members of a group who have unread messages, a device, and no live session. It may run again after a
// crash: the store records who was notified of what.
func (s *Service) fanOut(ctx context.Context, t FanOutTask) error {
	if err := chat.CheckTask(t.Group, t.Epoch); err != nil {
		return err
	}
	there := false
	for after := ""; ; {
		users, next, err := s.behind(ctx, t, after)
		if errors.Is(err, chat.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		live, err := s.notifyOffline(ctx, t, users)
		if err != nil {
			return err
		}
		there = there || live
		if after = next; after == "" {
			break
		}
	}
	if !there || t.Again {
		return nil
	}
	name := t.Group + ":" + t.Epoch
	if t.Thread > 0 {
		name = fmt.Sprint(name, ":", t.Thread)
	}
	return s.lookAgain(ctx, TaskFanOut, t.Group, name, FanOutTask{GroupTask: t.GroupTask, Thread: t.Thread, Again: true})
}

// behind returns a page of the users that a fan-out is about.
func (s *Service) behind(ctx context.Context, t FanOutTask, after string) (users []string, next string, err error) {
	if t.Thread > 0 {
		return s.store.Followers(ctx, t.Group, t.Epoch, t.Thread, after, membersMax)
	}
	return s.store.Behind(ctx, t.Group, t.Epoch, after, membersMax)
}

// lookAgain schedules a second fan-out for when the presence seen now has expired: a session may belong to a node that just
// died, and its user would never be notified. One such task serves all fan-outs of a heartbeatEvery interval; the next interval has
// another, because a task that waits already may run too early for the users this fan-out has seen.
func (s *Service) lookAgain(ctx context.Context, kind, subject, name string, payload any) error {
	span := s.opt.Now() / heartbeatEvery.Milliseconds()
	return s.store.Enqueue(ctx, chat.NewTask{Queue: chat.QueueCore, Kind: kind, Subject: subject, Payload: payload, Priority: chat.PriorityLow,
		Delay: presenceKept + heartbeatEvery, Unique: fmt.Sprint(kind, "_again:", name, ":", span)})
}

// notifyOffline notifies the offline users, and reports whether others with a device are online.
func (s *Service) notifyOffline(ctx context.Context, t FanOutTask, users []string) (there bool, err error) {
	if len(users) == 0 {
		return false, nil
	}
	away, live, err := s.store.Away(ctx, users)
	if err != nil {
		return false, err
	}
	for some := range slices.Chunk(away, usersMax) {
		if t.Thread > 0 {
			err = s.store.NotifyFollowers(ctx, t.Group, t.Epoch, t.Thread, some)
		} else {
			err = s.store.NotifyUsers(ctx, t.Group, t.Epoch, some)
		}
		if err != nil && !errors.Is(err, chat.ErrNotFound) {
			return false, err
		}
	}
	return len(live) > 0, nil
}

// fanOutInbox notifies a user of new inbox items from others, unless the user has a live session.
func (s *Service) fanOutInbox(ctx context.Context, t InboxTask) error {
	if !chat.ValidUserID(t.User) {
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
	recipient, err := s.store.InboxNotified(ctx, t.User)
	if err != nil {
		return err
	}
	batch, err := s.store.InboxPull(ctx, t.User, chat.Position{}, 0)
	if err != nil {
		return err
	}
	dispatch := DispatchTask{Epoch: batch.Epoch, AtMs: s.opt.Now(), Priority: chat.PriorityLow, Users: []Recipient{{User: t.User}}}
	after := max(batch.Acked, batch.Last-inboxItemsMax)
	// A batch ends where items are missing, so there may be as many batches as items.
	for range inboxItemsMax {
		if batch, err = s.store.InboxPull(ctx, t.User, chat.Position{Set: true, ID: after}, inboxItemsMax); err != nil {
			return err
		}
		if err := dispatch.count(batch, recipient); err != nil {
			return err
		}
		if after = batch.To; !batch.HasMore {
			break
		}
	}
	it := &dispatch.Users[0]
	if it.Show = dispatch.Last; dispatch.Last <= recipient {
		return nil
	}
	return s.store.NotifyInbox(ctx, t.User, dispatch)
}

// count adds the items of a batch that its owner gets notified of. recipient is the seq up to which the owner was
// notified before.
func (t *DispatchTask) count(batch chat.InboxBatch, recipient int64) error {
	for i := range batch.Items {
		item, err := decodeItem(batch.Items[i].JSON)
		if err != nil {
			return err
		}
		if item.Kind != chat.ItemDirect && item.Kind != chat.ItemAnnouncement {
			continue
		}
		t.Users[0].Count++
		t.Last = item.Seq
		if item.Kind == chat.ItemDirect && t.Last > recipient {
			t.Priority = chat.PriorityHigh
		}
	}
	return nil
}

func decodeItem(raw []byte) (item chat.Item, err error) {
	if err := json.Unmarshal(raw, &item); err != nil {
		return chat.Item{}, &chat.Error{Code: chat.CodeInternal, Message: "internal error", Cause: err}
	}
	return item, nil
}

// dispatch makes a delivery for each device of the recipients. The id of a delivery is derived from its content, so a repeat
// does not enqueue it twice, and a receiver recognizes one that it has seen.
func (s *Service) dispatch(ctx context.Context, t DispatchTask) error {
	users := make([]string, len(t.Users))
	for i, recipient := range t.Users {
		users[i] = recipient.User
	}
	if t.Epoch == "" || t.Group != "" && !chat.ValidGroupID(t.Group) || slices.ContainsFunc(users, func(u string) bool { return !chat.ValidUserID(u) }) {
		return chat.Invalid("a task names no valid group, epoch or user")
	}
	all, err := s.store.Devices(ctx, users)
	if err != nil {
		return err
	}
	var pushes []chat.NewTask
	for i, recipient := range t.Users {
		for _, d := range all[i] {
			key := fmt.Sprint(recipient.User, " ", d.ID, " ", t.Group, " ", t.Epoch, " ", t.Last)
			if t.Thread > 0 {
				key = fmt.Sprint(key, " ", t.Thread)
			}
			pushes = append(pushes, chat.NewTask{
				Queue: chat.QueueEgress, Kind: TaskPush, Subject: recipient.User, Priority: t.Priority,
				Key: key,
				Payload: PushTask{User: recipient.User, Device: d.ID, Group: t.Group, Thread: t.Thread, Epoch: t.Epoch, Last: t.Last, AtMs: t.AtMs,
					Count: recipient.Count, Mentions: recipient.Mentions, Show: recipient.Show, Priority: t.Priority},
			})
		}
	}
	if len(pushes) == 0 {
		return nil
	}
	return s.store.Enqueue(ctx, pushes...)
}
