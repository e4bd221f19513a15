package deliver

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/internal/egress"
	"github.com/chatd/chatd/queue/backoff"
)

// Bounds of concurrent requests.
const (
	endpointCap  = 4  // requests to one endpoint
	serviceCap   = 16 // requests to a service of web push
	suspectsMax  = 16 // requests to suspect endpoints: half of the workers of a node
	ownerMax     = 6  // of these to the suspect endpoints of one owner: more than endpointCap, so that a hanging one leaves the others a turn
	slow         = time.Second
	endpointsMax = 10_000
	evictSample  = 16 // endpoints compared to find the one to evict

	breakerFailures = 5 // in a row
	breakerMin      = 5 * time.Second
	breakerMax      = 5 * time.Minute

	waitMax  = 50 * time.Millisecond // the longest that a worker waits for its turn
	spaceMin = time.Millisecond      // between two callers that come back
	spaceMax = 5 * time.Minute       // the last caller comes back at most this much later than the first

	spaceSuspect = 25 * time.Millisecond // between two suspects that come back while others hold all slots
	// Between two callers that come back for their owner's share: this, or a part of the time that its oldest request
	// has taken so far. One that hangs must not keep the owner's other endpoints, which are only new, away for as long
	// as it hangs.
	spaceOwner     = 5 * time.Millisecond
	spaceOwnerPart = 200
)

// services are the hosts of web push: each serves many users, and no single one may slow it down.
var services = []string{"fcm.googleapis.com", "*.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com"}

// isPushService reports whether a host belongs to a service of web push: one of browsers, or one that the operator named.
func (s *Sender) isPushService(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(s.services, func(one string) bool {
		below, all := strings.CutPrefix(one, "*")
		return host == one || all && strings.HasSuffix(host, below)
	})
}

// CheckPushHost refuses what is neither the name of a host nor `*.` and a name, which stands for all hosts below it. The error says
// what is wanted.
func CheckPushHost(host string) error {
	name := strings.TrimPrefix(host, "*.")
	if u, err := egress.CheckURL("https://"+name+"/", nil); err != nil || u.Hostname() != name || !strings.Contains(name, ".") || net.ParseIP(name) != nil {
		return errors.New("want names of hosts such as push.example.com, or *.push.example.com for all below it")
	}
	return nil
}

// health is what a request shows about its endpoint.
type health int

const (
	unknown health = iota // nothing: we ended it ourselves
	healthy
	failing
)

// gate decides when a request to an endpoint may be made.
type gate struct {
	mu        sync.Mutex
	endpoints map[string]*endpoint
	suspects  int               // slots of endpoints that were suspect when they took them
	owners    map[string]*owner // who holds such slots, or was turned away for holding too many
}

// owner is what one owner of endpoints uses of the suspects' share.
type owner struct {
	slots []*slot   // of suspects, oldest first
	next  time.Time // when the next caller that is turned away should come back
}

// endpoint is what is known about a host and port.
//
// Invariant: len(slots) <= cap.
type endpoint struct {
	cap      int
	slots    []*slot       // of the requests in flight, oldest first
	waiting  []waiter      // workers that wait for their turn, in order
	unproven bool          // it has not answered yet, or failed last
	failures int           // in a row
	pauses   int           // of the breaker, in a row
	shut     time.Time     // no requests until then
	took     time.Duration // duration of a request, smoothed
	next     time.Time     // when the next caller that is turned away should come back
	used     time.Time
}

// waiter is a worker that waits for a slot, for a request of owner. It gets one answer; nil means no.
type waiter struct {
	owner string
	turn  chan *slot
}

// slot is a request in flight.
type slot struct {
	of      *endpoint
	owner   string
	began   time.Time
	suspect bool
	probe   bool
}

func newGate() *gate { return &gate{endpoints: map[string]*endpoint{}, owners: map[string]*owner{}} }

// endpointOf returns the host and port of a URL in canonical form.
func endpointOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + " " + port
}

// enter waits a moment for a slot of an endpoint, for a request of by. If it gets none, after says when to come back.
func (g *gate) enter(ctx context.Context, at, by string, most int) (p *slot, after time.Duration) {
	g.mu.Lock()
	now := time.Now()
	e := g.find(at, most, now)
	if p := g.take(e, by, now); p != nil {
		g.mu.Unlock()
		return p, 0
	}
	// It is only worth waiting for an endpoint that answers, and soon.
	wait := max(e.interval()*time.Duration(len(e.waiting)+1), e.age(now)/time.Duration(e.cap))
	if e.suspect() || now.Before(e.shut) || wait > waitMax {
		defer g.mu.Unlock()
		return nil, g.later(e, by, now)
	}
	turn := make(chan *slot, 1)
	e.waiting = append(e.waiting, waiter{by, turn})
	g.mu.Unlock()

	timer := time.NewTimer(waitMax)
	defer timer.Stop()
	select {
	case p = <-turn:
	case <-timer.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(e.waiting, waiter{by, turn}); i >= 0 {
		e.waiting = slices.Delete(e.waiting, i, i+1)
	} else if p == nil && len(turn) > 0 {
		p = <-turn // it came just as the wait ended
	}
	if p != nil {
		return p, 0
	}
	return nil, g.later(e, by, time.Now())
}

// take takes a slot if one is free.
func (g *gate) take(e *endpoint, by string, now time.Time) *slot {
	p := &slot{of: e, owner: by, began: now, suspect: e.suspect(), probe: e.failures >= breakerFailures}
	probing := slices.ContainsFunc(e.slots, func(other *slot) bool { return other.probe })
	if now.Before(e.shut) || len(e.slots) >= e.cap || probing || p.suspect && (g.suspects >= suspectsMax || g.shareTaken(by)) {
		return nil
	}
	if p.suspect {
		g.suspects++
		o := g.owner(by, now)
		o.slots = append(o.slots, p)
	}
	e.slots = append(e.slots, p)
	e.used = now
	return p
}

// leave returns a slot. after is what the endpoint asked for: it applies to all its callers.
func (g *gate) leave(p *slot, how health, after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, e := time.Now(), p.of
	i := slices.Index(e.slots, p)
	e.slots = slices.Delete(e.slots, i, i+1)
	if p.suspect {
		g.suspects--
		o := g.owners[p.owner]
		i := slices.Index(o.slots, p)
		o.slots = slices.Delete(o.slots, i, i+1)
		if len(o.slots) == 0 && !now.Before(o.next) {
			delete(g.owners, p.owner)
		}
	}
	if how != unknown {
		e.took = (3*e.took + now.Sub(p.began)) / 4
	}
	switch how {
	case healthy:
		e.unproven, e.failures, e.pauses = false, 0, 0
	case failing:
		e.unproven = true
		e.failures++
		if p.probe || e.failures == breakerFailures {
			e.shut = latest(e.shut, now.Add(breakerPause(e.pauses)))
			e.pauses++
		}
		e.shut = latest(e.shut, now.Add(min(after, breakerMax)))
	case unknown:
	}
	for len(e.waiting) > 0 {
		next := g.take(e, e.waiting[0].owner, now)
		if next == nil && !e.suspect() {
			break // they keep waiting
		}
		e.waiting[0].turn <- next
		e.waiting = e.waiting[1:]
	}
}

// breakerPause doubles, with jitter: endpoints that were down together do not come back in step.
func breakerPause(pauses int) time.Duration {
	return backoff.Spread(backoff.Doubled(breakerMin, breakerMax, pauses))
}

// suspect endpoints share a part of the workers.
func (e *endpoint) suspect() bool { return e.unproven || e.took > slow }

// interval is the time between two slots becoming free if the endpoint keeps its speed.
func (e *endpoint) interval() time.Duration { return e.took / time.Duration(e.cap) }

// age is how long the oldest request has been in flight.
func (e *endpoint) age(now time.Time) time.Duration {
	if len(e.slots) == 0 {
		return 0
	}
	return now.Sub(e.slots[0].began)
}

// owner returns the state of an owner. Owners that hold nothing and have no callers to space are forgotten.
func (g *gate) owner(by string, now time.Time) *owner {
	if o := g.owners[by]; o != nil {
		return o
	}
	if len(g.owners) >= endpointsMax {
		for name, o := range g.owners {
			if len(o.slots) == 0 && !now.Before(o.next) {
				delete(g.owners, name)
			}
		}
	}
	o := &owner{}
	g.owners[by] = o
	return o
}

// shareTaken reports whether an owner uses all that one owner may of the suspects' share.
func (g *gate) shareTaken(by string) bool {
	o := g.owners[by]
	return o != nil && len(o.slots) >= ownerMax
}

// later returns when a caller that is turned away should come back. All suspects of an owner that has used its share
// come back one after the other, however many endpoints they are: otherwise 100 of them would each check every few ms.
func (g *gate) later(e *endpoint, by string, now time.Time) time.Duration {
	after := e.later(now)
	if !e.suspect() || len(e.slots) >= e.cap || !g.shareTaken(by) {
		return after // it waits for its own slots
	}
	o := g.owners[by]
	space := max(spaceOwner, now.Sub(o.slots[0].began)/spaceOwnerPart)
	soonest := now.Add(space)
	o.next = latest(o.next.Add(space), soonest)
	if o.next.Sub(soonest) > spaceMax {
		o.next = soonest.Add(spaceMax / 2)
	}
	return max(after, o.next.Sub(now))
}

// later returns when a caller that is turned away should come back: not before a hanging request has hung twice as
// long, and then one after the other, as fast as the endpoint answers.
func (e *endpoint) later(now time.Time) time.Duration {
	interval := max(e.interval(), spaceMin)
	if len(e.slots) < e.cap && e.suspect() {
		interval = max(interval, spaceSuspect) // the slots of all suspects are taken
	}
	soonest := latest(now.Add(max(interval, e.age(now))), e.shut)
	e.next = latest(e.next.Add(interval), soonest)
	if e.next.Sub(soonest) > spaceMax {
		e.next = soonest.Add(spaceMax / 2)
	}
	return e.next.Sub(now)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// find returns the state of an endpoint. If too many are known, it evicts another: one that is idle, preferably a
// suspect one, preferably the one unused for longest. An evicted endpoint that had failed starts over with five
// attempts.
func (g *gate) find(at string, most int, now time.Time) *endpoint {
	if e := g.endpoints[at]; e != nil {
		return e
	}
	if len(g.endpoints) >= endpointsMax {
		var victim string
		var worst *endpoint
		looked := 0
		for name, e := range g.endpoints {
			if len(e.slots)+len(e.waiting) == 0 && (worst == nil || e.suspect() && !worst.suspect() ||
				e.suspect() == worst.suspect() && e.used.Before(worst.used)) {
				victim, worst = name, e
			}
			if looked++; looked >= evictSample && worst != nil {
				break
			}
		}
		delete(g.endpoints, victim)
	}
	e := &endpoint{cap: most, unproven: true, used: now}
	g.endpoints[at] = e
	return e
}
