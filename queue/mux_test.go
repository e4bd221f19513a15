package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type letter struct {
	To    string `json:"to"`
	Pages int    `json:"pages"`
}

// TestTheNearestPatternRuns: a kind goes to its own handler, else to that of its longest prefix, if that serves the
// queue, within the middleware of every Mux on the way.
func TestTheNearestPatternRuns(t *testing.T) {
	t.Parallel()
	o := options(connectWith(t, startEmbedded(t)), 1)
	o.Queues = []QueueOptions{{Name: "core"}, {Name: "egress"}}
	s := newServer(t, o)
	var path []string
	note := func(name string) Handler {
		return func(context.Context, Task) error { path = append(path, name); return nil }
	}
	around := func(name string) Middleware {
		return func(next Handler) Handler {
			return func(ctx context.Context, t Task) error { path = append(path, name); return next(ctx, t) }
		}
	}
	var mail, lists Mux
	mail.Use(around("mail"))
	mail.Handle("send", note("send"))
	mail.Handle("*", note("any mail"))
	lists.Handle("send", note("list"))
	lists.Use(around("lists 1"), around("lists 2"))
	mail.Mount("list.", &lists)
	s.Mount("mail.", &mail)
	s.HandlePolicy("mail.s*", Policy{Queues: []string{"egress"}}, note("egress"))
	s.Use(around("server"))
	s.freeze()
	for _, test := range []struct{ kind, queue, want string }{
		{"mail.send", "core", "server mail send"},
		{"mail.sent", "core", "server mail any mail"},
		{"mail.sent", "egress", "server egress"},
		{"mail.", "egress", "server mail any mail"},
		{"mail.list.send", "core", "server mail lists 1 lists 2 list"},
		{"mail", "core", ""},
		{"other", "core", ""},
	} {
		path = nil
		if k, ok := s.kindOf(test.kind, test.queue); ok {
			if err := k.handler(t.Context(), Task{}); err != nil {
				t.Error(err)
			}
		}
		if got := strings.Join(path, " "); got != test.want {
			t.Errorf("%s in %s: got %q, want %q", test.kind, test.queue, got, test.want)
		}
	}
	waiting := map[string]bool{"mail.x": true, "mail": true, "index": true, "other": true}
	if got := unserved(waiting, []string{"core index mail.*", "egress other"}, "core"); !slices.Equal(got, []string{"mail", "other"}) {
		t.Errorf("unserved: got %q", got)
	}
}

func TestBadPatternsAreRefused(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, Task) error { return nil }
	for _, register := range map[string]func(*Mux){
		"empty":      func(m *Mux) { m.Handle("", nothing) },
		"no handler": func(m *Mux) { m.Handle("k", nil) },
		"twice":      func(m *Mux) { m.Handle("k", nothing); m.Handle("k", nothing) },
		"blank":      func(m *Mux) { m.Handle("a b", nothing) },
		"long":       func(m *Mux) { m.Handle(strings.Repeat("k", nameBytesMax+1), nothing) },
		"mounted": func(m *Mux) {
			var sub Mux
			sub.Handle("k", nothing)
			m.Mount("x.", &sub)
			m.Mount("x.", &sub)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			register(&Mux{})
		}()
	}
}

// TestTypedKinds: payloads arrive as they were enqueued, middleware sees what the handler returns and adds to its
// context, and a payload that is none of the type is a dead letter after one run that the handler does not see.
func TestTypedKinds(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		letters := Kind[letter]{Name: "letter", Policy: Policy{AttemptsMax: 2}}
		type stamp struct{}
		var mu sync.Mutex
		var got []string
		var ended []error
		s.Use(func(next Handler) Handler {
			return func(ctx context.Context, task Task) error {
				err := next(context.WithValue(ctx, stamp{}, "stamped"), task)
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, err)
				return err
			}
		})
		lost := errors.New("lost")
		letters.Handle(s, func(ctx context.Context, task *Task, l letter) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf("%s %d %v %d", l.To, l.Pages, ctx.Value(stamp{}), task.Attempt))
			return errors.Join(lost, SetProgress(ctx, 1, 2))
		})
		start(t, s)
		id, ok, err := letters.Enqueue(t.Context(), s, letter{"ada", 3}, Task{Priority: High})
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		until(t, "the letter to be lost", func() bool { return stats(t, s.Client).Dead == 1 })
		if info, err := s.Get(t.Context(), id); err != nil || string(info.Payload) != `{"to":"ada","pages":3}` || info.Priority != High || info.Attempts != 2 {
			t.Errorf("got %+v, %v", info, err)
		}
		for _, payload := range []string{`{"to":7}`, "", "nonsense"} {
			id = enqueue(t, s.Client, Task{Kind: "letter", Payload: []byte(payload)})
			until(t, "the task to be buried", func() bool { info, err := s.Get(t.Context(), id); return err == nil && info.State == Dead })
			if info, err := s.Get(t.Context(), id); err != nil || info.Attempts != 1 || !strings.HasPrefix(info.LastError, `payload of kind "letter": `) {
				t.Errorf("%q: got %+v, %v", payload, info, err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"ada 3 stamped 1", "ada 3 stamped 2"}; !slices.Equal(got, want) {
			t.Errorf("runs: got %q, want %q", got, want)
		}
		if len(ended) != 5 || !errors.Is(ended[0], lost) || ended[4] == nil {
			t.Errorf("the middleware got %v", ended)
		}
	})
}

func TestTypedKindsRefuseWhatTheySet(t *testing.T) {
	t.Parallel()
	letters := Kind[letter]{Name: "letter"}
	for _, with := range []Task{{Kind: "letter"}, {Payload: []byte("x")}} {
		if _, err := letters.Task(letter{}, with); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: got error %v", with, err)
		}
	}
	if _, err := (Kind[chan int]{Name: "c"}).Task(make(chan int), Task{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a channel: got error %v", err)
	}
	got, err := letters.Task(letter{To: "ada"}, Task{Delay: time.Hour, Unique: "ada"})
	if err != nil || got.Kind != "letter" || got.Delay != time.Hour || got.Unique != "ada" || string(got.Payload) != `{"to":"ada","pages":0}` {
		t.Errorf("got %+v, %v", got, err)
	}
}
