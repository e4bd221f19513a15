package store

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
)

var (
	claimScript  = newScript("idempotency/claim", userNames)
	finishScript = newFreeing("idempotency/finish", userNames)
)

// RetryKeys are the answers to calls that may be repeated.
type RetryKeys struct {
	*base
}

// Claim records that user began something with key, or returns the answer that key got before.
func (s *RetryKeys) Claim(ctx context.Context, user, key, content string) (*chat.Answer, error) {
	r, err := s.runSafe(ctx, claimScript.On(s.keys.user(user)).Arg("key", shortHash(key)).Arg("content", shortHash(content)).
		Arg("keys_max", s.limits.KeysMax).Arg("age_ms", s.limits.KeyAge.Milliseconds()))
	if err != nil || r.number(1) == 0 {
		return nil, err
	}
	return &chat.Answer{Status: int(r.number(1)), Body: json.RawMessage(r.text(2))}, nil
}

// Finish keeps the answer.
func (s *RetryKeys) Finish(ctx context.Context, user, key string, answer chat.Answer) error {
	return s.doSafe(ctx, finishScript.On(s.keys.user(user)).Arg("key", shortHash(key)).Arg("status", answer.Status).
		Arg("body", []byte(answer.Body)))
}
