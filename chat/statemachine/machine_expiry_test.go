package statemachine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/store"
)

const (
	daySeconds = 24 * 3600
	machineFar = 40 * daySeconds // the store's own clock does not get there
)

// machineEnds are the ends of messages by the time of the machine: the store's own clock is days ahead of it, or behind.
type machineEnds struct {
	*store.Expiry
	m *machine
}

// Due leaves out what has to go by the clock of the store alone, and adds what that takes for the future.
func (s machineEnds) Due(ctx context.Context, group, epoch string, limit int) ([]int64, error) {
	ids, err := s.Expiry.Due(ctx, group, epoch, limit)
	ids = slices.DeleteFunc(ids, func(id int64) bool { return s.m.groups[group].messages[id].endsMs > *s.m.now })
	for _, id := range s.m.due(group) {
		if err == nil && !s.m.groups[group].messages[id].over() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// over tells whether a message has to go by the clock of the store, which then refuses edits.
func (e *modelMessage) over() bool {
	return e != nil && e.endsMs > 0 && e.endsMs <= time.Now().UnixMilli()
}

// useExpiry makes the service that deletes what has to go.
func (m *machine) useExpiry() {
	clock := expiry.NewClock(func(context.Context) (int64, error) { return *m.now, nil })
	m.expiry = expiry.New(machineEnds{m.stores.Expiry, m}, m.logs(), clock, slog.New(slog.DiscardHandler))
}

// expiryActions are those of messages that go by themselves.
func (m *machine) expiryActions() []action {
	if m.clock == nil {
		return nil
	}
	return []action{{4, "ends come", m.endsCome}}
}

// ends notes that a message, which was just appended, goes after its own seconds, or those of its group if they are fewer.
func (m *machine) ends(t *rapid.T, group string, id, own int64) {
	g := m.groups[group]
	e := g.messages[id]
	if e.expireS = own; own == 0 || g.expireS > 0 && g.expireS < own {
		e.expireS = g.expireS
	}
	if e.expireS == 0 {
		return
	}
	list, err := m.store().Entries(m.ctx, group, []int64{id})
	m.must(t, err)
	for _, msg := range list { // none where everybody has seen it already
		var stored chat.Entry
		m.must(t, json.Unmarshal(msg.JSON, &stored))
		e.endsMs = stored.SentAt.UnixMilli() + 1000*e.expireS
	}
}

// due are the messages of a group whose time has come, in the order in which they go.
func (m *machine) due(group string) (ids []int64) {
	g := m.groups[group]
	for id, e := range g.messages {
		if e.endsMs > 0 && e.endsMs <= *m.now && !m.gone(group, id, e) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return cmp.Or(cmp.Compare(g.messages[a].endsMs, g.messages[b].endsMs), cmp.Compare(strconv.FormatInt(a, 10), strconv.FormatInt(b, 10)))
	})
	return ids
}

// endsCome lets so much time pass that the end of a message comes, and others with it: nobody is served them any more, and then they
// are deleted by their authors.
func (m *machine) endsCome(t *rapid.T, _, _ string) {
	var ends []int64
	far := evenly(t, "far", 4) == 0
	for _, g := range m.groups {
		for _, e := range g.messages {
			if e.counts() && e.endsMs > *m.now && (far || e.over()) {
				ends = append(ends, e.endsMs)
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	slices.Sort(ends)
	*m.now = oneOf(t, "end", ends...)
	*m.clock = max(*m.clock, machineClock(*m.now))
	for _, group := range machineGroups {
		if m.groups[group] != nil {
			m.veiled(t, group)
			m.expire(t, group)
			m.check(t, group)
		}
	}
}

// veiled checks that what has to go, and is not deleted yet, is served as it will be then, and that its text is put to no more use.
func (m *machine) veiled(t *rapid.T, group string) {
	g, due := m.groups[group], m.due(group)
	if len(due) == 0 {
		return
	}
	gone := g.clone()
	for _, id := range due {
		gone.erase(id, false)
	}
	m.groups[group] = gone
	defer func() { m.groups[group] = g }()
	viewer := oneOf(t, "viewer", slices.Sorted(maps.Keys(g.members))...)
	after := strconv.FormatInt(g.visible(viewer)-1, 10)
	batch, _, err := m.service.Pull(m.ctx, caller(viewer), group, chat.PullQuery{After: &after, Limit: 1000})
	m.must(t, err)
	for _, msg := range batch.Messages {
		m.checkServed(t, viewer, group, msg)
	}
	m.checkPins(t, group)
	id := oneOf(t, "what goes", due...)
	author := g.messages[id].from
	if g.members[author] != nil && g.wroteIt(author, id) && g.forbids(author, chat.Edit) == "" {
		body := "too late"
		_, err := m.service.Send(m.ctx, caller(author), group, chat.Content{Kind: chat.Edit, Target: id, Body: &body}, "")
		expect(t, "edit what has to go", err, chat.CodeNotFound)
	}
	expect(t, "pin what has to go", m.pins.Pin(m.ctx, caller(g.owner()), group, id), chat.CodeNotFound)
	if author != viewer && !slices.ContainsFunc(g.reportedBy(viewer), func(r modelReport) bool { return r.target == id }) {
		_, _, err = m.reports.Put(m.ctx, caller(viewer), group, id, reports.Draft{Reason: reportReason})
		expect(t, "report what has to go", err, chat.CodeNotFound)
	}
}

// expire deletes what has to go by now.
func (m *machine) expire(t *rapid.T, group string) {
	g, due := m.groups[group], m.due(group)
	for _, epoch := range []string{"earlier", g.epoch, g.epoch} { // the second run finds nothing to do
		task := chat.GroupTask{Group: group, Epoch: epoch}
		m.must(t, m.expiry.Handlers()[expiry.TaskExpire].Run(m.ctx, chat.TaskRun{Payload: chat.Encode(task)}))
	}
	list, end, err := m.store().Range(m.ctx, group, g.last+1, 1000, 0)
	m.must(t, err)
	if end.Last != g.last+int64(len(due)) {
		t.Fatalf("%s ended at %d and now at %d, and the time of %v had come", group, g.last, end.Last, due)
	}
	stored := map[int64]chat.Message{} // without those that are trimmed already
	for _, msg := range list {
		stored[msg.ID] = msg
	}
	for _, target := range due {
		e := g.messages[target]
		switch what := "a message goes by itself"; {
		case target <= g.below():
			happened(what + " that is only pinned")
		case target <= g.cut:
			happened(what + " that is archived")
		default:
			happened(what)
		}
		g.erase(target, false)
		id := g.append(e.from, &modelMessage{from: e.from, kind: chat.Delete, target: target})
		if msg, ok := stored[id]; ok {
			m.must(t, g.messages[id].check(id, group, msg.JSON))
		}
	}
	if left, err := m.stores.Expiry.Due(m.ctx, group, g.epoch, 1000); err != nil || slices.ContainsFunc(left, func(id int64) bool {
		return g.messages[id].endsMs <= *m.now
	}) {
		t.Fatal(fmt.Errorf("in %s there are still %v to go: %w", group, left, err))
	}
}
