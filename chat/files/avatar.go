package files

import (
	"bytes"
	"context"
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files/picture"
)

// Refusals of a picture.
var (
	ErrNotPicture = chat.Errorf(chat.CodeInvalid, "want a PNG, JPEG, GIF or WebP picture that can be decoded")
	errPixels     = chat.Errorf(chat.CodeOutOfRange, "the picture is too large: at most %d million pixels, and no edge above 65,535", picture.PixelsMax/1_000_000)
)

// Avatar makes an avatar of a picture that a user uploaded, and returns its type and its bytes. It takes its turn among the previews, and needs
// no blob store. Errors: ErrNotPicture, an out_of_range, and ErrUnavailable if too many wait.
func (s *Service) Avatar(ctx context.Context, user string, upload []byte) (kind string, content []byte, err error) {
	info, err := picture.Read(bytes.NewReader(upload))
	if err != nil {
		return "", nil, ErrNotPicture
	}
	defer s.avatars.Add(-1)
	if s.avatars.Add(1) > avatarsMax {
		return "", nil, errBusy
	}
	done, err := s.previews.turns.take(ctx, user, max(int64(info.Width)*int64(info.Height), previewPixelsMin))
	if err != nil {
		return "", nil, err
	}
	defer done()
	p, err := picture.NewAvatar(ctx, bytes.NewReader(upload))
	switch {
	case errors.Is(err, picture.ErrTooLarge):
		return "", nil, errPixels
	case errors.Is(err, picture.ErrNotPicture):
		return "", nil, ErrNotPicture
	}
	return p.Type, p.Content, err
}
