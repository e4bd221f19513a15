package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/doctor"
)

// TestEndDamage: messages that go by themselves, and one that is being written.
func TestEndDamage(t *testing.T) {
	for _, d := range []damage{
		{"DEL {g}expires", doctor.KindGroup, "{g}expires", true},
		{"ZADD {g}expires 5000 20", doctor.KindOrphan, "{g}expires", true},
		{"ZADD {g}expires 5000 5000", doctor.KindOrphan, "{g}expires", true},
		{"ZINCRBY {g}expires 1000 {goes}", doctor.KindGroup, "{g}expires", true},
		{"ZREM {g}expires {goes}", doctor.KindGroup, "{g}expires", true},
		{"HDEL {g}meta expiring", doctor.KindTask, "{g}expires", true},
		{"DEL {p}q:core:tasks {p}q:core:delayed {p}q:core:unique {p}q:core:counts", doctor.KindTask, "{g}expires", true},
		{"HDEL {g}meta streams", doctor.KindGroup, "{g}streams", true},
		{"HSET {g}streamed 5~1 piece", doctor.KindOrphan, "{g}streamed", true},
		{"EVAL " + dropTask + " 2 {p}q:core:tasks {p}q:core:delayed p00-stream:g1:{epoch}:{open}", doctor.KindTask, "{g}streams", true},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			body := "x"
			var ids []string
			for i, c := range []chat.Content{{ExpireS: 3600}, {ExpireS: 7200}, {Stream: chat.StreamOpen}} {
				c.Kind, c.Body, c.ClientID = chat.Text, &body, fmt.Sprint("ends", i)
				done, err := h.Store.Append(h.Ctx, chat.NewAppend(chat.Entry{Group: "g1", From: "alice", Content: c}, time.Now().UnixMilli()))
				h.Must(err)
				ids = append(ids, fmt.Sprint(done.ID))
			}
			h.sound()
			info, err := h.Store.Infos(h.Ctx, "alice", []string{"g1"})
			h.Must(err)
			d.command = strings.NewReplacer("{goes}", ids[0], "{open}", ids[2], "{epoch}", info[0].Epoch).Replace(d.command)
			h.breaks(t, d)
		})
	}
}
