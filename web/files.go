package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

// filePolicy keeps a browser from doing anything with a file, even where it is opened by itself.
const filePolicy = "sandbox; default-src 'none'; frame-ancestors 'none'"

type fileHandlers struct {
	core  *chat.Service
	files *files.Service
	log   *slog.Logger
}

// registerFiles adds the routes that speak of bytes, and so are no part of the generated server.
func (h fileHandlers) registerFiles(e *echo.Echo) {
	const collection, one = "/v1/groups/:group/files", "/v1/groups/:group/files/:file"
	e.OPTIONS(collection, h.describeUploads("OPTIONS, POST"))
	e.OPTIONS(one, h.describeUploads("OPTIONS, GET, HEAD, PATCH, DELETE"))
	e.GET(one, h.getFile, h.tus)
	e.PATCH(one, h.writeFile, h.tus)
}

// upload is the answer to a creation.
type upload struct {
	ID        string    `json:"id"`
	Offset    int64     `json:"offset"`
	ExpiresAt chat.Time `json:"expires_at"`
}

// CreateFile serves POST /v1/groups/{group}/files.
func (h fileHandlers) CreateFile(ctx context.Context, r api.CreateFileRequestObject) (api.CreateFileResponseObject, error) {
	draft, err := draftOf(r)
	if err != nil {
		return nil, err
	}
	content := struct {
		Group string
		files.Draft
		From *files.Source `json:",omitempty"`
	}{r.Group, draft, nil}
	if r.Body != nil && r.Body.From != nil {
		content.From = &files.Source{Group: r.Body.From.Group, File: r.Body.From.Id}
	}
	answer, err := keyed(ctx, h.core, "createFile", r.Params.IdempotencyKey, content, http.StatusCreated, func(key string) (any, error) {
		draft.Key = key
		var f files.File
		var err error
		if content.From != nil {
			f, err = h.files.Forward(ctx, callerOf(ctx), r.Group, *content.From)
		} else {
			f, err = h.files.Create(ctx, callerOf(ctx), r.Group, draft)
		}
		return upload{f.ID, f.Offset, f.Expires}, err
	})
	return fileAnswer{answer, r.Group}, err
}

// draftOf reads what a creation says: in the body, or in the headers of tus.
func draftOf(r api.CreateFileRequestObject) (files.Draft, error) {
	switch {
	case r.Body != nil && r.Params.UploadLength != nil:
		return files.Draft{}, chat.Errorf(chat.CodeInvalid, "Upload-Length and a body are mutually exclusive")
	case r.Body != nil && r.Body.From != nil:
		if r.Body.Name != "" || r.Body.Size != nil || r.Body.Type != nil || r.Body.Sha256 != nil {
			return files.Draft{}, chat.Errorf(chat.CodeInvalid, "from: a forwarded file keeps its name, size and type")
		}
		return files.Draft{}, nil
	case r.Body != nil && r.Body.Size == nil:
		return files.Draft{}, chat.Errorf(chat.CodeInvalid, "size: want an integer from 0")
	case r.Body != nil:
		return files.Draft{Name: r.Body.Name, Size: *r.Body.Size, Type: deref(r.Body.Type), SHA256: deref(r.Body.Sha256)}, nil
	case r.Params.UploadLength == nil:
		return files.Draft{}, errNoBody
	}
	return tusDraft(*r.Params.UploadLength, deref(r.Params.UploadMetadata))
}

// fileAnswer is the answer to a creation, with the headers that clients of tus need.
type fileAnswer struct {
	rawAnswer
	group string
}

// VisitCreateFileResponse implements api.CreateFileResponseObject.
func (a fileAnswer) VisitCreateFileResponse(w http.ResponseWriter) error {
	var u upload
	if err := json.Unmarshal(a.Body, &u); err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/groups/"+url.PathEscape(a.group)+"/files/"+u.ID)
	w.Header().Set(uploadOffset, strconv.FormatInt(u.Offset, 10))
	w.Header().Set(uploadExpires, u.ExpiresAt.Format(http.TimeFormat))
	return a.write(w)
}

// DeleteFile serves DELETE /v1/groups/{group}/files/{file}.
func (h fileHandlers) DeleteFile(ctx context.Context, r api.DeleteFileRequestObject) (api.DeleteFileResponseObject, error) {
	return api.DeleteFile204Response{}, h.files.Remove(ctx, callerOf(ctx), r.Group, r.File)
}

// writeFile serves PATCH /v1/groups/{group}/files/{file}.
func (h fileHandlers) writeFile(c echo.Context) error {
	r := c.Request()
	media := r.Header.Get(echo.HeaderContentType)
	offset, ok := wire.Decimal(r.Header.Get(uploadOffset))
	if media == "" || !ok {
		// Who asks for a file that is not there learns that: the headers are missing in most such requests.
		if _, err := h.files.Get(r.Context(), callerOf(r.Context()), pathValue(c, "group"), pathValue(c, "file")); err != nil {
			return err
		}
	}
	switch {
	case !strings.EqualFold(media, offsetStream):
		return unsupported("content type: want " + offsetStream)
	case !ok:
		return chat.Errorf(chat.CodeInvalid, "%s: want an integer from 0", uploadOffset)
	}
	piece := files.Piece{Offset: offset, Body: newSlowBody(c)}
	if text := r.Header.Get(uploadChecksum); text != "" {
		check, err := newChecksum(text)
		if err != nil {
			return err
		}
		piece.Check = check
	}
	if err := turnOf(c).come(r.Context()); err != nil {
		return err
	}
	turnOf(c).leave() // the sender takes time, not the server
	f, err := h.files.Write(r.Context(), callerOf(r.Context()), pathValue(c, "group"), pathValue(c, "file"), piece)
	if void := callOf(r.Context()).holds(); err != nil && void != nil {
		return void // and so the body was not read to its end
	}
	if isChecksum(err) {
		return &refusal{statusChecksum, files.ErrChecksum}
	}
	if err != nil {
		return err
	}
	writeOffset(c.Response().Header(), f)
	return c.NoContent(http.StatusNoContent)
}

// getFile serves GET and HEAD /v1/groups/{group}/files/{file}.
func (h fileHandlers) getFile(c echo.Context) error {
	r, head := c.Request(), isHead(c.Request())
	ctx, by, group, id := r.Context(), callerOf(r.Context()), pathValue(c, "group"), pathValue(c, "file")
	if err := turnOf(c).come(ctx); err != nil {
		return err
	}
	if head {
		f, err := h.files.Get(ctx, by, group, id)
		if err != nil {
			return err
		}
		writeOffset(c.Response().Header(), f)
		if !f.Whole {
			return c.NoContent(http.StatusOK)
		}
	}
	if !head && c.QueryString() == "" && r.Header.Get("If-None-Match") == "" {
		link, err := h.files.Link(ctx, by, group, id, func(f files.File) string { return disposition(f, false) })
		if err != nil {
			return err
		}
		if link != "" {
			return c.Redirect(http.StatusTemporaryRedirect, link)
		}
	}
	open := h.files.Open
	if c.QueryParam("size") == "preview" {
		open = h.files.OpenPreview
		turnOf(c).leave() // it may have to be made, one after the other
	}
	f, content, err := open(ctx, by, group, id)
	if err != nil {
		return err
	}
	defer content.Close()
	header := c.Response().Header()
	header.Set("Content-Type", f.Type)
	header.Set("Content-Disposition", disposition(f, c.QueryParam("inline") == "1"))
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", `"`+f.SHA256+`"`)
	// What net/http knows of ranges and conditions depends on the method; its writer keeps the body of HEAD back by itself.
	asked := r.Clone(ctx)
	if head {
		asked.Method = http.MethodHead
	}
	if one := rangeOf(r.Header.Get("Range")); one != "" {
		asked.Header.Set("Range", one)
	} else {
		asked.Header.Del("Range")
	}
	http.ServeContent(&slowWriter{Response: c.Response(), call: callOf(ctx)}, asked, "", time.Time{}, content)
	return nil
}

// disposition names a file as RFC 6266 and RFC 8187 say: in ASCII for old programs, and as it is.
func disposition(f files.File, inline bool) string {
	kind := "attachment"
	if inline && files.IsPicture(f.Type) {
		kind = "inline"
	}
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}
		return r
	}, f.Name)
	return fmt.Sprintf(`%s; filename="%s"; filename*=UTF-8''%s`, kind, ascii, extValue(f.Name))
}

// extValue encodes a text as the ext-value of RFC 8187.
func extValue(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || strings.IndexByte("!#$&+-.^_`|~", b) >= 0 {
			out.WriteByte(b)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}

// slowBody is a body that may take as long as it likes, as long as it does not stall.
type slowBody struct {
	io.Reader
	of   *http.ResponseController
	call *call
}

// uploadStall is shorter than what another request waits for the lock of an upload: it may be the same client again.
const uploadStall = 8 * time.Second

func newSlowBody(c echo.Context) slowBody {
	return slowBody{c.Request().Body, http.NewResponseController(c.Response().Writer), callOf(c.Request().Context())}
}

func (b slowBody) Read(p []byte) (int, error) {
	_ = b.of.SetReadDeadline(time.Now().Add(uploadStall))
	n, err := b.Reader.Read(p)
	if void := b.call.holds(); void != nil {
		n, err = 0, void
	}
	if err != nil {
		_ = b.of.SetReadDeadline(time.Time{}) // the work on it may take longer
	}
	return n, err
}

// pathValue is a parameter of the path, which admit has checked.
func pathValue(c echo.Context, name string) string {
	value := c.Param(name)
	if c.Request().URL.RawPath != "" {
		value, _ = url.PathUnescape(value)
	}
	return value
}
