package importer

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Bounds of what is written together.
const (
	batchEntries = 2000
	batchBytes   = 1 << 20 // of their JSON
)

// writer writes the entries of a plan, in the order of their ids.
type writer struct {
	*Service
	plan plan
	at   int64 // id up to which an earlier run has written

	from  int64 // first id of the batch
	next  int64
	batch []Entry
	bytes int
}

// write writes the notices of a new group and the messages.
func (w *writer) write(ctx context.Context, open Source) error {
	w.from, w.next = 1, 1
	for i, user := range w.plan.users {
		e := chat.Entry{From: w.plan.users[0], Content: chat.Content{Kind: chat.Notice}, Notice: chat.NoticeJoined, User: user, SentAt: w.plan.first}
		if i == 0 {
			e.Notice = chat.NoticeCreated
		}
		if err := w.add(ctx, e, nil); err != nil {
			return err
		}
	}
	scan := w.scanner(w.plan.lenient)
	scan.each = func(m message, _, replyTo int64) error { return w.message(ctx, m, replyTo) }
	again, err := scan.scan(ctx, open)
	switch {
	case err != nil:
		return err
	case again.sum != w.plan.sum:
		return errors.New("the file has changed while it was read: repeat the import")
	}
	return w.flush(ctx)
}

// message writes a message and behind it the reactions to it.
func (w *writer) message(ctx context.Context, m message, replyTo int64) error {
	if replyTo >= 0 {
		m.entry.ReplyTo = w.plan.before() + replyTo + 1
	}
	id := w.next
	if err := w.add(ctx, m.entry, m.reactions); err != nil {
		return err
	}
	for _, r := range m.reactions {
		for _, user := range r.Users {
			e := chat.Entry{From: user, Content: chat.Content{Kind: chat.Reaction, Target: id, Emoji: r.Emoji}, SentAt: m.entry.SentAt}
			if err := w.add(ctx, e, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an entry to the batch, unless an earlier run has written it.
func (w *writer) add(ctx context.Context, e chat.Entry, reactions []Reactions) error {
	id := w.next
	if w.next++; id <= w.at {
		w.from = w.next
		return nil
	}
	e.Group = w.plan.group.ID
	_, rest := chat.NewEntry(e)
	w.batch = append(w.batch, Entry{ID: id, Mark: w.mark(id), Rest: rest, Kind: e.Kind, Reactions: reactions, Target: e.Target, From: e.From, Emoji: e.Emoji})
	if w.bytes += len(rest); len(w.batch) < batchEntries && w.bytes < batchBytes {
		return nil
	}
	return w.flush(ctx)
}

// flush writes the batch: to the archive first, because the store says how far an import has come.
func (w *writer) flush(ctx context.Context) error {
	if len(w.batch) == 0 {
		return nil
	}
	to := w.next - 1
	if w.archive != nil {
		b := archive.Batch{Log: archive.Log{Group: w.plan.group.ID, Epoch: w.plan.group.Epoch}, Last: chat.IDMax, Messages: make([]chat.Message, len(w.batch))}
		for i, e := range w.batch {
			b.Messages[i] = chat.Message{ID: e.ID, Mark: e.Mark, JSON: chat.EntryJSON(e.ID, e.Rest)}
		}
		if err := w.archive.Add(ctx, []archive.Batch{b}); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	held := w.batch[min(int64(len(w.batch)), max(0, w.plan.held-w.from)):]
	err := w.store.StageImport(ctx, w.plan.group.ID, w.plan.group.Epoch, w.from, to, held)
	w.from, w.batch, w.bytes = w.next, w.batch[:0], 0
	if errors.Is(err, chat.ErrConflict) {
		return errors.New("another import into this group has begun meanwhile")
	}
	return err
}

// mark is that of the entry with an id: the same one in each run, and in no other import.
func (w *writer) mark(id int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w.plan.group.Epoch, id))
	return base64.RawURLEncoding.EncodeToString(sum[:6])[:6]
}
