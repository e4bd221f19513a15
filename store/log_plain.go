package store

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

var (
	plainScript      = newScript("log/plain", groupNames)
	plainTasksScript = newScript("log/plain_tasks", groupNames)
)

// plain reports whether the lean script may append a: it does the same as log/append.lua, with fewer commands.
func (s *Logs) plain(a chat.Append) bool {
	return (a.Kind == chat.Text || a.Kind == chat.Data) && len(a.Mentions) == 0 && len(a.Files) == 0 && a.ReplyTo == 0 &&
		!conn.Durability(a.Durability).Waits() && !s.unusual.holds(a.Group)
}

// plainOutcome is what became of a plain message. left: it was not appended, and log/append.lua has to decide. refused: the server
// did nothing, as in laneAnswer.
type plainOutcome struct {
	done          chat.Appended
	left, refused bool
	err           error
}

// appendPlain appends a plain message by itself.
func (s *Logs) appendPlain(ctx context.Context, a chat.Append) plainOutcome {
	list := []*chat.Append{&a}
	r, err := s.runPlain(ctx, list)
	if err == nil {
		s.afterAppend(ctx, a.Group, r.text(2), r.number(3) == 1)
	}
	return s.plainOutcomes(laneAnswer{reply: r, err: err}, list)[0]
}

// runPlain runs the script, with the keys of the queue if somebody wants to know of new entries.
func (s *Logs) runPlain(ctx context.Context, list []*chat.Append) (reply, error) {
	if !s.wanted.Load() {
		r, err := s.run(ctx, s.plainCall(plainScript, list))
		if !errors.Is(err, errWants) {
			return r, err
		}
		s.wanted.Store(true)
	}
	return s.run(ctx, s.plainCall(plainTasksScript, list))
}

// plainCall is a call for plain messages of one group.
func (s *Logs) plainCall(step *script.Step[groupKeys], list []*chat.Append) call {
	k := s.keys.group(list[0].Group)
	c := step.Rows(k, len(list)).Arg("channel", k.channel()).Arg("group", &list[0].Group).Arg("keys_max", s.limits.KeysMax)
	for _, a := range list {
		c = c.More("own", "by", k.by(a.From), "sent", k.sent(a.From)).
			MoreArgs("plain", "from", &a.From, "mark", &a.Mark, "rest", a.Rest, "sent_ms", &a.SentAtMs, "key", shortHash(a.Key),
				"content", shortHash(a.Content))
	}
	return c
}

// plainOutcomes reads what the script answers for each of the messages.
func (s *Logs) plainOutcomes(answer laneAnswer, list []*chat.Append) []plainOutcome {
	if answer.err != nil {
		return slices.Repeat([]plainOutcome{{err: answer.err, refused: answer.refused}}, len(list))
	}
	r := answer.reply
	outcomes := make([]plainOutcome, len(list))
	epoch := r.text(1)
	for i := range list {
		a, out := list[i], &outcomes[i]
		text := r.text(4 + i)
		id, rest, known := strings.Cut(text, " ")
		switch {
		case epoch == "":
			s.unusual.note(a.Group)
			out.left = true
		case text == "":
			out.left = true
		case !known:
			out.done = chat.Appended{ID: number(id), Epoch: epoch, Mark: a.Mark, SentAtMs: a.SentAtMs, Durability: a.Durability}
		default:
			ms, rest, _ := strings.Cut(rest, " ")
			mark, content, _ := strings.Cut(rest, " ")
			if content != shortHash(a.Content) {
				out.err = chat.ErrKeyReused
				break
			}
			out.done = chat.Appended{ID: number(id), Epoch: epoch, Mark: mark, SentAtMs: number(ms), Duplicate: true,
				Durability: a.Durability}
		}
	}
	return outcomes
}

// unusualGroups notes groups whose settings need the whole of log/append.lua at every send, so that a send does not ask twice.
// Groups that share a slot displace each other, which costs a second call.
type unusualGroups [512]atomic.Pointer[unusualGroup]

type unusualGroup struct {
	id    string
	until time.Time // settings change
}

var unusualSeed = maphash.MakeSeed()

func (u *unusualGroups) slot(id string) *atomic.Pointer[unusualGroup] {
	return &u[maphash.String(unusualSeed, id)%uint64(len(u))]
}

func (u *unusualGroups) note(id string) {
	u.slot(id).Store(&unusualGroup{id, time.Now().Add(unusualFor)})
}

func (u *unusualGroups) holds(id string) bool {
	g := u.slot(id).Load()
	return g != nil && g.id == id && time.Now().Before(g.until)
}
