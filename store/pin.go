package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/pins"
)

var _ pins.Store = (*Pins)(nil)

var (
	pinPutScript    = newScript("pin/put", groupNames)
	pinDropScript   = newFreeing("pin/drop", groupNames)
	pinListScript   = newReader("pin/list", groupNames)
	pinExpireScript = newFreeing("pin/expire", groupNames)
)

// Pins are the pinned messages of groups.
type Pins struct{ *base }

// PutPin pins a message that still reads as it was read.
func (s *Pins) PutPin(ctx context.Context, p pins.Put) error {
	k, id := s.keys.group(p.Group), strconv.FormatInt(p.Was.ID, 10)
	return s.doSafe(ctx, pinPutScript.On(k).Arg("caller", p.By.User).Arg("operator", p.By.Admin).Arg("group", p.Group).Arg("target", id).
		Arg("below", belowText(p.Below)).Arg("head", id+" "+p.Was.Mark).Arg("edits", encodeEdits(p.Was.Edits)).Arg("json", p.Was.JSON).
		Arg("author", p.Author).Arg("sent_ms", p.SentAtMs).Arg("at_ms", p.AtMs).Arg("mark", p.Notice.Mark).Arg("rest", p.Notice.Rest).
		Arg("pins_max", s.limits.GroupPinsMax).Arg("channel", k.channel()).Arg("task_id", k.taskID()))
}

// DropPin unpins a message.
func (s *Pins) DropPin(ctx context.Context, by chat.Caller, group string, id, atMs int64, notice chat.NoticeEntry) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, pinDropScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("group", group).
		Arg("target", strconv.FormatInt(id, 10)).Arg("at_ms", atMs).Arg("mark", notice.Mark).Arg("rest", notice.Rest).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()))
}

// PinPage reads a page of the pins that a member may see.
func (s *Pins) PinPage(ctx context.Context, group, user, after string, limit, bytesMax int) (list []pins.Pin, next string, err error) {
	r, err := s.runSafe(ctx, pinListScript.On(s.keys.group(group)).Arg("user", user).Arg("after", number(after)).Arg("limit", limit).
		Arg("bytes_max", bytesMax))
	if err != nil {
		return nil, "", err
	}
	for i := 2; i+2 < len(r); i += 3 {
		m, err := decodeMessage(r.text(i + 1))
		if err != nil {
			return nil, "", broke("pins", fmt.Errorf("group %s: %w", group, err))
		}
		f := strings.Split(r.text(i), " ")
		pin := pins.Pin{Message: chat.MessageView{Message: m}, At: chat.TimeMs(number(f[1])), By: f[3]}
		counts, found := r.list(i+2), map[int64]map[string]chat.ReactionCount{}
		for j := 0; j+1 < len(counts); j += 2 {
			addReaction(found, counts.text(j), counts.number(j+1) > 0)
		}
		pin.Message.Reactions = found[m.ID]
		list = append(list, pin)
	}
	if after := r.number(1); after > 0 {
		next = strconv.FormatInt(after, 10)
	}
	return list, next, nil
}

// Pinned reads a pinned message.
func (s *Pins) Pinned(ctx context.Context, group string, id int64) (chat.Message, error) {
	var found *redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.HGet(ctx, s.keys.group(group).pinned(), strconv.FormatInt(id, 10))
	})
	if err != nil {
		return chat.Message{}, err
	}
	if found.Val() == "" {
		return chat.Message{}, chat.ErrNotFound
	}
	m, err := decodeMessage(found.Val())
	if err != nil {
		return m, broke("pins", fmt.Errorf("group %s: %w", group, err))
	}
	return m, nil
}

// PinsOf reads the pinned messages of a group that a user wrote.
func (s *Pins) PinsOf(ctx context.Context, group, user string) (list []chat.Message, err error) {
	k := s.keys.group(group)
	var all *redis.MapStringStringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.HGetAll(ctx, k.pins()) }); err != nil {
		return nil, err
	}
	var ids []string
	for id, pin := range all.Val() {
		if strings.HasSuffix(pin, " "+user) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var found *redis.SliceCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { found = pipe.HMGet(ctx, k.pinned(), ids...) }); err != nil {
		return nil, err
	}
	for i := range ids {
		if text := reply(found.Val()).text(i); text != "" {
			m, err := decodeMessage(text)
			if err != nil {
				return nil, broke("pins", fmt.Errorf("group %s: %w", group, err))
			}
			list = append(list, m)
		}
	}
	return list, nil
}

// ExpirePins unpins the messages of a group that are too old.
func (s *Pins) ExpirePins(ctx context.Context, group, epoch string, days int64) (oldest time.Time, err error) {
	r, err := s.runSafe(ctx, pinExpireScript.On(s.keys.group(group)).Arg("epoch", epoch).Arg("days", days))
	if err != nil || r.number(1) == 0 {
		return time.Time{}, err
	}
	return chat.TimeMs(r.number(1)).Time, nil
}
