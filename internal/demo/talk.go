package demo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
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
	var listening sync.WaitGroup
	defer listening.Wait()
	defer stop()
	w := newWorld(ctx, s)
	voices := map[string]*voice{}
	for _, p := range People {
		w.as(p.ID, func(c *client.Client) error {
			stream, err := c.Stream(ctx, client.StreamOptions{Start: client.StartNewest})
			if err == nil {
				v := &voice{Stream: stream, own: map[string]bool{}, heard: make(chan struct{})}
				voices[p.ID] = v
				listening.Go(func() { v.listen(ctx) })
			}
			return err
		})
	}
	for _, v := range voices {
		<-v.heard
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
		w.speak(l, voices, speed)
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

// voice is the stream of somebody who talks: it makes them online, and shows that they type.
type voice struct {
	*client.Stream
	heard chan struct{} // closed when the server has answered, or cannot be reached

	mu  sync.Mutex
	own map[string]bool // the sessions of the stream. One that is lost stays, since the server learns of it later
}

// listen takes what comes, so that the session goes on, until ctx ends.
func (v *voice) listen(ctx context.Context) {
	defer v.Close()
	heard := sync.OnceFunc(func() { close(v.heard) })
	defer heard()
	for e, err := range v.Events(ctx) {
		if err != nil {
			return
		}
		if c, is := e.(client.Connected); is {
			v.mu.Lock()
			v.own[c.Session] = true
			v.mu.Unlock()
		}
		heard()
	}
}

// is tells whether a session is one of the voice; nil has none.
func (v *voice) is(s client.Session) bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.own[s.ID]
}

// elsewhere tells whether somebody may have a session besides those of their voice: what is unknown counts as one.
func (w *world) elsewhere(user string, v *voice) bool {
	yes := true
	w.as(user, func(c *client.Client) error {
		sessions, err := c.Sessions(w, "me")
		yes = err != nil || slices.ContainsFunc(sessions, func(s client.Session) bool { return !v.is(s) })
		return err
	})
	return yes
}

// speak says a line as a person would: they read, type, and send; others react a little later. Nobody does who is elsewhere.
func (w *world) speak(l spoken, voices map[string]*voice, speed Speed) {
	v := voices[l.from]
	if w.elsewhere(l.from, v) {
		return
	}
	group := l.group
	if l.to != "" {
		w.as(l.from, func(c *client.Client) error {
			g, err := c.Direct(w, l.to)
			group = g.ID
			return err
		})
	}
	w.read(group, l.from)
	if v != nil {
		_ = v.Typing(group) // between two sessions nobody sees it
	}
	wait(w, min(speed.Letter*time.Duration(utf8.RuneCountInString(l.body)), typingMax))
	if w.elsewhere(l.from, v) {
		return
	}
	reactions := l.reactions
	l.line.reactions = nil
	sent := w.say(group, l.line)
	if reactions == nil || !wait(w, speed.PauseMin/2) {
		return
	}
	sent.reactions = map[string][]string{}
	for emoji, users := range reactions {
		sent.reactions[emoji] = slices.DeleteFunc(slices.Clone(users), func(user string) bool { return w.elsewhere(user, voices[user]) })
	}
	w.follow(group, sent)
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
