package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/store/doctor"
)

// TestThreadDamage: {root} has the replies {one} of bob, {gone} of carl, which is deleted, and {two} of alice; {ended} had a thread, and
// is deleted. In capitals, ids stand as in replies.
func TestThreadDamage(t *testing.T) {
	for _, d := range []damage{
		{"DEL {g}replies", doctor.KindCount, "{g}replies", true},
		{"DEL {g}threads", doctor.KindCount, "{g}threads", true},
		{"ZADD {g}threads {one} {root}", doctor.KindCount, "{g}threads", true},
		{"ZREM {g}threads {root}", doctor.KindCount, "{g}threads", true},
		{"ZREM {g}replies r{ROOT}~{ONE}~bob", doctor.KindCount, "{g}replies", true},
		{"ZREM {g}replies obob~{ROOT}~{ONE} r{ROOT}~{ONE}~bob i{ONE}~{ROOT}~bob", doctor.KindCount, "{g}replies", true},
		{"ZADD {g}replies 0 ocarl~{ROOT}~{GONE} 0 r{ROOT}~{GONE}~carl 0 i{GONE}~{ROOT}~carl", doctor.KindCount, "{g}replies", true},
		{"ZADD {g}replies 0 r{ROOT}~0000000000005000~bob", doctor.KindCount, "{g}replies", true},
		{"ZADD {g}replies 0 l{ONE}~{ROOT}", doctor.KindCount, "{g}replies", true},
		{"ZREM {g}replies l{TWO}~{ROOT}", doctor.KindCount, "{g}threads", true},
		{"ZADD {g}threads 5 eve~{root}", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 5 bob~5000", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 5 carl~{one}~n", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 5 @all~5000~m", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}replies 0 feve~{ROOT}", doctor.KindOrphan, "{g}replies", true},
		{"ZREM {g}replies t{ROOT}~bob", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 5000 bob~{root}", doctor.KindCursor, "{g}threads", true},
		{"ZADD {g}threads 0 5000", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 0 {ended}", doctor.KindOrphan, "{g}threads", true},
		{"ZADD {g}threads 0 {one}", doctor.KindCount, "{g}threads", true},
		{"HDEL {g}meta threads", doctor.KindGroup, "{g}threads", true},
		{"ZADD {g}threads 5 no~body~here", doctor.KindName, "{g}threads", false},
		{"ZADD {g}replies 0 zero", doctor.KindName, "{g}replies", false},
	} {
		t.Run(d.command, func(t *testing.T) {
			h := newFixture(t)
			h.live("g1")
			reply := func(user string, root int64, mentions ...string) int64 {
				body := "reply"
				sent, err := h.Send(h.Ctx, chattest.As(user), "g1", chat.Content{Body: &body, Thread: root, Mentions: mentions}, "")
				h.Must(err)
				return sent.ID
			}
			remove := func(user string, id int64) {
				_, err := h.Send(h.Ctx, chattest.As(user), "g1", chat.Content{Kind: chat.Delete, Target: id}, "")
				h.Must(err)
			}
			root, ended := h.Say("alice", "g1", "root").ID, h.Say("bob", "g1", "goes").ID
			one, gone, two := reply("bob", root), reply("carl", root), reply("alice", root, "carl")
			remove("carl", gone)
			reply("carl", ended)
			remove("bob", ended)
			h.sound()
			var names []string
			for name, id := range map[string]int64{"root": root, "one": one, "gone": gone, "two": two, "ended": ended} {
				names = append(names, "{"+name+"}", fmt.Sprint(id), "{"+strings.ToUpper(name)+"}", fmt.Sprintf("%016d", id))
			}
			d.command = strings.NewReplacer(names...).Replace(d.command)
			h.breaks(t, d)
		})
	}
}
