package doctor_test

import (
	"errors"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/store/doctor"
)

// TestPeopleDamage: the index of names, invitations and small tables.
func TestPeopleDamage(t *testing.T) {
	for _, d := range []damage{
		{`ZREM {p}names example\0bob`, doctor.KindIndex, "{u}bob:profile", true},
		{`ZADD {p}names 0 old\0bob`, doctor.KindIndex, "{p}names", true},
		{`ZADD {p}names 0 x\0nobody`, doctor.KindIndex, "{p}names", true},
		{"HDEL {p}invited i", doctor.KindOrphan, "{g}invites", true},
		{"HSET {p}invited other g1", doctor.KindOrphan, "{p}invited", true},
		{"HSET {p}invited other nowhere", doctor.KindOrphan, "{p}invited", true},
		{"HDEL {g}invites i", doctor.KindOrphan, "{p}invited", true},
		{"HSET {g}invites i nothing", doctor.KindName, "{g}invites", false},
		{"HSET {p}g:nowhere:invites j h", doctor.KindOrphan, "{p}g:nowhere:invites", true},
		{"HDEL {p}tables users", doctor.KindTable, "{p}t:users", true},
		{"HSET {p}tables users 5", doctor.KindTable, "{p}t:users", true},
		{"ZREM {p}t:users:at alice", doctor.KindTable, "{p}t:users", true},
		{"HDEL {p}t:users alice", doctor.KindTable, "{p}t:users:at", true},
		{"HSET {p}t:users:used nobody 7", doctor.KindTable, "{p}t:users:used", true},
		{"HSET {p}t:users alice nothing", doctor.KindName, "{p}t:users", false},
		{"HSET {p}tables keys 7", doctor.KindTable, "{p}tables", false},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			group, role := "g1", chat.Ordinary
			_, errs, err := h.Store.PutProfiles(h.Ctx, []profiles.Write{{User: "bob", Stored: profiles.Stored{Text: `{"name":"Bob Example"}`}, Words: []string{"bob", "bob example", "example"}}})
			h.Must(errors.Join(append(errs, err)...))
			h.Must(h.Store.PublishChanges(h.Ctx, profiles.TableName, nil))
			_, err = h.Store.CreateInvite(h.Ctx, chattest.As("alice"), invite.Record{Hash: "h", Invite: invite.Invite{ID: "i", Group: &group, Role: &role, Uses: 1, CreatedBy: "alice", CreatedAt: chat.TimeMs(1)}})
			h.Must(err)
			for _, user := range []string{"alice", "bob"} {
				version, err := h.Store.Put(h.Ctx, "users", table.Row{ID: user, Text: `{"disabled":true}`}, 10)
				h.Must(err)
				h.Must(h.Store.UseRow(h.Ctx, "users", user))
				if user == "bob" {
					_, err = h.Store.Put(h.Ctx, "users", table.Row{ID: user, Version: version}, 10)
					h.Must(err)
				}
			}
			h.sound()
			h.breaks(t, d)
		})
	}
}
