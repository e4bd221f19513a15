package statemachine_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/store"
)

var (
	machineUsers  = []string{"ann", "bob", "cid", "dee"}
	machineGroups = []string{"red", "blue"}
)

// device is one client of a user: it pulls with a cursor of its own and must see every id once, or be told.
type device struct {
	user, group string
	cursor      string        // as the service gave it; empty before the first pull
	held        chat.Position // the same, read
	at          int64         // the highest id it holds
	epoch       string
}

// machine drives a service and the model with the same random steps and compares them after each.
type machine struct {
	ctx     context.Context
	service *chat.Service
	live    *live.Service
	stores  *store.Store
	rules   *rules.Service
	blocks  *blocks.Service
	pins    *pins.Service
	threads *threads.Service
	reviews *reviews.Service
	reports *reports.Service
	expiry  *expiry.Service
	clock   *machineClock // of what is sent; nil: nothing goes by itself
	now     *int64        // when the nodes think it is, in ms: at most the clock
	hook    *machineHook  // nil: nobody is asked about what is sent
	blocked map[block]bool
	directs []modelReview   // direct messages that wait for a moderator
	archive *machineArchive // nil: trimmed messages are gone
	doubts  *doubts         // nil: the archive has nothing that the store lost
	restart func() opened
	groups  map[string]*modelGroup // by id; absent: no such group
	lives   map[string]string      // the newest epoch of each group, also of one that is gone
	epochs  map[string]bool        // every epoch ever seen: none comes twice
	devices []*device
	serial  int
	below   bool // what is changed is only in the archive, if anything is
	faults  bool // the store may lose something: devices go by cursors alone, and everybody sees the history
}

// opened is a node that has just started.
type opened struct {
	service *chat.Service
	live    *live.Service // which runs; nil: the machine makes one that does not
	stores  *store.Store
	archive *machineArchive
	hook    *machineHook
	clock   *machineClock
	now     *int64
}

func newMachine(ctx context.Context, open func() opened) *machine {
	m := &machine{ctx: ctx, restart: open, groups: map[string]*modelGroup{}, blocked: map[block]bool{}, lives: map[string]string{}, epochs: map[string]bool{}}
	m.use(open())
	for _, u := range machineUsers {
		for _, g := range machineGroups {
			m.devices = append(m.devices, &device{user: u, group: g})
		}
	}
	return m
}

func (m *machine) use(o opened) {
	m.service, m.stores, m.archive, m.hook, m.clock, m.now = o.service, o.stores, o.archive, o.hook, o.clock, o.now
	webhooks := webhook.New(o.service, o.stores, nil)
	m.rules, m.blocks = rules.New(o.service, o.stores, m.store(), nil), blocks.New(o.service, o.stores)
	m.reviews = reviews.New(o.service, o.stores, schedule.New(o.service, o.stores, webhooks), webhooks)
	m.reports = reports.New(o.service, o.stores, m.store(), m.rules, webhooks)
	switch {
	case o.live != nil:
		m.live = o.live
	case m.archive != nil:
		m.live = live.New(o.service, archivedStore{o.stores, o.archive.serving})
	default:
		m.live = live.New(o.service, o.stores)
	}
	m.pins = pins.New(o.service, o.stores, m.store())
	m.threads = threads.New(o.service, o.stores.Threads, m.store())
	if m.now != nil {
		m.useExpiry()
	}
}

func caller(user string) chat.Caller { return chat.Caller{User: user} }

// expect fails unless err carries one of the codes ("" stands for success).
func expect(t *rapid.T, what string, err error, codes ...chat.Code) {
	t.Helper()
	if !slices.Contains(codes, chat.CodeOf(err)) {
		t.Fatalf("%s: got %v, want one of %q", what, err, codes)
	}
	happened(what)
}

// outcomes counts how often each expectation was met, over all runs of a test, so that a test whose actions are all
// refused cannot pass.
var (
	outcomesMu sync.Mutex
	outcomes   = map[string]int{}
)

func happened(what string) {
	outcomesMu.Lock()
	defer outcomesMu.Unlock()
	outcomes[what]++
}

// evenly draws from 0..n-1. The numbers that rapid draws are mostly small, which would make the first action the usual
// one; mixing the bits makes all of them come up.
func evenly(t *rapid.T, label string, n int) int {
	x := rapid.Uint64().Draw(t, label)
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 32
	return int(x % uint64(n))
}

// oneOf draws one of values evenly.
func oneOf[T any](t *rapid.T, label string, values ...T) T {
	return values[evenly(t, label, len(values))]
}

// outsider is the code that a user who is no member gets for messages of the group.
func (m *machine) outsider(group string) chat.Code {
	if g := m.groups[group]; g != nil && g.public {
		return chat.CodeForbidden
	}
	return chat.CodeNotFound
}

func (m *machine) member(group, user string) *modelMember {
	if g := m.groups[group]; g != nil {
		return g.members[user]
	}
	return nil
}

// action is a step of the machine with its share of all steps.
type action struct {
	weight int
	name   string
	do     func(t *rapid.T, user, group string)
}

// step does one random action.
func (m *machine) step(t *rapid.T) {
	user := oneOf(t, "user", machineUsers...)
	group := oneOf(t, "group", machineGroups...)
	if m.member(group, user) == nil {
		user = oneOf(t, "user, again", machineUsers...) // strangers are refused whatever they do: a few of those will do
	}
	if m.groups[group] == nil {
		if evenly(t, "cleaned up before", 3) == 0 {
			m.runTask(t, chat.TaskCleanup, chat.GroupTask{Group: group, Epoch: "late"})
		}
		m.create(t, user, group)
		m.checkIndex(t, group)
		m.check(t, group)
		return
	}
	actions := []action{
		{12, "send", m.send}, {6, "retry", m.retry}, {8, "pull", m.pull}, {8, "ack", m.ack}, {5, "read", m.read},
		{2, "unread", m.markUnread}, {7, "put", m.put}, {3, "remove", m.remove}, {5, "edit", m.edit},
		{3, "delete", m.delete}, {7, "react", m.react}, {3, "trim", m.trim}, {2, "settings", m.settings},
		{1, "restart", m.restarted}, {1, "deleteGroup", m.deleteGroup}, {3, "sync", m.sync}, {2, "list", m.list},
		{2, "receipts", m.receipts}, {3, "operator", m.operate}, {3, "rule", m.rule}, {3, "ask", m.ask}, {2, "block", m.block}, {5, "pin", m.pin}, {2, "tasks", m.tasks},
	}
	actions = append(actions, m.moderationActions()...)
	actions = append(actions, m.threadActions()...)
	actions = append(actions, m.expiryActions()...)
	if m.archive != nil {
		actions = append(actions, m.archiveActions()...)
	}
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	pick := evenly(t, "action", total)
	for _, a := range actions {
		if pick -= a.weight; pick < 0 {
			t.Logf("%s %s %s", a.name, user, group)
			a.do(t, user, group)
			break
		}
	}
	m.check(t, group)
}

func (m *machine) create(t *rapid.T, user, group string) {
	keep := rapid.Int64Range(0, 6).Draw(t, "keep")
	backlog := rapid.Int64Range(5, 25).Draw(t, "backlog")
	history := m.faults || oneOf(t, "history", true, false)
	visibility, join := oneOf(t, "visibility", chat.Private, chat.Public), chat.JoinOpen
	if visibility == chat.Public && !m.faults { // see rule
		join = oneOf(t, "join", chat.JoinOpen, chat.JoinAsk)
	}
	var others []string
	for _, u := range machineUsers {
		if u != user && !m.blocked[block{u, user}] && oneOf(t, "with "+u, true, true, true, false) {
			others = append(others, u)
		}
	}
	got, err := m.service.CreateGroup(m.ctx, caller(user), chat.GroupDraft{ID: group, Name: "The " + group, Members: others,
		Visibility: visibility, Join: join, Keep: &keep, BacklogMax: &backlog, History: &history, MentionAll: chat.MentionMembers})
	expect(t, "create", err, "")
	if m.epochs[got.Epoch] || got.Epoch == "" {
		t.Fatalf("create %s: epoch %q was used before", group, got.Epoch)
	}
	m.epochs[got.Epoch] = true
	g := &modelGroup{epoch: got.Epoch, before: m.lives[group], archived: m.archive != nil, marks: map[int64]string{}, keep: keep, backlogMax: backlog, history: history, public: visibility == chat.Public,
		rules: modelRules{slowed: map[string]bool{}, muted: map[string]bool{}, banned: map[string]bool{}, why: map[string]string{}, join: join, asked: map[string]bool{}}, messages: map[int64]*modelMessage{}, members: map[string]*modelMember{}, sent: map[string]modelSend{}, reacted: map[string]int64{}, threads: newModelThreads()}
	m.groups[group], m.lives[group] = g, got.Epoch
	g.last = 1
	g.messages[1] = &modelMessage{from: user, kind: chat.Notice}
	g.members[user] = newModelMember(g, chat.Owner, 1)
	if len(others) > 0 { // all with one notice
		g.last++
		g.messages[g.last] = &modelMessage{from: user, kind: chat.Notice}
	}
	for _, u := range others {
		g.members[u] = newModelMember(g, chat.Ordinary, g.last)
	}
	g.free()
}

// newModelMember is a member who has just joined at the notice id joined.
func newModelMember(g *modelGroup, role chat.Role, joined int64) *modelMember {
	start := g.cut
	if !g.history {
		start = joined - 1
	}
	return &modelMember{role: role, joined: joined, seen: start, read: start, since: joined}
}

func (m *machine) draft(t *rapid.T, user, group string) chat.Content {
	m.serial++
	body := fmt.Sprintf("m%d %s \"<&>\\\n\u2028", m.serial, oneOf(t, "word", machineWords...))
	d := chat.Content{Body: &body}
	if oneOf(t, "keyed", true, false) {
		d.ClientID = fmt.Sprintf("k%d", m.serial)
	}
	if rapid.IntRange(0, 3).Draw(t, "mentions") == 0 {
		d.Mentions = []string{oneOf(t, "mentioned", append([]string{chat.MentionAll}, machineUsers...)...)}
	}
	if m.clock != nil {
		d.ExpireS = oneOf[int64](t, "expire_s", 0, 0, 0, 3600, daySeconds, machineFar)
	}
	return d
}

func (m *machine) send(t *rapid.T, user, group string) {
	d := m.draft(t, user, group)
	verdict := m.hook.draw(t)
	sent, err := m.service.Send(m.ctx, caller(user), group, d, "")
	m.hook.done(t, err)
	if m.member(group, user) == nil {
		expect(t, "send from outside", err, m.outsider(group))
		return
	}
	g := m.groups[group]
	if code := g.forbids(user, chat.Text); code != "" {
		expect(t, "send against a rule", err, code)
		return
	}
	if g.full(user) {
		expect(t, "send while others are behind", err, chat.CodeBacklogFull)
		return
	}
	first := modelSend{content: contentOf(d), expireS: d.ExpireS}
	held := modelReview{group: group, from: user, kind: chat.Text, body: *d.Body, mentions: d.Mentions, expireS: d.ExpireS}
	if m.kept(t, verdict, "a text", held, err, &first) {
		if d.ClientID != "" && first.review != "" {
			g.sent[user+"/"+d.ClientID] = first
		}
		return
	}
	expect(t, "send", err, "")
	g.noteSent(user)
	id := g.append(user, &modelMessage{from: user, kind: chat.Text, body: verdict.text(*d.Body), mentions: g.mentioned(d.Mentions)})
	m.ends(t, group, id, d.ExpireS)
	if sent.ID != id || sent.Duplicate {
		t.Fatalf("send: got id %d duplicate %v, want id %d", sent.ID, sent.Duplicate, id)
	}
	if d.ClientID != "" {
		first.id = id
		g.sent[user+"/"+d.ClientID] = first
	}
}

// contentOf is what a retry sends again.
func contentOf(d chat.Content) string { return *d.Body + strings.Join(d.Mentions, ",") }

// retry sends again what was sent before, with the same key: the first answer, or with other content a refusal.
func (m *machine) retry(t *rapid.T, user, group string) {
	g := m.groups[group]
	var keys []string
	for k := range g.sent {
		if strings.HasPrefix(k, user+"/") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	key := oneOf(t, "key", keys...)
	first := g.sent[key]
	body, mention, _ := strings.Cut(first.content, "\u2028")
	body += "\u2028"
	d := chat.Content{Body: &body, ClientID: strings.TrimPrefix(key, user+"/"), Thread: first.thread, ExpireS: first.expireS}
	if mention != "" {
		d.Mentions = []string{mention}
	}
	m.hook.draw(t)
	defer m.hook.silent(t) // it was asked the first time
	if g.members[user] == nil {
		_, err := m.service.Send(m.ctx, caller(user), group, d, "")
		expect(t, "retry from outside", err, m.outsider(group))
		return
	}
	again, err := m.service.Send(m.ctx, caller(user), group, d, "")
	if first.review != "" {
		if r := inReview(t, "retry of what was held", err); r != first.review {
			t.Fatalf("retry: got the review %q, want %q", r, first.review)
		}
	} else {
		expect(t, "retry", err, "")
		if again.ID != first.id || !again.Duplicate {
			t.Fatalf("retry: got id %d duplicate %v, want %d and a duplicate", again.ID, again.Duplicate, first.id)
		}
	}
	other := body + "x"
	d.Body = &other
	_, err = m.service.Send(m.ctx, caller(user), group, d, "")
	expect(t, "key reused", err, chat.CodeKeyReused)
}

// device is the one of a user in a group.
func (m *machine) device(user, group string) *device {
	return m.devices[slices.IndexFunc(m.devices, func(d *device) bool { return d.user == user && d.group == group })]
}

// pull goes on with a device from its own cursor: by the cursor string, or by the id alone.
func (m *machine) pull(t *rapid.T, user, group string) {
	d := m.device(user, group)
	after := d.cursor
	if after == "" || !m.faults && oneOf(t, "by id", true, false) && d.epoch == m.groups[group].epoch {
		after = strconv.FormatInt(d.at, 10)
	}
	limit := rapid.IntRange(1, 8).Draw(t, "limit")
	b, _, err := m.service.Pull(m.ctx, caller(user), group, chat.PullQuery{After: &after, Limit: limit})
	if m.member(group, user) == nil {
		expect(t, "pull from outside", err, m.outsider(group))
		return
	}
	expect(t, "pull", err, "")
	m.checkBatch(t, b, user, group, limit)
	m.took(t, d, b, strings.Contains(after, "."))
}

// took gives a batch to a device that asked with its own position. by cursor: it named more than the id.
func (m *machine) took(t *rapid.T, d *device, b chat.Batch, byCursor bool) {
	g, user := m.groups[d.group], d.user
	if byCursor && g.lost(d.held) {
		expect(t, "pull from a log that is not the device's", nil, "")
		if b.Complete || b.From != g.visible(user) {
			t.Fatalf("pull after %s, which is not of %s %d: complete is %v, from %d; want false, %d", d.cursor, g.epoch, g.last,
				b.Complete, b.From, g.visible(user))
		}
	} else {
		from := max(d.at, g.visible(user)-1)
		if d.at > g.last {
			from = b.From - 1
		}
		if b.From != from+1 {
			t.Fatalf("pull after %d (%s): batch begins at %d, want %d", d.at, d.cursor, b.From, from+1)
		}
		whole := d.at >= g.below() || !g.history && g.members[user].joined > g.below()
		if whole = whole && d.at <= g.last; b.Complete != whole {
			t.Fatalf("pull after %d: complete is %v, want %v (first %d, last %d)", d.at, b.Complete, whole, g.below()+1, g.last)
		}
	}
	held, err := chat.ParsePosition(b.Cursor)
	m.must(t, err)
	d.cursor, d.held, d.at, d.epoch = b.Cursor, held, b.To, b.Epoch
}

// checkBatch holds for every batch whatever was asked.
func (m *machine) checkBatch(t *rapid.T, b chat.Batch, user, group string, limit int) {
	g := m.groups[group]
	if b.Epoch != g.epoch || b.Last != g.last || b.First != g.visible(user) {
		t.Fatalf("batch: got epoch %s first %d last %d, want %s %d %d", b.Epoch, b.First, b.Last, g.epoch, g.visible(user), g.last)
	}
	if b.To != b.From-1+int64(len(b.Messages)) || len(b.Messages) > limit {
		t.Fatalf("batch %d..%d holds %d messages (limit %d)", b.From, b.To, len(b.Messages), limit)
	}
	if b.HasMore != (b.To < g.last) {
		t.Fatalf("batch %d..%d of %d says has_more %v", b.From, b.To, g.last, b.HasMore)
	}
	for i, msg := range b.Messages {
		id := b.From + int64(i)
		if msg.ID != id {
			t.Fatalf("batch from %d: place %d holds id %d", b.From, i, msg.ID)
		}
		m.checkServed(t, user, group, msg)
	}
	if len(b.Messages) > 0 && b.From < g.visible(user) {
		t.Fatalf("%s was served %d, below what is visible (%d)", user, b.From, g.visible(user))
	}
	unread, _ := g.unread(user)
	if b.Unread != unread || b.Seen != g.members[user].seen || b.Read != g.members[user].read {
		t.Fatalf("batch for %s: got seen %d read %d unread %d, want %d %d %d", user, b.Seen, b.Read, b.Unread,
			g.members[user].seen, g.members[user].read, unread)
	}
}

func (m *machine) position(t *rapid.T, group string) int64 {
	return int64(evenly(t, "id", int(m.groups[group].last+2)))
}

func (m *machine) ack(t *rapid.T, user, group string) {
	m.move(t, user, group, chat.At(m.position(t, group)), false)
}
func (m *machine) read(t *rapid.T, user, group string) {
	m.move(t, user, group, chat.At(m.position(t, group)), true)
}

func (m *machine) move(t *rapid.T, user, group string, at chat.Position, read bool) {
	call := m.service.Ack
	if read {
		call = m.service.Read
	}
	id := at.ID
	got, err := call(m.ctx, caller(user), group, at)
	g, w := m.groups[group], m.member(group, user)
	switch {
	case w == nil:
		expect(t, "ack from outside", err, m.outsider(group))
		return
	case g.refuses(at):
		expect(t, "ack of a log that is not the device's", err, chat.CodeConflict)
		return
	case id > g.last:
		expect(t, "ack above last", err, chat.CodeOutOfRange)
		return
	}
	expect(t, "ack", err, "")
	w.seen = max(w.seen, id)
	if read {
		w.read = max(w.read, id)
	}
	g.free()
	infos, err := m.stores.Infos(m.ctx, user, []string{group})
	expect(t, "info", err, "")
	m.sawCut(t, group, infos[0].Held) // what the ack has trimmed is not unread
	m.checkCursors(t, got, user, group)
}

func (m *machine) checkCursors(t *rapid.T, got chat.Cursors, user, group string) {
	g, w := m.groups[group], m.member(group, user)
	unread, _ := g.unread(user)
	if want := (chat.Cursors{Seen: w.seen, Read: w.read, Unread: unread}); got != want {
		t.Fatalf("cursors of %s in %s: got %+v, want %+v", user, group, got, want)
	}
}

func (m *machine) markUnread(t *rapid.T, user, group string) {
	g, w := m.groups[group], m.member(group, user)
	id := 1 + int64(evenly(t, "id", int(g.last)))
	got, err := m.service.Unread(m.ctx, caller(user), group, id)
	if w == nil {
		expect(t, "unread from outside", err, m.outsider(group))
		return
	}
	expect(t, "unread", err, "")
	// What lies below the reader's sight cannot become unread; how far back the mark goes there is the service's.
	if low := g.visible(user) - 1; id-1 >= low {
		w.read = min(w.read, id-1)
	} else {
		w.read = min(w.read, max(got.Read, id-1))
	}
	m.checkCursors(t, got, user, group)
}

// restarted stops the node and starts it again on the same data.
func (m *machine) restarted(t *rapid.T, _, _ string) { m.use(m.restart()) }

// check compares what every user can see of the group with the model.
func (m *machine) check(t *rapid.T, group string) {
	g := m.groups[group]
	end, err := m.stores.Lasts(m.ctx, []string{group})
	if err != nil {
		t.Fatal(err)
	}
	if g == nil {
		if end[0].Epoch != "" {
			t.Fatalf("%s is gone, the store says it ends at %+v", group, end[0])
		}
		return
	}
	m.checkPins(t, group) // it may archive the group, which is then trimmed
	m.checkReviews(t, group)
	m.checkReports(t, group)
	infos := map[string]chat.Info{}
	for _, u := range machineUsers {
		got, err := m.stores.Infos(m.ctx, u, []string{group})
		if err != nil {
			t.Fatal(err)
		}
		infos[u] = got[0]
	}
	first := infos[machineUsers[0]].Held
	if first-1 < g.cut {
		t.Fatalf("T2: first of %s went back from %d to %d", group, g.cut+1, first)
	}
	if first-1 > g.freed {
		t.Fatalf("T1: %s is trimmed up to %d, the rules allow %d", group, first-1, g.freed)
	}
	g.cut = first - 1
	for _, u := range machineUsers {
		m.checkInfo(t, infos[u], u, group)
	}
	stored, _, err := m.stores.Range(m.ctx, group, first, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(stored)) != g.last-g.cut {
		t.Fatalf("L8: %s holds %d messages, want %d..%d", group, len(stored), first, g.last)
	}
	for i, msg := range stored {
		id := first + int64(i)
		if msg.ID != id {
			t.Fatalf("L1: %s: place %d holds id %d, want %d", group, i, msg.ID, id)
		}
		if err := g.messages[id].check(id, group, msg.JSON); err != nil {
			t.Fatal(err)
		}
		m.mark(t, g, id, msg.Mark)
	}
	m.checkThreads(t, group)
	m.mark(t, g, g.last, infos[machineUsers[0]].LastMark)
	if g.cut > 0 {
		trimmed := infos[machineUsers[0]].Trimmed
		if trimmed.ID != g.cut {
			t.Fatalf("%s is trimmed up to %d, and knows the mark of %d", group, g.cut, trimmed.ID)
		}
		m.mark(t, g, g.cut, trimmed.Mark)
	}
}

// checkServed compares an entry as a user was served it with what it must be.
func (m *machine) checkServed(t *rapid.T, user, group string, msg chat.Message) {
	g := m.groups[group]
	if known := g.marks[msg.ID]; known != "" && known != msg.Mark {
		t.Fatalf("%s was served message %d of %s with mark %q, it is %q", user, msg.ID, group, msg.Mark, known)
	}
	shown := *g.shownTo(user, msg.ID)
	shown.loses = shown.loses || shown.kind == chat.Reaction && m.doubts.of(g.marks[shown.target])
	err := shown.check(msg.ID, group, msg.JSON)
	if err != nil && !m.doubts.allows(g.messages[msg.ID], group, msg) {
		t.Fatal(err)
	}
}

// mark notes the mark of an entry, which never changes.
func (m *machine) mark(t *rapid.T, g *modelGroup, id int64, mark string) {
	if known := g.marks[id]; mark == "" || known != "" && known != mark {
		t.Fatalf("L3: message %d has mark %q, had %q", id, mark, known)
	}
	g.marks[id] = mark
}
