package store

import (
	"context"
	"slices"
)

var knowScript = newScript("user/know", partNames)

// Know puts a user on the list of those whom the server has ever known.
func (s *Index) Know(ctx context.Context, user string) error {
	_, err := s.KnowAll(ctx, []string{user})
	return err
}

// KnowAll puts users on the list of those whom the server has ever known, in one round trip for each few hundred of a partition. It
// returns those who are on it, although others are not.
func (s *Index) KnowAll(ctx context.Context, users []string) (written []string, err error) {
	var calls []call
	var asked [][]int
	for p, here := range s.indexesByPartition(users) {
		for some := range slices.Chunk(here, rangeBatch) {
			c := knowScript.Sized(s.keys.part(p), 2+len(some))
			for _, i := range some {
				c = c.MoreArgs("them", users[i])
			}
			calls, asked = append(calls, c), append(asked, some)
		}
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, err
	}
	for c, some := range asked {
		if errs[c] != nil {
			err = errs[c]
			continue
		}
		for _, i := range some {
			written = append(written, users[i])
		}
	}
	return written, err
}
