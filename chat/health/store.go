package health

import (
	"context"
	"time"
)

// Store keeps short notes that end by themselves.
type Store interface {
	// PutNote writes a note that counts for so long, and drops some that have ended. Without a text it keeps the one that is
	// there. kept is false if there is none, or if there would be more than notesMax: nothing is written then.
	PutNote(ctx context.Context, id, text string, lasts time.Duration, notesMax int) (kept bool, err error)
	// DropNote removes one. A missing one is no error.
	DropNote(ctx context.Context, id string) error
	// Notes reads those that have not ended, in the order of their ids, and the clock of the store.
	Notes(ctx context.Context) (notes []Note, nowMs int64, err error)
}

// Note is what a node wrote down.
type Note struct {
	ID     string
	Text   string
	EndsMs int64 // by the clock of the store
}
