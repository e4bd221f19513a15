package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/chatd/chatd/client"
)

// ProcessOptions configure Process. Only Group is required.
type ProcessOptions struct {
	Group string
	// Follow goes on after an end mark, with the next shipment.
	Follow bool
	// State is a file that keeps results which the group could not take yet, over a crash. Empty: they are kept in memory,
	// and a crash loses them.
	State string
	// Attempts is how often the handler may fail for one part before Process gives up; 0: no limit.
	Attempts int
	// Backoff spaces the attempts. Zero: 1 s to 1 min.
	Backoff client.Backoff
	// End is called with each end mark, before it is acked: if it fails, it is called again like the handler.
	End func(ctx context.Context, end End) error
	// Failed is called after each failed attempt, and when the server cannot be reached, before the next attempt.
	Failed func(err error, again time.Duration)
}

// PartHandler handles one part and returns the result to post, which may be empty. Parts come in order, one at a time.
type PartHandler func(ctx context.Context, part Part) (result string, err error)

// Process is the loop of a processor: it calls handle with each part that [Files] ships to the group, in order. A part is
// acked once handle has returned nil and its result is posted, so that a crash repeats a part and skips none: see [Part] on
// counting it once. Process returns nil after the end mark. Whatever fails is tried again, unless the server refuses the
// member, a part is damaged, or messages are missing ([MissingError]).
//
// Posting a result has to wait while other members are too far behind ([client.CodeBacklogFull]). They may be waiting for this
// processor in the same way, so it does not hold up the ack: up to 100 such results are kept (see ProcessOptions.State) and
// posted later, in their order.
//
// The processor must not be the user who ships: the server regards what a user sent as seen by that user.
func Process(ctx context.Context, c *client.Client, opts ProcessOptions, handle PartHandler) error {
	if opts.Backoff == (client.Backoff{}) {
		opts.Backoff = client.Backoff{Base: time.Second, Max: time.Minute}
	}
	if opts.Failed == nil {
		opts.Failed = func(error, time.Duration) {}
	}
	p := &processor{client: c, opts: opts, handle: handle, log: groupLog{client: c, group: opts.Group}}
	if _, err := p.log.open(ctx); err != nil {
		return err
	}
	if opts.State != "" {
		unlock, err := lockState(opts.State)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := p.state.load(opts.State, p.log.epoch); err != nil {
		return err
	}
	p.state.Ended = p.state.Ended && !opts.Follow
	return p.run(ctx)
}

type processor struct {
	client *client.Client
	opts   ProcessOptions
	handle PartHandler
	log    groupLog
	state  processState
}

// pendingWait is how long a poll takes at most while results wait to be posted, in seconds.
const pendingWait = 1

func (p *processor) run(ctx context.Context) error {
	ended := p.state.Ended
	for failures := 0; ; {
		if ended {
			if done, err := p.finish(ctx); err == nil && done {
				return nil
			}
		}
		var err error
		if ended, err = p.step(ctx, ended); err == nil {
			failures = 0
			continue
		}
		if !transient(err) {
			return err
		}
		if err := p.pause(ctx, failures, err); err != nil {
			return err
		}
		failures++
	}
}

// pause waits before the next attempt.
func (p *processor) pause(ctx context.Context, failures int, err error) error {
	var e *client.Error
	var asked time.Duration
	if errors.As(err, &e) {
		asked = e.RetryAfter
	}
	wait := p.opts.Backoff.Delay(failures, asked)
	p.opts.Failed(err, wait)
	return sleep(ctx, wait)
}

// transient reports whether err may go away by itself: the server cannot be reached, or does not work right now.
func transient(err error) bool {
	var e *client.Error
	var missing *MissingError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, errPermanent), errors.As(err, &missing):
		return false
	case errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge:
		return false // whoever says so, the same request is as large the next time
	case errors.As(err, &e):
		return e.Status >= 500 || e.Code == client.CodeUnavailable || e.Code == client.CodeInternal || e.Code == client.CodeRateLimited || e.Code == ""
	}
	return true
}

// errPermanent marks what no further attempt changes.
var errPermanent = errors.New("")

// permanent marks err; nil stays nil.
func permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

type permanentError struct{ error }

func (e permanentError) Unwrap() []error { return []error{e.error, errPermanent} }

// step handles the next page of the log, or waits for one. ended: the end mark is acked, and only results are left to post.
func (p *processor) step(ctx context.Context, ended bool) (bool, error) {
	if err := p.post(ctx); err != nil {
		return ended, err
	}
	messages, err := p.log.next(ctx)
	if err != nil {
		return ended, err
	}
	for _, m := range messages {
		s := readShipped(m)
		if ended && (s.Part != nil || s.End != nil) { // the next shipment is for the next run
			p.log.rewind(m.ID - 1)
			if err := p.log.ack(ctx); err != nil {
				return ended, err
			}
			return ended, sleep(ctx, pendingWait*time.Second)
		}
		stop, err := p.message(ctx, m, s)
		if err != nil {
			p.log.rewind(m.ID - 1)
			return ended, err
		}
		if stop { // what follows in this page comes again
			p.log.rewind(m.ID)
			return true, nil
		}
	}
	if err := p.log.ack(ctx); err != nil || len(messages) > 0 {
		return ended, err
	}
	seconds := logWait
	if len(p.state.Pending) > 0 {
		seconds = pendingWait
	}
	return ended, p.log.wait(ctx, seconds)
}

// message handles one message. stop: it was the end mark.
func (p *processor) message(ctx context.Context, m client.Message, s shipped) (stop bool, err error) {
	switch {
	case s.Part != nil:
		return false, p.part(ctx, m, s.Part)
	case s.End != nil:
		return !p.opts.Follow, p.end(ctx, endOf(p.log.epoch, m, s.End))
	}
	return false, nil // it is acked along with the next one
}

// part calls the handler until it succeeds, then posts the result and acks.
func (p *processor) part(ctx context.Context, m client.Message, data *partData) error {
	part := partOf(p.log.epoch, m, data)
	var result string
	err := p.attempt(ctx, fmt.Sprintf("part %d", data.Number), func(attempt int) error {
		lines, err := openLines(ctx, p.client, m, data)
		if err != nil {
			return err
		}
		defer lines.close()
		part.Attempt, part.Lines = attempt, lines
		if result, err = p.handle(ctx, part); err == nil {
			err = lines.err // the handler may have taken it for the end
		}
		return err
	})
	if err != nil {
		return err
	}
	if result = clipped(result); result != "" {
		p.state.Pending = append(p.state.Pending, pendingResult{ID: m.ID, Ship: data.Ship, Number: data.Number, Text: result})
	}
	return p.persist(ctx, func() error {
		if err := p.postOrKeep(ctx); err != nil {
			return err
		}
		_, err := p.client.Ack(ctx, p.opts.Group, m.ID)
		return err
	})
}

// persist calls do until it returns nil or an error that stays.
func (p *processor) persist(ctx context.Context, do func() error) error {
	for failures := 0; ; failures++ {
		err := do()
		if err == nil || !transient(err) {
			return err
		}
		if err := p.pause(ctx, failures, err); err != nil {
			return err
		}
	}
}

// attempt calls do until it returns nil.
func (p *processor) attempt(ctx context.Context, what string, do func(attempt int) error) error {
	for attempt := 1; ; attempt++ {
		err := do(attempt)
		var refused *client.Error
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errPart), errors.Is(err, client.ErrDigest), errors.As(err, &refused) && !transient(err),
			p.opts.Attempts > 0 && attempt >= p.opts.Attempts:
			return permanent(fmt.Errorf("%s, attempt %d: %w", what, attempt, err))
		}
		if err := p.pause(ctx, attempt-1, fmt.Errorf("%s, attempt %d: %w", what, attempt, err)); err != nil {
			return err
		}
	}
}

// postOrKeep posts the pending results, or keeps them safely. It waits only if there are too many.
func (p *processor) postOrKeep(ctx context.Context) error {
	for failures := 0; ; failures++ {
		if err := p.post(ctx); err != nil || len(p.state.Pending) == 0 {
			return err
		}
		if len(p.state.Pending) <= pendingMax {
			return p.state.save()
		}
		if err := sleep(ctx, shipBackoff.Delay(failures, 0)); err != nil {
			return err
		}
	}
}

// post posts the pending results in order, as far as the group takes them.
func (p *processor) post(ctx context.Context) error {
	posted := 0
	for _, r := range p.state.Pending {
		data, err := json.Marshal(shipped{Result: &resultData{Ship: r.Ship, Number: r.Number, Text: r.Text}})
		if err != nil {
			return err
		}
		draft := client.Draft{Kind: client.KindData, Data: data, ReplyTo: r.ID, ClientID: retryKey("result", p.log.epoch, r.ID)}
		_, err = p.client.Send(ctx, p.opts.Group, draft)
		if client.CodeOf(err) == client.CodeBacklogFull {
			break
		}
		// With another text it was posted before a crash, and the handler has run again since.
		if err != nil && client.CodeOf(err) != client.CodeKeyReused {
			return err
		}
		posted++
	}
	if posted == 0 {
		return nil
	}
	p.state.Pending = p.state.Pending[posted:]
	return p.state.saveIfKept()
}

// end acks the end mark. A crash before Process returns is known by the state.
func (p *processor) end(ctx context.Context, end End) error {
	if p.opts.End != nil {
		if err := p.attempt(ctx, "end mark", func(int) error { return p.opts.End(ctx, end) }); err != nil {
			return err
		}
	}
	if !p.opts.Follow {
		p.state.Ended = true
		if err := p.state.save(); err != nil {
			return err
		}
	}
	return p.persist(ctx, func() error {
		_, err := p.client.Ack(ctx, p.opts.Group, end.ID)
		return err
	})
}

// finish ends the run if nothing is left to post.
func (p *processor) finish(ctx context.Context) (bool, error) {
	if err := p.post(ctx); err != nil || len(p.state.Pending) > 0 {
		return false, err
	}
	p.state.Ended = false
	return true, p.state.saveIfKept()
}
