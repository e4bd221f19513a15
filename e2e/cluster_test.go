package e2e

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var clusterLoad = flag.Int("cluster-load", 1_280, "messages of TestRedisCluster before its fault")

// TestRedisCluster runs two nodes on three masters with a replica each: every message reaches every reader once and in order.
// Then a master is killed under load, and nothing is lost that was acknowledged as on a replica.
func TestRedisCluster(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute+time.Duration(*clusterLoad)*20*time.Millisecond)
	cluster := redistest.StartCluster(t, 3, 1)
	nodes := []*harness.Node{
		harness.StartNode(t, harness.Config{Redis: cluster.URL()}), harness.StartNode(t, harness.Config{Redis: cluster.URL()}),
	}
	r := newRun(ctx, t, nodes, 8, 4, 6)
	reading, stop := context.WithCancel(ctx)
	r.stop = stop
	for i, way := range []reader{overStream, overPoll, overSync, overAll} {
		r.read(reading, i, way)
	}
	began := time.Now()
	r.write(ctx, *clusterLoad/len(r.writers))
	r.caughtUp(ctx, time.Minute)
	t.Logf("%d sends reached all readers after %v", r.ledger.Count(), time.Since(began).Round(time.Millisecond))

	killMaster(ctx, t, cluster, nodes)
}

// killMaster kills the master of a group while others and that one are written to.
func killMaster(ctx context.Context, t *testing.T, cluster *redistest.Cluster, nodes []*harness.Node) {
	t.Helper()
	groups := make([]string, 8)
	keep := int64(100_000)
	for i := range groups {
		groups[i] = fmt.Sprint("fault", i)
		must(nodes[0].Client("owner", patient()).CreateGroup(ctx, client.GroupDraft{ID: groups[i], Keep: &keep}))(t)
	}
	var ledger harness.Ledger
	writing, enough := context.WithCancel(ctx)
	defer enough()
	var writers sync.WaitGroup
	for i, group := range groups {
		c := nodes[i%len(nodes)].Client("owner", patient())
		writers.Go(func() {
			for n := 0; writing.Err() == nil; n++ {
				id := fmt.Sprintf("%s-%d", group, n)
				ledger.Attempt(id)
				sent, err := c.SendDurable(ctx, group, client.Draft{Body: harness.BodyOf(id), ClientID: id}, "replica")
				if err == nil && sent.Durability == "replica" {
					err = ledger.Acked(group, sent.ID, id)
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
			}
		})
	}
	more := func(what string) {
		t.Helper()
		before := ledger.Count()
		harness.Eventually(t, time.Minute, what, func() error {
			if got := ledger.Count(); got < before+100 && !t.Failed() {
				return fmt.Errorf("%d sends", got-before)
			}
			return nil
		})
	}
	more("sends before the fault")
	dead := cluster.Nodes[0]
	dead.Kill()
	t.Logf("killed a master after %d sends", ledger.Count())
	cluster.AwaitHeir(dead, 0)
	dead.Restart()
	cluster.AwaitReady()
	more("sends after the fault")
	enough()
	writers.Wait()

	all, last := &harness.Transcript{Name: "the log"}, map[string]int64{}
	for _, group := range groups {
		c := nodes[0].Client("owner", patient())
		for at := client.At(0); ; {
			batch := must(c.Messages(ctx, group, client.Range{After: at}))(t)
			if len(batch.Messages) == 0 {
				break
			}
			at = batch.Cursor
			if err := all.Add(group, batch.Messages); err != nil {
				t.Fatal(err)
			}
			last[group] = batch.Messages[len(batch.Messages)-1].ID
		}
	}
	ledger.Check(t, last, all)
}
