package live

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

// Service serves readers that wait. Create one with New, run its loops with Run.
type Service struct {
	core   *chat.Service
	store  Store
	limits chat.Limits
	log    *slog.Logger
	hub    *hub
	hides  func(ctx context.Context, user string) (bool, error)

	pending budget              // what waits for the clients of all sessions together
	reading *semaphore.Weighted // bounds the bytes that sessions are reading at the same time

	indexes *cache.Cache[string, []string] // the groups of users who synced or left lately: what they look at first the next time
	memory  memory                         // of users in more groups than that
}

// How much indexes holds: at most some 30 MB, with ids of 32 bytes.
const (
	expectedUsersMax  = 10_000 // twice
	expectedGroupsMax = 50     // of a user
)

// New makes a Service on the core, with its limits and log. Nothing is followed before Run.
func New(core *chat.Service, store Store) *Service {
	opt := core.Options()
	hub := newHub(store, opt.Limits, opt.Log)
	hub.nowMs, hub.hides = opt.StoreNow, opt.Hides
	return &Service{core: core, store: living{store, opt.StoreNow}, limits: opt.Limits, log: opt.Log, hub: hub,
		pending: budget{max: opt.Limits.PendingBytesMax}, reading: semaphore.NewWeighted(readingBytesMax),
		indexes: cache.New[string, []string](expectedUsersMax), memory: memory{users: map[string]*remembered{}}}
}

// Run listens to the store, fills gaps and compares what is followed with the store until ctx ends, and returns once all of
// that has stopped. Follow and waiting calls need it: they wait until it listens. It may start and stop independently of the
// core's Run.
func (s *Service) Run(ctx context.Context) error { return s.hub.run(ctx) }

// infos reads groups from the view of user, in order.
func (s *Service) infos(ctx context.Context, user string, groups []string) ([]chat.Info, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	return s.store.Standings(ctx, user, groups)
}

// pulls reads a page of each group. A call reads no more bytes than fit into an answer, in the order of the pulls, so each
// call begins with another group: no group has to wait until all others are done.
func (s *Service) pulls(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	if len(pulls) == 0 {
		return nil, nil
	}
	first := rand.IntN(len(pulls))
	pages, err := s.store.Pull(ctx, user, slices.Concat(pulls[first:], pulls[:first]))
	if err != nil {
		return nil, err
	}
	n := len(pulls) - first
	return slices.Concat(pages[n:], pages[:n]), nil
}
