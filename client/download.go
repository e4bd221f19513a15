package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ErrDigest means that the bytes of a file are not those that its message or the server names.
var ErrDigest = errors.New("the bytes do not have the digest of the file")

// OpenFile downloads a file of a message as a stream. After a broken connection, Read goes on where it was. At the end it
// compares the digest: it fails with [ErrDigest] instead of io.EOF. If only the ID of the file is set, the server names
// size and digest.
func (c *Client) OpenFile(ctx context.Context, group string, file File) (io.ReadCloser, error) {
	d := &download{client: c, ctx: ctx, group: group, file: file, digest: sha256.New()}
	if err := d.open(); err != nil {
		return nil, err
	}
	return d, nil
}

type download struct {
	client   *Client
	ctx      context.Context //nolint:containedctx // as that of an http.Request, which ends its body
	group    string
	file     File
	digest   hash.Hash
	at       int64
	failures int // since the last byte
	body     io.ReadCloser
}

// open asks for what is missing, as often as the client may try.
func (d *download) open() error {
	for {
		err := d.request()
		wait, again := retryable(err, true)
		if err == nil || !again || d.failures+1 >= d.client.attempts {
			return err
		}
		if d.client.backoff.sleep(d.ctx, d.failures, wait) != nil {
			return d.ctx.Err()
		}
		d.failures++
	}
}

func (d *download) request() error {
	header, want := http.Header{}, http.StatusOK
	if d.at > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", d.at))
		header.Set("If-Range", `"`+d.file.SHA256+`"`)
		want = http.StatusPartialContent
	}
	get := fileCall(http.MethodGet, d.group, d.file.ID)
	get.query = url.Values{"inline": {"1"}} // through the node, even if it can redirect to a bucket, where the ETag differs
	answer, err := d.client.exchangeBytes(d.ctx, get, header, nil, 0)
	if err != nil {
		return err
	}
	if answer.StatusCode != want {
		_ = answer.Body.Close()
		return fmt.Errorf("%w: the file has changed", ErrDigest)
	}
	if d.file.SHA256 == "" {
		d.file.SHA256, d.file.Size = strings.Trim(answer.Header.Get("ETag"), `"`), answer.ContentLength
	}
	d.body = answer.Body
	return nil
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	for {
		if d.at >= d.file.Size {
			return 0, d.end()
		}
		if d.body == nil {
			if err := d.open(); err != nil {
				return 0, err
			}
		}
		n, err := d.body.Read(p[:min(int64(len(p)), d.file.Size-d.at)])
		if n > 0 {
			d.at, d.failures = d.at+int64(n), 0
			_, _ = d.digest.Write(p[:n])
			return n, nil
		}
		if err == nil {
			continue
		}
		if d.ctx.Err() != nil {
			return 0, d.ctx.Err()
		}
		_ = d.body.Close()
		d.body = nil
		if d.failures++; d.failures >= d.client.attempts {
			return 0, fmt.Errorf("download at byte %d of %d: %w", d.at, d.file.Size, err)
		}
		if err := d.client.backoff.sleep(d.ctx, d.failures-1, 0); err != nil {
			return 0, err
		}
	}
}

func (d *download) end() error {
	if d.file.SHA256 != "" && hex.EncodeToString(d.digest.Sum(nil)) != d.file.SHA256 {
		return ErrDigest
	}
	return io.EOF
}

// Close ends the download.
func (d *download) Close() error {
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}
