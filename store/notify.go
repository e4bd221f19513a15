package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
)

var _ notify.Store = (*Store)(nil)

var (
	wantNotifyScript    = newScript("notify/want", partNames)
	pushKeyScript       = newScript("notify/push_key", partNames)
	levelScript         = newScript("notify/set_level", groupNames)
	levelOfScript       = newReader("notify/level", groupNames)
	behindScript        = newReader("notify/behind", groupNames)
	notifyUsersScript   = newScript("notify/users", groupNames)
	followersScript     = newReader("notify/followers", groupNames)
	notifyRepliesScript = newScript("notify/replies", groupNames)
	notifyInboxScript   = newScript("notify/inbox", userNames)
)

// Notifications decide who gets notified of what: devices, levels, presence.
type Notifications struct {
	*base
}

// WantNotify makes every partition enqueue fan-outs after delay; if only is true, just those that already do.
func (s *Notifications) WantNotify(ctx context.Context, delay time.Duration, only bool) error {
	calls := make([]call, s.partitions())
	for p := range calls {
		calls[p] = wantNotifyScript.On(s.keys.part(p)).Arg("delay_ms", delay.Milliseconds()).Arg("only", only)
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	return firstError(errs)
}

// PushKey returns the stored private key, after storing candidate if there was none.
func (s *Notifications) PushKey(ctx context.Context, candidate string) (string, error) {
	r, err := s.runSafe(ctx, pushKeyScript.On(s.keys.part(0)).Arg("offered", candidate))
	return r.text(1), err
}

// SetLevel sets what a member gets notified of.
func (s *Notifications) SetLevel(ctx context.Context, group, user string, set notify.Setting) error {
	k := s.keys.group(group)
	until := int64(0)
	if set.Until != nil {
		until = set.Until.UnixMilli()
	}
	return s.doSafe(ctx, levelScript.On(k).Arg("user", user).Arg("level", string(set.Level)).Arg("until_ms", until))
}

// Level reads what a member gets notified of, as it was set.
func (s *Notifications) Level(ctx context.Context, group, user string) (notify.Setting, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, levelOfScript.On(k).Arg("user", user))
	if err != nil {
		return notify.Setting{}, err
	}
	set := notify.Setting{Level: notify.Level(r.text(1))}
	if ms := r.number(2); ms > 0 {
		until := chat.TimeMs(ms)
		set.Until = &until
	}
	return set, nil
}

// Behind pages through the members who have not read up to the newest text or data.
func (s *Notifications) Behind(ctx context.Context, group, epoch, after string, limit int) ([]string, string, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, behindScript.On(k).Arg("epoch", epoch).Arg("after", cmp.Or(after, "0")).
		Arg("limit", min(limit, rangeBatch)))
	if err != nil {
		return nil, "", err
	}
	return pageOfUsers(r)
}

// pageOfUsers reads what to continue after, and users.
func pageOfUsers(r reply) (users []string, next string, err error) {
	users = make([]string, 0, len(r)-2)
	for i := 2; i < len(r); i++ {
		users = append(users, r.text(i))
	}
	return users, r.text(1), nil
}

// Followers pages through who follows a thread and has neither read nor been notified of its newest reply.
func (s *Notifications) Followers(ctx context.Context, group, epoch string, root int64, after string, limit int) ([]string, string, error) {
	r, err := s.runSafe(ctx, followersScript.On(s.keys.group(group)).Arg("epoch", epoch).Arg("root", root).Arg("after", after).
		Arg("limit", min(limit, rangeBatch)))
	if err != nil {
		return nil, "", err
	}
	return pageOfUsers(r)
}

// NotifyFollowers is NotifyUsers for the replies of a thread.
func (s *Notifications) NotifyFollowers(ctx context.Context, group, epoch string, root int64, users []string) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, notifyRepliesScript.Sized(k, 2*len(users)).Arg("group", group).Arg("epoch", epoch).Arg("root", root).
		Arg("high_id", k.taskID()).Arg("normal_id", k.taskID()).List("users", users))
}

// NotifyUsers decides which of these offline users to notify, records how far, and enqueues the task that makes the deliveries.
func (s *Notifications) NotifyUsers(ctx context.Context, group, epoch string, users []string) error {
	k := s.keys.group(group)
	c := notifyUsersScript.Sized(k, 2*len(users)).Arg("group", group).Arg("epoch", epoch).Arg("high_id", k.taskID()).
		Arg("normal_id", k.taskID()).List("users", users)
	for _, user := range users {
		c = c.More("counted", "by", k.by(user), "at", k.at(user))
	}
	return s.doSafe(ctx, c)
}

// InboxNotified returns the seq up to which user was notified of inbox items. The field is named "told" in stored data.
func (s *Notifications) InboxNotified(ctx context.Context, user string) (int64, error) {
	notified, err := s.conn.Client().HGet(ctx, s.keys.user(user).inboxBase(), "told").Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return notified, fail("inbox", err)
}

// NotifyInbox records that user is notified of the inbox up to t.Last and enqueues t in the same step.
func (s *Notifications) NotifyInbox(ctx context.Context, user string, t notify.DispatchTask) error {
	payload, err := json.Marshal(t)
	if err != nil {
		return broke(notifyInboxScript.Name, err)
	}
	k := s.keys.user(user)
	return s.doSafe(ctx, notifyInboxScript.On(k).Arg("epoch", t.Epoch).Arg("seq", t.Last).Arg("task_id", k.taskID()).
		Arg("priority", string(t.Priority)).Arg("payload", payload))
}
