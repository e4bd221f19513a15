package profiles

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/chatd/chatd/chat"
)

// UploadBytesMax is how many bytes the picture of an avatar may have.
const UploadBytesMax = 2 << 20

// avatarPath is the address of a picture that this server keeps.
var avatarPath = regexp.MustCompile(`^/avatars/([A-Za-z0-9_-]{16,64})$`)

// avatarOf is the id of the avatar whose address a picture is; empty: it is none.
func avatarOf(picture string) string {
	if found := avatarPath.FindStringSubmatch(picture); found != nil {
		return found[1]
	}
	return ""
}

// AvatarOf is the id of the avatar that a stored profile shows; empty: it shows none.
func AvatarOf(s Stored) (string, error) {
	r, err := s.read()
	return avatarOf(r.Picture), err
}

// mayDraw tells whether users change their picture themselves.
func (s *Service) mayDraw(before Stored) error {
	r, err := before.read()
	switch {
	case err != nil:
		return err
	case slices.Contains(s.opt.Claims, fieldPicture):
		return s.opt.refuse(Change{Picture: json.RawMessage("null")})
	case slices.Contains(r.Pinned, fieldPicture):
		return errPinned(fieldPicture)
	}
	return nil
}

// PutAvatar makes an avatar of what a user uploaded, and its address the picture of the user; the one before is gone. ErrForbidden: as for Patch. The errors
// of drawing it too.
func (s *Service) PutAvatar(ctx context.Context, user string, upload []byte) (Own, error) {
	before, err := s.store.ReadProfile(ctx, user)
	if err == nil {
		err = s.mayDraw(before) // who may not learns that before it costs anything
	}
	if err != nil {
		return Own{}, chat.AsError(err)
	}
	kind, content, err := s.opt.Draw(ctx, user, upload)
	if err != nil {
		return Own{}, chat.AsError(err)
	}
	id := s.store.NewAvatarID(user)
	return s.patch(ctx, user, nil, func(before Stored) (Write, error) {
		r, err := before.read()
		if err == nil {
			err = s.mayDraw(before)
		}
		if err != nil {
			return Write{}, err
		}
		r.Picture, r.Shown = "/avatars/"+id, true
		after, err := before.with(r)
		return Write{User: user, Stored: after, Avatar: &Avatar{Type: kind, Content: content}}, err
	})
}

// DeleteAvatar removes the avatar of a user, if there is one. A picture elsewhere stays. ErrForbidden: as for Patch.
func (s *Service) DeleteAvatar(ctx context.Context, user string) error {
	_, err := s.patch(ctx, user, nil, func(before Stored) (Write, error) {
		r, err := before.read()
		if err == nil {
			err = s.mayDraw(before)
		}
		if err != nil || avatarOf(r.Picture) == "" {
			return Write{Stored: before}, err
		}
		r.Picture = ""
		after, err := before.with(r)
		return Write{User: user, Stored: after}, err
	})
	return err
}

// Avatar reads an avatar, for anybody. ErrNotFound.
func (s *Service) Avatar(ctx context.Context, id string) (Avatar, error) {
	a, err := s.store.ReadAvatar(ctx, id)
	return a, chat.AsError(err)
}

// OwnAvatar reads the avatar of a user; nil: there is none.
func (s *Service) OwnAvatar(ctx context.Context, own Own) (*Avatar, error) {
	id := avatarOf(own.Picture)
	if id == "" {
		return nil, nil
	}
	a, err := s.store.ReadAvatar(ctx, id)
	if chat.CodeOf(err) == chat.CodeNotFound { // it was replaced meanwhile
		return nil, nil
	}
	return &a, chat.AsError(err)
}
