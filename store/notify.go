package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/queue"
)

var (
	wantNotifyScript = newScript("notify/want")
	pushKeyScript    = newScript("notify/push_key")
	levelScript      = newScript("notify/set_level")
	levelOfScript    = newReader("notify/level")
	behindScript     = newReader("notify/behind")
	tellUsersScript  = newScript("notify/tell_users")
	tellInboxScript  = newScript("notify/tell_inbox")
)

// WantNotify makes every partition enqueue fan-outs after delay; only where it does so already, if only is true.
func (s *Store) WantNotify(ctx context.Context, delay time.Duration, only bool) error {
	calls := make([]call, s.keys.partitions)
	for p := range calls {
		calls[p] = call{wantNotifyScript, []string{s.keys.wants(p)}, []any{delay.Milliseconds(), flag(only)}}
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	return firstError(errs)
}

// PushKey returns the private key that is kept, which is candidate where none was.
func (s *Store) PushKey(ctx context.Context, candidate string) (string, error) {
	r, err := s.runSafe(ctx, call{pushKeyScript, []string{s.keys.pushKey()}, []any{candidate}})
	return r.text(1), err
}

// SetLevel sets what a member is told of.
func (s *Store) SetLevel(ctx context.Context, group, user string, set chat.NotifySetting) error {
	k := s.keys.group(group)
	until := int64(0)
	if set.Until != nil {
		until = set.Until.UnixMilli()
	}
	_, err := s.runSafe(ctx, call{levelScript, []string{k.meta(), k.members(), k.levels()}, []any{user, string(set.Level), until}})
	return err
}

// Level reads what a member is told of, as it was set.
func (s *Store) Level(ctx context.Context, group, user string) (chat.NotifySetting, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, call{levelOfScript, []string{k.meta(), k.members(), k.levels()}, []any{user}})
	if err != nil {
		return chat.NotifySetting{}, err
	}
	set := chat.NotifySetting{Level: chat.NotifyLevel(r.text(1))}
	if ms := r.number(2); ms > 0 {
		until := chat.TimeMs(ms)
		set.Until = &until
	}
	return set, nil
}

// Behind pages through the members who have not read up to the newest text or data.
func (s *Store) Behind(ctx context.Context, group, epoch string, after int64, limit int) ([]string, int64, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, call{behindScript, []string{k.meta(), k.joined(), k.read()}, []any{epoch, after, min(limit, rangeBatch)}})
	if err != nil {
		return nil, 0, err
	}
	users := make([]string, 0, len(r)-2)
	for i := 2; i < len(r); i++ {
		users = append(users, r.text(i))
	}
	return users, r.number(1), nil
}

// TellUsers decides whom of users to tell, notes how far they were told, and enqueues the task that makes the deliveries.
func (s *Store) TellUsers(ctx context.Context, group, epoch string, users []string) error {
	k := s.keys.group(group)
	keys := append([]string{k.id(), k.meta(), k.members(), k.joined(), k.read(), k.skip(), k.levels(), k.told()}, k.enqueue()...)
	keys = append(keys, k.msgs())
	args := []any{group, epoch, k.taskID(), k.taskID()}
	for _, user := range users {
		keys = append(keys, k.by(user), k.at(user))
		args = append(args, user)
	}
	_, err := s.runSafe(ctx, call{tellUsersScript, keys, args})
	return err
}

// InboxTold is up to which seq user was told of the inbox.
func (s *Store) InboxTold(ctx context.Context, user string) (int64, error) {
	told, err := s.client.HGet(ctx, s.keys.user(user).inboxBase(), "told").Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return told, fail("inbox", err)
}

// TellInbox notes that user is told of the inbox up to t.Last and enqueues t in the same step.
func (s *Store) TellInbox(ctx context.Context, user string, t chat.TellTask) error {
	payload, err := json.Marshal(t)
	if err != nil {
		return broke("tell_inbox", err)
	}
	p := s.keys.partition(user)
	keys := append([]string{s.keys.user(user).inboxBase()}, s.keys.queue(p).Enqueue()...)
	_, err = s.runSafe(ctx, call{tellInboxScript, keys, []any{t.Epoch, t.Last, queue.NewID(p), string(t.Priority), payload}})
	return err
}
