package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/chatd/chatd/chat/files"
)

// A bucket of blobs:
//
//	<prefix>chatd-blobs                    the identity
//	<prefix>blobs/<id>                     what is whole; what grows is a multipart upload of this key
//	<prefix>uploads/<id>!<offset>          how far an upload is that a Write brought on from offset: see state
//
// The separator of an upload's states sorts below every character of an id, so that their keys are in the order of the ids.
const (
	stateSeparator = "!"
	partBytes      = 8 << 20 // of a multipart upload; it allows 10,000 parts
	partBytesMin   = 5 << 20 // of every part but the last, as S3 demands
	copyBytesMax   = 5 << 30 // of an object that S3 copies at once

	s3Attempts     = 10 // of a request, with pauses of up to a second: a call makes several, all of which have to succeed
	headersTimeout = 30 * time.Second
	settleTimeout  = 30 * time.Second // for what is done although the caller has gone

	linkTime = time.Minute // for which a link lets a client begin to read
)

const formS3 = "s3://[KEY:SECRET@]BUCKET[/PREFIX]?endpoint=HOST[:PORT][&region=REGION][&tls=false][&presign=1]"

// bucket are Blobs in a bucket of S3, or of a server that speaks its protocol.
type bucket struct {
	core     minio.Core
	name     string
	prefix   string // ends with a slash, or is empty
	identity string
	links    bool
}

// OpenS3 opens the bucket at raw: s3://[KEY:SECRET@]BUCKET[/PREFIX]?endpoint=HOST[:PORT]. Without a key, AWS_ACCESS_KEY_ID
// and AWS_SECRET_ACCESS_KEY hold it. Other parameters: region; tls=false; presign=1, see [files.Links]. The bucket must be there.
// Errors quote nothing of the secret.
func OpenS3(ctx context.Context, raw string) (files.Blobs, error) {
	b, err := openS3(ctx, raw, nil)
	if err == nil && b.links {
		return linked{b}, nil
	}
	return b, err
}

func openS3(ctx context.Context, raw string, transport http.RoundTripper) (*bucket, error) {
	b, err := newBucket(raw, transport)
	if err != nil {
		return nil, err
	}
	b.identity, err = b.marker(ctx)
	if errors.Is(err, files.ErrNoBlob) {
		if err = b.mark(ctx); err == nil {
			b.identity, err = b.marker(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: bucket %s: %w", b.name, err)
	}
	return b, nil
}

func newBucket(raw string, transport http.RoundTripper) (*bucket, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, fmt.Errorf("blobs: want %s", formS3) // the cause would quote the secret
	}
	endpoint := u.Query().Get("endpoint")
	if endpoint == "" {
		return nil, fmt.Errorf("blobs: no endpoint: want %s", formS3)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	secure, links := true, false
	for key, values := range u.Query() {
		switch {
		case key == "region", key == "endpoint":
		case key == "presign" && (values[0] == "0" || values[0] == "1"):
			links = values[0] == "1"
		case key == "tls" && (values[0] == "true" || values[0] == "false"):
			secure = values[0] == "true"
		default:
			return nil, fmt.Errorf("blobs: parameter %q: want %s", key, formS3)
		}
	}
	keys := credentials.NewEnvAWS()
	if secret, ok := u.User.Password(); ok {
		keys = credentials.NewStaticV4(u.User.Username(), secret, "")
	}
	if transport == nil {
		t, err := minio.DefaultTransport(secure)
		if err != nil {
			return nil, err
		}
		t.ResponseHeaderTimeout = headersTimeout
		transport = t
	}
	client, err := minio.New(endpoint, &minio.Options{Creds: keys, Secure: secure, Region: u.Query().Get("region"),
		Transport: transport, MaxRetries: s3Attempts})
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	return &bucket{core: minio.Core{Client: client}, name: u.Host, prefix: prefix, links: links}, nil
}

func (b *bucket) blobKey(id string) string { return b.prefix + blobsFolder + "/" + id }

// marker reads the identity of the bucket as it is now.
func (b *bucket) marker(ctx context.Context) (string, error) {
	text, err := b.read(ctx, b.prefix+markerName, 100)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if id == "" {
		return "", fmt.Errorf("%s is empty", markerName)
	}
	return id, nil
}

// mark gives the bucket an identity, unless another node does it first.
func (b *bucket) mark(ctx context.Context) error {
	err := b.create(ctx, b.prefix+markerName, strings.NewReader(rand.Text()+"\n"))
	if errors.Is(err, files.ErrBusy) {
		return nil
	}
	return err
}

func (b *bucket) Identity() string { return b.identity }

// Check compares the marker.
func (b *bucket) Check(ctx context.Context) error {
	now, err := b.marker(ctx)
	if err != nil {
		return fmt.Errorf("blobs: bucket %s: %w", b.name, err)
	}
	if now != b.identity {
		return fmt.Errorf("blobs: bucket %s is not the one that was opened", b.name)
	}
	return nil
}

// read returns the first bytes of an object, at most most of them.
func (b *bucket) read(ctx context.Context, key string, most int64) ([]byte, error) {
	body, _, _, err := b.core.GetObject(ctx, b.name, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, s3Error(err)
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, most))
	return content, s3Error(err)
}

// sized is a reader that knows how much it has and can be sent again.
type sized interface {
	io.ReadSeeker
	Size() int64
}

// create stores an object that must not be there yet: ErrBusy if it is. Servers that do not know the condition replace it.
func (b *bucket) create(ctx context.Context, key string, content sized) error {
	var options minio.PutObjectOptions
	options.SetMatchETagExcept("*")
	return b.put(ctx, key, content, options)
}

func (b *bucket) put(ctx context.Context, key string, content sized, options minio.PutObjectOptions) error {
	options.DisableMultipart = true
	_, err := b.core.Client.PutObject(ctx, b.name, key, content, content.Size(), options)
	return s3Error(err)
}

// s3Error translates what S3 answers.
func s3Error(err error) error {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code {
	case minio.NoSuchKey, minio.NoSuchUpload, "NotFound":
		return fmt.Errorf("%w: %w", files.ErrNoBlob, err)
	case minio.PreconditionFailed, "ConditionalRequestConflict":
		return fmt.Errorf("%w: %w", files.ErrBusy, err)
	case "XMinioStorageFull", "QuotaExceeded":
		return fmt.Errorf("%w: %w", files.ErrFull, err)
	}
	return err
}

// size returns the bytes of a whole blob. ErrNoBlob.
func (b *bucket) size(ctx context.Context, id string) (int64, string, error) {
	info, err := b.core.StatObject(ctx, b.name, b.blobKey(id), minio.StatObjectOptions{})
	return info.Size, info.ETag, s3Error(err)
}

func (b *bucket) Put(ctx context.Context, id string, r io.Reader) error {
	if err := checkID(id); err != nil {
		return err
	}
	if _, _, err := b.size(ctx, id); !errors.Is(err, files.ErrNoBlob) {
		return err
	}
	buffer, err := newSpool()
	if err != nil {
		return err
	}
	defer buffer.discard()
	if _, err := buffer.ReadFrom(source{r}); err != nil {
		return fmt.Errorf("blob %s: %w", id, full(err))
	}
	return b.put(ctx, b.blobKey(id), buffer.content(), minio.PutObjectOptions{})
}

func (b *bucket) Copy(ctx context.Context, from, to string) error {
	if err := errors.Join(checkID(from), checkID(to)); err != nil {
		return err
	}
	if _, _, err := b.size(ctx, to); !errors.Is(err, files.ErrNoBlob) {
		return err
	}
	size, _, err := b.size(ctx, from)
	if err != nil {
		return fmt.Errorf("blob %s: %w", from, err)
	}
	target := minio.CopyDestOptions{Bucket: b.name, Object: b.blobKey(to)}
	origin := minio.CopySrcOptions{Bucket: b.name, Object: b.blobKey(from)}
	if size <= copyBytesMax {
		_, err = b.core.Client.CopyObject(ctx, target, origin)
	} else {
		_, err = b.core.ComposeObject(ctx, target, origin)
	}
	return s3Error(err)
}

// linked is a bucket that clients may read from.
type linked struct{ *bucket }

// Link implements [files.Links].
func (b linked) Link(ctx context.Context, id, contentType, disposition string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	answer := url.Values{"response-content-type": {contentType}, "response-content-disposition": {disposition}}
	link, err := b.core.PresignedGetObject(ctx, b.name, b.blobKey(id), linkTime, answer)
	if err != nil {
		return "", s3Error(err)
	}
	return link.String(), nil
}

// Remove drops the states of the upload first, so that a Write that goes on finds nothing to go on from.
func (b *bucket) Remove(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if err := b.dropUpload(ctx, id); err != nil {
		return err
	}
	return b.remove(ctx, b.blobKey(id))
}

func (b *bucket) remove(ctx context.Context, key string) error {
	err := s3Error(b.core.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, files.ErrNoBlob) {
		return nil
	}
	return err
}

// spool is a temporary file without a name: what is on the way to S3, so that it need not be in memory.
type spool struct {
	*os.File
	size int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "chatd-blob-*")
	if err != nil {
		return nil, full(err)
	}
	return &spool{File: f}, nil
}

// ReadFrom appends what r yields.
func (s *spool) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.CopyBuffer(struct{ io.Writer }{s.File}, struct{ io.Reader }{r}, make([]byte, copyBytes))
	s.size += n
	return n, err
}

// content reads the spool from its start, as often as it is asked for.
func (s *spool) content() *io.SectionReader { return io.NewSectionReader(s.File, 0, s.size) }

// reset empties it.
func (s *spool) reset() error {
	s.size = 0
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.Truncate(0)
}

// discard removes it; what a crash leaves is in the system's folder for temporary files.
func (s *spool) discard() { _ = errors.Join(s.Close(), os.Remove(s.Name())) }
