package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/store/conn"
)

var (
	appendScript = newScript("log/append", groupNames)
	forgetScript = newFreeing("log/forget", memberNames)
)

// Append appends an entry, or returns the first answer again if the key is known. With a key it is repeated once after the
// connection broke; without one an unknown outcome stays unknown: 0 or 1 copies, never 2.
func (s *Logs) Append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	if !s.traces.Sampled(ctx) {
		return s.append(ctx, a)
	}
	ctx, span := s.traced(ctx, "append", a)
	done, err := s.append(ctx, a)
	tracing.Stored(span, done.ID, err)
	return done, err
}

func (s *Logs) append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	if a.Look {
		return s.look(ctx, a)
	}
	if len(a.Files) == 0 && a.Release == nil && plain(&a) && !conn.Durability(a.Durability).Waits() {
		if out := s.appendJoined(ctx, a); !out.alone && !(conn.Broken(out.err) && a.Key != "" && ctx.Err() == nil) {
			return out.done, out.err
		}
	}
	return s.appendAlone(ctx, a)
}

// appendAlone appends an entry by a separate call.
func (s *Logs) appendAlone(ctx context.Context, a chat.Append) (chat.Appended, error) {
	k := s.keys.group(a.Group)
	if a.Stream {
		return openStream(ctx, s, k, a)
	}
	if len(a.Files) > 0 || a.Release != nil {
		return s.appendNaming(ctx, k, a)
	}
	return s.runAppend(ctx, s.appendCall(appendScript.Sized(k, rowArgs+len(a.Mentions)+1), k, &a), a)
}

// lookKind has lib/append.lua check an entry, and append nothing; releaseKind has it not look at slow mode.
// streamKind has nobody notified of it yet.
const lookKind, releaseKind, streamKind chat.Kind = "look", "release", "stream"

// look tells what Append would answer about a text or data.
func (s *Logs) look(ctx context.Context, a chat.Append) (chat.Appended, error) {
	a.Kind, a.Mentions, a.Files, a.Durability = lookKind, nil, nil, ""
	done, err := s.appendAlone(ctx, a)
	if done.ID == 0 {
		return chat.Appended{Epoch: done.Epoch}, err
	}
	return done, err
}

// runAppend runs a call that appends one entry, and waits for the durability that the caller asked for.
func (s *Logs) runAppend(ctx context.Context, c call, a chat.Append) (chat.Appended, error) {
	r, reached, err := s.runDurable(ctx, c, a.Durability)
	if conn.Broken(err) && a.Key != "" && ctx.Err() == nil {
		r, reached, err = s.runDurable(ctx, c, a.Durability)
	}
	out := s.appendOutcomes(ctx, laneAnswer{reply: r, err: err}, []*chat.Append{&a})[0]
	out.done.Durability = reached
	return out.done, out.err
}

// rowArgs is how many arguments an entry has.
const rowArgs = 6

// plain tells whether an entry needs none of the parts of lib/append.lua that only some need. It does not look at files.
func plain(a *chat.Append) bool {
	return a.Kind != chat.Reaction && a.Kind != lookKind && a.Release == nil && !a.Stream && len(a.Mentions) == 0 && a.ReplyTo == 0 && a.Thread == 0 && a.ExpireS == 0
}

// appendCall gives a call what lib/append.lua needs: entries of one group, of which one that is not plain comes alone.
func (s *Logs) appendCall(c call, k groupKeys, list ...*chat.Append) call {
	first, more := list[0], ""
	if !plain(first) {
		more = s.moreText(k, first)
	}
	c = c.Arg("channel", k.channel()).Arg("group", &first.Group).Arg("keys_max", s.limits.KeysMax).Arg("count", len(list)).
		Arg("durable", conn.Durability(first.Durability).Waits()).Arg("more", more)
	for _, a := range list {
		c = c.More("own", "by", k.by(a.From), "sent", k.sent(a.From)).
			MoreArgs("rows", "from", &a.From, "mark", &a.Mark, "rest", a.Rest, "sent_ms", &a.SentAtMs,
				"key", shortHash(a.Key), "content", shortHash(a.Content))
	}
	mentioned := countedIn(first.Mentions, first.From)
	for _, user := range mentioned {
		c = c.More("at", k.at(user))
	}
	if first.Thread != 0 {
		c = c.More("thread", "threads", k.threads(), "replies", k.replies())
	}
	return c.List("mentions", mentioned)
}

// countedIn are those whose counts of mentions a message changes: whom it mentions, and its author, last, where it mentions all.
func countedIn(mentions []string, from string) []string {
	if !slices.Contains(mentions, chat.MentionAll) {
		return mentions
	}
	return append(slices.DeleteFunc(slices.Clone(mentions), func(user string) bool { return user == from }), from)
}

// moreText writes the words of an entry that is not plain.
func (s *Logs) moreText(k groupKeys, a *chat.Append) string {
	task, removed, below, same, author := "-", 0, "- -", "- -", "-"
	if len(a.Mentions) > 0 {
		task = k.taskID()
	}
	if a.Removed {
		removed = 1
	}
	if a.Below != nil {
		below = belowText(a.Below)
		if a.Below.Same.ID > 0 {
			same = fmt.Sprint(a.Below.Same.ID, " ", a.Below.Same.Mark)
		}
		author = cmp.Or(a.Below.Author, author)
	}
	kind := a.Kind
	if a.Release != nil {
		kind = releaseKind
	}
	if a.Stream {
		kind = streamKind
	}
	return fmt.Sprintf("%s %d %d %d %d %s %s %s %d %d %s %s", kind, a.ReplyTo, a.Target, s.limits.EmojisMax, removed, task, below, same, a.ExpireS,
		a.Thread, author, a.Emoji)
}

// appendOutcome is what became of an entry. alone: it has to be sent alone, because the server's memory is full. refused: the
// server did nothing, as in laneAnswer. joined is how many entries its call had.
type appendOutcome struct {
	done           chat.Appended
	alone, refused bool
	joined         int
	err            error
}

// appendOutcomes reads what the script answers about each of the entries, and does what it leaves to other steps.
func (s *Logs) appendOutcomes(ctx context.Context, answer laneAnswer, list []*chat.Append) []appendOutcome {
	if answer.err != nil {
		return slices.Repeat([]appendOutcome{{err: answer.err, refused: answer.refused}}, len(list))
	}
	r := answer.reply
	outcomes := make([]appendOutcome, len(list))
	for i, a := range list {
		outcomes[i] = appendOutcomeOf(r, 4+i, r.text(1), a)
		outcomes[i].joined = len(list)
	}
	s.afterAppend(ctx, list[0].Group, r.text(2), r.number(3) == 1)
	return outcomes
}

func appendOutcomeOf(r reply, i int, epoch string, a *chat.Append) (out appendOutcome) {
	out.done = chat.Appended{Epoch: epoch, Mark: a.Mark, SentAtMs: a.SentAtMs, Durability: a.Durability}
	if several := r.list(i); several != nil {
		var same reply
		if same, out.err = asReply(appendScript.Name, []any(several)); out.err != nil {
			return appendOutcome{err: out.err}
		}
		// The same reaction exists already.
		out.done.ID, out.done.Mark, out.done.Duplicate = same.number(1), same.text(2), true
		out.done.SentAtMs = sentAtMs(same.text(3), a.SentAtMs)
		return out
	}
	text := r.text(i)
	if text == "" {
		return appendOutcome{alone: true}
	}
	id, rest, known := strings.Cut(text, " ")
	id, ends, _ := strings.Cut(id, "/")
	out.done.EndsMs = number(ends)
	out.done.ID = number(id)
	if known { // what the retry key stands for
		ms, rest, _ := strings.Cut(rest, " ")
		mark, content, _ := strings.Cut(rest, " ")
		if content != shortHash(a.Content) {
			return appendOutcome{err: chat.ErrKeyReused}
		}
		if err := inReview(mark); err != nil {
			return appendOutcome{err: err}
		}
		out.done.Mark, out.done.SentAtMs, out.done.Duplicate = mark, number(ms), true
	}
	return out
}

// afterAppend does what an append leaves to other steps: it forgets an idle sender, and trims on.
func (s *Logs) afterAppend(ctx context.Context, group, idle string, more bool) {
	if idle != "" {
		s.forget(ctx, group, idle)
	}
	if more {
		// If this fails, the 64th send from here on trims the rest.
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
