package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

// reply is what a script answers: an array whose first element is `OK` or the name of a refusal. After OUTOFRANGE come the
// field and the lowest and highest number allowed; after FORBIDDEN the role that may, after HELD the
// reason of the hold, after BLOCKED the members to wait for, after MUTED its end, after SLOW and
// PIECES the time to wait, in ms, and after STANDS how many bytes do.
type reply []any

// refusals translates what the scripts answer, in one place.
var refusals = map[string]error{
	"NOTFOUND":      chat.ErrNotFound,
	"ARCHIVED":      chat.ErrArchived,
	"ROOT":          chat.ErrNoRoot,
	"EXISTS":        chat.ErrExists,
	"KEYREUSED":     chat.ErrKeyReused,
	"CONFLICT":      chat.ErrConflict,
	"TOOMANY":       &chat.Error{Code: chat.CodeOutOfRange, Message: "the group has the maximum number of members"},
	"EMOJIS":        &chat.Error{Code: chat.CodeConflict, Message: "the message has the maximum number of different emoji"},
	"OWNER":         &chat.Error{Code: chat.CodeConflict, Message: "make another member the owner first"},
	"EDITS":         &chat.Error{Code: chat.CodeConflict, Message: "the message has reached the maximum number of edits"},
	"FULL":          chat.ErrInboxFull,
	"BLOCKS":        chat.ErrBlocked,
	"BLOCKSFULL":    &chat.Error{Code: chat.CodeQuotaFull, Message: "you block the maximum number of users"},
	"DRAFTSFULL":    &chat.Error{Code: chat.CodeQuotaFull, Message: "you have the maximum number of drafts"},
	"STRANGER":      errStranger,
	"DEVICES":       &chat.Error{Code: chat.CodeOutOfRange, Message: "the user has the maximum number of devices"},
	"GONE":          chat.ErrGone,
	"ANNOUNCEMENTS": &chat.Error{Code: chat.CodeOutOfRange, Message: "the maximum number of announcements are under way"},
	"SCHEDULES":     &chat.Error{Code: chat.CodeOutOfRange, Message: "you have the maximum number of schedules"},
	"FIRINGS":       &chat.Error{Code: chat.CodeOutOfRange, Message: "you have the maximum number of schedules that fire within a minute"},
	"WEBHOOKS":      &chat.Error{Code: chat.CodeOutOfRange, Message: "there are already the maximum number of webhooks"},
	"TABLEFULL":     &chat.Error{Code: chat.CodeQuotaFull, Message: "there are already the maximum number of these"},
	"WEBHOOKSFULL":  webhook.ErrFull,
	"REVIEW":        chat.ErrReviewGone,
	"REVIEWS":       &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of messages wait for a moderator there"},
	"REVIEWSOF":     &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of your messages wait for a moderator there"},
	"BANS":          &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of users are banned from the group"},
	"REQUESTS":      &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of users ask to join the group"},
	"ISMEMBER":      &chat.Error{Code: chat.CodeConflict, Message: "you are a member already"},
	"OPEN":          &chat.Error{Code: chat.CodeConflict, Message: "everybody may join this group: there is nothing to ask"},
	"ISBANNED":      &chat.Error{Code: chat.CodeConflict, Message: "the user is banned from the group"},
	"LAST":          &chat.Error{Code: chat.CodeConflict, Message: "it is the only member of the group"},
	"MUTES":         &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of members of the group are muted"},
	"REPORTS":       &chat.Error{Code: chat.CodeQuotaFull, Message: "the group has the maximum number of open reports"},
	"MYREPORTS":     &chat.Error{Code: chat.CodeQuotaFull, Message: "you have the maximum number of open reports in this group"},
	"INVITES":       &chat.Error{Code: chat.CodeQuotaFull, Message: "the group has the maximum number of invitations that can be used: revoke some"},
	"STREAMS":       &chat.Error{Code: chat.CodeQuotaFull, Message: "the maximum number of messages are being written in the group"},
	"ENDED":         stream.ErrEnded,
	"SPLIT":         stream.ErrSplit,
	"TOOLONG":       &chat.Error{Code: chat.CodeTooLarge, Message: fmt.Sprintf("a stream has at most %d bytes", chat.StreamBytesMax)},
	"PINS":          &chat.Error{Code: chat.CodeConflict, Message: "the group has the maximum number of pins: unpin some"},
	"QUORUMS":       &chat.Error{Code: chat.CodeQuotaFull, Message: "the group has the maximum number of open quorums"},
	"QUORUMUSER":    &chat.Error{Code: chat.CodeInvalid, Message: "need.users, escalate: want members, and of need.users those who joined before the message and did not send it"},
	"INVITEGONE":    invite.ErrGone,
	"QUOTA":         files.ErrQuota,
	"UPLOADS":       files.ErrUploads,
	"LOCKED":        files.ErrLocked,
	"LOST":          files.ErrLost,
	"USED":          files.ErrUsed,
	"FILE":          files.ErrNotSendable,
	"NAMES":         files.ErrNames,
}

// mayOnly says who may do what was refused, by the second element of `FORBIDDEN`.
var mayOnly = map[string]error{
	"members":      chat.ErrMembersOnly,
	"managers":     chat.ErrManagersOnly,
	"posters":      chat.ErrPostersOnly,
	"nobody":       chat.ErrNobodyPosts,
	"nobody_all":   &chat.Error{Code: chat.CodeForbidden, Message: "nobody may mention all members of this group"},
	"managers_all": &chat.Error{Code: chat.CodeForbidden, Message: "only those who manage this group may mention all members"},
	"join_ask":     &chat.Error{Code: chat.CodeForbidden, Message: "those who manage the group decide who joins: ask them"},
	"join_closed":  &chat.Error{Code: chat.CodeForbidden, Message: "nobody joins this group but who is added or invited"},
	"rank":         &chat.Error{Code: chat.CodeForbidden, Message: "the owner cannot be muted or banned, an admin only by the owner"},
	"author":       chat.ErrDeletersOnly,
	"writer":       stream.ErrAuthorsOnly,
	"owner":        &chat.Error{Code: chat.CodeForbidden, Message: "only the owner of the group may do this"},
	"operators":    &chat.Error{Code: chat.CodeForbidden, Message: "only operators (role admin) may remove the owner of a group"},
}

func asReply(name string, value any) (reply, error) {
	array, ok := value.([]any)
	if !ok || len(array) == 0 {
		return nil, broke(name, fmt.Errorf("answered %T", value))
	}
	r := reply(array)
	status := r.text(0)
	switch status {
	case "OK":
		return r, nil
	case "OUTOFRANGE":
		return r, chat.OutOfRange(r.text(1), r.number(2), r.number(3))
	case "HELD":
		return r, chat.Held(r.text(1))
	case "MUTED":
		return r, chat.Muted(chat.TimeMs(r.number(1)))
	case "BANNED":
		return r, chat.Banned(endOf(r.number(1)))
	case "SLOW":
		return r, chat.Slowed(time.Duration(r.number(1)) * time.Millisecond)
	case "STANDS":
		return r, stream.Stands(r.number(1))
	case "PIECES":
		return r, stream.TooFast(ms(r.number(1)))
	case "BLOCKED":
		return r, chat.BacklogFull(r.blockers(1, 3))
	}
	refusal, ok := refusals[status]
	if status == "FORBIDDEN" {
		refusal, ok = mayOnly[r.text(1)]
	}
	if ok {
		return r, refusal
	}
	return nil, broke(name, fmt.Errorf("answered %q", status))
}

func (r reply) text(i int) string    { return script.Reply(r).Text(i) }
func (r reply) texts(i int) []string { return script.Reply(r).Texts(i) }
func (r reply) list(i int) reply     { return reply(script.Reply(r).List(i)) }
func (r reply) number(i int) int64   { return script.Reply(r).Number(i) }

func number(s string) int64 { return script.Number(s) }

// broke is the error for what cannot happen unless the program is wrong.
func broke(step string, err error) *chat.Error {
	return &chat.Error{Code: chat.CodeInternal, Message: "internal error", Cause: fmt.Errorf("store: %s: %w", step, err)}
}

// fail translates an error of go-redis: everything that has to do with reaching the store is unavailable, the rest
// is a bug of ours. A translated error stays as it is.
func fail(step string, err error) error {
	var known *chat.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if conn.Refused(err) && CauseOf(err) == "" {
		return broke(step, err)
	}
	return unavailable(step, err)
}

func unavailable(step string, err error) *chat.Error {
	e := *chat.ErrUnavailable
	e.Cause = &stepError{step, err}
	switch cause := conn.CauseOf(err); {
	case cause == conn.CauseFull:
		e.Message = "the store is full: what would add to it is refused; acks and deletions are taken"
		e.Advice = e.Message
	case conn.TakesNoWrites(err):
		e.Message = "the store takes no writes at the moment; try again"
		e.Advice = e.Message
	case cause != "" && cause != conn.CauseAway:
		e.Message = "the store refuses it at the moment; try again"
	}
	return &e
}
