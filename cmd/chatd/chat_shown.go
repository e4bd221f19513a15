package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
)

// shownFirst is how many lines an opened group begins with.
const shownFirst = 20

// shown is what a talk has printed of a group. Lines are never printed again: a change is a line of its own.
type shown struct {
	lines  map[string]local.Line // of the view, as printed or passed over
	low    int64                 // id of the oldest printed line
	last   int64                 // id of the newest one
	read   int64                 // up to which id the person is said to have read
	failed int                   // messages that the server refused
}

// news returns the lines to print for a view, after what was printed for the one before. mine are the client ids of what was
// written here, which stands on the screen already.
func (s *shown) news(view local.View, who *people, mine map[string]bool) (out []string) {
	say := func(format string, args ...any) { out = append(out, visible("-- "+fmt.Sprintf(format, args...))) }
	was := s.lines
	s.begin(view)
	for _, l := range view.Lines {
		before, known := was[l.Key]
		sent := l.State == local.StateSent && l.Gap == nil
		switch {
		case l.Gap != nil:
			if !known && was != nil && l.Gap.To > 0 {
				say("messages #%d to #%d are no longer there", l.Gap.From, l.Gap.To)
			}
		case l.State == local.StateFailed && before.State != local.StateFailed:
			s.failed++
			say("not sent: %s (/retry or /discard)", l.Failed.Detail)
		case sent && (!known || before.State != local.StateSent):
			if l.ID < s.low {
				break
			}
			if s.last = max(s.last, l.ID); mine[l.ClientID] {
				say("sent as #%d", l.ID)
				break
			}
			out = append(out, who.line(l.Message, ""))
		case sent && l.ID >= s.low:
			s.changed(before, l, say)
		}
		s.lines[l.Key] = l
	}
	return out
}

// begin takes the place of the view before. A group whose log begins anew is printed as if it was opened.
func (s *shown) begin(view local.View) {
	stays := slices.ContainsFunc(view.Lines, func(l local.Line) bool { return l.ID > 0 && l.ID >= s.low })
	if s.lines == nil || s.low == 0 || !stays {
		s.low = 0
		if n := len(view.Lines) - shownFirst; n > 0 {
			s.low = view.Lines[n].ID
		} else if len(view.Lines) > 0 {
			s.low = view.Lines[0].ID
		}
	}
	s.lines = make(map[string]local.Line, len(view.Lines))
}

// changed says what is different about a line.
func (s *shown) changed(was, now local.Line, say func(format string, args ...any)) {
	switch {
	case now.DeletedAt != nil && was.DeletedAt == nil:
		say("#%d is deleted", now.ID)
		return
	case now.DeletedAt != nil:
		return
	case now.Body != was.Body:
		say("#%d is now: %s", now.ID, strings.ReplaceAll(now.Body, "\n", "\n  "))
	}
	if has := reactionsOf(now.Reactions); has != reactionsOf(was.Reactions) {
		if has == "" {
			has = "no reactions"
		}
		say("#%d has %s", now.ID, has)
	}
}

// older returns the lines before the printed ones that are in a view now.
func (s *shown) older(view local.View, who *people) (out []string) {
	low := s.low
	for _, l := range view.Lines {
		if l.Gap != nil || l.ID == 0 || l.ID >= low {
			continue
		}
		out = append(out, who.line(l.Message, ""))
		s.low = min(s.low, l.ID)
	}
	return out
}

func reactionsOf(all map[string]client.Reaction) string {
	emoji := make([]string, 0, len(all))
	for e := range all {
		emoji = append(emoji, e)
	}
	slices.Sort(emoji)
	for i, e := range emoji {
		emoji[i] = fmt.Sprintf("%s %d", e, all[e].Count)
	}
	return strings.Join(emoji, ", ")
}
