package storetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
)

var indexTests = map[string]func(*world){
	"index": func(w *world) {
		groups := func(user string) []chat.UserGroup {
			w.Helper()
			got, err := w.UserGroups(w.ctx, user)
			w.ok(err)
			both, inbox, err := w.Arrivals(w.ctx, user, nil, 10)
			w.ok(err)
			w.equal(both, got)
			w.equal(inbox, w.inbox(user, nil, 10))
			slices.SortFunc(got, func(a, b chat.UserGroup) int { return cmp.Compare(a.Group, b.Group) })
			return got
		}
		w.equal(groups("bob"), []chat.UserGroup{})
		w.ok(w.AddUserGroups(w.ctx, []string{"alice", "bob"}, "g", 3))
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, "h", 0))
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, "g", 9)) // there already
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 3}, {Group: "h"}})
		w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, "g", 1)) // of an earlier membership: it must not be above seen
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 1}, {Group: "h"}})
		w.ok(w.HintSeen(w.ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 3}}))
		w.ok(w.HintSeen(w.ctx, "bob", []chat.UserGroup{{Group: "g", Seen: 2}, {Group: "h", Seen: 9}, {Group: "none", Seen: 1}}))
		w.equal(groups("bob"), []chat.UserGroup{{Group: "g", Seen: 3}, {Group: "h", Seen: 9}})
		w.ok(w.DropUserGroup(w.ctx, "bob", "g"))
		w.ok(w.DropUserGroup(w.ctx, "bob", "g"))
		w.equal(groups("bob"), []chat.UserGroup{{Group: "h", Seen: 9}})
		w.equal(groups("alice"), []chat.UserGroup{{Group: "g", Seen: 3}})
	},
	"many users": func(w *world) {
		var users []string
		for i := range 600 {
			users = append(users, fmt.Sprintf("u%d", i))
		}
		w.ok(w.AddUserGroups(w.ctx, users, "g", 7))
		got, err := w.UserGroups(w.ctx, "u599")
		w.ok(err)
		w.equal(got, []chat.UserGroup{{Group: "g", Seen: 7}})
	},
	"a full index": func(w *world) {
		w.with(func(l *chat.Limits) { l.UserGroupsMax = 2 })
		for _, g := range []string{"a", "b", "c"} {
			w.ok(w.AddUserGroups(w.ctx, []string{"bob"}, g, 0))
		}
		got, err := w.UserGroups(w.ctx, "bob")
		w.ok(err)
		w.equal(len(got), 2)
	},
}

func item(to, from, body string) chat.NewItem {
	text, _ := json.Marshal(chat.Item{Kind: chat.ItemDirect, From: from, To: to, Body: &body, SentAt: chat.TimeMs(1)})
	return chat.NewItem{To: to, From: from, Rest: text[len(`{"seq":0,`):], SentAtMs: 1}
}

func (w *world) put(i chat.NewItem) int64 {
	w.Helper()
	seq, _, _, err := w.InboxAppend(w.ctx, i)
	w.ok(err)
	return seq
}

func (w *world) inbox(user string, after *int64, limit int) chat.InboxBatch {
	w.Helper()
	b, err := w.InboxPull(w.ctx, user, after, limit)
	w.ok(err)
	_, together, err := w.Arrivals(w.ctx, user, after, limit)
	w.ok(err)
	w.equal(together, b)
	for i, text := range b.Items {
		var got chat.Item
		w.ok(json.Unmarshal(text, &got))
		w.equal(got.Seq, b.From+int64(i))
	}
	return b
}

func after(seq int64) *int64 { return &seq }

var inboxTests = map[string]func(*world){
	"append, pull, ack": func(w *world) {
		empty := w.inbox("bob", nil, 10)
		w.equal(empty, chat.InboxBatch{Epoch: empty.Epoch, From: 1, Complete: true})
		if empty.Epoch == "" {
			w.Fatal("got no epoch")
		}
		for i := range 5 {
			w.equal(w.put(item("bob", "alice", fmt.Sprint(i))), int64(i+1))
		}
		b := w.inbox("bob", nil, 3)
		w.equal([]any{b.Epoch, b.From, b.To, b.Last, b.Complete, b.HasMore}, []any{empty.Epoch, int64(1), int64(3), int64(5), true, true})
		w.ok(w.InboxAck(w.ctx, "bob", 2))
		w.ok(w.InboxAck(w.ctx, "bob", 2))
		w.ok(w.InboxAck(w.ctx, "bob", 1))
		w.fails(w.InboxAck(w.ctx, "bob", 6), chat.ErrOutOfRange)
		b = w.inbox("bob", nil, 10)
		w.equal([]int64{b.From, b.To, b.Last, int64(len(b.Items))}, []int64{3, 5, 5, 3})
		b = w.inbox("bob", after(4), 10)
		w.equal([]any{b.From, b.To, b.Complete}, []any{int64(5), int64(5), true})
		b = w.inbox("bob", after(5), 10)
		w.equal([]any{b.From, b.To, b.Complete, b.HasMore}, []any{int64(6), int64(5), true, false})
		b = w.inbox("bob", after(50), 10)
		w.equal([]any{b.From, b.To, b.Complete, len(b.Items)}, []any{int64(3), int64(5), false, 3})
		ends, err := w.InboxEnds(w.ctx, []string{"bob", "nobody"})
		w.ok(err)
		w.equal(ends, []int64{5, 0})
		w.ok(w.InboxAck(w.ctx, "bob", 5))
		w.equal(w.put(item("bob", "alice", "x")), int64(6))
	},
	"with a key": func(w *world) {
		i := item("bob", "alice", "x")
		i.Key, i.Content = "k", "c"
		seq, ms, duplicate, err := w.InboxAppend(w.ctx, i)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(1), int64(1), false})
		i.SentAtMs = 99
		seq, ms, duplicate, err = w.InboxAppend(w.ctx, i)
		w.ok(err)
		w.equal([]any{seq, ms, duplicate}, []any{int64(1), int64(1), true})
		i.Content = "other"
		_, _, _, err = w.InboxAppend(w.ctx, i)
		w.fails(err, chat.ErrKeyReused)
		i.From, i.To = "carl", "bob"
		w.equal(w.put(i), int64(2))
	},
	"a full inbox": func(w *world) {
		w.with(func(l *chat.Limits) { l.InboxItemsMax = 3 })
		for range 3 {
			w.put(item("bob", "alice", "x"))
		}
		_, _, _, err := w.InboxAppend(w.ctx, item("bob", "alice", "x"))
		w.fails(err, chat.ErrInboxFull)
		system := item("bob", "$chat", "x")
		system.System = true
		w.equal(w.put(system), int64(4))
		w.equal(w.put(system), int64(5))
		b := w.inbox("bob", nil, 10)
		w.equal([]any{b.From, b.To, b.Complete}, []any{int64(3), int64(5), false})
		w.equal(w.inbox("bob", after(1), 10).Complete, false)
		w.equal(w.inbox("bob", after(2), 10).Complete, true)
		w.ok(w.InboxAck(w.ctx, "bob", 3))
		w.equal(w.inbox("bob", nil, 10).Complete, true)
	},
}

// answered tells whether what user began with key was answered before; if not, it is now.
func (w *world) answered(user, key string) bool {
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

var keyTests = map[string]func(*world){
	"claim and finish": func(w *world) {
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
	"the newest are kept": func(w *world) {
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
	"a key is kept for its age": func(w *world) {
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
