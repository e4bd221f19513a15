package chat

import "context"

// Follower is the pulling reader of one session.
type Follower struct{}

// Welcome is where the session starts.
func (f *Follower) Welcome() Welcome { return Welcome{} }

// Next blocks until there is something for the session.
func (f *Follower) Next(ctx context.Context) (Event, error) { <-ctx.Done(); return Event{}, ctx.Err() }

// Close ends the follower.
func (f *Follower) Close() {}

// Follow starts the reader of one session.
func (s *Service) Follow(ctx context.Context, by Caller, after map[string]string) (*Follower, error) {
	return nil, ErrUnavailable
}

// Typing tells the other members that the caller is typing.
func (s *Service) Typing(ctx context.Context, by Caller, group string) error {
	return ErrUnavailable
}
