package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// bench is one run: a redis-server of its own, a store and a service on it.
type bench struct {
	tb      *program
	ctx     context.Context
	redis   *redistest.Server
	store   *store.Store
	service *chat.Service
	live    *live.Service
	traffic *traffic
	table   table
	steps   map[string][2]int64 // what counting found: commands and round trips of each step
	folders map[string]string   // of the files of each redis-server
	idle    []float64           // what waiting found: commands a second with an empty queue and with a full one
}

// program lets this command use what tests use: it ends the program where a test would fail.
type program struct {
	testing.TB // nil: only what is overridden here is ever called
	cleanups   []func()
}

func (p *program) Helper()                      {}
func (p *program) Failed() bool                 { return false }
func (p *program) Logf(f string, a ...any)      { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (p *program) Errorf(f string, a ...any)    { p.Logf(f, a...) }
func (p *program) Cleanup(f func())             { p.cleanups = append(p.cleanups, f) }
func (p *program) Fatal(a ...any)               { p.Fatalf("%s", fmt.Sprint(a...)) }
func (p *program) Fatalf(f string, args ...any) { p.Logf(f, args...); p.close(); os.Exit(1) }

func (p *program) TempDir() string {
	dir, err := os.MkdirTemp("", "chatd-bench")
	if err != nil {
		p.Fatalf("%v", err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (p *program) close() {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
	p.cleanups = nil
}

func newBench(ctx context.Context) *bench {
	b := &bench{tb: &program{}, ctx: ctx, traffic: &traffic{}, steps: map[string][2]int64{}, folders: map[string]string{}}
	b.redis = redistest.Start(b.tb)
	b.open(store.Options{URL: b.redis.URL()})
	return b
}

// open makes a store and a service on it, watched by traffic.
func (b *bench) open(o store.Options) {
	o.Limits = chat.DefaultLimits()
	o.Limits.PendingBytesMax = 1 << 30 // followers that have taken all they count do not ask again, so theirs is never given back
	o.Limits.UserGroupsMax = 1 << 20   // one owner has the groups of all readers
	s := must(store.Open(b.ctx, o))
	for _, server := range must(s.Conn().Masters(b.ctx)) { // sends go straight to them
		server.Client.AddHook(b.traffic)
	}
	service := chat.New(s, chat.Options{Limits: o.Limits})
	readers := live.New(service, s)
	b.store, b.service, b.live = s, service, readers
	ctx, stop := context.WithCancel(b.ctx)
	var running sync.WaitGroup // both end with their context only
	running.Go(func() { _ = service.Run(ctx) })
	running.Go(func() { _ = readers.Run(ctx) })
	b.tb.Cleanup(func() {
		stop()
		running.Wait()
		_ = s.Close()
	})
}

func (b *bench) close() { b.tb.close() }

// fresh measures with a server of its own: the nodes, users and groups of other sections are still there, and would count.
func fresh(b *bench, measure func(own *bench)) {
	own := newBench(b.ctx)
	defer own.close()
	defer func() { b.table.sections = append(b.table.sections, own.table.sections...) }()
	measure(own)
}

// traffic counts what chatd sends to its store: commands, and round trips (a pipeline is one).
type traffic struct {
	commands, trips atomic.Int64
	last            atomic.Pointer[[]any] // arguments of the newest single command
	names           atomic.Pointer[names] // counts the commands by name while it is set
}

// names counts commands as the server gets them: one in a transaction is part of EXEC.
type names struct {
	mu    sync.Mutex
	calls map[string]int64
}

func (n *names) add(cmds ...redis.Cmder) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	queued := false
	for _, cmd := range cmds {
		name := strings.ToLower(cmd.Name())
		queued = name == "multi" || queued && name != "exec"
		if !queued {
			n.calls[name]++
		}
	}
}

func (t *traffic) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (t *traffic) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.commands.Add(1)
		t.names.Load().add(cmd)
		t.trips.Add(1)
		args := cmd.Args()
		t.last.Store(&args)
		return next(ctx, cmd)
	}
}

func (t *traffic) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.commands.Add(int64(len(cmds)))
		t.names.Load().add(cmds...)
		t.trips.Add(1)
		return next(ctx, cmds)
	}
}

// newest returns the arguments of the newest single command, those of scripts as they are sent: chatd gives pointers.
func (t *traffic) newest() []any {
	args := slices.Clone(*t.last.Load())
	for i, arg := range args {
		switch p := arg.(type) {
		case *string:
			args[i] = *p
		case *int64:
			args[i] = *p
		}
	}
	return args
}

// during counts commands and round trips of do.
func (t *traffic) during(do func() error) (commands, trips int64) {
	c, r := t.commands.Load(), t.trips.Load()
	ok(do())
	return t.commands.Load() - c, t.trips.Load() - r
}

// parallel has n calls of do made by callers at once and returns the rate per second.
func parallel(n, callers int, do func(i int) error) float64 {
	var next atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for failed.Load() == nil {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := do(int(i)); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		ok(*err)
	}
	return float64(n) / time.Since(start).Seconds()
}

// group makes a group with members user-0..user-(members-1) besides its owner "owner".
func (b *bench) group(id string, members int) error {
	keep, backlog := int64(100), int64(100_000)
	owner := chat.Caller{User: "owner"}
	if _, err := b.service.CreateGroup(b.ctx, owner, chat.GroupDraft{ID: id, Keep: &keep, BacklogMax: &backlog}); err != nil {
		return err
	}
	for i := range members {
		if _, _, err := b.service.PutMember(b.ctx, owner, id, fmt.Sprintf("user-%d", i), ""); err != nil {
			return err
		}
	}
	return nil
}

// body is a message text of 200 bytes.
var body = func() *string {
	text := make([]byte, 200)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	s := string(text)
	return &s
}()

func (b *bench) send(group string) error {
	_, err := b.service.Send(b.ctx, chat.Caller{User: "owner"}, group, chat.Content{Body: body}, "")
	return err
}

// pause spaces what is measured; it is cut short when the run is interrupted.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// failure ends the run, wherever it is: there is nothing to go on with. What runs beside it, on other goroutines, returns its errors.
type failure struct{ error }

// ok ends the run if err is one.
func ok(err error) {
	if err != nil {
		fail(err)
	}
}

// must is the result of a call. An error ends the run.
func must[T any](result T, err error) T {
	if err != nil {
		fail(err)
	}
	return result
}

func fail(err error) {
	_, file, line, _ := runtime.Caller(2)
	panic(failure{fmt.Errorf("%s:%d: %w", filepath.Base(file), line, err)}) //nolint:forbidigo // attempt recovers it
}
