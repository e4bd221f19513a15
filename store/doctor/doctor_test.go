package doctor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/store/embedded"
)

// fixture is a store with groups that users have used.
type fixture struct {
	*chattest.Bench
	t        *testing.T
	server   *redistest.Server
	webhooks *webhook.Service

	announces *announce.Service
	announced string // the id of an announcement, {id} in damages
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, redistest.Start(t, "--appendonly", "yes"))
}

func newFixtureOn(t *testing.T, server *redistest.Server) *fixture {
	t.Helper()
	h := &fixture{Bench: chattest.Open(t, server.URL()), t: t, server: server}
	h.webhooks = webhook.New(h.Service, h.Store, nil)
	h.announces = announce.New(h.Service, h.Store)
	chattest.Work(t, h.Store, h.Service, h.webhooks, h.announces)
	return h
}

// live lets users do in a group what users do.
func (h *fixture) live(group string) {
	h.t.Helper()
	visibility := chat.Public
	h.MakeGroup(chat.GroupDraft{ID: group, Name: group, Visibility: visibility}, "alice", "bob", "carl", "dora")
	keys := 0
	send := func(user string, c chat.Content) int64 {
		keys++
		c.ClientID = fmt.Sprint(keys)
		sent, err := h.Send(h.Ctx, chattest.As(user), group, c, "")
		h.Must(err)
		return sent.ID
	}
	body := "hello @bob"
	first := send("alice", chat.Content{Body: &body, Mentions: []string{"bob", "dora"}})
	everybody := "hello @all"
	send("alice", chat.Content{Body: &everybody, Mentions: []string{chat.MentionAll}})
	for i := range 80 {
		h.Say([]string{"alice", "bob", "carl"}[i%3], group, fmt.Sprint("text ", i))
	}
	last := h.Say("bob", group, "the last").ID
	for _, user := range []string{"alice", "carl"} {
		send(user, chat.Content{Kind: chat.Reaction, Target: last, Emoji: ":+1:"})
	}
	send("carl", chat.Content{Kind: chat.Reaction, Target: last, Emoji: ":heart:"})
	send("alice", chat.Content{Kind: chat.Reaction, Target: last, Emoji: ":+1:", Removed: true})
	gone := h.Say("carl", group, "gone").ID
	send("bob", chat.Content{Kind: chat.Reaction, Target: gone, Emoji: ":+1:"})
	send("carl", chat.Content{Kind: chat.Delete, Target: gone})
	edited := "hello @bob!"
	send("alice", chat.Content{Kind: chat.Edit, Target: first, Body: &edited})
	_, err := h.Ack(h.Ctx, chattest.As("bob"), group, chat.At(last))
	h.Must(err)
	h.Must(h.RemoveMember(h.Ctx, chattest.As("dora"), group, "dora"))
	h.Must(pins.New(h.Service, h.Store, h.Store).Pin(h.Ctx, chattest.As("alice"), group, last))
}

func (h *fixture) examine(repair bool) doctor.Report {
	h.t.Helper()
	d, err := doctor.New(h.Store, doctor.Options{Repair: repair, ArchiveID: func(ctx context.Context) (string, error) {
		state, err := h.Store.ArchiveState(ctx)
		return state.ID, err
	}})
	h.Must(err)
	report, err := d.Run(h.Ctx)
	h.Must(err)
	if !report.Complete {
		h.t.Error("the report is not complete")
	}
	return report
}

// sound fails the test if anything is found.
func (h *fixture) sound() doctor.Report {
	h.t.Helper()
	report := h.examine(false)
	for _, f := range report.Findings {
		h.t.Errorf("found in a sound store: %+v", f)
	}
	return report
}

// damage is done by hand, as one command. {g} stands for the key of a group, {u} for that of a user, ~ for a blank in
// an argument.
type damage struct {
	command string
	kind    doctor.Kind
	key     string // of the finding
	repairs bool
}

func (h *fixture) keys(text string) string {
	return strings.NewReplacer("{g}", "chat:{p00}:g:g1:", "{u}", "chat:{p00}:u:", "{p}", "chat:{p00}:", "{id}", h.announced).Replace(text)
}

func (h *fixture) breaks(t *testing.T, d damage) {
	t.Helper()
	h.t = t
	var args []string
	for _, word := range strings.Split(h.keys(d.command), " ") {
		args = append(args, strings.NewReplacer("~", " ", `\0`, "\x00").Replace(word))
	}
	named := func(report doctor.Report) bool {
		return slices.ContainsFunc(report.Findings, func(f doctor.Finding) bool {
			return f.Kind == d.kind && f.Key == h.keys(d.key) && (f.Repair != "") == d.repairs
		})
	}
	if named(h.examine(false)) {
		t.Fatal("found before the damage")
	}
	h.server.Do(args...)
	report := h.examine(false)
	if !named(report) {
		t.Errorf("got findings %+v, want %s of %s", report.Findings, d.kind, h.keys(d.key))
	}
	report = h.examine(true)
	if open := report.Open(); (open == 0) != d.repairs {
		t.Errorf("%d findings are open after a repair: %+v", open, report.Findings)
	}
	if left := h.examine(false).Findings; (len(left) == 0) != d.repairs {
		t.Errorf("left after a repair: %+v", left)
	}
}

func TestSoundStore(t *testing.T) {
	h := newFixture(t)
	for i := range 3 {
		h.live(fmt.Sprint("g", i))
	}
	report := h.sound()
	if report.Groups != 3 || report.Server.Kind != "redis" || report.Server.Layout != 1 || !strings.HasPrefix(report.Server.Persistence, "aof") {
		t.Errorf("got report %+v", report)
	}
	// A deleted group causes no finding, at any moment of its cleanup.
	h.Must(h.DeleteGroup(h.Ctx, chattest.As("alice"), "g2"))
	h.sound()
}

func TestGroupDamage(t *testing.T) {
	for _, d := range []damage{
		{"HDEL {g}meta history", doctor.KindGroup, "{g}meta", false},
		{"HSET {g}meta mark zzzzzz", doctor.KindLog, "{g}meta", false},
		{"HSET {g}meta trimmed 99", doctor.KindLog, "{g}meta", false},
		{"INCR {g}id", doctor.KindLog, "{g}msgs", false},
		{"ZREMRANGEBYRANK {g}msgs 5 5", doctor.KindLog, "{g}msgs", false},
		{"ZADD {g}msgs 80 no_message", doctor.KindLog, "{g}msgs", false},
		{"DEL {g}meta", doctor.KindGroup, "{g}msgs", false},
		{"HDEL {g}members bob", doctor.KindMember, "{g}joined", false},
		{"ZREM {g}seen bob", doctor.KindCursor, "{g}seen", false},
		{"ZADD {g}seen 5000 bob", doctor.KindCursor, "{g}seen", false},
		{"ZADD {g}read 88 carl", doctor.KindCursor, "{g}read", false},
		{"ZADD {g}seen 50 eve", doctor.KindOrphan, "{g}seen", true},
		{"ZREM {g}managers alice", doctor.KindMember, "{g}managers", true},
		{"ZADD {g}managers 3 bob", doctor.KindMember, "{g}managers", true},
		{"HSET {g}meta owner bob", doctor.KindMember, "{g}meta", false},
		{"ZADD {g}skip 10 10", doctor.KindCount, "{g}skip", true},
		{"ZREM {g}skip 1", doctor.KindCount, "{g}skip", true},
		{"ZADD {g}by:bob 5000 5000", doctor.KindCount, "{g}by:bob", false},
		{"ZREM {g}senders bob", doctor.KindOrphan, "{g}by:bob", true},
		{"ZADD {g}at:eve 7 7", doctor.KindOrphan, "{g}at:eve", true},
		{"DEL {g}at:@all", doctor.KindCount, "{g}at:alice", false},
		{"ZADD {g}at:alice -5000 5000", doctor.KindCount, "{g}at:alice", false},
		{"HDEL {g}meta alls", doctor.KindCount, "{g}at:@all", false},
		{"ZADD {g}at:@all 5000 5000", doctor.KindCount, "{g}at:@all", false},
		{"ZADD {p}g:nowhere:at:@all 7 7", doctor.KindOrphan, "{p}g:nowhere:at:@all", true},
		{"HSET {g}data eve {}", doctor.KindOrphan, "{g}data", true},
		{"ZADD {g}kept 7 9_{}", doctor.KindOrphan, "{g}kept", true},
		{"HSET {g}sent:alice x 5000~1~m~c", doctor.KindRetry, "{g}sent:alice", false},
		{"ZADD {p}g:nowhere:by:bob 7 7", doctor.KindOrphan, "{p}g:nowhere:by:bob", true},
		{"ZREM {p}public g1\\0g1", doctor.KindPublic, "{g}meta", true},
		{"ZREM {p}named =g1\\0g1", doctor.KindListed, "{g}meta", true},
		{"HSET {g}meta folded other", doctor.KindListed, "{g}meta", true},
		{"ZADD {p}named 0 >old\\0g1", doctor.KindListed, "{p}named", true},
		{"ZADD {p}named 0 =nowhere\\0nowhere", doctor.KindListed, "{p}named", true},
		{"DEL {g}pins", doctor.KindOrphan, "{g}pinned", true},
		{"DEL {g}pinned", doctor.KindOrphan, "{g}pins", true},
		{"HSET {g}pins 5 80~0~0~alice~bob", doctor.KindOrphan, "{g}pins", true},
		{"EVAL redis.call('HSET',KEYS[1],redis.call('HKEYS',KEYS[1])[1],'other') 1 {g}pinned", doctor.KindGroup, "{g}pins", true},
		{"HDEL {g}meta pinned", doctor.KindGroup, "{g}pins", true},
		{"ZADD {g}reactions 87 87~star~3", doctor.KindCount, "{g}reactions", true},
		{"DEL {g}reactions", doctor.KindCount, "{g}reactions", true},
		{"ZREMRANGEBYRANK {g}msgs 0 9", doctor.KindLog, "{g}msgs", false},
		{"ZADD {g}senders 5 no~body", doctor.KindName, "{g}senders", false},
		{"ZADD {g}waiting 0 no~body", doctor.KindName, "{g}waiting", false},
		{"SET {p}something else", doctor.KindUnknown, "{p}something", false},
		{"SET {g}at:carl else", doctor.KindType, "{g}at:carl", false},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			h.breaks(t, d)
		})
	}
}

// TestNoFalseFindings walks repeatedly while users send, ack, join and leave.
func TestNoFalseFindings(t *testing.T) {
	h := newFixture(t)
	h.live("g1")
	h.live("g2")
	ctx, stop := context.WithCancel(h.Ctx)
	var writing sync.WaitGroup
	for _, user := range []string{"eve", "finn"} {
		writing.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				group := []string{"g1", "g2"}[i%2]
				_, _, err := h.PutMember(ctx, chattest.As(user), group, user, chat.Ordinary)
				if err != nil {
					return
				}
				body := "hi"
				sent, err := h.Send(ctx, chattest.As(user), group, chat.Content{Body: &body, Mentions: []string{"bob"}, ClientID: fmt.Sprint("k", i)}, "")
				if err != nil {
					return
				}
				_, _ = h.Send(ctx, chattest.As(user), group, chat.Content{Kind: chat.Reaction, Target: sent.ID, Emoji: ":+1:"}, "")
				reply, _ := h.Send(ctx, chattest.As(user), group, chat.Content{Body: &body, Thread: sent.ID, Mentions: []string{"carl"}}, "")
				if i%4 == 0 {
					_, _ = h.Send(ctx, chattest.As(user), group, chat.Content{Kind: chat.Delete, Target: reply.ID}, "")
				}
				_, _ = h.Ack(ctx, chattest.As("bob"), group, chat.At(sent.ID))
				if i%3 == 0 {
					_ = h.RemoveMember(ctx, chattest.As(user), group, user)
				}
			}
		})
	}
	for range 10 {
		report := h.examine(false)
		for _, f := range report.Findings {
			if f.Kind != doctor.KindUnchecked {
				t.Errorf("found in a sound store: %+v", f)
			}
		}
	}
	stop()
	writing.Wait()
}

// TestRetentionIsNoDamage: what went because of its age was not seen by all, and less than is kept may be left.
func TestRetentionIsNoDamage(t *testing.T) {
	h := newFixture(t)
	days := int64(1)
	h.MakeGroup(chat.GroupDraft{ID: "old", RetainDays: &days}, "ann", "bob")
	for range 30 {
		h.Say("ann", "old", "x")
	}
	retain := retention.New(h.Store, nil, retention.Options{})
	a, err := h.Store.Aging(h.Ctx, "old")
	h.Must(err)
	chattest.Done(t, retain.Handlers()[retention.TaskRetain], retention.Task{Group: "old", Epoch: a.Epoch, Days: days})
	if a, err = h.Store.Aging(h.Ctx, "old"); err != nil || a.First != a.Last+1 {
		t.Fatalf("%+v, %v: the clock of the test is not in the past", a, err)
	}
	h.sound()
	h.Say("ann", "old", "y")
	h.sound()
}

func TestUserDamage(t *testing.T) {
	for _, d := range []damage{
		{"ZREM {u}bob:groups g1", doctor.KindIndex, "{u}bob:groups", true},
		{"ZADD {u}eve:groups 0 g1", doctor.KindIndex, "{u}eve:groups", true},
		{"ZADD {u}bob:groups 5000 g1", doctor.KindIndex, "{u}bob:groups", true},
		{"ZADD {u}bob:groups 0 nowhere", doctor.KindIndex, "{u}bob:groups", true},
		{"RPUSH {u}bob:inbox no_item", doctor.KindInbox, "{u}bob:inbox:base", false},
		{"LPOP {u}bob:inbox", doctor.KindInbox, "{u}bob:inbox:base", false},
		{"HSET {u}bob:inbox:base acked 5000", doctor.KindInbox, "{u}bob:inbox:base", false},
		{"HDEL {u}bob:inbox:base epoch", doctor.KindInbox, "{u}bob:inbox:base", false},
		{"HSET {u}bob:inbox:sent:eve k 1~1~-~c", doctor.KindOrphan, "{u}bob:inbox:sent:eve", true},
		{"ZADD {u}bob:inbox:server 5000 5000", doctor.KindInbox, "{u}bob:inbox:server", false},
		{"ZADD {u}bob:inbox:by:eve 5000 5000", doctor.KindInbox, "{u}bob:inbox:by:eve", false},
		{"ZADD {u}bob:inbox:senders 0 eve", doctor.KindName, "{u}bob:inbox:senders", false},
		{"HSET {u}bob:strangers eve -5", doctor.KindName, "{u}bob:strangers", false},
		{"HSET {u}bob:devices d 1~push~-~{}", doctor.KindOrphan, "{u}bob:devices", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			h.breaks(t, d)
		})
	}
}

func TestQueueDamage(t *testing.T) {
	for _, d := range []damage{
		{"HINCRBY {p}q:core:counts enqueued 3", doctor.KindQueue, "{p}q:core:counts", true},
		{"HINCRBY {p}q:egress:counts dead_bytes 5", doctor.KindQueue, "{p}q:egress:counts", true},
		{"HSET {p}q:egress:tasks p00-x normal~0~0~1~1~webhook~", doctor.KindQueue, "{p}q:egress:tasks", false},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			h.breaks(t, d)
		})
	}
}

// TestScheduleDamage: a schedule that waits, and one that has ended.
func TestScheduleDamage(t *testing.T) {
	for _, d := range []damage{
		{"the task of what waits", doctor.KindSchedule, "", true},
		{"the task that forgets what has ended", doctor.KindSchedule, "", true},
		{"the schedule of a task", doctor.KindSchedule, "{p}q:core:tasks", true},
		{"the entry in the index", doctor.KindIndex, "{u}alice:schedules", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			schedules := schedule.New(h.Service, h.Store, h.webhooks)
			body, at := "later", time.Now().Add(24*time.Hour)
			later := func() string {
				s, err := schedules.Create(h.Ctx, chattest.As("alice"), schedule.Draft{Group: "g1", Content: chat.Content{Body: &body}, At: &at})
				h.Must(err)
				return s.ID
			}
			waits, ended := later(), later()
			h.Must(schedules.Cancel(h.Ctx, chattest.As("alice"), ended))
			h.sound()
			switch d.command {
			case "the task of what waits":
				d.command, d.key = "EVAL "+dropTask+" 2 {p}q:core:tasks {p}q:core:delayed "+waits+".1", "{p}s:"+waits
			case "the task that forgets what has ended":
				d.command, d.key = "EVAL "+dropTask+" 2 {p}q:core:tasks {p}q:core:delayed "+ended+".end", "{p}s:"+ended
			case "the schedule of a task":
				d.command = "DEL {p}s:" + waits
			default:
				d.command = "ZREM {u}alice:schedules " + waits
			}
			h.breaks(t, d)
		})
	}
}

// dropTask loses a task; blanks stand as tildes.
const dropTask = `redis.call('HDEL',KEYS[1],ARGV[1])~return~redis.call('ZREM',KEYS[2],ARGV[1])`

func TestInterrupt(t *testing.T) {
	h := newFixture(t)
	h.live("g1")
	ctx, stop := context.WithCancel(h.Ctx)
	d, err := doctor.New(h.Store, doctor.Options{Progress: func(int64, int64) { stop() }})
	h.Must(err)
	h.server.Do("SET", "chat:{p00}:strange", "x")
	for i := range 500 {
		h.server.Do("SET", fmt.Sprint("other:", i), "x")
	}
	report, err := d.Run(ctx)
	if err != nil || report.Complete || report.Keys == 0 {
		t.Errorf("got %+v, %v; want an incomplete report", report, err)
	}
	text, err := json.Marshal(report)
	if err != nil || !strings.Contains(string(text), `"complete":false`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestRights: a user with the documented rights can run the doctor; for one with fewer, it names those that are
// missing.
func TestRights(t *testing.T) {
	rules, err := os.ReadFile("../../docs/redis.acl")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
	server := redistest.Start(t, "--appendonly", "yes", "--aclfile", file)
	h := &fixture{Bench: chattest.Open(t, strings.Replace(server.URL(), "://", "://chatd:change-this-password@", 1)), t: t, server: server}
	chattest.Work(t, h.Store, h.Service)
	h.live("g1")
	h.sound()
	server.Do("ACL", "SETUSER", "chatd", "-publish", "-zmscore")
	d, err := doctor.New(h.Store, doctor.Options{})
	h.Must(err)
	report, err := d.Check(h.Ctx)
	h.Must(err)
	if got := report.Server.MissingRights; !slices.Equal(got, []string{"publish", "zmscore"}) {
		t.Errorf("missing rights: got %v", got)
	}
	if len(report.Findings) != 1 || report.Findings[0].Kind != doctor.KindRights {
		t.Errorf("got findings %+v", report.Findings)
	}
	if n := server.Int("EXISTS", "chat:{p00}:doctor"); n != 0 {
		t.Error("asking for rights has written something")
	}
	server.Do("ACL", "SETUSER", "chatd", "+publish", "+zmscore")
	h.sound()
}

// TestServerFindings: a server that is unfit for messages is examined all the same, and reported.
func TestServerFindings(t *testing.T) {
	server := redistest.Start(t)
	h := &fixture{Bench: chattest.Open(t, server.URL()), t: t, server: server}
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "save", "", "appendonly", "no")
	s, err := store.Open(h.Ctx, store.Options{URL: server.URL(), Existing: true})
	h.Must(err)
	defer func() { _ = s.Close() }()
	d, err := doctor.New(s, doctor.Options{})
	h.Must(err)
	report, err := d.Run(h.Ctx)
	h.Must(err)
	var kinds []string
	for _, f := range report.Findings {
		kinds = append(kinds, string(f.Kind))
	}
	if !slices.Equal(kinds, []string{"persistence", "eviction"}) {
		t.Errorf("got findings %v", kinds)
	}
}

// TestEmbeddedStore: the same checks for a store in this process, with several partitions.
func TestEmbeddedStore(t *testing.T) {
	server, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	s, err := store.Open(t.Context(), store.Options{Embedded: server, Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	h := &fixture{t: t, Bench: &chattest.Bench{Service: chat.New(s, chat.Options{Limits: chat.DefaultLimits()}), T: t, Ctx: t.Context(), Store: s}}
	for i := range 4 {
		h.live(fmt.Sprint("g", i))
	}
	// There are no workers: if the index lags behind, the task that updates it is waiting.
	h.Must(s.DropUserGroup(t.Context(), "carl", "g0"))
	if report := h.sound(); report.Groups != 4 || report.Server.Kind != "embedded" || report.Server.Partitions != 4 {
		t.Errorf("got report %+v", report)
	}
	index := fmt.Sprintf("chat:{p%02d}:u:eve:groups", queue.Partition("eve", 4))
	h.Must(s.Client().Eval(t.Context(), `return redis.call('ZADD', KEYS[1], 0, 'nowhere')`, []string{index}).Err())
	report := h.examine(true)
	if len(report.Findings) != 1 || report.Open() != 0 || report.Findings[0].Kind != doctor.KindIndex {
		t.Errorf("got %+v", report)
	}
	h.sound()
}
