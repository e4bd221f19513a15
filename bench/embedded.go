package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// embeddedStore measures the store inside the process, with its journal.
func embeddedStore(b *bench) {
	b.table.section("the embedded store, journal on")
	// Each step has its own store. The one that measures memory runs first.
	for _, step := range []func(*bench){embeddedMillion, embeddedSends, embeddedPulls, embeddedSyncs, embeddedReturn} {
		apart(b, step)
	}
}

// apart runs do, ends what it began, and goes on with the store from before.
func apart(b *bench, do func(*bench)) {
	store, service, live, cleanups := b.store, b.service, b.live, b.tb.cleanups
	b.tb.cleanups = nil
	defer func() {
		b.tb.close()
		b.tb.cleanups = cleanups
		b.store, b.service, b.live = store, service, live
	}()
	do(b)
}

func openEmbedded(b *bench) *embedded.Store {
	e := must(embedded.Open(b.ctx, embedded.Options{Dir: b.tb.TempDir(), Log: slog.New(slog.DiscardHandler)}))
	b.tb.Cleanup(func() { _ = e.Close() })
	b.open(store.Options{Embedded: e})
	return e
}

func embeddedSends(b *bench) {
	openEmbedded(b)
	ok(b.group("send", 3))
	for _, callers := range []int{1, 64} {
		rate := parallel(scaled(4000), callers, func(int) error { return b.send("send") })
		b.table.rate(fmt.Sprintf("sends, %d callers", callers), rate, 0, "")
	}
}

// embeddedPulls reads pages from the middle of logs of three sizes.
func embeddedPulls(b *bench) {
	openEmbedded(b)
	for _, size := range []int{1000, 10_000, 125_000} {
		size = scaled(size)
		id := fmt.Sprintf("log-%d", size)
		b.fill(id, 1, size)
		after := strconv.Itoa(size / 2)
		rate := parallel(scaled(8000), 64, func(int) error {
			_, _, err := b.service.Pull(b.ctx, chat.Caller{User: "user-0"}, id, chat.PullQuery{After: &after, Limit: 50})
			return err
		})
		b.table.rate(fmt.Sprintf("pulls of 50 from a log of %d, 64 callers", size), rate, 0, "")
	}
}

// fill makes a group with messages.
func (b *bench) fill(id string, members, messages int) {
	ok(b.group(id, members))
	parallel(messages, 64, func(int) error { return b.send(id) })
}

// embeddedSyncs: a user whose every group has news. The same on redis-server comes first, over its socket.
func embeddedSyncs(b *bench) {
	groups, each := max(6, scaled(60)), scaled(500)
	what := fmt.Sprintf("syncs over %d groups with %d new messages each, 64 callers", groups, each)
	var raw float64
	fresh(b, func(own *bench) {
		raw = own.syncsWithNews(groups, each)
	})
	b.table.rate("redis-server: "+what, raw, 0, "")
	openEmbedded(b)
	b.table.rate(what, b.syncsWithNews(groups, each), raw, "redis-server; target 1000/s")
}

func (b *bench) syncsWithNews(groups, each int) float64 {
	for i := range groups {
		b.fill(fmt.Sprintf("sync-%d", i), 2, each)
	}
	return parallel(scaled(4000), 64, func(int) error {
		got, err := b.live.Sync(b.ctx, chat.Caller{User: "user-1"}, live.SyncRequest{})
		if err == nil && len(got.Groups) == 0 {
			err = errors.New("a sync without news")
		}
		return err
	})
}

// embeddedReturn: clients with the same groups come back at once, each group with a long backlog. Each syncs and acks
// some times.
func embeddedReturn(b *bench) {
	openEmbedded(b)
	const rounds = 5
	clients := max(5, scaled(50))
	groups := clients
	for i := range groups {
		b.fill(fmt.Sprintf("away-%d", i), clients, scaled(10_000))
	}
	var failed, messages atomic.Int64
	times := make([]time.Duration, clients*rounds)
	var all sync.WaitGroup
	began := time.Now()
	for c := range clients {
		all.Go(func() {
			ack := map[string]chat.Position{}
			for r := range rounds {
				asked := time.Now()
				got, err := b.live.Sync(b.ctx, chat.Caller{User: fmt.Sprintf("user-%d", c)}, live.SyncRequest{Ack: ack, Limit: 100})
				times[c*rounds+r] = time.Since(asked)
				if err != nil || len(got.Errors) > 0 {
					failed.Add(1)
					continue
				}
				for _, batch := range got.Groups {
					messages.Add(int64(len(batch.Messages)))
					ack[batch.Group] = chat.At(batch.To)
				}
			}
		})
	}
	all.Wait()
	b.table.rate(fmt.Sprintf("messages to %d clients that come back to %d groups of %d", clients, groups, scaled(10_000)), float64(messages.Load())/time.Since(began).Seconds(), 0, "")
	b.table.count("their failed syncs", "%d of %d", failed.Load(), len(times))
	b.table.spread("their syncs took", times)
}

// embeddedMillion measures what many messages cost: memory, how long a send waits meanwhile, and the next start.
func embeddedMillion(b *bench) {
	messages := scaled(1_000_000)
	groups := max(1, messages/10_000)
	liveBefore, _, residentBefore := memoryNow()
	dir := b.tb.TempDir()
	e := must(embedded.Open(b.ctx, embedded.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}))
	b.open(store.Options{Embedded: e})
	for i := range groups {
		ok(b.group(fmt.Sprintf("million-%d", i), 2))
	}
	var longest atomic.Int64
	rate := parallel(messages, 64, func(i int) error {
		began := time.Now()
		err := b.send(fmt.Sprintf("million-%d", i%groups))
		for took := int64(time.Since(began)); ; {
			if most := longest.Load(); took <= most || longest.CompareAndSwap(most, took) {
				return err
			}
		}
	})
	b.table.rate(fmt.Sprintf("sends of %d messages, 64 callers", messages), rate, 0, "")
	b.table.count("the longest of these sends", "%s", inMs(time.Duration(longest.Load())))
	liveNow, _, resident := memoryNow()
	b.table.count("memory per message", "%d B live, %d B resident", (liveNow-liveBefore)/int64(messages), (resident-residentBefore)/int64(messages))
	ok(e.Close())
	e = must(embedded.Open(b.ctx, embedded.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}))
	b.table.count("the next start", "%.1f s, %d calls replayed", e.Info().Took.Seconds(), e.Info().Calls)
	ok(e.Close())
}

// memoryNow returns what this process needs for live objects, after a collection, and for stacks, and its resident memory, in bytes.
func memoryNow() (heap, stacks, resident int64) {
	resident = int64(usedBy(os.Getpid()).bytes)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse), resident
}
