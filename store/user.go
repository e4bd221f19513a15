package store

import "context"

var knowScript = newScript("user/know", partNames)

// Know puts a user on the list of those whom the server has ever known.
func (s *Index) Know(ctx context.Context, user string) error {
	return s.do(ctx, knowScript.On(s.keys.home(user)).Arg("user", user))
}
