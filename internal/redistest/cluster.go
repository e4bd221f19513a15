package redistest

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/interval"
)

const (
	clusterSlots   = 16384
	clusterTimeout = 2000 // ms without an answer until a node counts as failed
	formTimeout    = time.Minute
)

// Cluster is a Redis Cluster on loopback: masters that divide the slots evenly, and replicas of each.
type Cluster struct {
	Nodes []*Server // the initial masters, then their replicas

	tb      testing.TB
	masters int
	gated   bool // each node is reached through gates, which Isolate closes
	tls     *TLS // nil: none
}

// StartCluster runs a cluster and returns once all of its nodes agree on it. Nothing is persisted. extra are additional
// arguments of each redis-server.
func StartCluster(tb testing.TB, masters, replicasEach int, extra ...string) *Cluster {
	tb.Helper()
	return StartClusterOf(tb, masters, slices.Repeat([]string{Redis}, masters*(1+replicasEach)), extra...)
}

// StartClusterOf is StartCluster with a program for each node: first those of the masters.
func StartClusterOf(tb testing.TB, masters int, programs []string, extra ...string) *Cluster {
	tb.Helper()
	return form(&Cluster{tb: tb, masters: masters, Nodes: make([]*Server, len(programs))}, programs, extra...)
}

// StartGatedCluster is StartCluster with proxies in front of all nodes, so that Isolate can cut one off.
func StartGatedCluster(tb testing.TB, masters, replicasEach int, extra ...string) *Cluster {
	tb.Helper()
	programs := slices.Repeat([]string{Redis}, masters*(1+replicasEach))
	return form(&Cluster{tb: tb, masters: masters, Nodes: make([]*Server, len(programs)), gated: true}, programs, extra...)
}

func form(c *Cluster, programs []string, extra ...string) *Cluster {
	tb, masters := c.tb, c.masters
	tb.Helper()
	for i, program := range programs {
		_, bus, _ := net.SplitHostPort(FreeAddr(tb))
		c.Nodes[i] = prepare(tb, program, func(dir, port string) []string {
			args := []string{
				"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no", "--appendonly", "no", "--save", "",
				"--maxmemory-policy", "noeviction", "--cluster-enabled", "yes", "--cluster-port", bus,
				"--cluster-node-timeout", fmt.Sprint(clusterTimeout), "--cluster-require-full-coverage", "no",
				"--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
			}
			return append(args, extra...)
		})
		if c.tls != nil {
			c.Nodes[i].putTLS(*c.tls, "--tls-cluster", "yes")
		}
		if c.gated {
			c.Nodes[i].putGates(bus)
		}
		c.Nodes[i].run()
		c.Nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1)) // before it knows others
	}
	for i, node := range c.Nodes {
		host, port, _ := net.SplitHostPort(node.Public())
		for _, other := range c.Nodes {
			if other != node {
				other.Do("CLUSTER", "MEET", host, port, node.busPort())
			}
		}
		if i < masters {
			node.Do("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(i*clusterSlots/masters), fmt.Sprint((i+1)*clusterSlots/masters-1))
		}
	}
	c.await("all nodes to know each other", func(node *Server) bool { return len(c.seenBy(node)) == len(c.Nodes) })
	for i, node := range c.Nodes[masters:] {
		node.Do("CLUSTER", "REPLICATE", c.Nodes[i%masters].ID())
	}
	c.AwaitReady()
	return c
}

// busPort is the port at which other cluster nodes reach a node.
func (s *Server) busPort() string {
	if s.gates != nil {
		return s.args[slices.Index(s.args, "--cluster-announce-bus-port")+1]
	}
	return s.args[slices.Index(s.args, "--cluster-port")+1]
}

// putGates puts proxies in front of a node's ports and has it announce those, so that all others come through them.
func (s *Server) putGates(bus string) {
	s.gates = newGates(s.tb)
	host, _, _ := net.SplitHostPort(s.Addr)
	s.public = s.gates.open(s.Addr, false)
	_, port, _ := net.SplitHostPort(s.public)
	_, busPort, _ := net.SplitHostPort(s.gates.open(net.JoinHostPort(host, bus), true))
	s.args = append(s.args, "--cluster-announce-port", port, "--cluster-announce-bus-port", busPort)
}

// Isolate cuts the connections between a node of a gated cluster and all the others. Clients still reach everyone.
func (c *Cluster) Isolate(node *Server) {
	c.tb.Helper()
	id := node.ID()
	for _, other := range c.Nodes {
		if other != node {
			other.gates.cut(func(peer string) bool { return peer == id })
		}
	}
	node.gates.cut(func(peer string) bool { return peer != "" })
}

// Join ends Isolate.
func (c *Cluster) Join() {
	for _, node := range c.Nodes {
		node.gates.cut(nil)
	}
}

// ID is the node's name in its cluster.
func (s *Server) ID() string {
	s.tb.Helper()
	id, _ := s.Do("CLUSTER", "MYID").(string)
	return id
}

// URL returns the addresses of all nodes as CHATD_REDIS takes them.
func (c *Cluster) URL() string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Public()
	}
	return "redis-cluster://" + strings.Join(addrs, ",")
}

// ClusterNode is a cluster node as another one sees it.
type ClusterNode struct {
	ID, Addr string
	Master   bool
	Linked   bool // reachable, and not marked as failed
	Of       string
	Slots    []string // ranges, such as 0-5460
}

// seenBy lists the nodes that a node is in direct contact with.
func (c *Cluster) seenBy(node *Server) []ClusterNode {
	text, _ := node.Try("CLUSTER", "NODES")
	list, _ := text.(string)
	var seen []ClusterNode
	for line := range lines(list) {
		f := strings.Fields(line)
		if len(f) < 8 || strings.Contains(f[2], "handshake") || strings.Contains(f[2], "noaddr") {
			continue
		}
		addr, _, _ := strings.Cut(f[1], "@")
		seen = append(seen, ClusterNode{
			ID: f[0], Addr: addr, Master: strings.Contains(f[2], "master"), Of: f[3], Slots: f[8:],
			Linked: f[7] == "connected" && !strings.Contains(f[2], "fail"),
		})
	}
	return seen
}

// ReplicaOf returns a replica of a master.
func (c *Cluster) ReplicaOf(master *Server) *Server {
	c.tb.Helper()
	id := master.ID()
	for _, n := range c.View() {
		if n.Of == id {
			return c.at(n.Addr)
		}
	}
	c.tb.Fatalf("%s has no replica", master.Addr)
	return nil
}

// View is the cluster as one of its running nodes sees it, other than those given.
func (c *Cluster) View(except ...*Server) []ClusterNode {
	for _, node := range c.Nodes {
		if slices.Contains(except, node) {
			continue
		}
		if seen := c.seenBy(node); len(seen) > 0 {
			return seen
		}
	}
	return nil
}

// AwaitReady waits until all nodes agree on the masters of all slots, and every replica is in sync with its master.
func (c *Cluster) AwaitReady() {
	c.tb.Helper()
	c.await("all nodes to agree", func(node *Server) bool {
		info, _ := node.Try("CLUSTER", "INFO")
		if text, _ := info.(string); !strings.Contains(text, "cluster_state:ok") {
			return false
		}
		role, _ := node.Try("ROLE")
		if list, _ := role.([]any); len(list) == 5 && list[0] == "slave" && list[3] != "connected" {
			return false
		}
		seen, first := c.seenBy(node), c.seenBy(c.Nodes[0])
		byID := func(a, b ClusterNode) int { return cmp.Compare(a.ID, b.ID) }
		slices.SortFunc(seen, byID)
		slices.SortFunc(first, byID)
		replicas := 0
		for _, n := range seen {
			if !n.Master {
				replicas++
			}
		}
		return len(seen) == len(c.Nodes) && replicas == len(c.Nodes)-c.masters && slices.EqualFunc(seen, first, func(a, b ClusterNode) bool {
			return a.ID == b.ID && a.Linked && b.Linked && a.Master == b.Master && a.Of == b.Of && slices.Equal(a.Slots, b.Slots)
		})
	})
}

// AwaitHeir waits until all other nodes agree that one of them has taken over the slots of a dead one, and returns it.
func (c *Cluster) AwaitHeir(dead *Server, slot int64) *Server {
	c.tb.Helper()
	var heir *Server
	c.await("a replica to take over", func(node *Server) bool {
		for _, n := range c.seenBy(node) {
			if n.Master && n.Linked && n.Addr != dead.Public() && n.owns(slot) {
				heir = c.at(n.Addr)
				return true
			}
		}
		return false
	}, dead)
	return heir
}

func (c *Cluster) await(what string, holds func(*Server) bool, except ...*Server) {
	c.tb.Helper()
	deadline := time.After(formTimeout)
	var every interval.Growing
	for _, node := range c.Nodes {
		for !slices.Contains(except, node) && !holds(node) {
			select {
			case <-deadline:
				state, _ := node.Try("CLUSTER", "NODES")
				c.tb.Fatalf("waited in vain for %s: %s says\n%v", what, node.Addr, state)
			case <-every.Next():
			}
		}
	}
}

// Slot returns the slot of a key, and the master that serves it.
func (c *Cluster) Slot(key string) (slot int64, master *Server) {
	c.tb.Helper()
	for _, node := range c.Nodes {
		n, err := node.Try("CLUSTER", "KEYSLOT", key)
		if err != nil {
			continue
		}
		slot, _ = n.(int64)
		for _, seen := range c.seenBy(node) {
			if at := c.at(seen.Addr); seen.Master && seen.Linked && seen.owns(slot) && at != nil {
				return slot, at
			}
		}
	}
	c.tb.Fatalf("no running node serves the slot of %s", key)
	return 0, nil
}

func (n ClusterNode) owns(slot int64) bool {
	return slices.ContainsFunc(n.Slots, func(r string) bool {
		var first, last int64
		if got, _ := fmt.Sscanf(r, "%d-%d", &first, &last); got == 1 {
			last = first
		}
		return first <= slot && slot <= last
	})
}

func (c *Cluster) at(addr string) *Server {
	if i := slices.IndexFunc(c.Nodes, func(s *Server) bool { return s.Public() == addr }); i >= 0 {
		return c.Nodes[i]
	}
	return nil
}

// Migrate moves a slot with its keys to another master, as redis-cli does. between, if not nil, runs when all keys have moved but
// the slot has not.
func (c *Cluster) Migrate(slot int64, from, to *Server, between func()) {
	c.tb.Helper()
	number := fmt.Sprint(slot)
	host, port, _ := net.SplitHostPort(to.Addr)
	to.Do("CLUSTER", "SETSLOT", number, "IMPORTING", from.ID())
	from.Do("CLUSTER", "SETSLOT", number, "MIGRATING", to.ID())
	for {
		keys, _ := from.Do("CLUSTER", "GETKEYSINSLOT", number, "10").([]any)
		if len(keys) == 0 {
			break
		}
		command := []string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}
		for _, key := range keys {
			command = append(command, fmt.Sprint(key))
		}
		from.Do(command...)
	}
	if between != nil {
		between()
	}
	for _, node := range []*Server{to, from} {
		node.Do("CLUSTER", "SETSLOT", number, "NODE", to.ID())
	}
}
