package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/chatd/chatd/chat"
)

// appendTries bounds how often a reaction or a reply is tried because its target changed in the archive meanwhile.
const appendTries = 5

// info reads a group for the node itself.
func (s *Serving) info(ctx context.Context, user, group string) (chat.Info, error) {
	infos, err := s.Infos(ctx, user, []string{group})
	if err != nil {
		return chat.Info{}, err
	}
	return infos[0], nil
}

// Entries reads single messages by id, ascending; absent ones are left out.
func (s *Serving) Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error) {
	found, err := s.Store.Entries(ctx, group, ids)
	if err != nil || len(found) == len(ids) {
		return found, err
	}
	info, err := s.info(ctx, "", group)
	if err != nil {
		return nil, err
	}
	var below []int64
	for _, id := range ids {
		has := slices.ContainsFunc(found, func(m chat.Message) bool { return m.ID == id })
		if !has && id >= info.First && id < info.Held {
			below = append(below, id)
		}
	}
	if len(below) == 0 {
		return found, nil
	}
	err = s.ask(ctx, info, func(ctx context.Context) error {
		archived, err := s.db.Entries(ctx, logOf(info), below)
		found = append(found, archived...)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b chat.Message) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// Range reads entries for the node itself, from an id on, with the end of the log. If the archive has the first of them, only
// archived ones are returned; entries that neither holds any longer are left out.
func (s *Serving) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error) {
	held, end, err := s.Store.Range(ctx, group, from, limit, bytesMax)
	if err != nil || len(held) > 0 && held[0].ID <= from {
		return held, end, err
	}
	info, err := s.info(ctx, "", group)
	if err != nil || info.Epoch != end.Epoch {
		return held, end, err
	}
	from = max(from, info.First)
	to := min(from+int64(limit), info.Held) - 1
	if from > to {
		return held, end, nil
	}
	var archived []chat.Message
	err = s.ask(ctx, info, func(ctx context.Context) (err error) {
		archived, err = s.db.Read(ctx, logOf(info), Span{From: from, To: to, Limit: limit,
			BytesMax: cmp.Or(bytesMax, s.limits.PageBytesMax)})
		return err
	})
	if err != nil || len(archived) == 0 {
		return held, end, err
	}
	return archived, end, nil
}

// Reactions counts the reactions to the messages from..to. The store's extent is looked up after its counts were
// read: the reactions to a message trimmed before that are in the archive.
func (s *Serving) Reactions(ctx context.Context, group, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	found, err := s.Store.Reactions(ctx, group, user, from, to)
	if err != nil {
		return nil, err
	}
	info, err := s.info(ctx, user, group)
	if err != nil || info.First >= info.Held || from >= info.Held {
		return found, err
	}
	var archived map[int64]map[string]chat.ReactionCount
	err = s.ask(ctx, info, func(ctx context.Context) (err error) {
		archived, err = s.db.Reactions(ctx, logOf(info), user, max(from, info.First), min(to, info.Held-1))
		return err
	})
	if err != nil {
		return nil, err
	}
	for id, counts := range found {
		if id >= info.Held {
			archived[id] = counts
		}
	}
	return archived, nil
}

// Append appends an entry. For a reaction to an archived message, the archive says what reactions that has, and for a reply to one,
// whether it may have a thread. The store takes the entry only if that is still so.
func (s *Serving) Append(ctx context.Context, a chat.Append) (chat.Appended, error) {
	done, err := s.Store.Append(ctx, a)
	for range appendTries {
		if !chat.IsArchived(err) && (a.Below == nil || !errors.Is(err, chat.ErrConflict)) {
			break
		}
		if a.Below, err = s.below(ctx, a); err != nil {
			return chat.Appended{}, err
		}
		done, err = s.Store.Append(ctx, a)
	}
	return done, err
}

// below is the state of a reaction's target, or of the root of a thread, in the archive.
func (s *Serving) below(ctx context.Context, a chat.Append) (*chat.Below, error) {
	if a.Thread != 0 {
		return s.root(ctx, a)
	}
	below, lost, err := s.reacted(ctx, a)
	if err == nil && lost {
		if err = s.forgetLost(ctx, a.Group); err == nil {
			below, lost, err = s.reacted(ctx, a)
		}
	}
	if err == nil && lost {
		err = chat.ErrConflict
	}
	return below, err
}

// root is the state of the root of a thread in the archive.
func (s *Serving) root(ctx context.Context, a chat.Append) (*chat.Below, error) {
	info, err := s.info(ctx, a.From, a.Group)
	if err != nil {
		return nil, err
	}
	found, err := s.Entries(ctx, a.Group, []int64{a.Thread})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, chat.ErrNotFound
	}
	e, err := chat.RootOf(found[0])
	return &chat.Below{Epoch: info.Epoch, Late: info.Late, Author: e.From}, err
}

// forgetLost has the archive forget what a log has lost.
func (s *Serving) forgetLost(ctx context.Context, group string) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return s.catchUp(ctx, group, chat.IDMax)
}

// reacted asks the archive for the state of a reaction's target. lost: the archive has the same reaction already, but the log
// does not, because it was rolled back or belongs to another life of the group.
func (s *Serving) reacted(ctx context.Context, a chat.Append) (below *chat.Below, lost bool, err error) {
	info, err := s.info(ctx, a.From, a.Group)
	if err != nil {
		return nil, false, err
	}
	var r Reacted
	below = &chat.Below{Epoch: info.Epoch, Late: info.Late}
	err = s.ask(ctx, info, func(ctx context.Context) (err error) {
		r, err = s.db.Reacted(ctx, logOf(info), a.Target, a.From, a.Emoji)
		return err
	})
	switch {
	case err != nil:
		return nil, false, err
	case !r.Alive, a.Removed && r.Entry == 0:
		return nil, false, chat.ErrNotFound
	case r.Entry == 0 || r.On == a.Removed:
		if !a.Removed && !r.Has && r.Emojis >= s.limits.EmojisMax {
			return nil, false, chat.Errorf(chat.CodeConflict, "the message has the maximum number of different emoji")
		}
		return below, false, nil
	}
	same, err := s.Entries(ctx, a.Group, []int64{r.Entry})
	if err != nil {
		return nil, false, err
	}
	if len(same) == 0 || !says(same[0], a) {
		return nil, true, nil
	}
	below.Same = same[0]
	return below, false, nil
}

// says tells whether an entry is the reaction that a would append.
func says(m chat.Message, a chat.Append) bool {
	var e chat.Entry
	return json.Unmarshal(m.JSON, &e) == nil && e.Kind == chat.Reaction && e.From == a.From && e.Target == a.Target && e.Emoji == a.Emoji &&
		e.Removed == a.Removed
}

// Ack moves seen to a position, whose mark is compared in the archive if it is there. If the archive cannot be reached, only the
// id counts, as it does for trimmed messages without an archive.
func (s *Serving) Ack(ctx context.Context, group, user string, at chat.Position, read bool, origin string) (chat.Cursors, error) {
	c, err := s.Store.Ack(ctx, group, user, at, read, origin)
	if !chat.IsArchived(err) {
		return c, err
	}
	found, err := s.Entries(ctx, group, []int64{at.ID})
	switch {
	case err == nil && len(found) == 1 && found[0].Mark != at.Mark:
		return chat.Cursors{}, chat.ErrConflict
	case err != nil && !errors.Is(err, chat.ErrUnavailable):
		return chat.Cursors{}, err
	}
	return s.Store.Ack(ctx, group, user, at.Unmarked(), read, origin)
}
