package store

import (
	"context"
	"errors"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/rules"
)

var (
	askScript      = newScript("request/put", groupNames)
	unaskScript    = newFreeing("request/drop", groupNames)
	requestsScript = newReader("request/list", groupNames)
	answerScript   = newScript("request/answer", groupNames)
)

// Ask asks those who manage a group to let a user in.
func (s *Groups) Ask(ctx context.Context, group, user, note string, atMs int64) (rules.Request, bool, error) {
	k := s.keys.group(group)
	r, err := s.run(ctx, askScript.On(k).Arg("user", user).Arg("note", note).Arg("note_json", chat.Encode(note)).Arg("at_ms", atMs).
		Arg("requests_max", s.limits.GroupRequestsMax).Arg("task_id", k.taskID()).Arg("group", group))
	if err != nil {
		return rules.Request{}, false, err
	}
	return asRequest(user, r.text(2)), r.number(1) == 1, nil
}

// Unask takes back that a user asked to join.
func (s *Groups) Unask(ctx context.Context, group, user string) error {
	return s.do(ctx, unaskScript.On(s.keys.group(group)).Arg("user", user))
}

// Requests pages through the open requests, the oldest first.
func (s *Groups) Requests(ctx context.Context, by chat.Caller, group, after string, limit int) (requests []rules.Request, next string, err error) {
	r, err := s.runSafe(ctx, requestsScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).
		Arg("after", after).Arg("limit", limit))
	if errors.Is(err, chat.ErrGone) {
		return nil, "", chat.Invalid("cursor: not one of this list any longer")
	}
	if err != nil {
		return nil, "", err
	}
	for i := 2; i+1 < len(r); i += 2 {
		requests = append(requests, asRequest(r.text(i), r.text(i+1)))
	}
	return requests, r.text(1), nil
}

// Answer lets m.User in who asked to join, or does not.
func (s *Groups) Answer(ctx context.Context, m chat.Membership, accept bool) error {
	k := s.keys.group(m.Group)
	action := audit.RequestDecline
	if accept {
		action = audit.RequestAccept
	}
	return s.do(ctx, s.noted(answerScript.On(k).Arg("user", m.User).Arg("caller", m.By.User).Arg("operator", m.By.Admin).Arg("accept", accept).
		Arg("at_ms", m.AtMs).Arg("mark", m.Notice.Mark).Arg("rest", m.Notice.Rest).Arg("members_max", s.limits.GroupMembersMax).
		Arg("channel", k.channel()).Arg("task_id", k.taskID()).Arg("group", m.Group).Arg("trim_id", k.taskID()), audit.Note(m.By, action, m.Group, m.User, nil)))
}

// asRequest reads a request as the scripts write it.
func asRequest(user, record string) rules.Request {
	at, note, _ := strings.Cut(record, " ")
	return rules.Request{User: user, Note: note, At: chat.TimeMs(number(at))}
}
