package layout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/buttons"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/layout"
)

// known is what the walk may find, listed by hand: types, and keys behind the partition with a star for each id.
const known = `
string blobs push_key g:*:id u:*:erasing u:*:files:bytes u:*:account q:*:paused
list u:*:inbox a:*:to:* q:*:ready:critical q:*:ready:high q:*:ready:normal q:*:ready:low
set reachable unused hidden e:*:groups e:*:held
hash layout health present previews wants grown erased files invited avatars retention archive webhooks webhooks:state webhooks:health tables t:* t:*:used
hash g:*:reviews u:*:reviews g:*:meta g:*:members g:*:bans g:*:requests g:*:data g:*:invites g:*:reports g:*:reporters g:*:pins g:*:quorums g:*:pinned g:*:streams g:*:streamed g:*:levels g:*:sent:* g:*:erasures g:*:files g:*:gone:files g:*:import
hash u:*:inbox:base u:*:inbox:sent:* u:*:strangers u:*:added u:*:devices u:*:drafts u:*:profile u:*:avatar u:*:keys u:*:uploads u:*:files
hash s:* e:* a:* a:*:part q:*:tasks q:*:runs q:*:counts q:*:unique q:*:periodic q:*:days q:*:batches q:*:slots q:*:results
zset reviewed public named reported audit audit:server users last_seen names live nodes served orphans health:ends previews:at announcements t:*:at t:*:gone
zset g:*:joined g:*:managers g:*:seen g:*:read g:*:msgs g:*:skip g:*:by:* g:*:at:* g:*:senders g:*:reacted g:*:reactions g:*:told
zset g:*:expires g:*:threads g:*:replies g:*:banned g:*:asked g:*:mutes g:*:slow g:*:pressed g:*:here g:*:waiting g:*:kept g:*:files:unused g:*:files:named g:*:gone:members g:*:gone:senders
zset g:*:import:msgs g:*:import:skip g:*:import:reacted g:*:import:reactions
zset u:*:groups u:*:blocks u:*:inbox:server u:*:inbox:by:* u:*:inbox:mentions:* u:*:inbox:senders u:*:schedules u:*:firings u:*:keys:at
zset q:*:delayed q:*:leased q:*:dead q:*:parked q:*:rates q:*:kept q:*:lines q:*:expiring`

// unseen are the keys that no store of chatd has, with the reason.
var unseen = map[string]string{
	"q:*:batches": "no task is in a batch", "q:*:slots": "no task has a limit", "q:*:lines": "no task has a limit",
	"q:*:parked": "no task has a limit", "q:*:rates": "no task has a rate", "q:*:kept": "no task leaves a result",
	"q:*:results": "no task leaves a result", "q:*:expiring": "no task has a unique key for a time",
}

// notCarried are the keys that an import into another number of partitions does not bring.
var notCarried = []string{"live", "nodes", "present", "g:*:here", "g:*:pressed", "served", "blobs", "orphans", "health", "health:ends", "previews", "previews:at", "grown", "erased"}

// patterns are the keys of known, with their types.
func patterns() map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(known)) {
		words := strings.Fields(line)
		for _, key := range words[1:] {
			found[key] = words[0]
		}
	}
	return found
}

// walk goes through every key of a store and returns which of known are there. It is an error if there is another one.
func walk(t *testing.T, s *store.Store) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	rules := map[string]*regexp.Regexp{}
	for key := range patterns() {
		rules[key] = regexp.MustCompile(`^chat:\{p\d\d\}:` + strings.ReplaceAll(regexp.QuoteMeta(key), `\*`, "[^:{}]+") + "$")
	}
	for each := s.Client().Scan(t.Context(), 0, "*", 100).Iterator(); each.Next(t.Context()); {
		is, err := s.Client().Type(t.Context(), each.Val()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if is == "none" {
			continue // gone since
		}
		var matches []string
		for key, rule := range rules {
			if rule.MatchString(each.Val()) && patterns()[key] == is {
				matches = append(matches, key)
			}
		}
		if len(matches) != 1 {
			t.Errorf("%s, a %s, is %v of the keys that are known", each.Val(), is, matches)
			continue
		}
		seen[matches[0]] = true
	}
	return seen
}

// TestEveryKeyOfAStore fills a store with everything there is and walks through its keys: each is known, all that are known are there,
// the package lists the same, and the doctor and an import into other partitions know them too.
func TestEveryKeyOfAStore(t *testing.T) {
	listed := map[string]string{}
	for _, k := range layout.Keys {
		listed[regexp.MustCompile(`<\w+>`).ReplaceAllString(k.Pattern, "*")] = k.Type
	}
	if diff := cmp.Diff(patterns(), listed); diff != "" {
		t.Errorf("the package does not list what this test does: -test +package\n%s", diff)
	}

	b := chattest.Open(t, redistest.Start(t).URL())
	f := filler{b, webhook.New(b.Service, b.Store, nil)}
	f.groups()
	f.uploads()
	f.users()
	f.features()
	t.Run("while tasks run", func(t *testing.T) {
		f.tasks(t)
		harness.Eventually(t, 30*time.Second, "every key is there", func() error {
			seen := walk(t, b.Store)
			for key := range patterns() {
				if seen[key] == (unseen[key] != "") {
					return fmt.Errorf("%s: seen is %v", key, seen[key])
				}
			}
			return nil
		})
	})
	before, wrong := walk(t, b.Store), findings(t, b.Store)
	var file bytes.Buffer
	counts, err := dump.Export(t.Context(), b.Store, &file, dump.Options{})
	b.Must(err)
	m, _, err := dump.Check(t.Context(), bytes.NewReader(file.Bytes()))
	b.Must(err)
	other, err := store.Open(t.Context(), store.Options{URL: redistest.Start(t).URL(), Import: m.ID, Partitions: 3})
	b.Must(err)
	t.Cleanup(func() { _ = other.Close() })
	b.Must(dump.Import(t.Context(), other, bytes.NewReader(file.Bytes()), counts, dump.Options{}))
	for _, s := range []*store.Store{b.Store, other} {
		if a, err := s.ReadAvatar(t.Context(), "AAAAAAAAAAAAAAAA-0"); err != nil || string(a.Content) != "\x89PNG" {
			t.Errorf("the avatar: got %q, %v", a.Content, err)
		}
	}
	for _, key := range notCarried {
		delete(before, key)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(walk(t, other)))); diff != "" {
		t.Errorf("an import into three partitions: -before +after\n%s", diff)
	}
	if diff := cmp.Diff(contents(t, b.Store), contents(t, other)); diff != "" {
		t.Errorf("what keys of people hold after that import: -before +after\n%s", diff)
	}
	if diff := cmp.Diff(wrong, findings(t, other)); diff != "" {
		t.Errorf("what the doctor finds after that import: -before +after\n%s", diff)
	}
}

// people are the keys of users, credentials and invitations.
var people = regexp.MustCompile(`^(tables|t:[^:]+(:used|:at|:gone)?|users|unused|names|named|invited|reported|audit(:server)?|avatars|g:[^:]+:(meta|members|data|invites|reports|reporters|pins|pinned|threads|replies)|u:[^:]+:(profile|avatar|account|drafts))$`)

// contents are what keys of people hold: what partitions have of a key together.
func contents(t *testing.T, s *store.Store) map[string]map[string]string {
	t.Helper()
	found, client := map[string]map[string]string{}, s.Client()
	for each := client.Scan(t.Context(), 0, "*", 100).Iterator(); each.Next(t.Context()); {
		_, key, _ := layout.Cut(s.Prefix(), each.Val())
		if !people.MatchString(key) {
			continue
		}
		if found[key] == nil {
			found[key] = map[string]string{}
		}
		switch kind := client.Type(t.Context(), each.Val()).Val(); kind {
		case "string":
			found[key][""] = client.Get(t.Context(), each.Val()).Val()
		case "hash":
			maps.Copy(found[key], client.HGetAll(t.Context(), each.Val()).Val())
		case "set":
			for _, member := range client.SMembers(t.Context(), each.Val()).Val() {
				found[key][member] = ""
			}
		case "zset":
			for _, z := range client.ZRangeWithScores(t.Context(), each.Val(), 0, -1).Val() {
				found[key][fmt.Sprint(z.Member)] = fmt.Sprint(z.Score)
			}
		default:
			t.Errorf("%s is a %s", key, kind)
		}
	}
	return found
}

// findings are what the doctor finds, without the numbers of partitions. It is an error if it does not know a key, or wants it to be
// of another type.
func findings(t *testing.T, s *store.Store) []string {
	t.Helper()
	d, err := doctor.New(s, doctor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		if f.Kind == doctor.KindUnknown || f.Kind == doctor.KindType {
			t.Errorf("the doctor: %s %s", f.Key, f.Message)
		}
		found = append(found, regexp.MustCompile(`\bp\d\d\b`).ReplaceAllString(fmt.Sprint(f.Kind, " ", f.Key, " ", f.Message), "pNN"))
	}
	slices.Sort(found)
	return found
}

// filler fills a store.
type filler struct {
	*chattest.Bench
	webhooks *webhook.Service
}

func (f filler) groups() {
	g := f.MakeGroup(chat.GroupDraft{ID: "g", Name: "General", Visibility: chat.Public}, "alice", "bob", "carl")
	send := func(c chat.Content) int64 {
		c.ClientID = fmt.Sprint(c.Kind, c.Emoji)
		sent, err := f.Send(f.Ctx, chattest.As("alice"), "g", c, "")
		f.Must(err)
		return sent.ID
	}
	hello := "hello @bob"
	id := send(chat.Content{Body: &hello, Mentions: []string{"bob"}})
	send(chat.Content{Kind: chat.Reaction, Target: id, Emoji: ":+1:"})
	decided := rules.New(f.Service, f.Store, f.Store, nil)
	_, _, err := reports.New(f.Service, f.Store, f.Store, decided, f.webhooks).Put(f.Ctx, chattest.As("bob"), "g", id, reports.Draft{Reason: "spam"})
	f.Must(err)
	f.Must(pins.New(f.Service, f.Store, f.Store).Pin(f.Ctx, chattest.As("alice"), "g", id))
	_, err = f.Store.PutQuorum(f.Ctx, chattest.As("alice"), quorum.Quorum{Group: "g", ID: id, Need: quorum.Need{Count: 100}, Author: "alice", By: "alice", Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli())})
	f.Must(err)
	reply := "reply"
	_, inThread := f.Service.Send(f.Ctx, chattest.As("bob"), "g", chat.Content{Thread: id, Body: &reply}, "")
	f.Must(inThread)
	f.Must(f.Store.Press(f.Ctx, g.Epoch, buttons.Press{Group: "g", Message: id, User: "bob", Action: "ok"}))
	chattest.Done(f.T, f.Handlers()[chat.TaskMention], chat.MentionTask{Group: "g", Epoch: g.Epoch, ID: id, From: "alice", Users: []string{"bob"}})

	_, _, err = f.Store.PutDevice(f.Ctx, "bob", notify.Device{ID: "phone", Kind: notify.DeviceWebhook, Address: "https://push.example/", Secret: "whsec_x", CreatedAt: chat.TimeMs(1)})
	f.Must(err)
	_, err = memberdata.New(f.Service, f.Store).Merge(f.Ctx, chattest.As("alice"), "g", "carl", []byte(`{"desk":12}`))
	f.Must(err)
	_, err = decided.Mute(f.Ctx, chattest.As("alice"), "g", "carl", []byte(`"9999-12-31T00:00:00.000Z"`))
	f.Must(err)
	_, _, err = decided.Ban(f.Ctx, chattest.As("alice"), "g", "troll", rules.BanDraft{Reason: "spam"})
	f.Must(err)
	f.MakeGroup(chat.GroupDraft{ID: "ask", Visibility: chat.Public, Join: chat.JoinAsk}, "alice")
	_, _, err = decided.Ask(f.Ctx, chattest.As("bob"), "ask", "same class")
	f.Must(err)
	f.MakeGroup(chat.GroupDraft{ID: "slow", SlowS: new(int64(60))}, "alice", "bob")
	f.Say("bob", "slow", "once a minute")
	f.MakeGroup(chat.GroupDraft{ID: "expiring", ExpireS: new(int64(365 * 24 * 3600))}, "alice", "bob")
	f.Say("bob", "expiring", "a year")
	f.Must(f.Store.SetLevel(f.Ctx, "g", "carl", notify.Setting{Level: notify.None}))
	f.Must(f.Store.NotifyUsers(f.Ctx, "g", g.Epoch, []string{"bob"}))

	role := chat.Ordinary
	_, err = f.Store.CreateInvite(f.Ctx, chattest.As("alice"), invite.Record{Hash: "h", Invite: invite.Invite{ID: "i", Group: &g.ID, Role: &role, Uses: 1, CreatedBy: "alice", CreatedAt: chat.TimeMs(1)}})
	f.Must(err)

	f.Must(f.Store.Know(f.Ctx, "gone"))
	_, _, err = f.SendDirect(f.Ctx, chattest.As("gone"), "bob", chat.Direct{Body: &hello})
	f.Must(err)
	erasure, err := f.Store.BeginErasure(f.Ctx, chattest.Operator("root"), "gone")
	f.Must(err)
	r, err := f.Store.Erasure(f.Ctx, erasure)
	f.Must(err)
	f.Must(f.Store.MoveErasure(f.Ctx, r, erase.Progress{Phase: "logs", Groups: []string{"g"}, Held: []string{"g"}}))
	_, err = f.Store.EraseInboxes(f.Ctx, erasure, "gone", []erase.At{{Name: "bob"}}, chat.TimeMs(1))
	f.Must(err)
	_, err = f.Store.PutHold(f.Ctx, chattest.Operator("root"), "g", chat.Hold{Reason: "case 1", By: "root", Since: chat.TimeMs(1)})
	f.Must(err)
	_, err = f.Store.HoldErasure(f.Ctx, erasure, "g", g.Epoch, "gone")
	f.Must(err)
	edited := "hello @bob!"
	send(chat.Content{Kind: chat.Edit, Target: id, Body: &edited})

	f.MakeGroup(chat.GroupDraft{ID: "h"}, "carl", "bob")
	f.Say("carl", "h", hello)
	f.file("h", "carl", "GONE-0")
	f.Must(f.DeleteGroup(f.Ctx, chattest.As("carl"), "h"))

	large := chat.NewGroup{Group: chat.Group{ID: "large", Name: "Large", Visibility: chat.Private, CreatedBy: "alice", CreatedAt: chat.TimeMs(1), Epoch: "e",
		Keep: 100, BacklogMax: 1000, BacklogBytes: 1 << 30, Overflow: chat.OverflowDrop, Post: chat.PostMembers}}
	large.Notices = append(large.Notices, notice)
	for n := range 300 {
		large.Members = append(large.Members, fmt.Sprint("user", n))
	}
	large.Notices = append(large.Notices, notice, notice, notice)
	f.Must(f.Store.CreateGroup(f.Ctx, large))

	_, err = f.Store.BeginImport(f.Ctx, "past", "file", "e")
	f.Must(err)
	text := func(more string) []byte {
		return []byte(`"group":"past","from":"alice","sent_at":"2026-01-01T00:00:00.000Z",` + more + `}`)
	}
	f.Must(f.Store.StageImport(f.Ctx, "past", "e", 1, 3, []importer.Entry{
		{ID: 1, Mark: "past01", Kind: chat.Notice, Rest: text(`"kind":"notice"`)},
		{ID: 2, Mark: "past02", Kind: chat.Text, Rest: text(`"kind":"text","body":"x"`), Reactions: []importer.Reactions{{Emoji: ":+1:", Users: []string{"bob"}}}},
		{ID: 3, Mark: "past03", Kind: chat.Reaction, Rest: text(`"kind":"reaction","target":2,"emoji":":+1:"`), Target: 2, From: "bob", Emoji: ":+1:"},
	}))
}

var notice = chat.NoticeEntry{Mark: "mark01", Rest: []byte(`"group":"large","from":"alice","kind":"notice","sent_at":"2026-01-01T00:00:00.000Z"}`)}

// file makes a whole file.
func (f filler) file(group, owner, id string) {
	f.Must(f.Store.ReserveFile(f.Ctx, owner, group, id, 10))
	_, err := f.Store.CreateFile(f.Ctx, group, files.Record{ID: id, Owner: owner, Size: 10, Hash: []byte("h"), JSON: []byte("{}")})
	f.Must(err)
	_, err = f.Store.LockFile(f.Ctx, group, owner, id, "t", "", time.Minute)
	f.Must(err)
	_, err = f.Store.CommitFile(f.Ctx, files.Commit{Group: group, User: owner, ID: id, Token: "t", Offset: 10, Hash: []byte("h"), Keep: time.Hour})
	f.Must(err)
	_, err = f.Store.FinishFile(f.Ctx, group, owner, id, "t", []byte(`{"id":"`+id+`","name":"n","size":10}`))
	f.Must(err)
	f.Must(f.Store.SettleFile(f.Ctx, owner, id))
}

func (f filler) uploads() {
	f.file("g", "alice", "NAMED-0")
	f.file("g", "alice", "UNNAMED-0")
	f.Must(f.Store.ReserveFile(f.Ctx, "alice", "g", "OPEN-0", 10))
	_, err := f.Send(f.Ctx, chattest.As("alice"), "g", chat.Content{Kind: chat.Text, Files: []chat.File{{ID: "NAMED-0"}}}, "")
	f.Must(err)
	_, err = f.Store.RecordBlobs(f.Ctx, "folder")
	f.Must(err)
	_, err = f.Store.NoteOrphans(f.Ctx, []string{"LOST-0"})
	f.Must(err)
}

func (f filler) users() {
	hello := "hello"
	for _, to := range []string{"bob", "newcomer"} {
		_, _, err := f.SendDirect(f.Ctx, chattest.As("alice"), to, chat.Direct{Body: &hello, ClientID: "key"})
		f.Must(err)
	}
	f.Must(f.PutItem(f.Ctx, "bob", chat.Item{Kind: chat.ItemAnnouncement, Body: &hello, SentAt: chat.TimeMs(1)}, "key"))
	for _, r := range []chat.Review{{Group: "g"}, {To: "bob"}} {
		r.From, r.At, r.Message = "alice", chat.TimeMs(time.Now().UnixMilli()), chat.Content{Kind: chat.Text, Body: &hello}
		r.ID = chat.NewReviewID(r)
		_, err := f.Store.PutReview(f.Ctx, chat.NewReview{Review: r, Key: "review", Content: "c"})
		f.Must(err)
	}
	_, _, err := f.Store.PutBlock(f.Ctx, "alice", "bob")
	f.Must(err)
	f.Must(f.Store.PutDraft(f.Ctx, "alice", drafts.Kept{Group: "g", Epoch: "e", JSON: []byte(`{"body":"hello","rev":1}`)}, 1))
	_, err = f.Store.ClaimAdds(f.Ctx, "alice", "g", []string{"dora"})
	f.Must(err)
	_, err = f.Store.Claim(f.Ctx, "alice", "key", "content")
	f.Must(err)
	f.Must(f.Store.Finish(f.Ctx, "alice", "key", chat.Answer{Status: 201, Body: []byte("{}")}))
	f.Must(f.Store.PutAccount(f.Ctx, "alice", "", `{"password":"$argon2id$"}`, false, audit.Entry{}))
	f.Must(f.Store.Arrive(f.Ctx, "node", []string{"alice"}, time.Hour))
	_, err = f.Store.Open(f.Ctx, "node", []live.Opening{{Group: "g", Came: []string{"alice"}}}, time.Hour)
	f.Must(err)
	_, errs, err := f.Store.PutProfiles(f.Ctx, []profiles.Write{{User: "alice", Stored: profiles.Stored{Text: `{"picture":"/avatars/AAAAAAAAAAAAAAAA-0"}`}, Words: []string{"alice"},
		AvatarID: "AAAAAAAAAAAAAAAA-0", Avatar: &profiles.Avatar{Type: "image/png", Content: []byte("\x89PNG")}}})
	f.Must(errors.Join(append(errs, err)...))
	f.Must(f.Store.SawUsers(f.Ctx, map[string]int64{"alice": 1}))
	_, errs, err = f.Store.PutProfiles(f.Ctx, []profiles.Write{{User: "hider", Stored: profiles.Stored{Text: `{"presence":"hidden"}`}, Hides: true}})
	f.Must(errors.Join(append(errs, err)...))
	_, err = f.Store.Heartbeat(f.Ctx, "node", []string{"alice"}, []string{"g"}, time.Hour)
	f.Must(err)
}

func (f filler) features() {
	hello, at := "hello", time.Now().Add(24*time.Hour)
	_, err := f.Store.PushKey(f.Ctx, "key")
	f.Must(err)
	_, err = f.Store.PutNote(f.Ctx, "n", "{}", time.Hour, 10)
	f.Must(err)
	f.Must(f.Store.PutPreview(f.Ctx, "https://a.example/", "{}", time.Hour))
	_, err = f.Store.RecordRetention(f.Ctx, 30)
	f.Must(err)
	f.Must(f.Store.SwitchArchive(f.Ctx, "database", true))
	f.Must(f.Store.SwitchArchive(f.Ctx, "database", false))
	f.Must(f.Store.WantNotify(f.Ctx, time.Second, false))
	w, err := f.webhooks.Create(f.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://webhooks.example/"})
	f.Must(err)
	f.Must(f.Store.RecordAttempt(f.Ctx, w.ID, "refused"))
	f.Must(f.Store.SpreadWebhooks(f.Ctx))
	_, err = schedule.New(f.Service, f.Store, f.webhooks).Create(f.Ctx, chattest.As("alice"), schedule.Draft{Group: "g", Content: chat.Content{Body: &hello}, At: &at})
	f.Must(err)
	service := announce.New(f.Service, f.Store)
	a, err := service.Create(f.Ctx, chattest.Operator("root"), announce.Draft{To: announce.Target{Users: []string{"alice", "bob"}}, Content: chat.Content{Body: &hello}})
	f.Must(err)
	chattest.Done(f.T, service.Handlers()[announce.TaskRun], announce.RunTask{Announcement: a.ID, Run: 1})
	f.Say("bob", "g", hello) // somebody wants to know of it
	_, err = f.Service.Send(f.Ctx, chattest.As("bob"), "g", chat.Content{Stream: chat.StreamOpen, Body: &hello}, "")
	f.Must(err)
	for _, id := range []string{"kept", "removed"} {
		version, err := f.Store.Put(f.Ctx, "keys", table.Row{ID: id, Text: "{}"}, 10)
		f.Must(err)
		f.Must(f.Store.UseRow(f.Ctx, "keys", id))
		if id == "removed" {
			_, err = f.Store.Put(f.Ctx, "keys", table.Row{ID: id, Version: version}, 10)
			f.Must(err)
		}
	}
}

// handlers are handlers of which one always fails, one refuses and one does not end.
type handlers struct{}

func (handlers) Handlers() map[string]chat.TaskKind {
	run := func(err error) chat.TaskKind {
		return chat.TaskKind{Run: func(context.Context, chat.TaskRun) error { return err }}
	}
	return map[string]chat.TaskKind{
		chat.TaskTrim: run(errors.New("an error")), chat.TaskUnreact: run(chat.Invalid("a payload")),
		chat.TaskCleanup: {Run: func(ctx context.Context, _ chat.TaskRun) error { <-ctx.Done(); return ctx.Err() }},
	}
}

// tasks makes tasks of every state.
func (f filler) tasks(t *testing.T) {
	core, err := f.Store.TaskClient(queue.Options{Queue: chat.QueueCore})
	f.Must(err)
	for _, kind := range []string{chat.TaskTrim, chat.TaskUnreact, chat.TaskCleanup} {
		_, _, err := core.Enqueue(f.Ctx, queue.Task{Kind: kind, Payload: []byte(`{"group":"g","epoch":"e"}`)})
		f.Must(err)
	}
	f.Must(core.PutPeriodic(f.Ctx, queue.Periodic{ID: files.TaskCompare, Every: 24 * time.Hour, Kind: files.TaskCompare}))
	egress, err := f.Store.TaskClient(queue.Options{Queue: chat.QueueEgress})
	f.Must(err)
	f.Must(egress.Pause(f.Ctx)) // so that what is ready stays so
	for _, p := range []queue.Priority{queue.Critical, queue.High, queue.Normal, queue.Low} {
		_, _, err := egress.Enqueue(f.Ctx, queue.Task{Kind: notify.TaskPush, Payload: []byte(`{"user":"bob"}`), Priority: p})
		f.Must(err)
	}
	chattest.Work(t, f.Store, handlers{})
}
