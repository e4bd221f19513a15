package auth

import (
	"crypto/sha256"
	"sync/atomic"

	"github.com/chatd/chatd/internal/cache"
)

// tokensMax is how many verified tokens each of the two generations of the cache holds. However long tokens are, only a hash
// and the user stay of each: about 4 MiB in all.
const tokensMax = 8192

type tokenKey [sha256.Size]byte

// tokenCache remembers verified tokens by their hash, so that it does not expose any token.
type tokenCache struct {
	max     int
	current atomic.Pointer[cache.Cache[tokenKey, Identity]]
}

func newTokenCache(bound int) *tokenCache {
	c := &tokenCache{max: bound}
	c.clear()
	return c
}

// keyOf hashes a token, in a copy on the stack unless it is long.
func keyOf(token string) tokenKey {
	var short [1024]byte
	if len(token) > len(short) {
		return sha256.Sum256([]byte(token))
	}
	return sha256.Sum256(short[:copy(short[:], token)])
}

// entries are those since the last clear. A verification takes them before it starts, so if the keys change meanwhile, its
// result ends up among entries that are no longer used.
func (c *tokenCache) entries() *cache.Cache[tokenKey, Identity] { return c.current.Load() }

// clear forgets everything, because the keys changed.
func (c *tokenCache) clear() { c.current.Store(cache.New[tokenKey, Identity](c.max)) }
