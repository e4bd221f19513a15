package live

import "github.com/chatd/chatd/chat"

// Beginning is what a session begins with: the index of a user, and the end of the inbox.
type Beginning struct {
	Groups []chat.UserGroup // the whole index
	Inbox  chat.InboxEnd    // Epoch "": nobody has read it yet

	// Of the inbox as well. Items are the newest; none if they are long.
	Base     int64 // the highest seq that was dropped
	BaseMark string
	Acked    int64
	Items    []chat.StoredItem

	Standings []chat.Info // as Store.Standings reads them
}

// Pull returns what a pull of the inbox after pos would return, or after the acked items if pos is not set. ok is false if only a
// real pull can tell: the items do not reach back that far, or pos belongs to another inbox.
func (b Beginning) Pull(pos chat.Position) (batch chat.InboxBatch, ok bool) {
	if !pos.Set {
		pos = chat.Position{ID: b.Acked}
	}
	switch {
	case b.Inbox.Epoch == "", pos.Epoch != "" && pos.Epoch != b.Inbox.Epoch, pos.ID < b.Base, pos.ID > b.Inbox.Last:
		return chat.InboxBatch{}, false
	}
	items := b.Items
	mark := ""
	if pos.ID == b.Base {
		mark = b.BaseMark
	}
	for len(items) > 0 && items[0].Seq() <= pos.ID {
		if items[0].Seq() == pos.ID {
			mark = items[0].Mark
		}
		items = items[1:]
	}
	if pos.ID == b.Inbox.Last {
		mark = b.Inbox.Mark
	} else if len(items) == 0 || items[0].Seq() != pos.ID+1 || mark == "" && pos.ID != b.Base {
		return chat.InboxBatch{}, false
	}
	if chat.Differ(pos.Mark, mark) {
		return chat.InboxBatch{}, false
	}
	batch = chat.InboxBatch{Epoch: b.Inbox.Epoch, First: b.Base + 1, Last: b.Inbox.Last, Acked: b.Acked, Complete: true}
	return batch.Hold(chat.Position{ID: pos.ID, Mark: mark}, items), true
}
