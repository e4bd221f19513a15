package erase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var root = chattest.Operator("root")

// secret stands in everything that alice writes, and in nothing else.
const secret = "xyzzy"

type bench struct {
	*chattest.Bench
	*erase.Service
	server    *redistest.Server
	schedules *schedule.Service
	webhooks  *webhook.Service
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server := redistest.Start(t)
	b := chattest.Open(t, server.URL())
	webhooks := webhook.New(b.Service, b.Store, nil)
	return &bench{b, erase.New(b.Service, b.Store, b.Store, nil, b.Store, webhooks), server, schedule.New(b.Service, b.Store, webhooks), webhooks}
}

// erase erases a user to the end.
func (b *bench) erase(user string) erase.Erasure {
	b.T.Helper()
	e, err := b.Begin(b.Ctx, root, user)
	b.Must(err)
	b.run(e.ID)
	return b.get(e.ID)
}

// run runs the task of an erasure to its end, twice.
func (b *bench) run(id string) {
	b.T.Helper()
	b.carryOut(erase.TaskErase, erase.Task{Erasure: id})
}

// carryOut runs a task to its end as the engine does: on a slow machine a database may not answer in time, and the task waits.
func (b *bench) carryOut(kind string, payload any) {
	b.T.Helper()
	handlers := b.Service.Handlers()
	maps.Copy(handlers, b.webhooks.Handlers())
	for pause := chattest.Do(b.T, handlers[kind], payload); pause > 0; pause = chattest.Do(b.T, handlers[kind], payload) {
		b.T.Logf("%s waits for %v", kind, pause)
		<-time.After(pause)
	}
}

func (b *bench) get(id string) erase.Erasure {
	b.T.Helper()
	e, err := b.Get(b.Ctx, root, id)
	b.Must(err)
	return e
}

func (b *bench) send(user, group string, c chat.Content) int64 {
	b.T.Helper()
	sent, err := b.Send(b.Ctx, chattest.As(user), group, c, "")
	b.Must(err)
	return sent.ID
}

func (b *bench) direct(from, to, body string) {
	b.T.Helper()
	_, _, err := b.SendDirect(b.Ctx, chattest.As(from), to, chat.Direct{Body: &body, ClientID: "d"})
	b.Must(err)
}

// nowhere checks that no key of the store, nor its name, holds a text.
func (b *bench) nowhere(text string) {
	b.T.Helper()
	keys, _ := b.server.Do("KEYS", "*").([]any)
	for _, key := range keys {
		name, _ := key.(string)
		var all any
		switch kind, _ := b.server.Do("TYPE", name).(string); kind {
		case "string":
			all = b.server.Do("GET", name)
		case "hash":
			all = b.server.Do("HGETALL", name)
		case "list":
			all = b.server.Do("LRANGE", name, "0", "-1")
		case "set":
			all = b.server.Do("SMEMBERS", name)
		case "zset":
			all = b.server.Do("ZRANGE", name, "0", "-1")
		}
		if strings.Contains(fmt.Sprint(name, all), text) {
			b.T.Errorf("%s holds %q: %v", name, text, all)
		}
	}
}

func text(body string, change ...func(*chat.Content)) chat.Content {
	c := chat.Content{Kind: chat.Text, Body: &body}
	for _, f := range change {
		f(&c)
	}
	return c
}

// TestErasure: everything that alice wrote and owned goes, and nothing of others.
func TestErasure(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "asked", Visibility: chat.Public, Join: chat.JoinAsk}, "bob")
	_, _, err := b.Store.Ask(b.Ctx, "asked", "alice", secret, b.Options().Now())
	b.Must(err)
	_, err = b.webhooks.Create(b.Ctx, root, webhook.Draft{URL: "https://hooks.example/"})
	b.Must(err)
	b.Must(b.webhooks.Publish(b.Ctx, "asked", webhook.Event{Type: webhook.EventMemberRequested, Key: "asked", At: chat.TimeMs(b.Options().Now()),
		Data: json.RawMessage(`{"group":"asked","user":"alice","note":"` + secret + `"}`)}))
	for _, g := range []string{"general", "past", "other"} {
		b.MakeGroup(chat.GroupDraft{ID: g}, "bob", "alice", "carol")
	}
	b.MakeGroup(chat.GroupDraft{ID: "hers"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "alone"}, "alice")
	first := b.send("alice", "general", text(secret+" 1", func(c *chat.Content) { c.Mentions = []string{"bob"}; c.ClientID = secret }))
	edited := b.send("alice", "general", text(secret+" 2"))
	change := b.send("alice", "general", text(secret+" 3", func(c *chat.Content) { c.Kind, c.Target = chat.Edit, edited }))
	data := b.send("alice", "general", chat.Content{Kind: chat.Data, Data: json.RawMessage(`{"from":"bob","x":"` + secret + `"}`)})
	bobs := b.send("bob", "general", chat.Content{Kind: chat.Data, Data: json.RawMessage(`{"from":"alice"}`)})
	b.send("carol", "general", chat.Content{Kind: chat.Reaction, Target: bobs, Emoji: ":+1:"})
	b.send("alice", "general", chat.Content{Kind: chat.Reaction, Target: bobs, Emoji: ":+1:"})
	old := b.send("alice", "past", text(secret+" 4"))
	b.Must(b.RemoveMember(b.Ctx, chattest.As("alice"), "past", "alice"))
	b.send("alice", "hers", text(secret+" 5"))
	b.send("alice", "alone", text(secret+" 6"))
	b.direct("alice", "bob", secret+" 7")
	b.direct("bob", "alice", "for alice")
	body := secret + " 8"
	_, err = b.schedules.Create(b.Ctx, chattest.As("alice"), schedule.Draft{Group: "general", Content: chat.Content{Body: &body}, Cron: "0 0 1 1 *"})
	b.Must(err)
	_, _, err = b.Store.PutDevice(b.Ctx, "alice", notify.Device{ID: "phone", Kind: notify.DeviceWebhook, Address: "http://" + secret})
	b.Must(err)
	_, err = b.Store.Claim(b.Ctx, "alice", "key", "content")
	b.Must(err)
	b.Must(b.Store.Finish(b.Ctx, "alice", "key", chat.Answer{Status: 201, Body: json.RawMessage(`{"a":"` + secret + `"}`)}))

	batch := b.PullFrom("bob", "general", "0", 1)
	last := batch.Last
	b.carryOut(webhook.TaskEvents, chat.GroupTask{Group: "general", Epoch: batch.Epoch}) // they wait for the webhook
	got := b.erase("alice")
	slices.Sort(got.Held)
	if got.State != erase.Done || got.Messages != 7 || got.Groups != 5 || len(got.Held) > 0 {
		t.Errorf("got %+v, want 7 messages of 5 groups", got)
	}
	b.nowhere(secret)
	b.nowhere("for alice")
	for _, id := range []int64{first, edited, change, data} {
		e := b.At("bob", "general", id)
		if e.DeletedAt == nil || e.Body != nil || e.Data != nil || len(e.Mentions) > 0 || e.From != "" {
			t.Errorf("%d reads %s", id, chat.Encode(e))
		}
	}
	if e := b.At("bob", "past", old); e.DeletedAt == nil {
		t.Errorf("what alice wrote in a group that she has left reads %s", chat.Encode(e))
	}
	if e := b.At("bob", "general", bobs); string(e.Data) != `{"from":"alice"}` {
		t.Errorf("what bob wrote reads %s", chat.Encode(e))
	}
	counts, err := b.Store.Reactions(b.Ctx, "general", "bob", bobs, bobs)
	b.Must(err)
	if got := counts[bobs][":+1:"].Count; got != 1 {
		t.Errorf("%d reactions are counted, want that of carol", got)
	}
	// The log has no gap, and each deletion is an entry of it.
	batch = b.PullFrom("bob", "general", fmt.Sprint(last), 100)
	var kinds []string
	for _, m := range batch.Messages {
		var e chat.Entry
		b.Must(json.Unmarshal(m.JSON, &e))
		kinds = append(kinds, fmt.Sprint(e.Kind, " ", e.Target, e.Notice))
	}
	want := []string{"notice 0left", fmt.Sprint("delete ", first), fmt.Sprint("delete ", edited), fmt.Sprint("delete ", data), fmt.Sprint("reaction ", bobs)}
	if !batch.Complete || !slices.Equal(kinds, want) {
		t.Errorf("the log goes on with %q, complete: %v, want %q", kinds, batch.Complete, want)
	}
	items := b.Items("bob")
	i := slices.IndexFunc(items, func(it chat.Item) bool { return it.Kind == chat.ItemDirect })
	if i < 0 || items[i].DeletedAt == nil || items[i].Body != nil || items[i].From != "" || items[i].ClientID != "" {
		t.Errorf("bob's inbox has %s", chat.Encode(items))
	}
	if info, err := b.Group(b.Ctx, chattest.As("bob"), "hers"); err != nil || info.Members != 1 {
		t.Errorf("alice's group: %+v, %v", info, err)
	}
	_, err = b.Group(b.Ctx, root, "alone")
	b.Refused("the group that alice was alone in", err, chat.CodeNotFound)
	b.clean()
}

// clean checks that the counts of bob are those of the messages that are left.
func (b *bench) clean() {
	b.T.Helper()
	infos, err := b.Store.Infos(b.Ctx, "bob", []string{"general", "past"})
	b.Must(err)
	for _, in := range infos {
		if in.Unread != 0 || in.MentionsUnread != 0 {
			b.T.Errorf("bob has %d unread messages and %d mentions in %s", in.Unread, in.MentionsUnread, in.ID)
		}
	}
}

// TestErasuresAreJoined: a repeated request gets the erasure under way; after its end a new one is of another person, who has
// nothing of the first.
func TestErasuresAreJoined(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Visibility: chat.Public}, "bob", "alice")
	b.send("alice", "g", text(secret))
	first, err := b.Begin(b.Ctx, chattest.As("alice"), "alice")
	b.Must(err)
	again, err := b.Begin(b.Ctx, root, "alice")
	b.Must(err)
	if first.ID != again.ID || first.State != erase.Pending {
		t.Errorf("got %+v, then %+v", first, again)
	}
	_, err = b.Begin(b.Ctx, chattest.As("bob"), "alice")
	b.Refused("an erasure by someone else", err, chat.CodeForbidden)
	_, err = b.Get(b.Ctx, chattest.As("alice"), first.ID)
	b.Refused("a report for no operator", err, chat.CodeForbidden)
	_, err = b.Get(b.Ctx, root, "p00-none")
	b.Refused("no such erasure", err, chat.CodeNotFound)
	b.run(first.ID)
	if got := b.get(first.ID); got.State != erase.Done || got.Messages != 1 || got.Groups != 1 {
		t.Errorf("got %+v", got)
	}
	for _, user := range b.users() {
		if user == "alice" {
			t.Error("alice is known still")
		}
	}

	_, _, err = b.PutMember(b.Ctx, chattest.As("alice"), "g", "alice", "")
	b.Must(err)
	b.send("alice", "g", text("a new person"))
	b.run(first.ID) // late, by a node that was slow
	if e := b.At("bob", "g", b.PullFrom("bob", "g", "0", 1).Last); e.Body == nil || *e.Body != "a new person" {
		t.Errorf("the new person's message reads %s", chat.Encode(e))
	}
	second := b.erase("alice")
	if second.ID == first.ID || second.Messages != 1 {
		t.Errorf("got %+v after %+v", second, first)
	}
}

func (b *bench) users() []string {
	b.T.Helper()
	users, _, err := b.Store.UsersFrom(b.Ctx, "", 1000)
	b.Must(err)
	return users
}

// TestErasureOfALongLog: many pages of entries, an inbox of many items, and edits whose targets are trimmed.
func TestErasureOfALongLog(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(3))}, "bob", "alice")
	b.MakeGroup(chat.GroupDraft{ID: "long"}, "bob", "alice")
	target := b.send("alice", "g", text(secret))
	for i := range 5 {
		b.send("bob", "g", text(fmt.Sprint(i)))
	}
	b.send("alice", "g", text(secret+" again", func(c *chat.Content) { c.Kind, c.Target = chat.Edit, target }))
	for _, user := range []string{"alice", "bob"} {
		last := b.PullFrom(user, "g", "0", 1).Last
		_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.Position{Set: true, ID: last})
		b.Must(err)
	}
	if first := b.PullFrom("bob", "g", "0", 1).First; first <= target {
		t.Fatalf("the target is not trimmed: the log begins at %d", first)
	}
	for i := range 1100 {
		b.send([]string{"alice", "bob"}[i%2], "long", text(fmt.Sprint(secret, i)))
	}
	for i := range 450 {
		body := fmt.Sprint(secret, i)
		_, _, err := b.SendDirect(b.Ctx, chattest.As([]string{"alice", "carol"}[i%2]), "bob", chat.Direct{Body: &body})
		b.Must(err)
	}
	start := time.Now()
	got := b.erase("alice")
	t.Logf("erased in %v", time.Since(start))
	if got.Messages != 550+225 {
		t.Errorf("got %+v", got)
	}
	b.nowhere(secret + " again")
	for i := range 1100 {
		if e := b.At("bob", "long", int64(3+i)); (e.DeletedAt != nil) != (i%2 == 0) {
			t.Fatalf("%s", chat.Encode(e))
		}
	}
	for i, it := range b.Items("bob") {
		if it.Kind == chat.ItemDirect && (it.DeletedAt != nil) != (it.From == "") {
			t.Fatalf("item %d is %s", i, chat.Encode(it))
		}
	}
}

// TestErasureUnderHold: the content of a held group stays until the hold ends, and what came later under the name stays then, too.
func TestErasureUnderHold(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Visibility: chat.Public}, "bob", "alice")
	b.MakeGroup(chat.GroupDraft{ID: "hers"}, "alice")
	b.MakeGroup(chat.GroupDraft{ID: "free"}, "bob", "alice")
	ids := map[string]int64{}
	for _, g := range []string{"g", "hers", "free"} {
		ids[g] = b.send("alice", g, text(secret))
	}
	rude := b.send("alice", "g", text(secret))
	hold := func(group string) {
		_, err := b.PutHold(b.Ctx, root, group, "a lawsuit")
		b.Must(err)
	}
	hold("g")
	hold("hers")
	got := b.erase("alice")
	slices.Sort(got.Held)
	if got.State != erase.Done || got.Messages != 1 || got.Groups != 3 || !slices.Equal(got.Held, []string{"g", "hers"}) {
		t.Errorf("got %+v", got)
	}
	if e := b.At("bob", "g", ids["g"]); e.Body == nil || *e.Body != secret {
		t.Errorf("the held message reads %s", chat.Encode(e))
	}
	if e := b.At("bob", "free", ids["free"]); e.DeletedAt == nil {
		t.Errorf("the message reads %s", chat.Encode(e))
	}
	_, _, err := b.PutMember(b.Ctx, chattest.As("alice"), "g", "alice", "")
	b.Must(err)
	later := b.send("alice", "g", text("of another person"))
	// What is held is not that person's.
	for _, c := range []chat.Content{text("mine", func(c *chat.Content) { c.Kind, c.Target = chat.Edit, ids["g"] }), {Kind: chat.Delete, Target: ids["g"]}} {
		_, err := b.Send(b.Ctx, chattest.As("alice"), "g", c, "")
		b.Refused("a change of what an erased person wrote", err, chat.CodeForbidden)
	}
	epoch, former, err := b.Former(b.Ctx, "g", "alice")
	if err != nil || former < ids["g"] || former >= later || epoch == "" {
		t.Errorf("of somebody else is what alice wrote up to %d in %q, %v", former, epoch, err)
	}
	_, former, err = b.Former(b.Ctx, "g", "bob")
	if err != nil || former != 0 {
		t.Errorf("what bob wrote up to %d is of somebody else, %v", former, err)
	}
	release := func(group string) {
		b.T.Helper()
		b.Must(b.ReleaseHold(b.Ctx, root, group))
		b.carryOut(erase.TaskHeld, chat.GroupTask{Group: group, Epoch: "e"})
	}
	for _, id := range []int64{rude, b.send("alice", "g", text("of another person"))} {
		_, err := b.Send(b.Ctx, chattest.As("bob"), "g", chat.Content{Kind: chat.Delete, Target: id}, "")
		b.Must(err)
	}
	deletedOf := func() (users []string) {
		list, _, err := b.Store.Audit(b.Ctx, "g", "", 100)
		b.Must(err)
		for _, r := range list {
			if r.Action == audit.MessageDelete {
				users = append(users, r.User)
			}
		}
		return users
	}
	if got := deletedOf(); !slices.Equal(got, []string{"alice", "alice"}) {
		t.Errorf("messages of %q were deleted", got)
	}
	// A task that comes while there is a hold again leaves everything as it is.
	b.carryOut(erase.TaskHeld, chat.GroupTask{Group: "g", Epoch: "e"})
	if got := b.get(got.ID); len(got.Held) != 2 {
		t.Errorf("got %+v", got)
	}
	release("g")
	release("hers")
	if e := b.At("bob", "g", ids["g"]); e.DeletedAt == nil {
		t.Errorf("the message reads %s after the hold", chat.Encode(e))
	}
	if got := deletedOf(); !slices.Equal(got, []string{"alice", ""}) {
		t.Errorf("after the hold, messages of %q were deleted", got)
	}
	if e := b.At("bob", "g", later); e.DeletedAt != nil || *e.Body != "of another person" {
		t.Errorf("another person's message reads %s", chat.Encode(e))
	}
	if got := b.get(got.ID); got.State != erase.Done || got.Messages != 3 || len(got.Held) != 0 {
		t.Errorf("got %+v", got)
	}
	_, err = b.Group(b.Ctx, root, "hers")
	b.Refused("the group that nobody is left in", err, chat.CodeNotFound)
	b.nowhere(secret)
}

// TestReceiptsOfErasedMessages asks who has read what nobody is named as the author of.
func TestReceiptsOfErasedMessages(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "bob", "alice", "carol")
	id := b.send("alice", "g", text(secret))
	b.erase("alice")
	r, _, err := b.Receipts(b.Ctx, chattest.As("bob"), "g", chat.ReceiptsQuery{ID: id})
	if err != nil || r.Members != 2 || r.Seen != 0 || !slices.Equal(r.Pending, []string{"bob", "carol"}) {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestTasksOfErasuresRefuseGarbage(t *testing.T) {
	b := newBench(t)
	chattest.RefuseGarbage(t, b.Service.Handlers())
}

// archived is a bench with an archive, whose archiver runs when it is asked to.
type archived struct {
	*bench
	db       *sqlarchive.Store
	archiver *archive.Archiver
}

// authorsArchive is the archive as erasures ask it.
type authorsArchive struct {
	*sqlarchive.Store
	*archive.Archiver
}

func newArchived(t *testing.T, url string, before ...func(*chattest.Bench)) *archived {
	t.Helper()
	server := redistest.Start(t)
	b := chattest.Open(t, server.URL())
	db, err := sqlarchive.Open(t.Context(), url)
	b.Must(err)
	t.Cleanup(func() { _ = db.Close() })
	for _, do := range before {
		do(b)
	}
	a := &archived{db: db, archiver: archive.New(b.Store, db, archive.Options{Delay: time.Hour})}
	b.Must(a.archiver.Switch(b.Ctx))
	serving := archive.Serve(b.Store, db, a.archiver.CatchUp, chat.DefaultLimits())
	b.Service = chat.New(serving, b.Service.Options())
	webhooks := webhook.New(b.Service, b.Store, nil)
	a.bench = &bench{b, erase.New(b.Service, b.Store, serving, authorsArchive{db, a.archiver}, b.Store, webhooks), server, nil, webhooks}
	return a
}

// trim archives a group to its end and trims what that frees.
func (a *archived) trim(group string) int64 {
	a.T.Helper()
	err := a.archiver.CatchUp(a.Ctx, group, chat.IDMax)
	for ; errors.Is(err, chat.ErrUnavailable); err = a.archiver.CatchUp(a.Ctx, group, chat.IDMax) { // on a slow machine
		a.T.Log(err)
	}
	a.Must(err)
	for more := true; more; {
		var err error
		more, err = a.Store.Trim(a.Ctx, group)
		a.Must(err)
	}
	infos, err := a.Store.Infos(a.Ctx, "bob", []string{group})
	a.Must(err)
	return infos[0].Held
}

func TestErasureWithArchive(t *testing.T) {
	for name, url := range map[string]string{"SQLite": "sqlite:" + filepath.Join(t.TempDir(), "archive.db"), "PostgreSQL": pgtest.Start(t).Database()} {
		t.Run(name, func(t *testing.T) { eraseArchived(t, newArchived(t, url)) })
	}
}

// TestErasureOfWhoDeleted erases who deleted messages of others, and their own, before the archive knew: the others keep their names,
// and the own are listed as those that lose theirs.
func TestErasureOfWhoDeleted(t *testing.T) {
	a := newArchived(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"))
	a.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(0))}, "alice", "bob")
	of := map[string]int64{}
	for _, user := range []string{"alice", "bob"} {
		of[user] = a.send(user, "g", text(secret))
	}
	for _, user := range []string{"alice", "bob"} {
		_, err := a.Ack(a.Ctx, chattest.As(user), "g", chat.Position{Set: true, ID: of["bob"]})
		a.Must(err)
	}
	if held := a.trim("g"); held <= of["bob"] {
		t.Fatalf("the store holds %d and above", held)
	}
	for _, id := range of {
		a.send("alice", "g", chat.Content{Kind: chat.Delete, Target: id})
	}
	a.erase("alice")
	for user, want := range map[string]string{"alice": "", "bob": "bob"} {
		if e := a.At("bob", "g", of[user]); e.From != want || e.DeletedAt == nil {
			t.Errorf("what %s wrote and alice deleted reads %s", user, chat.Encode(e))
		}
	}
	var erased []int64
	for _, m := range a.PullFrom("bob", "g", fmt.Sprint(of["bob"]), 100).Messages {
		var e chat.Entry
		a.Must(json.Unmarshal(m.JSON, &e))
		erased = append(erased, e.Erased...)
	}
	if !slices.Contains(erased, of["alice"]) || slices.Contains(erased, of["bob"]) {
		t.Errorf("%d lost their names, want %d among them, and not %d", erased, of["alice"], of["bob"])
	}
}

func eraseArchived(t *testing.T, a *archived) {
	a.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(5))}, "bob", "alice", "carol")
	a.MakeGroup(chat.GroupDraft{ID: "past", Keep: new(int64(0))}, "bob", "alice")
	var all []int64
	for i := range 300 {
		id := a.send([]string{"alice", "bob"}[i%2], "g", text(fmt.Sprint(secret, i)))
		all = append(all, id)
	}
	first, second := all[0], all[1]
	edit := a.send("alice", "g", text(secret+" edited", func(c *chat.Content) { c.Kind, c.Target = chat.Edit, first }))
	for _, user := range []string{"alice", "carol"} {
		a.send(user, "g", chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":+1:"})
	}
	hidden := func(c chat.Content) int64 {
		c.ClientID = fmt.Sprint(secret, c.Emoji, c.Removed)
		return a.send("alice", "g", c)
	}
	hidden(chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":" + secret + ":"})
	hidden(chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":wave:"})
	hidden(chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":wave:", Removed: true})
	withdrawn := a.send("alice", "g", text(secret))
	hidden(chat.Content{Kind: chat.Delete, Target: withdrawn})
	deleted := a.send("bob", "g", text("to be deleted"))
	reaction := a.send("carol", "g", chat.Content{Kind: chat.Reaction, Target: deleted, Emoji: ":gone:", ClientID: "c-1"})
	for range 5 {
		a.send("bob", "g", text("more"))
	}
	old := a.send("alice", "past", text(secret+" old"))
	a.Must(a.RemoveMember(a.Ctx, chattest.As("alice"), "past", "alice"))
	for _, user := range []string{"alice", "bob", "carol"} {
		_, err := a.Ack(a.Ctx, chattest.As(user), "g", chat.Position{Set: true, ID: a.PullFrom("bob", "g", "0", 1).Last})
		a.Must(err)
	}
	_, err := a.Ack(a.Ctx, chattest.As("bob"), "past", chat.Position{Set: true, ID: a.PullFrom("bob", "past", "0", 1).Last})
	a.Must(err)
	if held := a.trim("g"); held <= edit-5 {
		t.Fatalf("the store holds %d and above", held)
	}
	if held := a.trim("past"); held <= old {
		t.Fatalf("the store holds %d and above", held)
	}
	a.send("bob", "g", chat.Content{Kind: chat.Delete, Target: deleted})
	if e := a.At("bob", "g", reaction); e.Emoji != "" || e.ClientID != "" || e.DeletedAt == nil || e.From != "carol" || e.Target != deleted {
		t.Errorf("a reaction to what was deleted reads %s", chat.Encode(e))
	}
	// What comes now is archived by the reader below.
	hidden(chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":" + secret + "late:"})
	late := a.send("alice", "g", chat.Content{Kind: chat.Reaction, Target: second, Emoji: ":late:"})
	_, err = a.PutHold(a.Ctx, root, "past", "a lawsuit")
	a.Must(err)

	got := a.erase("alice")
	if got.State != erase.Done || got.Messages != 150 || got.Groups != 1 || !slices.Equal(got.Held, []string{"past"}) {
		t.Errorf("got %+v, want 150 messages of 1 group, and past held", got)
	}
	for i, id := range append(all, edit) {
		if e := a.At("bob", "g", id); (e.DeletedAt != nil) != (i%2 == 0) || (e.Body == nil) != (i%2 == 0) {
			t.Fatalf("%d of %d reads %s", i, len(all), chat.Encode(e))
		}
	}
	counts := a.reactions("g", second)
	if len(counts) != 1 || counts[":+1:"].Count != 1 {
		t.Errorf("after the erasure the reactions are %+v, late was %d", counts, late)
	}
	if e := a.At("bob", "past", old); e.Body == nil {
		t.Errorf("what is held reads %s", chat.Encode(e))
	}
	a.Must(a.ReleaseHold(a.Ctx, root, "past"))
	a.carryOut(erase.TaskHeld, chat.GroupTask{Group: "past", Epoch: "e"})
	if e := a.At("bob", "past", old); e.DeletedAt == nil {
		t.Errorf("after the hold it reads %s", chat.Encode(e))
	}
	if got := a.get(got.ID); got.Messages != 151 || len(got.Held) != 0 {
		t.Errorf("got %+v", got)
	}
	for _, g := range []string{"g", "past"} {
		a.trim(g)
	}
	if list, err := a.db.Authored(a.Ctx, "alice", 0, 10); err != nil || len(list) > 0 {
		t.Errorf("the archive has %+v of alice, %v", list, err)
	}
	if list, _, err := a.db.OthersOf(a.Ctx, "alice", "", 10); err != nil || len(list) > 0 {
		t.Errorf("the archive has %+v of alice, %v", list, err)
	}
	for _, g := range []string{"g", "past"} {
		for id := int64(1); id <= a.PullFrom("bob", g, "0", 1).Last; id++ {
			e := a.At("bob", g, id)
			if text := string(chat.Encode(e)); e.From == "alice" && e.Kind != chat.Notice || strings.Contains(text, secret) && !e.Removed && e.From != "bob" || e.ClientID != "" {
				t.Fatalf("after the erasure %s has %s", g, text)
			}
		}
	}
	a.nowhere("alice :") // records of who reacted
	last := a.PullFrom("bob", "g", "0", 1).Last
	a.erase("alice")
	if now := a.PullFrom("bob", "g", "0", 1).Last; now != last {
		t.Errorf("erasing again added %d entries", now-last)
	}
}

// TestErasureOfArchivedEdits: what was edited was trimmed before there was an archive, and only the edit is archived.
func TestErasureOfArchivedEdits(t *testing.T) {
	a := newArchived(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db"), func(b *chattest.Bench) {
		b.MakeGroup(chat.GroupDraft{ID: "g", Keep: new(int64(1))}, "bob", "alice")
		target := b.Say("alice", "g", secret).ID
		edit := text(secret+" edited", func(c *chat.Content) { c.Kind, c.Target = chat.Edit, target })
		sent, err := b.Send(b.Ctx, chattest.As("alice"), "g", edit, "")
		b.Must(err)
		for _, user := range []string{"alice", "bob"} {
			_, err := b.Ack(b.Ctx, chattest.As(user), "g", chat.At(sent.ID))
			b.Must(err)
		}
	})
	edit := a.PullFrom("bob", "g", "0", 1).Last
	a.send("bob", "g", text("hello"))
	_, err := a.Ack(a.Ctx, chattest.As("bob"), "g", chat.At(edit+1))
	a.Must(err)
	_, err = a.Ack(a.Ctx, chattest.As("alice"), "g", chat.At(edit+1))
	a.Must(err)
	if held := a.trim("g"); held != edit+1 {
		t.Fatalf("the store holds %d and above, the edit is %d", held, edit)
	}
	if e := a.At("bob", "g", edit); e.Body == nil {
		t.Fatalf("before the erasure the edit reads %s", chat.Encode(e))
	}
	a.erase("alice")
	if e := a.At("bob", "g", edit); e.Body != nil {
		t.Errorf("after the erasure the edit reads %s", chat.Encode(e))
	}
	last := a.PullFrom("bob", "g", "0", 1).Last
	a.erase("alice")
	if now := a.PullFrom("bob", "g", "0", 1).Last; now != last {
		t.Errorf("erasing again added %d entries", now-last)
	}
}

func (a *archived) reactions(group string, id int64) map[string]chat.ReactionCount {
	a.T.Helper()
	_, views, err := a.Pull(a.Ctx, chattest.As("bob"), group, chat.PullQuery{After: new(fmt.Sprint(id - 1)), Limit: 1})
	a.Must(err)
	return views[0].Reactions
}
