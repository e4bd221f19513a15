package store_test

import (
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat"
)

func (w *fixture) pull(user string, p chat.Pull) chat.Page {
	w.Helper()
	pages, err := w.Pull(w.ctx, user, []chat.Pull{p})
	w.ok(err)
	return pages[0]
}

func at(id int64) chat.Position { return chat.Position{Set: true, ID: id} }

func bytesOf(p chat.Page) (n int) {
	for _, m := range p.Messages {
		n += len(m.JSON)
	}
	return n
}

// reads is what user is served of a group after a position.
func (w *fixture) reads(user, group string, pos chat.Position, hint int64, limit int) *chat.Reading {
	w.Helper()
	r := chat.NewReading(group, pos, hint, limit)
	w.ok(chat.Read(w.ctx, w.Store, user, []*chat.Reading{&r}))
	return &r
}

// largeLog makes a group with n messages of the largest size, from id 2 on.
func (w *fixture) largeLog(group string, n int) {
	w.Helper()
	w.group(group, nil, keep(1000))
	for range n {
		w.say(group, "alice", strings.Repeat("x", largeBody))
	}
}

const largeBody = 32 << 10

var pullTests = map[string]func(*fixture){
	"reactions of a page": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(40))
		w.says("g", "alice", 60)
		last := w.info("g", "alice").Last
		for i := range int64(8) {
			w.send(reaction("bob", last-6*i, "a b", false))
			w.send(reaction("alice", last-6*i, "👍", false))
			w.send(reaction("bob", last-6*i, "👍", false))
		}
		w.markRead("g", "bob", w.info("g", "bob").Last)
		w.markRead("g", "alice", w.info("g", "alice").Last)
		trimmed := w.info("g", "alice").First
		if trimmed < 2 {
			w.Fatalf("nothing is trimmed: the log begins at %d", trimmed)
		}
		w.send(reaction("bob", w.info("g", "bob").First, "a b", false))
		end := w.info("g", "alice").Last
		some := false
		for _, user := range []string{"alice", "bob"} {
			all, err := w.Reactions(w.ctx, "g", user, 1, end)
			w.ok(err)
			for _, limit := range []int{1, 30, 100} {
				for edge := int64(0); edge < end+5; edge += 4 {
					for _, p := range []chat.Pull{{From: edge, Limit: limit}, {Before: edge + 1, Limit: limit}} {
						p.Group, p.Counted = "g", true
						page := w.pull(user, p)
						for _, m := range page.Messages {
							w.equal(page.Reactions[m.ID], all[m.ID])
							some = some || all[m.ID]["a b"].Mine
						}
						if page.Reactions == nil {
							w.Fatalf("no reactions came with %+v", p)
						}
					}
				}
			}
		}
		w.equal(some, true)
		if page := w.pull("alice", chat.Pull{Group: "g", From: 1, Limit: 100}); page.Reactions != nil {
			w.Fatalf("reactions came that nobody asked for")
		}
		if page := w.pull("carl", chat.Pull{Group: "g", From: 1, Limit: 100, Counted: true}); page.Reactions != nil {
			w.Fatalf("reactions came to one who is no member")
		}
	},
	"more reactions than one step reads": func(w *fixture) {
		w.group("g", nil, keep(1000))
		for n := range 26 {
			id := w.say("g", "alice", "x")
			for i := range 20 {
				w.send(reaction("alice", id, fmt.Sprintf("e%d.%d", n, i), false))
			}
		}
		if page := w.pull("alice", chat.Pull{Group: "g", From: 1, Limit: 1000, Counted: true}); page.Reactions != nil {
			w.Fatalf("a step read %d reactions", 20*len(page.Reactions))
		}
		if page := w.pull("alice", chat.Pull{Group: "g", From: 1, Limit: 20, Counted: true}); len(page.Reactions) != 1 {
			w.Fatalf("got reactions to %d messages, want 1", len(page.Reactions))
		}
	},
	"a page is bounded in bytes, and the pages follow each other": func(w *fixture) {
		w.largeLog("g", 100) // 2..101
		w.says("g", "alice", 900)
		for after := int64(0); after < 1001; {
			page := w.pull("alice", chat.Pull{Group: "g", From: after + 1, Limit: 1000})
			n := int64(len(page.Messages))
			w.equal(ids(page.Messages), span(after+1, after+n))
			w.equal([]any{n > 0, bytesOf(page) <= 2<<20, page.Cut}, []any{true, true, false})
			after += n
		}
		for before := int64(1002); before > 1; {
			page := w.pull("alice", chat.Pull{Group: "g", Before: before, Limit: 1000})
			n := int64(len(page.Messages))
			w.equal(ids(page.Messages), span(before-n, before-1))
			w.equal([]any{n > 0, bytesOf(page) <= 2<<20}, []any{true, true})
			before -= n
		}
		w.equal(len(w.pull("alice", chat.Pull{Group: "g", From: 200, Limit: 700}).Messages), 700)
		w.equal(ids(w.pull("alice", chat.Pull{Group: "g", Before: 900, Limit: 700}).Messages), span(200, 899))
	},
	"pages of many groups are bounded together, by turns": func(w *fixture) {
		var pulls []chat.Pull
		for i := range 50 {
			group := fmt.Sprint("g", i)
			if i < 3 {
				w.group(group, nil)
				w.says(group, "alice", 7) // 2..8
			} else {
				w.largeLog(group, 5) // 2..6
			}
			pulls = append(pulls, chat.Pull{Group: group, From: 2, Limit: 20})
		}
		pages, err := w.Pull(w.ctx, "alice", pulls)
		w.ok(err)
		served, cut, bytes := 0, 0, 0
		for i, page := range pages {
			w.ok(page.Err)
			w.equal(page.Info.ID, pulls[i].Group)
			w.equal(ids(page.Messages), span(2, int64(1+len(page.Messages))))
			bytes += bytesOf(page)
			if page.Cut {
				cut++
			}
			if len(page.Messages) > 0 {
				served++
			}
		}
		w.equal([]any{served + cut, served >= 20, bytes <= 2<<20}, []any{50, true, true})
		pages, err = w.Pull(w.ctx, "alice", append(pulls[48:50:50], pulls[:3]...))
		w.ok(err)
		for i, want := range []int{5, 5, 7, 7, 7} {
			w.equal([]any{len(pages[i].Messages), pages[i].Cut}, []any{want, false})
		}
	},
	"after seen, with any hint": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 30)
		w.ack("g", "bob", 10)
		for _, hint := range []int64{0, 3, 10, 11, 40, 1_000_000} {
			page := w.reads("bob", "g", chat.Position{}, hint, 5)
			w.ok(page.Err)
			if hint == 3 { // the page begins before seen: what is left of it
				w.equal(ids(page.Messages)[0], int64(11))
				continue
			}
			w.equal(ids(page.Messages), span(11, 15))
		}
		w.ack("g", "bob", 32)
		w.equal(ids(w.reads("bob", "g", chat.Position{}, 0, 5).Messages), []int64{})
		w.equal(w.info("g", "bob").Seen, int64(32))
	},
	"after a position": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 10) // 3..12
		for _, c := range []struct {
			after    int64
			want     []int64
			complete bool
		}{{0, span(1, 3), true}, {5, span(6, 8), true}, {11, span(12, 12), true}, {12, []int64{}, true}, {99, span(1, 3), false}} {
			r := w.reads("bob", "g", at(c.after), 0, 3)
			w.equal([]any{ids(r.Messages), r.Start.Complete, r.Info.Last}, []any{c.want, c.complete, int64(12)})
		}
		mark := w.entry("g", 5).Mark
		w.equal(w.reads("bob", "g", at(5), 0, 3).Position().Mark, mark)
		cursor := chat.Position{Set: true, ID: 5, Epoch: w.info("g", "bob").Epoch, Mark: mark}
		w.equal(ids(w.reads("bob", "g", cursor, 0, 3).Messages), span(6, 8))
		cursor.Mark = "another"
		w.equal(ids(w.reads("bob", "g", cursor, 0, 3).Messages), span(1, 3))
	},
	"from an id": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 10) // 3..12
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", From: 5, Limit: 3}).Messages), span(5, 7))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", From: 11, Limit: 3}).Messages), span(11, 12))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", From: 99, Limit: 3}).Messages), []int64{})
	},
	"before": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 10)
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 6, Limit: 3}).Messages), span(3, 5))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 2, Limit: 3}).Messages), span(1, 1))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 99, Limit: 2}).Messages), span(11, 12))
	},
	"hidden history": func(w *fixture) {
		w.group("g", nil, noHistory)
		w.says("g", "alice", 10) // 2..11
		w.join("g", "bob", "alice")
		w.says("g", "alice", 3) // 13..15
		for _, pos := range []chat.Position{{}, at(0), at(5), at(11)} {
			r := w.reads("bob", "g", pos, 0, 2)
			w.equal([]any{ids(r.Messages), r.Start.Complete}, []any{span(12, 13), true})
		}
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", From: 1, Limit: 9}).Messages), []int64{})
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", From: 9, Limit: 5}).Messages), span(12, 13))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 14, Limit: 9}).Messages), span(12, 13))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 5, Limit: 9}).Messages), []int64{})
	},
	"after what was trimmed": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(5))
		w.says("g", "alice", 20)
		w.ack("g", "alice", 22)
		w.ack("g", "bob", 22)
		page := w.pull("bob", chat.Pull{Group: "g", From: 3, Limit: 3})
		w.equal([]any{ids(page.Messages), page.Info.Held}, []any{span(18, 20), int64(18)})
		r := w.reads("bob", "g", at(3), 0, 3)
		w.equal([]any{ids(r.Messages), r.Start.Complete}, []any{span(18, 20), false})
	},
	"outside": func(w *fixture) {
		w.group("g", nil)
		w.group("p", nil, public)
		pages, err := w.Pull(w.ctx, "dora", []chat.Pull{{Group: "g", Limit: 5}, {Group: "none", Limit: 5}, {Group: "p", Limit: 5}})
		w.ok(err)
		w.fails(pages[0].Err, chat.ErrNotFound)
		w.fails(pages[1].Err, chat.ErrNotFound)
		w.fails(pages[2].Err, chat.ErrForbidden)
		w.equal([]any{pages[1].Info.Epoch, pages[2].Info.Visibility}, []any{"", chat.Public})
		for _, p := range pages {
			w.equal(len(p.Messages), 0)
		}
	},
	"many groups": func(w *fixture) {
		var pulls []chat.Pull
		for i := range 250 {
			id := fmt.Sprintf("g%d", i)
			w.group(id, nil)
			w.says(id, "alice", i%3)
			pulls = append(pulls, chat.Pull{Group: id, Limit: 10})
		}
		pages, err := w.Pull(w.ctx, "alice", pulls)
		w.ok(err)
		for i, page := range pages {
			w.equal(page.Info.ID, pulls[i].Group)
			w.equal(ids(page.Messages), span(1, int64(1+i%3)))
		}
	},
	"only info": func(w *fixture) {
		w.group("g", nil)
		page := w.pull("alice", chat.Pull{Group: "g"})
		w.equal([]int64{int64(len(page.Messages)), page.Info.Last}, []int64{0, 1})
	},
}
