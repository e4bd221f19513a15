package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
)

// resumesWithin is how soon after a promotion sends succeed and schedules fire, on a machine that has nothing else to do.
const resumesWithin = 6 * time.Second

// pair is a master and its replica, which something promotes once the master is gone.
type pair struct {
	url             string
	partitions      int
	group           string // stored there
	master, replica *redistest.Server
	sentinel        *redistest.Server // nil: a cluster's masters promote
}

// TestSchedulesAcrossAFailover: messages that are due before, while and after a master dies come once each, those of the time
// without a master about as soon after the promotion as sends succeed again.
func TestSchedulesAcrossAFailover(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) pair{
		"cluster": func(t *testing.T) pair {
			cluster := redistest.StartCluster(t, clusterMasters, 1)
			_, master := cluster.Slot(logOf("g", queue.Partition("g", clusterPartitions)))
			return pair{cluster.URL(), clusterPartitions, "g", master, cluster.ReplicaOf(master), nil}
		},
		"sentinel": func(t *testing.T) pair {
			master := redistest.Start(t, "--repl-diskless-sync-delay", "0")
			replica := redistest.Start(t, append([]string{"--replicaof"}, strings.Split(master.Public(), ":")...)...)
			master.AwaitReplica()
			sentinel := redistest.StartSentinel(t, "chat", master)
			return pair{"redis-sentinel://" + sentinel.Addr + "/0?master_name=chat", 1, "g", master, replica, sentinel}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acrossFailover(t, start(t))
		})
	}
}

func acrossFailover(t *testing.T, at pair) {
	const (
		planned = 90                     // fewer than a user may have within a minute
		every   = 130 * time.Millisecond // between two that are due
		soon    = 2 * time.Second        // after planning, until the first is due
		early   = 20                     // that fire before the master dies
	)
	ctx := bounded(t, 3*time.Minute)
	node := harness.StartNode(t, harness.Config{Redis: at.url})
	owner := node.Client("owner", patient())
	must(owner.CreateGroup(ctx, client.GroupDraft{ID: at.group}))(t)

	began := time.Now()
	first := began.Add(soon).Truncate(time.Millisecond)
	due := make(map[string]time.Time, planned)
	var planning sync.WaitGroup
	for i := range planned {
		body, when := strconv.Itoa(i), first.Add(time.Duration(i)*every)
		due[body] = when
		planning.Go(func() {
			if _, err := owner.SendLater(ctx, at.group, client.Draft{Body: body}, when); err != nil {
				t.Errorf("schedule %s: %v", body, err)
			}
		})
	}
	planning.Wait()
	slack := 2 * time.Since(began) / planned // of a machine that is busy, for each that fires late
	if t.Failed() {
		return
	}
	at.master.AwaitReplica()
	harness.Eventually(t, time.Minute, "messages that are due before the failover", func() error {
		if n := at.master.Int("ZCARD", logOf(at.group, queue.Partition(at.group, at.partitions))); n < 1+early {
			return fmt.Errorf("%d entries", n)
		}
		return nil
	})
	if at.sentinel != nil {
		at.sentinel.Guard("chat")
	}
	at.master.Kill()
	died := time.Now()
	harness.Eventually(t, time.Minute, "a promotion", func() error {
		role, err := at.replica.Try("ROLE")
		if list, _ := role.([]any); len(list) == 0 || list[0] != "master" {
			return fmt.Errorf("the role of the replica is %v (%w)", role, err)
		}
		return nil
	})
	promoted := time.Now()
	must(owner.Send(ctx, at.group, client.Text("now")))(t)
	resumed := time.Since(promoted)

	came := map[string][]time.Time{}
	harness.Eventually(t, time.Minute, "all messages", func() error {
		clear(came)
		for after, more := client.Position(""), true; more; {
			batch, err := owner.Messages(ctx, at.group, client.Range{After: after, Limit: 100})
			if err != nil {
				return err
			}
			for _, m := range batch.Messages {
				if _, ours := due[m.Body]; ours {
					came[m.Body] = append(came[m.Body], m.SentAt)
				}
			}
			after, more = batch.Cursor, batch.HasMore
		}
		if len(came) < planned {
			return fmt.Errorf("%d of %d", len(came), planned)
		}
		return nil
	})
	var late []time.Duration // of those that were due without a master
	for body, times := range came {
		if len(times) > 1 || times[0].Before(due[body]) {
			t.Errorf("message %s, which was due at %v, came at %v", body, due[body], times)
		}
		if due[body].After(died) && due[body].Before(promoted) {
			late = append(late, times[0].Sub(promoted))
		}
	}
	if len(late) == 0 {
		t.Fatal("nothing was due without a master: the run shows nothing")
	}
	slices.Sort(late)
	latest := late[len(late)-1]
	t.Logf("%v without a master; sends succeeded %v after the promotion, %d messages that were due came by %v to %v after it",
		promoted.Sub(died).Round(time.Millisecond), resumed.Round(time.Millisecond), len(late), late[0].Round(time.Millisecond),
		latest.Round(time.Millisecond))
	if slack *= time.Duration(len(late)); latest > resumesWithin+slack {
		t.Errorf("the last message that was due came %v after the promotion, want %v and at most %v for a busy machine", latest, resumesWithin, slack)
	}
}
