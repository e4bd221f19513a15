// Queue is a small shop that uses every part of the task engine, written from the README of queue alone:
//
//	go run . -redis localhost:6379
//
// Without -redis it keeps its tasks in memory. It prints what happens, and ends when nothing is left to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/embedded"
)

func main() {
	addr := flag.String("redis", "", "address of a Redis 7.0 or later; empty: in memory")
	pages := flag.String("pages", "", "address to show the tasks at, such as localhost:8080, until you interrupt the program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := start(ctx, *addr, *pages, os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "queue:", err)
		os.Exit(1)
	}
}

// start connects to a Redis, or to one in memory, and opens the shop.
func start(ctx context.Context, addr, pages string, out io.Writer) error {
	options := &redis.Options{Addr: addr, MaxRetries: -1}
	if addr == "" {
		server, err := embedded.Open(ctx, embedded.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }()
		options.Dialer, options.DisableIdentity = server.Dialer(), true
	}
	rdb := redis.NewClient(options)
	defer func() { _ = rdb.Close() }()
	return open(ctx, rdb, pages, out)
}

// Order is the payload of the tasks of a kind.
type Order struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
}

// The typed kinds of the shop.
var (
	Confirm = queue.Kind[Order]{Name: "mail.confirm", Policy: queue.Policy{AttemptsMax: 3, Timeout: time.Minute}}
	Ship    = queue.Kind[Order]{Name: "ship", Policy: queue.Policy{Queues: []string{"store"}}}
)

// shop is what the handlers share.
type shop struct {
	server      *queue.Server // serves both queues, and enqueues into the first, mail
	store       *queue.Client // enqueues into the second
	mu          sync.Mutex
	out         io.Writer
	runs        map[string]int // by kind and verdict: what a program would export as a metric
	postOffice  bool           // is open
	deliveredTo []string
	changes     []string // of account 7
	calls       chan time.Time
}

func (s *shop) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// open runs the shop until every task has ended.
func open(ctx context.Context, rdb redis.UniversalClient, pages string, out io.Writer) (err error) {
	s := &shop{out: out, runs: map[string]int{}, calls: make(chan time.Time, 2)}
	logged := queue.LogRuns(slog.Default())
	o := queue.Options{
		Client: rdb, Prefix: "shop", Partitions: 2,
		Queues:     []queue.QueueOptions{{Name: "mail", Workers: 4}, {Name: "store", Workers: 1, Strict: true}},
		BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond, AttemptsMax: 5, CrashesMax: 3, Lease: 10 * time.Second,
		StopTimeout: 5 * time.Second, DeadMax: 1000, DeadBytesMax: 1 << 20, Logger: slog.Default(),
		Observe: func(r queue.Run) {
			logged(r)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.runs[r.Kind+" "+r.Verdict]++
		},
	}
	if s.server, err = queue.New(o); err != nil {
		return err
	}
	o.Queue = "store"
	if s.store, err = queue.NewClient(o); err != nil {
		return err
	}
	s.handle()
	if err := s.plan(); err != nil {
		return err
	}

	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.server.Run(serving) }()
	err = errors.Join(s.pausePlan(ctx), s.sell(ctx), s.together(ctx), s.regularly(ctx), s.await(ctx), s.audit(ctx), s.look(ctx), s.mistakes(ctx, o))
	if pages != "" {
		err = errors.Join(err, s.show(ctx, pages))
	}
	stop()
	err = errors.Join(err, <-ended)
	return errors.Join(err, s.today(ctx))
}

// handle registers the handlers.
func (s *shop) handle() {
	s.server.Use(func(next queue.Handler) queue.Handler { // around every handler
		return func(ctx context.Context, t queue.Task) error {
			err := next(ctx, t)
			if cause := context.Cause(ctx); cause != nil {
				s.say("%s was interrupted: %v", t.Kind, cause)
			}
			return err
		}
	})
	Confirm.Handle(s.server, func(_ context.Context, t *queue.Task, o Order) error {
		s.say("confirmed order %d of %s, attempt %d, %s priority", o.Number, o.Name, t.Attempt, t.Priority)
		return nil
	})
	var mail queue.Mux
	mail.Handle("*", s.post) // every mail.… without a handler of its own
	s.server.Mount("mail.", &mail)
	Ship.Handle(s.server, s.ship)
	s.handleTogether()
	s.server.Handle("count", func(ctx context.Context, t queue.Task) error {
		if t.Attempt == 1 {
			return queue.RetryAfter(time.Millisecond, errors.New("the clerk is at lunch"))
		}
		return queue.SetProgress(ctx, 1, 1)
	})
	s.server.Handle("wait", func(ctx context.Context, _ queue.Task) error { <-ctx.Done(); return ctx.Err() })
}

// post fails for good while the post office is closed.
func (s *shop) post(_ context.Context, t queue.Task) error {
	s.mu.Lock()
	open := s.postOffice
	s.mu.Unlock()
	if !open {
		return queue.Bury(errors.New("the post office is closed"))
	}
	s.say("posted %s", t.Kind)
	return nil
}

// ship looks twice: the first time the parcel is not packed, which is nobody's failure.
func (s *shop) ship(_ context.Context, t *queue.Task, o Order) error {
	s.mu.Lock()
	packed := len(s.deliveredTo) > 0
	s.deliveredTo = append(s.deliveredTo, o.Name)
	s.mu.Unlock()
	if !packed {
		return queue.Snooze(5 * time.Millisecond)
	}
	s.say("shipped order %d, %d failed attempts", o.Number, t.Attempts)
	return nil
}

// sell enqueues one task for each thing that a task can ask for.
func (s *shop) sell(ctx context.Context) error {
	ada := Order{7, "Ada"}
	if _, _, err := Confirm.Enqueue(ctx, s.server, ada, queue.Task{Priority: queue.High, Unique: "confirm 7", Delay: 200 * time.Millisecond}); err != nil {
		return err
	}
	_, again, err := Confirm.Enqueue(ctx, s.server, ada, queue.Task{Unique: "confirm 7"})
	if err != nil {
		return err
	}
	s.say("the same order again: enqueued %v", again)
	if _, _, err := Ship.Enqueue(ctx, s.store, ada, queue.Task{ID: queue.NewID(1), AttemptsMax: 1}); err != nil {
		return err
	}
	now := time.Now()
	if _, err := s.server.EnqueueAll(ctx, []queue.Task{
		{Kind: "count", Subject: "storage 3", Due: now.Add(10 * time.Millisecond), Deadline: now.Add(time.Hour)},
		{Kind: "mail.late", Deadline: now.Add(-time.Second)}, // nobody wants it any more
		{Kind: "wait", Timeout: 20 * time.Millisecond, AttemptsMax: 1},
	}); err != nil {
		return err
	}
	if err := s.cancel(ctx); err != nil {
		return err
	}
	return s.strike(ctx)
}

// regularly does now what comes every week, and then gives it up.
func (s *shop) regularly(ctx context.Context) error {
	if err := s.server.PutPeriodic(ctx, queue.Periodic{
		ID: "digest", Cron: "0 8 * * MON", Zone: "Europe/Berlin", Kind: "mail.digest", With: queue.Task{Priority: queue.Low},
	}); err != nil {
		return err
	}
	if _, err := s.server.RunPeriodic(ctx, "digest"); err != nil {
		return err
	}
	all, _, err := s.server.ListPeriodic(ctx, "", 0)
	if err != nil {
		return err
	}
	for _, p := range all {
		s.say("%s comes next on a %s", p.ID, p.Next.UTC().Weekday())
		err = errors.Join(err, s.server.DeletePeriodic(ctx, p.ID))
	}
	return err
}

// cancel takes a task back that waits.
func (s *shop) cancel(ctx context.Context) error {
	id, _, err := s.server.Enqueue(ctx, queue.Task{Kind: "mail.advertisement", Delay: time.Hour})
	if err != nil {
		return err
	}
	state, err := s.server.Cancel(ctx, id)
	s.say("cancelled a %s task", state)
	if _, gone := s.server.Get(ctx, id); !errors.Is(gone, queue.ErrNotFound) {
		err = errors.Join(err, fmt.Errorf("it is still there: %w", gone))
	}
	return err
}

// strike makes a dead letter of a letter, and a success once the post office is open. Meanwhile the queue of the store
// is paused for a moment.
func (s *shop) strike(ctx context.Context) error {
	if err := s.store.Pause(ctx); err != nil {
		return err
	}
	id, _, err := s.server.Enqueue(ctx, queue.Task{Kind: "mail.invoice", Priority: queue.Critical})
	if err != nil {
		return err
	}
	if err := s.until(ctx, func() (bool, error) {
		letter, err := s.server.Get(ctx, id)
		return letter.State == queue.Dead, err
	}); err != nil {
		return err
	}
	s.mu.Lock()
	s.postOffice = true
	s.mu.Unlock()
	dead, _, err := s.server.List(ctx, queue.ListQuery{State: queue.Dead})
	if err != nil {
		return err
	}
	for _, letter := range dead {
		if letter.ID == id {
			s.say("%s is dead: %s; once more", letter.Kind, letter.LastError)
			err = s.server.Retry(ctx, letter.ID)
		}
	}
	return errors.Join(err, s.store.Resume(ctx))
}

// await returns when nothing waits or runs.
func (s *shop) await(ctx context.Context) error {
	return s.until(ctx, func() (bool, error) {
		mail, err := s.server.Stats(ctx)
		store, storeErr := s.store.Stats(ctx)
		return mail.ReadyAll()+mail.Delayed+mail.Leased+store.ReadyAll()+store.Delayed+store.Leased == 0, errors.Join(err, storeErr)
	})
}

func (s *shop) until(ctx context.Context, cond func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if done, err := cond(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// audit prints what became of everything.
func (s *shop) audit(ctx context.Context) error {
	mail, err := s.server.Stats(ctx)
	if err != nil {
		return err
	}
	store, err := s.store.Stats(ctx)
	if err != nil {
		return err
	}
	s.say("mail adds up: %v", mail.Enqueued == mail.Done+mail.Dead+mail.Deleted+mail.Dropped)
	s.say("store: %d enqueued, %d done", store.Enqueued, store.Done)
	s.mu.Lock()
	snoozed := s.runs["ship snooze"]
	s.mu.Unlock()
	s.say("shipping was snoozed %d time", snoozed)
	return nil
}
