package profiles

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/fold"
)

// Bounds of finding users.
const (
	findDefault = 20  // users in a page
	findMax     = 100 // and at most
	queryMax    = 64  // characters
	findLooks   = 500 // entries of the index that one call looks at: a page may be short, and more follow
)

// Found is an entry of the index of names, or of the list of known users.
type Found struct {
	Word string // by which the user is found; the id where Bare
	User string
	Bare bool // it is of the list of known users
}

// Key orders entries; no two of the same list have the same.
func (f Found) Key() string { return f.Word + "\x00" + f.User }

// Find reads users whose id, or the name from one of its words on, begins with q, whatever its case and diacritics: those whom the directory shows to
// by, in the order of what matches. A page may be short, or empty, with more to come.
func (s *Service) Find(ctx context.Context, by chat.Caller, q string, limit int, cursor string) (list []View, next string, err error) {
	folded := fold.Fold(q)
	if n := utf8.RuneCountInString(q); folded == "" || n > queryMax {
		return nil, "", chat.Invalid("q: want 1 to %d characters", queryMax)
	}
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(after) > 0 && !strings.Contains(string(after), "\x00") {
		return nil, "", chat.Invalid("cursor: not one of a page before")
	}
	if limit <= 0 {
		limit = findDefault
	}
	limit = min(limit, findMax)
	if s.opt.Directory == DirectoryOff && !by.Admin {
		return nil, "", nil
	}
	last := string(after)
	for looked := 0; len(list) < limit && looked < findLooks; {
		found, err := s.store.FindUsers(ctx, folded, strings.TrimSpace(q), last, findMax)
		if err != nil {
			return nil, "", chat.AsError(err)
		}
		looked += len(found)
		views, err := s.shownOf(ctx, by, folded, found)
		if err != nil {
			return nil, "", err
		}
		for i, v := range views {
			if len(list) == limit {
				break
			}
			if last = found[i].Key(); v != nil {
				list = append(list, *v)
			}
		}
		if len(found) < findMax && (len(found) == 0 || last == found[len(found)-1].Key()) {
			return list, "", nil
		}
	}
	return list, base64.RawURLEncoding.EncodeToString([]byte(last)), nil
}

// shownOf are the users of entries, nil where by may not see the user or another entry stands for them.
func (s *Service) shownOf(ctx context.Context, by chat.Caller, folded string, found []Found) ([]*View, error) {
	shown := make([]*View, len(found))
	var ids []string
	for _, f := range found {
		if !slices.Contains(ids, f.User) {
			ids = append(ids, f.User)
		}
	}
	if len(ids) == 0 {
		return shown, nil
	}
	visible, err := s.visible(ctx, by, ids)
	if err != nil {
		return nil, chat.AsError(err)
	}
	views, err := s.views(ctx, by, visible)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		at := slices.IndexFunc(views, func(v View) bool { return v.User == f.User })
		if at < 0 {
			continue
		}
		v := views[at]
		words := wordsOf(v.User, v.Name)
		first := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, folded) })
		if f.Bare && v.Version == 0 || !f.Bare && first >= 0 && words[first] == f.Word {
			shown[i] = &v
		}
	}
	return shown, nil
}
