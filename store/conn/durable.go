package conn

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/batch"
	"github.com/chatd/chatd/queue/script"
)

// Durability is how far an answered write has come, or is to come before it is answered.
type Durability string

// Durabilities.
const (
	DurabilityMemory  Durability = "memory"  // the server has it
	DurabilityDisk    Durability = "disk"    // it is on the server's disk
	DurabilityReplica Durability = "replica" // a replica has it too
)

// Waits tells whether an answer waits for more than the server's memory.
func (d Durability) Waits() bool { return d == DurabilityDisk || d == DurabilityReplica }

// RunDurable runs a writing script and waits for the durability that was asked for. It returns what was reached; less than
// asked for is no error, because the entry is written. Empty if nothing was asked for.
func (d *Deployment) RunDurable(ctx context.Context, c script.Call, want Durability) (any, Durability, error) {
	if !want.Waits() {
		r, err := d.Run(ctx, c)
		return r, want, err
	}
	if d.embedded != nil {
		r, err := d.Run(ctx, c)
		if err != nil {
			return r, "", err
		}
		if err := d.embedded.Sync(ctx); err != nil {
			d.log.Warn("cannot sync the journal", "error", err)
			return r, DurabilityMemory, nil
		}
		return r, DurabilityDisk, nil // there is no replica to wait for
	}
	return d.runAndWait(ctx, c, want)
}

// runAndWait waits for a disk or a replica if one may be reached. In a cluster it follows redirects itself: what was reached is a
// matter of the one server that ran the call.
func (d *Deployment) runAndWait(ctx context.Context, c script.Call, want Durability) (any, Durability, error) {
	w := &durableCall{call: d.Here(c), want: want}
	at := destination{}
	for p := newPatience(); ; {
		waits, server, err := d.waitsFor(ctx, c, at)
		if err != nil {
			return nil, "", err
		}
		w.asking = at.how == asked
		before := waits.able(ctx, server)
		if before.waits(want) {
			err = waits.do(ctx, w)
		} else {
			err = w.runAt(ctx, server, d)
		}
		if err != nil {
			return nil, "", err
		}
		if w.written.Err() == nil {
			reached := w.reached()
			// A server that fails over is reached by new connections, after which able asks again.
			if reached == DurabilityMemory && before.alwaysOnDisk && waits.able(ctx, server).alwaysOnDisk {
				reached = DurabilityDisk
			}
			return w.written.Val(), reached, nil
		}
		at.how, at.addr = redirectOf(w.written.Err())
		if d.cluster == nil || !p.wait(ctx, at.how) {
			return nil, "", w.written.Err()
		}
		if at.how == asked {
			continue
		}
		if _, err := d.Masters(ctx); err != nil { // reloads the topology
			return nil, "", err
		}
	}
}

// destination is where a redirect sends a call; the zero value is the master that the topology names.
type destination struct {
	how  redirect
	addr string
}

// waitsFor returns the waits of the server that a call goes to, and the client of that server. Only the client shows whether the
// server answers: a wait may take long.
func (d *Deployment) waitsFor(ctx context.Context, c script.Call, at destination) (*waits, queue.Redis, error) {
	if d.cluster == nil {
		return d.waits, d.client, nil
	}
	return d.cluster.waitsFor(ctx, c.Keys[0], at)
}

// ability is what a server can do for durability.
type ability struct {
	replicates   bool // a replica may confirm a write: one is connected, or the server does not say
	waitsForDisk bool // it knows WAITAOF, and has an append-only file
	alwaysOnDisk bool // it syncs the append-only file before every answer
}

// waits reports whether it makes sense to wait for a durability.
func (a ability) waits(want Durability) bool {
	return want == DurabilityDisk && a.waitsForDisk || want == DurabilityReplica && a.replicates
}

// abilities caches what a server can do, for abilitiesEvery and as long as no connection is opened: the next server at the same
// address, after a restart or a failover, may have other settings or another version.
type abilities struct {
	mu    sync.Mutex
	asked time.Time
	dials int64 // when it was asked
	now   ability
}

// able returns what the server can do. Callers that come while one asks wait for its answer.
func (q *waits) able(ctx context.Context, client queue.Redis) ability {
	a := &q.abilities
	a.mu.Lock()
	defer a.mu.Unlock()
	dials := q.breaker.dials.Load()
	if time.Since(a.asked) < abilitiesEvery && a.dials == dials {
		return a.now
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), durableWait)
	defer cancel()
	now, err := askAbility(ctx, client)
	if err == nil {
		a.asked, a.dials, a.now = time.Now(), dials, now
	}
	return now
}

// askAbility asks a server what it can do. A server says only by trying whether it has WAITAOF and the caller may use it; for no
// disk at all it answers at once. What a server refuses to say it may be able to do, but alwaysOnDisk is a promise.
func askAbility(ctx context.Context, client queue.Redis) (ability, error) {
	pipe := client.Pipeline()
	info, fsync := pipe.Info(ctx, "persistence", "replication"), pipe.ConfigGet(ctx, "appendfsync")
	waitaof := pipe.Do(ctx, "WAITAOF", 0, 0, 0)
	if _, err := pipe.Exec(ctx); err != nil && !answered(err) {
		return ability{}, err
	}
	fields := infoFields(info.Val())
	return ability{
		replicates:   fields["connected_slaves"] != "0",
		waitsForDisk: waitaof.Err() == nil && fields["aof_enabled"] != "0",
		alwaysOnDisk: fields["aof_enabled"] == "1" && fsync.Val()["appendfsync"] == "always",
	}, nil
}

// durableCall is a script call that waits for its durability.
type durableCall struct {
	call    script.Call
	want    Durability
	asking  bool // an ASK redirect named the server
	written *redis.Cmd
	waited  *redis.Cmd // nil: nothing was waited for
}

// runAt runs the call on a server without waiting, on one of its ordinary connections.
func (w *durableCall) runAt(ctx context.Context, server queue.Redis, d *Deployment) error {
	for range 2 {
		pipe := server.Pipeline()
		w.queue(ctx, pipe)
		_, _ = pipe.Exec(ctx) // the call has its own error
		if !unknownScript(w.written) {
			break
		}
		if err := d.loadScripts(ctx, server); err != nil {
			return err
		}
	}
	return nil
}

// queue adds the call to a pipeline.
func (w *durableCall) queue(ctx context.Context, pipe redis.Pipeliner) {
	if w.asking {
		_ = pipe.Do(ctx, "asking") // applies to the next command only
	}
	w.written, w.waited = w.call.Send(ctx, pipe), nil
}

// reached tells which durability the server has confirmed.
func (w *durableCall) reached() Durability {
	if w.waited == nil {
		return DurabilityMemory
	}
	switch answer := w.waited.Val().(type) {
	case int64: // replicas that have it
		if answer >= 1 {
			return DurabilityReplica
		}
	case []any: // disks that have it: here, and at replicas
		if len(answer) > 0 && answer[0] == int64(1) {
			return DurabilityDisk
		}
	}
	return DurabilityMemory
}

// waits runs scripts and waits for a disk or for replicas. WAIT and WAITAOF count what their own connection wrote, and occupy
// it while they wait. So this happens on a few separate connections. Calls that arrive while all of them wait go together on
// the next free one, with one wait for all.
type waits struct {
	client    queue.Redis
	abilities abilities
	of        *Deployment
	breaker   *breaker // nil with the embedded store, where nothing waits here
	calls     batch.Batcher[*durableCall, struct{}]
}

// newWaits makes the waits of the server that client talks to.
func newWaits(d *Deployment, client *redis.Client, b *breaker) *waits {
	q := &waits{client: redis.NewClient(sameServer(client)), of: d, breaker: b}
	q.client.AddHook(newGuard(durableConns, b, false))
	q.calls.Calls, q.calls.Size = durableConns, durableBatch
	q.calls.Run = func(ctx context.Context, list []*durableCall) []struct{} {
		q.send(context.WithoutCancel(ctx), list)
		return make([]struct{}, len(list))
	}
	return q
}

// do runs w and returns when its answers have arrived. If ctx ends before, the outcome is unknown.
func (q *waits) do(ctx context.Context, w *durableCall) error {
	if q.calls.Load().Waiting >= durableWaitingMax {
		return errCrowded
	}
	_, err := q.calls.Do(ctx, w)
	return err
}

// send runs the scripts of a batch on one connection and waits there. If the server does not know a script, it loads all of
// them and repeats that call.
func (q *waits) send(ctx context.Context, batch []*durableCall) {
	for attempt := 0; attempt < 2 && len(batch) > 0; attempt++ {
		pipe := q.client.Pipeline()
		for _, w := range batch {
			w.queue(ctx, pipe)
		}
		asked := map[Durability]*redis.Cmd{}
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
			return !unknownScript(w.written)
		})
		if len(batch) > 0 && q.of.loadScripts(ctx, q.client) != nil {
			return
		}
	}
}

func queueWait(ctx context.Context, pipe redis.Pipeliner, want Durability) *redis.Cmd {
	if want == DurabilityReplica {
		return pipe.Do(ctx, "WAIT", 1, durableWait.Milliseconds())
	}
	return pipe.Do(ctx, "WAITAOF", 1, 0, durableWait.Milliseconds())
}
