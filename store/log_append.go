package store

import (
	"context"
	"errors"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/conn"
)

var (
	appendScript = newScript("log/append", memberNames)
	forgetScript = newFreeing("log/forget", memberNames)
)

// Append appends an entry, or returns the first answer again if the key is known. With a key it is repeated once after the
// connection broke; without one an unknown outcome stays unknown: 0 or 1 copies, never 2.
func (s *Logs) Append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	k := s.keys.group(a.Group).of(a.From)
	if len(a.Files) > 0 {
		return s.appendNaming(ctx, k, a)
	}
	if s.plain(a) {
		out := s.appendJoined(ctx, a)
		if conn.Broken(out.err) && a.Key != "" && ctx.Err() == nil {
			out = s.appendPlain(ctx, a)
		}
		// log/plain writes a retry key to find out whether it is known, which a full server refuses. log/append reads the key first,
		// so a repeat is still answered.
		if !out.left && (a.Key == "" || !isFull(out.err)) {
			return out.done, out.err
		}
	}
	return s.appendAny(ctx, k, a)
}

// appendAny appends an entry that names no files, whatever else it is.
func (s *Logs) appendAny(ctx context.Context, k memberKeys, a chat.Append) (chat.Appended, error) {
	c := s.appendCall(appendScript.Sized(k, len(a.Mentions)), k, a)
	if !s.wanted.Load() && len(a.Mentions) == 0 {
		// Eight keys cost Redis a tenth of a send, and are not needed without devices and webhooks.
		done, err := s.append(ctx, c.Brief(), a)
		switch {
		case errors.Is(err, errWants):
			s.wanted.Store(true)
		case !errors.Is(err, errNamed):
			return done, err
		}
	}
	return s.append(ctx, c, a)
}

// appendCall gives a call what lib/append.lua needs.
func (s *Logs) appendCall(c call, k memberKeys, a chat.Append) call {
	task := ""
	if len(a.Mentions) > 0 {
		task = k.taskID()
	}
	same := ""
	if a.Below != nil && a.Below.Same.ID > 0 {
		same = strconv.FormatInt(a.Below.Same.ID, 10) + " " + a.Below.Same.Mark
	}
	c = c.Arg("from", a.From).Arg("kind", string(a.Kind)).Arg("mark", a.Mark).Arg("rest", a.Rest).Arg("sent_ms", a.SentAtMs).
		Arg("key", shortHash(a.Key)).Arg("content", shortHash(a.Content)).Arg("reply_to", a.ReplyTo).Arg("target", a.Target).
		Arg("emoji", a.Emoji).Arg("removed", a.Removed).Arg("durable", conn.Durability(a.Durability).Waits()).Arg("channel", k.channel()).
		Arg("keys_max", s.limits.KeysMax).Arg("emojis_max", s.limits.EmojisMax).Arg("group", a.Group).Arg("task_id", task).
		Arg("below", belowText(a.Below)).Arg("same", same).
		List("mentions", a.Mentions)
	for _, user := range a.Mentions {
		c = c.More("at", k.groupKeys.at(user))
	}
	return c
}

// append runs a script that appends, and waits for the durability that the caller asked for.
func (s *Logs) append(ctx context.Context, c call, a chat.Append) (chat.Appended, error) {
	r, reached, err := s.runDurable(ctx, c, a.Durability)
	if conn.Broken(err) && a.Key != "" && ctx.Err() == nil {
		r, reached, err = s.runDurable(ctx, c, a.Durability)
	}
	if err != nil {
		return chat.Appended{}, err
	}
	done := chat.Appended{ID: r.number(1), Epoch: r.text(2), Mark: r.text(3), SentAtMs: r.number(4),
		Duplicate: r.number(5) == 1, Durability: reached}
	if stored := r.text(6); stored != "" {
		done.SentAtMs = sentAtMs(stored, done.SentAtMs)
	}
	s.afterAppend(ctx, a.Group, r.text(7), r.number(8) == 1)
	return done, nil
}

// afterAppend does what an append leaves to other steps: it forgets an idle sender, and trims on.
func (s *Logs) afterAppend(ctx context.Context, group, idle string, more bool) {
	if idle != "" {
		s.forget(ctx, group, idle)
	}
	if more {
		// A send has no keys of the queue with it, so the rest becomes a task by another step. The 64th send from here
		// on finds it too, if this fails.
		if _, err := s.trim(ctx, group, s.keys.group(group).taskID()); err != nil {
			s.log.Debug("group was not trimmed completely", "group", group, "error", err)
		}
	}
}

// forget drops what is kept about a sender who was idle for a day. If it fails, later sends find the sender again.
func (s *Logs) forget(ctx context.Context, group, user string) {
	_, err := s.run(ctx, forgetScript.On(s.keys.group(group).of(user)).Arg("user", user))
	if err != nil {
		s.log.Debug("cannot forget an idle sender", "group", group, "error", err)
	}
}
