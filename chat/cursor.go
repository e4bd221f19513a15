package chat

import "context"

// Ack moves the caller's seen to id; lower than now is no change. ErrOutOfRange above the end of the log.
func (s *Service) Ack(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	return s.move(ctx, by, group, id, false)
}

// Read moves the caller's read to id, and seen with it.
func (s *Service) Read(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	return s.move(ctx, by, group, id, true)
}

func (s *Service) move(ctx context.Context, by Caller, group string, id int64, read bool) (Cursors, error) {
	if err := CheckGroup(by, group); err != nil {
		return Cursors{}, err
	}
	if id < 0 {
		return Cursors{}, Invalid("id: negative")
	}
	if by.Session != "" && !isToken(by.Session) {
		return Cursors{}, Invalid("the caller's session has no valid name") // it would end the signal too early
	}
	c, err := s.stores.Ack(ctx, group, by.User, min(id, IDMax), read, by.Session)
	if err != nil {
		return Cursors{}, s.Refused(ctx, by, group, err)
	}
	s.hints.add(by.User, group, c.Seen)
	return c, nil
}

// Unread moves the caller's read back to id-1, so that id is unread again; never forward. seen stays.
func (s *Service) Unread(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	if err := CheckGroup(by, group); err != nil {
		return Cursors{}, err
	}
	if id < 1 {
		return Cursors{}, Invalid("id: must be at least 1")
	}
	c, err := s.stores.Unread(ctx, group, by.User, min(id, IDMax))
	if err != nil {
		return Cursors{}, s.Refused(ctx, by, group, err)
	}
	return c, nil
}
