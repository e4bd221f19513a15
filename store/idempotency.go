package store

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
)

var (
	claimScript  = newScript("idempotency/claim")
	finishScript = newScript("idempotency/finish")
)

// Claim remembers that user began something with key, or returns how it was answered.
func (s *Store) Claim(ctx context.Context, user, key, content string) (*chat.Answer, error) {
	k := s.keys.user(user)
	r, err := s.runSafe(ctx, call{claimScript, []string{k.keys(), k.keysAt()},
		[]any{shortHash(key), shortHash(content), s.limits.KeysMax, s.limits.KeyAge.Milliseconds()}})
	if err != nil || r.number(1) == 0 {
		return nil, err
	}
	return &chat.Answer{Status: int(r.number(1)), Body: json.RawMessage(r.text(2))}, nil
}

// Finish keeps the answer.
func (s *Store) Finish(ctx context.Context, user, key string, answer chat.Answer) error {
	k := s.keys.user(user)
	_, err := s.runSafe(ctx, call{finishScript, []string{k.keys()}, []any{shortHash(key), answer.Status, []byte(answer.Body)}})
	return err
}
