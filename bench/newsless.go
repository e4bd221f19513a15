package main

import (
	"fmt"
	"math"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// newsless compares a sync that finds nothing where the node looks at each group with one that begins with what the node remembers.
func newsless(b *bench) { fresh(b, quietSyncs) }

func quietSyncs(b *bench) {
	limits := b.service.Options().Limits
	limits.RememberGroups = math.MaxInt
	forgetful := live.New(chat.New(b.store, chat.Options{Limits: limits}), b.store)
	b.table.section("redis-server time of a sync without news, by number of groups of the user")
	for _, size := range []int{10, 50, 100, 1000} {
		all := b.groupsOf(size)
		idle := chat.Caller{User: fmt.Sprintf("idle-in-%d", size)}
		looking := b.busy(b.redis, func(int) error {
			_, err := forgetful.Sync(b.ctx, idle, live.SyncRequest{Limit: growthPage})
			return err
		})
		b.table.count(fmt.Sprintf("in %d groups, looking at each", size), "%.1f us", looking)
		for range 4 { // until the node follows the groups
			ok(all[len(all)-1].do(0))
		}
		b.table.count(fmt.Sprintf("in %d groups, as a node does that follows them", size), "%.1f us", b.busy(b.redis, all[len(all)-1].do))
		groups := make([]string, size)
		for i := range groups {
			groups[i] = fmt.Sprintf("groups-%d-%d", size, i)
		}
		b.table.count("following them, each 2 s and node", "%.1f us", b.busy(b.redis, func(int) error {
			_, err := b.store.Lasts(b.ctx, groups)
			return err
		}))
	}
}
