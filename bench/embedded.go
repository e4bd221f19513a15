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
func embeddedStore(b *bench) error {
	b.table.section("the embedded store, journal on")
	// Each step has its own store. The one that measures memory runs first.
	for _, step := range []func(*bench) error{embeddedMillion, embeddedSends, embeddedPulls, embeddedSyncs, embeddedReturn} {
		if err := apart(b, func() error { return step(b) }); err != nil {
			return err
		}
	}
	return nil
}

// apart runs do, ends what it began, and goes on with the store from before.
func apart(b *bench, do func() error) error {
	store, service, live, cleanups := b.store, b.service, b.live, b.tb.cleanups
	b.tb.cleanups = nil
	err := do()
	b.tb.close()
	b.tb.cleanups = cleanups
	b.store, b.service, b.live = store, service, live
	return err
}

func openEmbedded(b *bench) (*embedded.Store, error) {
	e, err := embedded.Open(b.ctx, embedded.Options{Dir: b.tb.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	b.tb.Cleanup(func() { _ = e.Close() })
	b.open(store.Options{Embedded: e})
	return e, nil
}

func embeddedSends(b *bench) error {
	if _, err := openEmbedded(b); err != nil {
		return err
	}
	if err := b.group("send", 3); err != nil {
		return err
	}
	for _, callers := range []int{1, 64} {
		rate, err := parallel(scaled(4000), callers, func(int) error { return b.send("send") })
		if err != nil {
			return err
		}
		b.table.rate(fmt.Sprintf("sends, %d callers", callers), rate, 0, "")
	}
	return nil
}

// embeddedPulls reads pages from the middle of logs of three sizes.
func embeddedPulls(b *bench) error {
	if _, err := openEmbedded(b); err != nil {
		return err
	}
	for _, size := range []int{1000, 10_000, 125_000} {
		size = scaled(size)
		id := fmt.Sprintf("log-%d", size)
		if err := b.fill(id, 1, size); err != nil {
			return err
		}
		after := strconv.Itoa(size / 2)
		rate, err := parallel(scaled(8000), 64, func(int) error {
			_, _, err := b.service.Pull(b.ctx, chat.Caller{User: "user-0"}, id, chat.PullQuery{After: &after, Limit: 50})
			return err
		})
		if err != nil {
			return err
		}
		b.table.rate(fmt.Sprintf("pulls of 50 from a log of %d, 64 callers", size), rate, 0, "")
	}
	return nil
}

// fill makes a group with messages.
func (b *bench) fill(id string, members, messages int) error {
	if err := b.group(id, members); err != nil {
		return err
	}
	_, err := parallel(messages, 64, func(int) error { return b.send(id) })
	return err
}

// embeddedSyncs: a user whose every group has news. The same on redis-server comes first, over its socket.
func embeddedSyncs(b *bench) error {
	groups, each := max(6, scaled(60)), scaled(500)
	what := fmt.Sprintf("syncs over %d groups with %d new messages each, 64 callers", groups, each)
	var raw float64
	err := fresh(b, func(own *bench) (err error) {
		raw, err = own.syncsWithNews(groups, each)
		return err
	})
	if err != nil {
		return err
	}
	b.table.rate("redis-server: "+what, raw, 0, "")
	if _, err := openEmbedded(b); err != nil {
		return err
	}
	rate, err := b.syncsWithNews(groups, each)
	if err == nil {
		b.table.rate(what, rate, raw, "redis-server; target 1000/s")
	}
	return err
}

func (b *bench) syncsWithNews(groups, each int) (float64, error) {
	for i := range groups {
		if err := b.fill(fmt.Sprintf("sync-%d", i), 2, each); err != nil {
			return 0, err
		}
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
func embeddedReturn(b *bench) error {
	if _, err := openEmbedded(b); err != nil {
		return err
	}
	const rounds = 5
	clients := max(5, scaled(50))
	groups := clients
	for i := range groups {
		if err := b.fill(fmt.Sprintf("away-%d", i), clients, scaled(10_000)); err != nil {
			return err
		}
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
	return nil
}

// embeddedMillion measures what many messages cost: memory, how long a send waits meanwhile, and the next start.
func embeddedMillion(b *bench) error {
	messages := scaled(1_000_000)
	groups := max(1, messages/10_000)
	liveBefore, residentBefore := memoryNow()
	dir := b.tb.TempDir()
	e, err := embedded.Open(b.ctx, embedded.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	b.open(store.Options{Embedded: e})
	for i := range groups {
		if err := b.group(fmt.Sprintf("million-%d", i), 2); err != nil {
			return err
		}
	}
	var longest atomic.Int64
	rate, err := parallel(messages, 64, func(i int) error {
		began := time.Now()
		err := b.send(fmt.Sprintf("million-%d", i%groups))
		for took := int64(time.Since(began)); ; {
			if most := longest.Load(); took <= most || longest.CompareAndSwap(most, took) {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	b.table.rate(fmt.Sprintf("sends of %d messages, 64 callers", messages), rate, 0, "")
	b.table.count("the longest of these sends", "%s", inMs(time.Duration(longest.Load())))
	liveNow, resident := memoryNow()
	b.table.count("memory per message", "%d B live, %d B resident", (liveNow-liveBefore)/int64(messages), (resident-residentBefore)/int64(messages))
	if err := e.Close(); err != nil {
		return err
	}
	e, err = embedded.Open(b.ctx, embedded.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	b.table.count("the next start", "%.1f s, %d calls replayed", e.Info().Took.Seconds(), e.Info().Calls)
	return e.Close()
}

// memoryNow returns the resident memory of the process, and its live heap after a collection, in bytes.
func memoryNow() (live, resident int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, _ = fmt.Sscan(string(text), &live, &resident)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), resident * int64(os.Getpagesize())
}
