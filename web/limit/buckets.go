package limit

import (
	"sync"
	"time"

	"github.com/chatd/chatd/internal/cache"
)

// bucketsMax is how many buckets each of the two generations of a limit holds: at about 100 bytes each, 6 MiB in all.
const bucketsMax = 32_768

// buckets are those of one rate, by caller. Their number is bounded: whoever is forgotten begins with a full bucket, as
// after a pause.
type buckets[K comparable] struct {
	name   string // of the limit
	policy string // in the syntax of RateLimit-Policy
	rate   Rate
	now    func() time.Duration // monotonic

	mu   sync.Mutex                     // around a read and the write that follows from it
	full *cache.Cache[K, time.Duration] // when each bucket is full again
}

// newBuckets returns nil where the rate is off.
func newBuckets[K comparable](name string, r Rate, now func() time.Duration) *buckets[K] {
	if r.Off() {
		return nil
	}
	return &buckets[K]{name: name, policy: policyOf(name, r), rate: r, now: now, full: cache.New[K, time.Duration](bucketsMax)}
}

// take asks for cost units for key. wait is 0 where they were taken.
func (b *buckets[K]) take(key K, cost int) (left int, full, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	at, _ := b.full.Get(key)
	at, wait = b.rate.take(at, now, cost)
	b.full.Put(key, at)
	return b.rate.left(at, now), at - now, wait
}

// give returns cost units that were taken, as far as the bucket still lacks them.
func (b *buckets[K]) give(key K, cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, _ := b.full.Get(key); at > b.now() {
		b.full.Put(key, at-b.rate.interval()*time.Duration(min(cost, b.rate.Burst)))
	}
}
