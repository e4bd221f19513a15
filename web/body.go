package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/wire"
)

// binder reads the body of a request into a generated type: the one place where bodies of JSON are read.
type binder struct {
	bytesMax int64
	batchMax int64 // of POST /v1/batch
}

// Bind implements echo.Binder. An empty body is io.EOF, which the generated code takes for an absent optional body.
func (b *binder) Bind(into any, c echo.Context) error {
	r := c.Request()
	if err := checkContentType(r.Header.Get(echo.HeaderContentType)); err != nil {
		return err
	}
	most := b.bytesMax
	if c.Path() == batchPath {
		most = b.batchMax
	}
	body, err := readBody(c, most)
	if err != nil {
		return err
	}
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return io.EOF
	}
	if err := turnOf(c).come(r.Context()); err != nil {
		return err
	}
	return wire.Decode(body, into)
}

// readBody reads a body of at most so many bytes to its end.
func readBody(c echo.Context, bytesMax int64) ([]byte, error) {
	if c.Request().ContentLength > bytesMax {
		return nil, errTooLarge(bytesMax)
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, c.Request().Body, bytesMax))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, errTooLarge(bytesMax)
		}
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: "the body could not be read to its end", Cause: err}
	}
	// The request is complete: the deadline that guards against slow senders must not end a long poll.
	_ = http.NewResponseController(c.Response().Writer).SetReadDeadline(time.Time{})
	return body, nil
}

func errTooLarge(bytesMax int64) error {
	return chat.Errorf(chat.CodeTooLarge, "a request has at most %d bytes", bytesMax)
}

func checkContentType(value string) error {
	if value == "" || value == echo.MIMEApplicationJSON { // as nearly all clients write it
		return nil
	}
	media, params, err := mime.ParseMediaType(value)
	charset := params["charset"]
	if err != nil || media != echo.MIMEApplicationJSON || (charset != "" && !strings.EqualFold(charset, "utf-8")) {
		return unsupported("content type: want application/json")
	}
	return nil
}
