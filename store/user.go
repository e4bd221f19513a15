package store

import "context"

var knowScript = newScript("user/know")

// Know puts a user on the list of those whom the server has ever known.
func (s *Store) Know(ctx context.Context, user string) error {
	_, err := s.run(ctx, call{knowScript, []string{s.keys.users(s.keys.partition(user))}, []any{user}})
	return err
}
