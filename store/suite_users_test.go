package store_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

var indexTests = map[string]func(*fixture){
	"index": func(w *fixture) {
		groups := func(user string) []chat.UserGroup {
			w.Helper()
			got, err := w.UserGroups(w.ctx, user)
			w.ok(err)
			both, err := w.Arrivals(w.ctx, user, chat.Arriving{Limit: 10})
			w.ok(err)
			w.equal(both.Groups, got)
			w.equal(both.Inbox, w.inbox(user, chat.Position{}, 10))
			slices.SortFunc(got, func(a, b chat.UserGroup) int { return cmp.Compare(a.Group, b.Group) })
			return got
		}
		w.equal(groups("bob"), []chat.UserGroup{})
		w.ok(w.AddUserGroups(w.ctx, []string{"alice", "bob"}, chat.UserGroup{Group: "g", Seen: 3}))
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: "h", Seen: 0}))
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: "g", Seen: 9})) // there already
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 3}, {Group: "h"}})
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: "g", Seen: 1})) // of an earlier membership: it must not be above seen
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 1}, {Group: "h"}})
		w.ok(w.HintSeen(w.ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 3}}))
		w.ok(w.HintSeen(w.ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 2}, {Group: "h", Seen: 9}, {Group: "none", Seen: 1}}))
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 3}, {Group: "h", Seen: 9}})
		w.ok(w.DropUserGroup(w.ctx, "bob", "g"))
		w.ok(w.DropUserGroup(w.ctx, "bob", "g"))
		w.equal(groups("bob"), []chat.UserGroup{{Group: "h", Seen: 9}})
		w.equal(groups("alice"), []chat.UserGroup{{Group: "g", Seen: 3}})
	},
	"many users": func(w *fixture) {
		var users []string
		for i := range 600 {
			users = append(users, fmt.Sprintf("u%d", i))
		}
		w.ok(w.AddUserGroups(w.ctx, users, chat.UserGroup{Group: "g", Seen: 7}))
		got, err := w.UserGroups(w.ctx, "u599")
		w.ok(err)
		w.equal(got, []chat.UserGroup{{Group: "g", Seen: 7}})
	},
	"who adds a user": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserGroupsMax = 20 })
		claim := func(by, group string, want ...string) {
			w.Helper()
			full, err := w.ClaimAdds(w.ctx, by, group, []string{"bob", "carl"})
			w.ok(err)
			w.equal(len(full), len(want))
			w.equal(append([]string{}, full...), append([]string{}, want...))
		}
		invite := func(group string) {
			w.ok(w.AddUserGroups(w.ctx, []string{"bob", "carl"}, chat.UserGroup{Group: group, Invited: true}))
		}
		for range 3 { // once for a group
			claim("mallory", "a")
		}
		claim("mallory", "b")
		claim("mallory", "c", "bob", "carl")
		claim("eve", "c")
		invite("a")
		invite("b")
		invite("c")
		claim("mallory", "d", "bob", "carl")
		w.ok(w.DropUserGroup(w.ctx, "bob", "a")) // he leaves
		claim("mallory", "d", "carl")
		invite("d")
		w.ok(w.HintSeen(w.ctx, "carl", []chat.UserGroup{{Group: "b", Seen: 1}})) // he acts
		claim("mallory", "e", "bob")
		claim("eve", "a") // a user who adds again counts
		claim("eve", "f", "bob", "carl")

		// Who was not added after all counts for ten minutes.
		w.ok(w.DropUserGroup(w.ctx, "bob", "d"))
		claim("mallory", "e")
		stored, err := w.Client().HGet(w.ctx, w.userKey("bob", "added"), "e").Result()
		w.ok(err)
		who, _, _ := strings.Cut(stored, " ")
		w.poke("HSET", w.userKey("bob", "added"), "e", who+" 1")
		claim("mallory", "g")
		claim("mallory", "h", "bob", "carl")
	},
	"a full index": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserGroupsMax = 2 })
		for _, g := range []string{"a", "b", "c"} {
			w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: g, Seen: 0}))
		}
		got, err := w.UserGroups(w.ctx, "bob")
		w.ok(err)
		w.equal(len(got), 2)
		// Groups that others put a user into are counted apart.
		for _, g := range []string{"d", "e", "f"} {
			w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, chat.UserGroup{Group: g, Seen: 4, Invited: true}))
		}
		got, err = w.UserGroups(w.ctx, "bob")
		w.ok(err)
		w.equal(len(got), 4)
		w.ok(w.HintSeen(w.ctx, "bob", []chat.UserGroup{{Group: "d", Seen: 4}}))
		got, err = w.UserGroups(w.ctx, "bob")
		w.ok(err)
		slices.SortFunc(got, func(a, b chat.UserGroup) int { return cmp.Compare(a.Group, b.Group) })
		w.equal(got, []chat.UserGroup{{Group: "a"}, {Group: "b"}, {Group: "d", Seen: 4}, {Group: "e", Seen: 4, Invited: true}})
	},
}

// answered tells whether what user began with key was answered before; if not, it is now.
func (w *fixture) answered(user, key string) bool {
	w.Helper()
	answer, err := w.Claim(w.ctx, user, key, "content")
	w.ok(err)
	if answer == nil {
		w.ok(w.Finish(w.ctx, user, key, chat.Answer{Status: 200}))
		return false
	}
	w.equal(answer.Status, 200)
	return true
}

var keyTests = map[string]func(*fixture){
	"claim and finish": func(w *fixture) {
		a, err := w.Claim(w.ctx, "bob", "key", "content")
		w.ok(err)
		w.equal(a == nil, true)
		a, err = w.Claim(w.ctx, "bob", "key", "content") // left unfinished
		w.ok(err)
		w.equal(a == nil, true)
		answer := chat.Answer{Status: 201, Body: json.RawMessage(`{"id": "a b", "n":1}`)}
		w.ok(w.Finish(w.ctx, "bob", "key", answer))
		a, err = w.Claim(w.ctx, "bob", "key", "content")
		w.ok(err)
		w.equal(*a, answer)
		_, err = w.Claim(w.ctx, "bob", "key", "other")
		w.fails(err, chat.ErrKeyReused)
		a, err = w.Claim(w.ctx, "carl", "key", "other")
		w.ok(err)
		w.equal(a == nil, true)
		w.ok(w.Finish(w.ctx, "bob", "never claimed", answer))
	},
	"the newest are kept": func(w *fixture) {
		const kept = 10
		w.with(func(l *chat.Limits) { l.KeysMax = kept })
		for i := range kept + 1 {
			w.equal(w.answered("bob", fmt.Sprint(i)), false)
			w.tick()
		}
		for i := range kept {
			w.equal(w.answered("bob", fmt.Sprint(i+1)), true)
		}
		w.equal(w.answered("bob", "0"), false)
	},
	"a key is kept for its age": func(w *fixture) {
		made := func(key string, ago time.Duration) {
			w.Helper()
			w.equal(w.answered("bob", key), false)
			at := w.userKey("bob", "keys:at")
			newest, err := w.Client().ZRange(w.ctx, at, -1, -1).Result()
			w.ok(err)
			w.poke("ZADD", at, w.now()-ago.Milliseconds(), newest[0])
		}
		age := chat.DefaultLimits().KeyAge
		w.equal(age, 24*time.Hour)
		made("a minute younger", age-time.Minute)
		made("of that age", age)
		made("new", 0) // which makes old ones go
		w.equal(w.answered("bob", "a minute younger"), true)
		w.equal(w.answered("bob", "of that age"), false)
	},
}
