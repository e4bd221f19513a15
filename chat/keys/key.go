// Package keys is the credentials of programs: what a key may do, for whom, in which groups and from where. A key stands where
// a token stands, and every node knows all of them (package table), so verifying one costs no command.
package keys

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

// Scope names what a key may do.
type Scope string

// The scopes. Send and Read are for keys that act as users: to write, and to read.
const (
	Groups   Scope = "groups"   // create and manage every group
	Users    Scope = "users"    // profiles, revocation, sessions
	Send     Scope = "send"     //
	Read     Scope = "read"     //
	Moderate Scope = "moderate" // reports, reviews, words
	Announce Scope = "announce" // announcements
	Events   Scope = "events"   // webhooks, hooks, readers
	Tasks    Scope = "tasks"    // background work
	Ops      Scope = "ops"      // doctor, erasure, hold, metrics, settings
	Keys     Scope = "keys"     // keys that may do no more than this one
)

var allScopes = []Scope{Groups, Users, Send, Read, Moderate, Announce, Events, Tasks, Ops, Keys}

// Bounds of keys.
const (
	keysMax     = 1000 // in a store: every node has them in memory
	patternsMax = 100  // of users, groups and networks in one key
	nameMax     = 64   // characters
	// OverlapMax is how long a replaced secret can hold, and OverlapDefault how long it does unless a rotation says otherwise.
	OverlapMax = 30 * 24 * time.Hour
	// OverlapDefault is how long a replaced secret holds unless a rotation says otherwise.
	OverlapDefault = 24 * time.Hour
)

// As is for whom a key may act: for any user, or for those with some ids.
type As struct {
	Any   bool
	Users []string // ids, and beginnings of ids with a star behind them
}

// MarshalJSON writes "any" or the list.
func (a As) MarshalJSON() ([]byte, error) {
	if a.Any {
		return []byte(`"any"`), nil
	}
	return json.Marshal(a.Users)
}

// UnmarshalJSON reads "any" or a list.
func (a *As) UnmarshalJSON(b []byte) error {
	*a = As{}
	if bytes.Equal(b, []byte(`"any"`)) {
		a.Any = true
		return nil
	}
	if json.Unmarshal(b, &a.Users) != nil || a.Users == nil {
		return chat.Invalid(`as: want "any" or a list of users`)
	}
	return nil
}

// Draft is what is asked for of a key, and can be changed.
type Draft struct {
	Name      string     `json:"name"`
	Scopes    []Scope    `json:"scopes"`
	Rate      *string    `json:"rate"`       // its own limit, in the form of CHATD_RATE_USER; nil: none
	As        *As        `json:"as"`         // nil: it acts for nobody
	Groups    []string   `json:"groups"`     // ids, and beginnings with a star, that bound every scope; nil: all groups
	From      []string   `json:"from"`       // networks in CIDR notation that it may be used from; nil: all
	ExpiresAt *chat.Time `json:"expires_at"` // nil: never
}

// Key is a key as it is stored. Of its secrets only hashes are.
type Key struct {
	ID string `json:"-"`
	Draft
	CreatedAt chat.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"` // a user, or key:<id>
	Secrets   []Secret  `json:"secrets"`    // the newest first

	from []netip.Prefix // From, parsed
}

// Secret is the SHA-256 of a secret, in hexadecimal, and until when it holds; nil: as long as the key.
type Secret struct {
	SHA256 string     `json:"sha256"`
	Until  *chat.Time `json:"until,omitempty"`
}

// View is a key as callers see it. Key is in the answers alone that made its secret.
type View struct {
	ID string `json:"id"`
	Draft
	CreatedAt  chat.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by"`
	LastUsedAt *chat.Time `json:"last_used_at"` // may lag by a minute, but for the first use
	Key        string     `json:"key,omitempty"`
}

// Name is how entries and records name the key as an author.
func (k *Key) Name() string { return "key:" + k.ID }

// Has tells whether the key has a scope.
func (k *Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// ActsFor tells whether the key may act for a user.
func (k *Key) ActsFor(user string) bool {
	return k.As != nil && (k.As.Any || matches(k.As.Users, user))
}

// InGroup tells whether the key may do anything in a group.
func (k *Key) InGroup(group string) bool {
	return k.Draft.Groups == nil || matches(k.Draft.Groups, group)
}

// Bound tells whether the key may not reach every group.
func (k *Key) Bound() bool { return k.Draft.Groups != nil }

// ComesFrom tells whether the key may be used from an address.
func (k *Key) ComesFrom(addr netip.Addr) bool {
	return k.From == nil || slices.ContainsFunc(k.from, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// Ends is when a secret of the key stops to hold; ok is false if there is no end.
func (k *Key) ends(s Secret) (at time.Time, ok bool) {
	for _, end := range []*chat.Time{k.ExpiresAt, s.Until} {
		if end != nil && (!ok || end.Before(at)) {
			at, ok = end.Time, true
		}
	}
	return at, ok
}

// matches tells whether an id is one of the patterns, or begins as one that ends in a star.
func matches(patterns []string, id string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		begin, open := strings.CutSuffix(p, "*")
		return id == begin || open && strings.HasPrefix(id, begin)
	})
}

// covers tells whether all that the patterns match is matched by the wider ones.
func covers(wider, patterns []string) bool {
	for _, p := range patterns {
		if _, open := strings.CutSuffix(p, "*"); open {
			// Only a wider beginning covers a beginning.
			if !slices.ContainsFunc(wider, func(w string) bool {
				begin, wide := strings.CutSuffix(w, "*")
				return wide && strings.HasPrefix(p, begin)
			}) {
				return false
			}
		} else if !matches(wider, p) {
			return false
		}
	}
	return true
}

// within refuses a key that may do more than its maker, another key; nil is an operator, who may make any.
func (d Draft) within(maker *Key) error {
	beyond := func(what string) error {
		return chat.Errorf(chat.CodeForbidden, "%s: a key may give no more than it has itself", what)
	}
	if maker == nil {
		return nil
	}
	for _, s := range d.Scopes {
		if !maker.Has(s) {
			return beyond("scopes")
		}
	}
	switch m := maker.Draft; {
	case d.As != nil && (m.As == nil || !m.As.Any && (d.As.Any || !covers(m.As.Users, d.As.Users))):
		return beyond("as")
	case m.Groups != nil && (d.Groups == nil || !covers(m.Groups, d.Groups)):
		return beyond("groups")
	case m.From != nil && !withinNetworks(maker.from, d.From):
		return beyond("from")
	case m.ExpiresAt != nil && (d.ExpiresAt == nil || d.ExpiresAt.After(m.ExpiresAt.Time)):
		return beyond("expires_at")
	}
	return nil
}

func withinNetworks(wider []netip.Prefix, from []string) bool {
	parsed, err := parseNetworks(from)
	return err == nil && from != nil && !slices.ContainsFunc(parsed, func(p netip.Prefix) bool {
		return !slices.ContainsFunc(wider, func(w netip.Prefix) bool { return w.Bits() <= p.Bits() && w.Contains(p.Addr()) })
	})
}

func parseNetworks(from []string) ([]netip.Prefix, error) {
	parsed := make([]netip.Prefix, len(from))
	for i, text := range from {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, single := netip.ParseAddr(text)
			if single != nil {
				return nil, chat.Invalid("from[%d]: want a network in CIDR notation, such as 10.0.0.0/8", i)
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		parsed[i] = p.Masked()
	}
	return parsed, nil
}

// check refuses what no key can be.
func (d *Draft) check(rate func(string) error, now time.Time) error {
	name, err := chat.Line("name", strings.TrimSpace(d.Name), nameMax)
	if err != nil {
		return err
	}
	if d.Name = name; name == "" {
		return chat.Invalid("name: missing")
	}
	if len(d.Scopes) == 0 {
		return chat.Invalid("scopes: want at least one of %s", scopeList())
	}
	for i, s := range d.Scopes {
		if !slices.Contains(allScopes, s) {
			return chat.Invalid("scopes[%d]: want one of %s", i, scopeList())
		}
	}
	d.Scopes = slices.Compact(slices.Sorted(slices.Values(d.Scopes)))
	if d.Rate != nil {
		if err := rate(*d.Rate); err != nil {
			return chat.Invalid("rate: %s", err.Error())
		}
	}
	if d.As != nil && !d.As.Any {
		if err := checkPatterns("as", d.As.Users, chat.ValidUserID, chat.WantedUserID); err != nil {
			return err
		}
	}
	if d.Groups != nil {
		if err := checkPatterns("groups", d.Groups, chat.ValidGroupID, chat.WantedGroupID); err != nil {
			return err
		}
	}
	if len(d.From) > patternsMax || d.From != nil && len(d.From) == 0 {
		return chat.Errorf(chat.CodeOutOfRange, "from: must be 1 to %d networks", patternsMax)
	}
	if _, err := parseNetworks(d.From); err != nil {
		return err
	}
	if d.ExpiresAt != nil && !d.ExpiresAt.After(now) {
		return chat.Errorf(chat.CodeOutOfRange, "expires_at: must be in the future")
	}
	return nil
}

func checkPatterns(field string, list []string, valid func(string) bool, want string) error {
	if len(list) == 0 || len(list) > patternsMax {
		return chat.Errorf(chat.CodeOutOfRange, "%s: must be 1 to %d ids or beginnings of ids", field, patternsMax)
	}
	for i, p := range list {
		begin, open := strings.CutSuffix(p, "*")
		if !(valid(begin) || open && (begin == "" || valid(begin+"x"))) {
			return chat.Invalid("%s[%d]: want %s, or the beginning of one and a star", field, i, want)
		}
	}
	return nil
}

func scopeList() string {
	names := make([]string, len(allScopes))
	for i, s := range allScopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
