package doctor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/doctor"
)

// pause keeps workers from the tasks that a test takes away.
func (h *fixture) pause() *queue.Client {
	c, err := h.Store.TaskClient(queue.Options{Queue: chat.QueueCore})
	h.Must(err)
	h.Must(c.Pause(h.Ctx))
	return c
}

// lose is a command that removes every trace of the tasks whose ids contain a text.
func lose(text string) string {
	script := `for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do if string.find(id, ARGV[1], 1, true) then
		redis.call('HDEL', KEYS[1], id) redis.call('DEL', KEYS[2]) redis.call('ZREM', KEYS[3], id)
		for i = 4, 7 do redis.call('LREM', KEYS[i], 0, id) end end end`
	return "EVAL " + strings.Join(strings.Fields(script), "~") + " 7 {p}q:core:tasks {p}q:core:unique {p}q:core:delayed" +
		" {p}q:core:ready:critical {p}q:core:ready:high {p}q:core:ready:normal {p}q:core:ready:low " + text
}

// TestArchiveWithoutTask: entries that the archive lacks wait for a task.
func TestArchiveWithoutTask(t *testing.T) {
	for _, archived := range []bool{true, false} {
		t.Run(fmt.Sprint("archived before: ", archived), func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			h.pause()
			h.Must(h.Store.SwitchArchive(h.Ctx, "db", true))
			h.Must(h.Store.WantArchive(h.Ctx, "db", 0, true))
			h.Must(h.Store.AlignArchive(h.Ctx, []string{"g1"}))
			if archived {
				h.server.Do("ZADD", "chat:{p00}:g:g1:seen", "40", "$archive")
			}
			h.sound()
			h.Must(h.Store.ArchiveWalked(h.Ctx, true))
			h.sound()
			h.breaks(t, damage{lose("archive"), doctor.KindTask, "{g}meta", true})
		})
	}
}

// TestWebhooksWithoutTask: events that are to be made wait for a task, of all webhooks and of one that is behind, and also where none
// was made yet.
func TestWebhooksWithoutTask(t *testing.T) {
	for name, task := range map[string]string{"events": "-events:", "the first events of a group": "-events:", "behind": "-behind:"} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			later := name == "the first events of a group"
			if !later {
				h.live("g1")
			}
			h.pause()
			registered, err := h.webhooks.Create(h.Ctx, chattest.Operator("root"), webhook.Draft{URL: "https://hooks.example/"})
			h.Must(err)
			h.Must(h.Store.SpreadWebhooks(h.Ctx))
			if later {
				h.live("g1")
			}
			h.Say("alice", "g1", "an event")
			h.sound()
			if task == "-behind:" {
				page, err := h.Store.Unpublished(h.Ctx, "g1", "", 10)
				h.Must(err)
				// No webhook has a share where there are so many.
				behind, err := h.Store.PublishEvents(h.Ctx, "g1", page, page.Messages[0].ID,
					[]webhook.DeliveryTask{{ID: "d", Webhook: registered.ID, Entry: page.Messages[0].ID}}, 1_000_000)
				h.Must(err)
				if len(behind) != 1 {
					t.Fatalf("behind are %v", behind)
				}
				h.sound()
			}
			h.breaks(t, damage{lose(task), doctor.KindTask, "{g}meta", true})
		})
	}
}

// TestAnnouncementStopsHalfway: a run that lost a task goes on after a repair.
func TestAnnouncementStopsHalfway(t *testing.T) {
	const part, open = "chat:{p00}:a:{id}:part", "a run that is not closed"
	for name, also := range map[string][]string{
		"the task of its pages": nil, "a part that has not begun": {"DEL", part}, open: {"HSET", part, "done", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			core := h.pause()
			body := "now"
			a, err := h.announces.Create(h.Ctx, chattest.Operator("root"),
				announce.Draft{To: announce.Target{Users: []string{"bob", "carl"}}, Content: chat.Content{Body: &body}})
			h.Must(err)
			h.announced = a.ID
			begin, pages := h.Store.AnnouncementTasks(a.ID, 1)
			payload, err := json.Marshal(announce.RunTask{Announcement: a.ID, Run: 1})
			h.Must(err)
			h.Must(h.announces.Handlers()[announce.TaskRun].Run(h.Ctx, chat.TaskRun{Payload: payload}))
			h.sound()
			if _, err := core.Cancel(h.Ctx, begin); err != nil {
				t.Fatal(err)
			}
			h.sound()
			for i := range also {
				also[i] = h.keys(also[i])
			}
			if also != nil {
				h.server.Do(also...)
			}
			h.breaks(t, damage{lose(pages[0].ID), doctor.KindAnnouncement, "{p}a:{id}", true})

			h.Must(core.Resume(h.Ctx))
			harness.Eventually(t, 20*time.Second, "the announcement ends", func() error {
				record, err := h.Store.Announcement(h.Ctx, a.ID)
				if err == nil && record.State != announce.Done {
					err = errors.New(string(record.State))
				}
				return err
			})
			if got := len(h.Items("bob")) + len(h.Items("carl")); got != 2 && name != open {
				t.Errorf("%d items were delivered, want 2", got)
			}
		})
	}
}
