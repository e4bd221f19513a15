package store_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// dump is everything that the server holds, by key.
func dump(server *redistest.Server) map[string]string {
	all := map[string]string{}
	keys, _ := server.Do("KEYS", "*").([]any)
	for _, key := range keys {
		name, _ := key.(string)
		all[name], _ = server.Do("DUMP", name).(string)
	}
	return all
}

// TestStepsDoneTwice: a step whose answer was lost is repeated. The repeat answers, or refuses, and changes nothing at all
// in the store: not a key, not a task.
func TestStepsDoneTwice(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL(), Prefix: "p"})
	ctx := t.Context()
	created := chat.NewGroup{Group: chat.Group{ID: "g", Name: "G", Visibility: chat.Public, CreatedBy: "alice",
		CreatedAt: chat.TimeMs(1), Epoch: "e", Keep: 2, BacklogMax: 100, Post: chat.PostMembers, History: true}, Key: "k",
		Members: []string{"bob"}, Notices: []chat.NoticeEntry{notice("created"), notice("joined")}}
	change := func(user, by string, role chat.Role) chat.Membership {
		return chat.Membership{Group: "g", User: user, By: chat.Caller{User: by}, Role: role, AtMs: 2, Notice: notice("x"),
			HeirMark: "cccccc", HeirHead: []byte(`"user":"`), HeirTail: []byte(`"}`)}
	}
	keyed := func(a chat.Append, key string) chat.Append {
		a.Key, a.Content = key, "c"
		return a
	}
	reaction := func(removed bool) chat.Append {
		a := greeting("g", "bob")
		a.Kind, a.Target, a.Emoji, a.Removed = chat.Reaction, 3, "x", removed
		return a
	}
	appends := func(a chat.Append) func() error {
		return func() error { _, err := s.Append(ctx, a); return err }
	}
	revision := func(kind chat.Kind, key string) func() error {
		var changes []chat.Change // as they were read the first time
		return func() error {
			found, err := s.Entries(ctx, "g", []int64{3})
			if err != nil {
				return err
			}
			if changes == nil {
				changes = []chat.Change{{Old: found[0], New: found[0]}}
				changes[0].New.JSON = []byte(`{"id":3,"from":"alice","kind":"text"}`)
			}
			a := keyed(greeting("g", "alice"), key)
			a.Kind, a.Target = kind, 3
			_, err = s.Revise(ctx, a, changes, false)
			return err
		}
	}
	name, keep := "H", int64(1)
	item := chat.NewItem{To: "bob", From: "alice", Rest: []byte(`"kind":"direct"}`), SentAtMs: 1, Key: "k", Content: "c"}
	body := "x"
	plan := schedule.NewSchedule{Key: "k", Content: "c", NextMs: 1, Plan: schedule.Plan{Owner: "alice", Group: "g", Epoch: "e", Content: chat.Content{Kind: chat.Text, Body: &body}, Cron: "* * * * *"}}
	var scheduled string
	made := func(version int64) schedule.Record {
		return schedule.Record{ID: scheduled, Plan: plan.Plan, State: schedule.Pending, Version: version, NextMs: 1}
	}
	firing := func(version int64, run string) schedule.Firing {
		a := greeting("g", "alice")
		return schedule.Firing{ID: scheduled, Version: version, Run: run, Recurs: true, NextMs: 2, Epoch: "e", Append: &a}
	}
	announced := func(id string, change func(*announce.NewAnnouncement)) func() error {
		return func() error {
			a := announce.NewAnnouncement{ID: id, Draft: []byte("{}"), Priority: chat.PriorityLow, Page: 10, Users: []string{"dora"}, Groups: []string{"g"}}
			change(&a)
			return s.CreateAnnouncement(ctx, a)
		}
	}
	asIs := func(*announce.NewAnnouncement) {}
	begins := func(id string, nextMs int64) func() error {
		return func() error { _, _, err := s.BeginAnnouncement(ctx, id, 1, nextMs); return err }
	}
	notifies := func() func() error {
		var page *announce.Batch // as it was read the first time
		return func() (err error) {
			if page == nil {
				if page, err = s.AnnouncementPage(ctx, announce.Part{Announcement: "a", Run: 1}); err != nil || page == nil {
					return errors.Join(err, errors.New("no page comes"))
				}
			}
			if page.Group != "" {
				return s.AnnounceToGroup(ctx, page, greeting("g", "op"))
			}
			return s.AnnounceToUsers(ctx, page, chat.NewItem{From: "op", Rest: []byte(`"kind":"announcement"}`), SentAtMs: 1, System: true})
		}
	}
	steps := []struct {
		name  string
		do    func() error
		again error // what the repeat may answer
	}{
		{"create", func() error { return s.CreateGroup(ctx, created) }, nil},
		{"append", appends(keyed(greeting("g", "alice"), "k")), nil},
		{"react", appends(reaction(false)), nil},
		{"take the reaction back", appends(keyed(reaction(true), "r")), nil},
		{"edit", revision(chat.Edit, "e"), nil},
		{"delete", revision(chat.Delete, "d"), nil},
		{"join", func() error { _, _, err := s.Join(ctx, change("carl", "carl", "")); return err }, nil},
		{"role", func() error { _, _, err := s.SetRole(ctx, change("bob", "alice", chat.Admin)); return err }, nil},
		{"owner", func() error { _, _, err := s.SetRole(ctx, change("bob", "alice", chat.Owner)); return err }, nil},
		{"update", func() error {
			return s.UpdateGroup(ctx, chat.Caller{User: "bob"}, "g", nil, chat.GroupChange{Name: &name, Keep: &keep},
				[]chat.NoticeEntry{notice("renamed"), notice("settings")}, 3)
		}, nil},
		{"ack", func() error { _, err := s.Ack(ctx, "g", "bob", chat.At(5), false, ""); return err }, nil},
		{"read", func() error { _, err := s.Ack(ctx, "g", "carl", chat.At(6), true, ""); return err }, nil},
		{"unread", func() error { _, err := s.Unread(ctx, "g", "carl", 4); return err }, nil},
		{"trim", func() error { _, err := s.Trim(ctx, "g"); return err }, nil},
		{"leave", func() error { _, err := s.Leave(ctx, change("bob", "bob", "")); return err }, chat.ErrNotFound},
		{"put into the index", func() error {
			return s.AddUserGroups(ctx, []string{"bob", "carl"}, chat.UserGroup{Group: "g", Seen: 3})
		}, nil},
		{"hint", func() error { return s.HintSeen(ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 4}}) }, nil},
		{"take out of the index", func() error { return s.DropUserGroup(ctx, "bob", "g") }, nil},
		{"inbox", func() error { _, _, _, err := s.InboxAppend(ctx, item); return err }, nil},
		{"open an inbox", func() error { _, err := s.InboxPull(ctx, "dora", chat.Position{}, 1); return err }, nil},
		{"ack the inbox", func() error { _, err := s.InboxAck(ctx, "bob", chat.At(1)); return err }, nil},
		{"schedule", func() error { r, _, err := s.CreateSchedule(ctx, plan); scheduled = r.ID; return err }, nil},
		{"move a schedule", func() error { _, err := s.ChangeSchedule(ctx, made(1), false); return err }, chat.ErrConflict},
		{"fire", func() error { _, err := s.Fire(ctx, firing(2, "")); return err }, nil},
		{"send a schedule now", func() error { _, err := s.Fire(ctx, firing(3, "r")); return err }, nil},
		{"cancel a schedule", func() error { return s.CancelSchedule(ctx, scheduled) }, nil},
		{"forget a schedule", func() error { return s.ForgetSchedule(ctx, scheduled) }, nil},
		{"know", func() error { return s.Know(ctx, "erna") }, nil},
		{"announce", announced("a", asIs), nil},
		{"begin", begins("a", 0), nil},
		{"start", func() error { return s.StartAnnouncement(ctx, "a", 1) }, nil},
		{"notify users", notifies(), nil},
		{"notify a group", notifies(), nil},
		{"close", func() error { return s.CloseAnnouncement(ctx, "a", 1) }, nil},
		{"announce again and again", announced("b", func(a *announce.NewAnnouncement) { a.All, a.Users, a.Groups = true, nil, nil }), nil},
		{"begin the first run", begins("b", 9e15), nil},
		{"start the first run", func() error { return s.StartAnnouncement(ctx, "b", 1) }, nil},
		{"cancel an announcement", func() error { return s.CancelAnnouncement(ctx, "b") }, nil},
		{"forget announcements", func() error { _, err := s.ForgetAnnouncements(ctx); return err }, nil},
		{"claim", func() error { _, err := s.Claim(ctx, "bob", "k", "c"); return err }, nil},
		{"finish", func() error { return s.Finish(ctx, "bob", "k", chat.Answer{Status: 201, Body: json.RawMessage("{}")}) }, nil},
		{"delete the group", func() error { return s.DeleteGroup(ctx, chat.Caller{User: "x", Admin: true}, "g", nil) }, chat.ErrNotFound},
		{"clean up", func() error { _, err := s.Cleanup(ctx, "g", []string{"alice", "bob", "carl", "op"}); return err }, nil},
	}
	for _, step := range steps {
		before := dump(server)
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		once := dump(server)
		if step.name != "trim" && maps.Equal(before, once) {
			t.Errorf("%s changes nothing, so its repeat shows nothing", step.name)
		}
		if err := step.do(); !errors.Is(err, step.again) {
			t.Errorf("%s again: got error %v, want %v", step.name, err, step.again)
		}
		if diff := cmp.Diff(once, dump(server)); diff != "" {
			t.Errorf("%s again changes the store: once -, twice +:\n%s", step.name, diff)
		}
	}
	for key := range dump(server) {
		if strings.Contains(key, ":g:g:") {
			t.Errorf("%s is left of the deleted group", key)
		}
	}
}
