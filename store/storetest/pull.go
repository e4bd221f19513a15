package storetest

import (
	"fmt"

	"github.com/chatd/chatd/chat"
)

func (w *world) pull(user string, p chat.Pull) chat.Page {
	w.Helper()
	pages, err := w.Pull(w.ctx, user, []chat.Pull{p})
	w.ok(err)
	return pages[0]
}

func at(id int64) chat.Position { return chat.Position{Set: true, ID: id} }

var pullTests = map[string]func(*world){
	"after seen, with any hint": func(w *world) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 30)
		w.ack("g", "bob", 10)
		for _, hint := range []int64{0, 3, 10, 11, 40, 1_000_000} {
			page := w.pull("bob", chat.Pull{Group: "g", Hint: hint, Limit: 5})
			if page.Err != nil || page.At != nil {
				w.Fatalf("hint %d: got %+v", hint, page)
			}
			if hint == 3 { // the page begins before seen: what is left of it
				w.equal(ids(page.Messages)[0], int64(11))
				continue
			}
			w.equal(ids(page.Messages), span(11, 15))
		}
		w.ack("g", "bob", 32)
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Limit: 5}).Messages), []int64{})
		w.equal(w.info("g", "bob").Seen, int64(32))
	},
	"after a position": func(w *world) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 10) // 3..12
		page := w.pull("bob", chat.Pull{Group: "g", After: at(5), Limit: 3})
		w.equal(ids(page.Messages), span(6, 8))
		w.equal(page.At.Mark, w.entry("g", 5).Mark)
		page = w.pull("bob", chat.Pull{Group: "g", After: at(12), Limit: 3})
		w.equal([]int64{int64(len(page.Messages)), page.At.ID}, []int64{0, 12})
		page = w.pull("bob", chat.Pull{Group: "g", After: at(99), Limit: 3})
		w.equal([]any{len(page.Messages), page.At == nil, page.Info.Last}, []any{0, true, int64(12)})
		page = w.pull("bob", chat.Pull{Group: "g", After: at(0), Limit: 3})
		w.equal([]any{ids(page.Messages), page.At == nil}, []any{span(1, 3), true})
	},
	"before": func(w *world) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 10)
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 6, Limit: 3}).Messages), span(3, 5))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 2, Limit: 3}).Messages), span(1, 1))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 99, Limit: 2}).Messages), span(11, 12))
	},
	"hidden history": func(w *world) {
		w.group("g", nil, noHistory)
		w.says("g", "alice", 10) // 2..11
		w.join("g", "bob", "alice")
		w.says("g", "alice", 3) // 13..15
		for _, p := range []chat.Pull{
			{Group: "g", Limit: 2}, {Group: "g", After: at(0), Limit: 2}, {Group: "g", After: at(5), Limit: 2},
			{Group: "g", After: at(11), Limit: 2},
		} {
			page := w.pull("bob", p)
			w.equal([]any{ids(page.Messages), page.At == nil}, []any{span(12, 13), true})
		}
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 14, Limit: 9}).Messages), span(12, 13))
		w.equal(ids(w.pull("bob", chat.Pull{Group: "g", Before: 5, Limit: 9}).Messages), []int64{})
	},
	"after what was trimmed": func(w *world) {
		w.group("g", []string{"bob"}, keep(5))
		w.says("g", "alice", 20)
		w.ack("g", "alice", 22)
		w.ack("g", "bob", 22)
		page := w.pull("bob", chat.Pull{Group: "g", After: at(3), Limit: 3})
		w.equal([]any{ids(page.Messages), page.Info.First, page.At == nil}, []any{span(18, 20), int64(18), true})
	},
	"outside": func(w *world) {
		w.group("g", nil)
		w.group("p", nil, public)
		pages, err := w.Pull(w.ctx, "dora", []chat.Pull{{Group: "g", Limit: 5}, {Group: "none", Limit: 5}, {Group: "p", Limit: 5}})
		w.ok(err)
		w.fails(pages[0].Err, chat.ErrNotFound)
		w.fails(pages[1].Err, chat.ErrNotFound)
		w.fails(pages[2].Err, chat.ErrForbidden)
		w.equal([]any{pages[1].Info.Epoch, pages[2].Info.Name}, []any{"", "The p"})
		for _, p := range pages {
			w.equal(len(p.Messages), 0)
		}
	},
	"many groups": func(w *world) {
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
	"only info": func(w *world) {
		w.group("g", nil)
		page := w.pull("alice", chat.Pull{Group: "g"})
		w.equal([]int64{int64(len(page.Messages)), page.Info.Last}, []int64{0, 1})
		page = w.pull("alice", chat.Pull{Group: "g", After: at(1)})
		w.equal([]any{len(page.Messages), page.At != nil}, []any{0, true})
	},
}
