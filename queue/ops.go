package queue

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
	"github.com/chatd/chatd/queue/script"
)

// serverQueue is a queue as one of a server's several.
type serverQueue struct {
	*Client
	index int // its position in set.queues
}

// queueSet is the queues that one server serves. One step script serves all of them in a partition.
type queueSet struct {
	rdb        Redis
	partitions int
	queues     []*serverQueue
	keys       [][]string // by partition: Keys.Work of every queue, one after the other
}

func newQueueSet(clients ...*Client) queueSet {
	first := clients[0]
	t := queueSet{rdb: first.rdb, partitions: first.partitions, keys: make([][]string, first.partitions)}
	for i, c := range clients {
		t.queues = append(t.queues, &serverQueue{Client: c, index: i})
		for p := range t.keys {
			t.keys[p] = append(t.keys[p], c.work[p]...)
		}
	}
	return t
}

// claimDemand is what a worker wants to claim from one queue.
type claimDemand struct {
	n     int    // at most
	order string // the priority of each claim, see step.lua
}

// stepDemand is what a worker asks of one step in one partition.
type stepDemand struct {
	partition int
	overdue   int           // promotions and reaps in each queue, at most; 0 = do neither
	claims    []claimDemand // by queue
}

// wanted returns how many tasks it asks for, in all queues.
func (w *stepDemand) wanted() (n int) {
	for _, c := range w.claims {
		n += c.n
	}
	return n
}

// stepped is the result of a step.
type stepped struct {
	wait   time.Duration // until the next due time or end of a lease; negative = none known
	queues []steppedQueue
}

type steppedQueue struct {
	left     int64 // ready tasks that were not claimed
	promoted int64
	reaped   int64
	buried   int64 // of the reaped
	lapsed   []any // of the reaped by kind, as step.lua returns it
	runs     []*running
}

// terms are the conditions under which a server claims.
type terms struct {
	lease      time.Duration
	crashesMax int
	backoffMin time.Duration
	dead       deadBounds
}

// deadBounds bound the dead letters of a partition of a queue; the newest ones stay.
type deadBounds struct {
	n     int
	bytes int64
}

// stepCall is a call of step.lua; token is the fencing token of its claims.
type stepCall struct {
	call
	token string
}

func (t *queueSet) stepCall(w stepDemand, with terms) *stepCall {
	token := newToken()
	one := stepScript.Sized(t.keys[w.partition], 2*len(w.claims)).
		Arg("lease_ms", option.CeilMs(with.lease)).Arg("overdue_max", w.overdue).Arg("crashes_max", with.crashesMax).
		Arg("backoff_ms", option.CeilMs(with.backoffMin)).Arg("jitter", rand.IntN(1000)).Arg("dead_max", with.dead.n).
		Arg("dead_bytes_max", with.dead.bytes).Arg("token", token)
	for _, c := range w.claims {
		one = one.MoreArgs("claims", "claim", c.n, "order", c.order)
	}
	return &stepCall{call{Call: one}, token}
}

// readStep parses the answer to a stepCall that was sent at the given time. It also returns a task whose specification
// cannot be read (written by another version), or whose deadline has passed, with its verdict set: these are leased now
// and have to be buried.
func (t *queueSet) readStep(partition int, one *stepCall, sent time.Time, with terms) (s stepped, err error) {
	values, err := one.cmd.Slice()
	if err != nil {
		return s, err
	}
	if len(values) != 2+len(t.queues) {
		return s, fmt.Errorf("queue: step: unexpected answer of %d values", len(values))
	}
	now, ok := values[0].(int64)
	wait, okWait := values[1].(int64)
	if !ok || !okWait {
		return s, fmt.Errorf("queue: step: unexpected answer %.200v", values)
	}
	s = stepped{wait: option.Span(wait), queues: make([]steppedQueue, len(t.queues))}
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
	queue     *serverQueue
	partition int
	token     string
	now       int64     // by the clock of Redis, ms
	sent      time.Time // by our clock, before the call
	until     time.Time
}

// read parses what a step returned for one queue.
func (c *claimBatch) read(values []any, to *steppedQueue) bool {
	if len(values) < 5 || len(values)%2 != 1 {
		return false
	}
	for i, n := range []*int64{&to.left, &to.promoted, &to.reaped} {
		count, ok := values[i].(int64)
		if !ok {
			return false
		}
		*n = count
	}
	var okLapsed bool
	with, ok := values[4].([]any)
	if to.lapsed, okLapsed = values[3].([]any); !ok || !okLapsed {
		return false
	}
	for i := 2; i < len(to.lapsed); i += 3 {
		to.buried += script.Reply(to.lapsed).Number(i)
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

// fill sets up the run of one task.
func (c *claimBatch) fill(r *running, id, spec, text string) {
	r.queue, r.partition, r.token, r.until = c.queue, c.partition, c.token, c.until
	r.ID, r.Queue, r.claimedMs = id, c.queue.name, c.now
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
	r.late = option.Span(max(c.now-max(waited, was.due), 0))
	if r.Deadline.IsZero() {
		return
	}
	left := option.Span(r.Deadline.UnixMilli() - c.now)
	if left <= 0 {
		r.outcome = outcome{verdict: expire, reason: errDeadline.Error()}
		return
	}
	r.deadline = c.sent.Add(left)
}

// outcome is how one run ended.
type outcome struct {
	verdict verdict
	delay   time.Duration
	reason  string
	fires   *firing // of verdict fire
	result  []byte  // of verdict complete, of a task with Keep
}

// answer is what a script returned about runs.
type answer struct {
	answered []*running // runs of calls that were answered
	failed   []*running // runs of calls that failed
	stale    []*running // answered, but their tokens were stale
	gone     []*running // stale, and the task no longer exists; reported by renew
}

// settle stores the outcomes of runs, in one round trip. An outcome that is sent twice takes effect once, so the call
// can be repeated after a network error.
func (t *queueSet) settle(ctx context.Context, ended []*running, dead deadBounds) (answer, error) {
	var fires []*running
	if slices.ContainsFunc(ended, isFiring) {
		for _, r := range ended {
			if isFiring(r) {
				fires = append(fires, r)
			}
		}
		ended = slices.DeleteFunc(slices.Clone(ended), isFiring)
	}
	a, err := t.each(ctx, "settle", ended, func(keys []string, some []*running) ([]*running, script.Call) {
		return settleCall(keys, some, dead)
	})
	b, errFires := t.each(ctx, "fire", fires, fireCall)
	a.answered, a.failed, a.stale = append(a.answered, b.answered...), append(a.failed, b.failed...), append(a.stale, b.stale...)
	return a, cmp.Or(err, errFires)
}

func isFiring(r *running) bool { return r.outcome.fires != nil }

// fireCall stores the outcomes of runs that fire periodic tasks.
func fireCall(keys []string, runs []*running) ([]*running, script.Call) {
	first := runs[0]
	one := periodicFireScript.Sized(keys, 5*len(runs)).Key("periodic", first.queue.keys[first.partition].Of("periodic"))
	for _, r := range runs {
		f := r.outcome.fires
		one = one.MoreArgs("fires", "id", r.ID, "token", r.token, "name", f.name, "occurrences", f.times(), "next_ms", f.nextMs)
	}
	return runs, one
}

// plainlyDone reports whether a run completes a task that leaves nothing to do but to remove it, and to free its slot.
func (r *running) plainlyDone() bool {
	return r.outcome.verdict == complete && !r.UniqueUntilEnd && r.Batch == nil && r.Keep == 0 && len(r.Then) == 0
}

// settleCall orders runs the way settle.lua takes them: the completed ones, those with limits first, each by claim, then
// the others.
func settleCall(keys []string, runs []*running, dead deadBounds) (ordered []*running, one script.Call) {
	ordered = make([]*running, 0, len(runs))
	for _, r := range runs {
		if r.plainlyDone() && r.Limit != nil {
			ordered = append(ordered, r)
		}
	}
	limits := len(ordered)
	for _, r := range runs {
		if r.plainlyDone() && r.Limit == nil {
			ordered = append(ordered, r)
		}
	}
	done, groups := make([]any, 0, 2*len(runs)+16), 0
	for n, i := 0, 0; i < len(ordered); i++ {
		if n++; i+1 == len(ordered) || ordered[i+1].token != ordered[i].token {
			done = append(done, ordered[i].token, n)
			groups, n = groups+1, 0
		}
	}
	accounts := false
	for _, r := range ordered {
		accounts = accounts || strings.Contains(r.ID, "~")
		done = append(done, &r.ID)
	}
	one = settleScript.Sized(keys, 6*len(runs)).Arg("dead_max", dead.n).Arg("dead_bytes_max", dead.bytes).
		Arg("accounts", accounts).Arg("groups", groups).
		MoreArgs("done", done...)
	if limits == 0 && !accounts && len(ordered) == len(runs) {
		return ordered, one
	}
	one = one.MoreArgs("done", limits)
	for _, r := range ordered[:limits] {
		one = one.MoreArgs("done", &r.Limit.Key)
	}
	var successors []any
	for _, r := range runs {
		if r.outcome.verdict == complete {
			for i := range r.Then {
				next := r.Then[i].asSuccessor()
				successors = append(successors, r.ID, next.ID, next.Kind, next.Payload, next.Priority, next.DueMs, next.DelayMs, next.Unique,
					next.AttemptsMax, next.DeadlineMs, next.Options)
			}
		}
	}
	one = one.MoreArgs("done", len(successors)/11).MoreArgs("done", successors...)
	for _, r := range runs {
		if o := r.outcome; !r.plainlyDone() {
			ordered = append(ordered, r)
			delay, text := o.delay, any(o.reason)
			if o.verdict == complete {
				delay, text = r.Keep, o.result
			}
			one = one.MoreArgs("others", "verdict", string(o.verdict), "id", r.ID, "token", r.token, "delay_ms", option.CeilMs(delay),
				"err", text, "limited", r.Limit != nil)
		}
	}
	return ordered, one
}

// renew extends leases, in one round trip.
func (t *queueSet) renew(ctx context.Context, held []*running, lease time.Duration) (answer, error) {
	return t.each(ctx, "renew", held, func(keys []string, some []*running) ([]*running, script.Call) {
		one := renewScript.Sized(keys, 2*len(some)).Arg("lease_ms", option.CeilMs(lease))
		for _, r := range some {
			one = one.MoreArgs("held", "id", r.ID, "token", r.token)
		}
		return some, one
	})
}

// each runs a script on runs in one round trip, with a call for each settleMax runs of a queue in a partition. callOf
// makes a call and returns the order in which it names the runs. The script returns the positions of the stale runs
// among them, negative if their tasks are gone. A call that fails does not affect the answers of the others.
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
				callErr = fmt.Errorf("unexpected position %d", position)
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

// group groups runs by queue and partition.
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
