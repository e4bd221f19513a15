package queue

import (
	"slices"
	"strings"
)

// weights are how many of 15 claims go to each priority while all have waiting tasks: every priority is served twice as
// often as the next lower one, and the lowest waits for at most 14 others. The turns of an idle priority go to the
// highest that has tasks.
var weights = [len(priorities)]int{8, 4, 2, 1}

// cycle is the order of turns, as digits for step.lua: each priority as often as its weight, spread evenly (smooth
// weighted round robin, as in nginx), and long enough to start anywhere in its first period and go on for claimMax
// turns.
var cycle, cyclePeriod = makeCycle()

func makeCycle() (string, int) {
	var period int
	for _, w := range weights {
		period += w
	}
	var credit [len(weights)]int
	var turns strings.Builder
	for range period {
		best := 0
		for p, w := range weights {
			credit[p] += w
			if credit[p] > credit[best] {
				best = p
			}
		}
		credit[best] -= period
		turns.WriteByte("1234"[best])
	}
	return strings.Repeat(turns.String(), claimMax/period+2), period
}

// strictly is the order of claims that take the highest priority that has tasks: the turn of an empty one goes to that.
var strictly = strings.Repeat("1", claimMax)

// turns returns the priorities of the next n claims for a pool, starting at the given turn.
func (p *pool) turns(from, n int) string {
	if p.strict {
		return strictly[:n]
	}
	return turns(from, n)
}

// turns returns the priorities of the next n claims by weight, starting at the given turn.
func turns(from, n int) string {
	from %= cyclePeriod
	return cycle[from : from+n]
}

// arrange sorts claimed tasks, which come list by list, into the order of the turns that they were claimed for, so that
// a batch that waits for workers is as fair as single claims.
func arrange(runs []*running, order string) {
	if len(runs) == 0 || runs[0].Priority == runs[len(runs)-1].Priority {
		return
	}
	var lists [len(priorities)][]*running
	for _, r := range runs {
		p := slices.Index(priorities[:], r.Priority)
		lists[p] = append(lists[p], r)
	}
	for i := range runs {
		p := int(order[i] - '1')
		if len(lists[p]) == 0 {
			p = slices.IndexFunc(lists[:], func(l []*running) bool { return len(l) > 0 })
		}
		runs[i], lists[p] = lists[p][0], lists[p][1:]
	}
}
