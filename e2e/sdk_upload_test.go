package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// drivenUpload is what became of an upload so far.
type drivenUpload struct {
	Progress []int64      `json:"progress"`
	File     *client.File `json:"file"`
	Error    *struct {
		Name   string `json:"name"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
}

func (u drivenUpload) over() bool { return u.File != nil || u.Error != nil }

// TestSDKUploads cuts the connections of an upload, aborts one, and has some refused.
func TestSDKUploads(t *testing.T) {
	t.Parallel()
	const sizeMax = 7 << 20
	inNodeAndPage(t, func(c *sdkCase) {
		const mebibyte, size = 1 << 20, 6<<20 + 17
		c.makeGroups("one")
		d := c.start(time.Hour)
		begin := func(bytes int64, options map[string]any) (n int) {
			d.read("upload", &n, "one", bytes, options)
			return n
		}
		until := func(n int, what string, holds func(drivenUpload) bool) (u drivenUpload) {
			harness.Eventually(c.t, 30*time.Second, what, func() error {
				if d.read("uploaded", &u, n); !holds(u) {
					return errors.New("not yet")
				}
				return nil
			})
			return u
		}

		n := begin(size, map[string]any{})
		for at := int64(mebibyte); at < size; at += 2 * mebibyte {
			until(n, "it goes on", func(u drivenUpload) bool { return u.over() || slices.Max(append(u.Progress, 0)) >= at })
			c.wire.cut()
		}
		u := until(n, "it is whole", drivenUpload.over)
		if u.Error != nil || u.File.Name != "numbers.bin" || u.File.Size != size || u.File.Type != "image/x-numbers" {
			c.t.Fatalf("got %+v, %+v", u.File, u.Error)
		}
		if !slices.IsSorted(u.Progress) || u.Progress[0] != 0 || u.Progress[len(u.Progress)-1] != size {
			c.t.Errorf("the progress is %v: it began anew, or did not end", u.Progress)
		}
		d.call("connect", []string{"one"})
		var id int64
		d.read("sendFile", &id, "one", n)
		page := must(c.alice().Messages(c.ctx, "one", client.Range{After: client.At(id - 1)}))(c.t)
		content := must(c.alice().OpenFile(c.ctx, "one", page.Messages[0].Files[0]))(c.t)
		defer content.Close()
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i*31 + i>>8)
		}
		if got := must(io.ReadAll(content))(c.t); !bytes.Equal(got, want) {
			c.t.Errorf("%d bytes arrived, or other ones", len(got))
		}

		// The node lets alice have one upload under way: the next one only begins if the aborted one is gone.
		u = until(begin(size, map[string]any{"aborted": true}), "it is aborted", drivenUpload.over)
		if u.Error == nil || u.Error.Name != "AbortError" {
			c.t.Errorf("an aborted upload: got %+v, %+v", u.File, u.Error)
		}
		harness.Eventually(c.t, 20*time.Second, "the aborted upload is removed", func() error {
			u = until(begin(0, map[string]any{}), "it is over", drivenUpload.over)
			if u.Error != nil {
				return errors.New("not yet")
			}
			return nil
		})

		refused := func(code string, n int) {
			c.t.Helper()
			if u := until(n, "it is refused", drivenUpload.over); u.Error == nil || u.Error.Name != "ChatdError" || u.Error.Code != code || u.Error.Detail == "" {
				c.t.Errorf("want %s, got %+v, %+v", code, u.File, u.Error)
			}
		}
		refused("too_large", begin(sizeMax+1, map[string]any{}))
		refused("invalid_request", begin(1, map[string]any{"name": strings.Repeat("n", 300)}))
	}, "CHATD_UPLOADS_USER=1", fmt.Sprint("CHATD_FILE_MAX=", sizeMax))
}
