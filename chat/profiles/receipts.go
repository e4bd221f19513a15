package profiles

import (
	"context"
	"errors"
	"log/slog"

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

// Receipts knows who hides what they have seen and read.
type Receipts struct {
	rows   table.Rows
	hiding *table.Table[struct{}]
}

func newReceipts(rows table.Rows, log *slog.Logger) *Receipts {
	decode := func(string, string) (struct{}, error) { return struct{}{}, nil }
	return &Receipts{rows, table.New(HidingTable, hidingMax, decode, nil, log)}
}

// Table is the table of those who hide; it has to be followed.
func (r *Receipts) Table() *table.Table[struct{}] { return r.hiding }

// Hides tells whether a user hides what they have seen and read. It asks nobody.
func (r *Receipts) Hides(user string) bool {
	_, hides := r.hiding.Get(user)
	return hides
}

// of is what a user says of their receipts.
func (r *Receipts) of(user string) string {
	if r.Hides(user) {
		return ReceiptsHidden
	}
	return ReceiptsShown
}

// Set has a user hide what they have seen and read, or show it. It holds on every node within a second.
func (r *Receipts) Set(ctx context.Context, user, word string) error {
	if err := chat.CheckWord("receipts", &word, ReceiptsShown, ReceiptsHidden); err != nil {
		return err
	}
	_, err := r.hiding.Change(ctx, r.rows, user, func(string) (string, error) {
		if word == ReceiptsHidden {
			return word, nil
		}
		return "", nil
	})
	return chat.AsError(err)
}

// Erase has an erased user hide nothing: whoever gets the name next begins anew.
func (r *Receipts) Erase(ctx context.Context, user string) error {
	if err := r.Set(ctx, user, ReceiptsShown); err != nil && !errors.Is(err, chat.ErrNotFound) {
		return err
	}
	return nil
}
