package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/quorum"
)

var _ quorum.Store = (*Quorums)(nil)

var (
	quorumPutScript  = newScript("quorum/put", groupNames)
	quorumReadScript = newFreeing("quorum/read", groupNames)
	quorumStepScript = newFreeing("quorum/step", groupNames)
	quorumDoneScript = newFreeing("quorum/done", groupNames)
	quorumDropScript = newFreeing("quorum/drop", groupNames)
)

// Quorums of a group: how many may be open, and how many are kept.
const (
	quorumsOpenMax = 100
	quorumsKeptMax = 500
)

// Quorums are how many members have to read messages.
type Quorums struct{ *base }

// PutQuorum asks that a message be read.
func (s *Quorums) PutQuorum(ctx context.Context, by chat.Caller, q quorum.Quorum) (bool, error) {
	k := s.keys.group(q.Group)
	kind, number := "users", int64(len(q.Need.Users))
	switch {
	case q.Need.Percent > 0:
		kind, number = "percent", q.Need.Percent
	case q.Need.Count > 0:
		kind, number = "count", q.Need.Count
	}
	var remind []string
	for _, r := range q.Remind {
		remind = append(remind, fmt.Sprintf("%d:%s", r.AfterS, r.Via))
	}
	r, err := s.runSafe(ctx, quorumPutScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("group", q.Group).Arg("id", q.ID).
		Arg("author", q.Author).Arg("by", q.By).Arg("kind", kind).Arg("number", number).Arg("users", listed(q.Need.Users)).
		Arg("ends_ms", q.Until.UnixMilli()).Arg("remind", listed(remind)).Arg("escalate", listed(q.Escalate)).
		Arg("open_max", quorumsOpenMax).Arg("kept_max", quorumsKeptMax).Arg("task_id", k.taskID()))
	return err == nil && r.number(1) == 1, err
}

// listed joins words; none are a dash.
func listed(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}

// Standing reads a quorum and a page of those who have not read.
func (s *Quorums) Standing(ctx context.Context, group, user string, id int64, after string, limit int) (st quorum.Standing, err error) {
	k := s.keys.group(group)
	r, err := s.runSafe(ctx, quorumReadScript.On(k).Arg("user", user).Arg("group", group).Arg("id", id).Arg("after", after).Arg("limit", min(limit, rangeBatch)))
	if err != nil {
		return st, err
	}
	if st.Quorum, err = readQuorum(group, id, r.text(2)); err != nil {
		return st, broke(quorumReadScript.Name, err)
	}
	st.Epoch, st.Of, st.Read, st.Next = r.text(1), r.number(3), r.number(4), r.text(5)
	for i := 6; i < len(r); i++ {
		st.Pending = append(st.Pending, r.text(i))
	}
	return st, nil
}

// DropQuorum cancels an open quorum.
func (s *Quorums) DropQuorum(ctx context.Context, by chat.Caller, group string, id int64) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, quorumDropScript.On(k).Arg("caller", by.User).Arg("operator", by.Admin).Arg("group", group).Arg("id", id))
}

// QuorumStep says what is due.
func (s *Quorums) QuorumStep(ctx context.Context, t quorum.Task) (q quorum.Quorum, due int, err error) {
	k := s.keys.group(t.Group)
	r, err := s.runSafe(ctx, quorumStepScript.On(k).Arg("group", t.Group).Arg("was_epoch", t.Epoch).Arg("id", t.ID).Arg("task_id", k.taskID()))
	if err != nil {
		return q, 0, err
	}
	if q, err = readQuorum(t.Group, t.ID, r.text(1)); err != nil {
		return q, 0, broke(quorumStepScript.Name, err)
	}
	q.Of, q.Read = r.number(2), r.number(3)
	return q, int(r.number(4)), nil
}

// QuorumDone notes what was sent.
func (s *Quorums) QuorumDone(ctx context.Context, q quorum.Quorum, sent int, after string, announced bool) error {
	k := s.keys.group(q.Group)
	return s.doSafe(ctx, quorumDoneScript.On(k).Arg("id", q.ID).Arg("at_ms", q.At.UnixMilli()).Arg("sent", sent).Arg("after", after).
		Arg("announced", announced))
}

// ReadQuorum reads the id of a message and its quorum as they are stored.
func ReadQuorum(text string) (quorum.Quorum, error) {
	id, rest, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return quorum.Quorum{}, err
	}
	return readQuorum("", n, rest)
}

// readQuorum reads a quorum as lib/quorum.lua stores it.
func readQuorum(group string, id int64, text string) (q quorum.Quorum, err error) {
	f := strings.Fields(text)
	if len(f) != 17 {
		return q, fmt.Errorf("the quorum of message %d cannot be read", id)
	}
	numbers := map[int]int64{}
	for _, i := range []int{2, 6, 7, 10, 11, 12, 13, 15} {
		if numbers[i], err = strconv.ParseInt(f[i], 10, 64); err != nil {
			return q, fmt.Errorf("the quorum of message %d: %w", id, err)
		}
	}
	words := func(i int) []string {
		if f[i] == "-" {
			return nil
		}
		return strings.Split(f[i], ",")
	}
	q = quorum.Quorum{Group: group, ID: id, State: quorum.State(f[0]), Author: strings.TrimPrefix(f[4], "-"), By: strings.TrimPrefix(f[5], "-"),
		At: chat.TimeMs(numbers[6]), Until: chat.TimeMs(numbers[7]), Escalate: words(9), Reminded: int(numbers[10]), Of: numbers[12], Read: numbers[13],
		Announced: f[14] == "1", RemindAfter: f[16]}
	switch f[1] {
	case "percent":
		q.Need.Percent = numbers[2]
	case "count":
		q.Need.Count = numbers[2]
	case "users":
		q.Need.Users = words(3)
	default:
		return q, fmt.Errorf("the quorum of message %d has the kind %q", id, f[1])
	}
	for _, word := range words(8) {
		after, via, _ := strings.Cut(word, ":")
		s, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return q, fmt.Errorf("the quorum of message %d: %w", id, err)
		}
		q.Remind = append(q.Remind, quorum.Reminder{AfterS: s, Via: via})
	}
	if numbers[11] > 0 {
		at := chat.TimeMs(numbers[11])
		q.DecidedAt = &at
	}
	return q, nil
}
