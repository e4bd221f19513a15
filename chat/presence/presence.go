// Package presence tells who is there: read where somebody looks, and never broadcast.
package presence

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

// State is how a user is there.
type State string

// Of a user with a websocket: away where all of them say that nothing is open.
const (
	Online State = "online"
	Away   State = "away"
)

// User is somebody who is there.
type User struct {
	User  string    `json:"user"`
	State State     `json:"state"`
	Since chat.Time `json:"since"`
}

// Bounds of what is read and answered.
const (
	UsersMax      = 1000 // users of one call
	wholeMax      = 1000 // members of a group of which all who are there are listed
	largeListed   = 50   // of a larger one
	countedMax    = 1024 // groups whose numbers a node remembers, twice
	countedFor    = 2 * time.Second
	countedWithin = 10 * time.Second // for reading who is there, whoever waits for it
)

// Store is what presence needs from a store.
type Store interface {
	// States reads the state of those of users who are there and do not hide.
	States(ctx context.Context, users []string) ([]User, error)
	// Present lists all users who are there and do not hide, each once, sorted.
	Present(ctx context.Context) ([]string, error)
	// Hidden tells whether a user hides where they are.
	Hidden(ctx context.Context, user string) (bool, error)
	// MemberIDs reads the members of a small group.
	MemberIDs(ctx context.Context, group string) ([]string, error)
	// MembersAmong are those of users who are in the group, in order.
	MembersAmong(ctx context.Context, group string, users []string) ([]string, error)
}

// Profiles knows who knows whom.
type Profiles interface {
	// Related tells with whom of users by shares a group or, where wrote is set, an item of an inbox.
	Related(ctx context.Context, by string, users []string, wrote bool) ([]bool, error)
}

// Service tells who is there. It is safe for concurrent use.
type Service struct {
	core     *chat.Service
	store    Store
	profiles Profiles

	large   singleflight.Group
	counted *cache.Cache[string, counted]
}

// counted is who of a large group was there at a time.
type counted struct {
	at    time.Time
	users []string
	count int
}

// New makes a Service.
func New(core *chat.Service, store Store, profiles Profiles) *Service {
	return &Service{core: core, store: store, profiles: profiles, counted: cache.New[string, counted](countedMax)}
}

// Present is who of a group is there.
type Present struct {
	Online int    `json:"online"` // also those who are not listed
	Users  []User `json:"users"`
	Next   string `json:"-"` // "": no more
}

// Of lists who of a group is there, by id, for its members. Of a group with more than wholeMax members some are listed. Who hides sees nobody.
func (s *Service) Of(ctx context.Context, by chat.Caller, group string, limit int, cursor string) (p Present, err error) {
	if limit, err = s.core.Options().Limits.Page(limit); err != nil {
		return p, err
	}
	if cursor != "" && !chat.ValidUserID(cursor) {
		return p, chat.Invalid("cursor: not one of this list")
	}
	if err := chat.CheckGroup(by, group); err != nil {
		return p, err
	}
	info, err := s.core.Info(ctx, by.User, group)
	switch {
	case err != nil:
		return p, err
	case info.Role == "" && !info.Sees(by):
		return p, chat.ErrNotFound
	case info.Role == "":
		return p, chat.ErrMembersOnly
	}
	p.Users = []User{}
	if hides, err := s.store.Hidden(ctx, by.User); err != nil || hides {
		return p, chat.AsError(err)
	}
	if info.Members > wholeMax {
		return s.ofLarge(ctx, group, min(limit, largeListed))
	}
	members, err := s.store.MemberIDs(ctx, group)
	if err != nil {
		return p, chat.AsError(err)
	}
	there, err := s.store.States(ctx, members)
	if err != nil {
		return p, chat.AsError(err)
	}
	slices.SortFunc(there, func(a, b User) int { return strings.Compare(a.User, b.User) })
	p.Online = len(there)
	from, found := slices.BinarySearchFunc(there, cursor, func(u User, id string) int { return strings.Compare(u.User, id) })
	if found {
		from++
	}
	there = there[from:]
	if len(there) > limit {
		there = there[:limit]
		p.Next = there[limit-1].User
	}
	p.Users = append(p.Users, there...)
	return p, nil
}

// ofLarge counts who of a large group is there: it looks at those who are there, however many members there are, once in countedFor.
func (s *Service) ofLarge(ctx context.Context, group string, limit int) (p Present, err error) {
	c, ok := s.known(group)
	if !ok {
		found, err, _ := s.large.Do(group, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countedWithin)
			defer cancel()
			return s.count(ctx, group)
		})
		if err != nil {
			return p, chat.AsError(err)
		}
		c, _ = found.(counted)
	}
	p = Present{Online: c.count, Users: []User{}}
	there, err := s.store.States(ctx, c.users[:min(len(c.users), limit)])
	if err != nil {
		return p, chat.AsError(err)
	}
	slices.SortFunc(there, func(a, b User) int { return strings.Compare(a.User, b.User) })
	p.Users = append(p.Users, there...)
	return p, nil
}

func (s *Service) known(group string) (counted, bool) {
	c, ok := s.counted.Get(group)
	return c, ok && time.Since(c.at) < countedFor
}

func (s *Service) count(ctx context.Context, group string) (counted, error) {
	c := counted{at: time.Now()}
	there, err := s.store.Present(ctx)
	if err != nil {
		return c, err
	}
	in, err := s.store.MembersAmong(ctx, group, there)
	if err != nil {
		return c, err
	}
	c.count, c.users = len(in), slices.Clone(in[:min(len(in), largeListed)])
	s.counted.Put(group, c)
	return c, nil
}

// Among are those of users who are there and with whom by shares a group. Others are left out. Who hides sees nobody.
func (s *Service) Among(ctx context.Context, by chat.Caller, users []string) ([]User, error) {
	users, err := chat.UniqueUsers("users", users, UsersMax)
	if err != nil {
		return nil, err
	}
	if by.User == "" || len(users) == 0 {
		return []User{}, nil
	}
	if hides, err := s.store.Hidden(ctx, by.User); err != nil || hides {
		return []User{}, chat.AsError(err)
	}
	// Only of those who are there the groups have to be compared.
	there, err := s.store.States(ctx, users)
	if err != nil {
		return nil, chat.AsError(err)
	}
	names := make([]string, len(there))
	for i, u := range there {
		names[i] = u.User
	}
	list := []User{}
	if len(names) == 0 {
		return list, nil
	}
	together, err := s.profiles.Related(ctx, by.User, names, false)
	for i, u := range there {
		if err == nil && (together[i] || u.User == by.User) {
			list = append(list, u)
		}
	}
	return list, chat.AsError(err)
}
