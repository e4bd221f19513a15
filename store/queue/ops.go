package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// stepWish is what a worker wants of one step in one partition.
type stepWish struct {
	partition int
	claim     int    // tasks at most
	sweep     int    // promotions and reaps at most; 0 = look at neither
	order     string // whose turn each claim is, see step.lua
}

// stepped is what a step brought.
type stepped struct {
	wait     time.Duration // until the next due time or end of a lease; negative = none known
	left     int64         // ready tasks nobody has claimed
	promoted int64
	reaped   int64
	buried   int64
	tasks    []*claimed
}

// terms are the conditions under which a server claims.
type terms struct {
	lease      time.Duration
	crashesMax int
	backoffMin time.Duration
	deadMax    int
}

func (c *Client) stepCall(w stepWish, t terms) *call {
	return &call{script: stepScript, keys: c.keys[w.partition].work(), args: []any{
		w.claim, ceilMs(t.lease), w.sweep, w.order, t.crashesMax, ceilMs(t.backoffMin),
		rand.IntN(1000), t.deadMax,
	}}
}

// readStep reads the answer of step.lua. Tasks whose specification cannot be read (written
// by another version) are returned all the same, with the error beside them: they are
// leased now and somebody has to bury them.
func readStep(partition int, cmd *redis.Cmd) (stepped, []unreadable, error) {
	values, err := cmd.Slice()
	if err != nil {
		return stepped{}, nil, err
	}
	if len(values) < 5 || (len(values)-5)%4 != 0 {
		return stepped{}, nil, fmt.Errorf("queue: step: answer of %d values", len(values))
	}
	var head [5]int64
	for i := range head {
		n, ok := values[i].(int64)
		if !ok {
			return stepped{}, nil, fmt.Errorf("queue: step: unexpected answer %v", values[:5])
		}
		head[i] = n
	}
	s := stepped{
		wait: time.Duration(head[0]) * time.Millisecond, left: head[1],
		promoted: head[2], reaped: head[3], buried: head[4],
		tasks: make([]*claimed, 0, (len(values)-5)/4),
	}
	var bad []unreadable
	for i := 5; i < len(values); i += 4 {
		var text [4]string
		for j := range text {
			text[j], _ = values[i+j].(string)
		}
		t, err := parseClaim(partition, text[0], text[1], text[2], text[3])
		if err != nil {
			bad = append(bad, unreadable{partition, text[0], text[1], err})
			continue
		}
		s.tasks = append(s.tasks, t)
	}
	return s, bad, nil
}

// unreadable is a claimed task that cannot be run.
type unreadable struct {
	partition int
	id, token string
	err       error
}

// A verdict is how a run ended. The names are those of settle.lua.
type verdict string

const (
	complete verdict = "complete"
	retry    verdict = "retry"
	bury     verdict = "bury"
	giveBack verdict = "return"
)

// result is the end of one run.
type result struct {
	partition int
	id, token string
	verdict   verdict
	delay     time.Duration
	reason    string
}

// settle ends runs, in one round trip. It returns those whose token was stale: they have
// had no effect. What is sent twice has its effect once, so after an error of the network
// it can be repeated.
func (c *Client) settle(ctx context.Context, results []result, deadMax int) ([]result, error) {
	return c.runStale(ctx, "settle", settleScript, results, func(some []result) ([]result, []any) {
		return settleArgs(some, deadMax)
	})
}

// settleArgs orders results as settle.lua takes them: the complete ones, then the others.
func settleArgs(results []result, deadMax int) (ordered []result, args []any) {
	ordered = make([]result, 0, len(results))
	args = make([]any, 2, 2+5*len(results))
	for _, r := range results {
		if r.verdict == complete {
			ordered = append(ordered, r)
			args = append(args, r.id, r.token)
		}
	}
	args[0], args[1] = deadMax, len(ordered)
	for _, r := range results {
		if r.verdict != complete {
			ordered = append(ordered, r)
			args = append(args, string(r.verdict), r.id, r.token, ceilMs(r.delay), r.reason)
		}
	}
	return ordered, args
}

// renew extends leases, in one round trip, and returns those that are lost.
func (c *Client) renew(ctx context.Context, held []result, lease time.Duration) ([]result, error) {
	return c.runStale(ctx, "renew", renewScript, held, func(some []result) ([]result, []any) {
		args := []any{ceilMs(lease)}
		for _, r := range some {
			args = append(args, r.id, r.token)
		}
		return some, args
	})
}

// runStale runs a script on runs: in one round trip, with one call for each settleMax of a partition. arguments gives the
// arguments of a call and the order in which it names the runs; the script answers with the places of the stale ones
// among them, which are returned.
func (c *Client) runStale(ctx context.Context, what string, script *redis.Script, runs []result,
	arguments func([]result) ([]result, []any)) ([]result, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	groups := make([][]result, c.partitions)
	for _, r := range runs {
		groups[r.partition] = append(groups[r.partition], r)
	}
	var calls []*call
	var sent [][]result
	for p, group := range groups {
		for some := range slices.Chunk(group, settleMax) {
			ordered, args := arguments(some)
			calls = append(calls, &call{script: script, keys: c.keys[p].work(), args: args})
			sent = append(sent, ordered)
		}
	}
	if err := run(ctx, c.rdb, calls); err != nil {
		return nil, fmt.Errorf("queue: %s: %w", what, err)
	}
	var stale []result
	for i, one := range calls {
		places, err := one.cmd.Int64Slice()
		if err != nil {
			return nil, fmt.Errorf("queue: %s: %w", what, err)
		}
		for _, place := range places {
			if place < 1 || int(place) > len(sent[i]) {
				return nil, fmt.Errorf("queue: %s: unexpected place %d", what, place)
			}
			stale = append(stale, sent[i][place-1])
		}
	}
	return stale, nil
}
