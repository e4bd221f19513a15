package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/store/script"
)

// served is a queue of a server.
type served struct {
	*Client
	index int // its place in set.queues
}

// queueSet is the queues that one server serves. One step script serves all of them in a
// partition.
type queueSet struct {
	rdb        redis.UniversalClient
	partitions int
	queues     []*served
	keys       [][]string // of each partition: Keys.Work of every queue, one after the other
}

func newQueueSet(clients ...*Client) queueSet {
	first := clients[0]
	t := queueSet{rdb: first.rdb, partitions: first.partitions, keys: make([][]string, first.partitions)}
	for i, c := range clients {
		t.queues = append(t.queues, &served{Client: c, index: i})
		for p := range t.keys {
			t.keys[p] = append(t.keys[p], c.work[p]...)
		}
	}
	return t
}

// claimDemand is what a worker wants to claim from one queue.
type claimDemand struct {
	n     int    // tasks at most
	order string // whose turn each claim is, see step.lua
}

// stepDemand is what a worker wants of one step in one partition.
type stepDemand struct {
	partition int
	overdue   int           // promotions and reaps at most in each queue; 0 = look at neither
	claims    []claimDemand // of each queue
}

// claims is how many tasks it wants.
func (w *stepDemand) wanted() (n int) {
	for _, c := range w.claims {
		n += c.n
	}
	return n
}

// stepped is what a step brought.
type stepped struct {
	wait   time.Duration // until the next due time or end of a lease; negative = none known
	queues []steppedQueue
}

type steppedQueue struct {
	left     int64 // ready tasks nobody has claimed
	promoted int64
	reaped   int64
	buried   int64
	runs     []*running
}

// terms are the conditions under which a server claims.
type terms struct {
	lease      time.Duration
	crashesMax int
	backoffMin time.Duration
	deadMax    int
}

// stepCall is a call of step.lua; token is that of what it claims.
type stepCall struct {
	call
	token string
}

func (t *queueSet) stepCall(w stepDemand, with terms) *stepCall {
	token := newToken()
	one := stepScript.Sized(t.keys[w.partition], 2*len(w.claims)).
		Arg("lease_ms", ceilMs(with.lease)).Arg("overdue_max", w.overdue).Arg("crashes_max", with.crashesMax).
		Arg("backoff_ms", ceilMs(with.backoffMin)).Arg("jitter", rand.IntN(1000)).Arg("dead_max", with.deadMax).
		Arg("token", token)
	for _, c := range w.claims {
		one = one.MoreArgs("claims", "claim", c.n, "order", c.order)
	}
	return &stepCall{call{Call: one}, token}
}

// readStep reads the answer to a stepCall that was sent at a time. A task whose specification
// cannot be read (written by another version) is returned all the same, with its verdict in
// it, as is one whose deadline has passed: they are leased now and somebody has to bury them.
func (t *queueSet) readStep(partition int, one *stepCall, sent time.Time, with terms) (s stepped, err error) {
	values, err := one.cmd.Slice()
	if err != nil {
		return s, err
	}
	if len(values) != 2+len(t.queues) {
		return s, fmt.Errorf("queue: step: answer of %d values", len(values))
	}
	now, ok := values[0].(int64)
	wait, okWait := values[1].(int64)
	if !ok || !okWait {
		return s, fmt.Errorf("queue: step: unexpected answer %.200v", values)
	}
	s = stepped{wait: span(wait), queues: make([]steppedQueue, len(t.queues))}
	c := claimBatch{partition: partition, token: one.token, now: now, sent: sent, until: sent.Add(with.lease)}
	for i, q := range t.queues {
		part, ok := values[2+i].([]any)
		c.queue = q
		if !ok || !c.read(part, &s.queues[i]) {
			return s, fmt.Errorf("queue: step: unexpected answer %.200v", values[2+i])
		}
	}
	return s, nil
}

// claimBatch is what the tasks of one claim have in common.
type claimBatch struct {
	queue     *served
	partition int
	token     string
	now       int64     // by the clock of Redis, ms
	sent      time.Time // by ours, before it
	until     time.Time
}

// read reads what a step brought from one queue.
func (c *claimBatch) read(values []any, to *steppedQueue) bool {
	if len(values) < 5 || len(values)%2 != 1 {
		return false
	}
	for i, n := range []*int64{&to.left, &to.promoted, &to.reaped, &to.buried} {
		count, ok := values[i].(int64)
		if !ok {
			return false
		}
		*n = count
	}
	with, ok := values[4].([]any)
	if !ok {
		return false
	}
	n := (len(values) - 5) / 2
	if n == 0 {
		return true
	}
	records := make(map[int64]string, len(with)/2)
	for i := 0; i+1 < len(with); i += 2 {
		position, _ := with[i].(int64)
		records[position], _ = with[i+1].(string)
	}
	all := make([]running, n)
	to.runs = make([]*running, n)
	for i := range all {
		id, _ := values[5+2*i].(string)
		spec, _ := values[6+2*i].(string)
		c.fill(&all[i], id, spec, records[int64(i)+1])
		to.runs[i] = &all[i]
	}
	return true
}

// fill makes the run of one task.
func (c *claimBatch) fill(r *running, id, spec, text string) {
	r.queue, r.partition, r.token, r.until = c.queue, c.partition, c.token, c.until
	r.ID, r.Queue = id, c.queue.name
	err := parseSpec(&r.Task, spec)
	var was record
	if err == nil {
		was, err = parseRecord(text)
	}
	if err != nil {
		r.outcome = outcome{verdict: bury, reason: reason(err)}
		return
	}
	r.Attempts, r.crashes, r.LastError = was.attempts, was.crashes, was.err
	r.Attempt = was.attempts + was.crashes + 1
	waited := r.Enqueued.UnixMilli()
	if !r.Due.IsZero() {
		waited = max(waited, r.Due.UnixMilli())
	}
	r.late = span(max(c.now-max(waited, was.due), 0))
	if r.Deadline.IsZero() {
		return
	}
	left := span(r.Deadline.UnixMilli() - c.now)
	if left <= 0 {
		r.outcome = outcome{verdict: expire, reason: errDeadline.Error()}
		return
	}
	r.deadline = c.sent.Add(left)
}

// outcome is the end of one run.
type outcome struct {
	verdict verdict
	delay   time.Duration
	reason  string
}

// answer is what a script said of runs.
type answer struct {
	answered []*running // those that it was asked of
	failed   []*running // those of calls that were not answered
	stale    []*running // answered, and with a token that has no effect
	gone     []*running // stale, and their tasks no longer exist; reported by renew
}

// settle stores the outcomes of runs, in one round trip. What is sent twice has its effect once,
// so after an error of the network it can be repeated.
func (t *queueSet) settle(ctx context.Context, ended []*running, deadMax int) (answer, error) {
	return t.each(ctx, "settle", ended, func(keys []string, some []*running) ([]*running, script.Call) {
		return settleCall(keys, some, deadMax)
	})
}

// settleCall orders runs as settle.lua takes them: the complete ones, those of one claim in a
// row, then the others.
func settleCall(keys []string, runs []*running, deadMax int) (ordered []*running, one script.Call) {
	ordered = make([]*running, 0, len(runs))
	groups := 0
	for _, r := range runs {
		if r.outcome.verdict == complete {
			if groups == 0 || ordered[len(ordered)-1].token != r.token {
				groups++
			}
			ordered = append(ordered, r)
		}
	}
	one = settleScript.Sized(keys, 5*len(runs)).Arg("dead_max", deadMax).Arg("groups", groups)
	for done := ordered; len(done) > 0; {
		n := 1
		for n < len(done) && done[n].token == done[0].token {
			n++
		}
		one = one.MoreArgs("done", done[0].token, n)
		for _, r := range done[:n] {
			one = one.MoreArgs("done", r.ID)
		}
		done = done[n:]
	}
	for _, r := range runs {
		if o := r.outcome; o.verdict != complete {
			ordered = append(ordered, r)
			one = one.MoreArgs("others", "verdict", string(o.verdict), "id", r.ID, "token", r.token, "delay_ms", ceilMs(o.delay),
				"err", o.reason)
		}
	}
	return ordered, one
}

// renew extends leases, in one round trip.
func (t *queueSet) renew(ctx context.Context, held []*running, lease time.Duration) (answer, error) {
	return t.each(ctx, "renew", held, func(keys []string, some []*running) ([]*running, script.Call) {
		one := renewScript.Sized(keys, 2*len(some)).Arg("lease_ms", ceilMs(lease))
		for _, r := range some {
			one = one.MoreArgs("held", "id", r.ID, "token", r.token)
		}
		return some, one
	})
}

// each runs a script on runs: in one round trip, with one call for each settleMax of a
// partition of a queue. callOf makes a call and says in which order it names the runs; the script answers with the places of the stale ones among them, negative
// where they are gone. A call that fails takes nothing from what the others said.
func (t *queueSet) each(ctx context.Context, what string, runs []*running,
	callOf func(keys []string, some []*running) ([]*running, script.Call)) (a answer, err error) {
	if len(runs) == 0 {
		return a, nil
	}
	var calls []*call
	var sent [][]*running
	for _, group := range t.group(runs) {
		for some := range slices.Chunk(group, settleMax) {
			ordered, one := callOf(some[0].queue.work[some[0].partition], some)
			calls = append(calls, &call{Call: one})
			sent = append(sent, ordered)
		}
	}
	_ = run(ctx, t.rdb, calls) // each has its own error
	for i, one := range calls {
		positions, callErr := one.cmd.Int64Slice()
		for _, position := range positions {
			if at := max(position, -position); at < 1 || at > int64(len(sent[i])) {
				callErr = fmt.Errorf("unexpected place %d", position)
			}
		}
		if callErr != nil {
			a.failed, err = append(a.failed, sent[i]...), fmt.Errorf("queue: %s: %w", what, callErr)
			continue
		}
		a.answered = append(a.answered, sent[i]...)
		for _, position := range positions {
			r := sent[i][max(position, -position)-1]
			a.stale = append(a.stale, r)
			if position < 0 {
				a.gone = append(a.gone, r)
			}
		}
	}
	return a, err
}

// group sorts runs by queue and partition.
func (t *queueSet) group(runs []*running) [][]*running {
	if len(t.queues) == 1 && t.partitions == 1 {
		return [][]*running{runs}
	}
	groups := make([][]*running, len(t.queues)*t.partitions)
	for _, r := range runs {
		at := r.queue.index*t.partitions + r.partition
		groups[at] = append(groups[at], r)
	}
	return slices.DeleteFunc(groups, func(g []*running) bool { return len(g) == 0 })
}
