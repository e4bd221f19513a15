package archive

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// late is what a Store knows about its being open.
type late struct {
	expected string // id that the database must have; empty: any

	mu      sync.Mutex
	opened  bool
	closed  bool
	opening *opening // nil: nobody opens it
}

// opening is an attempt to open a database. It goes on after the call that began it: a migration may take longer.
type opening struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error
}

// Later is the archive at url, which is opened by Connect, or by the first call that its database answers. Until then every call is
// refused with chat.ErrUnavailable. A database with another id than this one is refused; empty: any is taken.
func Later(url, id string) (*Store, error) {
	e, err := engineOf(url)
	if err != nil {
		return nil, err
	}
	return &Store{engine: e, searchMax: searchTimeout, late: late{expected: id}}, nil
}

// Connect opens the archive, unless it is open. While one caller opens it, others get chat.ErrUnavailable. Where ctx ends first, the
// opening goes on.
func (s *Store) Connect(ctx context.Context) error {
	s.late.mu.Lock()
	if s.late.closed || s.late.opening != nil || s.late.opened {
		defer s.late.mu.Unlock()
		if s.late.closed || !s.late.opened {
			return chat.ErrUnavailable
		}
		return nil
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &opening{cancel: cancel, done: make(chan struct{})}
	s.late.opening = o
	s.late.mu.Unlock()
	go s.finish(background, o)
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return fmt.Errorf("%w: the archive is being opened: %w", chat.ErrUnavailable, ctx.Err())
	}
}

// finish opens the database, and closes it again where nobody wants it any longer.
func (s *Store) finish(ctx context.Context, o *opening) {
	defer o.cancel()
	err := s.open(ctx)
	s.late.mu.Lock()
	defer s.late.mu.Unlock()
	if err == nil && s.late.closed {
		err = errors.Join(chat.ErrUnavailable, s.shut())
	}
	s.late.opening, s.late.opened, o.err = nil, err == nil, err
	close(o.done)
}

// open connects, brings the schema up to date, and looks whether this is the database that is expected.
func (s *Store) open(ctx context.Context) error {
	err := inTime(ctx, func(ctx context.Context) (err error) {
		s.write, s.read, err = s.engine.open(ctx)
		return s.failed(err)
	})
	if err == nil {
		err = migrateUp(ctx, s.engine, s.write)
	}
	if err == nil {
		err = inTime(ctx, s.prepare)
	}
	if want := s.late.expected; err == nil && want != "" && want != s.id {
		err = archive.OtherDatabase(s.id, want)
	}
	if err != nil {
		return errors.Join(err, s.engine.close())
	}
	s.writer = startWriter(s)
	return nil
}

// Close waits for the transaction under way and closes the database, or gives it up if it is being opened. Calls after it fail.
func (s *Store) Close() error {
	s.late.mu.Lock()
	s.late.closed = true
	o := s.late.opening
	s.late.mu.Unlock()
	if o != nil {
		o.cancel()
		<-o.done
	}
	s.late.mu.Lock()
	defer s.late.mu.Unlock()
	if !s.late.opened {
		return nil
	}
	s.late.opened = false
	return s.shut()
}

func (s *Store) shut() error {
	s.writer.stop()
	return s.engine.close()
}

// ID names this database, for as long as it exists. One that is expected is known also while the database does not answer.
func (s *Store) ID(ctx context.Context) (string, error) {
	if s.late.expected != "" {
		return s.late.expected, nil
	}
	if err := s.Connect(ctx); err != nil {
		return "", err
	}
	return s.id, nil
}
