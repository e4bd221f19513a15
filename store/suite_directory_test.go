package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

// operator lists groups.
var operator = chat.Caller{User: "root", Admin: true}

// reach are groups whose ids begin so.
type reach string

func (r reach) InGroup(group string) bool { return strings.HasPrefix(group, string(r)) }

// listed are the ids that a query finds, page by page.
func (w *fixture) listed(d *directory.Service, by chat.Caller, q directory.Query) (ids []string) {
	w.Helper()
	for {
		page, err := d.List(w.ctx, by, q)
		w.ok(err)
		for _, row := range page.Items {
			ids = append(ids, row.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids
		}
	}
}

func (w *fixture) directory() *directory.Service {
	return directory.New(chat.New(w.Store, chat.Options{}), w.Store)
}

// hand changes keys of a partition by hand.
func (w *fixture) hand(script string, keys ...string) {
	w.Helper()
	w.ok(w.Client().Eval(w.ctx, script, keys).Err())
}

// metaOf is the key of the settings of a group.
func (w *fixture) metaOf(group string) string {
	return w.partOf(group) + "g:" + layout.KeyID(group) + ":meta"
}

// partOf begins the keys of the partition of a group.
func (w *fixture) partOf(group string) string {
	return layout.InPartition(w.Prefix(), queue.Partition(group, w.Partitions()))
}

// indexed puts groups into the index of a user.
func (w *fixture) indexed(user string, groups ...string) {
	w.Helper()
	for _, g := range groups {
		w.ok(w.AddUserGroups(w.ctx, []string{user}, chat.UserGroup{Group: g}))
	}
}

func named(name string) func(*chat.NewGroup) { return func(g *chat.NewGroup) { g.Name = name } }

var directoryTests = map[string]func(*fixture){
	"by id and name": func(w *fixture) {
		d := w.directory()
		w.group("alpha", []string{"bob"}, named("Straße"))
		w.group("beta", nil, named("Alphabet"), public)
		w.group("alps", nil, named("alpine"))
		w.group("x:1", []string{"bob"}, named("ÉCOLE"))
		w.group("x:2", nil)
		w.indexed("bob", "alpha", "x:1", "x:2") // which says where to look
		w.indexed("alice", "alpha", "beta", "alps", "x:1", "x:2")
		for q, want := range map[string]string{
			"": "alpha alps beta x:1 x:2", "al": "alpha alps beta", "ALPHA": "beta", "alpha": "alpha beta", "STRASS": "alpha", "e\u0301c": "x:1", "eco": "x:1", "x:": "x:1 x:2",
			"nothing": "", "\u00ff": "", "=": "", "beta": "beta",
		} {
			for limit := range 3 { // 0 is the default
				w.equal(strings.Join(w.listed(d, operator, directory.Query{Q: q, Limit: limit}), " "), want)
			}
		}
		w.equal(w.listed(d, operator, directory.Query{User: "bob"}), []string{"alpha", "x:1"})
		w.equal(w.listed(d, operator, directory.Query{User: "bob", Q: "éco", Limit: 1}), []string{"x:1"})
		w.equal(w.listed(d, operator, directory.Query{User: "alice", Limit: 2}), []string{"alpha", "alps", "beta", "x:1", "x:2"})
		w.equal(w.listed(d, chat.Caller{User: "root", Admin: true, Reach: reach("x:")}, directory.Query{Limit: 1}), []string{"x:1", "x:2"})
		w.equal(len(w.listed(d, chat.Caller{User: "root", Admin: true, Reach: reach("x:")}, directory.Query{User: "alice", Sort: directory.SortActivity, Limit: 1})), 2)

		// The list follows names and ends.
		name := "Zürich"
		w.ok(w.UpdateGroup(w.ctx, chat.Caller{User: "alice"}, "alpha", nil, chat.GroupChange{Name: &name}, nil, 1))
		w.equal(w.listed(d, operator, directory.Query{Q: "stras"}), []string(nil))
		w.equal(w.listed(d, operator, directory.Query{Q: "zÜr"}), []string{"alpha"})
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "alps", nil))
		w.leave("x:2", "alice")
		w.equal(w.listed(d, operator, directory.Query{}), []string{"alpha", "beta", "x:1"})
		w.equal(w.listed(d, operator, directory.Query{Q: "al"}), []string{"alpha", "beta"})
		for _, prefix := range []string{directory.ByID, directory.ByName} {
			entries, more, err := w.Listed(w.ctx, prefix, "", 10)
			w.ok(err)
			w.equal([]any{len(entries), more}, []any{3, false})
		}

		_, err := d.List(w.ctx, chat.Caller{User: "alice"}, directory.Query{})
		w.fails(err, chat.ErrForbidden)
		for _, cursor := range []string{"?", "eA"} {
			_, err = d.List(w.ctx, operator, directory.Query{Cursor: cursor})
			w.equal(chat.CodeOf(err), chat.CodeInvalid)
		}
		_, err = d.List(w.ctx, operator, directory.Query{Cursor: "x", Sort: directory.SortHeld})
		w.equal(chat.CodeOf(err), chat.CodeInvalid)
		_, err = d.List(w.ctx, operator, directory.Query{User: "a b"})
		w.equal(chat.CodeOf(err), chat.CodeInvalid)
	},
	"by what they keep for members": func(w *fixture) {
		d := w.directory()
		for i, id := range []string{"none", "some", "most"} {
			w.group(id, []string{"bob", "carl", "dora", "eve"}, keep(2))
			w.says(id, "alice", 10*i)
			w.ack(id, "alice", w.info(id, "alice").Last)
		}
		for _, user := range []string{"carl", "dora", "eve"} {
			w.ack("most", user, w.info("most", "alice").Last-5)
		}
		for _, user := range []string{"bob", "carl", "dora", "eve"} {
			w.ack("none", user, w.info("none", "alice").Last)
		}
		w.ack("most", "carl", w.info("most", "alice").Last)
		w.equal(w.listed(d, operator, directory.Query{Sort: directory.SortHeld, Limit: 1}), []string{"most", "some", "none"})
		w.equal(w.listed(d, operator, directory.Query{Sort: directory.SortActivity, Limit: 2})[2], "none")
		page, err := d.List(w.ctx, operator, directory.Query{Sort: directory.SortHeld})
		w.ok(err)
		most, none := page.Items[0], page.Items[2]
		first := w.info("most", "alice").First
		// Everything from the first entry on waits for bob, but for the two newest, which are kept anyway.
		w.equal([]any{most.Held, most.Last - 2 - first + 1, none.Held, none.HeldSince == nil, len(none.Blockers)}, []any{most.Held, most.Held, int64(0), true, 0})
		w.equal([]string{most.Blockers[0].User, most.Blockers[1].User, most.Blockers[2].User}, []string{"bob", "dora", "eve"})
		w.equal([]int64{most.Blockers[0].Behind, most.Blockers[1].Behind}, []int64{most.Last, 5})
		w.equal(most.HeldSince, most.Blockers[0].Since)

		for limit, want := range map[int]string{1: "most", 9: "most some"} {
			page, err := d.Held(w.ctx, operator, limit, "")
			w.ok(err)
			var ids []string
			for _, row := range page.Groups {
				ids = append(ids, row.ID)
			}
			w.equal([]any{strings.Join(ids, " "), page.Looked, page.Total, page.Next, page.Groups[0].Held, len(page.Groups[0].Blockers)}, []any{want, int64(3), int64(3), "", most.Held, 3})
		}

		// Whoever is passed by holds nothing.
		w.group("passed", []string{"bob"}, keep(0), backlog(5))
		w.says("passed", "alice", 20)
		w.ack("passed", "alice", w.info("passed", "alice").Last)
		list, err := w.Backlogs(w.ctx, []string{"passed", "absent", "most"}, 1)
		w.ok(err)
		w.equal([]any{list[0].Held, len(list[0].Blockers), list[1].Held, list[2].Held, len(list[2].Blockers)}, []any{int64(0), 0, int64(0), most.Held, 1})
	},
	"what very many groups keep": func(w *fixture) {
		d := w.directory()
		w.group("z", []string{"bob"}, keep(0))
		w.says("z", "alice", 3)
		w.ack("z", "alice", w.info("z", "alice").Last)
		before := map[int][]string{}
		for i := range 10_003 { // names on the list alone, which are as groups that have just gone
			id := fmt.Sprintf("g%05d", i)
			p := queue.Partition(id, w.Partitions())
			before[p] = append(before[p], id)
		}
		for p, ids := range before {
			for some := range slices.Chunk(ids, 1000) {
				args := make([]any, len(some))
				for i, id := range some {
					args[i] = id
				}
				w.ok(w.Client().Eval(w.ctx, `for _, id in ipairs(ARGV) do redis.call('ZADD', KEYS[1], 0, '=' .. id, 0, '>n' .. id) end return 1`,
					[]string{layout.InPartition(w.Prefix(), p) + "named"}, args...).Err())
			}
		}
		first, err := d.Held(w.ctx, operator, 5, "")
		w.ok(err)
		w.equal([]any{len(first.Groups), first.Looked, first.Total, first.Next != ""}, []any{0, int64(10_000), int64(10_004), true})
		second, err := d.Held(w.ctx, operator, 5, first.Next)
		w.ok(err)
		w.equal([]any{len(second.Groups), second.Groups[0].ID, second.Looked, second.Total, second.Next}, []any{1, "z", int64(4), int64(10_004), ""})
		_, err = d.Held(w.ctx, chat.Caller{User: "alice"}, 5, "")
		w.fails(err, chat.ErrForbidden)
		_, err = d.Held(w.ctx, operator, 5, "eA")
		w.equal(chat.CodeOf(err), chat.CodeInvalid)
	},
	"pages while groups come and go": func(w *fixture) {
		const stays, workers = 5000, 20
		d := w.directory()
		create := func(id string) error { return w.CreateGroup(w.ctx, newGroup(id, nil, named("n "+id))) }
		var done sync.WaitGroup
		var failed atomic.Pointer[error]
		each := func(n int, do func(i int) error) {
			for worker := range workers {
				done.Go(func() {
					for i := worker; i < n && failed.Load() == nil; i += workers {
						if err := do(i); err != nil {
							failed.Store(&err)
						}
					}
				})
			}
		}
		// As much of the groups that stay as the list reads: 5,000 creations take long.
		all, metas := []string{}, map[int][]string{}
		for i := range stays {
			id := fmt.Sprintf("g%04d", i)
			p := queue.Partition(id, w.Partitions())
			all, metas[p] = append(all, id), append(metas[p], w.metaOf(id), strings.TrimSuffix(w.metaOf(id), "meta")+"id")
		}
		for _, keys := range metas {
			w.hand(`for i = 1, #KEYS, 2 do
				redis.call('HSET', KEYS[i], 'epoch', 'e', 'name', 'n ' .. string.match(KEYS[i], 'g:(g%d+):meta'), 'keep', 1, 'backlog_max', 1, 'history', '1')
				redis.call('SET', KEYS[i + 1], 1)
			end return 1`, keys...)
		}
		w.ok(w.ListGroups(w.ctx, all))
		each(200, func(i int) error {
			id := fmt.Sprintf("g%04d-x", (i*37)%stays)
			if err := create(id); err != nil {
				return err
			}
			return w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, id, nil)
		})
		for _, q := range []directory.Query{{Limit: 333}, {Q: "N g", Limit: 1000}} {
			seen := map[string]int{}
			for _, id := range w.listed(d, operator, q) {
				if seen[id]++; seen[id] > 1 {
					w.Fatalf("%s is listed twice", id)
				}
			}
			for i := range stays {
				if id := fmt.Sprintf("g%04d", i); seen[id] != 1 {
					w.Fatalf("%s is missing", id)
				}
			}
		}
		done.Wait()
		if err := failed.Load(); err != nil {
			w.Fatal(*err)
		}
	},
	"a store from before the list": func(w *fixture) {
		d, ids := w.directory(), []string{}
		for i := range 30 {
			id := fmt.Sprintf("g%02d", i)
			ids = append(ids, id)
			w.group(id, nil, named("Name "+id))
			w.indexed("alice", id)
			w.hand(`return redis.call('HDEL', KEYS[1], 'folded')`, w.metaOf(id))
		}
		for p := range w.Partitions() {
			w.hand(`return redis.call('DEL', KEYS[1])`, layout.InPartition(w.Prefix(), p)+"named")
		}
		w.hand(`return redis.call('HDEL', KEYS[1], 'listed')`, layout.InPartition(w.Prefix(), 0)+"layout")
		for _, q := range []directory.Query{{}, {Sort: directory.SortActivity}} {
			_, err := d.List(w.ctx, operator, q)
			w.fails(err, chat.ErrUnavailable)
		}
		w.equal(w.listed(d, operator, directory.Query{User: "alice"}), ids) // needs no list
		w.ok(d.Prepare(w.ctx))
		w.ok(d.Handlers()[directory.TaskIndex].Run(w.ctx, chat.TaskRun{Payload: []byte(`{}`)}))
		w.ok(d.Prepare(w.ctx)) // nothing to do
		w.equal(w.listed(d, operator, directory.Query{Limit: 7}), ids)
		w.equal(w.listed(d, operator, directory.Query{Q: "name g2", Limit: 7}), ids[20:])
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g00", nil))
		w.ok(w.ListGroups(w.ctx, []string{"g00", "never"})) // gone by now
		w.equal(w.listed(d, operator, directory.Query{Limit: 7}), ids[1:])
		w.equal(slices.Contains(w.listed(d, operator, directory.Query{Q: "name"}), "g00"), false)
	},
}
