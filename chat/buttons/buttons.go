// Package buttons is what members press below messages of programs: actions. A press is an event for the webhooks of the service, and no
// entry of the log: what comes of it is an edit or a message of the program.
package buttons

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// Again is how long a repeat of a press is the same press.
const Again = 10 * time.Second

// valueMax bounds the value of a press, bytes of JSON.
const valueMax = 4 << 10

// TaskPressed tells webhooks of a press. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const TaskPressed = "pressed"

// PressedTask is a press as webhooks get it.
type PressedTask struct {
	Group string          `json:"group"`
	Press json.RawMessage `json:"press"` // Press
}

// Press is that a member has pressed a button.
type Press struct {
	ID      string          `json:"id"` // of the press
	Group   string          `json:"group"`
	Message int64           `json:"message"`
	From    string          `json:"from"` // who sent the message
	Via     string          `json:"via,omitempty"`
	User    string          `json:"user"` // who pressed
	Action  string          `json:"action"`
	Value   json.RawMessage `json:"value,omitempty"`
	At      chat.Time       `json:"at"`
}

// Store keeps what was pressed a moment ago. Errors are those of chat.Store.
type Store interface {
	// Press has webhooks told of a press by a member, unless they pressed the same within Again. ErrNotFound, CodeForbidden: the user is
	// no member; ErrConflict: the group is another one than that of epoch.
	Press(ctx context.Context, epoch string, p Press) error
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Pull is that of chat.Store.
	Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error)
}

// Service takes presses. It may be used from many goroutines.
type Service struct {
	core     *chat.Service
	store    Store
	logs     Logs
	webhooks *webhook.Service
}

// New makes a Service. logs are those that the core serves.
func New(core *chat.Service, store Store, logs Logs, webhooks *webhook.Service) *Service {
	return &Service{core, store, logs, webhooks}
}

// Press presses an action of a message that the caller, a member, can read. Within Again, another press of the same is the same.
// ErrNotFound: there is no such message or action.
func (s *Service) Press(ctx context.Context, by chat.Caller, group string, id int64, action string, value json.RawMessage) error {
	if string(value) == "null" {
		value = nil
	}
	if len(value) > 0 {
		var err error
		if value, err = chat.CompactData(value, valueMax); err != nil {
			return valueError(err)
		}
	}
	if err := cmp.Or(chat.CheckGroup(by, group), chat.CheckRange("id", &id, 1, chat.IDMax), chat.CheckID("id", action)); err != nil {
		return err
	}
	if by.Program() {
		return chat.Invalid("a key presses nothing: Chatd-As names the user")
	}
	pages, err := s.logs.Pull(ctx, by.User, []chat.Pull{{Group: group, From: id, Limit: 1}})
	if err == nil {
		err = pages[0].Err
	}
	if err != nil {
		return s.core.Refused(ctx, by, group, err)
	}
	page := pages[0]
	if len(page.Messages) == 0 || page.Messages[0].ID != id {
		return chat.ErrNotFound
	}
	var e chat.Entry
	if err := json.Unmarshal(page.Messages[0].JSON, &e); err != nil {
		return chat.AsError(fmt.Errorf("message %d of %s: %w", id, group, err))
	}
	if !slices.ContainsFunc(e.Actions, func(a chat.Action) bool { return a.ID == action }) {
		return chat.ErrNotFound
	}
	p := Press{ID: chat.NewID(""), Group: group, Message: id, From: e.From, Via: e.Via, User: by.User, Action: action, Value: value,
		At: chat.TimeMs(s.core.Options().Now())}
	if err := s.store.Press(ctx, page.Info.Epoch, p); err != nil {
		return s.core.Refused(ctx, by, group, err)
	}
	return nil
}

// valueError is an error about data, of a value.
func valueError(err error) error {
	if chat.CodeOf(err) == chat.CodeTooLarge {
		return chat.Errorf(chat.CodeTooLarge, "value: at most %d bytes", valueMax)
	}
	return chat.Invalid("value: not valid JSON in UTF-8")
}

// Handlers are the tasks of presses, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskPressed: chat.Patient(func(ctx context.Context, t PressedTask) error {
		var p Press
		if err := chat.CheckGroupID("group", t.Group); err != nil || json.Unmarshal(t.Press, &p) != nil {
			return chat.Invalid("a task names no valid group or press")
		}
		return s.webhooks.Publish(ctx, t.Group, webhook.Event{Type: webhook.EventMessageAction, Key: p.ID, At: p.At, Data: p})
	})}
}
