package demo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/client"
)

// Bounds of talking, after which a forgotten demo costs nothing any more.
const (
	talkMax  = time.Hour
	linesMax = 300
)

// Speed is how fast people talk.
type Speed struct {
	PauseMin, PauseMax time.Duration // between two lines
	Letter             time.Duration // to type one
	Lines              int           // that are said at most; 0: 300. After its last line the script begins anew
}

func (s Speed) lines() int {
	if s.Lines == 0 {
		return linesMax
	}
	return s.Lines
}

// Leisurely is how fast people talk while somebody looks.
var Leisurely = Speed{PauseMin: 5 * time.Second, PauseMax: 20 * time.Second, Letter: 40 * time.Millisecond}

// typingMax is shorter than a sign of typing holds.
const typingMax = 4 * time.Second

// Talk lets people say the lines of a script, with signs of typing before, until ctx ends, for an hour at most. Nothing is said in the name
// of somebody who is signed in elsewhere. A line that is refused, by a group that is gone for one, is left out; the error joins the refusals.
func Talk(ctx context.Context, s Server, speed Speed) error {
	ctx, stop := context.WithTimeout(ctx, talkMax)
	defer stop()
	w := newWorld(ctx, s)
	voices := map[string]*client.Stream{}
	for _, p := range People {
		w.as(p.ID, func(c *client.Client) (err error) {
			voices[p.ID], err = c.Stream(ctx, client.StreamOptions{Start: client.StartNewest})
			return err
		})
		if voice := voices[p.ID]; voice != nil {
			defer voice.Close()
			go listen(ctx, voice)
		}
	}
	chance := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same each time
	failed := w.err
	for i := range speed.lines() {
		w.err = nil
		l := script[i%len(script)]
		pause := speed.PauseMin
		if more := speed.PauseMax - speed.PauseMin; more > 0 {
			pause += time.Duration(chance.Int64N(int64(more)))
		}
		if !wait(ctx, pause) {
			return failed
		}
		voice := voices[l.from]
		if w.elsewhere(l.from, voice) {
			continue
		}
		w.speak(l, voice, speed)
		if ctx.Err() != nil {
			return failed
		}
		failed = errors.Join(failed, w.err)
	}
	return failed
}

// spoken is a line of the script: to a group, or to one person.
type spoken struct {
	group, to string
	line
}

// listen takes what comes, so that the session goes on.
func listen(ctx context.Context, voice *client.Stream) {
	for {
		if _, err := voice.Next(ctx); err != nil {
			return
		}
	}
}

// elsewhere tells whether somebody has a session besides that of Talk, if there is one.
func (w *world) elsewhere(user string, voice *client.Stream) (yes bool) {
	own := 0
	if voice != nil {
		own = 1
	}
	w.as(user, func(c *client.Client) error {
		sessions, err := c.Sessions(w, "me")
		yes = len(sessions) > own
		return err
	})
	return yes
}

// speak says a line as a person would: they read, type, and send; others react a little later.
func (w *world) speak(l spoken, voice *client.Stream, speed Speed) {
	group := l.group
	if l.to != "" {
		w.as(l.from, func(c *client.Client) error {
			g, err := c.Direct(w, l.to)
			group = g.ID
			return err
		})
	}
	w.read(group, l.from)
	w.as(l.from, func(*client.Client) error {
		if voice != nil {
			_ = voice.Typing(group) // between two sessions nobody sees it
		}
		wait(w, min(speed.Letter*time.Duration(utf8.RuneCountInString(l.body)), typingMax))
		return nil
	})
	reactions := l.reactions
	l.line.reactions = nil
	sent := w.say(group, l.line)
	if reactions != nil && wait(w, speed.PauseMin/2) {
		sent.reactions = reactions
		w.follow(group, sent)
	}
}

// wait tells whether ctx lasted as long.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
