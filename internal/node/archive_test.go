package node

import (
	"context"
	"errors"
	"testing"

	"github.com/chatd/chatd/chat"
)

// namedArchive is a database of which no more than its name is asked.
type namedArchive struct {
	archiveDB
	closed bool
}

func (*namedArchive) ID(context.Context) (string, error) { return "id", nil }

func (a *namedArchive) Close() error { a.closed = true; return nil }

// TestOpeningAnArchiveOutlivesTheCall: a migration that takes longer than the call with which it began is not broken off.
func TestOpeningAnArchiveOutlivesTheCall(t *testing.T) {
	db, began, migrated := &namedArchive{}, make(chan struct{}, 1), make(chan struct{})
	late := &lateArchive{id: "id", open: func(ctx context.Context) (archiveDB, error) {
		began <- struct{}{}
		select {
		case <-migrated:
			return db, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	hurry, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := late.get(hurry); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("the call that begins it: %v", err)
	}
	if _, err := late.get(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("another one: %v", err)
	}
	opening := late.opening
	close(migrated)
	<-opening.done
	if got, err := late.get(t.Context()); err != nil || got != db {
		t.Errorf("once it is open: %v, %v", got, err)
	}
	if err := late.Close(); err != nil || !db.closed {
		t.Errorf("close: %v, %v", db.closed, err)
	}
}

// TestOpeningAnArchiveEndsWithTheNode: nothing of it goes on after Close.
func TestOpeningAnArchiveEndsWithTheNode(t *testing.T) {
	began := make(chan struct{})
	late := &lateArchive{open: func(ctx context.Context) (archiveDB, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ended := make(chan error, 1)
	go func() {
		_, err := late.get(context.WithoutCancel(t.Context()))
		ended <- err
	}()
	<-began
	if err := late.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that waited for it: %v", err)
	}
	if _, err := late.get(t.Context()); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a call after that: %v", err)
	}
}
