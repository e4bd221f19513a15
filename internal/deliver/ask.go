package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat/webhook"
)

// Ask makes a call as Standard Webhooks specifies and returns the answer, which the bound of the client holds. Who asks has a bound
// and a breaker for each address, so the one of deliveries is not asked. The error has no address in it.
func (s *Sender) Ask(ctx context.Context, c webhook.Call) (status int, answer []byte, err error) {
	r, err := signed(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	got, err := s.client.Do(r)
	if err != nil {
		return 0, nil, asked(ctx, err)
	}
	defer func() { _ = got.Body.Close() }()
	if answer, err = io.ReadAll(got.Body); err != nil {
		return got.StatusCode, nil, asked(ctx, err)
	}
	return got.StatusCode, answer, nil
}

// asked is an error of a call in our own words.
func asked(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("no answer: %w", ended)
	}
	return errors.New(cause(err))
}

// signed is the request of a call.
func signed(ctx context.Context, c webhook.Call) (*http.Request, error) {
	now := time.Now()
	signature, err := signatures(c.Secrets, c.ID, now, c.Body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set(headerID, c.ID)
	r.Header.Set(headerTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(headerSignature, signature)
	return r, nil
}
