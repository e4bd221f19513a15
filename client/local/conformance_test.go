package local

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/clock"
	"github.com/chatd/chatd/sdk/conformance"
)

// TestConformance runs the scenarios that every client passes.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, s := range conformance.Scenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, s, startDriver)
		})
	}
}

// startDriver is a driver in this process: see docs/clients.md.
func startDriver(t *testing.T) *conformance.Driver {
	commands, in := io.Pipe()
	out, answers := io.Pipe()
	d := &driver{clock: &scripted{}, store: &crashing{}, timelines: map[string]*Timeline{}, log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	var running sync.WaitGroup
	running.Go(func() { d.serve(commands, answers) })
	t.Cleanup(func() {
		_ = in.Close()
		running.Wait()
	})
	return conformance.NewDriver(in, out)
}

// scripted is a clock that only advance moves.
type scripted struct {
	mu     sync.Mutex
	now    time.Time
	random float64
	timers []*timer
}

type timer struct {
	at  time.Time
	run func()
}

func (s *scripted) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *scripted) Random() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random
}

func (s *scripted) AfterFunc(d time.Duration, f func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d <= 0 {
		go f()
		return func() {}
	}
	one := &timer{s.now.Add(d), f}
	s.timers = append(s.timers, one)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timers = slices.DeleteFunc(s.timers, func(o *timer) bool { return o == one })
	}
}

// next moves the clock to the next timer, or to end if there is none before.
func (s *scripted) next(end time.Time) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first *timer
	for _, o := range s.timers {
		if !o.at.After(end) && (first == nil || o.at.Before(first.at)) {
			first = o
		}
	}
	if first == nil {
		s.now = end
		return nil
	}
	s.timers = slices.DeleteFunc(s.timers, func(o *timer) bool { return o == first })
	if first.at.After(s.now) {
		s.now = first.at
	}
	return first.run
}

func (s *scripted) advance(d time.Duration) {
	settle()
	for end := s.Now().Add(d); ; settle() {
		run := s.next(end)
		if run == nil {
			return
		}
		run()
	}
}

// settle lets everything happen that waits for no timer and no network.
func settle() {
	for range 100 {
		runtime.Gosched()
	}
}

// crashing is a store that takes nothing from some moment on, as if the process was gone.
type crashing struct {
	MemoryStore
	crashed, refused atomic.Bool
}

func (c *crashing) Write(ctx context.Context, changes []Change) error {
	if c.crashed.Load() {
		c.refused.Store(true)
		return errors.New("the process is gone")
	}
	return c.MemoryStore.Write(ctx, changes)
}

// command is one of the runner.
type command struct {
	Do       string
	URL      string
	User     string
	Now      int64
	Random   float64
	Value    float64
	Tokens   []string
	SignsOut bool `json:"signs_out"`
	MS       any
	Group    string
	ID       int64
	Body     string
	Emoji    string
	Key      string
}

type object = map[string]any

type driver struct {
	clock     *scripted
	store     *crashing
	settings  command
	chat      *Chat
	timelines map[string]*Timeline
	log       *slog.Logger

	mu    sync.Mutex
	given int // tokens
	token string
}

func (d *driver) serve(commands io.Reader, answers *io.PipeWriter) {
	lines := bufio.NewScanner(commands)
	for lines.Scan() {
		var c command
		answer, err := object{}, json.Unmarshal(lines.Bytes(), &c)
		if err == nil {
			answer, err = d.do(c)
		}
		if err != nil {
			answer = object{"error": err.Error()}
		}
		if answer == nil {
			answer = object{}
		}
		line, _ := json.Marshal(answer)
		_, _ = answers.Write(append(line, '\n'))
	}
	if d.chat != nil {
		d.chat.Close()
	}
	_ = answers.Close()
}

// source gives one token after another: a JWT until a minute before its end, any of them until it is refused.
func (d *driver) source(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tokens := d.settings.Tokens
	if len(tokens) == 0 {
		tokens = []string{"t"}
	}
	if d.token != "" && d.token != client.RefusedToken(ctx) && d.clock.Now().Before(endOf(d.token)) {
		return d.token, nil
	}
	if d.given >= len(tokens) && d.settings.SignsOut {
		return "", client.ErrSignedOut
	}
	d.token = tokens[min(d.given, len(tokens)-1)]
	d.given++
	return d.token, nil
}

func (d *driver) connect() error {
	c, err := client.New(d.settings.URL, d.source)
	if err == nil {
		ctx := clock.With(context.Background(), d.clock)
		d.chat, err = Open(ctx, c, Options{Store: d.store, User: d.settings.User, Log: d.log})
	}
	return err
}

func (d *driver) do(c command) (object, error) {
	ctx := context.Background()
	sent := func(kind string) (object, error) {
		s, err := d.chat.Send(ctx, c.Group, client.Draft{Kind: kind, Body: c.Body, Target: c.ID, Emoji: c.Emoji})
		if err != nil {
			return nil, err
		}
		return object{"key": s.Key}, nil
	}
	switch c.Do {
	case "start":
		d.settings, d.clock.now, d.clock.random = c, time.UnixMilli(c.Now), c.Random
		return nil, d.connect()
	case "reload":
		clear(d.timelines)
		d.chat.Close()
		d.store.crashed.Store(false)
		return nil, d.connect()
	case "crash":
		d.store.refused.Store(false)
		d.store.crashed.Store(true)
	case "writes":
		return object{"refused": d.store.refused.Load()}, nil
	case "close":
		d.chat.Close()
	case "advance":
		ms, ok := c.MS.(float64)
		if !ok {
			if retry := d.chat.State().Retry; !retry.IsZero() {
				ms = float64(retry.Sub(d.clock.Now())) / float64(time.Millisecond)
			}
		}
		d.clock.advance(time.Duration(ms * float64(time.Millisecond)))
	case "random":
		d.clock.mu.Lock()
		defer d.clock.mu.Unlock()
		d.clock.random = c.Value
	case "state":
		s := d.chat.State()
		answer := object{"phase": s.Phase, "by": s.By}
		if !s.Retry.IsZero() {
			answer["retry_in"] = float64(s.Retry.Sub(d.clock.Now())) / float64(time.Millisecond)
		}
		return answer, nil
	case "open":
		t, err := d.chat.Timeline(ctx, c.Group, At{})
		d.timelines[c.Group] = t
		return nil, err
	case "items":
		return items(d.timelines[c.Group].View()), nil
	case "before":
		t := d.timelines[c.Group]
		go func() { _ = t.LoadBefore(ctx) }() // its end is that of the chat
	case "hurry":
		d.chat.Hurry()
	case "send":
		return sent("")
	case "edit", "delete":
		return sent(c.Do)
	case "react":
		return sent(client.KindReaction)
	case "retry":
		return nil, d.chat.Retry(ctx, c.Key)
	case "discard":
		return nil, d.chat.Discard(ctx, c.Key)
	case "read":
		return nil, d.chat.Read(ctx, c.Group, c.ID)
	case "group":
		g, ok := d.chat.Group(c.Group)
		if !ok {
			return object{"gone": true}, nil
		}
		return object{"id": g.ID, "unread": g.Unread, "mentions_unread": g.MentionsUnread, "read": g.GroupState.Read, "last": g.Last, "failed": g.Failed}, nil
	default:
		return nil, fmt.Errorf("no such command: %s", c.Do)
	}
	return nil, nil
}

func items(v View) object {
	all := []object{}
	for _, l := range v.Lines {
		if l.Gap != nil {
			all = append(all, object{"gap": []int64{l.Gap.From, l.Gap.To}})
			continue
		}
		one := object{"id": l.ID, "key": l.Key, "body": l.Body, "state": l.State, "edited": l.EditedAt != nil, "deleted": l.DeletedAt != nil}
		if l.Failed != nil {
			one["code"] = l.Failed.Code
		}
		reactions := object{}
		for emoji, r := range l.Reactions {
			reactions[emoji] = r.Count
		}
		one["reactions"] = reactions
		all = append(all, one)
	}
	return object{"items": all, "before": v.Before}
}

// endOf is when a source should replace a token.
func endOf(token string) time.Time {
	parts := strings.Split(token, ".")
	var claims struct{ Exp int64 }
	if len(parts) == 3 {
		if text, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Unmarshal(text, &claims) == nil && claims.Exp > 0 {
			return time.Unix(claims.Exp, 0).Add(-time.Minute)
		}
	}
	return time.Unix(1<<40, 0)
}
