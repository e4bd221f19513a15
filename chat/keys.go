package chat

import (
	"context"
)

// Once runs do unless key was finished before; then it gives the first answer again.
func (s *Service) Once(ctx context.Context, by Caller, key, content string, do func() (Answer, error)) (a Answer, replayed bool, err error) {
	return Answer{}, false, ErrUnavailable
}
