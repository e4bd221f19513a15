package invite

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
)

// Options of a Service.
type Options struct {
	Now func() time.Time
	Log *slog.Logger
	// Holds tells whether a key may still invite to a group, or without one; nil: every key may.
	Holds func(key, group string) bool
	// Name is the name of a user, or empty; nil: nobody has one.
	Name func(ctx context.Context, user string) string
}

// Service makes invitations and redeems them. It is safe for concurrent use.
type Service struct {
	core  *chat.Service
	store Store
	rows  table.Rows
	table *table.Table[Record] // of those without a group
	opt   Options
}

// New makes a Service. Its Table has to be followed.
func New(core *chat.Service, store Store, rows table.Rows, opt Options) *Service {
	if opt.Holds == nil {
		opt.Holds = func(string, string) bool { return true }
	}
	if opt.Name == nil {
		opt.Name = func(context.Context, string) string { return "" }
	}
	return &Service{core: core, store: store, rows: rows, opt: opt, table: table.New(TableName, KeptMax, decode, nil, opt.Log)}
}

// Create makes an invitation: to a group for those who manage it, without one for operators. retry is a retry key that the caller chose
// for this draft, or empty: repeating it returns the same invitation, without its code.
func (s *Service) Create(ctx context.Context, by chat.Caller, d Draft, retry string) (Invite, error) {
	r, err := s.draft(by, d)
	if err != nil {
		return Invite{}, err
	}
	if retry != "" {
		retry = chat.Hash([]byte("invite"), []byte(by.User), []byte(retry), chat.Encode(d))
	}
	r.ID = newID(d.Group, retry)
	code := newCode(r.ID)
	r.Hash = digest(code)
	var kept Record
	if d.Group == nil {
		kept, err = s.createOfServer(ctx, by, r)
	} else {
		kept, err = s.store.CreateInvite(ctx, by, r)
	}
	if err != nil {
		return Invite{}, chat.AsError(err)
	}
	if kept.is(code) {
		kept.Code = code
	}
	return kept.Invite, nil
}

// draft checks a draft and fills in what it leaves open.
func (s *Service) draft(by chat.Caller, d Draft) (Record, error) {
	now := s.opt.Now()
	r := Record{Invite: Invite{Group: d.Group, Role: d.Role, Uses: 1, ExpiresAt: d.ExpiresAt, CreatedBy: by.User, CreatedAt: chat.TimeMs(now.UnixMilli())},
		Trusted: by.Admin}
	var err error
	if d.Group == nil {
		if err = chat.CheckOperator(by); err == nil && by.Reach != nil {
			err = chat.ErrReach
		}
		if err == nil && d.Role != nil {
			err = chat.Invalid("role: only with a group")
		}
	} else {
		if err = cmp.Or(chat.CheckGroup(by, *d.Group), chat.CheckWord("role", d.Role, chat.Ordinary, chat.Admin)); err == nil && chat.IsDirect(*d.Group) {
			err = chat.ErrDirectFixed
		}
		if d.Role == nil {
			r.Role = new(chat.Ordinary)
		}
	}
	if err := cmp.Or(err, chat.CheckRange("uses", d.Uses, 1, UsesMax)); err != nil {
		return Record{}, err
	}
	if d.Uses != nil {
		r.Uses = *d.Uses
	}
	if d.ExpiresAt != nil && !d.ExpiresAt.After(now) {
		return Record{}, chat.Errorf(chat.CodeOutOfRange, "expires_at: must be in the future")
	}
	r.Note, err = chat.Line("note", strings.TrimSpace(d.Note), noteMax)
	return r, err
}

// List lists the invitations of a group, to those who manage it, or those without a group, to operators: what can still be used, and
// what is used up, newest first.
func (s *Service) List(ctx context.Context, by chat.Caller, group string, limit int, after string) (list chat.List[Invite], err error) {
	if limit, err = s.core.Options().Limits.Page(limit); err != nil {
		return list, err
	}
	var all []Record
	switch {
	case group != "":
		if err = s.mayManage(ctx, by, group); err == nil {
			all, err = s.store.ListInvites(ctx, group)
		}
	case by.Reach != nil:
		err = chat.ErrReach
	default:
		if err = chat.CheckOperator(by); err == nil {
			all = s.table.All()
		}
	}
	if err != nil {
		return list, chat.AsError(err)
	}
	now := s.opt.Now()
	all = slices.DeleteFunc(all, func(r Record) bool { return r.Revoked || r.expired(now) })
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(a.ID, b.ID))
	})
	if after != "" {
		at := slices.IndexFunc(all, func(r Record) bool { return r.ID == after })
		if at < 0 {
			return list, chat.Invalid("cursor: not one of this list")
		}
		all = all[at+1:]
	}
	if len(all) > limit {
		all, list.Next = all[:limit], all[limit-1].ID
	}
	for _, r := range all {
		list.Items = append(list.Items, r.Invite)
	}
	return list, nil
}

// mayManage refuses who may not see and revoke the invitations of a group.
func (s *Service) mayManage(ctx context.Context, by chat.Caller, group string) error {
	if err := chat.CheckGroup(by, group); err != nil {
		return err
	}
	info, err := s.core.Info(ctx, by.User, group)
	switch {
	case err != nil:
		return err
	case !info.Sees(by):
		return chat.ErrNotFound
	case !by.Admin && !info.Role.Manages():
		return chat.ErrManagersOnly
	}
	return nil
}

// Revoke ends an invitation, for those who may list it. ErrNotFound for all others.
func (s *Service) Revoke(ctx context.Context, by chat.Caller, id string) error {
	if err := chat.CheckCaller(by); err != nil {
		return err
	}
	n, ok := route(id)
	if !ok {
		return s.revokeOfServer(ctx, by, id)
	}
	group, err := s.store.InvitedTo(ctx, n, id)
	if err != nil {
		return chat.AsError(err)
	}
	if err := s.mayManage(ctx, by, group); err != nil {
		if code := chat.CodeOf(err); code == chat.CodeForbidden || code == chat.CodeNotFound {
			return ErrNotFound // that it exists is for managers to know
		}
		return err
	}
	return chat.AsError(s.store.RevokeInvite(ctx, by, group, id))
}

// Check tells what a code is for, before it is used. ErrNotFound, ErrGone.
func (s *Service) Check(ctx context.Context, code string) (Shown, error) {
	l, err := s.look(ctx, code)
	if err != nil {
		return Shown{}, err
	}
	if !l.Open(s.opt.Now()) || !l.Manages {
		return Shown{}, ErrGone
	}
	shown := Shown{GroupName: l.GroupName, Members: l.Members}
	if chat.ValidUserID(l.CreatedBy) {
		shown.FromName = cmp.Or(s.opt.Name(ctx, l.CreatedBy), l.CreatedBy)
	}
	return shown, nil
}

// look reads the invitation of a code.
func (s *Service) look(ctx context.Context, code string) (l Look, err error) {
	id, ok := idOf(code)
	if !ok {
		return l, ErrNotFound
	}
	if n, ofGroup := route(id); ofGroup {
		group, err := s.store.InvitedTo(ctx, n, id)
		if err == nil {
			l, err = s.store.LookInvite(ctx, group, id)
		}
		if err != nil {
			return l, chat.AsError(err)
		}
		l.Manages = l.Manages && s.holds(l.Record)
	} else {
		if l.Record, err = s.ofServer(ctx, id); err != nil {
			return l, err
		}
		l.Manages = s.holds(l.Record)
	}
	if !l.is(code) {
		return l, ErrNotFound
	}
	return l, nil
}

// holds tells whether the key that made r may still do that.
func (s *Service) holds(r Record) bool {
	key, ok := strings.CutPrefix(r.CreatedBy, "key:")
	group := ""
	if r.Group != nil {
		group = *r.Group
	}
	return !ok || s.opt.Holds(key, group)
}

// Accept makes the caller a member of the group of a code, and returns the group. Who is a member already costs no use. An invitation
// without a group is for those who register: ErrNotFound.
func (s *Service) Accept(ctx context.Context, by chat.Caller, code string) (chat.Group, error) {
	if err := chat.CheckCaller(by); err != nil {
		return chat.Group{}, err
	}
	l, err := s.look(ctx, code)
	if err != nil {
		return chat.Group{}, err
	}
	if l.Group == nil {
		return chat.Group{}, chat.Errorf(chat.CodeNotFound, "the invitation is to register, not to join a group")
	}
	if !by.Reaches(*l.Group) {
		return chat.Group{}, chat.ErrReach
	}
	if err := s.join(ctx, by, l); err != nil {
		return chat.Group{}, err
	}
	return s.core.Group(ctx, by, *l.Group)
}

func (s *Service) join(ctx context.Context, by chat.Caller, l Look) error {
	info, err := s.core.Info(ctx, by.User, *l.Group)
	if err != nil || info.Role != "" {
		return err // a repeat
	}
	if !s.holds(l.Record) {
		return ErrGone
	}
	return s.core.Admit(ctx, by, *l.Group, by.User, func(m chat.Membership) error {
		m.Role = *l.Role
		return s.store.AcceptInvite(ctx, m, l.ID, l.Hash)
	})
}

// Redeem uses a code for a user who registers with it, once however often it is repeated, and returns the group that they joined by it;
// empty: there is none. ErrNotFound, ErrGone: nothing was done.
func (s *Service) Redeem(ctx context.Context, code, user string) (group string, err error) {
	l, err := s.look(ctx, code)
	if err != nil {
		return "", err
	}
	if l.Group == nil {
		return "", s.redeemOfServer(ctx, l.Record, user)
	}
	return *l.Group, s.join(ctx, chat.Caller{User: user}, l)
}
