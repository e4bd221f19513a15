package store_test

import (
	"encoding/json"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/live"
)

// drafted is a draft of a group in its first life.
func drafted(group string, rev int64, body string) drafts.Kept {
	return drafts.Kept{Group: group, Epoch: "e1", JSON: chat.Encode(drafts.Draft{Body: body, Rev: rev})}
}

var draftTests = map[string]func(*fixture){
	"the highest revision stays": func(w *fixture) {
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 2, "two"), 2))
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 2, "two"), 2))
		for _, late := range []drafts.Kept{drafted("g", 1, "one"), drafted("g", 2, "other")} {
			var d drafts.Draft
			w.ok(json.Unmarshal(late.JSON, &d))
			w.fails(w.PutDraft(w.ctx, "alice", late, d.Rev), chat.ErrConflict)
		}
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 10, "ten words"), 10))
		kept, err := w.DraftsIn(w.ctx, "alice", "g")
		w.ok(err)
		w.equal(kept, []drafts.Kept{drafted("g", 10, "ten words")})

		next := drafted("g", 1, "another life")
		next.Epoch = "e2"
		w.ok(w.PutDraft(w.ctx, "alice", next, 1))
		kept, err = w.DraftsIn(w.ctx, "alice", "g")
		w.ok(err)
		w.equal(kept, []drafts.Kept{next})
	},
	"each user and group has one": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.UserDraftsMax = 2 })
		w.ok(w.PutDraft(w.ctx, "alice", drafted("h", 1, "x"), 1))
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 1, "y"), 1))
		w.fails(w.PutDraft(w.ctx, "alice", drafted("i", 1, "z"), 1), &chat.Error{Code: chat.CodeQuotaFull})
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 2, "yy"), 2))
		w.ok(w.PutDraft(w.ctx, "bob", drafted("i", 1, "z"), 1))
		all, err := w.DraftsAfter(w.ctx, "alice", "", anyGroup, 10)
		w.ok(err)
		w.equal(all, []drafts.Kept{drafted("g", 2, "yy"), drafted("h", 1, "x")})
		for after, want := range map[string][]drafts.Kept{"": all[:1], "g": all[1:], "h": nil} {
			page, err := w.DraftsAfter(w.ctx, "alice", after, anyGroup, 1)
			w.ok(err)
			w.equal(page, want)
		}
		some, err := w.DraftsAfter(w.ctx, "alice", "", func(group string) bool { return group == "h" }, 1)
		w.ok(err)
		w.equal(some, all[1:])
		w.ok(w.DropDraft(w.ctx, "alice", "h"))
		w.ok(w.DropDraft(w.ctx, "alice", "h"))
		all, err = w.DraftsIn(w.ctx, "alice", "h", "g")
		w.ok(err)
		w.equal(all, []drafts.Kept{{Group: "h", JSON: json.RawMessage{}}, drafted("g", 2, "yy")})
		w.ok(w.PutDraft(w.ctx, "alice", drafted("i", 1, "z"), 1))
	},
	"leaving forgets it": func(w *fixture) {
		w.ok(w.AddUserGroups(w.ctx, []string{"alice"}, chat.UserGroup{Group: "g"}))
		w.ok(w.PutDraft(w.ctx, "alice", drafted("g", 1, "x"), 1))
		w.ok(w.PutDraft(w.ctx, "alice", drafted("h", 1, "y"), 1))
		w.ok(w.DropUserGroup(w.ctx, "alice", "g"))
		all, err := w.DraftsAfter(w.ctx, "alice", "", anyGroup, 10)
		w.ok(err)
		w.equal(all, []drafts.Kept{drafted("h", 1, "y")})
	},
	"sessions hear of a change": func(w *fixture) {
		signals := w.listen()
		w.ok(w.Follow(w.ctx, nil, []string{"alice"}))
		d := drafted("g", 1, "a b\nc")
		w.ok(w.PutDraft(w.ctx, "alice", d, 1))
		w.ok(w.PutDraft(w.ctx, "alice", d, 1)) // a repeat is no change
		w.ok(w.DropDraft(w.ctx, "alice", "g"))
		w.ok(w.DropDraft(w.ctx, "alice", "g"))
		w.ok(w.PutDraft(w.ctx, "alice", drafted("h", 1, ""), 1))
		w.equal(w.next(signals), live.Signal{Kind: live.SignalDraft, User: "alice", Group: "g", Draft: string(d.JSON)})
		w.equal(w.next(signals), live.Signal{Kind: live.SignalDraft, User: "alice", Group: "g"})
		w.equal(w.next(signals), live.Signal{Kind: live.SignalDraft, User: "alice", Group: "h", Draft: fmt.Sprintf(`{"body":%q,"rev":1}`, "")})
	},
}

func anyGroup(string) bool { return true }
