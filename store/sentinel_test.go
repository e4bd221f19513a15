package store

import (
	"context"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/redistest"
)

// trio is a primary, a replica that follows it, and a sentinel that knows both.
type trio struct{ primary, heir, sentinel *redistest.Server }

func startTrio(t *testing.T) *trio {
	t.Helper()
	common := []string{"--repl-diskless-sync-delay", "0", "--user", "replicating", "on", ">secret", "+@all",
		"--masteruser", "replicating", "--masterauth", "secret"}
	primary := redistest.StartGated(t, common...)
	host, port, _ := net.SplitHostPort(primary.Public())
	heir := redistest.Start(t, append(common, "--replicaof", host+" "+port)...)
	primary.AwaitReplica()
	return &trio{primary, heir, redistest.StartSentinel(t, "chat", primary)}
}

// promoted waits until the sentinel has made the replica the primary.
func (r *trio) promoted(t *testing.T) {
	t.Helper()
	if !comes(func() bool { return roleOf(r.heir) == "master" }) {
		t.Fatal("the sentinel does not promote the replica")
	}
}

func roleOf(server *redistest.Server) string {
	answer, _ := server.Try("ROLE") // a promotion ends the connections of clients
	role, _ := answer.([]any)
	if len(role) == 0 {
		return ""
	}
	name, _ := role[0].(string)
	return name
}

// sentinelFault is what happens to a primary under load.
type sentinelFault struct {
	name  string
	loses losses
	fail  func(*testing.T, *trio, *shardSends)
	heal  func(r *trio, since time.Time) // nil: the old primary stays away
}

// TestSentinelFaults: under load, a primary dies, dies ahead of its replica, hangs, is replaced by hand, and is cut off from the
// sentinel and the replica but not from chatd. The sentinel promotes the replica by itself. Sends go on there, everything that it
// had confirmed is there once, and clients that hold what is lost hear of it, and nobody else.
func TestSentinelFaults(t *testing.T) {
	t.Parallel()
	var counts faultCounts
	defer func() { counts.log(t) }()
	faults := []sentinelFault{
		{"a primary dies", maybe, func(_ *testing.T, r *trio, _ *shardSends) { r.primary.Kill() }, nil},
		{"a primary dies ahead of its replica", something, func(t *testing.T, r *trio, g *shardSends) {
			// A sentinel promotes no replica that was cut off for ten times this long when the primary went away.
			r.sentinel.Do("SENTINEL", "SET", "chat", "down-after-milliseconds", "3000")
			r.primary.Do("ACL", "SETUSER", "replicating", "off")
			r.primary.Do("CLIENT", "KILL", "TYPE", "replica")
			g.await(t, 10)
			g.reader.await(t)
			g.absent.await(t)
			r.primary.Kill()
		}, nil},
		{"a primary hangs", maybe, func(_ *testing.T, r *trio, _ *shardSends) { r.primary.Signal(syscall.SIGSTOP) },
			func(r *trio, since time.Time) {
				<-time.After(*faultHang - time.Since(since))
				r.primary.Signal(syscall.SIGCONT)
			}},
		{"a replica is promoted by hand", maybe, func(_ *testing.T, r *trio, _ *shardSends) { r.sentinel.Do("SENTINEL", "FAILOVER", "chat") },
			func(*trio, time.Time) {}},
		{"a primary is cut off from the others", something, func(_ *testing.T, r *trio, _ *shardSends) { r.primary.Isolate() },
			func(r *trio, _ time.Time) { r.primary.Join() }},
	}
	for range *faultCycles {
		for _, fault := range faults {
			if !t.Run(fault.name, func(t *testing.T) { fault.happen(t, &counts) }) {
				return
			}
		}
	}
}

// happen runs one cycle, on servers of its own.
func (f sentinelFault) happen(t *testing.T, counts *faultCounts) {
	r := startTrio(t)
	s, err := Open(t.Context(), Options{URL: "redis-sentinel://" + r.sentinel.Addr + "/0?master_name=chat"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	createBenchGroup(t, s, "g")
	g := newShardSends("g", r.primary)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.run(ctx, s) })
	running.Go(func() { g.reader.run(ctx, t, s) })
	running.Go(func() { g.absent.run(ctx, t, s) })
	defer running.Wait()
	defer stop()
	g.await(t, 40)
	slack := 20 * time.Duration(g.slowest.Load()) // of a machine that is busy
	began := time.Now()
	r.sentinel.Guard("chat")
	f.fail(t, r, g)
	r.promoted(t)
	resumed := g.arrives(t, s, r.heir) // a primary that is cut off goes on taking sends
	if resumed > resumesWithin+slack {
		t.Errorf("the first send succeeded %v after the promotion was seen", resumed)
	}
	g.await(t, 20)
	if f.heal != nil {
		f.heal(r, began)
		if *faultHang > 0 && !comes(func() bool { return roleOf(r.primary) == "slave" }) { // which takes ten seconds
			t.Error("the old primary does not follow the new one")
		}
		g.await(t, 20)
	}
	stop()
	running.Wait()
	if lost := counts.add(t, f.name, s, resumed, g); lost == 0 && f.loses == something {
		t.Errorf("no message was lost, want %s", f.loses)
	}
}
