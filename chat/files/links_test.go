package files_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
)

// linked are blobs that clients may read by themselves.
type linked struct{ *blobs }

func (linked) Link(_ context.Context, id, contentType, disposition string) (string, error) {
	return id + " " + contentType + " " + disposition, nil
}

// TestLinksNeedRights: a user who may not read a file gets no address of it either.
func TestLinksNeedRights(t *testing.T) {
	b := newBench(t, 1)
	s := b.service(b.Store, linked{b.blobs})
	f, err := s.Create(b.Ctx, alice, "g", files.Draft{Name: "n", Size: 5})
	b.Must(err)
	name := func(f files.File) string { return "name " + f.Name }
	link := func(by chat.Caller) (string, error) { return s.Link(b.Ctx, by, "g", f.ID, name) }
	if got, err := link(alice); !errors.Is(err, files.ErrNoFile) {
		t.Errorf("an upload that is not complete: %q, %v", got, err)
	}
	_, err = s.Write(b.Ctx, alice, "g", f.ID, files.Piece{Body: strings.NewReader("hello")})
	b.Must(err)
	if got, err := link(alice); err != nil || got != f.ID+" text/plain name n" {
		t.Errorf("the owner: %q, %v", got, err)
	}
	for _, user := range []string{"bob", "carl"} {
		if got, err := link(chat.Caller{User: user}); !errors.Is(err, files.ErrNoFile) {
			t.Errorf("%s, whom no message shows it: %q, %v", user, got, err)
		}
	}
	b.server.Do("HSET", "chat:{p00}:g:g:files", f.ID, "lost"+strings.TrimPrefix(b.server.Do("HGET", "chat:{p00}:g:g:files", f.ID).(string), "whole"))
	if got, err := link(alice); got != "" || err != nil { // Open says what happened
		t.Errorf("a file that has lost its bytes: %q, %v", got, err)
	}
	plain := b.service(b.Store, b.blobs)
	if got, err := plain.Link(b.Ctx, alice, "g", f.ID, name); got != "" || err != nil {
		t.Errorf("blobs without addresses: %q, %v", got, err)
	}
}
