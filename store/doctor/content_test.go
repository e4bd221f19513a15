package doctor_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/store/doctor"
)

// TestLogNobodyNeeds: messages that all have acked stay no longer than the group keeps them.
func TestLogNobodyNeeds(t *testing.T) {
	h := newFixture(t)
	h.live("g1")
	last := h.Say("alice", "g1", "the last").ID
	for _, user := range []string{"alice", "bob", "carl"} {
		_, err := h.Ack(h.Ctx, chattest.As(user), "g1", chat.At(last))
		h.Must(err)
	}
	h.breaks(t, damage{"HSET {g}meta keep 0", doctor.KindLog, "{g}msgs", true})
	if n := h.server.Int("ZCARD", h.keys("{g}msgs")); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// TestSettingsThatChanged: a trimmed log is healthy even if its group keeps more from then on.
func TestSettingsThatChanged(t *testing.T) {
	h := newFixture(t)
	few, many := int64(10), int64(1000)
	h.MakeGroup(chat.GroupDraft{ID: "g1", Keep: &few, BacklogMax: &few}, "alice", "bob", "carl")
	for i := range 100 {
		h.Say("alice", "g1", fmt.Sprint(i)) // bob and carl are too far behind to hold back trimming
	}
	h.sound()
	_, err := h.UpdateGroup(h.Ctx, chattest.As("alice"), "g1", chat.GroupChange{Keep: &many, BacklogMax: &many})
	h.Must(err)
	if n := h.server.Int("ZCARD", h.keys("{g}msgs")); n > 100 {
		t.Errorf("%d messages: nothing was trimmed", n)
	}
	h.sound()
}

func TestWebhookDamage(t *testing.T) {
	for _, d := range []damage{
		{"HSET {p}webhooks broken 1~1~{}", doctor.KindWebhook, "{p}webhooks", false},
		{"HSET {p}webhooks:state used 5", doctor.KindWebhook, "{p}webhooks:state", true},
		{"HSET {p}webhooks:state generation 0", doctor.KindWebhook, "{p}webhooks:state", true},
		{"HSET {p}webhooks:health gone 0~0~0~", doctor.KindWebhook, "{p}webhooks:health", true},
		{"HSET {p}wants events 7~7", doctor.KindWebhook, "{p}wants", true},
		{"HSET {p}wants webhooks 99", doctor.KindWebhook, "{p}wants", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			_, err := h.webhooks.Create(h.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://hooks.example/"})
			h.Must(err)
			harness.Eventually(t, 20*time.Second, "the task that copies the state", func() error {
				if h.server.Int("HLEN", h.keys("{p}q:core:tasks")) > 0 {
					return errors.New("waits")
				}
				return nil
			})
			h.breaks(t, d)
		})
	}
}

func TestAnnouncementDamage(t *testing.T) {
	const task = "the task of the next run"
	for _, d := range []damage{
		{task, doctor.KindAnnouncement, "{p}a:{id}", true},
		{"ZREM {p}announcements {id}", doctor.KindAnnouncement, "{p}a:{id}", true},
		{"ZADD {p}announcements 5 gone", doctor.KindAnnouncement, "{p}announcements", true},
		{"HSET {p}a:{id} draft text", doctor.KindAnnouncement, "{p}a:{id}", false},
		{"HSET {p}a:{id} delivered 50", doctor.KindAnnouncement, "{p}a:{id}", false},
		{"RPUSH {p}a:{id}:to:00 nobody", doctor.KindAnnouncement, "{p}a:{id}:to:00", false},
		{"RPUSH {p}a:gone:to:00 u_bob", doctor.KindOrphan, "{p}a:gone:to:00", true},
		{"HSET {p}a:gone:part run 1 total 0 delivered 0 failed 0", doctor.KindOrphan, "{p}a:gone:part", true},
		{"HSET {p}a:{id}:part run 1 total 1 delivered 1 failed 1", doctor.KindAnnouncement, "{p}a:{id}:part", false},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			body, at := "later", time.Now().Add(24*time.Hour)
			a, err := h.announces.Create(h.Ctx, chattest.Operator("root"),
				announce.Draft{To: announce.Target{Users: []string{"bob", "carl"}}, Content: chat.Content{Body: &body}, At: &at})
			h.Must(err)
			h.announced = a.ID
			h.sound()
			if d.command == task {
				id, _ := h.server.Do("HGET", h.keys("{p}a:{id}"), "task").(string)
				d.command = "EVAL " + dropTask + " 2 {p}q:core:tasks {p}q:core:delayed " + id
			}
			h.breaks(t, d)
		})
	}
}
