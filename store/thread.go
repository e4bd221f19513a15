package store

import (
	"context"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/threads"
)

var _ threads.Store = (*Threads)(nil)

var (
	threadCountsScript = newReader("thread/counts", groupNames)
	threadListScript   = newReader("thread/list", groupNames)
	threadPageScript   = newReader("thread/page", groupNames)
	threadReadScript   = newFreeing("thread/read", groupNames)
	threadFollowScript = newScript("thread/follow", groupNames)
)

// Threads are the threads of groups.
type Threads struct{ *base }

// ReplyCounts tells of messages of a group how many replies their threads have.
func (s *Logs) ReplyCounts(ctx context.Context, group string, ids []int64) (map[int64]chat.ReplyCount, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	r, err := s.runSafe(ctx, threadCountsScript.Sized(s.keys.group(group), len(ids)).List("ids", texts))
	if err != nil {
		return nil, err
	}
	counts := map[int64]chat.ReplyCount{}
	for i := 1; i+2 < len(r); i += 3 {
		counts[r.number(i)] = chat.ReplyCount{Replies: r.number(i + 1), LastID: r.number(i + 2)}
	}
	return counts, nil
}

// Threads reads a page of the threads that a member may see.
func (s *Threads) Threads(ctx context.Context, group, user string, q threads.Query, limit int) (list []threads.Thread, next string, err error) {
	r, err := s.runSafe(ctx, threadListScript.On(s.keys.group(group)).Arg("user", user).Arg("after", q.Cursor).Arg("limit", limit).
		Arg("following", q.Following).Arg("unread", q.Unread))
	if err != nil {
		return nil, "", err
	}
	for i := 2; i+5 < len(r); i += 6 {
		list = append(list, asThread(r.number(i), r[i+1:]))
	}
	return list, r.text(1), nil
}

// Thread reads how a member stands to a thread, and a page of the ids of its replies.
func (s *Threads) Thread(ctx context.Context, group, user string, root, after, before int64, limit int) (t threads.Thread, ids []int64, more bool, err error) {
	r, err := s.runSafe(ctx, threadPageScript.On(s.keys.group(group)).Arg("user", user).Arg("root", root).Arg("after", after).
		Arg("before", before).Arg("limit", limit))
	if err != nil {
		return t, nil, false, err
	}
	for i := 7; i < len(r); i++ {
		ids = append(ids, r.number(i))
	}
	return asThread(root, r[1:]), ids, r.number(6) == 1, nil
}

// ReadThread moves what a member has read of a thread forward.
func (s *Threads) ReadThread(ctx context.Context, by chat.Caller, group string, root, id int64) (threads.Thread, error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, threadReadScript.On(k).Arg("user", by.User).Arg("root", root).Arg("id", id))
	if err != nil {
		return threads.Thread{}, err
	}
	return asThread(root, r[1:]), nil
}

// FollowThread has a member follow a thread, or not any longer.
func (s *Threads) FollowThread(ctx context.Context, user, group string, f threads.Follow) (threads.Thread, error) {
	r, err := s.runSafe(ctx, threadFollowScript.On(s.keys.group(group)).Arg("user", user).Arg("root", f.Root).Arg("following", f.Following).
		Arg("author", f.Author).Arg("below", belowText(f.Below)))
	if err != nil {
		return threads.Thread{}, err
	}
	return asThread(f.Root, r[1:]), nil
}

// asThread reads a thread as lib/thread_reader.lua answers it.
func asThread(root int64, r reply) threads.Thread {
	return threads.Thread{ID: root, Replies: r.number(0), LastID: r.number(1), Unread: r.number(2), Following: r.number(3) == 1, Read: r.number(4)}
}
