package chat

import (
	"context"
)

// Ack moves the caller's seen to id.
func (s *Service) Ack(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	return Cursors{}, ErrUnavailable
}

// Read moves the caller's read, and seen with it, to id.
func (s *Service) Read(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	return Cursors{}, ErrUnavailable
}

// Unread moves read back to id-1.
func (s *Service) Unread(ctx context.Context, by Caller, group string, id int64) (Cursors, error) {
	return Cursors{}, ErrUnavailable
}

// Receipts tells who has seen and read message id.
func (s *Service) Receipts(ctx context.Context, by Caller, group string, id int64, limit int, cursor string) (r Receipts, next string, err error) {
	return Receipts{}, "", ErrUnavailable
}
