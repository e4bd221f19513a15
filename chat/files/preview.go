package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files/picture"
)

// previewOf is the id of the blob that holds the preview of a file. One without bytes says that there is none.
func previewOf(id string) string { return id + "-preview" }

// OpenPreview opens a small picture of a picture, which the caller closes, and returns its type. It is made when it is first asked
// for, one at a time in a process, with an equal share for each user (see turns), and kept even if the caller has left.
func (s *Service) OpenPreview(ctx context.Context, by chat.Caller, group, id string) (File, Blob, error) {
	f, err := s.Get(ctx, by, group, id)
	if err != nil {
		return File{}, nil, err
	}
	if !f.Whole || !IsPicture(f.Type) {
		return File{}, nil, errNoPreview
	}
	b, err := s.blobs.Open(ctx, previewOf(id))
	if errors.Is(err, ErrNoBlob) {
		if err = s.previews.of(ctx, by.User, f, s.makePreview); err == nil {
			b, err = s.blobs.Open(ctx, previewOf(id))
		}
	}
	if err != nil {
		return File{}, nil, s.withoutBytes(ctx, f, err)
	}
	info, err := picture.Read(b)
	if err == nil {
		_, err = b.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = b.Close()
		if errors.Is(err, picture.ErrNotPicture) {
			err = errNoPreview
		}
		return File{}, nil, blobError(err)
	}
	f.Type, f.SHA256 = info.Type, f.SHA256+"-preview"
	if i := strings.LastIndexByte(f.Name, '.'); i > 0 {
		f.Name = f.Name[:i]
	}
	f.Name += "." + strings.TrimPrefix(info.Type, "image/")
	return f, b, nil
}

var errBusy = &chat.Error{Code: chat.CodeUnavailable, Message: "too many pictures are being made smaller; try again", RetryAfter: previewRetry}

var errNoPreview = chat.Errorf(chat.CodeNotFound, "this file has no preview")

// makePreview makes the preview of a picture: an empty one if it cannot be decoded or is too large, so that nobody tries again.
func (s *Service) makePreview(ctx context.Context, id string) error {
	b, err := s.blobs.Open(ctx, id)
	if err != nil {
		return err
	}
	defer b.Close()
	preview, err := picture.NewPreview(ctx, b)
	if err != nil && !errors.Is(err, picture.ErrNotPicture) && !errors.Is(err, picture.ErrTooLarge) {
		return err
	}
	return s.blobs.Put(ctx, previewOf(id), bytes.NewReader(preview.Content))
}

// previews are the previews under way in a process.
type previews struct {
	turns turns

	mu      sync.Mutex
	ctx     context.Context // of all of them; ended by close
	end     context.CancelFunc
	making  map[string]*making // by file
	users   map[string]int     // how many of them are whose
	running sync.WaitGroup
}

// making is a preview under way.
type making struct {
	done chan struct{}
	err  error
}

// of waits until the preview of a file is made, and starts making it if nobody has. That goes on when the caller leaves: the next
// one finds it.
func (p *previews) of(ctx context.Context, user string, f File, makeOne func(ctx context.Context, id string) error) error {
	m, err := p.begin(user, f, makeOne)
	if err != nil {
		return err
	}
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *previews) begin(user string, f File, makeOne func(ctx context.Context, id string) error) (*making, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.making[f.ID]; m != nil {
		return m, nil
	}
	if p.ctx == nil {
		p.ctx, p.end = context.WithCancel(context.Background())
		p.making, p.users = map[string]*making{}, map[string]int{}
	}
	if p.ctx.Err() != nil || p.users[user] >= previewsUserMax || len(p.making) >= previewsMax {
		return nil, errBusy
	}
	m := &making{done: make(chan struct{})}
	p.making[f.ID] = m
	p.users[user]++
	p.running.Go(func() {
		ctx, cancel := context.WithTimeout(p.ctx, previewTimeout)
		defer cancel()
		done, err := p.turns.take(ctx, user, max(int64(f.Width)*int64(f.Height), previewPixelsMin))
		if err == nil {
			err = makeOne(ctx, f.ID)
			done()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.making, f.ID)
		if p.users[user]--; p.users[user] == 0 {
			delete(p.users, user)
		}
		m.err = err
		close(m.done)
	})
	return m, nil
}

// close ends the previews under way, and waits until they have ended.
func (p *previews) close() {
	p.mu.Lock()
	if p.ctx == nil {
		p.ctx, p.end = context.WithCancel(context.Background())
	}
	p.end()
	p.mu.Unlock()
	p.running.Wait()
}
