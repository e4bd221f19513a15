package store_test

import (
	"errors"
	"strings"
	"sync"

	"github.com/chatd/chatd/chat"
)

// pullTogether pulls for many users at the same time, sharing what is read.
func (w *fixture) pullTogether(users []string, pulls []chat.Pull) []chat.Page {
	w.Helper()
	pages, errs := make([]chat.Page, len(users)), make([]error, len(users))
	var done sync.WaitGroup
	for i, user := range users {
		done.Go(func() {
			p := pulls[i]
			p.Shared = true
			read, err := w.Pull(w.ctx, user, []chat.Pull{p})
			if errs[i] = err; err == nil {
				pages[i] = read[0]
			}
		})
	}
	done.Wait()
	w.ok(errors.Join(errs...))
	return pages
}

// sharedAsAlone expects of pulls that share what is read what each gets alone: of all users, from anywhere.
func (w *fixture) sharedAsAlone(groups []string, last int64, all ...string) {
	w.Helper()
	for _, limit := range []int{0, 1, 3, 24, 25, 641} {
		w.sharedWithLimit(groups, last, limit, all)
	}
}

func (w *fixture) sharedWithLimit(groups []string, last int64, limit int, all []string) {
	w.Helper()
	var users []string
	var pulls []chat.Pull
	for _, g := range groups {
		for from := int64(0); from <= last+1; from++ {
			for _, user := range all {
				users, pulls = append(users, user), append(pulls, chat.Pull{Group: g, From: from, Limit: limit})
			}
		}
	}
	for i, got := range w.pullTogether(users, pulls) {
		want := w.pull(users[i], pulls[i])
		if len(got.Messages)+len(want.Messages) == 0 {
			got.Messages, want.Messages = nil, nil
		}
		got.Together = nil
		if !errors.Is(got.Err, want.Err) {
			w.Errorf("%s, %+v: got %v, want %v", users[i], pulls[i], got.Err, want.Err)
		}
		got.Err, want.Err = nil, nil
		w.equal(got, want)
	}
}

var sharedTests = map[string]func(*fixture){
	"as alone": func(w *fixture) {
		w.group("open", []string{"bob"}, public, keep(3))
		w.group("g", []string{"bob"}, noHistory)
		w.group("private", []string{"bob", "carl"})
		for _, g := range []string{"open", "g", "private"} {
			for _, from := range []string{"alice", "bob", "alice"} {
				w.say(g, from, "before")
			}
			w.join(g, "dora", "alice")
			w.send(mentioning(g, "alice", "dora"))
			w.say(g, "bob", "after")
			w.say(g, "dora", "mine")
			w.ack(g, "bob", 4)
		}
		w.leave("private", "carl")
		for _, user := range []string{"alice", "bob", "dora"} { // what they saw is trimmed
			w.ack("open", user, 7)
		}
		for _, target := range []int64{3, 7} { // of dora, the first is hidden
			a, changes := revision(w, chat.Edit, "alice", target)
			_, err := w.Revise(w.ctx, a, changes, false)
			w.ok(err)
			a, changes = revision(w, chat.Delete, "bob", target+1)
			_, err = w.Revise(w.ctx, a, changes, false)
			w.ok(err)
		}
		w.markRead("g", "alice", 5)
		w.sharedAsAlone([]string{"open", "g", "private", "none"}, 13, "alice", "bob", "carl", "dora", "eve")
	},
	"with an archive": func(w *fixture) {
		w.group("g", []string{"bob"}, keep(2), public)
		w.says("g", "alice", 6) // 3..8
		w.ack("g", "alice", 8)
		w.ack("g", "bob", 8)
		w.poke("HSET", w.groupKey("g", "meta"), "archived_from", 3, "late", 5, "changed", 6)
		w.poke("ZADD", w.groupKey("g", "seen"), 7, "$archive")
		w.sharedAsAlone([]string{"g"}, 8, "alice", "bob", "carl")
	},
	// Whether they are read together is a matter of time, so each page is checked by itself.
	"long pages are cut by their bytes": func(w *fixture) {
		w.group("open", []string{"bob", "carl"})
		w.group("g", []string{"bob"}, noHistory)
		for _, g := range []string{"open", "g"} {
			for range 60 {
				w.say(g, "alice", strings.Repeat("long ", 600))
			}
		}
		w.join("g", "dora", "alice")
		w.says("g", "bob", 3)
		var users []string
		var pulls []chat.Pull
		for range 20 {
			for _, user := range []string{"alice", "bob", "carl", "dora", "eve"} {
				for _, p := range []chat.Pull{{Group: "open", From: 3, Limit: 300}, {Group: "open", From: 9, Limit: 300}, {Group: "g", From: 2, Limit: 300}} {
					p.NoUnread = true
					users, pulls = append(users, user), append(pulls, p)
				}
			}
		}
		for i, got := range w.pullTogether(users, pulls) {
			alone := pulls[i]
			alone.Limit = max(1, len(got.Messages))
			want := w.pull(users[i], alone)
			if len(got.Messages) == 0 && !got.Cut {
				w.equal(len(want.Messages), 0)
			}
			if !errors.Is(got.Err, want.Err) || got.Cut && got.Err != nil || got.Together != nil && got.Info.Hidden() > 0 {
				w.Errorf("%s, %+v: got %+v, want %v", users[i], pulls[i], got, want.Err)
			}
			if len(got.Messages) > 0 {
				w.equal(got.Messages, want.Messages)
			}
			want.Info.Unread, got.Info.Unread = 0, 0
			w.equal(got.Info, want.Info)
		}
	},
	"an entry that cannot be read spoils the pages with it": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.says("g", "alice", 4) // 3..6
		w.poke("ZREMRANGEBYSCORE", w.groupKey("g", "msgs"), 4, 4)
		w.poke("ZADD", w.groupKey("g", "msgs"), 4, "no entry")
		pulls := []chat.Pull{{Group: "g", From: 3, Limit: 4}, {Group: "g", From: 5, Limit: 4}, {Group: "g", From: 5, Limit: 4}}
		for range 10 {
			pages := w.pullTogether([]string{"alice", "bob", "alice"}, pulls)
			w.equal(chat.CodeOf(pages[0].Err), chat.CodeInternal)
			w.equal([]any{pages[1].Err, pages[2].Err}, []any{nil, nil})
			w.equal(ids(pages[1].Messages), span(5, 6))
		}
	},
}
