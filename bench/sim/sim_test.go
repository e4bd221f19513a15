package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// near fails unless got is within a fifth of want.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > want/5 {
		t.Errorf("%s: got %.3g, want %.3g within 20 %%", what, got, want)
	}
}

// TestPartitionsOnMasters has what docs/scaling.md says of 64 partitions.
func TestPartitionsOnMasters(t *testing.T) {
	for _, c := range []struct{ masters, fewest, most int }{{3, 20, 24}, {4, 16, 16}, {6, 8, 13}, {16, 1, 5}} {
		got := make([]int, c.masters)
		for partition := range 64 {
			got[masterOf(partition, c.masters)]++
		}
		fewest, most := got[0], got[0]
		for _, n := range got {
			fewest, most = min(fewest, n), max(most, n)
		}
		if fewest != c.fewest || most != c.most {
			t.Errorf("%d masters: %d to %d partitions, want %d to %d", c.masters, fewest, most, c.fewest, c.most)
		}
	}
}

// TestGroupsOfTenLiveReaders plays what was measured: 18,000 messages a second take one busy core of Redis.
func TestGroupsOfTenLiveReaders(t *testing.T) {
	w := newWorld(1000, 1, 1, 1)
	w.online, w.visitsADay = 1, 0
	w.messagesADay, w.peak = 9000*86_400/1000, 1
	ten := *w.classes[1]
	ten.messages, ten.readers = 1, 10
	w.classes = []*class{&ten}
	o := w.run(2)
	acked := float64(o.messages) * (sendUs + 10*readerAckUs) / 2e6
	near(t, "the share of a core of 9,000 messages a second", acked, 0.5)
	near(t, "the same with the fan-out of notifications", o.busy[0], 0.5+9000*taskUs/1e6)
}

// TestWaitsAreThoseOfQueues compares the waits with those of M/D/1: random arrivals, one server, equal work. Source: the
// formula of Pollaczek and Khinchine.
func TestWaitsAreThoseOfQueues(t *testing.T) {
	w := newWorld(1000, 1, 1, 2)
	for _, busy := range []float64{0.3, 0.5, 0.8} {
		var calls []call
		for at := 0.0; at < 60e6; at += w.next(busy * 1e6 / sendUs) {
			calls = append(calls, call{at, sendUs, true})
		}
		o := outcome{busy: make([]float64, 1), messages: len(calls)}
		o.serve([][]call{calls}, 60)
		near(t, fmt.Sprintf("the time of a send at %.1f", busy), o.meanUs, sendUs*(1+busy/(2*(1-busy))))
	}
}

// TestSkewedGroupsOnRealMasters sends to groups of skewed popularity on a cluster of three masters with 1,000 partitions, and
// compares how many messages each master numbered with the simulation's.
func TestSkewedGroupsOnRealMasters(t *testing.T) {
	const groups, sends, partitions, masters, callers = 120, 6000, 1000, 3, 16
	cluster := redistest.StartCluster(t, masters, 0)
	s, err := store.Open(t.Context(), store.Options{URL: cluster.URL(), Partitions: partitions, Limits: chat.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	service, alice := chat.New(s, chat.Options{}), chat.Caller{User: "alice"}
	w := newWorld(1000, partitions, masters, 3)
	popular := rand.NewZipf(w.random, skew, 10, groups-1)
	expected, node := make([]float64, masters), make([]*redistest.Server, masters)
	for i := range groups {
		id := fmt.Sprint("g", i)
		if _, err := service.CreateGroup(t.Context(), alice, chat.GroupDraft{ID: id}); err != nil {
			t.Fatal(err)
		}
		partition := queue.Partition(id, partitions)
		_, has := cluster.Slot(fmt.Sprintf("{p%02d}", partition))
		if at := masterOf(partition, masters); node[at] == nil {
			node[at] = has
		} else if node[at] != has {
			t.Fatalf("partition %d is not on the master on which the simulation has it", partition)
		}
	}
	for range 20 * sends { // the long run
		expected[w.master(fmt.Sprint("g", popular.Uint64()))] += 1.0 / 20
	}
	before := make([]float64, masters)
	for i := range masters {
		before[i] = numbered(t, node[i])
	}
	var all sync.WaitGroup
	for range callers {
		ids := make([]string, sends/callers)
		for i := range ids {
			ids[i] = fmt.Sprint("g", popular.Uint64())
		}
		all.Go(func() {
			for _, id := range ids {
				if _, err := service.Send(t.Context(), alice, id, chat.Content{Body: new("hello")}, ""); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for i := range masters {
		near(t, fmt.Sprintf("messages of master %d", i), expected[i], numbered(t, node[i])-before[i])
	}
}

// numbered is how many ids a master has given.
func numbered(t *testing.T, server *redistest.Server) float64 {
	t.Helper()
	info, _ := server.Do("INFO", "commandstats").(string)
	_, after, ok := strings.Cut(info, "cmdstat_incr:calls=")
	if !ok {
		return 0
	}
	count, _, _ := strings.Cut(after, ",")
	n, err := strconv.ParseFloat(count, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTablesOfTheDocuments: what docs/scaling.md says of a million users is what the simulation plays.
func TestTablesOfTheDocuments(t *testing.T) {
	*partitions = 1000
	w, o := sized(1_000_000)
	members, _ := w.memory(100)
	busiest, _ := o.busiest()
	if w.masters != 4 || busiest >= half {
		t.Errorf("got %d masters, the busiest %.2f busy, want 4 below a half", w.masters, busiest)
	}
	near(t, "bytes of memberships", members, 21.1e9)
	near(t, "cores of nodes", o.nodeCores, 0.33)
}
