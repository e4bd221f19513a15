package profiles

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/chatd/chatd/chat"
)

// filledMax is how many users a node remembers in each of two generations, whose profile is as their token says.
const filledMax = 20_000

// Claims are what a token says of its user; what is empty it does not say.
type Claims struct {
	Name, Picture string
	IssuedS       int64 // of the token, Unix seconds; 0: it does not say
}

// Fill makes the profile of a user as a token says, where that differs: one write then, and otherwise, for what the node remembers, not even a read. What
// an operator has set stays, and so does what a newer token said. Names lose what no name may have, and pictures that are none are left out.
func (s *Service) Fill(ctx context.Context, user string, c Claims) {
	c.Name, c.Picture = claimedName(c.Name), claimedPicture(c.Picture)
	if c.Name == "" && c.Picture == "" {
		return
	}
	if known, ok := s.filled.Get(user); ok && known == c {
		return
	}
	err := s.alter(ctx, user, func(before Stored) (Stored, error) { return before.claimed(c) })
	if err != nil {
		s.opt.Log.WarnContext(ctx, "a profile could not be filled from a token; the next call tries again", "user", user, "error", err)
		return
	}
	s.filled.Put(user, c)
}

// Introduce names a user as if by their own change, but leaves a name that an operator has set.
func (s *Service) Introduce(ctx context.Context, user, name string) error {
	value, err := json.Marshal(name)
	if err != nil {
		return err
	}
	err = s.alter(ctx, user, func(before Stored) (Stored, error) { return before.changed(Change{Name: value}, false, s.opt.Now()) })
	if errors.Is(err, chat.ErrForbidden) {
		return nil
	}
	return chat.AsError(err)
}

// alter changes the profile of a user, once more where it meets another change.
func (s *Service) alter(ctx context.Context, user string, change func(Stored) (Stored, error)) error {
	for try := 1; ; try++ {
		found, err := s.store.ReadProfiles(ctx, []string{user})
		if err != nil {
			return err
		}
		after, err := change(found[0])
		if err != nil || after == found[0] {
			return err
		}
		_, errs, err := s.putAll(ctx, []Write{{User: user, Stored: after}})
		if err != nil {
			return err
		}
		if errors.Is(errs[0], chat.ErrConflict) && try < writeTries {
			continue
		}
		if errs[0] != nil {
			return errs[0]
		}
		return s.publish(ctx, []string{user})
	}
}

// claimed is what is stored once a token was seen.
func (s Stored) claimed(c Claims) (Stored, error) {
	r, err := s.read()
	if err != nil || c.IssuedS < r.ClaimedS {
		return s, err
	}
	before := r
	if c.Name != "" && !slices.Contains(r.Pinned, fieldName) {
		r.Name = c.Name
	}
	if c.Picture != "" && !slices.Contains(r.Pinned, fieldPicture) {
		r.Picture = c.Picture
	}
	if r.Name == before.Name && r.Picture == before.Picture {
		return s, nil
	}
	r.ClaimedS, r.Shown = c.IssuedS, true
	return s.with(r)
}

// claimedName is a name as a token has it, without what names must not have; empty: none is left.
func claimedName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(norm.NFC.String(strings.TrimSpace(name))); len(runes) > nameMax {
		name = string(runes[:nameMax])
	}
	name, err := CheckName(name)
	if err != nil {
		return ""
	}
	return name
}

func claimedPicture(picture string) string {
	if checkPicture(picture) != nil {
		return ""
	}
	return picture
}
