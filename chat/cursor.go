package chat

import "context"

// cursors moves the cursors of members, and shows how far they are.
type cursors struct {
	*base
	store CursorStore
	hints *hints
}

// Ack moves the caller's seen to a position; lower than now is no change. ErrOutOfRange for an id above the end of the log,
// ErrConflict for a cursor of another log, or of one that a failover rolled back.
func (s *cursors) Ack(ctx context.Context, by Caller, group string, at Position) (Cursors, error) {
	return s.move(ctx, by, group, at, false)
}

// Read moves the caller's read to a position, and seen with it.
func (s *cursors) Read(ctx context.Context, by Caller, group string, at Position) (Cursors, error) {
	return s.move(ctx, by, group, at, true)
}

func (s *cursors) move(ctx context.Context, by Caller, group string, at Position, read bool) (Cursors, error) {
	if err := CheckGroup(by, group); err != nil {
		return Cursors{}, err
	}
	if at.ID < 0 {
		return Cursors{}, Invalid("id: negative")
	}
	if by.Session != "" && !isToken(by.Session) {
		return Cursors{}, Invalid("the caller's session has no valid name") // it would cut the signal short
	}
	at.ID = min(at.ID, IDMax)
	c, err := s.store.Ack(ctx, group, by.User, at, read, by.Session)
	if IsArchived(err) { // and nobody asks the archive: what is trimmed cannot be compared
		c, err = s.store.Ack(ctx, group, by.User, at.Unmarked(), read, by.Session)
	}
	if err != nil {
		return Cursors{}, s.Refused(ctx, by, group, err)
	}
	s.hints.NoteSeen(by.User, group, c.Seen)
	return c, nil
}

// Unread moves the caller's read back to id-1, so that id is unread again. It never moves it forward, and seen stays.
func (s *cursors) Unread(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	if err := CheckGroup(by, group); err != nil {
		return Cursors{}, err
	}
	if id < 1 {
		return Cursors{}, Invalid("id: must be at least 1")
	}
	c, err := s.store.Unread(ctx, group, by.User, min(id, IDMax))
	if err != nil {
		return Cursors{}, s.Refused(ctx, by, group, err)
	}
	return c, nil
}
