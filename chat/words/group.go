package words

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
)

// GroupsTableName is the name of the table of groups that have lists.
const GroupsTableName = "group_words"

const (
	groupsMax    = 100_000          // groups that have lists: every node has their ids in memory, about 20 MiB
	settleTries  = 8                // how often a row is written that others change
	lookedAt     = 100              // rows that are looked at where the table is full: groups may be gone
	keptBytesMax = 16 << 20         // of the texts of lists that a node keeps; ready for searching they take several times that
	keptFor      = 60 * time.Second // should a node have died between deleting a group and saying so
)

// Store keeps the lists of groups.
type Store interface {
	// GroupWords reads the lists of a group as they were written, and which life of the group has them; empty: it has none.
	GroupWords(ctx context.Context, group string) (epoch, text string, err error)
	// PutGroupWords replaces them, for an owner, an admin or an operator; empty: it has none. ErrNotFound, ErrForbidden.
	PutGroupWords(ctx context.Context, by chat.Caller, group, text string) error
}

// inGroup is a row of the table of groups that have lists: all that nodes which get no message of the group need to know.
type inGroup struct {
	group string
	Hash  string `json:"hash"` // of the lists as they are written
}

func decodeInGroup(group, text string) (inGroup, error) {
	row := inGroup{group: group}
	return row, json.Unmarshal([]byte(text), &row)
}

// rowOf is the row of a group with lists that are written so; empty: none.
func rowOf(text string) string {
	if text == "" {
		return ""
	}
	return string(chat.Encode(inGroup{Hash: chat.Hash([]byte(text))}))
}

// Groups is the table of groups with lists.
func (s *Service) Groups() *table.Table[inGroup] { return s.groups }

// OfGroup reads the lists of a group, for its owner, admins and operators.
func (s *Service) OfGroup(ctx context.Context, by chat.Caller, group string) (Lists, error) {
	if _, err := s.managed(ctx, by, group); err != nil {
		return Lists{}, err
	}
	_, text, err := s.store.GroupWords(ctx, group)
	if err != nil {
		return Lists{}, chat.AsError(err)
	}
	return stored(text)
}

func (s *Service) managed(ctx context.Context, by chat.Caller, group string) (chat.Info, error) {
	if err := chat.CheckGroup(by, group); err != nil {
		return chat.Info{}, err
	}
	info, err := s.Core.Managed(ctx, by, group)
	if err == nil && chat.IsDirect(group) {
		err = chat.ErrDirectFixed
	}
	return info, err
}

// ReplaceOfGroup replaces the lists of a group, for its owner, admins and operators. Every node goes by the new ones within a second.
func (s *Service) ReplaceOfGroup(ctx context.Context, by chat.Caller, group string, l Lists) (Lists, error) {
	if _, err := s.managed(ctx, by, group); err != nil {
		return Lists{}, err
	}
	if err := l.check(); err != nil {
		return Lists{}, err
	}
	text := ""
	if len(l.Refuse)+len(l.Mask)+len(l.Review) > 0 {
		text = string(chat.Encode(l))
		// Nodes look before there is something to find: if this one dies in between, they look in vain.
		if err := s.mark(ctx, group, text); err != nil {
			return Lists{}, chat.AsError(err)
		}
	}
	err := s.store.PutGroupWords(ctx, by, group, text)
	return l, chat.AsError(cmp.Or(err, s.settle(ctx, group)))
}

// mark writes the row of a group whose lists are written so. Where the table is full, groups that are gone make room.
func (s *Service) mark(ctx context.Context, group, text string) error {
	change := func(string) (string, error) { return rowOf(text), nil }
	_, err := s.groups.Change(ctx, s.rows, group, change)
	if chat.CodeOf(err) != chat.CodeQuotaFull {
		return err
	}
	some := s.groups.All()
	for _, row := range some[:min(lookedAt, len(some))] { // in no order
		if err := s.settle(ctx, row.group); err != nil {
			return err
		}
	}
	_, err = s.groups.Change(ctx, s.rows, group, change)
	return err
}

// settle has the row of a group say what its lists are. It looks again once it is written, so whoever is the last of several to
// write it goes by what all of them have stored.
func (s *Service) settle(ctx context.Context, group string) error {
	_, text, err := s.store.GroupWords(ctx, group)
	for range settleTries {
		if err != nil {
			return err
		}
		was := text
		_, err = s.groups.Change(ctx, s.rows, group, func(string) (string, error) { return rowOf(was), nil })
		if err != nil {
			return err
		}
		if _, text, err = s.store.GroupWords(ctx, group); err == nil && text == was {
			return nil
		}
	}
	return cmp.Or(err, error(chat.ErrConflict))
}

// of are the lists of the group of a question, if it has any. It reads the store where it keeps none that are still in force.
func (s *Service) of(ctx context.Context, q chat.Question) (*compiled, error) {
	row, has := s.groups.Get(q.Group)
	if !has {
		return &compiled{}, nil
	}
	now := time.Now()
	if c := s.kept.get(q, row.Hash, now); c != nil {
		return c, nil
	}
	epoch, text, err := s.store.GroupWords(ctx, q.Group)
	if err != nil {
		return nil, chat.AsError(err)
	}
	if text == "" {
		_ = s.settle(ctx, q.Group) // the group is another one by now, or its lists are about to come
		return &compiled{}, nil
	}
	c, err := decode(q.Group, text)
	if err != nil {
		return nil, chat.AsError(err)
	}
	s.kept.put(q.Group, &keptLists{c, epoch, chat.Hash([]byte(text)), len(text), now.Add(keptFor)})
	return c, nil
}

// kept are lists of groups, ready for searching.
type kept struct {
	mu    sync.Mutex
	of    map[string]*keptLists
	bytes int // of the texts of all
}

type keptLists struct {
	*compiled
	epoch, hash string
	bytes       int
	until       time.Time
}

// get returns the lists of the group of a question that are written so, if they are kept.
func (k *kept) get(q chat.Question, hash string, now time.Time) *compiled {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.of[q.Group]
	if l == nil || l.hash != hash || q.Epoch != "" && q.Epoch != l.epoch || now.After(l.until) {
		return nil
	}
	return l.compiled
}

func (k *kept) put(group string, l *keptLists) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || k.bytes+l.bytes > keptBytesMax {
		k.of, k.bytes = map[string]*keptLists{}, 0
	}
	if was := k.of[group]; was != nil {
		k.bytes -= was.bytes
	}
	k.of[group] = l
	k.bytes += l.bytes
}
