package chattest

import (
	"errors"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// TestArchive looks at what the model says of a few entries that can be checked by eye.
func TestArchive(t *testing.T) {
	a, log := NewArchive("a"), archive.Log{Group: "g", Epoch: "e"}
	one := func(id int64, mark, json string) chat.Message {
		return chat.Message{ID: id, Mark: mark, JSON: []byte(json)}
	}
	add := func(last int64, messages ...chat.Message) {
		t.Helper()
		version, err := a.Version(t.Context(), log)
		if err == nil {
			err = a.Add(t.Context(), []archive.Batch{{Log: log, Messages: messages, Last: last, Version: version}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	body := func(id int64) string {
		t.Helper()
		list, err := a.Entries(t.Context(), log, []int64{id})
		if err != nil || len(list) != 1 {
			t.Fatalf("entry %d: %v, %v", id, list, err)
		}
		e, err := decoded(list[0])
		if err != nil {
			t.Fatal(err)
		}
		if e.Body == nil {
			return ""
		}
		return *e.Body
	}
	add(5, one(1, "a", `{"id":1,"from":"ann","kind":"text","body":"one"}`), one(2, "b", `{"id":2,"from":"ann","kind":"text","body":"two"}`))
	add(5, one(3, "c", `{"id":3,"from":"ann","kind":"edit","target":1,"body":"ONE"}`),
		one(4, "d", `{"id":4,"from":"bob","kind":"reaction","target":2,"emoji":"+"}`),
		one(5, "e", `{"id":5,"from":"cyd","kind":"reaction","target":2,"emoji":"+"}`))
	if got := body(1); got != "ONE" {
		t.Errorf("after the edit: %q", got)
	}
	counts, err := a.Reactions(t.Context(), log, "bob", 1, 5)
	if err != nil || len(counts) != 1 || counts[2]["+"] != (chat.ReactionCount{Count: 2, Mine: true}) {
		t.Errorf("reactions: %v, %v", counts, err)
	}
	if got, err := a.Reacted(t.Context(), log, 2, "cyd", "+"); err != nil || got != (archive.Reacted{Alive: true, Entry: 5, On: true, Emojis: 1, Has: true}) {
		t.Errorf("reacted: %+v, %v", got, err)
	}
	add(6, one(6, "f", `{"id":6,"from":"ann","kind":"delete","target":1}`))
	if got := body(1) + body(3); got != "" {
		t.Errorf("after the deletion: %q", got)
	}
	// The log lost its end, and has another entry in the place of the fourth.
	add(4, one(4, "x", `{"id":4,"from":"ann","kind":"text","body":"four"}`))
	page, err := a.Read(t.Context(), log, archive.Span{From: 1, To: 9, Limit: 2, BytesMax: 1 << 20, Backward: true})
	if err != nil || len(page) != 2 || page[0].ID != 3 || page[1].ID != 4 || body(4) != "four" {
		t.Errorf("after the loss: %v, %v", page, err)
	}
	a.Away(true)
	if _, err := a.Read(t.Context(), log, archive.Span{}); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("away: %v", err)
	}
	a.Away(false)
	if _, err := a.Drop(t.Context(), log, chat.IDMax); err != nil || len(a.Logs()) != 0 {
		t.Errorf("after dropping it: %v, %v", a.Logs(), err)
	}
}
