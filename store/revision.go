package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

// A deletion runs when the server is full, an edit does not.
var (
	editScript        = newScript("revision/revise", memberNames)
	deleteEntryScript = newFreeing("revision/revise", memberNames)
	unreactScript     = newFreeing("revision/unreact", groupNames)
)

// Revise appends an edit or a delete entry and changes what it touches, in one step. The script adds the id of an edit
// to the edits of its target; those of Change.New are not looked at.
func (s *Logs) Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error) {
	if !s.traces.Sampled(ctx) {
		return s.revise(ctx, a, changes, asAdmin)
	}
	ctx, span := s.traced(ctx, "revise", a)
	done, err := s.revise(ctx, a, changes, asAdmin)
	tracing.Stored(span, done.ID, err)
	return done, err
}

func (s *Logs) revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error) {
	if len(changes) == 0 {
		return chat.Appended{}, broke("revise", errors.New("there is no target"))
	}
	// What the target says is compared in the script, so what is derived from it here holds there.
	target, err := decodeEntry(changes[0].Old)
	if err != nil {
		return chat.Appended{}, broke("revise", fmt.Errorf("message %d: %w", changes[0].Old.ID, err))
	}
	if !asAdmin && target.From != a.From {
		return chat.Appended{}, chat.ErrDeletersOnly
	}
	for _, c := range changes {
		if c.Old.ID != c.New.ID || c.Old.Mark != c.New.Mark {
			return chat.Appended{}, broke("revise", fmt.Errorf("message %d would lose its identity", c.Old.ID))
		}
	}
	revise := editScript
	if a.Kind == chat.Delete {
		revise = deleteEntryScript
	}
	// Edits may be as many and as large as their message has room for. How they read before is kept only under a legal hold, so
	// they are sent only when the script has asked for them.
	done, err := s.runAppend(ctx, s.reviseCall(revise, a, changes, target, asAdmin, false), a)
	if errors.Is(err, chat.ErrConflict) && len(changes) > 1 {
		return s.runAppend(ctx, s.reviseCall(revise, a, changes, target, asAdmin, true), a)
	}
	return done, err
}

// reviseCall is the call of Revise; target is what changes[0] was. With earlier it includes how its edits read.
func (s *Logs) reviseCall(revise *script.Step[memberKeys], a chat.Append, changes []chat.Change, target chat.Entry, asAdmin, earlier bool) script.Call {
	k := s.keys.group(a.Group)
	call := revise.Sized(k.of(a.From), 3*len(changes)).Key("author_by", k.by(target.From)).
		Arg("from", a.From).Arg("kind", string(a.Kind)).Arg("mark", a.Mark).Arg("rest", a.Rest).Arg("sent_ms", a.SentAtMs).
		Arg("key", shortHash(a.Key)).Arg("content", shortHash(a.Content)).Arg("as_manager", asAdmin && !a.Operator).Arg("decided", a.Decided).
		Arg("durable", conn.Durability(a.Durability).Waits()).Arg("channel", k.channel()).Arg("keys_max", s.limits.KeysMax).
		Arg("edits_max", s.limits.EditsMax).Arg("group", a.Group).
		Arg("below", belowText(a.Below)).Arg("bare", !earlier && len(changes) > 1).
		Arg("unreact_id", k.taskID())
	call = s.releasing(call, a.Release, deletion(a, target))
	for _, user := range countedIn(target.Mentions, target.From) {
		call = call.More("at", k.at(user))
	}
	for i, c := range changes {
		id := strconv.FormatInt(c.Old.ID, 10)
		head := id + " " + c.Old.Mark
		if i == 0 {
			call = call.Arg("target", id).Arg("head", head).Arg("edits", encodeEdits(c.Old.Edits)).
				Arg("json", c.Old.JSON).Arg("new_json", c.New.JSON)
			continue
		}
		was := ""
		if earlier {
			was = string(c.Old.JSON)
		}
		call = call.MoreArgs("erased", "entry_id", id, "was", was, "entry", head+" x "+string(c.New.JSON))
	}
	return call
}

// deletion is what the audit gets of the deletion of another's message.
func deletion(a chat.Append, target chat.Entry) audit.Entry {
	if a.Actor.User == "" {
		return audit.Entry{}
	}
	return audit.Note(a.Actor, audit.MessageDelete, a.Group, target.From, struct {
		Target int64 `json:"target"`
	}{target.ID})
}

// Unreact takes the emoji out of some reactions to a deleted message.
func (s *Store) Unreact(ctx context.Context, t chat.UnreactTask) (next int64, err error) {
	k := s.keys.group(t.Group)
	r, err := s.runSafe(ctx, unreactScript.On(k).Arg("epoch", t.Epoch).Arg("target", t.Target).Arg("from", t.From).
		Arg("deleted_at", t.DeletedAt).Arg("deletion", t.Deletion).Arg("channel", k.channel()))
	return r.number(1), err
}

// belowText is how a script gets a target that is in the archive: `<epoch> <late>`.
func belowText(b *chat.Below) string {
	if b == nil {
		return ""
	}
	return b.Epoch + " " + strconv.FormatInt(b.Late, 10)
}
