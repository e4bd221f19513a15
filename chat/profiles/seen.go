package profiles

import (
	"context"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

// Of what a node remembers of who was seen: it is written once in seenEvery, and at a stop for farewellTime at most.
const (
	seenEvery    = time.Minute
	seenAgainMs  = 1000  // before which the same user is not noted again
	seenShards   = 64    // so that calls do not wait for one another
	seenShardMax = 4_096 // users in a shard: about 30 MB in all. Beyond that, users are seen after the next write
	farewellTime = 2 * time.Second
)

// seen remembers when users were seen since that was last written, in ms.
type seen struct {
	seed   maphash.Seed
	shards [seenShards]struct {
		mu sync.Mutex
		at map[string]int64
	}
}

func newSeen() *seen {
	s := &seen{seed: maphash.MakeSeed()}
	for i := range s.shards {
		s.shards[i].at = map[string]int64{}
	}
	return s
}

func (s *seen) note(user string, ms int64) {
	shard := &s.shards[maphash.String(s.seed, user)%seenShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	before, known := shard.at[user]
	if ms >= before+seenAgainMs && (known || len(shard.at) < seenShardMax) {
		shard.at[user] = ms
	}
}

func (s *seen) last(user string) int64 {
	shard := &s.shards[maphash.String(s.seed, user)%seenShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.at[user]
}

// take returns what is remembered, and forgets it.
func (s *seen) take() map[string]int64 {
	all := map[string]int64{}
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		maps.Copy(all, shard.at)
		clear(shard.at)
		shard.mu.Unlock()
	}
	return all
}

// Saw notes that a user was seen now. It does not wait for the store.
func (s *Service) Saw(user string) { s.seen.note(user, s.opt.Now().UnixMilli()) }

// Run writes once a minute who was seen, if anybody was, until ctx ends, and then once more. connected are those who have a websocket now.
func (s *Service) Run(ctx context.Context, connected func() []string) error {
	ticks := time.NewTicker(seenEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
			defer cancel()
			s.seen.write(last, s, connected())
			return ctx.Err()
		case <-ticks.C:
			s.seen.write(ctx, s, connected())
		}
	}
}

// write writes to the store of a service who was seen, connected among them. What fails is kept for the next time.
func (s *seen) write(ctx context.Context, to *Service, connected []string) {
	for _, user := range connected {
		to.Saw(user)
	}
	all := s.take()
	if len(all) == 0 {
		return
	}
	if err := to.store.SawUsers(ctx, all); err != nil {
		to.opt.Log.WarnContext(ctx, "cannot write when users were last seen; it will be retried", "error", err)
		for user, ms := range all {
			s.note(user, ms)
		}
	}
}

// LastSeen tells of each user when they were last seen, as far as this node knows; nil: nobody knows.
func (s *Service) LastSeen(ctx context.Context, users []string) ([]*chat.Time, error) {
	stored, err := s.store.LastSeen(ctx, users)
	if err != nil {
		return nil, chat.AsError(err)
	}
	last := make([]*chat.Time, len(users))
	for i, user := range users {
		if ms := max(stored[i], s.seen.last(user)); ms > 0 {
			at := chat.TimeMs(ms)
			last[i] = &at
		}
	}
	return last, nil
}
