package hook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/webhook"
)

// TableName is the name of the table of hooks.
const TableName = "hooks"

// Caller asks external addresses.
type Caller interface {
	// Ask makes a call and returns what was answered, whole. Answers above 64 KiB are an error. It ends with ctx.
	Ask(ctx context.Context, call webhook.Call) (status int, answer []byte, err error)
	// CheckURL refuses an address that must not be called. The error is for the user who wrote it.
	CheckURL(url string) error
}

// Options of a Service.
type Options struct {
	Limits  chat.Limits
	Caller  Caller                                // nil: every question fails
	Observe func(outcome string, d time.Duration) // is called after each question; nil: nobody wants to know
	Now     func() time.Time
	Log     *slog.Logger
}

// Service registers hooks and asks them. It is safe for concurrent use.
type Service struct {
	rows  table.Rows
	opt   Options
	table *table.Table[*Hook]
	asked atomic.Pointer[[]*asked] // all hooks, in the order in which they were made

	mu sync.Mutex // orders the changes of asked
}

// New makes a Service. Its Table has to be followed.
func New(rows table.Rows, opt Options) *Service {
	if opt.Observe == nil {
		opt.Observe = func(string, time.Duration) {}
	}
	s := &Service{rows: rows, opt: opt}
	s.asked.Store(&[]*asked{})
	s.table = table.New(TableName, hooksMax, decode, func([]string) { s.changed() }, opt.Log)
	return s
}

// Table is the table of hooks of the node.
func (s *Service) Table() *table.Table[*Hook] { return s.table }

// changed takes over the hooks of the table. Those that stay keep what is under way, and how they fare.
func (s *Service) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, now := *s.asked.Load(), []*asked{}
	for _, h := range s.table.All() {
		one := &asked{Hook: h, line: &line{}}
		if i := slices.IndexFunc(before, func(b *asked) bool { return b.ID == h.ID && b.URL == h.URL }); i >= 0 {
			one.line = before[i].line
		}
		now = append(now, one)
	}
	slices.SortFunc(now, func(a, b *asked) int { return compare(a.Hook, b.Hook) })
	s.asked.Store(&now)
}

func compare(a, b *Hook) int {
	return cmp.Or(cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()), cmp.Compare(a.ID, b.ID))
}

// ErrNotFound is the answer for a hook that does not exist.
var ErrNotFound = chat.Errorf(chat.CodeNotFound, "no such hook")

// Create makes a hook of the JSON of a Draft, of which fields may be missing. retry is a retry key that the caller chose for this draft, or empty: repeating it returns the same hook. No
// other answer contains its secret.
func (s *Service) Create(ctx context.Context, by chat.Caller, draft []byte, retry string) (View, error) {
	d, err := newDraft().patched(draft)
	if err := cmp.Or(chat.CheckOperator(by), err); err != nil {
		return View{}, err
	}
	if err := d.check(s.checkURL()); err != nil {
		return View{}, err
	}
	creation := ""
	if retry != "" {
		creation = chat.Hash([]byte("hook"), []byte(by.User), []byte(retry))
	}
	h := &Hook{ID: chat.NewID(creation), Draft: d, Owner: by.User, Secret: webhook.NewSecret(), CreatedAt: chat.TimeMs(s.opt.Now().UnixMilli())}
	_, err = s.table.Put(ctx, s.rows, table.Row{ID: h.ID, Text: string(chat.Encode(h)), Notes: notes(by, audit.HookCreate, h)})
	if errors.Is(err, chat.ErrConflict) && retry != "" {
		return s.Get(ctx, by, h.ID) // the first request made it, and its answer was lost
	}
	if err != nil {
		return View{}, chat.AsError(err)
	}
	v := h.view()
	v.Secret = h.Secret
	return v, nil
}

// notes is what the audit gets of something that is done to a hook.
func notes(by chat.Caller, action audit.Action, h *Hook) []audit.Entry {
	return []audit.Entry{audit.Note(by, action, "", "", struct {
		Hook string `json:"hook"`
	}{h.ID})}
}

func (s *Service) checkURL() func(string) error {
	if s.opt.Caller == nil {
		return nil
	}
	return s.opt.Caller.CheckURL
}

// List lists the hooks, in the order in which they are asked.
func (s *Service) List(by chat.Caller) ([]View, error) {
	if err := chat.CheckOperator(by); err != nil {
		return nil, err
	}
	views := []View{}
	for _, h := range *s.asked.Load() {
		views = append(views, h.view())
	}
	return views, nil
}

// Get returns one hook.
func (s *Service) Get(ctx context.Context, by chat.Caller, id string) (View, error) {
	if err := chat.CheckOperator(by); err != nil {
		return View{}, err
	}
	row, err := s.rows.Row(ctx, TableName, id)
	if err != nil && !errors.Is(err, chat.ErrNotFound) {
		return View{}, chat.AsError(err)
	}
	h, err := stored(id, row.Text)
	if err != nil {
		return View{}, err
	}
	return h.view(), nil
}

// stored is a hook as a row has it.
func stored(id, text string) (*Hook, error) {
	if text == "" {
		return nil, ErrNotFound
	}
	h, err := decode(id, text)
	return h, chat.AsError(err)
}

// Change changes what a patch names: the JSON of some fields of a Draft; null gives one its default.
func (s *Service) Change(ctx context.Context, by chat.Caller, id string, patch []byte) (View, error) {
	h, err := s.change(ctx, by, id, audit.HookUpdate, func(h *Hook) (err error) {
		if h.Draft, err = h.patched(patch); err != nil {
			return err
		}
		return h.check(s.checkURL())
	})
	if err != nil {
		return View{}, err
	}
	return h.view(), nil
}

// Delete removes a hook: no node asks it any more within a second.
func (s *Service) Delete(ctx context.Context, by chat.Caller, id string) error {
	_, err := s.change(ctx, by, id, audit.HookDelete, nil)
	return err
}

// change changes a hook; a nil change removes it.
func (s *Service) change(ctx context.Context, by chat.Caller, id string, action audit.Action, change func(*Hook) error) (h *Hook, err error) {
	if err := chat.CheckOperator(by); err != nil {
		return nil, err
	}
	_, err = s.table.ChangeNoted(ctx, s.rows, id, func(text string) (string, []audit.Entry, error) {
		if h, err = stored(id, text); err != nil {
			return "", nil, err
		}
		if change == nil {
			return "", notes(by, action, h), nil
		}
		if err := change(h); err != nil {
			return "", nil, err
		}
		return string(chat.Encode(h)), notes(by, action, h), nil
	})
	return h, chat.AsError(err)
}
