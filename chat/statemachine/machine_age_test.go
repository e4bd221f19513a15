package statemachine_test

import (
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/retention"
)

// machineClock is when a machine sends what it sends, in ms: no two entries at the same time. It begins some days ago and never
// gets to today, so that what is sent is of any age.
type machineClock int64

const dayMs = int64(24 * time.Hour / time.Millisecond)

// newMachineClock is half a day off those of the store: what is older than some days is so for hours.
func newMachineClock() machineClock { return machineClock(time.Now().UnixMilli() - 20*dayMs - dayMs/2) }

func (c *machineClock) tick() int64 {
	*c++
	return int64(*c)
}

// daysPass lets what is sent from now on be younger.
func (m *machine) daysPass(t *rapid.T, _, _ string) {
	days := dayMs * int64(rapid.IntRange(1, 4).Draw(t, "days"))
	if int64(*m.clock)+days < time.Now().UnixMilli() {
		*m.clock += machineClock(days)
	}
}

// retain removes what is too old in a group.
func (m *machine) retain(t *rapid.T, _, group string) {
	g := m.groups[group]
	if g.retainDays == 0 {
		m.setDays(t, root, group)
		return
	}
	m.sentAt(t, group)
	caughtUp := oneOf(t, "archived before", true, false)
	if caughtUp {
		m.catchUp(t, group)
	}
	old, before := g.below(), time.Now().UnixMilli()-g.retainDays*dayMs
	for old < g.last && g.messages[old+1].sentAtMs < before {
		old++
	}
	task := retention.Task{Group: group, Epoch: g.epoch, Days: g.retainDays}
	m.must(t, m.archive.retention.Handlers()[retention.TaskRetain].Run(m.ctx, chat.TaskRun{Payload: chat.Encode(task)}))
	if !g.onHold {
		g.pinned = slices.DeleteFunc(g.pinned, func(id int64) bool { return g.messages[id].sentAtMs < before })
	}
	expired := m.infoOf(t, machineUsers[0], group).First - 1
	switch {
	case g.onHold && expired != g.below():
		t.Fatalf("%s is held and begins at %d, it was %d", group, expired+1, g.below()+1)
	case g.onHold:
		happened("retain on hold")
		return
	case expired < g.below(), expired > old, caughtUp && expired != old:
		t.Fatalf("%s begins at %d: it was %d, and what is too old ends at %d", group, expired+1, g.below()+1, old)
	}
	if expired > g.below() {
		happened("expire")
	}
	if g.below() < g.cut && expired > g.below() {
		happened("expire of an archived message")
	}
	g.expired, g.freed = expired, max(g.freed, expired)
	log := archive.Log{Group: group, Epoch: g.epoch}
	left, err := m.archive.db.Read(m.ctx, log, archive.Span{From: 1, To: expired, Limit: 1, BytesMax: 1})
	if err != nil || len(left) > 0 {
		t.Fatalf("of what is too old in %s the archive has %v, %v", group, left, err)
	}
}

// setDays changes after how many days the messages of a group go.
func (m *machine) setDays(t *rapid.T, by chat.Caller, group string) {
	g := m.groups[group]
	days := oneOf[int64](t, "retain_days", 0, 5, 10)
	_, err := m.service.UpdateGroup(m.ctx, by, group, chat.GroupChange{RetainDays: &days})
	expect(t, "retain_days", err, "")
	if days == g.retainDays {
		m.notices(t, by.User, group)
		return
	}
	g.retainDays = days
	m.notices(t, by.User, group, chat.NoticeSettings)
}

// sentAt looks up when the entries of a group were sent.
func (m *machine) sentAt(t *rapid.T, group string) {
	g := m.groups[group]
	var ids []int64
	for id := g.below() + 1; id <= g.last; id++ {
		if g.messages[id].sentAtMs == 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	list, err := m.store().Entries(m.ctx, group, ids)
	m.must(t, err)
	for _, msg := range list {
		var e chat.Entry
		m.must(t, json.Unmarshal(msg.JSON, &e))
		g.messages[msg.ID].sentAtMs = e.SentAt.UnixMilli()
	}
	if len(list) != len(ids) {
		t.Fatalf("of the entries %v of %s there are %d", ids, group, len(list))
	}
}
