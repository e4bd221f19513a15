package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// durable reports whether an answer waits for more than the store's memory.
func durable(d chat.Durability) bool { return d == chat.DurabilityDisk || d == chat.DurabilityReplica }

// runDurable runs a writing script and waits for the durability that was asked for. It returns what was reached; less than
// asked for is no error, because the entry is written. Empty if nothing was asked for.
func (s *Store) runDurable(ctx context.Context, c call, want chat.Durability) (reply, chat.Durability, error) {
	if !durable(want) {
		r, err := s.run(ctx, c)
		return r, want, err
	}
	if s.embedded != nil {
		r, err := s.run(ctx, c)
		if err != nil {
			return r, "", err
		}
		if err := s.embedded.Sync(ctx); err != nil {
			s.log.Warn("cannot sync the journal", "error", err)
			return r, chat.DurabilityMemory, nil
		}
		return r, chat.DurabilityDisk, nil // there is no replica to wait for
	}
	return s.runAndWait(ctx, c, want)
}

// runAndWait waits for a disk or a replica if one may be reached.
func (s *Store) runAndWait(ctx context.Context, c call, want chat.Durability) (reply, chat.Durability, error) {
	reached := chat.DurabilityMemory
	if s.server.alwaysOnDisk {
		reached = chat.DurabilityDisk
	}
	var w *durableCall
	for p := newPatience(); ; {
		waits, server, err := s.waitsFor(ctx, c)
		if err != nil {
			return nil, "", fail(c.Script.Name, err)
		}
		if want == chat.DurabilityDisk && !s.server.waitsForDisk || want == chat.DurabilityReplica && !waits.replicas.present(ctx, server) {
			r, err := s.run(ctx, c)
			return r, reached, err
		}
		w = &durableCall{call: s.here(c), want: want, done: make(chan struct{})}
		if err := waits.do(ctx, w); err != nil {
			return nil, "", fail(c.Script.Name, err)
		}
		if w.written.Err() == nil {
			break
		}
		how, _ := redirectOf(w.written.Err())
		if s.cluster == nil || !p.wait(ctx, how) {
			return nil, "", fail(c.Script.Name, w.written.Err())
		}
		if _, err := s.masters(ctx); err != nil { // reloads the topology
			return nil, "", fail(c.Script.Name, err)
		}
	}
	r, err := asReply(c.Script.Name, w.written.Val())
	if err != nil {
		return r, "", err
	}
	switch answer := w.waited.Val().(type) {
	case int64: // replicas that have it
		if answer >= 1 {
			reached = chat.DurabilityReplica
		}
	case []any: // disks that have it: here, and at replicas
		if len(answer) > 0 && answer[0] == int64(1) {
			reached = chat.DurabilityDisk
		}
	}
	return r, reached, nil
}

// waitsFor returns the waits of the server that a call goes to, and the client of that server. Only the client shows whether the
// server answers: a wait may take long.
func (s *Store) waitsFor(ctx context.Context, c call) (*waits, *redis.Client, error) {
	if s.cluster == nil {
		return s.waits, s.single, nil
	}
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	return s.cluster.waitsAt(ctx, c.Keys[0])
}

// replicas caches what is known about the server's replicas, for replicasEvery.
type replicas struct {
	mu    sync.Mutex
	asked time.Time
	any   bool
}

// present reports whether a replica may confirm a write: also if the server does not say.
func (p *replicas) present(ctx context.Context, client *redis.Client) bool {
	p.mu.Lock()
	if time.Since(p.asked) < replicasEvery {
		defer p.mu.Unlock()
		return p.any
	}
	p.asked = time.Now() // callers that come meanwhile use the old value
	p.mu.Unlock()
	text, err := client.Info(ctx, "replication").Result()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.any = err != nil || infoFields(text)["connected_slaves"] != "0"
	return p.any
}

// durableCall is a script call that waits for its durability.
type durableCall struct {
	call    call
	want    chat.Durability
	written *redis.Cmd // valid once done is closed
	waited  *redis.Cmd
	done    chan struct{}
}

// waits runs scripts and waits for a disk or for replicas. WAIT and WAITAOF count what their own connection wrote, and occupy
// it while they wait. So this happens on a few separate connections. Calls that arrive while all of them wait go together on
// the next free one, with one wait for all.
type waits struct {
	client   *redis.Client
	replicas replicas
	sharded  bool     // in a cluster
	breaker  *breaker // nil with the embedded store, where nothing waits here

	mu      sync.Mutex
	flying  int // connections in use
	waiting []*durableCall
	running sync.WaitGroup
}

// newWaits makes the waits of the server that client talks to.
func newWaits(client *redis.Client, b *breaker, sharded bool) *waits {
	q := &waits{client: redis.NewClient(sameServer(client)), sharded: sharded, breaker: b}
	q.client.AddHook(newGuard(durableConns, b, false))
	return q
}

// do runs w and returns when its answers have arrived. If ctx ends before, the outcome is unknown.
func (q *waits) do(ctx context.Context, w *durableCall) error {
	q.mu.Lock()
	if len(q.waiting) >= durableWaitingMax {
		q.mu.Unlock()
		return errCrowded
	}
	q.waiting = append(q.waiting, w)
	if q.flying < durableConns {
		q.flying++
		q.running.Go(func() { q.fly(context.WithoutCancel(ctx)) })
	}
	q.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fly sends batches until no calls wait.
func (q *waits) fly(ctx context.Context) {
	for {
		q.mu.Lock()
		n := min(len(q.waiting), durableBatch)
		if n == 0 {
			q.flying--
			q.mu.Unlock()
			return
		}
		batch := slices.Clone(q.waiting[:n])
		q.waiting = slices.Delete(q.waiting, 0, n)
		q.mu.Unlock()
		q.send(ctx, batch)
		for _, w := range batch {
			close(w.done)
		}
	}
}

// send runs the scripts of a batch on one connection and waits there. If the server does not know a script, it loads all of
// them and repeats that call.
func (q *waits) send(ctx context.Context, batch []*durableCall) {
	for attempt := 0; attempt < 2 && len(batch) > 0; attempt++ {
		pipe := q.client.Pipeline()
		for _, w := range batch {
			w.written = queueCall(ctx, pipe, w.call)
		}
		asked := map[chat.Durability]*redis.Cmd{}
		for _, w := range batch {
			if asked[w.want] == nil {
				asked[w.want] = queueWait(ctx, pipe, w.want)
			}
			w.waited = asked[w.want]
		}
		silent := time.AfterFunc(durableWait+silenceSuspect, q.breaker.doubt)
		_, _ = pipe.Exec(ctx) // each command has its own error
		silent.Stop()
		batch = slices.DeleteFunc(slices.Clone(batch), func(w *durableCall) bool {
			return !redis.HasErrorPrefix(w.written.Err(), "NOSCRIPT")
		})
		if len(batch) > 0 && loadScripts(ctx, q.client, q.sharded) != nil {
			return
		}
	}
}

func queueWait(ctx context.Context, pipe redis.Pipeliner, want chat.Durability) *redis.Cmd {
	if want == chat.DurabilityReplica {
		return pipe.Do(ctx, "WAIT", 1, durableWait.Milliseconds())
	}
	return pipe.Do(ctx, "WAITAOF", 1, 0, durableWait.Milliseconds())
}
