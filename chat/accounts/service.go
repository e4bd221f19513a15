package accounts

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/users"
)

// Store is what accounts need from a store.
type Store interface {
	table.Rows
	// Account reads the record of a user; empty: there is none.
	Account(ctx context.Context, user string) (text string, err error)
	// PutAccount replaces the record of a user if it still is before, and puts the user on the list of known ones; an empty text
	// stands for none. ErrConflict: it is another by now. ErrExists: fresh asks for a user whom nobody knows, and this one is known.
	// The audit gets note; nothing for an empty one.
	PutAccount(ctx context.Context, user, before, after string, fresh bool, note audit.Entry) error
	// AccountsOf reads the records of users, in their order.
	AccountsOf(ctx context.Context, users []string) (texts []string, err error)
	// UsersFrom pages through everyone whom the server knows, behind a position; next is empty at the end.
	UsersFrom(ctx context.Context, after string, limit int) (users []string, next string, err error)
}

// Sign makes an access token of AccessTTL.
type Sign func(user, login string, issued time.Time) (token string, expires time.Time, err error)

// Options of a Service.
type Options struct {
	Registration Registration
	Secrets      [][]byte // of the server; the first counts, and the others are known still
	Sign         Sign
	Users        *users.Service
	Invitations  Invitations                                        // nil: there are none
	CheckName    func(name string) (string, error)                  // checks the name of a user, and returns it as it is kept
	Introduce    func(ctx context.Context, user, name string) error // names a user, unless that is not theirs to decide
	Flush        func(context.Context) error                        // has the users whom this node has just seen on the list of known ones
	Now          func() time.Time
	Log          *slog.Logger
}

// Service keeps accounts. It is safe for concurrent use.
type Service struct {
	store    Store
	opt      Options
	keys     [][]byte // derived from the secrets
	hasher   *hasher
	throttle *throttle
	state    *table.Table[state]
	*endings
}

// Client is where a sign-in comes from.
type Client struct {
	Address netip.Addr
	Agent   string
}

// Pair is what a sign-in and a refresh give.
type Pair struct {
	User    string
	Token   string // the access token
	Expires time.Time
	Refresh string
	Until   time.Time // when the refresh token ends unless it is used before
}

// New makes a Service. Its tables have to be followed.
func New(store Store, opt Options) *Service {
	s := &Service{store: store, opt: opt, hasher: newHasher(), throttle: newThrottle(opt.Now), endings: newEndings(store, opt.Now, opt.Log)}
	for _, secret := range opt.Secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = mac.Write([]byte("chatd accounts"))
		s.keys = append(s.keys, mac.Sum(nil))
	}
	s.state = table.New(stateName, 1, decodeState, nil, opt.Log)
	return s
}

var (
	errWrong    = chat.Errorf(chat.CodeUnauthenticated, "wrong user or password")
	errRefresh  = chat.Errorf(chat.CodeUnauthenticated, "the refresh token is not valid any more: sign in again")
	errExists   = chat.Errorf(chat.CodeExists, "user: this name is taken")
	errInvite   = chat.Errorf(chat.CodeForbidden, "code: registering here takes an invitation")
	errClosed   = chat.Errorf(chat.CodeForbidden, "nobody can register here")
	errNoInvite = chat.Errorf(chat.CodeNotFound, "code: there is no such invitation")
)

// changeTries is how often a change is tried that meets others: each of those has succeeded.
const changeTries = 100

// account reads the record of a user. without one it is empty.
func (s *Service) account(ctx context.Context, user string) (a account, text string, err error) {
	if text, err = s.store.Account(ctx, user); err != nil || text == "" {
		return a, text, chat.AsError(err)
	}
	if a, err = decodeAccount(text); err != nil {
		return a, text, chat.AsError(fmt.Errorf("the account of %s cannot be read: %w", user, err))
	}
	return a, text, nil
}

// change changes the record of a user, which change gets as it is, empty where there is none. It is called again where another change
// came between; what it leaves as it is is not written. The audit gets note, as it stands after change; nil: nothing.
func (s *Service) change(ctx context.Context, user string, note *audit.Entry, change func(a *account, there bool) error) error {
	for try := 1; ; try++ {
		a, before, err := s.account(ctx, user)
		if err != nil {
			return err
		}
		if err := change(&a, before != ""); err != nil {
			return err
		}
		dropped := a.tidy(s.opt.Now())
		after, err := a.encode()
		if err != nil {
			return chat.AsError(err)
		}
		if after == before {
			return nil
		}
		err = s.store.PutAccount(ctx, user, before, after, false, *cmp.Or(note, &audit.Entry{}))
		if err == nil {
			return s.end(ctx, user, dropped)
		}
		if try == changeTries || !errors.Is(err, chat.ErrConflict) {
			return chat.AsError(err)
		}
	}
}

// Login signs a user in by the password. Its error is unauthenticated for a wrong one and for an unknown user alike, forbidden for a
// disabled user with the right one.
func (s *Service) Login(ctx context.Context, user, password string, from Client) (p Pair, err error) {
	if err := chat.CheckUserID("user", user); err != nil {
		return p, err
	}
	proven, err := s.prove(ctx, user, password, from.Address)
	switch {
	case err != nil:
		return p, err
	case s.opt.Users.Disabled(user):
		return p, users.ErrDisabled
	}
	rehashed := ""
	if !current(proven) {
		if rehashed, err = s.hasher.hash(ctx, password); err != nil {
			return p, err
		}
	}
	return s.signIn(ctx, user, from, func(a *account, _ bool) error {
		if a.Password != proven { // it was changed since
			if right, err := s.hasher.matches(ctx, a.Password, password); err != nil || !right {
				return cmp.Or(chat.AsError(err), error(errWrong))
			}
			return nil
		}
		if rehashed != "" {
			a.Password = rehashed
		}
		return nil
	})
}

// prove returns the hash of the password of a user if that is the password, unless too many were wrong lately. errWrong: it is not.
func (s *Service) prove(ctx context.Context, user, password string, from netip.Addr) (hash string, err error) {
	right, err := s.throttle.guess(ctx, user, from, func() (bool, error) {
		a, _, err := s.account(ctx, user)
		if err != nil {
			return false, err
		}
		if hash = a.Password; a.Pending {
			hash = ""
		}
		right, err := s.hasher.matches(ctx, hash, password)
		return right, chat.AsError(err)
	})
	if err == nil && !right {
		err = errWrong
	}
	return hash, err
}

// signIn adds a login to an account, together with what also changes.
func (s *Service) signIn(ctx context.Context, user string, from Client, also func(a *account, there bool) error) (Pair, error) {
	token := refreshToken{user: user, login: rand.Text(), secret: random(sha256.Size)}
	var a account
	err := s.change(ctx, user, nil, func(now *account, there bool) error {
		if err := also(now, there); err != nil {
			return err
		}
		if err := s.settle(ctx, chat.Caller{User: user}, user, now); err != nil {
			return err
		}
		issued := s.issueS(user)
		now.Logins = append(now.Logins, login{ID: token.login, Hash: token.hash(), CreatedS: issued, UsedS: issued,
			Address: from.Address.String(), Agent: from.Agent[:min(len(from.Agent), agentBytes)]})
		a = *now
		return nil
	})
	if err != nil {
		return Pair{}, err
	}
	return s.pair(*a.login(token.login), token)
}

// issueS is when a token for a user may say that it was issued, Unix seconds: now, but not within the second that was revoked.
func (s *Service) issueS(user string) int64 {
	d, _ := s.opt.Users.Users().Get(user)
	return max(s.opt.Now().Unix(), d.RevokedS+1)
}

// pair is the newest pair of a login: the same each time.
func (s *Service) pair(l login, token refreshToken) (Pair, error) {
	access, expires, err := s.opt.Sign(token.user, l.ID, time.Unix(l.UsedS, 0))
	return Pair{User: token.user, Token: access, Expires: expires, Refresh: token.String(), Until: l.ends()}, chat.AsError(err)
}

// Refresh gives a new pair for a refresh token. The one before the newest works for a minute more, and gives the newest pair again;
// any older one shows that it was stolen, and ends the login. Its error is unauthenticated for what holds no more, and forbidden for a
// disabled user.
func (s *Service) Refresh(ctx context.Context, refresh string) (p Pair, err error) {
	given, ok := parseRefresh(refresh)
	if !ok {
		return p, errRefresh
	}
	var l login
	var newest refreshToken
	stolen := false
	err = s.change(ctx, given.user, nil, func(now *account, _ bool) error {
		found, err := s.holding(given, now)
		if err != nil {
			return err
		}
		stolen = false
		switch at, known := s.newest(given, *found); {
		case !known:
			return errRefresh
		case given.count == found.Count:
			newest = given.next(s.keys[0])
			found.Count, found.Hash, found.UsedS = newest.count, newest.hash(), s.issueS(given.user)
		case given.count == found.Count-1 && s.opt.Now().Unix() < found.UsedS+int64(refreshGrace/time.Second):
			newest = at
		default:
			stolen = true
			return nil
		}
		l = *found
		return nil
	})
	switch {
	case err != nil:
		return p, err
	case stolen:
		s.opt.Log.WarnContext(ctx, "a refresh token was used again: the login is ended", "user", given.user, "login", given.login)
		return p, errors.Join(s.endLogins(ctx, given.user, audit.Entry{}, func(l login) bool { return l.ID == given.login }, nil), errRefresh)
	}
	return s.pair(l, newest)
}

// holding finds the login of a refresh token, if that still holds.
func (s *Service) holding(given refreshToken, a *account) (*login, error) {
	l := a.login(given.login)
	d, _ := s.opt.Users.Users().Get(given.user)
	switch {
	case l == nil, s.Ended(given.login), s.opt.Now().After(l.ends()), given.count > l.Count, d.RevokedS != 0 && l.UsedS <= d.RevokedS:
		return nil, errRefresh
	case d.Disabled:
		return nil, users.ErrDisabled
	}
	return l, nil
}

// newest derives the newest refresh token of a login from one that it has had. known is false for any other.
func (s *Service) newest(given refreshToken, l login) (newest refreshToken, known bool) {
	for _, key := range s.keys {
		if newest = given.at(l.Count, key); newest.is(l.Hash) {
			return newest, true
		}
	}
	return newest, false
}

// endLogins ends those logins of a user that ends picks, and changes the account as also says; nil: nothing else. The audit gets note. The tokens are void
// first: a login that a crash leaves in the record cannot be refreshed either.
func (s *Service) endLogins(ctx context.Context, user string, note audit.Entry, ends func(login) bool, also func(*account) error) error {
	a, text, err := s.account(ctx, user)
	if err != nil || text == "" {
		return err
	}
	if err := s.end(ctx, user, slices.DeleteFunc(slices.Clone(a.Logins), func(l login) bool { return !ends(l) })); err != nil {
		return err
	}
	var gone []login
	var reported audit.Entry
	err = s.change(ctx, user, &reported, func(a *account, there bool) error {
		if !there {
			return nil
		}
		gone = nil
		a.Logins = slices.DeleteFunc(a.Logins, func(l login) bool {
			if ends(l) {
				gone = append(gone, l)
			}
			return ends(l)
		})
		if reported = (audit.Entry{}); len(gone) > 0 { // what else is dropped had ended by itself
			reported = note
		}
		if also == nil {
			return nil
		}
		return also(a)
	})
	if err != nil {
		return err
	}
	return s.end(ctx, user, gone) // those that came between
}

// Logout ends the login of a refresh token. What holds no more is done already.
func (s *Service) Logout(ctx context.Context, refresh string) error {
	given, ok := parseRefresh(refresh)
	if !ok {
		return nil
	}
	a, _, err := s.account(ctx, given.user)
	if err != nil {
		return err
	}
	l := a.login(given.login)
	if l == nil || given.count > l.Count {
		return nil
	}
	if _, known := s.newest(given, *l); !known {
		return nil
	}
	return s.EndLogin(ctx, chat.Caller{User: given.user}, given.user, given.login)
}

// EndLogin ends a login of a user. ErrNotFound.
func (s *Service) EndLogin(ctx context.Context, by chat.Caller, user, id string) error {
	found, note := false, audit.Entry{}
	if by.User != user {
		note = audit.Note(by, audit.AccountLogout, "", user, nil)
	}
	err := s.endLogins(ctx, user, note, func(l login) bool { found = found || l.ID == id; return l.ID == id }, nil)
	if err == nil && !found {
		return chat.Errorf(chat.CodeNotFound, "there is no such login")
	}
	return err
}

// EndOthers ends all logins of a user but one; "": all.
func (s *Service) EndOthers(ctx context.Context, user, but string) error {
	return s.endLogins(ctx, user, audit.Entry{}, func(l login) bool { return l.ID != but }, nil)
}

// Logins lists the logins of a user that hold, the last used first.
func (s *Service) Logins(ctx context.Context, user, current string) ([]Login, error) {
	a, _, err := s.account(ctx, user)
	if err != nil {
		return nil, err
	}
	d, _ := s.opt.Users.Users().Get(user)
	list := []Login{}
	for _, l := range a.Logins {
		if s.opt.Now().Before(l.ends()) && !s.Ended(l.ID) && (d.RevokedS == 0 || l.UsedS > d.RevokedS) {
			list = append(list, l.view(current))
		}
	}
	slices.SortStableFunc(list, func(a, b Login) int { return b.LastUsedAt.Compare(a.LastUsedAt.Time) })
	return list, nil
}

// ChangePassword changes the password of a user, and ends all logins but current. A wrong old one is forbidden.
func (s *Service) ChangePassword(ctx context.Context, user, old, password, current string, from netip.Addr) error {
	proven, err := s.prove(ctx, user, old, from)
	if errors.Is(err, errWrong) {
		return errOld
	}
	if err != nil {
		return err
	}
	a, err := s.draft(ctx, user, password, "")
	if err != nil {
		return err
	}
	return s.endLogins(ctx, user, audit.Entry{}, func(l login) bool { return l.ID != current }, func(now *account) error {
		if now.Password != proven { // somebody was faster
			return errOld
		}
		now.Password = a.Password
		return nil
	})
}

var errOld = chat.Errorf(chat.CodeForbidden, "old: wrong password")
