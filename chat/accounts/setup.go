package accounts

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/users"
)

// What the server knows about its accounts as a whole: the only row of a table.
const (
	stateName = "accounts"
	stateRow  = "state"
)

// state is that row.
type state struct {
	Any      bool   `json:"any,omitempty"`      // there is or was an account
	Operator string `json:"operator,omitempty"` // who was the first operator; empty: there is none, and the setup link makes one
	Salt     string `json:"salt,omitempty"`     // of the setup code, which nothing else is kept of
}

func decodeState(_, text string) (st state, err error) {
	err = json.Unmarshal([]byte(text), &st)
	return st, err
}

// State is the table of what the server knows about its accounts.
func (s *Service) State() *table.Table[state] { return s.state }

func (s *Service) known() state {
	st, _ := s.state.Get(stateRow)
	return st
}

func (s *Service) changeState(ctx context.Context, change func(*state)) error {
	_, err := s.state.Change(ctx, s.store, stateRow, func(text string) (string, error) {
		var st state
		if text != "" {
			var err error
			if st, err = decodeState(stateRow, text); err != nil {
				return "", err
			}
		}
		change(&st)
		changed, err := json.Marshal(st)
		return string(changed), err
	})
	return chat.AsError(err)
}

// Any tells whether there is or was an account.
func (s *Service) Any() bool { return s.known().Any }

// hasAny remembers that there is an account.
func (s *Service) hasAny(ctx context.Context) error {
	if s.Any() {
		return nil
	}
	return s.changeState(ctx, func(st *state) { st.Any = true })
}

// hasOperator remembers that there is an operator, which voids the setup link.
func (s *Service) hasOperator(ctx context.Context, user string) error {
	return s.changeState(ctx, func(st *state) {
		if st.Operator == "" {
			st.Operator = user
		}
	})
}

// isOperator tells whether the account of a user is an operator's, or is about to become one.
func (s *Service) isOperator(user string, a account) bool {
	return s.opt.Users.Operator(user) || a.Admin || a.Setup && s.known().Operator == user
}

// Prepare makes the setup code, unless there is an operator. A node calls it when it starts.
func (s *Service) Prepare(ctx context.Context) error {
	return s.changeState(ctx, func(st *state) {
		if st.Operator == "" && st.Salt == "" {
			st.Salt = rand.Text()
		}
	})
}

// SetupCode is what the setup link holds: the same on all nodes, until it is redeemed. Empty: there is an operator.
func (s *Service) SetupCode() string {
	st := s.known()
	if st.Operator != "" || st.Salt == "" {
		return ""
	}
	mac := hmac.New(sha256.New, s.keys[0])
	_, _ = mac.Write([]byte("setup\n" + st.Salt))
	return encode(mac.Sum(nil)[:16])
}

var errCode = chat.Errorf(chat.CodeUnauthenticated, "code: spent, expired or unknown")

// Code is a code that signs in without a password.
type Code struct {
	Code    string
	Expires time.Time
}

func newCode(user string, secret []byte, expires time.Time) Code {
	return Code{Code: encode([]byte(user)) + "." + encode(secret), Expires: expires.Truncate(time.Second)}
}

// MakeCode makes a code of a kind for a user, who need not have an account yet. Those of operators are for operators alone:
// anybody else would become one.
func (s *Service) MakeCode(ctx context.Context, by chat.Caller, user, kind string, operator bool) (c Code, err error) {
	ttl, action := resetTTL, audit.AccountReset
	switch kind {
	case CodeReset:
	case CodeLink:
		ttl, action = linkTTL, audit.AccountLink
	default:
		return c, chat.Invalid("kind: want reset or link")
	}
	if err := chat.CheckUserID("user", user); err != nil {
		return c, err
	}
	secret := random(16)
	hash := sha256.Sum256(secret)
	c = newCode(user, secret, s.opt.Now().Add(ttl))
	if err := s.hasAny(ctx); err != nil {
		return c, err
	}
	note := audit.Note(by, action, "", user, nil)
	return c, s.change(ctx, user, &note, func(a *account, there bool) error {
		if !operator && s.isOperator(user, *a) {
			return chat.Errorf(chat.CodeForbidden, "user: only operators (role admin) may do this for an operator")
		}
		if !there {
			a.CreatedMs = s.opt.Now().UnixMilli()
		}
		a.Codes = append(a.Codes, code{Hash: hash[:], Kind: kind, EndsS: c.Expires.Unix()})
		return nil
	})
}

// Redemption is a code with what it asks for.
type Redemption struct {
	Code     string
	User     string // of a setup code
	Password string // of a setup and a reset code
	Name     string // becomes the user's; empty: that stays
}

// Redeem signs in by a code, which is spent by it: a setup code makes the first operator, a reset code sets a new password and ends the
// other logins. What is refused spends nothing. Its error is unauthenticated for a code that holds no more.
func (s *Service) Redeem(ctx context.Context, r Redemption, from Client) (Pair, error) {
	name, secret, ofUser := strings.Cut(r.Code, ".")
	if !ofUser {
		return s.setup(ctx, r, from)
	}
	user, err := base64.RawURLEncoding.DecodeString(name)
	raw, secretErr := base64.RawURLEncoding.DecodeString(secret)
	if err != nil || secretErr != nil || !chat.ValidUserID(string(user)) {
		return Pair{}, errCode
	}
	return s.redeem(ctx, string(user), raw, r, from)
}

// find returns the index of a code that holds; -1: there is none.
func (a *account) find(secret []byte, now time.Time) int {
	hash := sha256.Sum256(secret)
	return slices.IndexFunc(a.Codes, func(c code) bool {
		return subtle.ConstantTimeCompare(c.Hash, hash[:]) == 1 && now.Unix() < c.EndsS
	})
}

func (s *Service) redeem(ctx context.Context, user string, secret []byte, r Redemption, from Client) (Pair, error) {
	a, _, err := s.account(ctx, user)
	if err != nil {
		return Pair{}, err
	}
	i := a.find(secret, s.opt.Now())
	switch {
	case i < 0:
		return Pair{}, errCode
	case s.opt.Users.Disabled(user):
		return Pair{}, users.ErrDisabled
	case r.User != "" && r.User != user:
		return Pair{}, chat.Invalid("user: the code is another user's")
	}
	hash, name := "", ""
	if r.Name != "" {
		if name, err = s.opt.CheckName(r.Name); err != nil {
			return Pair{}, err
		}
	}
	if a.Codes[i].Kind == CodeReset {
		made, err := s.draft(ctx, user, r.Password, "")
		if err != nil {
			return Pair{}, err
		}
		hash = made.Password
		if err := s.end(ctx, user, a.Logins); err != nil {
			return Pair{}, err
		}
	} else if r.Password != "" {
		return Pair{}, chat.Invalid("password: this code signs in without one")
	}
	var gone []login
	pair, err := s.signIn(ctx, user, from, func(a *account, _ bool) error {
		i := a.find(secret, s.opt.Now())
		if i < 0 {
			return errCode // somebody was faster
		}
		a.Codes = slices.Delete(a.Codes, i, i+1)
		if hash != "" {
			gone, a.Logins, a.Password = a.Logins, nil, hash
		}
		a.Name = cmp.Or(name, a.Name)
		return nil
	})
	if err != nil {
		return Pair{}, err
	}
	return pair, s.end(ctx, user, gone)
}

// setup makes the first operator. The account comes first, which is an operator's only once the server's state names it: of any number of
// callers one gets it, and after a crash between the two steps the code still works, for the same name with the same password too.
func (s *Service) setup(ctx context.Context, r Redemption, from Client) (p Pair, err error) {
	code := s.SetupCode()
	if code == "" || subtle.ConstantTimeCompare([]byte(code), []byte(r.Code)) != 1 {
		return p, errCode
	}
	if err := chat.CheckUserID("user", r.User); err != nil {
		return p, err
	}
	a, err := s.draft(ctx, r.User, r.Password, r.Name)
	if err != nil {
		return p, err
	}
	a.Setup = true
	err = s.create(ctx, r.User, a, false, audit.Entry{})
	if errors.Is(err, chat.ErrExists) {
		begun, _, readErr := s.account(ctx, r.User)
		if readErr != nil || !begun.Setup {
			return p, cmp.Or(readErr, err)
		}
		if _, proveErr := s.prove(ctx, r.User, r.Password, from.Address); proveErr != nil {
			return p, proveErr
		}
		err = nil
	}
	if err == nil {
		err = s.hasOperator(ctx, r.User)
	}
	if err != nil {
		return p, err
	}
	if s.known().Operator != r.User { // somebody was faster
		return p, errCode
	}
	return s.signIn(ctx, r.User, from, func(*account, bool) error { return nil })
}
