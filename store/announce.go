package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
)

var _ announce.Store = (*Store)(nil)

var (
	announceCreateScript = newScript("announce/create", announceNames)
	announceCancelScript = newFreeing("announce/cancel", announceNames)
	announceStopScript   = newFreeing("announce/stop", partNames)
	announceForgetScript = newFreeing("announce/forget", partNames)
)

// runTask is the id of the task that starts a run.
func (a announceKeys) runTask(run int64) string {
	return keyedTaskID(0, announce.TaskRun, fmt.Sprintf("%s %d", a.id, run))
}

// Announcements are messages to everyone, to many groups or to many users.
type Announcements struct {
	*base
	logs *Logs
}

// CreateAnnouncement creates an announcement and the task that starts it. Repeating it with the same id does nothing.
func (s *Announcements) CreateAnnouncement(ctx context.Context, a announce.NewAnnouncement) error {
	k := s.keys.announcement(a.ID)
	lists := make([][]string, s.partitions())
	for _, user := range a.Users {
		p := s.keys.partition(user)
		lists[p] = append(lists[p], "u "+user)
	}
	for _, group := range a.Groups {
		p := s.keys.partition(group)
		lists[p] = append(lists[p], "g "+group)
	}
	named := ""
	if !a.All {
		named = strconv.Itoa(len(a.Users) + len(a.Groups))
	}
	c := announceCreateScript.On(k).Arg("id", a.ID).Arg("draft", a.Draft).Arg("due_ms", a.StartMs).
		Arg("priority", string(a.Priority)).Arg("announcements_max", s.limits.AnnouncementsMax).Arg("named", named).
		Arg("page", a.Page).Arg("task_id", k.runTask(1)).Arg("payload", runPayload(a.ID, 1))
	for p, list := range lists {
		if len(list) > 0 {
			c = c.More("targets", k.targets(p)).MoreArgs("lists", len(list)).List("lists", list)
		}
	}
	return s.doSafe(ctx, c)
}

// recordFields are what is read of a record, in the order of asAnnouncement.
var recordFields = []string{"draft", "state", "run", "next_ms", "created_ms", "targets", "closed", "total", "delivered", "failed"}

// Announcement reads one announcement. During a run its counts are the sums of the parts, each read at one instant.
func (s *Announcements) Announcement(ctx context.Context, id string) (announce.Record, error) {
	list, err := s.announcementsByID(ctx, []string{id})
	if err != nil {
		return announce.Record{}, err
	}
	if len(list) == 0 {
		return announce.Record{}, chat.ErrNotFound
	}
	return list[0], nil
}

// AnnouncementsBefore pages through the announcements, newest first, starting below a position; 0: at the newest.
func (s *Announcements) AnnouncementsBefore(ctx context.Context, before int64, limit int) ([]announce.Record, error) {
	highest := "+inf"
	if before > 0 {
		highest = "(" + strconv.FormatInt(before, 10)
	}
	var found *redis.ZSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.ZRevRangeByScoreWithScores(ctx, s.keys.part(0).announcements(), &redis.ZRangeBy{Min: "-inf", Max: highest, Count: int64(limit)})
	})
	if err != nil {
		return nil, err
	}
	positions := make(map[string]int64, limit)
	ids := make([]string, 0, limit)
	for _, z := range found.Val() {
		id, _ := z.Member.(string)
		positions[id] = int64(z.Score)
		ids = append(ids, id)
	}
	list, err := s.announcementsByID(ctx, ids)
	for i := range list {
		list[i].Position = positions[list[i].ID]
	}
	return list, err
}

// announcementsByID reads announcements and leaves out those that do not exist.
func (s *Announcements) announcementsByID(ctx context.Context, ids []string) ([]announce.Record, error) {
	records := make([]*redis.SliceCmd, len(ids))
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, id := range ids {
			records[i] = pipe.HMGet(ctx, s.keys.announcement(id).announcement(), recordFields...)
		}
	})
	if err != nil {
		return nil, err
	}
	var list []announce.Record
	for i, id := range ids {
		r := reply(records[i].Val())
		if r.text(1) == "" {
			continue
		}
		one := announce.Record{ID: id, Draft: []byte(r.text(0)), State: announce.State(r.text(1)), Run: r.number(2),
			NextMs: r.number(3), CreatedMs: r.number(4), Total: r.number(7), Delivered: r.number(8), Failed: r.number(9)}
		if r.text(6) == "0" {
			parts, err := s.announcementParts(ctx, id)
			if err != nil {
				return nil, err
			}
			sum := sumParts(parts, one.Run)
			// If the targets are named, their number is known before every part has started.
			one.Total, one.Delivered, one.Failed = max(sum.total, r.number(5)), sum.delivered, sum.failed
		}
		list = append(list, one)
	}
	return list, nil
}

// announcementPart is the progress of the newest run in one partition.
type announcementPart struct {
	run                      int64
	done                     bool
	total, delivered, failed int64
}

// announcementParts reads the part of an announcement in every partition.
func (s *Announcements) announcementParts(ctx context.Context, id string) ([]announcementPart, error) {
	k := s.keys.announcement(id)
	found := make([]*redis.SliceCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range found {
			found[p] = pipe.HMGet(ctx, k.part(p), "run", "done", "total", "delivered", "failed")
		}
	})
	if err != nil {
		return nil, err
	}
	parts := make([]announcementPart, len(found))
	for p, cmd := range found {
		r := reply(cmd.Val())
		parts[p] = announcementPart{r.number(0), r.text(1) == "1", r.number(2), r.number(3), r.number(4)}
	}
	return parts, nil
}

// sumParts adds up the parts that have begun a run. done means that all of them have finished it.
func sumParts(parts []announcementPart, run int64) announcementPart {
	sum := announcementPart{run: run, done: true}
	for _, p := range parts {
		if p.run != run {
			sum.done = false
			continue
		}
		sum.done = sum.done && p.done
		sum.total += p.total
		sum.delivered += p.delivered
		sum.failed += p.failed
	}
	return sum
}

// CancelAnnouncement ends an announcement: after it returns, nobody else gets it. It takes several steps, each of which may
// be repeated.
func (s *Announcements) CancelAnnouncement(ctx context.Context, id string) error {
	k := s.keys.announcement(id)
	r, err := s.runSafe(ctx, announceCancelScript.On(k).More("targets", k.allTargets()...))
	if err != nil {
		return err
	}
	run, closed := r.number(1), r.number(2) == 1
	if closed {
		return nil
	}
	stops := make([]call, s.partitions())
	for p := range stops {
		stops[p] = announceStopScript.On(s.keys.part(p)).Key("part", k.part(p))
	}
	if err := s.runEach(ctx, stops); err != nil {
		return err
	}
	parts, err := s.announcementParts(ctx, id)
	if err != nil {
		return err
	}
	return s.closeRun(ctx, id, sumParts(parts, run))
}

// ForgetAnnouncements removes ended announcements among the oldest ones; n is how many it removed.
func (s *Announcements) ForgetAnnouncements(ctx context.Context) (n int, err error) {
	var oldest *redis.StringSliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		oldest = pipe.ZRange(ctx, s.keys.part(0).announcements(), 0, int64(s.limits.AnnouncementsMax)-1)
	})
	if err != nil {
		return 0, err
	}
	states := make([]*redis.SliceCmd, len(oldest.Val()))
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, id := range oldest.Val() {
			states[i] = pipe.HMGet(ctx, s.keys.announcement(id).announcement(), "state", "closed")
		}
	})
	if err != nil {
		return 0, err
	}
	for i, id := range oldest.Val() {
		r := reply(states[i].Val())
		state := announce.State(r.text(0))
		if state != announce.Done && state != announce.Cancelled {
			continue
		}
		if r.text(1) != "1" {
			// The node that cancelled it died before the last step.
			if err := s.CancelAnnouncement(ctx, id); err != nil {
				return n, err
			}
		}
		if err := s.forgetAnnouncement(ctx, id); err != nil {
			return n, err
		}
		if n++; n == forgetBatch {
			break
		}
	}
	return n, nil
}

// forgetAnnouncement removes an ended announcement. Its record goes last: until then a later call finds it again.
func (s *Announcements) forgetAnnouncement(ctx context.Context, id string) error {
	k := s.keys.announcement(id)
	parts := make([]call, 0, s.partitions())
	for p := 1; p < s.partitions(); p++ {
		parts = append(parts, announceForgetScript.On(s.keys.part(p)).More("removed", k.part(p)).Arg("id", id))
	}
	if err := s.runEach(ctx, parts); err != nil {
		return err
	}
	return s.doSafe(ctx, announceForgetScript.On(s.keys.part(0)).More("removed", k.part(0), k.announcement()).
		More("removed", k.allTargets()...).Arg("id", id))
}

// runEach runs calls that answer nothing, and returns the first error.
func (s *Announcements) runEach(ctx context.Context, calls []call) error {
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
