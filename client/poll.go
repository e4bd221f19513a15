package client

import (
	"context"
	"iter"
	"time"

	"github.com/chatd/chatd/client/internal/clock"
)

// PollOptions configure polling. The zero value is usable.
type PollOptions struct {
	Cursors Cursors       // where positions are kept; nil: in memory
	Start   string        // StartNewest: groups without a saved position begin at their newest page; empty: at `seen`
	Only    []string      // nil: all groups; an empty list: the inbox alone
	Limit   int           // messages per answer; 0: the server's default
	Wait    time.Duration // how long one poll may take, in whole seconds up to 50; 0: 25 s. Negative: the server answers at once
	// Ack also confirms to the server what the caller has handled, so that it can be trimmed.
	Ack bool
	// Typing has Next return Typing events, too. Polls are shorter while somebody types: a second each, at least.
	Typing bool
}

// Poll reads all groups and the inbox by long polling, where websockets do not work. It returns the same events as a
// Stream. It acks inbox items once the caller has handled them.
type Poll struct {
	client *Client
	opts   PollOptions
	track  *tracker // nil until the first Next
	count  counters

	queue    []Event
	taken    Event // returned, not yet committed
	ack      map[string]Position
	inboxAck Position
	pause    time.Duration // that the server asked for
	// behind: the last answer was cut at its limit, so more is waiting.
	behind bool
}

const (
	pollWait    = 25 * time.Second
	pollWaitMax = 50 * time.Second
)

// Poll starts polling. It sends nothing before the first Next.
func (c *Client) Poll(opts PollOptions) *Poll {
	if opts.Cursors == nil {
		opts.Cursors = &MemoryCursors{}
	}
	switch {
	case opts.Wait == 0:
		opts.Wait = pollWait
	case opts.Wait < 0:
		opts.Wait = 0
	}
	opts.Wait = min(opts.Wait, pollWaitMax)
	return &Poll{client: c, opts: opts, ack: map[string]Position{}}
}

// Next returns the next event, polling for as long as ctx allows. Calling it means that the previous event was handled.
// After an error, Next may be called again; it continues where it was.
func (p *Poll) Next(ctx context.Context) (Event, error) {
	if err := p.commit(ctx); err != nil {
		return nil, err
	}
	if p.track == nil {
		if err := p.start(ctx); err != nil {
			return nil, err
		}
	}
	for len(p.queue) == 0 {
		if err := p.poll(ctx); err != nil {
			return nil, err
		}
	}
	p.taken, p.queue = p.queue[0], p.queue[1:]
	return p.taken, nil
}

// Events ranges over Next until it fails. The last pair carries the error.
func (p *Poll) Events(ctx context.Context) iter.Seq2[Event, error] { return events(ctx, p.Next) }

// Stats returns the counts so far. It may be called at any time.
func (p *Poll) Stats() Stats { return p.count.stats() }

// Flush commits the last event and sends the acks that are due, without waiting for anything new. Call it before you
// drop a Poll.
func (p *Poll) Flush(ctx context.Context) error {
	if err := p.commit(ctx); err != nil {
		return err
	}
	for group, at := range p.ack {
		if _, err := p.client.AckAt(ctx, group, at); err != nil && CodeOf(err) != CodeNotFound && CodeOf(err) != CodeConflict {
			return err
		}
		delete(p.ack, group)
	}
	if p.inboxAck != "" {
		if err := p.client.InboxAckAt(ctx, p.inboxAck); err != nil && CodeOf(err) != CodeConflict {
			return err
		}
		p.inboxAck = ""
	}
	return nil
}

func (p *Poll) commit(ctx context.Context) error {
	if p.taken == nil {
		return nil
	}
	if changed := commit(p.taken); len(changed) > 0 {
		if err := p.opts.Cursors.Save(ctx, changed); err != nil {
			return err
		}
	}
	switch e := p.taken.(type) {
	case Messages:
		if p.opts.Ack {
			p.ack[e.Group] = e.Cursor
		}
	case Items:
		p.inboxAck = e.Cursor
	}
	p.taken = nil
	return nil
}

// start loads the positions and sets one for every group that has none.
func (p *Poll) start(ctx context.Context) error {
	at, err := p.opts.Cursors.Load(ctx)
	if err != nil {
		return err
	}
	track := newTracker(at, p.opts.Start, p.opts.Only, &p.count)
	page := Page{Limit: 1000}
	for {
		list, err := p.client.Groups(ctx, page)
		if err != nil {
			return err
		}
		stand := make(map[string]GroupPosition, len(list.Groups))
		for _, g := range list.Groups {
			stand[g.ID] = GroupPosition{Epoch: g.Epoch, First: g.First, Last: g.Last, Seen: g.Seen, Read: g.Read}
		}
		if fixed := track.pin(stand); len(fixed) > 0 {
			if err := p.opts.Cursors.Save(ctx, fixed); err != nil {
				return err
			}
		}
		if list.Next == "" {
			break
		}
		page.Cursor = list.Next
	}
	p.track = track
	return nil
}

// poll makes one sync and queues the events.
func (p *Poll) poll(ctx context.Context) error {
	if p.pause > 0 {
		if err := clock.Sleep(ctx, p.pause); err != nil {
			return err
		}
	}
	req := SyncRequest{
		Ack: p.ack, InboxAck: p.inboxAck, After: p.track.after(), InboxAfter: p.track.inbox.at,
		Start: p.opts.Start, Only: p.opts.Only, Limit: p.opts.Limit, Typing: p.opts.Typing,
	}
	if !p.behind {
		req.WaitS = int(p.opts.Wait / time.Second)
	}
	began := clock.From(ctx).Now()
	answer, err := p.client.Sync(ctx, req)
	if err != nil {
		return err
	}
	p.ack, p.inboxAck, p.behind = map[string]Position{}, "", answer.Inbox.HasMore
	p.track.forgetUnreadable(answer.Errors)
	p.queue = append(p.queue, p.track.foreign(answer.Errors)...)
	for _, typing := range answer.Typing { // first: a message of the same user ends it
		p.queue = append(p.queue, typing)
	}
	for _, b := range answer.Groups {
		events, err := p.track.batch(batch{
			Group: b.Group, Epoch: b.Epoch, From: b.From, To: b.To, First: b.First, Cursor: b.Cursor, Complete: b.Complete, Messages: b.Messages,
			Profiles: b.Profiles,
		})
		if err != nil {
			return err
		}
		p.queue = append(p.queue, events...)
		p.behind = p.behind || b.HasMore
	}
	if items, fresh := p.track.items(answer.Inbox); fresh {
		p.queue = append(p.queue, items)
	}
	for _, group := range answer.Left {
		if _, known := p.track.groups[group]; known {
			p.track.forget(group)
			p.queue = append(p.queue, Left{Group: group})
		}
	}
	p.pause = time.Duration(answer.NextPollS * float64(time.Second))
	if len(p.queue) == 0 && p.pause == 0 && clock.From(ctx).Now().Sub(began) < time.Second {
		p.pause = time.Second // nothing new, and the server did not hold back the answer: do not spin
	}
	return nil
}

// events makes an iterator from a Next.
func events(ctx context.Context, next func(context.Context) (Event, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, err := next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
