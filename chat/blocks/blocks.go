// Package blocks is whom users do not want to hear of. The block stands in the partition of who blocks, and what reaches a user
// passes there: an item of their inbox, a group of their list. Direct groups may lie elsewhere, so each has a copy of it, which is
// there before a block is answered.
package blocks

import (
	"cmp"
	"context"
	"strconv"

	"github.com/chatd/chatd/chat"
)

// TaskBlock is the kind of the task that brings the copy of a block to the direct group. A kind is stored with its tasks.
const TaskBlock = "block" // Task

// Task names a user, and another one whom they block, or no longer block.
type Task struct {
	User  string `json:"user"`
	Other string `json:"other"`
}

// Block is one user whom another blocks.
type Block struct {
	User      string    `json:"user"`
	CreatedAt chat.Time `json:"created_at"`
}

// Store keeps blocks. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// PutBlock has user block other, and enqueues a Task in the same step if that is new. CodeQuotaFull: Limits.UserBlocksMax.
	PutBlock(ctx context.Context, user, other string) (b Block, created bool, err error)
	// DropBlock ends a block, and enqueues a Task in the same step if there was one.
	DropBlock(ctx context.Context, user, other string) error
	// BlocksOf returns whom user blocks, newest first, from before a time on; 0: all.
	BlocksOf(ctx context.Context, user string, beforeMs int64, limit int) ([]Block, error)
	// Blocking tells of each of others, in order, since when user blocks them, in ms; 0: not at all.
	Blocking(ctx context.Context, user string, others []string) ([]int64, error)
	// MirrorBlock has the direct group of user and another one know whether user is blocked there. The group need not exist yet.
	MirrorBlock(ctx context.Context, group, user string, blocked bool) error
}

// Service changes blocks. It may be used from many goroutines.
type Service struct {
	limits chat.Limits
	store  Store
}

// New makes a Service.
func New(core *chat.Service, store Store) *Service { return &Service{core.Options().Limits, store} }

// Handlers are the tasks of the package, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskBlock: chat.Patient(func(ctx context.Context, t Task) error {
		if err := cmp.Or(chat.CheckUserID("user", t.User), chat.CheckUserID("other", t.Other)); err != nil {
			return err
		}
		return s.mirror(ctx, t.User, t.Other)
	})}
}

// check refuses calls that are not about the caller and somebody else.
func check(by chat.Caller, user string) error {
	if err := cmp.Or(chat.CheckInbox(by), chat.CheckUserID("user", user)); err != nil {
		return err
	}
	if user == by.User {
		return chat.Invalid("user: nobody blocks themself")
	}
	return nil
}

// Put has the caller block a user: at most Limits.UserBlocksMax at a time, else CodeQuotaFull. Once it returns, nothing of that
// user reaches the caller's inbox, nor a direct group of the two.
func (s *Service) Put(ctx context.Context, by chat.Caller, user string) (b Block, created bool, err error) {
	if err := check(by, user); err != nil {
		return Block{}, false, err
	}
	if b, created, err = s.store.PutBlock(ctx, by.User, user); err == nil {
		err = s.mirror(ctx, by.User, user)
	}
	return b, created, chat.AsError(err)
}

// Drop ends a block, if there is one.
func (s *Service) Drop(ctx context.Context, by chat.Caller, user string) error {
	if err := check(by, user); err != nil {
		return err
	}
	return chat.AsError(s.drop(ctx, by.User, user))
}

func (s *Service) drop(ctx context.Context, user, other string) error {
	if err := s.store.DropBlock(ctx, user, other); err != nil {
		return err
	}
	return s.mirror(ctx, user, other)
}

// Get is the block of a user by the caller. ErrNotFound: there is none.
func (s *Service) Get(ctx context.Context, by chat.Caller, user string) (Block, error) {
	if err := check(by, user); err != nil {
		return Block{}, err
	}
	since, err := s.store.Blocking(ctx, by.User, []string{user})
	if err != nil {
		return Block{}, chat.AsError(err)
	}
	if since[0] == 0 {
		return Block{}, chat.Errorf(chat.CodeNotFound, "you do not block this user")
	}
	return Block{User: user, CreatedAt: chat.TimeMs(since[0])}, nil
}

// List is whom the caller blocks, newest first.
func (s *Service) List(ctx context.Context, by chat.Caller, limit int, cursor string) (list chat.List[Block], err error) {
	if err := chat.CheckInbox(by); err != nil {
		return list, err
	}
	if limit, err = s.limits.Page(limit); err != nil {
		return list, err
	}
	before, ok := int64(0), true
	if cursor != "" {
		before, ok = chat.ParseID(cursor)
	}
	if !ok || cursor != "" && before < 1 {
		return list, chat.Invalid("cursor: not one of this list")
	}
	return s.page(ctx, by.User, before, limit)
}

func (s *Service) page(ctx context.Context, user string, before int64, limit int) (list chat.List[Block], err error) {
	if list.Items, err = s.store.BlocksOf(ctx, user, before, limit+1); err != nil {
		return list, chat.AsError(err)
	}
	if len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.Next = strconv.FormatInt(list.Items[limit-1].CreatedAt.UnixMilli(), 10)
	}
	return list, nil
}

// mirrorTries is how often a copy is made while the block keeps changing.
const mirrorTries = 10

// mirror has the direct group of user and other know whether user blocks other. The two lie in different partitions, so the block is
// read again after the write: the copy that is written last is of the block that was read last.
func (s *Service) mirror(ctx context.Context, user, other string) error {
	for range mirrorTries {
		before, err := s.store.Blocking(ctx, user, []string{other})
		if err != nil {
			return err
		}
		if err := s.store.MirrorBlock(ctx, chat.DirectID(user, other), other, before[0] > 0); err != nil {
			return err
		}
		now, err := s.store.Blocking(ctx, user, []string{other})
		if err != nil || (now[0] > 0) == (before[0] > 0) {
			return err
		}
	}
	return chat.ErrConflict
}

// Know has the direct group of two users know who of them blocks the other, before it is made.
func (s *Service) Know(ctx context.Context, a, b string) error {
	for _, p := range [][2]string{{a, b}, {b, a}} {
		if err := s.mirror(ctx, p[0], p[1]); err != nil {
			return chat.AsError(err)
		}
	}
	return nil
}

// Of tells whom of others a user blocks.
func (s *Service) Of(ctx context.Context, user string, others []string) (map[string]bool, error) {
	since, err := s.store.Blocking(ctx, user, others)
	if err != nil {
		return nil, chat.AsError(err)
	}
	blocked := map[string]bool{}
	for i, other := range others {
		blocked[other] = since[i] > 0
	}
	return blocked, nil
}

// Erase ends all blocks of an erased user.
func (s *Service) Erase(ctx context.Context, user string) error {
	for {
		list, err := s.page(ctx, user, 0, s.limits.PageMessages)
		if err != nil || len(list.Items) == 0 {
			return err
		}
		for _, b := range list.Items {
			if err := s.drop(ctx, user, b.User); err != nil {
				return err
			}
		}
	}
}
