package chat

import (
	"cmp"
	"context"
	"time"
)

// finishWait is how long the answer to a caller who may be gone is tried to be kept.
const finishWait = 10 * time.Second

// retryKeys remembers the answers to creations.
type retryKeys struct {
	*base
	store KeyStore
}

// Once runs do for the first request with key and gives its answer to every later one. content tells requests apart: the
// same key with different content is ErrKeyReused. A creation that was interrupted is done again, so do must be idempotent
// itself. One that failed may be tried again with the same content.
func (s *retryKeys) Once(ctx context.Context, by Caller, key, content string, do func() (Answer, error)) (a Answer, replayed bool, err error) {
	if key == "" {
		a, err = do()
		return a, false, AsError(err)
	}
	if err := cmp.Or(CheckCaller(by), CheckKey("Idempotency-Key", key)); err != nil {
		return Answer{}, false, err
	}
	first, err := s.store.Claim(ctx, by.User, key, Hash([]byte(content)))
	if err != nil {
		return Answer{}, false, AsError(err)
	}
	if first != nil {
		return *first, true, nil
	}
	if a, err = do(); err != nil {
		return Answer{}, false, AsError(err)
	}
	// The creation is done, so the answer stands, and is kept also for a caller who is gone. Without it, a retry does the same again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWait)
	defer cancel()
	if err := s.store.Finish(ctx, by.User, key, a); err != nil {
		s.opt.Log.WarnContext(ctx, "answer of a keyed request not kept", "error", err)
	}
	return a, false, nil
}
