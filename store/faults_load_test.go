package store

import (
	"cmp"
	"context"
	flags "flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/interval"
	"github.com/chatd/chatd/internal/redistest"
)

var (
	faultCycles = flags.Int("fault-cycles", 1, "how often TestClusterFaults and TestSentinelFaults go through all their faults")
	faultHang   = flags.Duration("fault-hang", 0, "how long a master hangs at least in these; 0: until another serves")
)

// resumesWithin is how soon sends succeed after a promotion, on a machine that has nothing else to do.
const resumesWithin = 6 * time.Second

// shardSends sends to one group without a pause and keeps what was acknowledged, while two clients read the group.
type shardSends struct {
	group  string
	home   *redistest.Server
	reader *shardReader
	absent *shardReader // comes back at the end: until then, other messages may have the ids of what was lost

	sent, failed atomic.Int64
	slowest      atomic.Int64 // ns
	outage       atomic.Int64 // ns: the longest time between two sends that succeeded
	mu           sync.Mutex
	acked        map[string]int64 // mark to id, of those that a replica had
	memory       map[string]int64 // of the others
}

func newShardSends(group string, home *redistest.Server) *shardSends {
	return &shardSends{group: group, home: home, reader: newShardReader(group), absent: newShardReader(group),
		acked: map[string]int64{}, memory: map[string]int64{}}
}

func (l *shardSends) run(ctx context.Context, s *Store) {
	succeeded := time.Now()
	pause := time.NewTicker(3 * time.Millisecond) // what is refused at once is not repeated at once
	defer pause.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		mark := fmt.Sprintf("%06d", n)
		durability := chat.DurabilityReplica // the others take another way
		if n%2 == 0 {
			durability = chat.DurabilityMemory
		}
		began := time.Now()
		done, err := s.Append(context.WithoutCancel(ctx), chat.Append{Group: l.group, From: "alice", Kind: chat.Text, Mark: mark, SentAtMs: 1,
			Durability: durability, Rest: []byte(`"group":"` + l.group + `","from":"alice","kind":"text","body":"x"}`)})
		l.slowest.Store(max(l.slowest.Load(), int64(time.Since(began))))
		if err != nil {
			l.failed.Add(1)
			<-pause.C
			continue
		}
		l.outage.Store(max(l.outage.Load(), int64(time.Since(succeeded))))
		succeeded = time.Now()
		l.mu.Lock()
		if done.Durability == chat.DurabilityReplica {
			l.acked[mark] = done.ID
		} else {
			l.memory[mark] = done.ID
		}
		l.mu.Unlock()
		l.sent.Add(1)
	}
}

// await waits for more sends to succeed.
func (l *shardSends) await(t *testing.T, more int64) {
	t.Helper()
	want := l.sent.Load() + more
	if !comes(func() bool { return l.sent.Load() >= want }) {
		t.Fatalf("sends to %s on %s do not succeed; %d failed", l.group, l.home.Addr, l.failed.Load())
	}
}

// arrives waits until a server that was just promoted gets sends, and returns how long that took.
func (l *shardSends) arrives(t *testing.T, s *Store, heir *redistest.Server) time.Duration {
	t.Helper()
	promoted, key := time.Now(), s.keys.group(l.group).msgs()
	l.absent.away.Store(true)
	before := heir.Int("ZCARD", key)
	if !comes(func() bool { return heir.Int("ZCARD", key) > before }) {
		t.Fatalf("no send to %s comes to %s; %d failed", l.group, heir.Addr, l.failed.Load())
	}
	took := time.Since(promoted)
	l.await(t, 1)
	return took
}

// comes waits for something of the background, and reports whether it came.
func comes(holds func() bool) bool {
	var every interval.Growing
	deadline := time.After(time.Minute)
	for !holds() {
		select {
		case <-deadline:
			return false
		case <-every.Next():
		}
	}
	return true
}

// stored returns the marks of what is there, by id.
func (l *shardSends) stored(t *testing.T, s *Store) map[int64]string {
	t.Helper()
	stored, times := map[int64]string{}, map[string]int{}
	for from := int64(1); ; {
		entries, end, err := s.Range(t.Context(), l.group, from, 1000, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entries {
			stored[m.ID] = m.Mark
			if times[m.Mark]++; times[m.Mark] > 1 {
				t.Errorf("%s: message %s is there %d times", l.group, m.Mark, times[m.Mark])
			}
			from = m.ID + 1
		}
		if len(entries) == 0 || from > end.Last {
			return stored
		}
	}
}

// check compares what was acknowledged, and what the reader holds, with what is stored. It returns how many were lost that a
// replica had, and how many others.
func (l *shardSends) check(t *testing.T, s *Store) (confirmed, lost int) {
	t.Helper()
	stored := l.stored(t, s)
	l.mu.Lock()
	defer l.mu.Unlock()
	for mark, id := range l.acked {
		if stored[id] != mark {
			confirmed++
			t.Errorf("%s: message %s with id %d was acknowledged, and %q is there", l.group, mark, id, stored[id])
		}
	}
	if len(l.acked) == 0 {
		t.Errorf("%s: nothing was acknowledged by a replica", l.group)
	}
	for mark, id := range l.memory {
		if stored[id] != mark {
			lost++
		}
	}
	l.reader.check(t, s, stored)
	l.absent.check(t, s, stored)
	return confirmed, lost
}

// shardReader is a client that reads a group all the time and keeps everything, until it is told that something is gone.
type shardReader struct {
	group  string
	cursor string
	held   map[int64]string // id to mark

	read, notified, lost int // lost: of what it held when it was told
	former               map[int64]string
	batches              atomic.Int64 // with messages
	away                 atomic.Bool  // it reads nothing
}

func newShardReader(group string) *shardReader {
	return &shardReader{group: group, held: map[int64]string{}}
}

func (r *shardReader) run(ctx context.Context, t *testing.T, s *Store) {
	service := chat.New(s, chat.Options{Limits: chat.DefaultLimits()})
	tick := time.NewTicker(10 * time.Millisecond) // a client that has everything is woken by the next message
	defer tick.Stop()
	for ctx.Err() == nil && !t.Failed() && !r.away.Load() {
		if err := r.pull(t, service); err == nil || chat.CodeOf(err) == chat.CodeUnavailable {
			<-tick.C
			continue
		} else if ctx.Err() == nil {
			t.Errorf("the reader of %s: %v", r.group, err)
		}
		return
	}
}

// await waits until the reader has taken some more.
func (r *shardReader) await(t *testing.T) {
	t.Helper()
	before := r.batches.Load()
	if !comes(func() bool { return r.batches.Load() > before+1 }) { // the next one may have begun before
		t.Fatalf("the reader of %s gets nothing", r.group)
	}
}

// pull takes the next batch, which goes on where the last one ended or says that it does not.
func (r *shardReader) pull(t *testing.T, service *chat.Service) error {
	q := chat.PullQuery{Limit: 1000}
	if r.cursor != "" {
		q.After = &r.cursor
	}
	batch, _, err := service.Pull(context.Background(), chat.Caller{User: "alice"}, r.group, q)
	if err != nil {
		return err
	}
	if !batch.Complete {
		if r.notified++; r.former == nil {
			r.former = r.held
		}
		r.held = map[int64]string{}
	}
	if want := int64(len(r.held)) + 1; batch.From != want {
		t.Errorf("%s: the reader gets messages from %d on (complete is %v), want %d", r.group, batch.From, batch.Complete, want)
	}
	for i, m := range batch.Messages {
		if m.ID != batch.From+int64(i) {
			t.Errorf("%s: place %d of a batch from %d has id %d", r.group, i, batch.From, m.ID)
		}
		r.held[m.ID] = m.Mark
		r.read++
	}
	if r.cursor = batch.Cursor; len(batch.Messages) > 0 {
		r.batches.Add(1)
	}
	if !batch.HasMore {
		r.settle(t)
	}
	return nil
}

// settle counts what was lost of what the reader held when it was told. It was told in vain if nothing was.
func (r *shardReader) settle(t *testing.T) {
	if r.former == nil {
		return
	}
	lost := 0
	for id, mark := range r.former {
		if r.held[id] != mark {
			lost++
		}
	}
	if lost == 0 {
		t.Errorf("the reader of %s was told of a loss, and nothing that it held is gone", r.group)
	}
	r.lost, r.former = r.lost+lost, nil
}

// check reads the rest, and compares everything that the reader holds then with what is there: what it holds and is not there, it
// was not told about.
func (r *shardReader) check(t *testing.T, s *Store, stored map[int64]string) {
	t.Helper()
	service := chat.New(s, chat.Options{Limits: chat.DefaultLimits()})
	for first := true; first || len(r.held) < len(stored) || r.former != nil; first = false {
		if err := r.pull(t, service); err != nil || t.Failed() {
			t.Fatalf("the reader of %s has %d messages of %d: %v", r.group, len(r.held), len(stored), err)
		}
	}
	if !maps.Equal(r.held, stored) {
		t.Errorf("the reader of %s holds other messages than are there, and was not told", r.group)
	}
}

// faultCount is what came of one kind of fault, over all cycles.
type faultCount struct {
	cycles, sent, failed          int64
	elsewhere, elsewhereFailed    int64
	confirmedLost, memoryLost     int64
	heldLost, notified            int64
	resumed, outage, outElsewhere []time.Duration
}

// faultCounts are those of all kinds, in the order in which they came first.
type faultCounts struct {
	names []string
	of    map[string]*faultCount
}

// add counts one cycle. The first of the groups is on the shard that had the fault. resumed is negative where nothing was promoted.
func (f *faultCounts) add(t *testing.T, name string, s *Store, resumed time.Duration, groups ...*shardSends) (memoryLost int) {
	t.Helper()
	c := f.of[name]
	if c == nil {
		c = &faultCount{}
		if f.of == nil {
			f.of = map[string]*faultCount{}
		}
		f.names, f.of[name] = append(f.names, name), c
	}
	c.cycles++
	for i, g := range groups {
		confirmed, lost := g.check(t, s)
		memoryLost += lost
		c.confirmedLost, c.memoryLost = c.confirmedLost+int64(confirmed), c.memoryLost+int64(lost)
		for _, r := range []*shardReader{g.reader, g.absent} {
			c.heldLost, c.notified = c.heldLost+int64(r.lost), c.notified+int64(r.notified)
		}
		c.sent += g.sent.Load()
		if i == 0 {
			c.failed += g.failed.Load()
			c.outage = append(c.outage, time.Duration(g.outage.Load()))
			continue
		}
		c.elsewhere, c.elsewhereFailed = c.elsewhere+g.sent.Load(), c.elsewhereFailed+g.failed.Load()
		c.outElsewhere = append(c.outElsewhere, time.Duration(g.outage.Load()))
		if g.failed.Load()*100 > g.sent.Load() {
			t.Errorf("another shard: %d sends failed, and %d succeeded", g.failed.Load(), g.sent.Load())
		}
	}
	if resumed >= 0 {
		c.resumed = append(c.resumed, resumed)
	}
	return memoryLost
}

// log writes a line for each kind of fault.
func (f *faultCounts) log(t *testing.T) {
	t.Helper()
	for _, name := range f.names {
		c := f.of[name]
		t.Logf("%s: %d cycles, %d sends acknowledged, %d failed; elsewhere %d acknowledged, %d failed; lost %d that a replica had, %d "+
			"others; readers were notified %d times, of %d messages that they held; no send succeeded for %s, elsewhere for %s; "+
			"the first succeeded after a promotion by %s", name, c.cycles, c.sent, c.failed, c.elsewhere, c.elsewhereFailed, c.confirmedLost,
			c.memoryLost, c.notified, c.heldLost, spread(c.outage), spread(c.outElsewhere), spread(c.resumed))
	}
}

// spread says what the median and the longest of times are.
func spread[T cmp.Ordered](times []T) string {
	if len(times) == 0 {
		return "-"
	}
	slices.Sort(times)
	return fmt.Sprintf("%v (at most %v)", times[len(times)/2], times[len(times)-1])
}
