package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/queue"
)

var (
	announceBeginScript = newScript("announce/begin", announceNames)
	announcePartScript  = newScript("announce/part", partNames)
	announcePageScript  = newScript("announce/page", partNames)
	announceGroupScript = newScript("announce/group", groupNames)
	announceCloseScript = newFreeing("announce/close", announceNames)
)

// runPayload is the payload of the task that starts a run.
func runPayload(id string, run int64) []byte {
	payload, _ := json.Marshal(announce.RunTask{Announcement: id, Run: run}) // cannot fail: a string and a number
	return payload
}

// BeginAnnouncement begins a run when it is its turn, and enqueues the task of the next one at nextMs (0: there is none).
// goOn means that the parts of the run have to be started. If it is not its turn yet, wait says when to ask again.
func (s *Announcements) BeginAnnouncement(ctx context.Context, id string, run, nextMs int64) (goOn bool, wait time.Duration, err error) {
	k := s.keys.announcement(id)
	task := ""
	if nextMs > 0 {
		task = k.runTask(run + 1)
	}
	r, err := s.runSafe(ctx, announceBeginScript.On(k).Arg("run", run).Arg("next_ms", nextMs).Arg("task_id", task).
		Arg("payload", runPayload(id, run+1)))
	if err != nil {
		return false, 0, err
	}
	return r.number(1) == 1, time.Duration(r.number(2)) * time.Millisecond, nil
}

// StartAnnouncement starts the part of a run in every partition that has not started it yet.
func (s *Announcements) StartAnnouncement(ctx context.Context, id string, run int64) error {
	k := s.keys.announcement(id)
	var record *redis.SliceCmd
	lengths := make([]*redis.IntCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		record = pipe.HMGet(ctx, k.announcement(), "targets", "priority")
		for p := range lengths {
			lengths[p] = pipe.LLen(ctx, k.targets(p))
		}
	})
	if err != nil {
		return err
	}
	r := reply(record.Val())
	if r.text(1) == "" {
		return nil // cancelled and removed meanwhile: without its list of targets it would go to everyone
	}
	starts := make([]call, s.partitions())
	_, pages := s.AnnouncementTasks(id, run)
	for p := range starts {
		named := ""
		if r.text(0) != "" {
			named = strconv.FormatInt(lengths[p].Val(), 10)
		}
		starts[p] = announcePartScript.On(s.keys.part(p)).Key("part", k.part(p)).Arg("run", run).Arg("named", named).
			Arg("priority", r.text(1)).Arg("task_id", pages[p].ID).Arg("payload", pages[p].Payload)
	}
	return s.runEach(ctx, starts)
}

// AnnouncementTask is the id of the task of a part.
func AnnouncementTask(p announce.Part) string {
	return keyedTaskID(p.Partition, announce.TaskPart, p.Announcement+" "+strconv.FormatInt(p.Run, 10))
}

// AnnouncementTasks returns the id of the task that begins a run, and the tasks of its pages by partition.
func (s *Announcements) AnnouncementTasks(id string, run int64) (begin string, pages []queue.Task) {
	pages = make([]queue.Task, s.partitions())
	for p := range pages {
		part := announce.Part{Announcement: id, Run: run, Partition: p}
		payload, _ := json.Marshal(part) // cannot fail: a string and two numbers
		pages[p] = queue.Task{ID: AnnouncementTask(part), Kind: announce.TaskPart, Payload: payload}
	}
	return s.keys.announcement(id).runTask(run), pages
}

// AnnouncementPage reads the next recipients of a part: as many users as the announcement says, or one group. nil: the part
// has finished this run, or was stopped.
func (s *Announcements) AnnouncementPage(ctx context.Context, part announce.Part) (*announce.Batch, error) {
	if part.Partition >= s.partitions() {
		return nil, nil
	}
	k := s.keys.announcement(part.Announcement)
	var record, at *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		record = pipe.HMGet(ctx, k.announcement(), "state", "draft", "targets", "page")
		at = pipe.HMGet(ctx, k.part(part.Partition), "run", "done", "stopped", "cursor", "before")
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
		return page, s.pageOfAll(ctx, page, limit, here.text(4))
	}
	return page, s.pageOfTargets(ctx, page, k.targets(part.Partition), limit)
}

// AnnouncedBefore is how far a run to everyone was when its store was exported: for each import since the run began, by the
// partitions of that time, the last user who had it; nil where all of them had. Import makes it where it changes the number of
// partitions: the users of one partition then come from several.
type AnnouncedBefore [][]*string

func (b AnnouncedBefore) had(user string) bool {
	for _, cursors := range b {
		if last := cursors[queue.Partition(user, len(cursors))]; last == nil || user <= *last {
			return true
		}
	}
	return false
}

// pageOfAll takes the next users in the order of their ids; the cursor is the last one. Users who already had the run are left out.
func (s *Announcements) pageOfAll(ctx context.Context, page *announce.Batch, limit int, before string) error {
	var b AnnouncedBefore
	if before != "" {
		if err := json.Unmarshal([]byte(before), &b); err != nil || slices.ContainsFunc(b, func(l []*string) bool { return len(l) == 0 }) {
			return broke("announcement_page", fmt.Errorf("how far %s was before an import cannot be read", page.Announcement))
		}
	}
	from := "-"
	if page.Cursor != "" {
		from = "(" + page.Cursor
	}
	var users *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		users = pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.part(page.Partition).users(), ByLex: true, Start: from, Stop: "+",
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
	page.Users = slices.DeleteFunc(page.Users, b.had)
	return nil
}

// AnnouncementTarget reads an entry of a list of targets: a target, preceded by the run that it had already had when the store
// was imported with another number of partitions.
func AnnouncementTarget(entry string) (run int64, target string) {
	first, rest, _ := strings.Cut(entry, " ")
	if run := number(first); run > 0 {
		return run, rest
	}
	return 0, entry
}

// pageOfTargets takes the next targets of the list; the cursor is how many are done.
func (s *Announcements) pageOfTargets(ctx context.Context, page *announce.Batch, list string, limit int) error {
	done := number(page.Cursor)
	var targets *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) { targets = pipe.LRange(ctx, list, done, done+int64(limit)) })
	if err != nil {
		return err
	}
	taken := 0
	for _, entry := range targets.Val()[:min(limit, len(targets.Val()))] {
		run, target := AnnouncementTarget(entry)
		user, isUser := strings.CutPrefix(target, "u ")
		group, isGroup := strings.CutPrefix(target, "g ")
		switch {
		case run == page.Run:
		case isUser:
			page.Users = append(page.Users, user)
		case isGroup && len(page.Users) == 0:
			page.Group = group
		}
		if run != page.Run && page.Group == "" && !isUser {
			break
		}
		if taken++; page.Group != "" {
			break
		}
	}
	page.Next = strconv.FormatInt(done+int64(taken), 10)
	page.Last = taken == len(targets.Val())
	return nil
}

// AnnounceToUsers puts an item into the inboxes of a page and advances the part, if the part is still where the page begins.
func (s *Announcements) AnnounceToUsers(ctx context.Context, page *announce.Batch, item chat.NewItem) error {
	k := s.keys.announcement(page.Announcement)
	p := page.Partition
	c := announcePageScript.Sized(s.keys.part(p), 4*len(page.Users)).Key("part", k.part(p)).
		Arg("run", page.Run).Arg("cursor", page.Cursor).Arg("next_cursor", page.Next).Arg("last_page", page.Last).
		Arg("from", item.From).Arg("rest", item.Rest).Arg("mark", newMark()).Arg("sent_ms", item.SentAtMs).Arg("items_max", s.limits.InboxItemsMax).
		Arg("epoch", newEpoch()).List("names", page.Users)
	for _, user := range page.Users {
		u := s.keys.user(user)
		c = c.More("inboxes", "inbox", u.inbox(), "inbox_base", u.inboxBase(), "inbox_senders", u.inboxSenders(),
			"inbox_server", u.inboxServer())
	}
	return s.doSafe(ctx, c)
}

// AnnounceToGroup appends a message to the log of the page's group and advances the part, if the part is still where the page
// begins. The sender need not be a member. A group that does not exist counts as failed.
func (s *Announcements) AnnounceToGroup(ctx context.Context, page *announce.Batch, a chat.Append) error {
	k := s.keys.group(a.Group)
	c := announceGroupScript.On(k).Key("part", s.keys.announcement(page.Announcement).part(page.Partition)).
		Arg("run", page.Run).Arg("cursor", page.Cursor).Arg("next_cursor", page.Next).Arg("last_page", page.Last)
	r, err := s.runSafe(ctx, s.logs.appendCall(c, k, &a))
	if err != nil {
		return err
	}
	if len(r) > 2 {
		s.logs.afterAppend(ctx, a.Group, r.text(4), r.number(5) == 1)
	}
	return nil
}

// CloseAnnouncement records the result of a run once every part has finished it.
func (s *Announcements) CloseAnnouncement(ctx context.Context, id string, run int64) error {
	parts, err := s.announcementParts(ctx, id)
	if err != nil {
		return err
	}
	if sum := sumParts(parts, run); sum.done {
		return s.closeRun(ctx, id, sum)
	}
	return nil
}

func (s *Announcements) closeRun(ctx context.Context, id string, sum announcementPart) error {
	k := s.keys.announcement(id)
	return s.doSafe(ctx, announceCloseScript.On(k).More("targets", k.allTargets()...).Arg("run", sum.run).
		Arg("total", sum.total).Arg("delivered", sum.delivered).Arg("failed", sum.failed))
}
