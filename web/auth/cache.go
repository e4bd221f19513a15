package auth

import (
	"crypto/sha256"
	"sync"
)

// tokensMax is how many verified tokens each of the two generations of the cache holds: about 2 MiB in all.
const tokensMax = 8192

// tokenCache remembers verified tokens by their hash, so that none can be read out of memory through it. It is bounded
// by two generations: when the young one is full it becomes the old one, and what nobody asked for since goes.
type tokenCache struct {
	mu         sync.RWMutex
	young, old map[[sha256.Size]byte]Identity
	max        int
	generation int // counts clears: what was verified before a clear is not remembered after it
}

func newTokenCache(bound int) *tokenCache {
	return &tokenCache{young: make(map[[sha256.Size]byte]Identity), max: bound}
}

func (c *tokenCache) key(token string) (key [sha256.Size]byte, generation int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return sha256.Sum256([]byte(token)), c.generation
}

func (c *tokenCache) get(key [sha256.Size]byte) (Identity, bool) {
	c.mu.RLock()
	who, ok := c.young[key]
	generation := c.generation
	if ok {
		c.mu.RUnlock()
		return who, true
	}
	who, ok = c.old[key]
	c.mu.RUnlock()
	if ok {
		c.put(key, who, generation)
	}
	return who, ok
}

func (c *tokenCache) put(key [sha256.Size]byte, who Identity, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if len(c.young) >= c.max {
		c.old, c.young = c.young, make(map[[sha256.Size]byte]Identity)
	}
	c.young[key] = who
}

// clear forgets everything, because the keys changed.
func (c *tokenCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old = make(map[[sha256.Size]byte]Identity), nil
	c.generation++
}
