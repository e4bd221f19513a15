package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/queue"
)

var _ erase.Store = (*Store)(nil)

var (
	erasureBeginScript   = newFreeing("erasure/begin", erasureNames)
	erasureMoveScript    = newFreeing("erasure/move", erasureNames)
	erasureFinishScript  = newFreeing("erasure/finish", erasureNames)
	erasureForgetScript  = newFreeing("erasure/forget", erasureNames)
	erasureUncountScript = newFreeing("erasure/uncount", partNames)
	erasurePersonScript  = newFreeing("erasure/person", userNames)
	erasureInboxScript   = newFreeing("erasure/inbox", userNames)
	erasureFindScript    = newReader("erasure/find", memberNames)
	erasureEntryScript   = newFreeing("erasure/entry", groupNames)
	erasureTracesScript  = newFreeing("erasure/traces", memberNames)
	erasureReportsScript = newFreeing("erasure/reports", groupNames)
	erasureHoldScript    = newFreeing("erasure/hold", groupNames)
)

// Erasures are the records of persons who are erased, and the steps that erase.
type Erasures struct {
	*base
}

// erasing is what the audit says of an erasure.
type erasing struct {
	Erasure string `json:"erasure"`
}

// BeginErasure begins the erasure of a user, or names the one that is under way.
func (s *Erasures) BeginErasure(ctx context.Context, by chat.Caller, user string) (string, error) {
	id := fmt.Sprintf("p%02d-%s", s.keys.partition(user), rand.Text())
	k := s.keys.erasure(user, id)
	r, err := s.runSafe(ctx, s.noted(erasureBeginScript.On(k).Arg("erasure_id", id).Arg("user", user).Arg("task_id", k.taskID()),
		audit.Note(by, audit.UserErase, "", user, erasing{id})))
	return r.text(1), err
}

// Erasure reads an erasure. Its ID is another one where that has changed; see moved.
func (s *Erasures) Erasure(ctx context.Context, id string) (erase.Record, error) {
	r, err := s.erasureOf(ctx, id)
	if !errors.Is(err, chat.ErrNotFound) {
		return r, err
	}
	id, err = s.moved(ctx, id, func(p *partKeys, id string) string { return erasureKeys{base: p.base + "e:" + id}.erasure() })
	if err != nil {
		return r, err
	}
	return s.erasureOf(ctx, id)
}

func (s *Erasures) erasureOf(ctx context.Context, id string) (erase.Record, error) {
	p, ok := queue.PartitionOf(id)
	if !ok || p >= s.partitions() {
		return erase.Record{}, chat.ErrNotFound
	}
	k := erasureKeys{base: s.keys.part(p).base + "e:" + id}
	var fields *redis.SliceCmd
	var groups *redis.IntCmd
	var held *redis.StringSliceCmd
	counts := make([]*redis.StringCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range counts {
			counts[p] = pipe.HGet(ctx, s.keys.part(p).erasedCounts(), id)
		}
		fields = pipe.HMGet(ctx, k.erasure(), "user", "state", "messages", "phase", "cursor")
		groups, held = pipe.SCard(ctx, k.erasureGroups()), pipe.SMembers(ctx, k.erasureHeld())
	})
	if err != nil {
		return erase.Record{}, err
	}
	r := reply(fields.Val())
	if r.text(1) == "" {
		return erase.Record{}, chat.ErrNotFound
	}
	messages := int64(0)
	for _, count := range counts {
		messages += number(count.Val())
	}
	// After an import into other partitions the record alone has the earlier count.
	return erase.Record{User: r.text(0), Phase: r.text(3), Cursor: r.text(4), Erasure: erase.Erasure{ID: id, State: erase.State(r.text(1)),
		Messages: max(messages, r.number(2)), Groups: groups.Val(), Held: held.Val()}}, nil
}

// MoveErasure writes how far an erasure is.
func (s *Erasures) MoveErasure(ctx context.Context, r erase.Record, p erase.Progress) error {
	now, err := s.erasureOf(ctx, r.ID)
	if err != nil {
		return err
	}
	names := append(append(append([]string{}, p.Groups...), p.Held...), p.Free...)
	return s.doSafe(ctx, erasureMoveScript.Sized(s.keys.erasure(r.User, r.ID), len(names)).Arg("phase", p.Phase).Arg("cursor", p.Cursor).
		Arg("messages", now.Messages).Arg("groups", len(p.Groups)).Arg("held", len(p.Held)).List("names", names))
}

// FinishErasure ends an erasure.
func (s *Erasures) FinishErasure(ctx context.Context, r erase.Record, keep time.Duration) error {
	return s.doSafe(ctx, erasureFinishScript.On(s.keys.erasure(r.User, r.ID)).Arg("erasure_id", r.ID).Arg("user", r.User).
		Arg("keep_ms", keep.Milliseconds()))
}

// ForgetErasure removes the record of an erasure that is done, and its counts, unless a group holds something back.
func (s *Erasures) ForgetErasure(ctx context.Context, r erase.Record) error {
	now, err := s.erasureOf(ctx, r.ID)
	if errors.Is(err, chat.ErrNotFound) || err == nil && (now.State != erase.Done || len(now.Held) > 0) {
		return nil
	}
	if err != nil {
		return err
	}
	calls := make([]call, s.partitions())
	for p := range calls {
		calls[p] = erasureUncountScript.On(s.keys.part(p)).Arg("erasure_id", r.ID)
	}
	_, errs, err := s.runAll(ctx, calls)
	if err = cmp.Or(err, firstError(errs)); err != nil {
		return err
	}
	return s.doSafe(ctx, erasureForgetScript.On(s.keys.erasure(r.User, r.ID)))
}

// ErasureGroups names the groups that had something of the person, as far as the erasure is.
func (s *Erasures) ErasureGroups(ctx context.Context, r erase.Record) (groups []string, err error) {
	var all *redis.StringSliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.SMembers(ctx, s.keys.erasure(r.User, r.ID).erasureGroups()) })
	if err != nil {
		return nil, err
	}
	return all.Val(), nil
}

// erasureSenders is for how many senders one step removes what an inbox keeps about them.
const erasureSenders = 100

// ErasePerson removes what is kept about the user alone.
func (s *Erasures) ErasePerson(ctx context.Context, user string) (more bool, err error) {
	k := s.keys.user(user)
	var senders *redis.StringSliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		senders = pipe.ZRange(ctx, k.inboxSenders(), 0, erasureSenders-1)
	})
	if err != nil {
		return false, err
	}
	c := erasurePersonScript.On(k).Arg("user", user).List("senders", senders.Val())
	for _, sender := range senders.Val() {
		c = c.More("left", "inbox_by", k.inboxBy(sender), "inbox_mentions", k.inboxMentions(sender), "inbox_sent", k.inboxSent(sender))
	}
	r, err := s.runSafe(ctx, c)
	if err != nil {
		return false, err
	}
	// Always, where anybody has a profile: a run before may have ended in between.
	err = s.publishChanges(ctx, profiles.TableName, []string{user}, true)
	return r.number(1) == 1, err
}

// UsersFrom pages through everyone whom the server knows, partition by partition: a position is `<partition> <user>`.
func (s *Erasures) UsersFrom(ctx context.Context, after string, limit int) (users []string, next string, err error) {
	number, user, _ := strings.Cut(after, " ")
	p, _ := strconv.Atoi(number)
	for ; p < s.partitions(); p, user = p+1, "" {
		start := "-"
		if user != "" {
			start = "(" + user
		}
		var page *redis.StringSliceCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			page = pipe.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.part(p).users(), ByLex: true, Start: start, Stop: "+", Count: int64(limit)})
		})
		if err != nil {
			return nil, "", err
		}
		if users = page.Val(); len(users) == limit {
			return users, fmt.Sprintf("%d %s", p, users[limit-1]), nil
		}
		if len(users) > 0 && p+1 < s.partitions() {
			return users, fmt.Sprintf("%d ", p+1), nil
		}
	}
	return users, "", nil
}

// EraseInboxes erases what a user wrote in inboxes, one step for each inbox.
func (s *Erasures) EraseInboxes(ctx context.Context, erasure, from string, inboxes []erase.At, deletedAt chat.Time) (rest []erase.At, err error) {
	at, err := deletedAt.MarshalJSON()
	if err != nil {
		return nil, broke("erasure_inbox", err)
	}
	calls := make([]call, len(inboxes))
	for i, inbox := range inboxes {
		k := s.keys.user(inbox.Name)
		calls[i] = erasureInboxScript.On(k).Key("inbox_sent", k.inboxSent(from)).Arg("from", from).Arg("after", inbox.Pos).
			Arg("bytes_max", erasureBytesMax).Arg("deleted_at", strings.Trim(string(at), `"`)).Arg("erasure_id", erasure)
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err == nil {
		err = firstError(errs)
	}
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		if next := r.number(1); next > 0 {
			rest = append(rest, erase.At{Name: inboxes[i].Name, Pos: next})
		}
	}
	return rest, nil
}

// FindAuthored looks up what groups have of a user, one step for each group.
func (s *Erasures) FindAuthored(ctx context.Context, user string, groups []erase.At) ([]erase.Found, error) {
	calls := make([]call, len(groups))
	for i, g := range groups {
		calls[i] = erasureFindScript.On(s.keys.group(g.Name).of(user)).Arg("user", user).Arg("from", g.Pos).Arg("limit", rangeBatch).
			Arg("bytes_max", erasureBytesMax)
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, err
	}
	var found []erase.Found
	for i, r := range replies {
		if errors.Is(errs[i], chat.ErrNotFound) {
			continue
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		f := erase.Found{Group: groups[i].Name, Epoch: r.text(1), Last: r.number(2), Held: r.number(3), ArchivedFrom: r.number(4), Late: r.number(5),
			OnHold: r.number(6) == 1, Members: r.number(7), Member: r.number(8) == 1, Traces: r.number(9) == 1, Next: r.number(10)}
		if f.Messages, err = decodeMessages(groups[i].Name, r.texts(11)); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

// EraseEntry erases a message, its edits, a reaction, or what is left of entries, in one step.
func (s *Erasures) EraseEntry(ctx context.Context, e erase.EntryErasure) (id int64, held bool, err error) {
	k := s.keys.group(e.Group)
	target := strconv.FormatInt(e.Target, 10)
	below := ""
	if e.Below {
		below = strconv.FormatInt(e.Late, 10)
	}
	head, edits, was, is, counts := "", "", []byte{}, []byte{}, ""
	changes := e.Changes
	var mentions []string
	if e.Kind == chat.Delete && len(changes) > 0 && changes[0].Old.ID == e.Target {
		entry, err := decodeEntry(changes[0].Old)
		if err != nil {
			return 0, false, broke("erasure_entry", err)
		}
		mentions, counts = countedIn(entry.Mentions, entry.From), e.Erasure
		head, edits = target+" "+changes[0].Old.Mark, encodeEdits(changes[0].Old.Edits)
		was, is = changes[0].Old.JSON, changes[0].New.JSON
		changes = changes[1:]
	}
	c := erasureEntryScript.Sized(k, len(mentions)+2*len(changes)).Key("author_by", k.by(e.User)).Arg("user", e.User).Arg("epoch", e.Epoch).
		Arg("kind", string(cmp.Or(e.Kind, "rest"))).Arg("mark", e.Mark).Arg("rest", e.Rest).Arg("sent_ms", e.SentAtMs).Arg("channel", k.channel()).
		Arg("group", e.Group).Arg("trim_id", k.taskID()).Arg("below", below).Arg("target", target).Arg("emoji", e.Emoji).
		Arg("head", head).Arg("edits", edits).Arg("json", was).Arg("new_json", is).Arg("unreact_id", k.taskID()).Arg("erasure_id", counts)
	for _, user := range mentions {
		c = c.More("at", k.at(user))
	}
	for _, change := range changes {
		id := strconv.FormatInt(change.Old.ID, 10)
		c = c.MoreArgs("erased", "entry_id", id, "entry", id+" "+change.Old.Mark+" x "+string(change.New.JSON))
	}
	// A repeat would append again: if the answer was lost, the caller reads what became of the entry.
	r, err := s.run(ctx, c)
	if err != nil {
		return 0, false, err
	}
	return r.number(1), r.number(2) == 1, nil
}

// DropTraces removes what a group keeps about a user besides its log.
func (s *Erasures) DropTraces(ctx context.Context, group, user string) error {
	return s.doSafe(ctx, erasureTracesScript.On(s.keys.group(group).of(user)).Arg("user", user))
}

// EraseReports removes the reports of a group that a user made, or that are about what they wrote.
func (s *Erasures) EraseReports(ctx context.Context, group, epoch, user string, last int64) error {
	return s.doSafe(ctx, erasureReportsScript.On(s.keys.group(group)).Arg("group", group).Arg("epoch", epoch).Arg("user", user).Arg("last", last))
}

// HoldErasure notes in a group under a legal hold that an erasure waits for its end.
func (s *Erasures) HoldErasure(ctx context.Context, erasure, group, epoch, user string) (waits bool, err error) {
	r, err := s.runSafe(ctx, erasureHoldScript.On(s.keys.group(group)).Arg("erasure_id", erasure).Arg("user", user).Arg("epoch", epoch))
	return r.number(1) == 1, err
}

// WaitingErasures reads the erasures that wait in a group.
func (s *Erasures) WaitingErasures(ctx context.Context, group string) ([]erase.Waiting, error) {
	var all *redis.MapStringStringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		all = pipe.HGetAll(ctx, s.keys.group(group).erasures())
	})
	if err != nil {
		return nil, err
	}
	list := make([]erase.Waiting, 0, len(all.Val()))
	for id, value := range all.Val() {
		fields := strings.Fields(value)
		if len(fields) != 3 {
			return nil, broke("erasures", fmt.Errorf("what waits for erasure %s cannot be read", id))
		}
		list = append(list, erase.Waiting{Erasure: id, User: fields[0], Epoch: fields[1], Last: number(fields[2])})
	}
	return list, nil
}
