package limit

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"
)

// Rate is how much one caller may do. The zero value is no limit.
type Rate struct {
	Count int           // sustained, in each Per
	Per   time.Duration //
	Burst int           // at once, after a pause
}

// Bounds of a rate: GCRA counts nanoseconds in 63 bits, and a bucket that takes more than a day to fill would be a quota,
// which a node cannot enforce across restarts.
const (
	countMax = 1_000_000
	fillMax  = 24 * time.Hour
)

var ratePattern = regexp.MustCompile(`^([1-9][0-9]{0,6})/([1-9][0-9]{0,3})?([smh])(?::([1-9][0-9]{0,6}))?$`)

var errRate = errors.New("want off, or a rate such as 100/s or 600/10m, with a burst as in 100/s:500; " +
	"at most 1000000, and a burst that fills up within a day")

// ParseRate parses a rate: COUNT/[N]UNIT[:BURST]. The unit is s, m or h, and the burst is COUNT by default; "off" is the zero
// Rate.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{}, nil
	}
	found := ratePattern.FindStringSubmatch(text)
	if found == nil {
		return Rate{}, errRate
	}
	units := 1
	if found[2] != "" {
		units, _ = strconv.Atoi(found[2])
	}
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[found[3]]
	r := Rate{Per: time.Duration(units) * unit}
	r.Count, _ = strconv.Atoi(found[1])
	r.Burst = r.Count
	if found[4] != "" {
		r.Burst, _ = strconv.Atoi(found[4])
	}
	if r.Count > countMax || r.Burst > countMax || float64(r.Per)*float64(r.Burst)/float64(r.Count) > float64(fillMax) {
		return Rate{}, errRate
	}
	return r, nil
}

// Off reports whether there is no limit.
func (r Rate) Off() bool { return r.Count == 0 }

// interval is the time after which one more unit is allowed.
func (r Rate) interval() time.Duration { return max(r.Per/time.Duration(r.Count), 1) }

// fill is the time in which an empty bucket fills up.
func (r Rate) fill() time.Duration { return r.interval() * time.Duration(r.Burst) }

// take asks for cost units at now, from a bucket that is full again at full. It returns when the bucket will be full now. If
// the bucket holds too little, nothing changes and it returns how long to wait. A cost above the burst takes the whole
// bucket: otherwise it could never be paid.
func (r Rate) take(full, now time.Duration, cost int) (next, wait time.Duration) {
	full = max(full, now)
	next = full + r.interval()*time.Duration(min(cost, r.Burst))
	if wait = next - (now + r.fill()); wait > 0 {
		return full, wait
	}
	return next, 0
}

// left is how many units a bucket holds.
func (r Rate) left(full, now time.Duration) int {
	return int((now + r.fill() - max(full, now)) / r.interval())
}

// seconds rounds up: a client that comes back a moment too early would be refused again.
func seconds(d time.Duration) int64 { return int64(math.Ceil(d.Seconds())) }
