// Package auth verifies bearer tokens, with a shared secret or with a key set that it keeps up to date, and signs HS256
// tokens. A Verifier is safe for concurrent use.
package auth
