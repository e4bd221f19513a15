package doctor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/doctor"
)

// stepMax is for how many microseconds one step of the doctor may block the server.
const stepMax = 5000

// TestStepsAreShort examines a store whose contents are as large as they get.
func TestStepsAreShort(t *testing.T) {
	h := newFixtureOn(t, redistest.Start(t)) // an append-only file on a busy disk would add waits
	h.fill()
	var report doctor.Report
	us, step := h.server.Longest(stepMax, func(int) {}, func(int) { report = h.examine(true) })
	t.Logf("at most %d us, %s", us, step)
	if us > stepMax {
		t.Errorf("the server was busy for %d us with %s, want at most %d", us, step, stepMax)
	}
	for _, f := range report.Findings {
		t.Errorf("found in a sound store: %+v", f)
	}
	if report.Groups != 3 {
		t.Errorf("got %d groups", report.Groups)
	}
}

// fill creates keys with as many, or as long, entries as there may be.
func (h *fixture) fill() {
	h.live("g1")
	large := strings.Repeat("x", 16<<10)
	data := json.RawMessage(`"` + large[2:] + `"`)
	text := chat.Content{Body: &large, Data: data}
	h.MakeGroup(chat.GroupDraft{ID: "large"}, "alice", "bob")
	for range 300 {
		_, err := h.Send(h.Ctx, chattest.As("alice"), "large", text, "")
		h.Must(err)
		h.Must(h.PutItem(h.Ctx, "bob", chat.Item{Kind: chat.ItemAnnouncement, Body: &large, Data: data, SentAt: chat.TimeMs(1)}, ""))
	}
	var members, many []string
	for i := range 10_000 {
		name := fmt.Sprint("user", i)
		if many = append(many, name); i < 999 {
			members = append(members, name)
		}
	}
	h.MakeGroup(chat.GroupDraft{ID: "many"}, "alice", members...)
	for i := range 1500 {
		user := members[i%len(members)]
		sent := h.Say(user, "many", "hello")
		_, err := h.Send(h.Ctx, chattest.As(user), "many", chat.Content{Kind: chat.Reaction, Target: sent.ID, Emoji: ":+1:", ClientID: fmt.Sprint(i)}, "")
		h.Must(err)
	}
	root := h.Say("alice", "many", "root").ID
	for i := range 600 {
		body := "reply"
		_, err := h.Send(h.Ctx, chattest.As(members[i%len(members)]), "many", chat.Content{Body: &body, Thread: root}, "")
		h.Must(err)
	}
	for i := range 1200 { // retry keys
		body := "hi"
		_, err := h.Send(h.Ctx, chattest.As("alice"), "many", chat.Content{Body: &body, ClientID: fmt.Sprint("key", i)}, "")
		h.Must(err)
	}
	for i := range 100 {
		_, err := h.webhooks.Create(h.Ctx, chattest.Operator("root"), webhook.Draft{URL: fmt.Sprintf("https://hooks.example/%d?%s", i, strings.Repeat("x", 1000))})
		h.Must(err)
	}
	at := time.Now().Add(24 * time.Hour)
	_, err := announce.New(h.Service, h.Store).Create(h.Ctx, chattest.Operator("root"),
		announce.Draft{To: announce.Target{Users: many}, Content: text, At: &at})
	h.Must(err)
	schedules := schedule.New(h.Service, h.Store, h.webhooks)
	for i := range 300 {
		due := at.Add(time.Duration(i) * time.Minute)
		_, err := schedules.Create(h.Ctx, chattest.As("alice"), schedule.Draft{Group: "large", Content: text, At: &due})
		h.Must(err)
	}
	strangers := []string{"HSET", h.keys("{u}alice:strangers")}
	for i := range 4096 {
		strangers = append(strangers, fmt.Sprint("stranger", i), "1024")
	}
	h.server.Do(strangers...)
}
