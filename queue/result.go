package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/queue/backoff"
	"github.com/chatd/chatd/queue/option/result"
)

var (
	// ErrDead means that a task has become a dead letter.
	ErrDead = result.ErrDead
	// ErrNotReady means that a task has not ended.
	ErrNotReady = result.ErrNotReady
)

// Result is what a task with Keep has left behind: the Data that its handler gave to SetResult, and when it was Completed.
type Result = result.Result

// SetResult has the task of a handler leave data behind when it is complete, at most 64 KiB. It is stored in the step that
// completes the task, so there is a result if and only if the run counted, and only then: calling it costs nothing, and the last
// call before the handler returns nil decides. ctx is the handler's, or derived from it. ErrInvalid: data is too large,
// or the task has no Keep.
func SetResult(ctx context.Context, data []byte) error {
	r, ok := ctx.Value(runKey{}).(*running)
	if !ok {
		return errNoRun
	}
	if len(data) > result.BytesMax {
		return fmt.Errorf("%w: result of %d bytes, at most %d", ErrInvalid, len(data), result.BytesMax)
	}
	if r.Keep <= 0 {
		return fmt.Errorf("%w: a task without Keep leaves no result behind", ErrInvalid)
	}
	r.ctx.mu.Lock()
	defer r.ctx.mu.Unlock()
	r.ctx.result = append(make([]byte, 0, len(data)), data...)
	return nil
}

// Result returns what a task with Keep has left behind. ErrNotReady: it has not ended. ErrDead: it has become a dead
// letter, whose last error is in the text. ErrNotFound: there is no task with this id, or it was cancelled, or is complete and
// had no Keep, or is kept no longer.
func (c *Client) Result(ctx context.Context, id string) (Result, error) {
	p, err := c.partitionOf(id)
	if err != nil {
		return Result{}, err
	}
	values, err := c.texts(ctx, resultScript.On(c.work[p]).Arg("id", id))
	if err != nil || len(values) != 3 {
		return Result{}, fmt.Errorf("queue: result: %w", errors.Join(err, ctx.Err()))
	}
	r, known, err := result.Read(values[0], values[1], values[2])
	if !known {
		err = ErrNotFound
	}
	return r, err
}

// Wait is Result that waits for the end of the task, or of the context, whose error it returns then. It asks at once and then up to
// 4 times a second, also while Redis cannot be reached; a dead letter that is retried in between goes unnoticed.
func (c *Client) Wait(ctx context.Context, id string) (Result, error) {
	again := backoff.Backoff{Min: askPauseMin, Max: askPauseMax}
	for {
		r, err := c.Result(ctx, id)
		if err == nil || errors.Is(err, ErrDead) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrPartitions) || errors.Is(err, ErrLayout) {
			return r, err
		}
		select {
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		case <-time.After(again.Next()):
		}
	}
}
