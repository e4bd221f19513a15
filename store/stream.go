package store

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/stream"
)

var _ stream.Store = (*Streams)(nil)

var (
	streamOpenScript   = newScript("stream/open", groupNames)
	streamPieceScript  = newScript("stream/piece", groupNames)
	streamReadScript   = newReader("stream/read", groupNames)
	streamCancelScript = newScript("stream/cancel", groupNames)
	streamEndScript    = newFreeing("stream/end", groupNames)
)

// Streams are the messages that are being written.
type Streams struct{ *base }

// openStream appends a message that is still being written.
func openStream(ctx context.Context, s *Logs, k groupKeys, a chat.Append) (chat.Appended, error) {
	c := streamOpenScript.Sized(k, rowArgs+len(a.Mentions)+1).Arg("text", a.Body).Arg("streams_max", chat.StreamsOpenMax).
		Arg("silence_ms", int(chat.StreamSilence.Milliseconds()))
	return s.runAppend(ctx, s.appendCall(c, k, &a), a)
}

// WritePiece writes on at a message.
func (s *Streams) WritePiece(ctx context.Context, p stream.Piece) (stream.State, error) {
	k := s.keys.group(p.Group)
	r, err := s.runSafe(ctx, streamPieceScript.On(k).Arg("caller", p.By.User).Arg("id", strconv.FormatInt(p.ID, 10)).Arg("offset", p.Offset).
		Arg("piece", p.Text).Arg("replaces", p.Replaces).Arg("channel", k.channel()).Arg("bytes_max", chat.StreamBytesMax).
		Arg("pieces_max", chat.StreamPiecesMax).Arg("window_ms", int(chat.StreamWindow.Milliseconds())))
	return stream.State{Length: r.number(1), Cancelled: r.number(2) == 1}, err
}

// OpenStreams reads messages of a group that are being written, all of them if no ids are given.
func (s *Streams) OpenStreams(ctx context.Context, group string, ids ...int64) (epoch string, list []chat.OpenStream, err error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	r, err := s.runSafe(ctx, streamReadScript.On(s.keys.group(group)).List("ids", texts))
	if err != nil {
		return "", nil, err
	}
	for i := 2; i+6 < len(r); i += 7 {
		list = append(list, chat.OpenStream{ID: r.number(i), Author: r.text(i + 1), Mark: r.text(i + 2), Gen: r.number(i + 3),
			Idle: ms(r.number(i + 4)), Age: ms(r.number(i + 5)), Text: r.text(i + 6)})
	}
	return r.text(1), list, nil
}

// CancelStream asks the author of a message to stop.
func (s *Streams) CancelStream(ctx context.Context, by chat.Caller, group string, id int64) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, streamCancelScript.On(k).Arg("caller", by.User).Arg("id", strconv.FormatInt(id, 10)).
		Arg("channel", k.channel()))
}

// EndStream ends a message that is being written.
func (s *Streams) EndStream(ctx context.Context, e stream.End) (id int64, wait time.Duration, err error) {
	k := s.keys.group(e.Group)
	r, err := s.runSafe(ctx, streamEndScript.On(k).Arg("from", e.Of.Author).Arg("mark", e.Mark).Arg("rest", e.Rest).Arg("sent_ms", e.SentAtMs).
		Arg("group", e.Group).Arg("epoch", e.Epoch).Arg("target", strconv.FormatInt(e.Of.ID, 10)).Arg("gen", e.Of.Gen).Arg("length", len(e.Of.Text)).
		Arg("cut", e.Cut).Arg("silence_ms", int(chat.StreamSilence.Milliseconds())).Arg("longest_ms", int(e.Longest.Milliseconds())).
		Arg("was", e.Was).Arg("new_json", e.JSON).Arg("mention_id", k.taskID()).Arg("mentioned", strings.Join(e.Mentions, " ")).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()))
	return r.number(1), ms(r.number(2)), err
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// standing puts into messages of a group what stands of those that are still being written. Where one has ended meanwhile, it is read again.
func (s *Logs) standing(ctx context.Context, group string, messages []chat.Message) error {
	var ids []int64
	for _, m := range messages {
		if chat.IsStreaming(m.JSON) {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, open, err := s.streams.OpenStreams(ctx, group, ids...)
	if err != nil {
		return err
	}
	found := map[int64]chat.Message{}
	for _, o := range open {
		found[o.ID] = chat.Message{Mark: o.Mark, JSON: []byte(o.Text)}
	}
	if len(open) < len(ids) {
		ended, err := s.stored(ctx, group, ids)
		if err != nil {
			return err
		}
		for _, m := range ended {
			if !chat.IsStreaming(m.JSON) {
				found[m.ID] = m
			}
		}
	}
	for i, m := range messages {
		f, ok := found[m.ID]
		switch {
		case !ok || f.Mark != m.Mark:
		case f.ID > 0:
			messages[i] = f
		default:
			if messages[i], err = chat.Standing(m, string(f.JSON)); err != nil {
				return broke("stream", fmt.Errorf("group %s, message %d: %w", group, m.ID, err))
			}
		}
	}
	return nil
}

// ended reads the messages whose streams end among these entries, as far as they are stored.
func (s *Webhooks) ended(ctx context.Context, group string, entries []chat.Message) (map[int64]chat.Message, error) {
	var found map[int64]chat.Message
	for _, m := range entries {
		if !bytes.Contains(m.JSON, []byte(`,"kind":"edit","stream":"`)) {
			continue
		}
		e, err := decodeEntry(m)
		if err != nil {
			return nil, broke("stream", fmt.Errorf("group %s, message %d: %w", group, m.ID, err))
		}
		var stored *redis.StringSliceCmd
		at := strconv.FormatInt(e.Target, 10)
		err = s.reads(ctx, func(pipe redis.Pipeliner) {
			stored = pipe.ZRangeByScore(ctx, s.keys.group(group).msgs(), &redis.ZRangeBy{Min: at, Max: at})
		})
		if err != nil {
			return nil, err
		}
		messages, err := decodeMessages(group, stored.Val())
		if err != nil {
			return nil, err
		}
		for _, target := range messages {
			if found == nil {
				found = map[int64]chat.Message{}
			}
			found[target.ID] = target
		}
	}
	return found, nil
}
