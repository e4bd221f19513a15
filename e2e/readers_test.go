package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// reader reads everything of one user into a transcript until ctx ends. An error means that the server broke its word.
type reader func(ctx context.Context, r *reading) error

// reading is what a reader works with.
type reading struct {
	at       []*client.Client // one per node
	rand     *rand.Rand
	got      *harness.Transcript
	sessions atomic.Int64 // of websockets
	answers  atomic.Int64 // of polls and syncs that brought something
}

// ended turns the end of the run into no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, client.ErrClosed) {
		return nil
	}
	return err
}

// honest refuses what a reader that keeps its own positions must never meet.
func honest(name string, s client.Stats) error {
	if s.Repeats != 0 || s.Holes != 0 || s.Gaps != 0 {
		return fmt.Errorf("%s: the server repeated or skipped: %+v", name, s)
	}
	return nil
}

// ackEvery is how many messages of a group a reader over a websocket takes before it acks them.
const ackEvery = 50

// overStream reads over a websocket, and acks as it goes.
func overStream(ctx context.Context, r *reading) error {
	return streamSome(ctx, r, r.at[r.rand.IntN(len(r.at))], nil, -1)
}

// streamSome takes up to n events (negative: all) over a websocket.
func streamSome(ctx context.Context, r *reading, c *client.Client, cursors client.Cursors, n int) error {
	stream, err := c.Stream(ctx, quick(cursors))
	if err != nil {
		return ended(ctx, err)
	}
	defer stream.Close()
	acked := map[string]int64{}
	for ; n != 0; n-- {
		event, err := stream.Next(ctx)
		if err != nil {
			return errors.Join(ended(ctx, err), honest(r.got.Name, stream.Stats()))
		}
		if err := r.got.Take(event); err != nil {
			return err
		}
		switch e := event.(type) {
		case client.Connected:
			r.sessions.Add(1)
		case client.Messages:
			if e.To-acked[e.Group] < ackEvery {
				continue
			}
			if err := stream.Ack(ctx, e.Group, e.To); err != nil {
				return ended(ctx, err)
			}
			acked[e.Group] = e.To
		}
	}
	if err := ended(ctx, stream.Commit(ctx)); err != nil {
		return err
	}
	return honest(r.got.Name, stream.Stats())
}

// overPoll reads by long polls, each of which may go to another node.
func overPoll(ctx context.Context, r *reading) error {
	return pollSome(ctx, r, r.at[r.rand.IntN(len(r.at))], nil, -1)
}

// pollSome takes up to n events (negative: all) by long polls.
func pollSome(ctx context.Context, r *reading, c *client.Client, cursors client.Cursors, n int) error {
	poll := c.Poll(client.PollOptions{Cursors: cursors, Ack: true, Wait: 5 * time.Second, Limit: 500})
	for ; n != 0; n-- {
		event, err := poll.Next(ctx)
		if err != nil {
			return ended(ctx, err)
		}
		if err := r.got.Take(event); err != nil {
			return err
		}
		r.answers.Add(1)
		if err := honest(r.got.Name, poll.Stats()); err != nil {
			return err
		}
	}
	return ended(ctx, poll.Flush(ctx))
}

// overSync reads by plain syncs that wait for nothing, each at another node, with the positions as ids.
func overSync(ctx context.Context, r *reading) error {
	after, ack := map[string]client.Position{}, map[string]client.Position{}
	for ctx.Err() == nil {
		c := r.at[r.rand.IntN(len(r.at))]
		answer, err := c.Sync(ctx, client.SyncRequest{After: after, Ack: ack, Limit: 1000})
		if err != nil {
			return ended(ctx, err)
		}
		clear(ack)
		if len(answer.Left) > 0 || len(answer.Errors) > 0 {
			return fmt.Errorf("%s: sync says left %v, errors %v", r.got.Name, answer.Left, answer.Errors)
		}
		more := false
		for _, b := range answer.Groups {
			if !b.Complete {
				return fmt.Errorf("%s: told that %s from %d is not complete", r.got.Name, b.Group, b.From)
			}
			if err := r.got.Add(b.Group, b.Messages); err != nil {
				return err
			}
			after[b.Group], ack[b.Group] = client.At(b.To), client.At(b.To)
			more = more || b.HasMore
			r.answers.Add(1)
		}
		if !more {
			harness.Pause(ctx, time.Duration(50+r.rand.IntN(200))*time.Millisecond)
		}
	}
	return nil
}

// overAll changes between websocket, long poll and plain pull, and between the nodes, with the same positions.
func overAll(ctx context.Context, r *reading) error {
	cursors := &client.MemoryCursors{}
	for ctx.Err() == nil {
		c := r.at[r.rand.IntN(len(r.at))]
		some := 1 + r.rand.IntN(200)
		var err error
		switch r.rand.IntN(3) {
		case 0:
			err = streamSome(ctx, r, c, cursors, some)
		case 1:
			err = pollSome(ctx, r, c, cursors, some)
		case 2:
			err = pullSome(ctx, r, c, cursors)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pullSome reads one page of each group that the cursors know.
func pullSome(ctx context.Context, r *reading, c *client.Client, cursors client.Cursors) error {
	at, err := cursors.Load(ctx)
	if err != nil {
		return err
	}
	for group, position := range at {
		page, err := c.Messages(ctx, group, client.Range{After: position})
		if err != nil {
			return ended(ctx, err)
		}
		if !page.Complete {
			return fmt.Errorf("%s: told that %s after %s is not complete", r.got.Name, group, position)
		}
		if err := r.got.Add(group, page.Messages); err != nil {
			return err
		}
		if err := cursors.Save(ctx, map[string]client.Position{group: page.Cursor}); err != nil {
			return err
		}
	}
	return nil
}
