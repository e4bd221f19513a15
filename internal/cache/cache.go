// Package cache keeps a bounded number of entries and evicts those that have not been used for a while.
package cache

import "sync"

// Cache holds two generations of entries: entries that are added or read go to the young one. When that is full it
// becomes the old one, and the previous old one is dropped. So an entry survives at least until max others have been
// used, and reading a young entry takes no exclusive lock.
//
// Make one with New. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	max int // entries per generation

	mu         sync.RWMutex
	young, old map[K]V
}

// New makes a cache that holds at most 2*max entries. max is at least 1.
func New[K comparable, V any](max int) *Cache[K, V] {
	return &Cache[K, V]{max: max, young: map[K]V{}}
}

// Get returns the value of key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.RLock()
	value, ok := c.young[key]
	c.mu.RUnlock()
	if ok {
		return value, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if value, ok = c.young[key]; ok { // another reader was faster
		return value, true
	}
	if value, ok = c.old[key]; ok {
		c.putLocked(key, value)
	}
	return value, ok
}

// Put sets the value of key.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(key, value)
}

func (c *Cache[K, V]) putLocked(key K, value V) {
	if _, ok := c.young[key]; !ok && len(c.young) >= c.max {
		c.old, c.young = c.young, map[K]V{}
	}
	c.young[key] = value
	delete(c.old, key)
}

// Len returns how many entries there are.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.young) + len(c.old)
}
