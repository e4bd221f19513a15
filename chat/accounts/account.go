// Package accounts is for users who sign in here, with a password: registering, signing in, the logins that come of it, and the
// codes with which somebody signs in without a password or chooses a new one. Who signs in gets an access token, which is a token
// like those of any issuer but names its login, and a refresh token for the next one.
//
// An account is one record in the store, replaced as a whole if it is still as it was read: nothing is ever half done in it.
// Logins that have ended are a small table on every node until their last access token has expired.
package accounts

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of an account and its tokens.
const (
	// AccessTTL is how long an access token holds.
	AccessTTL = 10 * time.Minute

	accessLeeway = time.Minute // for which nodes may still take a token that has expired, and their clocks differ
	refreshTTL   = 30 * 24 * time.Hour
	loginTTL     = 180 * 24 * time.Hour
	refreshGrace = 60 * time.Second // for which the refresh token before the newest works
	loginsMax    = 50               // the one used longest ago leaves
	codesMax     = 5                // the oldest leaves
	agentBytes   = 200

	resetTTL = 24 * time.Hour
	linkTTL  = 15 * time.Minute
)

// account is the record of a user.
type account struct {
	Password  string    `json:"password,omitempty"` // PHC string; empty: none is set
	Admin     bool      `json:"admin,omitempty"`    // about to become an operator
	Setup     bool      `json:"setup,omitempty"`    // made by the setup link: about to become an operator if the server's state says so
	Name      string    `json:"name,omitempty"`     // about to become that of the profile
	Pending   bool      `json:"pending,omitempty"`  // its invitation is about to be used: nobody signs in until then
	By        *Provider `json:"by,omitempty"`       // who vouches for the user; nil: nobody else
	CreatedMs int64     `json:"created_ms"`
	Logins    []login   `json:"logins,omitempty"`
	Codes     []code    `json:"codes,omitempty"`
}

// login is one signed-in device.
type login struct {
	ID       string `json:"id"`
	Hash     []byte `json:"hash"`  // of the newest refresh token's secret
	Count    int    `json:"count"` // how often it was refreshed
	CreatedS int64  `json:"created_s"`
	UsedS    int64  `json:"used_s"` // when the newest tokens were issued
	Address  string `json:"address,omitempty"`
	Agent    string `json:"agent,omitempty"`
}

// ends is when a login can no longer be refreshed.
func (l login) ends() time.Time {
	used, created := time.Unix(l.UsedS, 0).Add(refreshTTL), time.Unix(l.CreatedS, 0).Add(loginTTL)
	if created.Before(used) {
		return created
	}
	return used
}

// tokenUntil is until when some node may take the newest access token.
func (l login) tokenUntil() time.Time { return time.Unix(l.UsedS, 0).Add(AccessTTL + accessLeeway) }

// Kinds of codes.
const (
	CodeReset = "reset" // to choose a new password
	CodeLink  = "link"  // to sign in
)

// code signs in once, without a password.
type code struct {
	Hash  []byte `json:"hash"`
	Kind  string `json:"kind"`
	EndsS int64  `json:"ends_s"`
}

func decodeAccount(text string) (a account, err error) {
	err = json.Unmarshal([]byte(text), &a)
	return a, err
}

// CheckRecord refuses the text of an account that no chatd has written.
func CheckRecord(text string) error {
	_, err := decodeAccount(text)
	return err
}

func (a *account) encode() (string, error) {
	text, err := json.Marshal(a)
	return string(text), err
}

// login is the login of an id; nil: there is none.
func (a *account) login(id string) *login {
	for i := range a.Logins {
		if a.Logins[i].ID == id {
			return &a.Logins[i]
		}
	}
	return nil
}

// tidy drops what has ended, and the oldest of what is too much. It returns the logins that were dropped although they could still
// be refreshed.
func (a *account) tidy(now time.Time) (dropped []login) {
	a.Logins = slices.DeleteFunc(a.Logins, func(l login) bool { return now.After(l.ends()) })
	a.Codes = slices.DeleteFunc(a.Codes, func(c code) bool { return now.Unix() >= c.EndsS })
	for len(a.Logins) > loginsMax {
		oldest := 0
		for i, l := range a.Logins {
			if l.UsedS < a.Logins[oldest].UsedS {
				oldest = i
			}
		}
		dropped = append(dropped, a.Logins[oldest])
		a.Logins = slices.Delete(a.Logins, oldest, oldest+1)
	}
	if more := len(a.Codes) - codesMax; more > 0 {
		a.Codes = slices.Delete(a.Codes, 0, more)
	}
	return dropped
}

// Login is one signed-in device of a user, as the user sees it.
type Login struct {
	ID         string    `json:"id"`
	CreatedAt  chat.Time `json:"created_at"`
	LastUsedAt chat.Time `json:"last_used_at"`
	Address    string    `json:"address"`
	Agent      string    `json:"agent"`
	Current    bool      `json:"current"`
}

func (l login) view(current string) Login {
	return Login{ID: l.ID, CreatedAt: chat.TimeMs(l.CreatedS * 1000), LastUsedAt: chat.TimeMs(l.UsedS * 1000), Address: l.Address,
		Agent: l.Agent, Current: l.ID == current}
}

// Account is what operators see of an account.
type Account struct {
	User      string    `json:"user"`
	Role      string    `json:"role,omitempty"` // admin, or none
	CreatedAt chat.Time `json:"created_at"`
	Logins    int       `json:"logins"`
	Disabled  bool      `json:"disabled"`
	// LastSeenAt is when the user was last there. List does not know it: package profiles does. nil: nobody knows.
	LastSeenAt *chat.Time `json:"last_seen_at"`
}

// encode is how secrets stand in links.
func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
