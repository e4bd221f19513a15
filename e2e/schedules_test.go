package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
)

const (
	plannedAll       = 1000
	plannedCancelled = 100
	plannedMoved     = 100
	plannedKills     = 9
	plannedKillEvery = 3 * time.Second       // or longer, where a node takes that long to start
	plannedInMiddle  = 20 * time.Millisecond // after a crowd is due
	plannedGroups    = 4
	plannedCallers   = 12
)

// planned is a scheduled message, and what its owner was told of it.
type planned struct {
	body string // names it in its message

	id        string
	due       time.Time // as acknowledged
	least     time.Time // not before this: the earlier one of two where an answer was lost
	cancelled bool      // acknowledged
	conflict  bool      // a cancel was told that it has fired
}

// arrivals are when messages reached a reader first, and how often they are in what all is there in the end.
type arrivals struct {
	mu    sync.Mutex
	first map[string]time.Time
}

func (a *arrivals) note(body string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, there := a.first[body]; !there || now.Before(before) {
		a.first[body] = now
	}
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.first)
}

// watch notes what reaches the reader at one node until ctx ends.
func (a *arrivals) watch(ctx context.Context, stream *client.Stream) error {
	for {
		event, err := stream.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		switch e := event.(type) {
		case client.Messages:
			for _, m := range e.Messages {
				if m.Kind == client.KindText {
					a.note(m.Body)
				}
			}
		case client.Items:
			for _, item := range e.Items {
				if item.Kind == client.ItemDirect {
					a.note(item.Body)
				}
			}
		case client.Gap:
			return fmt.Errorf("told of a gap: %+v", e)
		}
	}
}

// scheduleRun is what all parts of the test work on.
type scheduleRun struct {
	t       *testing.T
	ctx     context.Context
	nodes   []*harness.Node
	owners  []*client.Client // one at each node
	planned []*planned
	start   time.Time // when the first may be due

	killEvery, over time.Duration // the time between two kills, and that in which all messages are due

	mu        sync.Mutex
	rand      *rand.Rand
	untouched []*planned // neither cancelled nor moved by anyone; the soonest first
}

// planningTakes is how long this machine needs for as many calls as plan makes, going by a few sends to another group.
func (r *scheduleRun) planningTakes() time.Duration {
	r.t.Helper()
	const sample = 10 // of each caller
	must(r.owners[0].CreateGroup(r.ctx, client.GroupDraft{ID: "sample"}))(r.t)
	began := time.Now()
	var sending sync.WaitGroup
	for worker := range plannedCallers {
		sending.Go(func() {
			for range sample {
				if _, err := r.owners[worker%len(r.owners)].Send(r.ctx, "sample", client.Text("x")); err != nil {
					r.t.Error(err)
				}
			}
		})
	}
	sending.Wait()
	return time.Since(began) * plannedAll / (sample * plannedCallers)
}

// plan schedules all messages from many callers: to groups and to a user's inbox, as schedules and as sends for later.
func (r *scheduleRun) plan() {
	r.t.Helper()
	var next int
	var planning sync.WaitGroup
	for worker := range plannedCallers {
		owner := r.owners[worker%len(r.owners)]
		planning.Go(func() {
			for {
				r.mu.Lock()
				i := next
				next++
				due := r.start.Add(time.Duration(r.rand.Int64N(int64(r.over)))).Truncate(time.Millisecond)
				r.mu.Unlock()
				if i >= plannedAll {
					return
				}
				if i%2 == 0 { // a crowd is due just before a node is killed
					due = r.start.Add(due.Sub(r.start).Truncate(r.killEvery)).Truncate(time.Millisecond)
				}
				p := &planned{body: fmt.Sprintf("planned %d", i), due: due, least: due}
				v, err := r.create(owner, i, p)
				if err != nil {
					r.t.Errorf("%s: %v", p.body, err)
					return
				}
				p.id = v.ID
				r.planned[i] = p
			}
		})
	}
	planning.Wait()
	if r.t.Failed() {
		r.t.FailNow()
	}
}

func (r *scheduleRun) create(owner *client.Client, i int, p *planned) (client.Schedule, error) {
	group := fmt.Sprintf("group%d", i%plannedGroups)
	switch i % 5 {
	case 0:
		return owner.CreateSchedule(r.ctx, client.ScheduleDraft{User: "reader", Body: p.body, At: &p.due})
	case 1:
		return owner.SendLater(r.ctx, group, client.Draft{Body: p.body}, p.due)
	default:
		return owner.CreateSchedule(r.ctx, client.ScheduleDraft{Group: group, Body: p.body, At: &p.due})
	}
}

// take takes one that nobody has touched: the one that is due next, to race with its firing, or any that has time.
func (r *scheduleRun) take(soonest bool) *planned {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	first := len(r.untouched)
	for i, p := range r.untouched {
		if p.due.After(now) {
			first = i
			break
		}
	}
	if first == len(r.untouched) {
		return nil
	}
	i := first
	if !soonest {
		i += r.rand.IntN(len(r.untouched) - first)
	}
	p := r.untouched[i]
	r.untouched = slices.Delete(r.untouched, i, i+1)
	return p
}

// each calls do for one planned message after another, spread over the time in which they fire, until it has said
// often enough that it was in time, or a quarter as often and all have fired: on a busy machine most changes come too
// late. Several do so at once, since one whose node was killed waits for it.
func (r *scheduleRun) each(times int, do func(*planned) (inTime bool, err error)) {
	var enough atomic.Int64
	defer func() {
		if n := enough.Load(); n < int64(times)/4 {
			r.t.Errorf("%d of %d changes came in time: the run shows too little", n, times)
		}
	}()
	left := make(chan struct{}, times)
	for range times {
		left <- struct{}{}
	}
	var changing sync.WaitGroup
	for range plannedCallers {
		changing.Go(func() {
			tick := time.NewTicker(r.over * 7 / 10 * plannedCallers / time.Duration(times))
			defer tick.Stop()
			for round := 0; ; round++ {
				select {
				case <-left:
				default:
					return
				}
				<-tick.C
				p := r.take(round%3 == 0)
				if p == nil {
					return // all have fired
				}
				inTime, err := do(p)
				if err != nil {
					r.t.Errorf("%s: %v", p.body, err)
					return
				}
				if inTime {
					enough.Add(1)
				} else {
					left <- struct{}{} // which this one takes again, if nobody else does
				}
			}
		})
	}
	changing.Wait()
}

// cancel cancels one. A 409 says that it has fired.
func (r *scheduleRun) cancel(p *planned) (bool, error) {
	err := r.owners[r.pick()].CancelSchedule(r.ctx, p.id)
	if client.CodeOf(err) == client.CodeConflict {
		p.conflict = true
		return false, nil
	}
	p.cancelled = err == nil
	return p.cancelled, err
}

// move gives one another time, later or sooner. A 409 says that it has fired, and if the answer of a first attempt was
// lost, perhaps at its new time.
func (r *scheduleRun) move(p *planned) (bool, error) {
	r.mu.Lock()
	now := time.Now()
	to := now.Add(time.Second + time.Duration(r.rand.Int64N(int64(max(time.Second, time.Until(r.start.Add(r.over))))))).Truncate(time.Millisecond)
	r.mu.Unlock()
	if to.Before(p.least) {
		p.least = to // until it is known which holds
	}
	v, err := r.update(p.id, to)
	if client.CodeOf(err) == client.CodeConflict {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if v.NextAt != nil && !v.NextAt.Equal(to) {
		// A time that is over when the node hears of it means now.
		if v.NextAt.Before(to) || v.NextAt.After(time.Now().Add(time.Millisecond)) {
			return false, fmt.Errorf("moved to %v, and it says %v", to, v.NextAt)
		}
		to = *v.NextAt
	}
	p.due, p.least = to, to
	return true, nil
}

// update changes the time of one, again where the node died over it: nobody else changes the same.
func (r *scheduleRun) update(id string, to time.Time) (client.Schedule, error) {
	for {
		v, err := r.owners[r.pick()].UpdateSchedule(r.ctx, id, client.ScheduleChange{At: &to})
		if err == nil || client.CodeOf(err) != "" || r.ctx.Err() != nil {
			return v, err
		}
		harness.Pause(r.ctx, 50*time.Millisecond)
	}
}

func (r *scheduleRun) pick() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.IntN(len(r.owners))
}

// kill kills a node every three seconds, in the middle of what is due then, and starts it again, until the last is due.
func (r *scheduleRun) kill() {
	for i := range plannedKills {
		harness.Pause(r.ctx, time.Until(r.start.Add(time.Duration(i+1)*r.killEvery+plannedInMiddle)))
		node := r.nodes[i%len(r.nodes)]
		node.Kill()
		node.Launch()
	}
	harness.Pause(r.ctx, time.Until(r.start.Add(r.over)))
}

// TestSchedulesWhileNodesDie schedules 1,000 messages over 30 s on three nodes of which one is killed every three
// seconds, cancels 100 of them and moves 100: 900 messages come, each once, none before its time, none that was cancelled.
// All that takes longer where a node takes longer to start.
func TestSchedulesWhileNodesDie(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 9*time.Minute) // planning takes as long as the machine needs
	on := deploy(t)
	r := &scheduleRun{t: t, ctx: ctx, rand: random(t), planned: make([]*planned, plannedAll)}
	_ = harness.Binary(t) // building it is no part of a start
	r.killEvery = plannedKillEvery
	for range 3 {
		began := time.Now()
		node := harness.StartNode(t, harness.Config{Redis: on.url})
		r.killEvery = max(r.killEvery, 3*time.Since(began)/2)
		r.nodes, r.owners = append(r.nodes, node), append(r.owners, node.Client("owner", patient()))
	}
	r.over = (plannedKills + 1) * r.killEvery
	for i := range plannedGroups {
		must(r.owners[0].CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprintf("group%d", i), Members: []string{"reader"}}))(t)
	}
	got := &arrivals{first: map[string]time.Time{}}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var readers sync.WaitGroup
	for _, node := range r.nodes {
		stream := must(node.Client("reader", patient()).Stream(reading, quick(nil)))(t)
		readers.Go(func() {
			defer stream.Close()
			if err := got.watch(reading, stream); err != nil {
				t.Error(err)
			}
		})
	}

	takes := r.planningTakes()
	began := time.Now()
	r.start = began.Add(5*time.Second + 2*takes)
	r.plan()
	t.Logf("%d messages scheduled in %v", plannedAll, time.Since(began).Round(time.Millisecond))
	r.untouched = slices.SortedFunc(slices.Values(r.planned), func(a, b *planned) int { return a.due.Compare(b.due) })
	harness.Pause(ctx, time.Until(r.start))
	var changing sync.WaitGroup
	changing.Go(func() { r.each(plannedCancelled, r.cancel) })
	changing.Go(func() { r.each(plannedMoved, r.move) })
	r.kill()
	changing.Wait()
	for _, node := range r.nodes {
		harness.Eventually(t, 20*time.Second, "the node is back", node.Ready)
	}
	if t.Failed() {
		t.FailNow()
	}
	// What was being sent when its node was killed comes when its lease has ended.
	for n := got.count(); n < r.wanted(); n = got.count() {
		harness.Eventually(t, 30*time.Second, "more of what was not cancelled comes", func() error {
			if got.count() == n {
				return fmt.Errorf("%d messages came", n)
			}
			return nil
		})
	}
	stop()
	readers.Wait()
	o := must(taskOptions(on.url, on.partitions))(t)
	tasks := must(must(queue.NewClient(o))(t).Stats(ctx))(t)
	_ = o.Client.Close()
	if tasks.Crashed < 3 {
		t.Errorf("%d tasks whose node died over them: the run shows too little", tasks.Crashed)
	}
	t.Logf("a kill every %v; %d tasks whose node died over them", r.killEvery.Round(time.Millisecond), tasks.Crashed)
	r.check(got)
}

// wanted is how many messages come: all that were not cancelled.
func (r *scheduleRun) wanted() (n int) {
	for _, p := range r.planned {
		if !p.cancelled {
			n++
		}
	}
	return n
}

// check holds what is there in the end against what the owner was told.
func (r *scheduleRun) check(got *arrivals) {
	r.t.Helper()
	sent := r.sent()
	total, conflicts := 0, 0
	var late []time.Duration
	for _, p := range r.planned {
		messages := sent[p.body]
		total += len(messages)
		want := 1
		if p.cancelled {
			want = 0
		}
		if p.conflict {
			conflicts++
		}
		if len(messages) != want {
			r.t.Errorf("%s (cancelled %v, refused as fired %v): got %d messages, want %d", p.body, p.cancelled, p.conflict, len(messages), want)
			continue
		}
		if want == 0 {
			continue
		}
		came := got.first[p.body]
		if at := messages[0]; at.Before(p.least) || came.Before(p.least) {
			r.t.Errorf("%s: sent at %v, came at %v, due was %v", p.body, at, came, p.least)
		}
		late = append(late, came.Sub(p.due))
	}
	if want := r.wanted(); total != want {
		r.t.Errorf("%d messages are there, want %d", total, want)
	}
	r.ended()
	slices.Sort(late)
	r.t.Logf("%d messages; %d cancels came too late; lateness until it was read: p50 %v, p99 %v, most %v", total, conflicts,
		late[len(late)/2].Round(time.Millisecond), late[len(late)*99/100].Round(time.Millisecond), late[len(late)-1].Round(time.Millisecond))
}

// sent reads all that was sent, with when, by its body.
func (r *scheduleRun) sent() map[string][]time.Time {
	r.t.Helper()
	sent := map[string][]time.Time{}
	for i := range plannedGroups {
		after := client.At(0)
		for more := true; more; {
			page := must(r.owners[0].Messages(r.ctx, fmt.Sprintf("group%d", i), client.Range{After: after, Limit: 1000}))(r.t)
			for _, m := range page.Messages {
				if m.Kind == client.KindText {
					sent[m.Body] = append(sent[m.Body], m.SentAt)
				}
			}
			after, more = page.Cursor, page.HasMore
		}
	}
	reader := r.nodes[0].Client("reader", patient())
	var seq int64
	for more := true; more; {
		page := must(reader.Inbox(r.ctx, &seq, 500))(r.t)
		if !page.Complete {
			r.t.Error("items of the inbox were dropped")
		}
		for _, item := range page.Items {
			if item.Kind == client.ItemDirect {
				sent[item.Body] = append(sent[item.Body], item.SentAt)
			}
		}
		seq, more = page.To, page.HasMore
	}
	return sent
}

// ended checks that every schedule says itself what became of it.
func (r *scheduleRun) ended() {
	r.t.Helper()
	states := map[string]client.Schedule{}
	for cursor := ""; ; {
		page, next, err := r.owners[0].Schedules(r.ctx, client.Page{Limit: 1000, Cursor: cursor})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, v := range page {
			states[v.ID] = v
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for _, p := range r.planned {
		state, sent := client.ScheduleDone, int64(1)
		if p.cancelled {
			state, sent = client.ScheduleCancelled, 0
		}
		if v, there := states[p.id]; !there || v.State != state || v.Sent != sent || v.LastError != nil {
			r.t.Errorf("%s: its schedule says %+v (there: %v), want %s and %d sent", p.body, v, there, state, sent)
		}
	}
}
