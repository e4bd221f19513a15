package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/bulk"
	"github.com/chatd/chatd/chat/memberdata"
)

// callers is how many change the same thing at once.
const callers = 20

// together calls do for each of callers at once, and returns the errors.
func together(do func(i int) error) []error {
	errs := make([]error, callers)
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() { errs[i] = do(i) })
	}
	done.Wait()
	return errs
}

// view is a group as it is shown to user.
func (w *fixture) view(group, user string) chat.Info {
	w.Helper()
	views, err := w.Views(w.ctx, user, []string{group})
	w.ok(err)
	return views[0]
}

var dataTests = map[string]func(*fixture){
	"of a group": func(w *fixture) {
		alice := chat.Caller{User: "alice"}
		w.group("g", []string{"bob"}, func(g *chat.NewGroup) { g.Data = json.RawMessage(`{"a":1}`) })
		w.equal(string(w.view("g", "bob").Data), `{"a":1}`)
		w.equal(string(w.info("g", "bob").Data), "")
		w.equal(w.view("g", "bob").Version, int64(0))
		data := func(text string) chat.GroupChange { return chat.GroupChange{Data: json.RawMessage(text)} }
		was := w.view("g", "alice").Group
		w.ok(w.UpdateGroup(w.ctx, alice, "g", &was, data(`{"b":2}`), nil, 5000))
		now := w.view("g", "eve")
		w.equal(string(now.Data), `{"b":2}`)
		if now.Version <= was.Version {
			w.Fatalf("version %d after %d", now.Version, was.Version)
		}
		// What was decided by the version before is refused whole, before it appends anything.
		w.fails(w.UpdateGroup(w.ctx, alice, "g", &was, data(`{"c":3}`), []chat.NoticeEntry{noticeEntry("g", "alice", chat.NoticeSettings, "")}, 5000), chat.ErrConflict)
		w.fails(w.DeleteGroup(w.ctx, alice, "g", &was), chat.ErrConflict)
		w.equal([]any{string(w.view("g", "bob").Data), w.view("g", "bob").Last}, []any{`{"b":2}`, int64(2)})
		other := now.Group
		other.Epoch = "another life"
		w.fails(w.UpdateGroup(w.ctx, alice, "g", &other, data(`{"c":3}`), nil, 5000), chat.ErrConflict)
		w.fails(w.UpdateGroup(w.ctx, chat.Caller{User: "bob"}, "g", &was, data(`{"c":3}`), nil, 5000), chat.ErrForbidden)
		// Messages, acks and members are no new version.
		w.say("g", "alice", "hello")
		w.join("g", "carl", "alice")
		w.equal(w.view("g", "bob").Version, now.Version)
		w.ok(w.UpdateGroup(w.ctx, alice, "g", nil, data(`{}`), nil, 5000))
		w.equal(string(w.view("g", "bob").Data), "")
		last := w.view("g", "alice").Group
		w.ok(w.DeleteGroup(w.ctx, alice, "g", &last))
	},
	"merges at the same time": func(w *fixture) {
		w.group("g", nil)
		service, alice := chat.New(w.Store, chat.Options{}), chat.Caller{User: "alice"}
		for i, err := range together(func(i int) error {
			_, err := service.UpdateGroup(w.ctx, alice, "g", chat.GroupChange{Data: json.RawMessage(fmt.Sprintf(`{"k%d":%d}`, i, i))})
			return err
		}) {
			if err != nil {
				w.Fatalf("merge %d: %v", i, err)
			}
		}
		g, err := service.Group(w.ctx, alice, "g")
		w.ok(err)
		var got map[string]int
		w.ok(json.Unmarshal(g.Data, &got))
		for i := range callers {
			if n, ok := got[fmt.Sprintf("k%d", i)]; !ok || n != i {
				w.Fatalf("the merge of k%d was lost: %s", i, g.Data)
			}
		}
		w.equal(g.Last, int64(1+callers)) // one notice each
	},
	"of a member": func(w *fixture) {
		w.group("g", []string{"bob"}, public)
		service, alice, bob := chat.New(w.Store, chat.Options{}), chat.Caller{User: "alice"}, chat.Caller{User: "bob"}
		data := memberdata.New(service, w.Store)
		for i, err := range together(func(i int) error {
			_, err := data.Merge(w.ctx, alice, "g", "bob", json.RawMessage(fmt.Sprintf(`{"k%d":%d}`, i, i)))
			return err
		}) {
			if err != nil {
				w.Fatalf("merge %d: %v", i, err)
			}
		}
		m, created, err := service.PutMember(w.ctx, alice, "g", "bob", chat.Admin) // the answer of the step of roles has it too
		w.ok(err)
		var got map[string]int
		w.ok(json.Unmarshal(m.Data, &got))
		w.equal([]any{created, m.Role, len(got)}, []any{false, chat.Admin, callers})
		list, err := service.Members(w.ctx, bob, "g", 0, "")
		w.ok(err)
		w.equal([]string{string(list.Items[0].Data), string(list.Items[1].Data)}, []string{"", string(m.Data)})
		w.equal(w.info("g", "bob").Last, int64(2+callers+1))
		// As it is: no notice. With other data than was read: nothing.
		m, err = data.Merge(w.ctx, alice, "g", "bob", json.RawMessage(`{"k0":0}`))
		w.ok(err)
		w.equal(len(m.Data) > 0, true)
		change := chat.Membership{Group: "g", User: "bob", By: alice, Notice: noticeEntry("g", "alice", chat.NoticeData, "bob")}
		_, err = w.SetMemberData(w.ctx, change, json.RawMessage(`{"other":1}`), nil)
		w.fails(err, chat.ErrConflict)
		w.equal(w.info("g", "bob").Last, int64(2+callers+1))
		_, err = data.Merge(w.ctx, alice, "g", "carl", json.RawMessage(`{}`))
		w.fails(err, chat.ErrNotFound)
		w.join("g", "carl", "carl")
		_, err = data.Merge(w.ctx, chat.Caller{User: "carl"}, "g", "carl", json.RawMessage(`{"a":1}`))
		w.fails(err, chat.ErrForbidden)
		change.By = chat.Caller{User: "carl"}
		_, err = w.SetMemberData(w.ctx, change, m.Data, nil)
		w.fails(err, chat.ErrForbidden)
		// The fields go with the membership.
		w.leave("g", "bob")
		left, err := w.MemberData(w.ctx, "g", "bob")
		w.ok(err)
		w.equal(string(left), "")
		m, _, err = data.Put(w.ctx, alice, "g", "dora", "", json.RawMessage(`{"b":{"c":null},"a":1}`))
		w.ok(err)
		w.equal([]any{string(m.Data), m.Role}, []any{`{"a":1,"b":{}}`, chat.Ordinary})
		m, err = data.Merge(w.ctx, alice, "g", "dora", json.RawMessage(`null`))
		w.ok(err)
		w.equal(string(m.Data), "")
		_, err = data.Merge(w.ctx, alice, "g", "dora", json.RawMessage(`{"z":1}`))
		w.ok(err)
		_, _, err = w.RemoveMembers(w.ctx, bulk.Change{Group: "g", By: alice, Users: []string{"dora"}, AtMs: 1, Notice: usersNotice("g", chat.NoticeRemoved)})
		w.ok(err)
		left, err = w.MemberData(w.ctx, "g", "dora")
		w.ok(err)
		w.equal(string(left), "")
		_, err = data.Merge(w.ctx, alice, "g", "carl", json.RawMessage(`{"z":1}`))
		w.ok(err)
		w.ok(w.DeleteGroup(w.ctx, alice, "g", nil))
		left, err = w.MemberData(w.ctx, "g", "carl")
		w.ok(err)
		w.equal(string(left), "")
	},
	"pages of members end with their bytes": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.PageBytesMax = 5000 })
		w.group("g", []string{"bob", "carl", "dora"})
		service, alice := chat.New(w.Store, chat.Options{}), chat.Caller{User: "alice"}
		data := memberdata.New(service, w.Store)
		for _, user := range []string{"alice", "bob", "carl"} {
			_, err := data.Merge(w.ctx, alice, "g", user, json.RawMessage(`{"x":"`+strings.Repeat("x", 4000)+`"}`))
			w.ok(err)
		}
		var users []string
		for cursor, pages := "", 0; ; {
			list, err := service.Members(w.ctx, alice, "g", 0, cursor)
			w.ok(err)
			for _, m := range list.Items {
				users = append(users, m.User)
			}
			if pages++; len(list.Items) > 2 {
				w.Fatalf("page %d has %d members", pages, len(list.Items))
			}
			if cursor = list.Next; cursor == "" {
				break
			}
		}
		w.equal(users, []string{"alice", "bob", "carl", "dora"})
	},
	"changes of the same version": func(w *fixture) {
		w.group("g", nil)
		service, alice := chat.New(w.Store, chat.Options{}), chat.Caller{User: "alice"}
		g, err := service.Group(w.ctx, alice, "g")
		w.ok(err)
		won := 0
		for i, err := range together(func(i int) error {
			_, err := service.UpdateGroup(w.ctx, alice, "g", chat.GroupChange{Name: new(fmt.Sprint("name ", i))},
				func(tag string) bool { return tag == g.Tag() })
			return err
		}) {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, chat.ErrConflict):
				w.Fatalf("change %d: %v", i, err)
			}
		}
		w.equal([]any{won, w.info("g", "alice").Last}, []any{1, int64(2)})
	},
}
