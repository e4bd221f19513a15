package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
)

func announcement(id string, change func(*announce.NewAnnouncement)) announce.NewAnnouncement {
	a := announce.NewAnnouncement{ID: id, Draft: []byte(`{"from":"op"}`), Priority: chat.PriorityLow, Page: 10, All: true}
	if change != nil {
		change(&a)
	}
	return a
}

func forUsers(users ...string) func(*announce.NewAnnouncement) {
	return func(a *announce.NewAnnouncement) { a.All, a.Users = false, users }
}

func (w *fixture) announces(a announce.NewAnnouncement) {
	w.Helper()
	w.ok(w.CreateAnnouncement(w.ctx, a))
}

func (w *fixture) announced(id string) announce.Record {
	w.Helper()
	r, err := w.Announcement(w.ctx, id)
	w.ok(err)
	return r
}

// announceCounts are state, total, delivered and failed.
func (w *fixture) announceCounts(id string) string {
	w.Helper()
	r := w.announced(id)
	return fmt.Sprintf("%s %d %d %d", r.State, r.Total, r.Delivered, r.Failed)
}

func (w *fixture) beginRun(id string, run, nextMs int64) (goOn bool, wait time.Duration) {
	w.Helper()
	goOn, wait, err := w.BeginAnnouncement(w.ctx, id, run, nextMs)
	w.ok(err)
	return goOn, wait
}

// startRun begins a run and starts its parts.
func (w *fixture) startRun(id string, run int64) {
	w.Helper()
	if goOn, wait := w.beginRun(id, run, 0); !goOn || wait != 0 {
		w.Fatalf("run %d of %s: got %v, %v", run, id, goOn, wait)
	}
	w.ok(w.StartAnnouncement(w.ctx, id, run))
}

func (w *fixture) nextPage(id string, run int64, partition int) *announce.Batch {
	w.Helper()
	page, err := w.AnnouncementPage(w.ctx, announce.Part{Announcement: id, Run: run, Partition: partition})
	w.ok(err)
	return page
}

// announcePage does a page.
func (w *fixture) announcePage(page *announce.Batch) {
	w.Helper()
	if page.Group != "" {
		a := text(page.Group, "op", "hear")
		a.Mark = mark()
		w.ok(w.AnnounceToGroup(w.ctx, page, a))
		return
	}
	i := item("", "op", page.Announcement)
	i.System = true
	w.ok(w.AnnounceToUsers(w.ctx, page, i))
}

// announcesAll does all pages of a run, and closes it.
func (w *fixture) announcesAll(id string, run int64) (pages int) {
	w.Helper()
	for p := range w.Partitions() {
		for page := w.nextPage(id, run, p); page != nil; page = w.nextPage(id, run, p) {
			w.announcePage(page)
			pages++
		}
	}
	w.ok(w.CloseAnnouncement(w.ctx, id, run))
	return pages
}

// heard are the announcements in an inbox.
func (w *fixture) heard(user string) []string {
	w.Helper()
	var out []string
	for _, raw := range w.inbox(user, chat.Position{}, 1000).Items {
		var it chat.Item
		w.ok(json.Unmarshal(raw.JSON, &it))
		out = append(out, *it.Body)
	}
	return out
}

var announcementTests = map[string]func(*fixture){
	"users are known once": func(w *fixture) {
		w.ok(w.Know(w.ctx, "requester"))
		w.ok(w.Know(w.ctx, "requester"))
		w.ok(w.AddUserGroups(w.ctx, []string{"member"}, chat.UserGroup{Group: "g", Seen: 0}))
		w.put(item("receiver", "sender", "x"))
		w.announces(announcement("a", nil))
		w.equal(w.announceCounts("a"), "pending 0 0 0")
		w.startRun("a", 1)
		w.equal(w.announceCounts("a"), "running 3 0 0")
		w.announcesAll("a", 1)
		w.equal(w.announceCounts("a"), "done 3 3 0")
		for _, user := range []string{"requester", "member"} {
			w.equal(w.heard(user), []string{"a"})
		}
		w.equal(w.heard("receiver"), []string{"x", "a"})
		w.equal(w.heard("sender"), []string(nil))
	},
	"to everyone, page by page": func(w *fixture) {
		const users = 230
		for i := range users {
			w.ok(w.Know(w.ctx, fmt.Sprintf("u%d", i)))
		}
		w.announces(announcement("a", nil))
		w.startRun("a", 1)
		for p := range w.Partitions() {
			page := w.nextPage("a", 1, p)
			w.equal([]any{len(page.Users), page.Cursor, page.Next == page.Users[9], page.Last}, []any{10, "", true, false})
			w.announcePage(page)
			w.announcePage(page) // by a worker whose answer was lost
			w.ok(w.StartAnnouncement(w.ctx, "a", 1))
		}
		w.equal(w.announceCounts("a"), fmt.Sprintf("running %d %d 0", users, 10*w.Partitions()))
		w.ok(w.Know(w.ctx, "zz")) // behind the places of all parts: a target too
		w.announcesAll("a", 1)
		w.equal(w.announceCounts("a"), fmt.Sprintf("done %d %d 0", users+1, users+1))
		for i := range users {
			w.equal(w.heard(fmt.Sprintf("u%d", i)), []string{"a"})
		}
		w.equal(w.heard("zz"), []string{"a"})
	},
	"to groups and users": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.group("h", nil)
		var users []string
		for i := range 25 {
			users = append(users, fmt.Sprintf("u%d", i))
		}
		w.announces(announcement("a", func(a *announce.NewAnnouncement) {
			forUsers(users...)(a)
			a.Groups = []string{"g", "none", "h"}
		}))
		w.equal(w.announceCounts("a"), "pending 28 0 0")
		before := w.info("g", "bob")
		w.startRun("a", 1)
		w.equal(w.announceCounts("a"), "running 28 0 0")
		pages := w.announcesAll("a", 1)
		w.equal(w.announceCounts("a"), "done 28 27 1")
		if pages < 3+3 {
			w.Fatalf("got %d pages for 25 users by 10, and 3 groups", pages)
		}
		for _, user := range users {
			w.equal(w.heard(user), []string{"a"})
		}
		for group, id := range map[string]int64{"g": before.Last + 1, "h": 2} {
			e := decode(w, w.entry(group, id))
			w.equal([]any{e.From, e.Kind, *e.Body}, []any{"op", chat.Text, "hear"})
		}
		after := w.info("g", "bob")
		w.equal([]int64{after.Last, after.Unread, after.Group.Members}, []int64{before.Last + 1, before.Unread + 1, 2})
	},
	"many targets": func(w *fixture) {
		var users []string
		for i := range 10_000 {
			users = append(users, fmt.Sprintf("u%d", i))
		}
		w.announces(announcement("a", func(a *announce.NewAnnouncement) {
			forUsers(users...)(a)
			a.Page = 10_000
		}))
		w.startRun("a", 1)
		var named []string
		for p := range w.Partitions() {
			page := w.nextPage("a", 1, p)
			w.equal(page.Last, true)
			named = append(named, page.Users...)
		}
		slices.Sort(users)
		slices.Sort(named)
		w.equal(named, users)
	},
	"a full inbox": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 2 })
		w.put(item("bob", "alice", "1"))
		w.put(serverItem("bob", "2"))
		for _, id := range []string{"a", "b"} {
			w.announces(announcement(id, forUsers("bob")))
			w.startRun(id, 1)
			w.announcesAll(id, 1)
			w.equal(w.announceCounts(id), "done 1 1 0")
		}
		w.equal(w.heard("bob"), []string{"1"}) // up to what is missing
		w.equal(w.drain("bob", chat.Position{}), []string{"1", "missing", "4"})
		w.ackInbox("bob", 4)
		w.put(item("bob", "alice", "5"))
		w.put(item("bob", "alice", "6"))
		w.announces(announcement("c", forUsers("bob")))
		w.startRun("c", 1)
		w.announcesAll("c", 1)
		w.equal(w.announceCounts("c"), "done 1 0 1")
	},
	"created once": func(w *fixture) {
		w.announces(announcement("a", forUsers("bob")))
		w.announces(announcement("a", forUsers("bob")))
		w.equal(len(w.waiting(announce.TaskRun)), 1)
		r := w.announced("a")
		w.equal([]any{string(r.Draft), r.Run, r.NextMs > 0, r.CreatedMs > 0}, []any{`{"from":"op"}`, int64(0), true, true})
		_, err := w.Announcement(w.ctx, "none")
		w.fails(err, chat.ErrNotFound)
		list, err := w.AnnouncementsBefore(w.ctx, 0, 10)
		w.ok(err)
		w.equal(len(list), 1)
	},
	"at its time": func(w *fixture) {
		at := w.now() + 3_600_000
		w.announces(announcement("a", func(a *announce.NewAnnouncement) { a.StartMs = at }))
		for _, due := range w.waiting(announce.TaskRun) {
			w.equal(due, at)
		}
		w.equal(w.announced("a").NextMs, at)
		goOn, wait := w.beginRun("a", 1, 0)
		if goOn || wait > time.Hour || wait < 59*time.Minute {
			w.Fatalf("got %v, %v an hour before its time", goOn, wait)
		}
		w.equal(w.announceCounts("a"), "pending 0 0 0")
	},
	"again and again": func(w *fixture) {
		w.announces(announcement("a", forUsers("bob")))
		next := w.now() - 1000 // it was missed meanwhile
		goOn, _ := w.beginRun("a", 1, next)
		w.equal(goOn, true)
		goOn, _ = w.beginRun("a", 1, next) // its worker died
		w.equal(goOn, true)
		w.equal(len(w.waiting(announce.TaskRun)), 2)
		w.ok(w.StartAnnouncement(w.ctx, "a", 1))
		w.equal(len(w.waiting(announce.TaskPart)), 1)
		goOn, wait := w.beginRun("a", 2, 0) // the first run is still on its way
		w.equal([]any{goOn, wait}, []any{false, time.Second})
		goOn, wait = w.beginRun("a", 3, 0)
		w.equal([]any{goOn, wait}, []any{false, time.Duration(0)})
		var held *announce.Batch
		for p := 0; held == nil; p++ {
			held = w.nextPage("a", 1, p)
		}
		w.announcesAll("a", 1)
		w.equal(w.announceCounts("a"), "pending 1 1 0")
		w.equal(w.announced("a").NextMs, next)
		goOn, wait = w.beginRun("a", 1, next)
		w.equal([]any{goOn, wait}, []any{false, time.Duration(0)})

		w.startRun("a", 2)
		w.ok(w.StartAnnouncement(w.ctx, "a", 1)) // by one who was stopped for a while
		w.announcePage(held)
		w.equal(w.announceCounts("a"), "running 1 0 0")
		w.equal(w.nextPage("a", 1, 0), (*announce.Batch)(nil))
		w.announcesAll("a", 2)
		w.equal(w.announceCounts("a"), "done 1 1 0")
		w.equal(w.heard("bob"), []string{"a", "a"})
	},
	"cancel what waits": func(w *fixture) {
		w.fails(w.CancelAnnouncement(w.ctx, "a"), chat.ErrNotFound)
		w.announces(announcement("a", func(a *announce.NewAnnouncement) {
			forUsers("bob")(a)
			a.StartMs = w.now() + 3_600_000
		}))
		w.ok(w.CancelAnnouncement(w.ctx, "a"))
		w.ok(w.CancelAnnouncement(w.ctx, "a"))
		w.equal(w.announceCounts("a"), "cancelled 1 0 0")
		w.equal(len(w.waiting(announce.TaskRun)), 0)
		goOn, wait := w.beginRun("a", 1, 0)
		w.equal([]any{goOn, wait}, []any{false, time.Duration(0)})
	},
	"cancel what is on its way": func(w *fixture) {
		const users = 100
		for i := range users {
			w.ok(w.Know(w.ctx, fmt.Sprintf("u%d", i)))
		}
		w.announces(announcement("a", nil))
		w.startRun("a", 1)
		held := w.nextPage("a", 1, 0)
		w.announcePage(held)
		held = w.nextPage("a", 1, 0)
		w.ok(w.CancelAnnouncement(w.ctx, "a"))
		w.announcePage(held) // by a worker who read it before
		w.ok(w.StartAnnouncement(w.ctx, "a", 1))
		for p := range w.Partitions() {
			w.equal(w.nextPage("a", 1, p), (*announce.Batch)(nil))
		}
		w.ok(w.CloseAnnouncement(w.ctx, "a", 1))
		w.ok(w.CancelAnnouncement(w.ctx, "a"))
		w.equal(w.announceCounts("a"), fmt.Sprintf("cancelled %d 10 0", users))
		got := 0
		for i := range users {
			got += len(w.heard(fmt.Sprintf("u%d", i)))
		}
		w.equal(got, 10)
	},
	"cancel what has begun": func(w *fixture) {
		w.ok(w.Know(w.ctx, "bob"))
		w.announces(announcement("all", nil))
		w.announces(announcement("named", forUsers("bob", "carl")))
		for id, want := range map[string]string{"all": "cancelled 0 0 0", "named": "cancelled 2 0 0"} {
			goOn, _ := w.beginRun(id, 1, 0)
			w.equal(goOn, true)
			w.ok(w.CancelAnnouncement(w.ctx, id))
			w.ok(w.StartAnnouncement(w.ctx, id, 1)) // by the worker who began it
			w.equal(len(w.waiting(announce.TaskPart)), 0)
			w.equal(w.announceCounts(id), want)
		}
	},
	"cancel what is done": func(w *fixture) {
		w.announces(announcement("a", forUsers("bob")))
		w.startRun("a", 1)
		w.announcesAll("a", 1)
		w.fails(w.CancelAnnouncement(w.ctx, "a"), chat.ErrConflict)
	},
	"start what was forgotten": func(w *fixture) {
		w.announces(announcement("a", forUsers("bob")))
		w.ok(w.Know(w.ctx, "carl"))
		goOn, _ := w.beginRun("a", 1, 0)
		w.equal(goOn, true)
		w.ok(w.CancelAnnouncement(w.ctx, "a"))
		n, err := w.ForgetAnnouncements(w.ctx)
		w.ok(err)
		w.equal(n, 1)
		w.ok(w.StartAnnouncement(w.ctx, "a", 1)) // by a worker who began it
		w.equal(len(w.waiting(announce.TaskPart)), 0)
	},
	"nobody to tell": func(w *fixture) {
		w.announces(announcement("a", nil))
		w.startRun("a", 1)
		w.ok(w.CloseAnnouncement(w.ctx, "a", 1))
		w.equal(w.announceCounts("a"), "done 0 0 0")
		w.equal(len(w.waiting(announce.TaskPart)), 0)
	},
	"the list": func(w *fixture) {
		for i := range 7 {
			w.announces(announcement(fmt.Sprint(i), forUsers("bob")))
		}
		var all []string
		before := int64(0)
		for {
			list, err := w.AnnouncementsBefore(w.ctx, before, 3)
			w.ok(err)
			if len(list) == 0 {
				break
			}
			for _, r := range list {
				all = append(all, r.ID)
				before = r.Position
			}
		}
		w.equal(strings.Join(all, ""), "6543210")
	},
	"those that ended make room": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.AnnouncementsMax = 4 })
		n, err := w.ForgetAnnouncements(w.ctx)
		w.ok(err)
		w.equal(n, 0)
		for _, id := range []string{"pending", "done", "running", "cancelled"} {
			w.announces(announcement(id, forUsers("bob")))
		}
		w.startRun("done", 1)
		w.announcesAll("done", 1)
		w.startRun("running", 1)
		w.startRun("cancelled", 1)
		w.ok(w.CancelAnnouncement(w.ctx, "cancelled"))
		w.fails(w.CreateAnnouncement(w.ctx, announcement("new", forUsers("bob"))), chat.ErrOutOfRange)
		n, err = w.ForgetAnnouncements(w.ctx)
		w.ok(err)
		w.equal(n, 2)
		w.announces(announcement("new", forUsers("bob")))
		for id, want := range map[string]error{"pending": nil, "done": chat.ErrNotFound, "running": nil, "cancelled": chat.ErrNotFound, "new": nil} {
			_, err := w.Announcement(w.ctx, id)
			w.fails(err, want)
		}
		w.equal(w.announceCounts("running"), "running 1 0 0")
	},
}
