package live

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/chatd/chatd/chat"
)

// unlistedMax is how many of the groups that a client names, but its user's index does not list, are checked before the
// index is trusted about the others.
const unlistedMax = 32

// unlisted finds out which of names user is in, although user's index does not list them: the index lags behind the groups.
// It first checks a few, drawn at random. If user is in none of them, the index is taken to be right about the rest as well,
// so naming thousands of other people's groups costs no more than naming a few. Otherwise the index lags far behind, and
// all are checked. Groups that the caller does not reach are as those that it is not in. It reorders names; mine and foreign are in no
// particular order.
func (s *Service) unlisted(ctx context.Context, by chat.Caller, names []string) (mine, foreign []string, err error) {
	names, beyond := reached(by, names)
	mine, foreign, err = s.unlistedReached(ctx, by.User, names)
	return mine, append(foreign, beyond...), err
}

// reached splits names by whether the caller reaches them.
func reached(by chat.Caller, names []string) (within, beyond []string) {
	if by.Reach == nil {
		return names, nil
	}
	within = names[:0:0] // nil stays nil
	for _, g := range names {
		if by.Reaches(g) {
			within = append(within, g)
		} else {
			beyond = append(beyond, g)
		}
	}
	return within, beyond
}

func (s *Service) unlistedReached(ctx context.Context, user string, names []string) (mine, foreign []string, err error) {
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

// standing asks the groups themselves which of them user is a member of.
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

// without returns the names that index does not list.
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
