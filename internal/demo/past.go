package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// line is a message, and what became of it.
type line struct {
	from      string
	at        string // how many days ago and when, such as "3 09:04"; empty: now
	label     string // by which reply names it
	reply     string
	body      string
	data      json.RawMessage
	files     []file
	corrected string // what an edit made of it; of the past: that it was edited
	deleted   bool
	reactions map[string][]string // emoji -> users

	id int64 // once it was sent
}

// Log is a group with messages of the days before.
type Log struct {
	ID, Name, Owner string
	Members         []string
	lines           []line
}

// Past are the groups that have messages of the days before. Import them (`chatd import -messages`) before Fill: it cannot set the
// times of messages.
func Past() []Log {
	return []Log{
		{launch, "Trailmap 2.0", "alice", []string{"wangwei", "zoe", "amina", "mateo"}, launchPast},
		{support, "Customer support", "amina", []string{"alice", "zoe", "mateo"}, supportPast()},
	}
}

// WriteTo writes the messages as `chatd import -messages` reads them.
func (l Log) WriteTo(w io.Writer, now time.Time) error {
	out := json.NewEncoder(w)
	for _, m := range l.lines {
		at := m.sentAt(now)
		record := map[string]any{"from": m.from, "sent_at": at, "body": m.body}
		if m.label != "" {
			record["id"] = m.label
		}
		if m.reply != "" {
			record["reply_to"] = m.reply
		}
		if users := mentioned(m.body); users != nil {
			record["mentions"] = users
		}
		if m.corrected != "" {
			record["body"], record["edited_at"] = m.corrected, at.Add(time.Minute)
		}
		if m.reactions != nil {
			record["reactions"] = m.reactions
		}
		if err := out.Encode(record); err != nil {
			return err
		}
	}
	return nil
}

var daysAndTime = regexp.MustCompile(`^(\d+) (\d\d):(\d\d)$`)

// sentAt is when a line of the past was sent.
func (m line) sentAt(now time.Time) time.Time {
	var days, hour, minute int
	if _, err := fmt.Sscanf(m.at, "%d %d:%d", &days, &hour, &minute); err != nil || !daysAndTime.MatchString(m.at) {
		return now
	}
	return time.Date(now.Year(), now.Month(), now.Day()-days, hour, minute, 7*hour%60, 0, now.Location())
}

// past makes the groups of Past where they were not imported: their messages are of now then.
func (w *world) past(now time.Time) {
	for _, l := range Past() {
		imported := false
		w.as(l.Owner, func(c *client.Client) error {
			_, err := c.Group(w, l.ID)
			imported = err == nil
			if client.CodeOf(err) == client.CodeNotFound {
				err = nil
			}
			return err
		})
		if imported {
			continue
		}
		members := append([]string{l.Owner}, l.Members...)
		w.group(client.GroupDraft{ID: l.ID, Name: l.Name}, members...)
		w.say(l.ID, l.lines...)
		w.read(l.ID, members...)
	}
}

// Ids of groups.
const (
	launch       = "trailmap-2"
	support      = "support"
	design       = "design"
	localization = "localization"
	hike         = "weekend-hike"
	news         = "announcements"
	community    = "community"
	feed         = "trail-feed"
	invoices     = "invoices"
	review       = "review-1-9"
)

var launchPast = []line{
	{at: "3 09:04", from: "alice", body: "Good morning! **Trailmap 2.0** is nearly there. Let's use this group for everything about the release."},
	{at: "3 09:06", from: "zoe", body: "Morning! The new onboarding screens are ready for review. I'll post them in Design."},
	{at: "3 09:07", from: "wangwei", label: "load", body: "早上好！Offline maps passed the load test last night: the slowest region took 1.8 s.",
		reactions: map[string][]string{"🎉": {"alice", "zoe", "mateo"}}},
	{at: "3 09:12", from: "mateo", reply: "load", body: "1.8 s for a whole region? That's half of what we had in 1.9."},
	{at: "3 09:13", from: "wangwei", body: "Yes, the tiles are packed better now. On a mid-range phone:\n\n- download *41 MB* instead of 78 MB\n- unpacking 0.6 s\n- first map on screen after 1.8 s",
		reactions: map[string][]string{"👏": {"alice", "amina"}}},
	{at: "3 09:20", from: "amina", body: "صباح الخير! ترجمة الشاشات الجديدة إلى العربية جاهزة للمراجعة.", reactions: map[string][]string{"👏": {"alice", "zoe"}}},
	{at: "3 09:21", from: "alice", label: "rtl", body: "شكرًا يا أمينة! @zoe, could you look at the right-to-left layout together with @amina?"},
	{at: "3 09:25", from: "zoe", reply: "rtl", body: "Sure, right after lunch."},
	{at: "3 14:02", from: "zoe", body: "> The back arrow should point right in Arabic\n\nDone, and the progress bar fills from the right as well."},
	{at: "3 14:05", from: "amina", body: "ممتاز، كل شيء يبدو صحيحًا الآن.", reactions: map[string][]string{"✅": {"zoe"}}},
	{at: "3 16:40", from: "mateo", body: "Build 118 is on the test devices. Please take it for a walk tonight!"},
	{at: "3 16:41", from: "zoe", body: "🥾"},
	{at: "2 08:55", from: "alice", body: "How was the walk?"},
	{at: "2 09:02", from: "zoe", label: "compass", body: "Lovely. One thing: the compass jumps when the phone wakes up."},
	{at: "2 09:03", from: "mateo", reply: "compass", body: "I can reproduce it. We show the last heading before the sensor has a new one."},
	{at: "2 09:31", from: "mateo", label: "fix",
		body:      "Here is the fix:\n\n```swift\nfunc didBecomeActive() {\n    heading = nil // wait for a fresh value\n    sensor.start { [weak self] value in\n        self?.heading = value\n    }\n}\n```",
		reactions: map[string][]string{"👍": {"wangwei", "zoe"}}},
	{at: "2 09:35", from: "wangwei", reply: "fix", body: "看起来不错，可以合并了。"},
	{at: "2 09:36", from: "mateo", body: "Merged. It's in build 119."},
	{at: "2 11:10", from: "alice", body: "The store texts are up for review: [release notes](https://example.com/trailmap/2-0). Short and plain, please."},
	{at: "2 11:24", from: "amina", body: "I cut the Arabic text by a third. The store allows 170 characters.", corrected: "I cut the Arabic text by a third, it now fits the 170 characters of the store."},
	{at: "2 15:15", from: "alice", label: "plan",
		body:      "The plan for release day:\n\n1. 09:00 last check on the test devices\n2. 10:00 release to 10%\n3. 14:00 everyone, if the crash rate stays under 0.2%",
		reactions: map[string][]string{"✅": {"wangwei", "zoe", "amina", "mateo"}}},
	{at: "1 09:00", from: "wangwei", body: "The tile servers have twice the capacity until Sunday. 周末流量通常是平时的三倍。"},
	{at: "1 09:10", from: "zoe", body: "The last illustration is in. No more pixels from me this week."},
	{at: "1 10:22", from: "mateo", label: "beta", body: "Crash-free sessions in the beta: **99.87%**"},
	{at: "1 10:23", from: "alice", body: "🎉🎉🎉"},
	{at: "1 17:30", from: "alice", body: "That's it for today. See you at nine!", reactions: map[string][]string{"👋": {"zoe", "mateo"}}},
}

// Parts of the questions of customers.
var (
	phones    = []string{"a Pixel 8", "an iPhone 13", "a Galaxy S22", "an older tablet", "a Fairphone 5", "an iPhone SE"}
	regions   = []string{"the Dolomites", "Patagonia", "the Lake District", "Yunnan", "the High Atlas", "Hokkaido", "the Pyrenees", "the Black Forest", "Madeira"}
	questions = []struct{ asked, answered string }{
		{"A customer with %[1]s asks how to keep the map of %[2]s on the phone.", "Menu, “Offline maps”, then “Download region”. It stays until they remove it."},
		{"Somebody on %[1]s sees %[2]s in grey.", "That's the placeholder while tiles load. Pulling down once loads them again."},
		{"Can two people share a route through %[2]s? One of them has %[1]s.", "Yes, by link. The other one sees changes within a minute."},
		{"The elevation profile of a route in %[2]s looks flat on %[1]s.", "The scale was in feet. It follows the settings since build 119."},
		{"Asked today: does Trailmap drain the battery of %[1]s on a long day in %[2]s?", "About 4% an hour with the screen off. We have a page about it."},
		{"A customer wants an invoice for the yearly plan. They use %[1]s and hike in %[2]s.", "It's in their account under “Receipts”. I sent the link."},
		{"Bug report from %[2]s: the track stops when %[1]s is locked.", "That's the battery saver. The app explains how to allow tracking now."},
		{"Praise from %[2]s: the new map “reads like paper”, on %[1]s.", "That goes straight to Zoë. Thank you!"},
		{"A hut in %[2]s has moved. Reported from %[1]s.", "Corrected at the source, it will be on the map tomorrow."},
		{"Export of a track from %[2]s to GPX fails on %[1]s.", "Fixed in 1.9.4. They were on 1.9.1."},
		{"Is there a night mode? The customer walks in %[2]s before sunrise, with %[1]s.", "Yes: Settings, “Appearance”, “Follow the sun”."},
	}
	thanks = []string{"Thanks, passed on.", "Great, I'll tell them.", "They are happy. Closing this one.", "Thank you!", "Answered.", "Works for them now."}
)

// supportPast is a longer history: three messages for each question, over the working hours of a week.
func supportPast() (lines []line) {
	const asked = 132
	answering := []string{"mateo", "alice", "zoe"}
	for i := range asked {
		q := questions[i%len(questions)]
		minute := 540 + (i%22)*22 // from 09:00 on
		at := func(later int) string {
			return fmt.Sprintf("%d %02d:%02d", 7-i/22, (minute+later)/60, (minute+later)%60)
		}
		label := fmt.Sprintf("question %d", i+1)
		lines = append(lines,
			line{at: at(0), from: "amina", label: label, body: fmt.Sprintf(q.asked, phones[i*5%len(phones)], regions[i*7%len(regions)])},
			line{at: at(4), from: answering[i%len(answering)], reply: label, body: q.answered},
			line{at: at(9), from: "amina", body: thanks[i*5%len(thanks)]})
		if i%9 == 4 {
			lines[len(lines)-2].reactions = map[string][]string{"🙏": {"amina"}}
		}
	}
	return slices.Clip(lines)
}
