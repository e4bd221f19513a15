package limit

import (
	"sync"
	"time"

	"github.com/chatd/chatd/internal/cache"
)

// bucketsMax is how many buckets each of the two generations of a limit holds: at about 100 bytes each, 6 MiB in all.
const bucketsMax = 32_768

// buckets are the buckets of one rate, by caller. Their number is bounded: a caller who was dropped starts with a full
// bucket, as after a pause.
type buckets[K comparable] struct {
	name   string // of the limit
	policy string // in the syntax of RateLimit-Policy
	rate   Rate
	now    func() time.Duration // monotonic

	mu   sync.Mutex                     // makes a read and the write that depends on it atomic
	full *cache.Cache[K, time.Duration] // when each bucket is full again
}

// newBuckets returns nil if the rate is off.
func newBuckets[K comparable](name string, r Rate, now func() time.Duration) *buckets[K] {
	if r.Off() {
		return nil
	}
	return &buckets[K]{name: name, policy: policyOf(name, r), rate: r, now: now, full: cache.New[K, time.Duration](bucketsMax)}
}

// take asks for cost units for key. wait is 0 if it got them.
func (b *buckets[K]) take(key K, cost int) (left int, full, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	at, _ := b.full.Get(key)
	at, wait = b.rate.take(at, now, cost)
	b.full.Put(key, at)
	return b.rate.left(at, now), at - now, wait
}

// owe takes units for what was done already: more than the bucket holds is a debt, of a full bucket at most.
func (b *buckets[K]) owe(key K, cost int) (left int, full time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	at, _ := b.full.Get(key)
	at = min(max(at, now)+b.rate.interval()*time.Duration(cost), max(at, now+2*b.rate.fill()))
	b.full.Put(key, at)
	return max(0, b.rate.left(at, now)), at - now
}

// give returns units that were taken, as far as the bucket is not full.
func (b *buckets[K]) give(key K, cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, _ := b.full.Get(key); at > b.now() {
		b.full.Put(key, at-b.rate.interval()*time.Duration(min(cost, b.rate.Burst)))
	}
}
