// Package words decides about messages by lists of words, before any hook is asked. Those of the server are a table that every node
// keeps in memory (package table), and so is which groups have lists: where there are none a send pays nothing.
package words

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
)

// TableName is the name of the table of words, and row that of its one row.
const (
	TableName = "words"
	row       = "all"
)

// Bounds of a list.
const (
	wordsMax      = 2000
	charactersMax = 128 // of a word or phrase
)

// Lists are words and phrases, and what becomes of a message that has one of them.
type Lists struct {
	Refuse []string `json:"refuse"` // it is refused
	Mask   []string `json:"mask"`   // they are replaced by stars
	Review []string `json:"review"` // it waits for a moderator
}

// Service decides by words, and leaves to another what they let through. It is safe for concurrent use.
type Service struct {
	Core *chat.Service // says who manages a group. It is set before anything is asked for

	rows   table.Rows
	store  Store
	then   chat.Before
	table  *table.Table[*compiled]
	now    atomic.Pointer[compiled]
	groups *table.Table[inGroup]
	kept   kept
}

// compiled are lists as they are searched for.
type compiled struct {
	lists                Lists
	refuse, mask, review matcher
}

// any tells whether there is anything to look for.
func (c *compiled) any() bool { return len(c.refuse) > 0 || len(c.mask) > 0 || len(c.review) > 0 }

// New makes a Service. Its Table and its Groups have to be followed.
func New(rows table.Rows, store Store, then chat.Before, log *slog.Logger) *Service {
	s := &Service{rows: rows, store: store, then: then}
	s.groups = table.New(GroupsTableName, groupsMax, decodeInGroup, nil, log)
	s.now.Store(&compiled{})
	s.table = table.New(TableName, 1, decode, func([]string) {
		now, ok := s.table.Get(row)
		if !ok {
			now = &compiled{}
		}
		s.now.Store(now)
	}, log)
	return s
}

// Table is the table of words of the node.
func (s *Service) Table() *table.Table[*compiled] { return s.table }

func decode(_, text string) (*compiled, error) {
	c := &compiled{}
	if err := json.Unmarshal([]byte(text), &c.lists); err != nil {
		return nil, err
	}
	c.refuse, c.mask, c.review = newMatcher(c.lists.Refuse), newMatcher(c.lists.Mask), newMatcher(c.lists.Review)
	return c, nil
}

// Lists reads the lists, for operators.
func (s *Service) Lists(ctx context.Context, by chat.Caller) (Lists, error) {
	if err := chat.CheckOperator(by); err != nil {
		return Lists{}, err
	}
	read, err := s.rows.Row(ctx, TableName, row)
	if err != nil && !errors.Is(err, chat.ErrNotFound) {
		return Lists{}, chat.AsError(err)
	}
	return stored(read.Text)
}

// stored are lists as they were written; empty: there are none.
func stored(text string) (Lists, error) {
	c, err := decode("", cmp.Or(text, "{}"))
	if err != nil {
		return Lists{}, chat.AsError(err)
	}
	return c.lists, c.lists.check()
}

// Replace replaces the lists, for operators. Every node goes by the new ones within a second.
func (s *Service) Replace(ctx context.Context, by chat.Caller, l Lists) (Lists, error) {
	if err := chat.CheckOperator(by); err != nil {
		return Lists{}, err
	}
	if err := l.check(); err != nil {
		return Lists{}, err
	}
	_, err := s.table.ChangeNoted(ctx, s.rows, row, func(string) (string, []audit.Entry, error) {
		return string(chat.Encode(l)), []audit.Entry{audit.Note(by, audit.WordsUpdate, "", "", nil)}, nil
	})
	return l, chat.AsError(err)
}

// check checks the lists, of which some may be missing.
func (l *Lists) check() error {
	for _, list := range []struct {
		name  string
		words *[]string
	}{{"refuse", &l.Refuse}, {"mask", &l.Mask}, {"review", &l.Review}} {
		if *list.words == nil {
			*list.words = []string{}
		}
		if err := check(list.name, *list.words); err != nil {
			return err
		}
	}
	return nil
}

func check(name string, words []string) error {
	if len(words) > wordsMax {
		return chat.Errorf(chat.CodeOutOfRange, "%s: at most %d words and phrases", name, wordsMax)
	}
	for i, word := range words {
		if _, ok := newPhrase(word); !ok || utf8.RuneCountInString(word) > charactersMax {
			return chat.Invalid("%s[%d]: want a word or phrase of at most %d characters, with a * at one end at most", name, i, charactersMax)
		}
	}
	return nil
}

// Asks tells whether there are words, or who comes then is asked.
func (s *Service) Asks(group string) bool {
	_, has := s.groups.Get(group)
	return has || s.now.Load().any() || s.then.Asks(group)
}

// Ask decides by the words of the server and of the group, and then asks who comes then, also about what a moderator is to see: it
// may be refused.
func (s *Service) Ask(ctx context.Context, q chat.Question) (chat.Content, error) {
	group, err := s.of(ctx, q)
	if err != nil {
		return q.Content, err
	}
	lists := []*compiled{s.now.Load(), group}
	texts := textsIn(q.Content.Data)
	if q.Content.Body != nil {
		texts = append(texts, *q.Content.Body)
	}
	var review error
	for _, words := range lists {
		for _, text := range texts {
			if len(words.review) > 0 && len(words.review.find(text)) > 0 {
				review = &chat.InReview{Reason: "it has a word that is to be reviewed"}
			}
			if len(words.refuse) > 0 && len(words.refuse.find(text)) > 0 {
				return q.Content, chat.Refusal("the message has a word that is not allowed here")
			}
		}
	}
	if q.Content.Body != nil {
		var spans []span
		for _, words := range lists {
			if len(words.mask) > 0 {
				spans = append(spans, words.mask.find(*q.Content.Body)...)
			}
		}
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
		q.Content.Body = new(masked(*q.Content.Body, spans))
	}
	if !s.then.Asks(q.Group) {
		return q.Content, review
	}
	c, err := s.then.Ask(ctx, q)
	return c, cmp.Or(err, review)
}

// textsIn are the texts in JSON, names of fields included.
func textsIn(data json.RawMessage) (texts []string) {
	var value any
	if len(data) == 0 || json.Unmarshal(data, &value) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				texts = append(texts, name)
				walk(one)
			}
		}
	}
	walk(value)
	return texts
}
