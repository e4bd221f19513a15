package statemachine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// ackHeld acks what a device holds, by its cursor.
func (m *faultMachine) ackHeld(t *rapid.T, user, group string) {
	d := m.device(user, group)
	if d.cursor == "" || m.groups[group] == nil {
		return
	}
	m.move(t, user, group, d.held, evenly(t, "read", 2) == 0)
	m.check(t, group)
}

// syncHeld asks for everything after what the devices of a user hold, and acks that where it may, if it shall.
func (m *faultMachine) syncHeld(t *rapid.T, user string, acks bool) {
	req := live.SyncRequest{After: map[string]string{}, Ack: map[string]chat.Position{}, Limit: 1000}
	for _, group := range machineGroups {
		if d := m.device(user, group); d.cursor != "" {
			req.After[group] = d.cursor
			if acks && evenly(t, "with an ack", 2) == 0 {
				req.Ack[group] = d.held
			}
		}
	}
	got, err := m.live.Sync(m.ctx, caller(user), req)
	expect(t, "sync with cursors", err, "")
	for group := range req.After {
		g, w := m.groups[group], m.member(group, user)
		if w == nil {
			if !slices.Contains(got.Left, group) {
				t.Fatalf("sync: %s is not in %s, and left is %q", user, group, got.Left)
			}
			continue
		}
		d, at := m.device(user, group), slices.IndexFunc(got.Groups, func(b chat.Batch) bool { return b.Group == group })
		m.ackedBySync(t, got, req, user, group)
		if g.lost(d.held) {
			expect(t, "sync from a log that is not the device's", nil, "")
		}
		if at >= 0 {
			m.checkBatch(t, got.Groups[at], user, group, req.Limit)
			m.took(t, d, got.Groups[at], true)
		} else if g.lost(d.held) || d.at < g.last {
			t.Fatalf("sync says nothing of %s, which ends at %s %d; the device holds %s", group, g.epoch, g.last, d.cursor)
		}
		m.check(t, group)
	}
}

// ackedBySync takes over what the ack in a sync did.
func (m *faultMachine) ackedBySync(t *rapid.T, got live.SyncAnswer, req live.SyncRequest, user, group string) {
	g, w := m.groups[group], m.member(group, user)
	pos, acked := req.Ack[group]
	refused := slices.Contains(got.Errors, live.GroupError{Group: group, Code: chat.CodeConflict})
	if want := acked && g.refuses(pos); refused != want {
		t.Fatalf("sync: the ack of %+v in %s %d was refused: %v, want %v", pos, g.epoch, g.last, refused, want)
	}
	if acked && !refused {
		w.seen = max(w.seen, pos.ID)
		g.free()
	}
	m.sawCut(t, group, m.infoOf(t, user, group).Held)
}

// modelInbox is what one user's inbox was last seen to hold.
type modelInbox struct {
	epoch             string
	base, last, acked int64
	marks             map[int64]string // also of items that are gone
}

func (b *modelInbox) lost(at chat.Position) bool {
	return at.Epoch != b.epoch || at.ID > b.last || b.differs(at)
}

func (b *modelInbox) differs(at chat.Position) bool {
	mark := b.marks[at.ID]
	return mark != "" && at.HasMark() && mark != at.Mark
}

// inboxDevice is one client of a user.
type inboxDevice struct {
	user string
	held chat.Position
}

// readInbox compares an inbox with what is known of it, and learns what is new.
func (m *faultMachine) readInbox(t *rapid.T, user string) *modelInbox {
	got, err := m.stores.InboxPull(m.ctx, user, chat.At(0), 1000)
	m.must(t, err)
	b := m.inboxes[user]
	if b == nil {
		b = &modelInbox{epoch: got.Epoch, marks: map[int64]string{}}
		m.inboxes[user] = b
	}
	base := got.First - 1
	if got.Epoch != b.epoch || got.Last < b.last || got.Acked != b.acked || base < b.base || base > max(b.base, b.acked-2) {
		t.Fatalf("the inbox of %s is %s, items %d..%d, acked %d; it was %+v", user, got.Epoch, got.First, got.Last, got.Acked, b)
	}
	b.base, b.last = base, got.Last
	for i, item := range got.Items {
		seq := got.From + int64(i)
		if known := b.marks[seq]; known != "" && known != item.Mark {
			t.Fatalf("item %d of %s has mark %q, had %q", seq, user, item.Mark, known)
		}
		b.marks[seq] = item.Mark
	}
	link(m.before, b.marks)
	return b
}

func (m *faultMachine) sendItem(t *rapid.T, user string) {
	m.serial++
	body := fmt.Sprint("item ", m.serial)
	last := m.inboxes[user].last
	it, _, err := m.service.SendDirect(m.ctx, root, user, chat.Direct{Body: &body})
	expect(t, "send an item", err, "")
	if it.Seq != last+1 {
		t.Fatalf("an item for %s got seq %d behind %d", user, it.Seq, last)
	}
}

func (m *faultMachine) itemsOf(user string) *inboxDevice {
	return m.items[slices.IndexFunc(m.items, func(d *inboxDevice) bool { return d.user == user })]
}

// pullItems goes on with a device.
func (m *faultMachine) pullItems(t *rapid.T, user string) {
	d, b := m.itemsOf(user), m.inboxes[user]
	after := d.held
	if !after.Set {
		after = chat.At(0)
	}
	got, err := m.service.Inbox(m.ctx, caller(user), after, 1+evenly(t, "limit", 8))
	expect(t, "pull an inbox", err, "")
	lost := d.held.Set && b.lost(d.held)
	if lost {
		happened("inbox that is not the device's")
	}
	if want := !lost && after.ID >= b.base; got.Complete != want {
		t.Fatalf("pull of the inbox of %s after %+v: complete is %v, want %v; it is %+v", user, after, got.Complete, want, b)
	}
	from := max(after.ID, b.base) + 1
	if lost {
		from = b.base + 1
	}
	if got.From != from || got.Last != b.last {
		t.Fatalf("pull of the inbox of %s after %+v: from %d of %d, want %d of %d", user, after, got.From, got.Last, from, b.last)
	}
	for i, item := range got.Items {
		if seq := got.From + int64(i); item.Mark != b.marks[seq] || !strings.HasPrefix(string(item.JSON), fmt.Sprintf(`{"seq":%d,`, seq)) {
			t.Fatalf("item %d of %s is %s with mark %s", seq, user, item.JSON, item.Mark)
		}
	}
	d.held = got.Position()
}

// ackItems acks what a device holds, by its cursor.
func (m *faultMachine) ackItems(t *rapid.T, user string) {
	d, b := m.itemsOf(user), m.inboxes[user]
	if !d.held.Set {
		return
	}
	acked, err := m.service.AckInbox(m.ctx, caller(user), d.held)
	if d.held.Epoch != b.epoch || d.held.ID > b.last || d.held.ID >= b.base && b.differs(d.held) {
		expect(t, "ack of an inbox that is not the device's", err, chat.CodeConflict)
		return
	}
	expect(t, "ack of an inbox", err, "")
	b.acked = max(b.acked, d.held.ID)
	if acked != b.acked {
		t.Fatalf("the inbox of %s is acked up to %d, want %d", user, acked, b.acked)
	}
}

// follower is a client with a live session, which keeps what it was given.
type follower struct {
	*live.Follower
	user  string
	node  int
	in    map[string]bool           // the groups that it takes itself for a member of
	begun map[string]string         // by group: the epoch that its session began with
	held  map[string]chat.Position  // by group; not set: the session says where it begins
	fresh map[string]*chat.Position // groups joined since, and what was held of them before
	inbox chat.Position
}

func newFollower(user string, node int) *follower {
	f := &follower{user: user, node: node, in: map[string]bool{}, held: map[string]chat.Position{}, inbox: chat.At(0)}
	for _, group := range machineGroups {
		f.held[group] = chat.At(0)
	}
	return f
}

// connect begins a session with what the client holds.
func (m *faultMachine) connect(t *rapid.T, f *follower) {
	after := map[string]string{}
	for group, at := range f.held {
		after[group] = fmt.Sprint(at.ID)
		if at.Epoch != "" {
			after[group] = chat.FormatPosition(at.Epoch, at.ID, at.Mark)
		}
	}
	var err error
	f.Follower, err = m.nodes[f.node].live.Follow(m.ctx, caller(f.user), live.Scope{After: after, InboxAfter: f.inbox})
	m.must(t, err)
	f.in, f.begun, f.fresh = map[string]bool{}, map[string]string{}, map[string]*chat.Position{}
	for group, w := range f.Welcome().Groups {
		f.in[group], f.begun[group] = true, w.Epoch
	}
}

// reconnect moves a client to a node.
func (m *faultMachine) reconnect(t *rapid.T) {
	f := oneOf(t, "follower", m.followers...)
	f.Close()
	f.node = m.at
	m.connect(t, f)
}

// settle lets every follower take what it is owed. In the end each holds the logs as they are.
func (m *faultMachine) settle(t *rapid.T) {
	m.learn(t)
	for _, f := range m.followers {
		awaitNone(t, func() string {
			for {
				e, ok, err := f.TryNext(m.ctx)
				switch {
				case errors.Is(err, chat.ErrUnavailable):
					return err.Error()
				case err != nil:
					t.Fatal(err)
				case !ok:
					return m.lacks(f)
				}
				m.take(t, f, e)
			}
		})
	}
	happened("settle")
}

// lacks says what a follower does not hold of what there is for it.
func (m *faultMachine) lacks(f *follower) string {
	b := m.inboxes[f.user]
	if f.inbox.ID != b.last || (f.inbox.Epoch != "" || b.last > 0) && b.lost(f.inbox) {
		return fmt.Sprintf("%s holds %+v of the inbox, which is %+v", f.user, f.inbox, *b)
	}
	for _, group := range machineGroups {
		g, w := m.groups[group], m.member(group, f.user)
		if f.in[group] != (w != nil) {
			return fmt.Sprintf("%s takes themself for a member of %s: %v", f.user, group, f.in[group])
		}
		if w == nil {
			continue
		}
		if _, fresh := f.fresh[group]; fresh && w.seen == g.last { // the session began where nothing is owed
			f.held[group] = chat.Position{Set: true, ID: g.last, Epoch: g.epoch, Mark: g.marks[g.last]}
			delete(f.fresh, group)
		}
		if at := f.held[group]; g.lost(at) || at.ID != g.last {
			return fmt.Sprintf("%s holds %+v of %s, which ends at %s %d %s, trimmed up to %d; joined since: %v", f.user, at, group,
				g.epoch, g.last, g.marks[g.last], g.cut, f.fresh)
		}
	}
	return ""
}

// take gives an event to a follower.
func (m *faultMachine) take(t *rapid.T, f *follower, e live.Event) {
	switch {
	case e.Left != "":
		delete(f.in, e.Left)
	case e.Joined != "":
		f.in[e.Joined] = true
		before := f.held[e.Joined]
		f.fresh[e.Joined] = &before
	case e.Messages != nil:
		m.takeBatch(t, f, e.Messages)
	case e.Inbox != nil:
		m.takeItems(t, f, e.Inbox)
	}
}

func (m *faultMachine) takeBatch(t *rapid.T, f *follower, b *chat.Batch) {
	at, fresh := f.held[b.Group], f.fresh[b.Group]
	delete(f.fresh, b.Group)
	marks := make([]string, len(b.Messages))
	for i, msg := range b.Messages {
		marks[i] = msg.Mark
	}
	goesOn := at.Epoch == "" || at.Epoch == b.Epoch && b.From == at.ID+1
	another := f.begun[b.Group] != "" && f.begun[b.Group] != at.Epoch // which the session has said already, even if the store went back since
	delete(f.begun, b.Group)
	switch {
	case b.Complete && fresh != nil && !goesOn: // the client begins again with what it is given
	case b.Complete && !goesOn:
		t.Fatalf("%s holds %+v of %s, is given %s from %d as if nothing were missing", f.user, at, b.Group, b.Epoch, b.From)
	case b.Complete:
		m.linked(t, f, b.Group, at.Mark, marks)
	case fresh == nil && !another && b.Epoch == at.Epoch && !mayReport(at, m.groups[b.Group], m.cuts[b.Epoch]):
		t.Fatalf("%s holds %+v of %s, and is told that something is missing", f.user, at, b.Group)
	default:
		m.linked(t, f, b.Group, "", marks)
		if at.Epoch != "" && (at.Epoch != b.Epoch || m.groups[b.Group] != nil && m.groups[b.Group].lost(at)) {
			happened("follower of a log that is not its own")
		}
	}
	held, err := chat.ParsePosition(b.Cursor)
	m.must(t, err)
	f.held[b.Group] = held
}

// mayReport tells whether a client that holds what comes before at may hear that something is missing behind it. Who holds
// nothing loses nothing by it.
func mayReport(at chat.Position, g *modelGroup, cut int64) bool {
	return g == nil || at.ID == 0 || at.ID < cut || g.lost(at)
}

// linked checks that entries follow each other, and the one that the client holds, in a log that there was. What was
// trimmed in the step that wrote it is not known.
func (m *faultMachine) linked(t *rapid.T, f *follower, what, held string, marks []string) {
	for _, mark := range marks {
		if before := m.before[mark]; before != "" && held != "" && held != "-" && before != held {
			t.Fatalf("%s holds %q of %s, and is given %q as what follows, which follows %q", f.user, held, what, mark, before)
		}
		held = mark
	}
}

func (m *faultMachine) takeItems(t *rapid.T, f *follower, got *chat.InboxBatch) {
	at, b := f.inbox, m.inboxes[f.user]
	marks := make([]string, len(got.Items))
	for i, item := range got.Items {
		marks[i] = item.Mark
	}
	switch {
	case got.Complete && at.Epoch != "" && (at.Epoch != got.Epoch || got.From != at.ID+1):
		t.Fatalf("%s holds %+v of the inbox, is given %s from %d as if nothing were missing", f.user, at, got.Epoch, got.From)
	case got.Complete:
		m.linked(t, f, "the inbox", at.Mark, marks)
	case got.Epoch == at.Epoch && at.ID >= b.base && at.ID > 0 && !b.lost(at): // as for a group, see mayReport
		t.Fatalf("%s holds %+v of the inbox, which is %+v, and is told that something is missing", f.user, at, b)
	default:
		m.linked(t, f, "the inbox", "", marks)
		if at.Epoch != "" && b.lost(at) {
			happened("follower of an inbox that is not its own")
		}
	}
	f.inbox = got.Position()
}
