package limit

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"off": {}, "100/s": {100, time.Second, 100}, "600/10m": {600, 10 * time.Minute, 600}, "5/h:20": {5, time.Hour, 20},
		"1000000/s:1000000": {1_000_000, time.Second, 1_000_000},
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "0/s", "-1/s", "1.5/s", "100", "100/", "100/d", "100/0s", "100/s:", "100/s:0", "100/s:x", " 100/s", "100/S", "1e3/s",
		"1000001/s", "1/h:25", "9999999/s", "100/99999s", "OFF",
	} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q was taken as %+v", text, got)
		}
	}
}

// FuzzParseRate: what is taken can be counted with.
func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"off", "100/s", "1/24h", "1000000/s:1000000", "1/9999h:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRate(text)
		if err != nil || r.Off() {
			return
		}
		if r.interval() <= 0 || r.fill() <= 0 || r.fill() > fillMax || r.left(0, time.Hour) != r.Burst {
			t.Errorf("%q: interval %s, fill %s, left %d", text, r.interval(), r.fill(), r.left(0, time.Hour))
		}
	})
}

// TestRateAgainstModel compares GCRA with what it stands for: a bucket that holds up to Burst units and gets one each
// interval. The model keeps the bucket's content, in nanoseconds of filling; GCRA keeps the time at which it is full.
func TestRateAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{
			Count: rapid.IntRange(1, 2000).Draw(t, "count"), Burst: rapid.IntRange(1, 500).Draw(t, "burst"),
			Per: rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour}).Draw(t, "per"),
		}
		var now, full, given time.Duration
		content := r.fill()
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			pass := time.Duration(rapid.Int64Range(0, 2*int64(r.interval())).Draw(t, "pass"))
			if rapid.IntRange(0, 9).Draw(t, "pause") == 0 {
				pass *= time.Duration(r.Burst)
			}
			now += pass
			content = min(content+pass, r.fill())
			cost := rapid.IntRange(1, 2*r.Burst).Draw(t, "cost")
			price := r.interval() * time.Duration(min(cost, r.Burst))

			next, wait := r.take(full, now, cost)
			if gave := wait == 0; gave != (content >= price) {
				t.Fatalf("%+v: cost %d with %s in the bucket: given %v", r, cost, content, gave)
			}
			if wait > 0 && wait != price-content {
				t.Fatalf("%+v: wait %s, want %s", r, wait, price-content)
			}
			if wait == 0 {
				content -= price
				given += price
			}
			full = next
			if got, want := r.left(full, now), int(content/r.interval()); got != want {
				t.Fatalf("%+v: %d units left, want %d", r, got, want)
			}
			if given > r.fill()+now {
				t.Fatalf("%+v: gave %s in %s", r, given, now)
			}
		}
	})
}

func at(now *time.Duration) func() time.Duration { return func() time.Duration { return *now } }

func TestGive(t *testing.T) {
	var now time.Duration
	b := newBuckets[string]("x", Rate{1, time.Second, 3}, at(&now))
	b.take("a", 3)
	b.give("a", 1)
	if _, _, wait := b.take("a", 1); wait != 0 {
		t.Errorf("what was given back: wait %s", wait)
	}
	if _, _, wait := b.take("a", 1); wait != time.Second {
		t.Errorf("an empty bucket: wait %s, want 1s", wait)
	}
	now = time.Hour
	b.give("a", 3)
	if left, _, _ := b.take("a", 1); left != 2 {
		t.Errorf("a full bucket that was given more: %d left after one, want 2", left)
	}
}

func TestAddressKey(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := AddressKey(netip.MustParseAddr(text)).String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestWhoIsLimited(t *testing.T) {
	one := Rate{1, time.Minute, 1}
	for _, loopback := range []bool{false, true} {
		l := New(Options{User: one, Send: one, IP: one, Calls: 1, Polls: 1, Conns: 1, LoopbackRate: loopback, LoopbackConns: loopback})
		local, far := netip.MustParseAddr("::1"), netip.MustParseAddr("192.0.2.1")
		for range 3 {
			if _, err := l.Spend(chat.Caller{User: "root", Admin: true}, CostOf("send", 0)); err != nil {
				t.Errorf("an operator was refused: %v", err)
			}
		}
		for i := range 3 {
			_, localErr := l.SpendAddress(local, Cost{User: 1})
			_, farErr := l.SpendAddress(far, Cost{User: 1})
			if (localErr != nil) != (loopback && i > 0) || (farErr != nil) != (i > 0) {
				t.Errorf("call %d, loopback limited %v: %v from this host, %v from another", i, loopback, localErr, farErr)
			}
			localErr, farErr = l.EnterConn(local), l.EnterConn(far)
			if (localErr != nil) != (loopback && i > 0) || (farErr != nil) != (i > 0) {
				t.Errorf("connection %d, loopback limited %v: %v from this host, %v from another", i, loopback, localErr, farErr)
			}
		}
	}
	var none *Limits
	if _, err := none.Spend(chat.Caller{User: "a"}, CostOf("send", 0)); err != nil || none.EnterConn(netip.Addr{}) != nil {
		t.Error("no limits limit")
	}
}

func TestHeaders(t *testing.T) {
	l := New(Options{User: Rate{10, time.Second, 50}, Send: Rate{1, time.Minute, 2}})
	alice := chat.Caller{User: "alice"}
	var h http.Header
	spend := func() error {
		q, err := l.Spend(alice, CostOf("send", 0))
		h = http.Header{}
		q.Write(h)
		return err
	}
	if err := spend(); err != nil {
		t.Fatal(err)
	}
	if got, want := h.Get("RateLimit"), `"user";r=49;t=1, "send";r=1;t=60`; got != want {
		t.Errorf("RateLimit: got %s, want %s", got, want)
	}
	if got, want := h.Get("RateLimit-Policy"), `"user";q=50;w=5, "send";q=2;w=120`; got != want {
		t.Errorf("RateLimit-Policy: got %s, want %s", got, want)
	}
	_ = spend()
	err := spend()
	if e, ok := err.(*chat.Error); !ok || e.Code != chat.CodeRateLimited || e.RetryAfter <= 59*time.Second || e.RetryAfter > time.Minute { //nolint:errorlint // the very one
		t.Errorf("the third send: %v, want rate_limited for a minute", err)
	}
}

// TestAtOnce: never more than allowed, a burst is served in turn, a flood is refused, and nothing is held afterwards.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtOnce[string](4, time.Second, 40)
		var mu sync.Mutex
		var underWay, most, served, refused int
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				ok := a.enter(t.Context(), "alice")
				mu.Lock()
				if !ok {
					refused++
					mu.Unlock()
					return
				}
				underWay++
				most = max(most, underWay)
				mu.Unlock()
				<-time.After(300 * time.Millisecond) // of the bubble
				mu.Lock()
				underWay--
				served++
				mu.Unlock()
				a.leave("alice")
			})
		}
		synctest.Wait()
		if !a.enter(t.Context(), "bob") {
			t.Error("bob waits for alice")
		}
		a.leave("bob")
		calls.Wait()
		// Turns come at 0, 300, 600 and 900 ms; who waits longer than a second is refused.
		if most != 4 || served != 16 || refused != 84 || len(a.held) != 0 {
			t.Errorf("%d at once, %d served, %d refused, %d held; want 4, 16, 84, 0", most, served, refused, len(a.held))
		}
	})
}

// TestAtOnceGivesUp: a call whose client is gone leaves the queue.
func TestAtOnceGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtOnce[string](1, time.Minute, 10)
		a.enter(t.Context(), "alice")
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan bool, 1)
		go func() { left <- a.enter(ctx, "alice") }()
		synctest.Wait()
		cancel()
		if <-left {
			t.Error("it got a turn that nobody gave up")
		}
		a.leave("alice")
		if len(a.held) != 0 {
			t.Errorf("%d held", len(a.held))
		}
	})
}

// TestAtOnceGivesUpInTurn: a call whose turn comes in the moment in which its client goes either has it or is out of the queue.
func TestAtOnceGivesUpInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAtOnce[string](1, time.Minute, 10)
		for range 100 { // the waiter may also be out of the queue before the turn comes
			a.enter(t.Context(), "alice")
			ctx, cancel := context.WithCancel(t.Context())
			entered := make(chan bool, 1)
			go func() { entered <- a.enter(ctx, "alice") }()
			synctest.Wait()
			cancel()
			a.leave("alice")
			if <-entered {
				a.leave("alice")
			}
			if len(a.held) != 0 {
				t.Fatalf("when all are gone, held: %+v", a.held)
			}
		}
	})
}

// TestCostsAreOfOperations: a name that is wrong here would make a call cheap.
func TestCostsAreOfOperations(t *testing.T) {
	description, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name := range costs {
		apart := name == "hello" || name == "send" || name == "focus" || strings.HasPrefix(name, "listAll") // commands of the websocket; lists with all=1
		if !apart && !strings.Contains(string(description), "operationId: "+name+"\n") {
			t.Errorf("%s: no such operation", name)
		}
	}
}

// TestCostOfGroups: a call pays afterwards for the groups that it looked at, as many as nobody knew, and the next one before.
func TestCostOfGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{User: Rate{Count: 100, Per: time.Second, Burst: 2000}})
		many, few := chat.Caller{User: "many"}, chat.Caller{User: "few"}
		ask := func(by chat.Caller, groups int) bool {
			cost := CostOf("getUnread", 0)
			paid := l.Index(by, cost)
			cost.User += paid.User
			if _, err := l.Spend(by, cost); err != nil {
				return false
			}
			m := &chat.Meter{}
			chat.LookedAll(chat.WithMeter(t.Context(), m), groups)
			l.Settle(by, paid, m)
			return true
		}
		asked := func(by chat.Caller, groups int) (n int) {
			for ask(by, groups) {
				n++
			}
			return n
		}
		// 203 units each; the first is not known before, and nothing is left over.
		if got := asked(many, 10_000); got != 9 {
			t.Errorf("with 10,000 groups: %d calls at once, want 9", got)
		}
		if got := asked(few, 20); got != 666 {
			t.Errorf("with 20 groups: %d calls at once, want 666", got)
		}
		for range 20 { // once in a while
			<-time.After(5 * time.Second)
			if !ask(many, 10_000) {
				t.Fatal("a call every 5 s was refused")
			}
		}
		<-time.After(20 * time.Second)
		for operation, want := range map[string]int{"getUnread": 3 + 5*200, "sync": 2 + 200, "listReceipts": 3} {
			if got := l.Weigh("many", CostOf(operation, 0)); got != want {
				t.Errorf("%s weighs %d, want %d", operation, got, want)
			}
		}
		// The groups that a call paid for and did not look at are given back.
		paid := l.Index(many, CostOf("sync", 0))
		if _, err := l.Spend(many, Cost{User: 1000 + paid.User}); err != nil {
			t.Fatal(err)
		}
		quotas := l.Settle(many, paid, &chat.Meter{})
		if got := quotas[0].left; got != 1000 {
			t.Errorf("%d units are left, want 1000", got)
		}
		// A debt has a bound: after a full bucket's time there is something again, however much was done at once.
		m := &chat.Meter{}
		chat.LookedAll(chat.WithMeter(t.Context(), m), 10_000_000)
		l.Settle(many, Cost{}, m)
		<-time.After(20*time.Second + 30*time.Millisecond)
		if _, err := l.Spend(many, CostOf("getUnread", 0)); err != nil {
			t.Errorf("in debt for longer than a bucket takes to fill: %v", err)
		}
		if quotas := l.Settle(chat.Caller{User: "op", Admin: true}, Cost{}, m); quotas != nil {
			t.Error("an operator is limited")
		}
	})
}
