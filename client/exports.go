package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// A complete export ends with the line {"end":...}: in a file, too, that line shows that nothing is missing. Servers of
// earlier versions have a trailer alone.
const (
	exportEnd     = "Chatd-Export-End"
	exportEndLine = `{"end":`
)

// ErrCutOff means that an export ended before it was complete.
var ErrCutOff = errors.New("the export was cut off")

// ExportGroup streams the log of a group after a position, At(0) for all of it, up to where it ends now: each entry as the
// server stores it, in order and once. The caller must be the owner or an admin of the group, or an operator. Unmarshal a line
// into a [Message], or write it to a file as it is; it is valid until each returns, and has no line feed. The last line of the
// answer, which says that it is complete, is none of them.
//
// It returns the cursor of the end, from which a later export goes on. Where the connection breaks, or each takes so long that
// the server gives up, it goes on by itself after the last line, as often as another call is tried without any progress. A server
// that does not go on there, but sends an entry again, is an error. After
// an error, of each too, end is the last entry that each has taken, and from where there is none.
func (c *Client) ExportGroup(ctx context.Context, group string, from Position, each func(line []byte) error) (end Position, err error) {
	end = from
	last := int64(0)
	for attempt := 0; ; attempt++ {
		query := url.Values{"after": {string(end)}}
		failed := false
		cursor, err := c.export(ctx, call{method: http.MethodGet, path: []string{"groups", group, "export"}, query: query}, func(line []byte) error {
			var entry struct{ ID int64 }
			if err := json.Unmarshal(line, &entry); err != nil {
				return fmt.Errorf("decode the export: %w", err)
			}
			if entry.ID <= last {
				failed = true
				return fmt.Errorf("the export of %s goes back from entry %d to %d: the server does not continue after a position", group, last, entry.ID)
			}
			if err := each(line); err != nil {
				failed = true
				return err
			}
			end, last, attempt = At(entry.ID), entry.ID, 0
			return nil
		})
		if err == nil {
			return Position(cursor), nil
		}
		if ctx.Err() != nil && !failed {
			return end, ctx.Err()
		}
		wait, ok := retryable(err, true)
		if failed || !ok || attempt+1 >= c.attempts || c.backoff.sleep(ctx, attempt, wait) != nil {
			return end, err
		}
	}
}

// ExportMe streams everything about the caller: an object a line, with one field that says what it is, such as
// {"message":{...}}. A line is valid until each returns. If it was cut off, with [ErrCutOff] or an error of the network, begin
// again: what came is not all, and the order may differ. A user has one such export at a time; another one is unavailable.
func (c *Client) ExportMe(ctx context.Context, each func(line []byte) error) error {
	_, err := c.export(ctx, call{method: http.MethodGet, path: []string{"me", "export"}}, each)
	return err
}

// export makes one request, hands each line of the answer but the last to a function, and returns the cursor of the last one.
func (c *Client) export(ctx context.Context, call call, each func(line []byte) error) (end string, err error) {
	answer, err := c.exchangeBytes(ctx, call, nil, nil, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, answerBytesMax)
	lines.Split(wholeLines)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(exportEndLine)) {
			return endOf(lines.Bytes())
		}
		if err := each(lines.Bytes()); err != nil {
			return "", err
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrCutOff, err)
	}
	if end = answer.Trailer.Get(exportEnd); end == "" {
		return "", ErrCutOff
	}
	return end, nil
}

// endOf parses the last line of an export: the cursor of its end, or true.
func endOf(line []byte) (string, error) {
	var last struct{ End any }
	if err := json.Unmarshal(line, &last); err != nil {
		return "", fmt.Errorf("decode the end of the export: %w", err)
	}
	cursor, _ := last.End.(string)
	return cursor, nil
}

// wholeLines is a bufio.SplitFunc: a line that the end cuts off is none.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}
