package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
)

// What the overload section asks with. Few users for many connections: what is measured is no limit of one user, and the
// pair asks for less than its share.
const (
	overloadUsers       = 16
	overloadConnections = 800
	overloadGroups      = 20
	overloadFactor      = 5
	overloadRounds      = 5 // a figure of one round differs by more than what it has to show
)

// What is asked within the first seconds of each load is not counted: what was before it has to end, or overload to begin
// and its burst to be served. Before each peak, little is asked for a while, so that overload ends: what is served beside
// refusals is not the peak.
const (
	overloadTime  = 4 * time.Second
	calmTime      = 2 * time.Second
	calmPerSecond = 100
	calmSettle    = 2 * time.Second
	overloadStart = 4 * time.Second
)

// overload asks a whole node for five times what it can do: how much of that is done, how soon, and what a pair that asks
// for little notices. The node is in this process. The load comes from processes of its own, but from the same processors,
// and so does Redis: the table says what each of them used.
func overload(b *bench) { fresh(b, (*bench).overloads) }

// overloadLoad is what came of one load in all rounds.
type overloadLoad struct {
	rates, p99s       []float64 // of each round: served a second; in ms
	served            []time.Duration
	early             []time.Duration
	refused           []time.Duration
	unsent            int
	node, redis, load float64 // of the processors, summed over the rounds
}

func (b *bench) overloads() {
	rounds := scaled(overloadRounds)
	b.table.section(fmt.Sprintf("overload: syncs over %d groups through HTTP, on %d processors for all; the lowest and the highest of %d rounds",
		overloadGroups, runtime.NumCPU(), rounds))
	host, requests := overloaded(b)
	heavy, pair := requests[:overloadUsers], requests[overloadUsers:]
	took, calm, start := shorter(overloadTime), shorter(calmSettle), shorter(overloadStart)
	var peak, below, above, little overloadLoad
	var warm overloadLoad
	ok(warm.measure(b, load{Addr: host, Requests: heavy, Connections: 64, For: took}))
	for range rounds {
		ok(warm.measure(b, load{Addr: host, Requests: heavy, Connections: 64, PerSecond: calmPerSecond, For: shorter(calmTime)}))
		ok(peak.measure(b, load{Addr: host, Requests: heavy, Connections: 64, Settle: calm, For: calm + took}))
		most := peak.rates[len(peak.rates)-1]
		if most == 0 {
			ok(errors.New("nothing was served"))
		}
		ok(below.measure(b, load{Addr: host, Requests: heavy, Connections: overloadConnections, PerSecond: 0.8 * most, Settle: calm, For: calm + took}))
		var failed error
		var watching sync.WaitGroup
		watching.Go(func() {
			failed = little.measure(b, load{Addr: host, Requests: pair, Connections: len(pair), PerSecond: 20, Settle: start, For: start + took})
		})
		err := above.measure(b, load{Addr: host, Requests: heavy, Connections: overloadConnections, PerSecond: overloadFactor * most, Settle: start, For: start + took})
		watching.Wait()
		ok(errors.Join(err, failed))
	}
	b.table.overload(took, peak, below, above, little)
}

// overload adds the rows of the rounds.
func (t *table) overload(took time.Duration, peak, below, above, little overloadLoad) {
	t.add(row{fmt.Sprintf("the peak, 64 connections, %d refused", len(peak.refused)), spanned("%.0f", peak.rates) + "/s", "", ""})
	t.count("  of the processors at the peak", "%s", peak.shares())
	t.add(row{"served at 80 % of it", spanned("%.0f", below.rates) + "/s", byRound(below.rates, peak.rates), "the peak"})
	t.count("  of the processors at 80 %", "%s", below.shares())
	t.spread(fmt.Sprintf("at 80 %% of it, %d refused", len(below.refused)), below.served)
	asked := float64(len(above.served)+len(above.refused)+above.unsent) / took.Seconds() / float64(len(above.rates))
	t.count("asked for when overloaded", "%.0f/s", asked)
	t.add(row{"served of it", spanned("%.0f", above.rates) + "/s", byRound(above.rates, peak.rates), "the peak"})
	t.count("  of the processors overloaded", "%s", above.shares())
	t.spread("served, once the burst before it was", above.served)
	t.add(row{"  p99 of each round", spanned("%.1f", above.p99s) + " ms", byRound(above.p99s, below.p99s), "p99 at 80 %"})
	t.spread("served of the burst", above.early)
	t.spread("refused", above.refused)
	t.spread(fmt.Sprintf("a pair with 20 calls a second, %d refused", len(little.refused)), little.served)
}

// overloaded makes users with groups, and a node. It returns the address of the node, and a request of each user.
func overloaded(b *bench) (host string, requests []string) {
	users := make([]string, overloadUsers+2)
	for i := range users {
		users[i] = fmt.Sprintf("user-%d", i)
	}
	for i := range overloadGroups {
		draft := chat.GroupDraft{ID: fmt.Sprintf("over-%d", i), Members: users}
		must(b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, draft))
		ok(b.send(draft.ID))
	}
	at := must(url.Parse(b.serve(true)))
	const body = `{"limit":20}`
	for _, user := range users {
		requests = append(requests, fmt.Sprintf("POST /v1/sync HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", at.Host, tokenOf(user), len(body), body))
	}
	return at.Host, requests
}

// measure adds what comes of l, and which share of the processors everybody used meanwhile.
func (o *overloadLoad) measure(b *bench, l load) error {
	node := usedBy(os.Getpid()).cpu
	redis := redisCPU(b.redis)
	done, err := l.run(b.ctx)
	if err != nil {
		return err
	}
	share := func(used time.Duration) float64 { return used.Seconds() / l.For.Seconds() / float64(runtime.NumCPU()) }
	o.node += share(usedBy(os.Getpid()).cpu - node)
	o.redis += share(redisCPU(b.redis) - redis)
	o.load += share(done.CPU)
	o.rates = append(o.rates, float64(len(done.Served))/(l.For-l.Settle).Seconds())
	slices.Sort(done.Served)
	p99 := 0.0
	if n := len(done.Served); n > 0 {
		p99 = done.Served[n*99/100].Seconds() * 1000
	}
	o.p99s = append(o.p99s, p99)
	o.served, o.early, o.refused = append(o.served, done.Served...), append(o.early, done.Early...), append(o.refused, done.Refused...)
	o.unsent += done.Unsent
	return nil
}

// shares is which share of the processors everybody used, on average.
func (o *overloadLoad) shares() string {
	n := float64(len(o.rates))
	return fmt.Sprintf("node %.2f, redis-server %.2f, load %.2f", o.node/n, o.redis/n, o.load/n)
}

// redisCPU is what a redis-server has used of the processors so far.
func redisCPU(server *redistest.Server) (used time.Duration) {
	for _, name := range []string{"used_cpu_sys", "used_cpu_user"} {
		used += must(time.ParseDuration(infoText(server, name) + "s"))
	}
	return used
}

// byRound writes the lowest and the highest ratio of two values of the same round, and the median of all.
func byRound(values, others []float64) string {
	ratios := make([]float64, len(values))
	for i := range ratios {
		ratios[i] = values[i] / others[i]
	}
	slices.Sort(ratios)
	if len(ratios) < 2 {
		return spanned("%.2f", ratios)
	}
	return fmt.Sprintf("%.2f (%s)", ratios[len(ratios)/2], spanned("%.2f", ratios))
}
