package demo

import (
	"encoding/json"

	"github.com/chatd/chatd/client"
)

// today makes the other groups, and what was said today. Alice has read what she answers, and nothing behind it. What is written last comes
// first in lists.
func (w *world) today() {
	w.say(support,
		line{from: "amina", label: "first", body: "First question about 2.0: where is the switch for offline maps?"},
		line{from: "mateo", reply: "first", body: "Menu, “Offline maps”. The old place has a hint now."},
		line{from: "amina", body: "Thanks, passed on."})
	w.read(support, "amina", "mateo")

	w.group(client.GroupDraft{ID: design, Name: "Design"}, "zoe", "alice", "amina")
	w.say(design,
		line{from: "zoe", body: "Colours of the new map, lightest first: `#f5f7f4`, `#8fd3c8`, `#2f7d6b`, `#14463d`."},
		line{from: "alice", body: "Calm and readable. I like it!", reactions: map[string][]string{"💚": {"zoe"}}})
	w.read(design, "alice")
	w.say(design,
		line{from: "amina", body: "Also readable in bright sun, I tried it on the balcony."},
		line{from: "zoe", body: "Then it stays. Contrast is 7.4 to 1 in both themes."})

	w.group(client.GroupDraft{ID: localization, Name: "Localization · الترجمة"}, "amina", "wangwei", "alice")
	w.say(localization,
		line{from: "amina", body: "شاشة الترحيب: «مرحبًا بك في Trailmap. اختر منطقة، ونزّل خريطتها، وانطلق.»"},
		line{from: "wangwei", body: "欢迎页：“欢迎使用 Trailmap。选择一个区域，下载地图，出发！”", reactions: map[string][]string{"👍": {"amina"}}},
		line{from: "alice", body: "Both read well. Is “region” the same word everywhere?"})
	w.read(localization, "alice")
	w.say(localization,
		line{from: "amina", body: "نعم، «منطقة» في كل الشاشات الاثنتي عشرة."},
		line{from: "wangwei", body: "中文版也统一用“区域”。"})

	w.group(client.GroupDraft{ID: hike, Name: "Weekend hike"}, "mateo", "alice", "wangwei", "zoe", "amina")
	w.say(hike,
		line{from: "mateo", label: "hike", body: "Who is in for Saturday? 14 km, 600 m up, a lake on the way.", reactions: map[string][]string{"🥾": {"alice", "wangwei", "zoe"}}},
		line{from: "zoe", body: "I'll bring the sandwiches."},
		line{from: "alice", reply: "hike", body: "Count me in."})
	w.read(hike, everyone()...)
	w.say(hike, line{from: "wangwei", body: "我带相机和望远镜。"}, line{from: "amina", body: "🏔️"})

	w.group(client.GroupDraft{ID: news, Name: "Announcements", Visibility: "public", Post: "admins"}, "alice", "wangwei", "zoe", "amina", "mateo")
	w.say(news,
		line{from: "alice", body: "**Trailmap 2.0 is out.** Thank you, everyone! The numbers follow on Friday."})
	w.read(news, "wangwei", "zoe", "mateo")

	w.group(client.GroupDraft{ID: community, Name: "Trailmap community", Visibility: "public"}, "mateo", "alice", "wangwei", "zoe", "amina")
	w.say(community, line{from: "mateo", body: "Welcome, all ten thousand of you! Trailmap 2.0 is in the stores."})
	w.read(community, everyone()...)

	w.direct("zoe", "alice", "Lunch at half past twelve?", "Gladly, same place as last time.", "I'll reserve a table.")
	w.direct("wangwei", "alice", "How many walkers do you expect tonight?", "About 40,000, twice as many as usual.", "Good. The servers are ready for 100,000.")

	chart, err := climb()
	if w.err == nil {
		w.err = err
	}
	w.say(launch,
		line{from: "wangwei", body: "早！All release servers are green."},
		line{from: "mateo", label: "rollout", body: "The rollout has started: 20%.", corrected: "The rollout has started: 10%."},
		line{from: "zoe", body: "Does anybody have the keys of the bike shed?", deleted: true},
		line{from: "zoe", label: "chart", body: "The most walked route of the first hour, with its new elevation profile:", files: []file{{"elevation.png", "image/png", string(chart)}},
			reactions: map[string][]string{"😍": {"amina"}, "⛰️": {"wangwei", "mateo"}}},
		line{from: "alice", reply: "chart", body: "What a climb! Let's put it on the store page."},
		line{from: "wangwei", data: json.RawMessage(`{"type":"deploy","service":"tiles","version":"2.0.1","region":"eu-west","status":"healthy","took_s":48}`)},
		line{from: "amina", label: "list", body: "The checklist, signed by everyone:", files: []file{checklist()}},
		line{from: "alice", body: "Thank you! These are the notes as published.", files: []file{notes()}, reactions: map[string][]string{"✅": {"amina"}}})
	w.read(launch, everyone()...)
	w.say(launch,
		line{from: "amina", body: "أول تقييم بالعربية في المتجر: خمس نجوم ⭐⭐⭐⭐⭐", reactions: map[string][]string{"🎉": {"wangwei", "zoe"}}},
		line{from: "wangwei", body: "No errors on the tile servers since ten o'clock."},
		line{from: "mateo", body: "Crash-free sessions are at 99.91%. @alice, shall we go to 100%?"})
	w.read(launch, "wangwei", "zoe", "mateo")
}

// direct lets two talk in turns; the last line is unread.
func (w *world) direct(first, second string, texts ...string) {
	var group string
	w.as(first, func(c *client.Client) error {
		g, err := c.Direct(w, second)
		group = g.ID
		return err
	})
	for i, text := range texts {
		if i%2 == 1 {
			w.read(group, second)
		}
		w.say(group, line{from: []string{first, second}[i%2], body: text})
	}
}
