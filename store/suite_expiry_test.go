package store_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

// expiring sends a text that goes so many seconds after a time, 0: after those of its group.
func (w *fixture) expiring(group, from, body string, sentAt time.Time, expireS int64) chat.Appended {
	w.Helper()
	e := chat.Entry{Group: group, From: from, Content: chat.Content{Kind: chat.Text, Body: &body, ClientID: body, ExpireS: expireS}}
	done, err := w.Append(w.ctx, chat.NewAppend(e, sentAt.UnixMilli()))
	w.ok(err)
	return done
}

// ends are when the messages of a group go, by id.
func (w *fixture) ends(group string) map[int64]int64 {
	w.Helper()
	list, err := w.Client().ZRangeWithScores(w.ctx, w.groupKey(group, "expires"), 0, -1).Result()
	w.ok(err)
	found := map[int64]int64{}
	for _, z := range list {
		id, err := strconv.ParseInt(z.Member.(string), 10, 64)
		w.ok(err)
		found[id] = int64(z.Score)
	}
	return found
}

// waitsFor is for when the tasks of expiry wait, in ms.
func (w *fixture) waitsFor(group string) (due []string) {
	w.Helper()
	keys, err := w.Client().HKeys(w.ctx, w.coreKey(group, "unique")).Result()
	w.ok(err)
	for _, key := range keys {
		if rest, ok := strings.CutPrefix(key, "expire:"+group+":"); ok {
			_, at, _ := strings.Cut(rest, ":")
			due = append(due, at)
		}
	}
	return due
}

func (w *fixture) coreKey(group, name string) string {
	base, _, _ := strings.Cut(w.groupKey(group, ""), "g:")
	return base + "q:core:" + name
}

func expireAfter(seconds int64) func(*chat.NewGroup) {
	return func(g *chat.NewGroup) { g.ExpireS = seconds }
}

var expiryTests = map[string]func(*fixture){
	"the shorter end holds, and says so": func(w *fixture) {
		w.group("g", []string{"bob"}, expireAfter(3600))
		sent := time.UnixMilli(time.Now().UnixMilli())
		own, groups := w.expiring("g", "bob", "own", sent, 60), w.expiring("g", "bob", "group", sent, 0)
		longer := w.expiring("g", "bob", "longer", sent, 7200)
		in := func(d time.Duration) int64 { return sent.Add(d).UnixMilli() }
		w.equal([]int64{own.EndsMs, groups.EndsMs, longer.EndsMs}, []int64{in(time.Minute), in(time.Hour), in(time.Hour)})
		w.equal(w.ends("g"), map[int64]int64{own.ID: in(time.Minute), groups.ID: in(time.Hour), longer.ID: in(time.Hour)})
		w.equal(chat.EndMs(w.entry("g", own.ID).JSON), in(time.Minute))
		w.equal(decode(w, w.entry("g", groups.ID)).ExpiresAt.UnixMilli(), in(time.Hour))
		w.equal(w.waitsFor("g"), []string{strconv.FormatInt(in(time.Minute), 10)})
		// The first answer says when it goes; for as long as it is there.
		again := w.expiring("g", "bob", "own", sent.Add(time.Second), 60)
		w.equal([]any{again.Duplicate, again.ID, again.EndsMs}, []any{true, own.ID, in(time.Minute)})

		zero, long := int64(0), int64(365*24*3600)
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{ExpireS: &zero}, nil, 1))
		w.equal(w.info("g", "bob").ExpireS, int64(0))
		w.equal(w.expiring("g", "bob", "stays", sent, 0).EndsMs, int64(0))
		w.equal(len(w.ends("g")), 3) // what was sent before goes as it said
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil, chat.GroupChange{ExpireS: &long}, nil, 1))
		w.equal(w.info("g", "bob").ExpireS, long)
	},
	"times of every kind of year": func(w *fixture) {
		w.group("g", []string{"bob"})
		for i, day := range []string{"1970-01-01", "1972-02-29", "1999-12-31", "2000-02-29", "2000-03-01", "2026-11-29", "2027-12-31", "2028-02-28", "2100-02-28", "2100-03-01", "2399-12-31", "2400-02-29"} {
			at, err := time.Parse(time.RFC3339Nano, day+"T23:58:59.007Z")
			w.ok(err)
			done := w.expiring("g", "bob", day, at, int64(60+i*30))
			w.equal(decode(w, w.entry("g", done.ID)).ExpiresAt.Time, at.Add(time.Duration(60+i*30)*time.Second))
		}
	},
	"several at once": func(w *fixture) {
		w.group("g", []string{"bob", "eve"}, expireAfter(60))
		now := time.Now()
		var list []chat.Append
		for _, user := range []string{"bob", "bob", "eve", "bob"} {
			e := chat.Entry{Group: "g", From: user, Content: chat.Content{Kind: chat.Text, Body: &user}}
			list = append(list, chat.NewAppend(e, now.UnixMilli()))
		}
		for _, done := range w.AppendAll(w.ctx, list) {
			w.ok(done.Err)
			w.equal(chat.EndMs(w.entry("g", done.ID).JSON), now.UnixMilli()+60_000)
			w.equal(done.EndsMs, now.UnixMilli()+60_000)
		}
		w.equal(len(w.ends("g")), 4)
		w.equal(len(w.waitsFor("g")), 1)
	},
	"what is due, and what remains": func(w *fixture) {
		w.group("g", []string{"bob"})
		epoch := w.info("g", "bob").Epoch
		now := time.Now()
		old := w.expiring("g", "bob", "old", now.Add(-time.Hour), 60)
		older := w.expiring("g", "bob", "older", now.Add(-2*time.Hour), 60)
		later := w.expiring("g", "bob", "later", now, 3600)
		due, err := w.Due(w.ctx, "g", epoch, 10)
		w.ok(err)
		w.equal(due, []int64{older.ID, old.ID})
		due, err = w.Due(w.ctx, "g", epoch, 1)
		w.ok(err)
		w.equal(due, []int64{older.ID})
		_, err = w.Due(w.ctx, "g", "another life", 1)
		w.fails(err, chat.ErrNotFound)
		w.fails(w.Settle(w.ctx, "g", "another life", nil), chat.ErrNotFound)

		w.ok(w.Settle(w.ctx, "g", epoch, []int64{older.ID, old.ID}))
		w.equal(w.ends("g"), map[int64]int64{later.ID: later.EndsMs})
		w.equal(w.Client().HGet(w.ctx, w.groupKey("g", "meta"), "expiring").Val(), strconv.FormatInt(later.EndsMs, 10))
		w.ok(w.Settle(w.ctx, "g", epoch, []int64{later.ID}))
		w.equal(w.ends("g"), map[int64]int64{})
		w.equal(w.Client().HExists(w.ctx, w.groupKey("g", "meta"), "expiring").Val(), false)
	},
	"a deletion forgets the end, an edit keeps it and is refused after it": func(w *fixture) {
		w.group("g", []string{"bob"})
		now := time.Now()
		one, late := w.expiring("g", "bob", "one", now, 3600), w.expiring("g", "bob", "late", now.Add(-time.Hour), 60)
		revise := func(kind chat.Kind, target int64) error {
			was := w.entry("g", target)
			e := chat.Entry{Group: "g", From: "bob", Content: chat.Content{Kind: kind, Target: target}}
			body := "changed"
			if kind == chat.Edit {
				e.Body = &body
			}
			a := chat.NewAppend(e, now.UnixMilli())
			e.SentAt = chat.TimeMs(a.SentAtMs)
			is := was
			if kind == chat.Edit {
				entry := decode(w, was)
				entry.Body, entry.EditedAt = &body, &e.SentAt
				is.JSON = chat.Encode(entry)
			} else {
				var err error
				is, err = chat.Applied(was, e)
				w.ok(err)
			}
			_, err := w.Revise(w.ctx, a, []chat.Change{{Old: was, New: is}}, false)
			return err
		}
		w.ok(revise(chat.Edit, one.ID))
		w.equal(chat.EndMs(w.entry("g", one.ID).JSON), one.EndsMs)
		w.fails(revise(chat.Edit, late.ID), chat.ErrNotFound)
		w.ok(revise(chat.Delete, one.ID))
		w.ok(revise(chat.Delete, late.ID))
		w.equal(w.ends("g"), map[int64]int64{})
	},
	"what was trimmed is forgotten": func(w *fixture) {
		w.group("g", []string{"bob"}, expireAfter(3600), func(g *chat.NewGroup) { g.Keep = 0 })
		last := int64(0)
		for i := range 200 {
			last = w.expiring("g", "bob", strconv.Itoa(i), time.Now(), 0).ID
			if i%50 == 49 {
				w.trims("g", "alice", "bob")
			}
		}
		if n := len(w.ends("g")); n > 150 {
			w.Fatalf("the ends of %d messages are known, of which %d were trimmed", n, w.info("g", "bob").Held-1)
		}
		w.equal(w.ends("g")[last] > 0, true)
	},
	"a plain send of a group without": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.say("g", "bob", "x")
		var e map[string]any
		w.ok(json.Unmarshal(w.entry("g", w.info("g", "bob").Last).JSON, &e))
		if _, ok := e["expires_at"]; ok || len(w.ends("g")) > 0 {
			w.Fatalf("got %v", e)
		}
	},
}
