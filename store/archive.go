package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

var _ archive.Groups = (*Store)(nil)

var (
	archiveReadScript    = newReader("archive/read", groupNames)
	archiveAckScript     = newFreeing("archive/ack", groupNames)
	archiveAlignScript   = newFreeing("archive/align", groupNames)
	archiveEndedScript   = newReader("archive/ended", groupNames)
	archiveWantScript    = newFreeing("archive/want", partNames)
	archiveSwitchScript  = newFreeing("archive/switch", partNames)
	archiveWalkedScript  = newFreeing("archive/walked", partNames)
	archiveCompareScript = newFreeing("archive/compare", partNames)
)

// Archive is what the archive still has to read.
type Archive struct {
	*base
}

// Unarchived reads how far a group is archived, with at most limit of the entries that the archive lacks.
func (s *Archive) Unarchived(ctx context.Context, group string, limit int) (archive.Lag, error) {
	r, err := s.runSafe(ctx, archiveReadScript.On(s.keys.group(group)).Arg("limit", limit).Arg("bytes_max", unarchivedBytesMax))
	if err != nil {
		return archive.Lag{}, err
	}
	lag := archive.Lag{Log: archive.Log{Group: group, Epoch: r.text(1)}, On: r.number(2) == 1, Archived: r.number(3),
		Last: r.number(4), Held: r.number(5), OnHold: r.number(6) == 1}
	stored := make([]string, 0, len(r)-7)
	for i := 7; i < len(r); i++ {
		stored = append(stored, r.text(i))
	}
	lag.Messages, err = decodeMessages(group, stored)
	return lag, err
}

// KeepHeld keeps how entries read before changes that the archive is about to apply.
func (s *Archive) KeepHeld(ctx context.Context, log archive.Log, kept []chat.Kept) error {
	c := holdKeepScript.Sized(s.keys.group(log.Group), 3*len(kept)).Arg("epoch", log.Epoch)
	for _, k := range kept {
		c = c.MoreArgs("earlier", "entry_id", k.ID, "change_id", k.Change, "was", string(k.JSON))
	}
	return s.doSafe(ctx, c)
}

// AckArchive records that the database holds the ids from..to of a log, and trims what that frees.
func (s *Archive) AckArchive(ctx context.Context, log archive.Log, from, to int64, mark string) (archived int64, err error) {
	k := s.keys.group(log.Group)
	r, err := s.runSafe(ctx, archiveAckScript.On(k).Arg("group", log.Group).Arg("epoch", log.Epoch).Arg("from", from).
		Arg("id", to).Arg("mark", mark).Arg("trim_id", k.taskID()))
	return r.number(1), err
}

// AlignArchive brings groups in line with whether there is an archive, one step for each. Groups that do not exist are
// skipped.
func (s *Archive) AlignArchive(ctx context.Context, groups []string) error {
	calls := make([]call, len(groups))
	for i, group := range groups {
		k := s.keys.group(group)
		calls[i] = archiveAlignScript.On(k).Arg("group", group).Arg("task_id", k.taskID())
	}
	_, errs, err := s.runAll(ctx, calls)
	for _, refused := range errs {
		if err == nil && !errors.Is(refused, chat.ErrNotFound) {
			err = refused
		}
	}
	return err
}

// ArchiveState reads what is recorded of the archive.
func (s *Archive) ArchiveState(ctx context.Context) (archive.State, error) {
	var fields *redis.SliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		fields = pipe.HMGet(ctx, s.keys.part(0).archive(), "id", "on", "walked")
	})
	if err != nil {
		return archive.State{}, err
	}
	r := reply(fields.Val())
	return archive.State{ID: r.text(0), On: r.text(1) == "1", Walked: r.text(2) == "1"}, nil
}

// SwitchArchive records that the store is archived into the database id, or that it no longer is archived.
func (s *Archive) SwitchArchive(ctx context.Context, id string, on bool) error {
	return s.doSafe(ctx, archiveSwitchScript.On(s.keys.part(0)).Arg("id", id).Arg("on", on))
}

// WantArchive makes every partition archive new entries into the database id after a delay, or ends that.
func (s *Archive) WantArchive(ctx context.Context, id string, delay time.Duration, on bool) error {
	text := ""
	if on {
		text = strconv.FormatInt(delay.Milliseconds(), 10)
	}
	calls := make([]call, s.partitions())
	for p := range calls {
		calls[p] = archiveWantScript.On(s.keys.part(p)).Arg("delay_ms", text).Arg("id", id)
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	return firstError(errs)
}

// ArchiveWalked records, if the archive is still on, that every group is in line with it.
func (s *Archive) ArchiveWalked(ctx context.Context, on bool) error {
	return s.doSafe(ctx, archiveWalkedScript.On(s.keys.part(0)).Arg("on", on))
}

// EndedLogs returns which logs in the database id have ended. A partition can tell only if it has known that database since
// before it was switched off and on again.
func (s *Archive) EndedLogs(ctx context.Context, id string, logs []archive.Log) (ended []archive.Log, err error) {
	calls := make([]call, len(logs))
	for i, log := range logs {
		calls[i] = archiveEndedScript.On(s.keys.group(log.Group)).Arg("epoch", log.Epoch).Arg("id", id)
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err == nil {
		err = firstError(errs)
	}
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		if r.number(1) == 1 {
			ended = append(ended, logs[i])
		}
	}
	return ended, nil
}

// CompareArchive begins or ends a pass over all logs in the database id: until it ends, EndedLogs can tell.
func (s *Archive) CompareArchive(ctx context.Context, id, pass string, ended bool) error {
	calls := make([]call, s.partitions())
	for p := range calls {
		calls[p] = archiveCompareScript.On(s.keys.part(p)).Arg("id", id).Arg("pass", pass).Arg("ended", ended)
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	return firstError(errs)
}

// ArchiveWaiting counts the groups whose archiving waits or runs.
func (s *Archive) ArchiveWaiting(ctx context.Context) (int64, error) {
	accounts, err := s.queues[coreQueue].Accounts(ctx)
	if err != nil {
		return 0, fail("accounts", err)
	}
	return accounts[archive.TaskArchive].Tasks, nil
}
