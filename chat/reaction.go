package chat

import (
	"context"

	"github.com/chatd/chatd/internal/emoji"
)

// spelling is how the emoji of a reaction is written at its target. It has one spelling in new reactions, but a message may have
// got some when each was stored as it came: these are joined and taken back as they are stored. Where that cannot be read, the
// store cannot append the reaction either, and says why.
func (s *sends) spelling(ctx context.Context, user, group string, c Content) string {
	if _, ok := emoji.Canonical(c.Emoji); !ok {
		return c.Emoji
	}
	found, err := s.store.Reactions(ctx, group, user, min(c.Target, IDMax), min(c.Target, IDMax))
	if err != nil {
		return c.Emoji
	}
	spelled := c.Emoji
	for other, count := range found[c.Target] {
		if emoji.Bare(other) != emoji.Bare(c.Emoji) {
			continue
		}
		if count.Mine {
			return other
		}
		if _, ok := found[c.Target][c.Emoji]; !ok {
			spelled = other
		}
	}
	return spelled
}

// OneSpelling counts the spellings of an emoji as one.
func OneSpelling(found map[string]ReactionCount) map[string]ReactionCount {
	if len(found) == 0 {
		return found
	}
	all := make(map[string]ReactionCount, len(found))
	for text, count := range found {
		if one, ok := emoji.Canonical(text); ok {
			text = one
		}
		sum := all[text]
		all[text] = ReactionCount{Count: sum.Count + count.Count, Mine: sum.Mine || count.Mine}
	}
	return all
}
