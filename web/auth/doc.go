// Package auth verifies bearer tokens and signs those of the HS256 family: by a shared secret, or by a key set that is kept
// fresh. A Verifier may be used by many goroutines at once.
package auth
