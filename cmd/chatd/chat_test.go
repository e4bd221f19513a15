package main

import (
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
)

// TestWhatATalkPrints: each line once, and a change as a line of its own.
func TestWhatATalkPrints(t *testing.T) {
	at := time.Date(2026, 11, 27, 9, 5, 0, 0, time.Local)
	line := func(id int64, body string) local.Line {
		return local.Line{Key: "c-zoe-" + body, State: local.StateSent, Message: client.Message{
			ID: id, From: "zoe", SentAt: at, Content: client.Content{Kind: "text", Body: body, ClientID: body},
		}}
	}
	edited := func(l local.Line, change func(*local.Line)) local.Line { change(&l); return l }
	one, two, own := line(1, "one"), line(2, "two"), line(3, "own")
	unsent := edited(own, func(l *local.Line) { l.ID, l.State = 0, local.StateSending })
	failed := edited(unsent, func(l *local.Line) { l.State, l.Failed = local.StateFailed, &local.Failure{Detail: "too long"} })
	who := &people{known: map[string]client.User{}}
	var s shown
	for i, step := range []struct {
		lines []local.Line
		want  []string
	}{
		{[]local.Line{one}, []string{"#1 2026-11-27 09:05 zoe: one"}},
		{[]local.Line{one}, nil},
		{[]local.Line{one, unsent}, nil},
		{[]local.Line{one, failed}, []string{"-- not sent: too long (/retry or /discard)"}},
		{[]local.Line{one, failed}, nil},
		{[]local.Line{one, own}, []string{"-- sent as #3"}},
		{[]local.Line{one, two, own}, []string{"#2 2026-11-27 09:05 zoe: two"}}, // it came later than one's own
		{[]local.Line{edited(one, func(l *local.Line) { l.Body = "\x1bone" }), two, own}, []string{`-- #1 is now: \x1bone`}},
		{[]local.Line{edited(one, func(l *local.Line) {
			l.Body, l.Reactions = "\x1bone", map[string]client.Reaction{"👍": {Count: 2}, "❤": {Count: 1}}
		}), two, own}, []string{"-- #1 has ❤ 1, 👍 2"}},
		{[]local.Line{edited(one, func(l *local.Line) { l.Body = "\x1bone" }), two, own}, []string{"-- #1 has no reactions"}},
		{[]local.Line{edited(one, func(l *local.Line) { l.Body, l.DeletedAt = "", &at }), two, own}, []string{"-- #1 is deleted"}},
	} {
		if got := s.news(local.View{Lines: step.lines}, who, map[string]bool{"own": true}); !slices.Equal(got, step.want) {
			t.Errorf("step %d: got %q, want %q", i, got, step.want)
		}
	}
	if s.last != 3 {
		t.Errorf("read up to %d", s.last)
	}
	long := make([]local.Line, 50)
	for i := range long {
		long[i] = line(int64(i+1), string(rune('A'+i)))
	}
	s = shown{}
	if got := s.news(local.View{Lines: long}, who, nil); len(got) != shownFirst || s.low != 31 {
		t.Errorf("an opened group begins with %d lines from #%d", len(got), s.low)
	}
	if got := s.older(local.View{Lines: long}, who); len(got) != 30 || s.low != 1 {
		t.Errorf("got %d older lines, to #%d", len(got), s.low)
	}
	if got := s.older(local.View{Lines: long}, who); got != nil {
		t.Errorf("older lines come again: %q", got)
	}
}

func TestTabExtends(t *testing.T) {
	all := []string{"/open general", "/open games", "/reply ", "/react "}
	for line, want := range map[string]string{"": "", "/o": "/open g", "/open gen": "/open general", "/r": "/re", "/x": "/x", "hello": "hello"} {
		if got := extend(line, all); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestTargets(t *testing.T) {
	for args, want := range map[string]struct {
		id   int64
		rest string
	}{"12 a b": {12, "a b"}, "#7": {7, ""}, "x y": {0, ""}, "": {0, ""}, "-1 x": {0, ""}} {
		if id, rest, err := target(args); id != want.id || rest != want.rest || (err == nil) != (want.id > 0) {
			t.Errorf("%q: got %d, %q, %v", args, id, rest, err)
		}
	}
}
