package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"time"
)

const (
	flushLines = 50_000 // counted in memory at most
	flushEvery = 10 * time.Second
	// entriesMax bounds the memory where lines have very many days: then it flushes earlier.
	entriesMax   = 10_000
	lineBytesMax = 64 << 10 // longer ones are skipped
)

// unknown is the place of an address that the database does not know.
const unknown = "??"

// counter counts the lines of parts by day and place.
type counter struct {
	days    *days
	zone    *time.Location
	country func(netip.Addr) string
	now     func() time.Time
	// flushLines is how many lines are counted in memory at most; it bounds what a crash repeats.
	flushLines int64
}

// line is what is read of one. Others of its fields are ignored.
type line struct {
	Time time.Time `json:"time"`
	IP   string    `json:"ip"`
}

// result says what became of the lines of a part.
type result struct{ lines, counted, repeated, skipped int64 }

func (r result) String() string {
	text := fmt.Sprintf("%d lines, %d counted", r.lines, r.counted)
	if r.repeated > 0 {
		text += fmt.Sprintf(", %d counted before", r.repeated)
	}
	if r.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", r.skipped)
	}
	return text
}

// tally is what is counted for one day and not yet in Redis.
type tally struct {
	fence  position // Redis has all lines of the day up to this one
	counts map[string]int64
}

// attempt is the counting of one part. It begins with nothing in memory and ends with nothing: what a part has is in Redis before
// it is acked, and a program that gets the part again learns from the fences which of its lines are.
type attempt struct {
	*counter
	part    part
	tallies map[string]*tally
	pending int64 // lines in the tallies
	entries int   // day and place in the tallies
	peak    int   // the most there were
	flushed time.Time
	result  result
}

// count counts the lines of a part, each once however often it is called. Calls for the parts of one log come in their order.
// A nil error means that everything is in Redis.
func (c *counter) count(ctx context.Context, p part, lines io.Reader) (*attempt, error) {
	r := &attempt{counter: c, part: p, tallies: make(map[string]*tally), flushed: c.now()}
	in := bufio.NewReaderSize(lines, lineBytesMax)
	for {
		text, whole, err := nextLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		r.result.lines++
		if err := r.add(ctx, text, whole); err != nil {
			return r, err
		}
	}
	return r, r.flush(ctx)
}

// nextLine reads a line. whole is false for one that is too long, of which the rest is skipped.
func nextLine(in *bufio.Reader) (text []byte, whole bool, err error) {
	text, err = in.ReadSlice('\n')
	whole = !errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) && (len(text) > 0 || !whole) {
		err = nil // the last line may lack its end
	}
	return text, whole, err
}

// add counts one line, and flushes where it is time.
func (r *attempt) add(ctx context.Context, text []byte, whole bool) error {
	var l line
	if !whole || json.Unmarshal(text, &l) != nil || l.Time.IsZero() {
		r.result.skipped++
		return nil
	}
	day := l.Time.In(r.zone).Format(time.DateOnly)
	t := r.tallies[day]
	if t == nil {
		if len(r.tallies) >= entriesMax {
			if err := r.flush(ctx); err != nil {
				return err
			}
			clear(r.tallies)
		}
		fence, err := r.days.fence(ctx, r.part.log, day)
		if err != nil {
			return err
		}
		t = &tally{fence: fence, counts: make(map[string]int64)}
		r.tallies[day] = t
	}
	if !t.fence.before(position{r.part.id, r.result.lines}) {
		r.result.repeated++
		return nil
	}
	country := unknown
	if address, err := netip.ParseAddr(l.IP); err == nil {
		country = r.country(address)
	}
	if t.counts[country]++; t.counts[country] == 1 {
		r.entries++
		r.peak = max(r.peak, r.entries)
	}
	r.result.counted++
	r.pending++
	if r.pending < r.flushLines && r.entries < entriesMax && r.now().Sub(r.flushed) < flushEvery {
		return nil
	}
	return r.flush(ctx)
}

// flush moves what is counted to Redis, one step a day. Between two of them a crash leaves some days further than others, so
// each has its fence.
func (r *attempt) flush(ctx context.Context) error {
	to := position{r.part.id, r.result.lines}
	for _, day := range slices.Sorted(maps.Keys(r.tallies)) {
		t := r.tallies[day]
		if len(t.counts) == 0 {
			continue
		}
		if err := r.days.add(ctx, r.part.log, day, t.fence, to, t.counts); err != nil {
			return fmt.Errorf("day %s: %w", day, err)
		}
		t.fence = to
		clear(t.counts)
	}
	r.pending, r.entries, r.flushed = 0, 0, r.now()
	return nil
}
