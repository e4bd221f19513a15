package profiles

import (
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
)

// HidingTable is the table of the users who hide what they have seen and read. Every node keeps it in memory.
const HidingTable = "hiding"

// hidingMax is how many users hide.
const hidingMax = 1_000_000

// What users say of their receipts.
const (
	ReceiptsShown  = "shown"
	ReceiptsHidden = "hidden"
)

// Hiding is the table of those who hide; it has to be followed.
func (s *Service) Hiding() *table.Table[struct{}] { return s.hiding }

func (s *Service) newHiding() *table.Table[struct{}] {
	return table.New(HidingTable, hidingMax, func(string, string) (struct{}, error) { return struct{}{}, nil }, nil, s.opt.Log)
}

// Hides tells whether a user hides what they have seen and read. It asks nobody.
func (s *Service) Hides(user string) bool {
	_, hides := s.hiding.Get(user)
	return hides
}

// receipts is what a user says of their receipts.
func (s *Service) receipts(user string) string {
	if s.Hides(user) {
		return ReceiptsHidden
	}
	return ReceiptsShown
}

// SetReceipts has a user hide what they have seen and read, or show it. It holds on every node within a second.
func (s *Service) SetReceipts(ctx context.Context, user, word string) error {
	if err := chat.CheckWord("receipts", &word, ReceiptsShown, ReceiptsHidden); err != nil {
		return err
	}
	_, err := s.hiding.Change(ctx, s.store, user, func(string) (string, error) {
		if word == ReceiptsHidden {
			return word, nil
		}
		return "", nil
	})
	return chat.AsError(err)
}

// Erase has an erased user hide nothing: whoever gets the name next begins anew.
func (s *Service) Erase(ctx context.Context, user string) error {
	if err := s.SetReceipts(ctx, user, ReceiptsShown); err != nil && !errors.Is(err, chat.ErrNotFound) {
		return err
	}
	return nil
}
