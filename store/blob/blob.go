// Package blob keeps the bytes of files under random ids: in a folder (dir:PATH) or in a bucket (s3://...). It knows
// neither groups nor Redis: who may read a blob, and how long it lives, is decided by those who hold its id. What each call
// promises stands at files.Blobs.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/chatd/chatd/chat/files"
)

// markerName is the file, or object, that holds the identity.
const markerName = "chatd-blobs"

// ids are random from their first character on, because the first two name a folder. The caller makes them; the pattern
// keeps anything else from ever becoming a path.
var ids = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{3,99}$`)

func checkID(id string) error {
	if !ids.MatchString(id) {
		return fmt.Errorf("blob id %q: must be 4 to 100 letters, digits, - and _", id)
	}
	return nil
}

// Open opens the store at url: dir:PATH, a folder that is made if it is not there, or s3://..., see OpenS3.
func Open(ctx context.Context, url string) (files.Blobs, error) {
	if path, ok := strings.CutPrefix(url, "dir:"); ok && path != "" {
		return OpenDir(path)
	}
	if strings.HasPrefix(url, "s3://") {
		return OpenS3(ctx, url)
	}
	return nil, errors.New("blobs: must be dir:PATH or " + formS3)
}

// source marks the errors of a reader, to distinguish them from those of the store.
type source struct{ r io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", files.ErrSource, err)
	}
	return n, err
}
