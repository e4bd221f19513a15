package queue

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"
)

// movableClock lets a test move the clock of Redis, forward and back, and that of each partition by itself, as on the
// masters of a cluster. It loads copies of all scripts that add an offset to the time, and has a client call these.
type movableClock struct {
	rdb    Redis
	copies map[string]string // SHA of a script -> SHA of its copy
	ahead  map[string]time.Duration
	latest map[string]int64 // the latest time that there ever was, us
}

// movedTime stands for the command TIME in the copies. The offset of a partition is in a key beside its others.
const movedTime = `local function moved_time()
  local t, ahead = redis.call('TIME'), tonumber(redis.call('GET', string.match(KEYS[1], '^[^}]*}') .. ':ahead') or '0')
  local us = tonumber(t[1]) * 1000000 + tonumber(t[2]) + ahead
  return {string.format('%.0f', math.floor(us / 1000000)), string.format('%.0f', us % 1000000)}
end
`

// newMovableClock makes the clock of a client's Redis movable. Only the scripts of this package see it move.
func newMovableClock(t testing.TB, rdb Redis) *movableClock {
	t.Helper()
	m := &movableClock{rdb: rdb, copies: map[string]string{}, ahead: map[string]time.Duration{}, latest: map[string]int64{}}
	load := func(ctx context.Context, server *redis.Client) error {
		for _, s := range library.Used() {
			head, body, _ := strings.Cut(s.Text(), "\n")
			if !strings.HasPrefix(head, "#!") {
				head, body = "", s.Text()
			} else {
				head += "\n"
			}
			sha, err := server.ScriptLoad(ctx, head+movedTime+strings.ReplaceAll(body, "redis.call('TIME')", "moved_time()")).Result()
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			m.copies[s.SHA()] = sha
		}
		return nil
	}
	var err error
	switch c := rdb.(type) {
	case *redis.ClusterClient:
		all := make(chan *redis.Client, 16)
		err = c.ForEachMaster(t.Context(), func(_ context.Context, server *redis.Client) error { all <- server; return nil })
		for close(all); err == nil; {
			server, more := <-all
			if !more {
				break
			}
			err = load(t.Context(), server)
		}
	case *redis.Client:
		err = load(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	rdb.AddHook(m)
	return m
}

func (m *movableClock) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (m *movableClock) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		m.exchange(cmd)
		return next(ctx, cmd)
	}
}

func (m *movableClock) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			m.exchange(cmd)
		}
		return next(ctx, cmds)
	}
}

// exchange has a command call the copy of a script.
func (m *movableClock) exchange(cmd redis.Cmder) {
	if args := cmd.Args(); len(args) > 1 && strings.HasPrefix(cmd.Name(), "evalsha") {
		if sha, ok := args[1].(*string); ok && m.copies[*sha] != "" {
			args[1] = m.copies[*sha]
		}
	}
}

// move moves the clock of the partition that some keys belong to.
func (m *movableClock) move(t failer, k Keys, by time.Duration) {
	part, _, _ := strings.Cut(k.Of("tasks"), "}")
	m.now(t, k)
	m.ahead[part] += by
	const set = "return redis.call('SET', KEYS[1], ARGV[1])"
	if err := m.rdb.Eval(context.Background(), set, []string{part + "}:ahead"}, m.ahead[part].Microseconds()).Err(); err != nil {
		t.Fatal(err)
	}
}

// now returns the time in the partition that some keys belong to, and the latest that there has been, in ms.
func (m *movableClock) now(t failer, k Keys) (nowMs, latestMs int64) {
	part, _, _ := strings.Cut(k.Of("tasks"), "}")
	us, err := m.rdb.Eval(context.Background(), movedTime+"local t = moved_time() return t[1] * 1000000 + t[2]", []string{k.Of("tasks")}).Int64()
	if err != nil {
		t.Fatal(err)
	}
	m.latest[part] = max(m.latest[part], us)
	return us / 1000, int64(math.Ceil(float64(m.latest[part]) / 1000))
}

// clockStep is what all jumps of the clock are multiples of: no sum of them comes close to a time that the model waits for.
const clockStep = 7 * time.Minute

// modelTerms are those of the model. A lease ends when the clock is moved forward, and not because the machine was suspended for
// a while: it would end between lapse and the step that reaps it.
var modelTerms = func() terms {
	t := testTerms
	t.lease = clockStep - 2*time.Minute
	return t
}()

// moveClock moves the clock of one partition, or of all.
func (w *queueModel) moveClock() {
	by, one := rapid.SampledFrom([]time.Duration{1, 5, 10, 20, -3, -11, -22}).Draw(w.t, "jump"), -1
	if rapid.Bool().Draw(w.t, "of one") {
		one = rapid.IntRange(0, w.c.partitions-1).Draw(w.t, "partition")
	}
	w.moveClocks(one, by*clockStep)
}

// moveClocks moves the clock of one partition, or of all if it is negative. What was to hold for a time may have ended then.
func (w *queueModel) moveClocks(one int, by time.Duration) {
	for p, k := range w.c.keys {
		if one >= 0 && one != p {
			continue
		}
		w.clock.move(w.t, k, by)
		nowMs, _ := w.clock.now(w.t, k)
		maps.DeleteFunc(w.taken, func(key string, u usedKey) bool {
			return strings.HasPrefix(key, fmt.Sprint(p, " ")) && u.untilMs <= nowMs
		})
		for id, untilMs := range w.keeps {
			if of, _ := PartitionOf(id); of == p && untilMs <= nowMs {
				w.keeps[id] = 0 // it may be trimmed now
			}
		}
		// Turns may have come: again as many may begin at once as the burst lets.
		maps.DeleteFunc(w.begun, func(key string, _ int) bool { return strings.HasPrefix(key, fmt.Sprint(p, " ")) })
	}
}

// lapse notes which leases of a partition have ended: its next step reaps them.
func (w *queueModel) lapse(partition int) {
	k := w.c.keys[partition]
	nowMs, _ := w.clock.now(w.t, k)
	leased, err := w.c.rdb.ZRangeWithScores(context.Background(), k.Of("leased"), 0, -1).Result()
	if err != nil {
		w.t.Fatal(err)
	}
	ended := map[string]bool{}
	for _, z := range leased {
		if int64(z.Score) <= nowMs {
			ended[z.Member.(string)] = true
		}
	}
	for _, r := range w.leases {
		if ended[r.ID+" "+r.token] {
			w.void[r] = struct{}{}
		}
	}
	for _, r := range w.held {
		if ended[r.ID+" "+r.token] {
			w.over(r.ID)
		}
	}
}
