package importer

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
)

// losses are what a lenient import leaves out of what the other system had.
type losses struct {
	cut     int64 // bodies
	dropped int64 // mentions and reactions
}

// cutMark ends a body that was cut.
const cutMark = "…"

// fit cuts a body that is too long, and drops the mentions and the emoji that are too many, the least used first, and what chatd does
// not take as an emoji.
func (l *line) fit(limits chat.Limits) (lost losses) {
	if l.Body != nil && len(*l.Body) > limits.BodyBytesMax && limits.BodyBytesMax >= len(cutMark) {
		end := limits.BodyBytesMax - len(cutMark)
		for end > 0 && !utf8.RuneStart((*l.Body)[end]) {
			end--
		}
		l.Body, lost.cut = new((*l.Body)[:end]+cutMark), 1
	}
	if surplus := len(l.Mentions) - limits.MentionsMax; surplus > 0 {
		l.Mentions, lost.dropped = l.Mentions[:limits.MentionsMax], int64(surplus)
	}
	kept := 0
	byUse := slices.SortedFunc(maps.Keys(l.Reactions), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(l.Reactions[b]), len(l.Reactions[a])), cmp.Compare(a, b))
	})
	for _, emoji := range byUse {
		_, err := chat.Content{Kind: chat.Reaction, Target: 1, Emoji: emoji}.Checked(limits)
		if err == nil && kept < limits.EmojisMax {
			kept++
			continue
		}
		lost.dropped += int64(len(l.Reactions[emoji]))
		delete(l.Reactions, emoji)
	}
	return lost
}
