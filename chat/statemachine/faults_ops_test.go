package statemachine_test

import (
	"strings"
	"syscall"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// fault does something to the store, and sees that it holds then what it should.
func (m *faultMachine) fault(t *rapid.T, user, group string) {
	if evenly(t, "settled before", 2) == 0 {
		m.settle(t)
	}
	type fault struct {
		name string
		do   func(t *rapid.T, user, group string)
	}
	faults := []fault{{"empty", m.empty}, {"full", m.full}, {"busy", m.busy}}
	switch {
	case m.redis.fsync != "":
		faults = append(faults, fault{"rewind", m.rewind}, fault{"rewind", m.rewind}, fault{"rewrite", m.rewrite}, fault{"kill", m.kill}, fault{"stop", m.stop})
		if m.archive != nil {
			faults = append(faults, fault{"unchange", m.unchange}, fault{"unchange", m.unchange})
		}
	case m.lagging == nil && !m.failed:
		faults = append(faults, fault{"lag", m.lag}, fault{"lag", m.lag}, fault{"failover", m.failover})
	case !m.failed:
		faults = append(faults, fault{"failover that loses", m.failover}, fault{"failover that loses", m.failover})
	}
	one := oneOf(t, "fault", faults...)
	for range 4 { // each node remembers then what it has found for the user. Nothing is written: a kill might lose it
		m.onEachNode(func() { m.syncHeld(t, user, false) })
	}
	t.Logf("fault: %s", one.name)
	one.do(t, user, group)
	happened(one.name)
	m.recovered(t)
	for _, g := range machineGroups {
		m.check(t, g)
	}
	m.onEachNode(func() { m.syncHeld(t, user, false) })
	if evenly(t, "overtaken", 2) == 0 {
		m.overtake(t)
	}
}

// onEachNode does something on one node after the other.
func (m *faultMachine) onEachNode(do func()) {
	at := m.at
	for i := range m.nodes {
		m.at = i
		m.use(m.node())
		do()
	}
	m.at = at
	m.use(m.node())
}

// overtake finds a device that holds more than its log has now, rewrites the log up to there, and trims it just there:
// nothing is missing behind the device's position, and only the mark shows that it holds something else.
func (m *faultMachine) overtake(t *rapid.T) {
	for _, d := range m.devices {
		g, at := m.groups[d.group], d.held
		if m.member(d.group, d.user) == nil || at.Epoch != g.epoch || at.ID <= g.last || at.ID > g.last+overtakenMax {
			continue
		}
		for g.last < at.ID+max(1, g.keep) {
			m.send(t, d.user, d.group)
		}
		m.catchUp(t, d.group)
		for _, user := range machineUsers {
			if g.members[user] != nil {
				m.move(t, user, d.group, chat.At(at.ID), false)
			}
		}
		m.check(t, d.group)
		m.learnArchived(t, d.group) // what the archive has of what nobody has read yet is compared with the device's mark, too
		if g.cut == at.ID && g.lost(at) {
			t.Logf("%s %s holds %d %s, and the log is trimmed there", d.user, d.group, at.ID, at.Mark)
			happened("trimmed just where a device stands that holds another log")
		}
		if evenly(t, "acked first", 2) == 0 {
			m.ackHeld(t, d.user, d.group)
		}
		m.pull(t, d.user, d.group)
		m.check(t, d.group)
		return
	}
}

// recovered waits until both nodes serve.
func (m *faultMachine) recovered(t *rapid.T) {
	for _, n := range m.nodes {
		await(t, "a node does not serve", func() bool {
			_, err := n.stores.Lasts(m.ctx, machineGroups)
			return err == nil
		})
	}
}

// rewind loses what was written last, as a loss of power or a backup does.
func (m *faultMachine) rewind(t *rapid.T, _, _ string) {
	if len(m.saves) == 0 {
		return
	}
	i := evenly(t, "state", len(m.saves))
	m.redis.primary.Rewind(m.saves[i].written)
	m.back(m.saves[i])
	m.saves = m.saves[:i]
}

// rewrite loses the end of a log that a device holds, and rewrites it up to there.
func (m *faultMachine) rewrite(t *rapid.T, user, group string) {
	if m.member(group, user) == nil {
		return
	}
	before := m.now()
	written := m.redis.primary.Written()
	for d := m.device(user, group); d.held.Epoch != m.groups[group].epoch || d.at <= before.groups[group].last; {
		m.send(t, user, group)
		m.pull(t, user, group)
		m.check(t, group)
	}
	m.learn(t)
	m.redis.primary.Rewind(written)
	m.back(before)
	m.recovered(t)
	m.overtake(t)
}

// empty loses everything.
func (m *faultMachine) empty(t *rapid.T, _, _ string) {
	m.redis.primary.Do("FLUSHALL")
	if m.archive != nil { // a node does so by itself, after a while
		m.must(t, m.archive.archiver.Resume(m.ctx))
	}
	m.groups, m.inboxes = map[string]*modelGroup{}, map[string]*modelInbox{}
}

// full leaves the store no memory: nothing is sent, reads and acks go on.
func (m *faultMachine) full(t *rapid.T, user, group string) {
	m.redis.primary.Do("CONFIG", "SET", "maxmemory", "1")
	defer m.redis.primary.Do("CONFIG", "SET", "maxmemory", "0")
	if m.member(group, user) == nil {
		return
	}
	_, err := m.service.Send(m.ctx, caller(user), group, m.draft(t, user, group), "")
	expect(t, "send to a full store", err, chat.CodeUnavailable)
	m.pull(t, user, group)
	m.ackHeld(t, user, group)
	m.check(t, group)
}

// busy keeps the server from answering for a moment: everything is late, nothing fails.
func (m *faultMachine) busy(t *rapid.T, user, group string) {
	asleep := make(chan struct{})
	go func() {
		defer close(asleep)
		m.redis.primary.Do("DEBUG", "SLEEP", "0.1")
	}()
	if m.groups[group] != nil {
		m.send(t, user, group)
		m.check(t, group)
		m.pull(t, user, group)
	}
	<-asleep
}

// attempt is a send whose outcome may not be known.
type attempt struct {
	user, group string
	content     chat.Content
	sent        chat.Sent
	err         error
}

// during sends while something is done to the server.
func (m *faultMachine) during(t *rapid.T, user, group string, do func()) *attempt {
	if m.member(group, user) == nil {
		do()
		return nil
	}
	a := &attempt{user: user, group: group, content: m.draft(t, user, group)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.sent, a.err = m.service.Send(m.ctx, caller(user), group, a.content, "")
	}()
	do()
	<-done
	return a
}

// resolve finds out what became of a send. kept: what was answered must be there.
func (m *faultMachine) resolve(t *rapid.T, a *attempt, kept bool) {
	if a == nil {
		return
	}
	expect(t, "send that met a fault", a.err, "", chat.CodeUnavailable)
	g := m.groups[a.group]
	stored, end, err := m.stores.Range(m.ctx, a.group, g.last+1, 10, 0)
	m.must(t, err)
	switch {
	case end.Last == g.last+1:
		id := g.append(a.user, &modelMessage{from: a.user, kind: chat.Text, body: *a.content.Body, mentions: g.mentioned(a.content.Mentions)})
		if a.content.ClientID != "" {
			g.sent[a.user+"/"+a.content.ClientID] = modelSend{id: id, content: *a.content.Body + strings.Join(a.content.Mentions, ",")}
		}
		if a.err == nil && a.sent.ID != id {
			t.Fatalf("a send was answered with id %d, and is %d", a.sent.ID, id)
		}
	case end.Last != g.last:
		t.Fatalf("L7: %s ends at %d after one send behind %d: %v", a.group, end.Last, g.last, stored)
	case a.err == nil && kept:
		t.Fatalf("L5: message %d was answered for and is lost", a.sent.ID)
	}
}

// kill ends the server as a crash does, in the middle of a send. What was answered before is there, since the system has it.
func (m *faultMachine) kill(t *rapid.T, user, group string) {
	a := m.during(t, user, group, m.redis.primary.Kill)
	m.redis.primary.Restart()
	m.recovered(t)
	m.resolve(t, a, m.redis.fsync == "always")
}

// stop makes the server hang until the nodes refuse calls, in the middle of a send.
func (m *faultMachine) stop(t *rapid.T, user, group string) {
	m.redis.primary.Signal(syscall.SIGSTOP)
	a := m.during(t, user, group, func() {
		await(t, "calls are not refused", func() bool {
			_, err := m.stores.Lasts(m.ctx, machineGroups)
			return err != nil
		})
	})
	m.redis.primary.Signal(syscall.SIGCONT)
	m.recovered(t)
	m.resolve(t, a, true)
}

// lag cuts the replica off: it keeps what there is now.
func (m *faultMachine) lag(*rapid.T, string, string) {
	m.redis.caughtUp()
	m.redis.primary.Do("ACL", "SETUSER", "replicating", "off")
	m.redis.primary.Do("CLIENT", "KILL", "TYPE", "replica")
	s := m.now()
	m.lagging = &s
}

// failover kills the primary and has the sentinel promote the replica.
func (m *faultMachine) failover(t *rapid.T, _, _ string) {
	if m.lagging == nil {
		m.redis.caughtUp()
	}
	m.redis.primary.Kill()
	// A sentinel that was suspended for seconds finds no good replica, and one that has begun may give up.
	await(t, "the replica is not the primary", func() bool { // which ends the connections of its clients
		answer, _ := m.redis.replica.Try("ROLE")
		role, _ := answer.([]any)
		if len(role) > 0 && role[0] == "master" {
			return true
		}
		_, _ = m.redis.sentinel.Try("SENTINEL", "FAILOVER", primaryName) // refused while one goes on
		return false
	})
	m.redis.primary, m.redis.replica, m.failed = m.redis.replica, nil, true
	if m.lagging != nil {
		m.back(*m.lagging)
	}
}
