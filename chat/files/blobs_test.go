package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
)

// failing are blobs whose calls all fail with one error.
type failing struct {
	files.Blobs
	err error
}

func (f failing) Write(context.Context, string, int64, io.Reader) (int64, error) { return 0, f.err }
func (f failing) Open(context.Context, string) (files.Blob, error)               { return nil, f.err }
func (f failing) Copy(context.Context, string, string) error                     { return f.err }
func (f failing) Check(context.Context) error                                    { return f.err }
func (f failing) Link(context.Context, string, string, string) (string, error)   { return "", f.err }

// TestFailuresOfBlobs: what a disk or a bucket answers reaches callers as what they can do about it: a failure is nothing for good.
func TestFailuresOfBlobs(t *testing.T) {
	b := newBench(t, 5)
	whole, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	_, err = b.Write(b.Ctx, alice, "g", whole.ID, files.Piece{Body: strings.NewReader("hello")})
	b.Must(err)
	begun, err := b.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	for _, c := range []struct {
		err     error
		code    chat.Code
		message string
	}{
		{errors.New("the connection broke"), chat.CodeUnavailable, "the files cannot be reached"},
		{fmt.Errorf("blob x: %w: no space", files.ErrFull), chat.CodeUnavailable, "the disk is full"},
		{fmt.Errorf("blob x: %w", files.ErrBusy), chat.CodeConflict, "another request is writing to this upload; try again"},
	} {
		s := b.service(b.Store, failing{b.blobs, c.err})
		calls := map[string]func() error{
			"write": func() error {
				_, err := s.Write(b.Ctx, alice, "g", begun.ID, files.Piece{Body: strings.NewReader("hello")})
				return err
			},
			"open": func() error { _, _, err := s.Open(b.Ctx, alice, "g", whole.ID); return err },
			"forward": func() error {
				_, err := s.Forward(b.Ctx, alice, "g", files.Source{Group: "g", File: whole.ID})
				return err
			},
			"link": func() error {
				_, err := s.Link(b.Ctx, alice, "g", whole.ID, func(files.File) string { return "" })
				return err
			},
			"ready": func() error { return s.Ready(b.Ctx) },
		}
		for name, call := range calls {
			err := call()
			var refused *chat.Error
			if !errors.As(err, &refused) || refused.Code != c.code || refused.Message != c.message || !errors.Is(err, c.err) {
				t.Errorf("%s, where blobs answer %q: %v, want %s: %s", name, c.err, err, c.code, c.message)
			}
		}
	}
}
