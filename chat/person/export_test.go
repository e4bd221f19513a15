package person_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/person"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/schedule"
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
	webhooks := webhook.New(b.Service, b.Store, nil)
	s := person.New(b.Service, exports.New(b.Service, b.Store), memberdata.New(b.Service, b.Store), schedule.New(b.Service, b.Store, webhooks), notify.New(b.Service, b.Store, notify.Options{}), shown(b), db)

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
	s := person.New(b.Service, exports.New(b.Service, b.Store), memberdata.New(b.Service, b.Store), schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil)), notify.New(b.Service, b.Store, notify.Options{}), shown(b), db)
	if got := exported(b, s, "bob"); !slices.Equal(got, []string{"of the second bob"}) {
		t.Errorf("got %q", got)
	}
}

// TestOneExportOfAUser: a second one has to wait until the first has ended.
func TestOneExportOfAUser(t *testing.T) {
	s := person.New(nil, nil, nil, nil, nil, nil, nil)
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
	s := person.New(b.Service, exports.New(b.Service, b.Store), memberdata.New(b.Service, b.Store), schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil)), notify.New(b.Service, b.Store, notify.Options{}), shown(b), nil)
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

// shown keeps profiles.
func shown(b *chattest.Bench) *profiles.Service {
	return profiles.New(b.Store, nil, profiles.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// TestExportOfProfile: what a user has said about themselves is in the export, and what their clients keep.
func TestExportOfProfile(t *testing.T) {
	b := chattest.New(t)
	p := shown(b)
	s := person.New(b.Service, exports.New(b.Service, b.Store), memberdata.New(b.Service, b.Store), schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil)), notify.New(b.Service, b.Store, notify.Options{}), p, nil)
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
