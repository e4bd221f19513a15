package main

import (
	"cmp"
	"slices"
)

// call is a piece of work for a master: when it comes, in us from the beginning, and how long it takes there.
type call struct {
	atUs, us float64
	send     bool // its wait is that of a person
}

// ackAfterUs is when the acks of a message's live readers follow, joined.
const ackAfterUs = 20_000

// workersUs is the time between two tasks of a series: 30,000 a second.
const workersUs = 33

// longestUs is what a script takes at most: longer work comes in pieces.
const longestUs = 5000

// outcome is what the masters and the nodes did in a simulated time.
type outcome struct {
	messages         int
	busy             []float64 // of each master: the share of the time
	meanUs, p99Us    float64   // how long a send waited for its master and was served
	nodeCores        float64
	byMasterMessages []int
}

// cores is the work of all masters, in cores.
func (o outcome) cores() (sum float64) {
	for _, b := range o.busy {
		sum += b
	}
	return sum
}

// busiest is the highest of the masters' shares, and its excess over an even one.
func (o outcome) busiest() (share, excess float64) {
	share = slices.Max(o.busy)
	return share, share*float64(len(o.busy))/o.cores() - 1
}

// run plays so many seconds: users send and come back at random times, each master does one call after the other.
func (w *world) run(seconds float64) outcome {
	o := outcome{busy: make([]float64, w.masters), byMasterMessages: make([]int, w.masters)}
	todo := make([][]call, w.masters)
	add := func(master int, at, us float64, send bool) {
		for ; us > longestUs; us, at = us-longestUs, at+longestUs {
			todo[master] = append(todo[master], call{at, longestUs, false})
		}
		todo[master] = append(todo[master], call{at, us, send})
	}
	nodeUs := 0.0
	for at := w.next(w.rate()); at < seconds*1e6; at += w.next(w.rate()) {
		c, group := w.draw()
		master := w.master(group)
		o.messages++
		o.byMasterMessages[master]++
		add(master, at, sendUs, true)
		add(master, at+ackAfterUs, c.readers*readerAckUs, false)
		add(master, at+ackAfterUs, taskUs, false)                                 // the fan-out of its notifications
		away := (float64(c.size)-c.readers)/w.notifiedOnceIn + w.random.Float64() // rounded by chance
		for i := range int(away) {                                                // their deliveries live with the users
			add(w.anybody(), at+2*ackAfterUs+float64(i)*workersUs, taskUs, false)
		}
		nodeUs += sendNodeUs + c.readers*deliveryUs(c.readers)
	}
	for at := w.next(w.visits()); at < seconds*1e6; at += w.next(w.visits()) {
		add(w.anybody(), at, syncUs, false)
		for range w.groupsEach {
			add(w.anybody(), at, syncGroupUs, false)
		}
		nodeUs += connectUs
	}
	o.nodeCores = nodeUs / (seconds * 1e6)
	o.serve(todo, seconds)
	return o
}

// next is how long until something happens that happens so often in a second, in us.
func (w *world) next(rate float64) float64 { return w.random.ExpFloat64() / rate * 1e6 }

func (o *outcome) serve(todo [][]call, seconds float64) {
	var waits []float64
	for master, calls := range todo {
		slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.atUs, b.atUs) })
		free, work := 0.0, 0.0
		for _, c := range calls {
			free = max(free, c.atUs) + c.us
			work += c.us
			if c.send {
				waits = append(waits, free-c.atUs)
			}
		}
		o.busy[master] = work / (seconds * 1e6)
	}
	slices.Sort(waits)
	if len(waits) == 0 {
		return
	}
	for _, us := range waits {
		o.meanUs += us / float64(len(waits))
	}
	o.p99Us = waits[len(waits)*99/100]
}
