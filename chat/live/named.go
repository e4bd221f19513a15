package live

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/chatd/chatd/chat"
)

// unlistedMax is how many of the groups that a client names, and that its user's index does not list, are looked at before
// the index is believed about the others.
const unlistedMax = 32

// unlisted tells which of names, groups that a client names and that user's index does not list, user is in all the same:
// the index lags behind the groups. A few are looked at, drawn at random where there are more. If user is in none of them
// the index is right about the rest as well, so that naming thousands of groups of others costs no more than naming a few;
// else the index lags far behind, and every one is looked at. It reorders names; mine and foreign come in no order.
func (s *Service) unlisted(ctx context.Context, user string, names []string) (mine, foreign []string, err error) {
	if len(names) > unlistedMax {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	few := names[:min(len(names), unlistedMax)]
	if mine, foreign, err = s.standing(ctx, user, few); err != nil {
		return nil, nil, err
	}
	rest := names[len(few):]
	if len(mine) == 0 {
		return nil, append(foreign, rest...), nil
	}
	for chunk := range slices.Chunk(rest, roundGroups) {
		in, out, err := s.standing(ctx, user, chunk)
		if err != nil {
			return nil, nil, err
		}
		mine, foreign = append(mine, in...), append(foreign, out...)
	}
	return mine, foreign, nil
}

// standing asks the groups themselves whether user is a member.
func (s *Service) standing(ctx context.Context, user string, groups []string) (mine, foreign []string, err error) {
	infos, err := s.infos(ctx, user, groups)
	for i, info := range infos {
		if isMember(info) {
			mine = append(mine, groups[i])
		} else {
			foreign = append(foreign, groups[i])
		}
	}
	return mine, foreign, err
}

func isMember(info chat.Info) bool { return info.Role != "" && info.Epoch != "" }

// without returns those of names that index does not list.
func without[T any](names map[string]T, index []chat.UserGroup) []string {
	listed := make(map[string]struct{}, len(index))
	for _, g := range index {
		listed[g.Group] = struct{}{}
	}
	var others []string
	for name := range names {
		if _, ok := listed[name]; !ok {
			others = append(others, name)
		}
	}
	return others
}
