package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

var (
	holdPutScript     = newScript("hold/put", groupNames)
	holdReleaseScript = newFreeing("hold/release", groupNames)
	holdKeepScript    = newFreeing("hold/keep", groupNames)
	holdReadScript    = newReader("hold/read", groupNames)
)

// Holds are the legal holds on groups.
type Holds struct {
	*base
}

// held is what the audit says of a legal hold.
type held struct {
	Reason string `json:"reason"`
}

// PutHold puts a group under legal hold, or gives its hold another reason.
func (s *Holds) PutHold(ctx context.Context, by chat.Caller, group string, h chat.Hold) (chat.Hold, error) {
	r, err := s.runSafe(ctx, s.noted(holdPutScript.On(s.keys.group(group)).Arg("reason", h.Reason).Arg("by", h.By).
		Arg("at_ms", h.Since.UnixMilli()), audit.Note(by, audit.GroupHold, group, "", held{h.Reason})))
	if err != nil {
		return chat.Hold{}, err
	}
	h.Since = chat.TimeMs(r.number(1))
	return h, nil
}

// ReleaseHold ends the legal hold on a group. It reports whether there was one.
func (s *Holds) ReleaseHold(ctx context.Context, by chat.Caller, group string) (released bool, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, s.noted(holdReleaseScript.On(k).Arg("group", group).Arg("task_id", k.taskID()).Arg("retain_id", k.taskID()),
		audit.Note(by, audit.GroupRelease, group, "", nil)))
	return r.number(1) == 1, err
}

// keptPage bounds the earlier readings that one call returns.
const keptPage = 100

// Kept reads how entries of a group under legal hold read before they were changed.
func (s *Holds) Kept(ctx context.Context, group string, from, to int64, skip int) ([]chat.Kept, error) {
	var found *redis.ZSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{Key: s.keys.group(group).kept(), ByScore: true,
			Start: strconv.FormatInt(from, 10), Stop: strconv.FormatInt(to, 10), Offset: int64(skip), Count: keptPage})
	})
	if err != nil {
		return nil, err
	}
	list := make([]chat.Kept, len(found.Val()))
	for i, z := range found.Val() {
		member, _ := z.Member.(string)
		change, was, _ := strings.Cut(member, " ")
		list[i] = chat.Kept{ID: int64(z.Score), Change: number(change), JSON: []byte(was)}
	}
	return list, nil
}

// Former reads up to which id the entries of a user are those of an erased person of the same name.
func (s *Holds) Former(ctx context.Context, group, user string) (epoch string, last int64, err error) {
	waiting, err := (&Erasures{s.base}).WaitingErasures(ctx, group)
	for _, w := range waiting {
		if w.User == user && w.Last > last {
			epoch, last = w.Epoch, w.Last
		}
	}
	return epoch, last, err
}

// HoldOf reads the legal hold on a group; nil: there is none.
func (s *Holds) HoldOf(ctx context.Context, group string) (*chat.Hold, error) {
	r, err := s.runSafe(ctx, holdReadScript.On(s.keys.group(group)))
	if err != nil || r.text(1) == "" {
		return nil, err
	}
	return &chat.Hold{Reason: r.text(1), By: r.text(2), Since: chat.TimeMs(r.number(3))}, nil
}
