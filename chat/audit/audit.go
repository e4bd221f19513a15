// Package audit is who did what to whom, and when: what operators, keys and those who manage groups decided. The step of the store
// that does something writes its entry, so nothing is done without one, and a step that is refused or changes nothing leaves none.
package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Action is what was done: `<noun>.<verb>`.
type Action string

// The actions.
const (
	MemberBan    Action = "member.ban"
	MemberUnban  Action = "member.unban"
	MemberMute   Action = "member.mute"
	MemberUnmute Action = "member.unmute"
	MemberRole   Action = "member.role"
	MemberRemove Action = "member.remove"
	GroupUpdate  Action = "group.update"
	GroupWords   Action = "group.words"
	GroupHold    Action = "group.hold"
	GroupRelease Action = "group.release"
	GroupDelete  Action = "group.delete"

	RequestAccept  Action = "request.accept"
	RequestDecline Action = "request.decline"
	ReportClose    Action = "report.close"
	ReviewRelease  Action = "review.release"
	ReviewDrop     Action = "review.drop"
	MessageDelete  Action = "message.delete"
	InviteCreate   Action = "invite.create"
	InviteRevoke   Action = "invite.revoke"
	AccountCreate  Action = "account.create"
	AccountReset   Action = "account.reset"
	AccountLink    Action = "account.link"
	AccountLogout  Action = "account.logout"
	UserErase      Action = "user.erase"
	UserDisable    Action = "user.disable"
	UserEnable     Action = "user.enable"
	UserRole       Action = "user.role"
	UserRevoke     Action = "user.revoke"
	UserDisconnect Action = "user.disconnect"

	KeyCreate   Action = "key.create"
	KeyUpdate   Action = "key.update"
	KeyRotate   Action = "key.rotate"
	KeyDelete   Action = "key.delete"
	HookCreate  Action = "hook.create"
	HookUpdate  Action = "hook.update"
	HookDelete  Action = "hook.delete"
	WordsUpdate Action = "words.update"

	WebhookCreate Action = "webhook.create"
	WebhookRotate Action = "webhook.rotate"
	WebhookDelete Action = "webhook.delete"
)

// actions are all there are.
var actions = []Action{MemberBan, MemberUnban, MemberMute, MemberUnmute, MemberRole, MemberRemove, GroupUpdate, GroupWords, GroupHold, GroupRelease, GroupDelete,
	RequestAccept, RequestDecline, ReportClose, ReviewRelease, ReviewDrop, MessageDelete, InviteCreate, InviteRevoke,
	AccountCreate, AccountReset, AccountLink, AccountLogout, UserErase, UserDisable, UserEnable, UserRole, UserRevoke, UserDisconnect,
	KeyCreate, KeyUpdate, KeyRotate, KeyDelete, HookCreate, HookUpdate, HookDelete, WordsUpdate,
	WebhookCreate, WebhookRotate, WebhookDelete}

// Entry is one of the audit.
type Entry struct {
	ID     string          `json:"id,omitempty"`
	At     chat.Time       `json:"at"`
	Actor  string          `json:"actor"`         // empty: an erased person
	Via    string          `json:"via,omitempty"` // the key by which it was done
	Action Action          `json:"action"`
	Group  string          `json:"group,omitempty"`
	User   string          `json:"user,omitempty"` // whom it was done to; empty: nobody, or an erased person
	Detail json.RawMessage `json:"detail"`         // an object

	byOperator bool
}

// OfServer tells whether an entry is kept with those of operators and of the server: nothing that members do drives these out.
func (e Entry) OfServer() bool { return e.Group == "" || e.byOperator }

// Note is an entry of something that by does. It gets its ID and its time when it is written. detail is what becomes an object; nil: an
// empty one.
func Note(by chat.Caller, action Action, group, user string, detail any) Entry {
	e := Entry{Actor: by.User, Via: by.Via, Action: action, Group: group, User: user, Detail: json.RawMessage(`{}`), byOperator: by.Admin}
	if detail != nil {
		e.Detail = chat.Encode(detail)
	}
	return e
}

// Stamp gives an entry its time and its id: those of later entries come first in the order of bytes.
func (e Entry) Stamp(nowMs int64) Entry {
	e.ID, e.At = fmt.Sprintf("%012x%s", 1<<48-1-nowMs, chat.NewID("")[1:]), chat.TimeMs(nowMs)
	return e
}

// texts are the fields of a detail in which people write what they like.
var texts = []string{"reason"}

// Without is the entry without the name of an erased person, and without what they or others wrote about it. named: it had the name.
func (e Entry) Without(user string) (_ Entry, named bool) {
	if user == "" || e.Actor != user && e.User != user {
		return e, false
	}
	if e.Actor == user {
		e.Actor = ""
	}
	if e.User == user {
		e.User = ""
	}
	var detail map[string]json.RawMessage
	if json.Unmarshal(e.Detail, &detail) != nil {
		detail = map[string]json.RawMessage{}
	}
	for _, field := range texts {
		delete(detail, field)
	}
	e.Detail = chat.Encode(detail)
	return e, true
}

// Record is an entry as it is stored.
type Record struct {
	Entry
	Epoch string // of the life of the group; empty: it is of none
}

// About picks what was done to messages of a user up to an id of the log of a group's life: later ones may be of somebody else of that
// name.
func About(group, epoch, user string, last int64) func(Record) bool {
	return func(r Record) bool {
		var detail struct {
			Target int64 `json:"target"`
		}
		return r.Group == group && r.Epoch == epoch && r.User == user && json.Unmarshal(r.Detail, &detail) == nil &&
			detail.Target > 0 && detail.Target <= last
	}
}

// Store keeps the newest Limits.AuditMax entries of operators and of the server, and as many of groups.
type Store interface {
	// Audit reads entries from behind the one with an id on, the newest first: all, or, of the partition where a group is, those that
	// may be of the group.
	Audit(ctx context.Context, group, after string, count int) (list []Record, more bool, err error)
	// EraseAudit takes the name of a user out of all entries, or out of those that only picks. It may be repeated.
	EraseAudit(ctx context.Context, user string, only func(Record) bool) error
}

// Service lists the audit. It may be used from many goroutines.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// Query says which entries are wanted. What is empty does not count.
type Query struct {
	User   string // who did it, or whom it was done to
	Group  string
	Action Action
	Limit  int
	Cursor string
}

// Bounds of what one page looks at: it may be short, or empty, with more behind it.
const (
	look  = 100
	looks = 20
)

// List lists entries, the newest first: to operators, and those of a group, in this life of it, to its owner and admins, who do not see
// what only operators may know. What became of a report does not show to whom it was about.
func (s *Service) List(ctx context.Context, by chat.Caller, q Query) (list chat.List[Entry], err error) {
	most, err := s.core.Options().Limits.Page(q.Limit)
	if err := cmp.Or(err, q.check()); err != nil {
		return list, err
	}
	sees, err := s.sees(ctx, by, q)
	if err != nil {
		return list, err
	}
	for range looks {
		found, more, err := s.store.Audit(ctx, q.Group, q.Cursor, look)
		if err != nil {
			return list, chat.AsError(err)
		}
		for _, r := range found {
			if len(list.Items) == most {
				list.Next = q.Cursor
				return list, nil
			}
			if q.Cursor = r.ID; q.wants(r.Entry) && sees(r) && !(r.Action == ReportClose && r.User == by.User) {
				list.Items = append(list.Items, r.Entry)
			}
		}
		if !more {
			return list, nil
		}
	}
	list.Next = q.Cursor
	return list, nil
}

func (q Query) check() error {
	switch {
	case q.User != "" && !chat.ValidGroupID(q.User): // keys do things, too
		return chat.CheckUserID("user", q.User)
	case q.Action != "" && !slices.Contains(actions, q.Action):
		return chat.CheckWord("action", &q.Action, actions...)
	case q.Cursor != "" && !chat.ValidID(q.Cursor):
		return chat.Invalid("cursor: not one of this list")
	}
	return nil
}

func (q Query) wants(e Entry) bool {
	return (q.User == "" || q.User == e.User || q.User == e.Actor) && (q.Group == "" || q.Group == e.Group) && (q.Action == "" || q.Action == e.Action)
}

// sees tells which entries of those that are wanted the caller may see.
func (s *Service) sees(ctx context.Context, by chat.Caller, q Query) (func(Record) bool, error) {
	if q.Group == "" {
		if err := chat.CheckOperator(by); err != nil {
			return nil, err
		}
		return func(r Record) bool { return by.Reach == nil || r.Group != "" && by.Reaches(r.Group) }, nil
	}
	if err := chat.CheckGroup(by, q.Group); err != nil {
		return nil, err
	}
	if by.Admin {
		return func(Record) bool { return true }, nil
	}
	info, err := s.core.Managed(ctx, by, q.Group)
	return func(r Record) bool { return r.Epoch == info.Epoch && r.Action != GroupHold && r.Action != GroupRelease }, err
}
