package person_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/person"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// TestExportOfWhoHasLeft: what the archive has of groups that are left comes too, once, and nothing of others.
func TestExportOfWhoHasLeft(t *testing.T) {
	b := chattest.New(t)
	db, err := sqlarchive.Open(b.Ctx, "sqlite:"+t.TempDir()+"/a.db")
	b.Must(err)
	t.Cleanup(func() { _ = db.Close() })
	b.MakeGroup(chat.GroupDraft{ID: "left"}, "alice", "bob")
	b.MakeGroup(chat.GroupDraft{ID: "stays"}, "alice", "bob")
	for _, group := range []string{"left", "stays"} {
		for n := range 120 {
			b.Say("bob", group, fmt.Sprint(group, n))
			b.Say("alice", group, "of alice")
		}
		messages, end, err := b.Store.Range(b.Ctx, group, 1, 1000, 0)
		b.Must(err)
		b.Must(db.Add(b.Ctx, []archive.Batch{{Log: archive.Log{Group: group, Epoch: end.Epoch}, Messages: messages, Last: chat.IDMax}}))
	}
	b.Must(b.RemoveMember(b.Ctx, chattest.As("bob"), "left", "bob"))
	s := open(b, shown(b), db)

	got, want := exported(b, s, "bob"), []string(nil)
	for n := range 120 {
		want = append(want, fmt.Sprint("left", n), fmt.Sprint("stays", n))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %d messages, want %d: %q", len(got), len(want), got)
	}
}

// exported are the bodies of what a user's export has of that user.
func exported(b *chattest.Bench, s *person.Service, user string) (bodies []string) {
	b.T.Helper()
	b.Must(s.Export(b.Ctx, chattest.As(user), func(records []person.Record) error {
		for _, r := range records {
			if r.Message == nil {
				continue
			}
			var e chat.Entry
			if err := json.Unmarshal(r.Message, &e); err != nil || e.From != user || e.Body == nil {
				return fmt.Errorf("got %s, %w", r.Message, err)
			}
			bodies = append(bodies, *e.Body)
		}
		return nil
	}))
	return bodies
}

// TestExportLeavesOutWhatIsHeld: what a legal hold keeps of an erased person is not in the export of the user who has the name now, also
// where that person is in the group.
func TestExportLeavesOutWhatIsHeld(t *testing.T) {
	b := chattest.New(t)
	db, err := sqlarchive.Open(b.Ctx, "sqlite:"+t.TempDir()+"/a.db")
	b.Must(err)
	t.Cleanup(func() { _ = db.Close() })
	for _, group := range []string{"left", "back"} {
		b.MakeGroup(chat.GroupDraft{ID: group, Visibility: chat.Public}, "alice", "bob")
		b.Say("bob", group, "of the first bob")
		_, err := b.PutHold(b.Ctx, chattest.Operator("root"), group, "a case")
		b.Must(err)
		b.Must(b.RemoveMember(b.Ctx, chattest.As("bob"), group, "bob"))
		messages, end, err := b.Store.Range(b.Ctx, group, 1, 1000, 0)
		b.Must(err)
		b.Must(db.Add(b.Ctx, []archive.Batch{{Log: archive.Log{Group: group, Epoch: end.Epoch}, Messages: messages, Last: chat.IDMax}}))
		_, err = b.Store.HoldErasure(b.Ctx, "p00-"+group, group, end.Epoch, "bob")
		b.Must(err)
	}
	_, _, err = b.PutMember(b.Ctx, chattest.As("bob"), "back", "bob", "")
	b.Must(err)
	b.Say("bob", "back", "of the second bob")
	s := open(b, shown(b), db)
	if got := exported(b, s, "bob"); !slices.Equal(got, []string{"of the second bob"}) {
		t.Errorf("got %q", got)
	}
}

// TestOneExportOfAUser: a second one has to wait until the first has ended.
func TestOneExportOfAUser(t *testing.T) {
	s := person.New(nil, person.Sources{})
	end, err := s.Begin(chattest.As("ann"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(chattest.As("ann")); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("a second one: got %v", err)
	}
	if _, err := s.Begin(chattest.As("bob")); err != nil {
		t.Errorf("of another user: got %v", err)
	}
	end()
	if _, err := s.Begin(chattest.As("ann")); err != nil {
		t.Errorf("after it has ended: got %v", err)
	}
}

// TestSlowExportsHoldUpNobody: exports whose clients do not read leave their places to others, and only those that read count.
func TestSlowExportsHoldUpNobody(t *testing.T) {
	b := chattest.New(t)
	const slow = 5 // more than may read at once
	users := []string{"slow0", "slow1", "slow2", "slow3", "slow4", "quick"}
	b.MakeGroup(chat.GroupDraft{ID: "g"}, users[0], users[1:]...)
	s := open(b, shown(b), nil)
	stuck, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	for _, user := range users[:slow] {
		go func() {
			first := true
			ended <- s.Export(b.Ctx, chattest.As(user), func([]person.Record) error {
				if first {
					first = false
					stuck <- struct{}{}
					<-free
				}
				return nil
			})
		}()
	}
	for range slow {
		<-stuck
	}
	b.Must(s.Export(b.Ctx, chattest.As("quick"), func([]person.Record) error { return nil }))
	close(free)
	for range slow {
		b.Must(<-ended)
	}
}

// open makes the service, where nobody signs in.
func open(b *chattest.Bench, p *profiles.Service, db person.Archive) *person.Service {
	return person.New(b.Service, sources(b, p, db))
}

func sources(b *chattest.Bench, p *profiles.Service, db person.Archive) person.Sources {
	log := slog.New(slog.DiscardHandler)
	decided := users.New(b.Store, users.Options{Node: "n", Now: time.Now, Log: log})
	decided.Attach(sockets{})
	return person.Sources{
		Exports: exports.New(b.Service, b.Store), Blocks: blocks.New(b.Service, b.Store), Drafts: drafts.New(b.Service, b.Store), Threads: threads.New(b.Service, b.Store.Threads, b.Store), MemberData: memberdata.New(b.Service, b.Store),
		Schedules: schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil)), Notifications: notify.New(b.Service, b.Store, notify.Options{}),
		Reports: reports.New(b.Service, b.Store, b.Store, nil, nil), Reviews: reviews.New(b.Service, b.Store, nil, nil), Profiles: p, Invites: invite.New(b.Service, b.Store, b.Store, invite.Options{Now: time.Now, Log: log}), Users: decided, Archive: db,
	}
}

// sockets are a node where carl has a session.
type sockets struct{}

func (sockets) RecheckUsers([]string) {}
func (sockets) Disconnect(string)     {}
func (sockets) SessionsOf(user string) []users.Session {
	if user != "carl" {
		return nil
	}
	return []users.Session{{ID: "s1", Address: "192.0.2.7"}}
}

// shown keeps profiles.
func shown(b *chattest.Bench) *profiles.Service {
	return profiles.New(b.Store, nil, profiles.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// TestExportOfProfile: what a user has said about themselves is in the export, and what their clients keep.
func TestExportOfProfile(t *testing.T) {
	b := chattest.New(t)
	p := shown(b)
	s := open(b, p, nil)
	export := func() (found []*profiles.Own) {
		t.Helper()
		b.Must(s.Export(b.Ctx, chattest.As("alice"), func(records []person.Record) error {
			for _, r := range records {
				if r.Profile != nil {
					found = append(found, r.Profile)
				}
			}
			return nil
		}))
		return found
	}
	if found := export(); len(found) != 0 {
		t.Errorf("got %v of who has no profile", found)
	}
	_, err := p.Patch(b.Ctx, "alice", profiles.Change{Name: json.RawMessage(`"Alice"`), Settings: json.RawMessage(`{"a":1}`)}, nil)
	b.Must(err)
	if found := export(); len(found) != 1 || found[0].Name != "Alice" || string(found[0].Settings) != `{"a":1}` {
		t.Errorf("got %+v", found)
	}
}

// TestExportOfSignIn: the account with its logins, sessions and invitations are in the export, and no secret of them.
func TestExportOfSignIn(t *testing.T) {
	b := chattest.New(t)
	from := sources(b, shown(b), nil)
	from.Accounts = accounts.New(b.Store, accounts.Options{
		Secrets: [][]byte{[]byte("secret")}, Users: from.Users, Flush: b.FlushKnown, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Sign: func(string, string, time.Time) (string, time.Time, error) { return "token", time.Now(), nil },
	})
	const password = "correct horse battery"
	b.Must(from.Accounts.Register(b.Ctx, accounts.Draft{User: "carl", Password: password, Admin: true}, &chat.Caller{User: "root"}))
	pair, err := from.Accounts.Login(b.Ctx, "carl", password, accounts.Client{Address: netip.MustParseAddr("192.0.2.1"), Agent: "browser"})
	b.Must(err)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "carl")
	g := "g"
	secrets := []string{password, pair.Refresh, "$argon2id$"}
	invited := func(by chat.Caller, group *string, note string) {
		made, err := from.Invites.Create(b.Ctx, by, invite.Draft{Group: group, Note: note}, "")
		b.Must(err)
		secrets = append(secrets, made.Code)
	}
	invited(chattest.Operator("carl"), &g, "to g")
	invited(chattest.Operator("carl"), nil, "to register")
	invited(chattest.As("alice"), &g, "of alice")

	var got []string
	b.Must(person.New(b.Service, from).Export(b.Ctx, chattest.As("carl"), func(records []person.Record) error {
		for _, r := range records {
			text := string(chat.Encode(r))
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds a secret", text)
				}
			}
			switch {
			case r.Account != nil:
				got = append(got, fmt.Sprint("account ", r.Account.Role, r.Account.Password, !r.Account.CreatedAt.IsZero()))
			case r.Login != nil:
				got = append(got, fmt.Sprint("login ", r.Login.Address, r.Login.Agent))
			case r.Session != nil:
				got = append(got, fmt.Sprint("session ", r.Session.ID))
			case r.Invite != nil:
				got = append(got, "invite "+r.Invite.Note)
			}
		}
		return nil
	}))
	if want := []string{"invite to g", "account admintrue true", "login 192.0.2.1browser", "session s1", "invite to register"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Of someone else there is nothing.
	b.Must(person.New(b.Service, from).Export(b.Ctx, chattest.As("dora"), func(records []person.Record) error {
		if len(records) > 0 {
			t.Errorf("got %s", chat.Encode(records))
		}
		return nil
	}))
}

// TestExportOfThreads: replies name their root, and what somebody follows is there, with how far they have read.
func TestExportOfThreads(t *testing.T) {
	b := chattest.New(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "carl")
	root := b.Say("alice", "g", "root").ID
	body := "reply"
	sent, err := b.Send(b.Ctx, chattest.As("bob"), "g", chat.Content{Body: &body, Thread: root}, "")
	b.Must(err)
	s := open(b, shown(b), nil)
	for user, want := range map[string][]string{
		"alice": {"a message of 0", fmt.Sprintf(`{"thread":{"group":"g","id":%d,"read":%d,"unread":1}}`, root, root)},
		"bob":   {fmt.Sprint("a message of ", root), fmt.Sprintf(`{"thread":{"group":"g","id":%d,"read":%d,"unread":0}}`, root, sent.ID)},
		"carl":  nil,
	} {
		var got []string
		b.Must(s.Export(b.Ctx, chattest.As(user), func(records []person.Record) error {
			for _, r := range records {
				if r.Thread != nil {
					got = append(got, string(chat.Encode(r)))
				}
				if r.Message != nil {
					var e chat.Entry
					b.Must(json.Unmarshal(r.Message, &e))
					got = append(got, fmt.Sprint("a message of ", e.Thread))
				}
			}
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", user, got, want)
		}
	}
}
