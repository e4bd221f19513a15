package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/chatd/chatd/chat/files"
)

const readAttempts = 3 // of a read whose connection breaks, one after the other without a byte in between

// object is a whole blob of a bucket. It asks for its bytes from where it is, once they are read.
type object struct {
	ctx  context.Context
	b    *bucket
	key  string
	etag string
	size int64
	at   int64         // the position of the next Read
	body io.ReadCloser // from there on; nil: not asked for
}

func (b *bucket) Open(ctx context.Context, id string) (files.Blob, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	size, etag, err := b.size(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", id, err)
	}
	return &object{ctx: ctx, b: b, key: b.blobKey(id), etag: etag, size: size}, nil
}

func (o *object) Size() int64 { return o.size }

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of a blob")
	}
	if offset != o.at {
		_ = o.Close()
		o.at = offset
	}
	return offset, nil
}

// Read goes on from where it was if the connection breaks.
func (o *object) Read(p []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	var failed error
	for range readAttempts {
		if o.body == nil {
			if failed = o.ask(); failed != nil {
				return 0, failed
			}
		}
		n, err := o.body.Read(p)
		o.at += int64(n)
		if err != nil {
			_ = o.Close()
		}
		if n > 0 {
			return n, nil
		}
		if failed = err; o.ctx.Err() != nil {
			return 0, o.ctx.Err()
		}
	}
	if errors.Is(failed, io.EOF) {
		failed = io.ErrUnexpectedEOF
	}
	return 0, failed
}

func (o *object) ask() error {
	var options minio.GetObjectOptions
	err := errors.Join(options.SetRange(o.at, o.size-1), options.SetMatchETag(o.etag))
	if err != nil {
		return err
	}
	body, _, _, err := o.b.core.GetObject(o.ctx, o.b.name, o.key, options)
	o.body = body
	return s3Error(err)
}

// Close may be called more than once; a Read after it asks again.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}
