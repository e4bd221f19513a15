package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
)

var (
	announceBeginScript = newScript("announce/begin")
	announcePartScript  = newScript("announce/part")
	announcePageScript  = newScript("announce/page")
	announceGroupScript = newScript("announce/group")
	announceCloseScript = newScript("announce/close")
)

// runPayload is the payload of the task that starts a run.
func runPayload(id string, run int64) []byte {
	payload, _ := json.Marshal(announce.RunTask{Announcement: id, Run: run}) // cannot fail: a string and a number
	return payload
}

// BeginAnnouncement begins a run when it is its turn, and enqueues the task of the next one at nextMs (0: there is none).
// goOn: the parts of the run are to be started. Where it is not its turn yet, wait says when to ask again.
func (s *Store) BeginAnnouncement(ctx context.Context, id string, run, nextMs int64) (goOn bool, wait time.Duration, err error) {
	k := s.keys.announcement(id)
	task := ""
	if nextMs > 0 {
		task = k.runTask(run + 1)
	}
	r, err := s.runSafe(ctx, call{announceBeginScript, append([]string{k.record()}, s.keys.queue(0).Enqueue()...),
		[]any{run, nextMs, task, runPayload(id, run+1)}})
	if err != nil {
		return false, 0, err
	}
	return r.number(1) == 1, time.Duration(r.number(2)) * time.Millisecond, nil
}

// StartAnnouncement starts the part of a run in every partition; one that was started before is left alone.
func (s *Store) StartAnnouncement(ctx context.Context, id string, run int64) error {
	k := s.keys.announcement(id)
	var record *redis.SliceCmd
	lengths := make([]*redis.IntCmd, s.keys.partitions)
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		record = pipe.HMGet(ctx, k.record(), "targets", "priority")
		for p := range lengths {
			lengths[p] = pipe.LLen(ctx, k.targets(p))
		}
	})
	if err != nil {
		return err
	}
	r := reply(record.Val())
	if r.text(1) == "" {
		return nil // it was cancelled and forgotten meanwhile: without its list of targets it would be for everyone
	}
	starts := make([]call, s.keys.partitions)
	for p := range starts {
		targets := ""
		if r.text(0) != "" {
			targets = strconv.FormatInt(lengths[p].Val(), 10)
		}
		part := announce.Part{Announcement: id, Run: run, Partition: p}
		payload, _ := json.Marshal(part) // cannot fail: a string and two numbers
		task := keyedTaskID(p, announce.TaskPart, id+" "+strconv.FormatInt(run, 10))
		keys := append([]string{k.part(p), s.keys.users(p)}, s.keys.queue(p).Enqueue()...)
		starts[p] = call{announcePartScript, keys, []any{run, targets, r.text(1), task, payload}}
	}
	return s.runEach(ctx, starts)
}

// AnnouncementPage reads what comes next in a part: users, as many as the announcement says, or one group. nil: the part
// is done with this run, or stopped.
func (s *Store) AnnouncementPage(ctx context.Context, part announce.Part) (*announce.Batch, error) {
	if part.Partition >= s.keys.partitions {
		return nil, nil
	}
	k := s.keys.announcement(part.Announcement)
	var record, at *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		record = pipe.HMGet(ctx, k.record(), "state", "draft", "targets", "page")
		at = pipe.HMGet(ctx, k.part(part.Partition), "run", "done", "stopped", "cursor")
	})
	if err != nil {
		return nil, err
	}
	r, here := reply(record.Val()), reply(at.Val())
	if r.text(0) != string(announce.Running) || here.number(0) != part.Run || here.text(1) == "1" || here.text(2) != "" {
		return nil, nil
	}
	page := &announce.Batch{Part: part, Draft: []byte(r.text(1)), Cursor: here.text(3)}
	limit := int(r.number(3))
	if r.text(2) == "" {
		return page, s.pageOfAll(ctx, page, limit)
	}
	return page, s.pageOfTargets(ctx, page, k.targets(part.Partition), limit)
}

// pageOfAll takes the users that come next by their ids; the cursor is the last one.
func (s *Store) pageOfAll(ctx context.Context, page *announce.Batch, limit int) error {
	from := "-"
	if page.Cursor != "" {
		from = "(" + page.Cursor
	}
	var users *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		users = pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.users(page.Partition), ByLex: true, Start: from, Stop: "+",
			Count: int64(limit) + 1})
	})
	if err != nil {
		return err
	}
	page.Users, page.Last, page.Next = users.Val(), true, page.Cursor
	if len(page.Users) > limit {
		page.Users, page.Last = page.Users[:limit], false
	}
	if n := len(page.Users); n > 0 {
		page.Next = page.Users[n-1]
	}
	return nil
}

// pageOfTargets takes the targets that come next in their list; the cursor is how many are done.
func (s *Store) pageOfTargets(ctx context.Context, page *announce.Batch, list string, limit int) error {
	done := number(page.Cursor)
	var targets *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { targets = pipe.LRange(ctx, list, done, done+int64(limit)) })
	if err != nil {
		return err
	}
	taken := 0
	for _, target := range targets.Val() {
		if user, ok := strings.CutPrefix(target, "u "); ok && len(page.Users) < limit {
			page.Users = append(page.Users, user)
			taken++
			continue
		}
		if group, ok := strings.CutPrefix(target, "g "); ok && taken == 0 {
			page.Group, taken = group, 1
		}
		break
	}
	page.Next = strconv.FormatInt(done+int64(taken), 10)
	page.Last = taken == len(targets.Val())
	return nil
}

// AnnounceToUsers puts an item into the inboxes of a page and moves the part on, where it is still where the page begins.
func (s *Store) AnnounceToUsers(ctx context.Context, page *announce.Batch, item chat.NewItem) error {
	k := s.keys.announcement(page.Announcement)
	p := page.Partition
	keys := make([]string, 0, 12+3*len(page.Users))
	keys = append(append(keys, k.part(p), s.keys.users(p), s.keys.wants(p), s.keys.reachable(p)), s.keys.queue(p).Enqueue()...)
	args := make([]any, 0, 9+len(page.Users))
	args = append(args, page.Run, page.Cursor, page.Next, flag(page.Last), item.From, item.Rest, item.SentAtMs,
		s.limits.InboxItemsMax, newEpoch())
	for _, user := range page.Users {
		u := s.keys.user(user)
		keys = append(keys, u.inbox(), u.inboxBase(), u.inboxSenders())
		args = append(args, user)
	}
	_, err := s.runSafe(ctx, call{announcePageScript, keys, args})
	return err
}

// AnnounceToGroup appends a message to the log of the group of a page and moves the part on, where it is still where the
// page begins. The sender need not be a member; a group that is not there counts as failed.
func (s *Store) AnnounceToGroup(ctx context.Context, page *announce.Batch, a chat.Append) error {
	keys, args := s.appendArgs(a)
	c := call{announceGroupScript, append([]string{s.keys.announcement(page.Announcement).part(page.Partition)}, keys...),
		append([]any{page.Run, page.Cursor, page.Next, flag(page.Last)}, args...)}
	r, err := s.runSafe(ctx, c)
	if err != nil {
		return err
	}
	if len(r) > 2 {
		s.afterAppend(ctx, a.Group, r[2:])
	}
	return nil
}

// CloseAnnouncement writes what came of a run, where every part is done with it.
func (s *Store) CloseAnnouncement(ctx context.Context, id string, run int64) error {
	parts, err := s.announcementParts(ctx, id)
	if err != nil {
		return err
	}
	if sum := sumParts(parts, run); sum.done {
		return s.closeRun(ctx, id, sum)
	}
	return nil
}

func (s *Store) closeRun(ctx context.Context, id string, sum announcementPart) error {
	k := s.keys.announcement(id)
	_, err := s.runSafe(ctx, call{announceCloseScript, append([]string{k.record()}, k.allTargets()...),
		[]any{sum.run, sum.total, sum.delivered, sum.failed}})
	return err
}
