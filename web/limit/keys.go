package limit

import (
	"sync"
	"time"

	"github.com/chatd/chatd/chat/keys"
)

// ratesMax is how many different rates of keys are counted at once.
const ratesMax = 1000

// keyRates are the buckets of keys that have a rate of their own, by the text of the rate.
type keyRates struct {
	now func() time.Duration

	mu  sync.Mutex
	all map[string]*buckets[string]
}

// of returns the buckets of a rate; nil: it is off.
func (r *keyRates) of(text string) *buckets[string] {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, known := r.all[text]
	if !known {
		rate, err := ParseRate(text)
		if err != nil {
			return nil // Create and Change let none through
		}
		if len(r.all) >= ratesMax {
			clear(r.all)
		}
		b = newBuckets[string](kindKey, rate, r.now)
		r.all[text] = b
	}
	return b
}

// SpendKey charges a call to the key by which it is made, if that has a rate of its own; nil: it is made by a token. Its error is
// rate_limited: the call must not be carried out.
func (l *Limits) SpendKey(k *keys.Key, c Cost) (Quotas, error) {
	b := l.bucketsOf(k, c)
	if b == nil {
		return nil, nil
	}
	quotas := Quotas{charge(b, k.ID, c.User)}
	return quotas, l.counted(quotas)
}

// OweKey charges a call that was let in for more than it paid: what the bucket does not hold is a debt, so that a call which costs
// more than a full bucket is not refused for ever.
func (l *Limits) OweKey(k *keys.Key, c Cost) Quotas {
	b := l.bucketsOf(k, c)
	if b == nil {
		return nil
	}
	left, full := b.owe(k.ID, c.User)
	return Quotas{{limit: b.name, policy: b.policy, left: left, full: full}}
}

// bucketsOf returns the buckets of a key's rate; nil: the cost is free.
func (l *Limits) bucketsOf(k *keys.Key, c Cost) *buckets[string] {
	if l == nil || k == nil || k.Rate == nil || c.User == 0 {
		return nil
	}
	return l.keys.of(*k.Rate)
}
