package ship

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/disk"
)

// ProcessOptions configure Process. Only Group is required.
type ProcessOptions struct {
	Group string
	// From are the members whose parts and end marks are believed; what others post is skipped. Empty: the owner and the admins
	// of the group.
	From []string
	// Follow goes on after an end mark, with the next shipment.
	Follow bool
	// State is a file that remembers what was handled of each shipment, and results that the group could not take yet. It is
	// written before each ack. Without it a Process that is started again knows neither: it compares the order and the number of
	// the parts that are left, and not the bytes and the digest of the end mark.
	State string
	// Attempts is how often the handler may fail for one part before Process gives up; 0: no limit.
	Attempts int
	// Backoff spaces the attempts. Zero: 1 s to 1 min.
	Backoff client.Backoff
	// End is called with each end mark that fits, before it is acked: if it fails, it is called again like the handler.
	End func(ctx context.Context, end End) error
	// Failed is called after each failed attempt, and when the server cannot be reached, before the next attempt.
	Failed func(err error, again time.Duration)
	// Notice is called with what a person should know: what is skipped, what cannot be verified, and every 10 s what Process waits
	// for when it is not for the next part.
	Notice func(text string)
}

// PartHandler handles one part and returns the result to post, which may be empty. Parts come in order, one at a time.
type PartHandler func(ctx context.Context, part Part) (result string, err error)

// Process is the loop of a processor: it calls handle with each part that [Files] ships to the group, in order. A part is
// acked once handle has returned nil, so that a crash repeats a part and skips none: see [Part] on counting it once. Process
// returns nil after the end mark. Whatever fails is tried again, unless the server refuses the member, a part is damaged or not the
// next one, the end mark does not fit the parts or is of a shipment of which nothing was processed, or messages are missing
// ([MissingError]).
//
// Posting a result has to wait while other members are too far behind ([client.CodeBacklogFull]). They may be waiting for this
// processor in the same way, so it does not hold up the ack: up to 100 such results are kept (see ProcessOptions.State) and
// posted later, in their order.
//
// Where the shipper takes results, Process stays after the end mark while the other members post theirs, and acks these, so
// that nothing is left in the group: until all have finished, or nothing new has come for 30 seconds, or for 5 if nobody is at work
// on a part.
//
// The processor must not be the user who ships: the server regards what a user sent as seen by that user.
func Process(ctx context.Context, c *client.Client, opts ProcessOptions, handle PartHandler) (err error) {
	if opts.Backoff == (client.Backoff{}) {
		opts.Backoff = client.Backoff{Base: time.Second, Max: time.Minute}
	}
	if opts.Failed == nil {
		opts.Failed = func(error, time.Duration) {}
	}
	if opts.Notice == nil {
		opts.Notice = func(string) {}
	}
	p := &processor{client: c, opts: opts, handle: handle, log: groupLog{client: c, group: opts.Group},
		trust: trust{client: c, group: opts.Group, named: opts.From, notice: opts.Notice}, waiting: waiting{notice: opts.Notice}}
	if _, err := p.log.open(ctx); err != nil {
		return err
	}
	if opts.State != "" {
		unlock, err := disk.Lock(opts.State)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := p.state.load(opts.State, p.log.epoch); err != nil {
		return err
	}
	p.state.Ended = p.state.Ended && !opts.Follow
	if !p.state.Ended {
		p.marked = p.state.End
	}
	defer func() {
		if p.state.dirty {
			err = errors.Join(err, p.state.save())
		}
	}()
	return p.run(ctx)
}

type processor struct {
	client  *client.Client
	opts    ProcessOptions
	handle  PartHandler
	log     groupLog
	state   processState
	trust   trust
	waiting waiting
	marked  int64     // the end mark that is marked as read
	grown   time.Time // when something new came last, after the end mark
}

// pendingWait is how long a poll takes at most while results wait to be posted, in seconds.
const pendingWait = 1

func (p *processor) run(ctx context.Context) error {
	p.grown = time.Now()
	for failures := 0; ; {
		done, err := p.step(ctx)
		switch {
		case err == nil && done:
			p.state.Ended = false
			return p.state.save()
		case err == nil:
			failures = 0
			continue
		case !transient(err):
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
		return false // whatever says so, the same request is as large the next time
	case errors.As(err, &e):
		return e.Status >= 500 || e.Code == client.CodeUnavailable || e.Code == client.CodeInternal || e.Code == client.CodeRateLimited || e.Code == ""
	}
	return true
}

// errPermanent marks errors that no further attempt can change.
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

// step handles the next page of the log, or waits for one. done: after the end mark, there is nothing left to do.
func (p *processor) step(ctx context.Context) (done bool, err error) {
	if err := p.post(ctx); err != nil {
		return false, err
	}
	if err := p.markRead(ctx); err != nil {
		return false, err
	}
	over := false
	if p.state.Ended { // before the page, which then has everything that they posted
		if over, err = p.othersFinished(ctx); err != nil {
			return false, err
		}
	}
	messages, err := p.log.next(ctx)
	if err != nil {
		return false, err
	}
	for _, m := range messages {
		switch what, err := p.message(ctx, m); {
		case err != nil:
			p.log.rewind(m.ID - 1)
			return false, err
		case what == endOfRun: // the rest of this page comes again
			p.log.rewind(m.ID)
			p.grown = time.Now()
			return false, nil
		case what == nextShipment:
			p.log.rewind(m.ID - 1)
			if err := p.log.ack(ctx); err != nil || over {
				return over, err
			}
			return false, sleep(ctx, pendingWait*time.Second)
		}
	}
	if err := p.log.ack(ctx); err != nil {
		return false, err
	}
	if len(messages) > 0 {
		p.grown = time.Now()
		return false, nil
	}
	if over {
		return true, nil
	}
	seconds := logWait
	if len(p.state.Pending) > 0 || p.state.Ended {
		seconds = pendingWait
	}
	return false, p.log.wait(ctx, seconds)
}

// outcome is what a message means for the loop.
type outcome int

const (
	goOn         outcome = iota
	endOfRun             // it was the end mark, and Process does not follow
	nextShipment         // the run has ended: it is for the next one
)

// message handles one message. Other messages than parts and end marks are acked along with the next one.
func (p *processor) message(ctx context.Context, m client.Message) (outcome, error) {
	p.trust.heard(m)
	s := readShipped(m)
	if s.Part == nil && s.End == nil {
		return goOn, nil
	}
	what := "part"
	if s.Part == nil {
		what = "end mark"
	}
	switch believed, err := p.trust.believes(ctx, m.From); {
	case err != nil:
		return goOn, err
	case !believed:
		p.trust.skip(m, what, p.trust.stranger())
		return goOn, nil
	case s.End != nil && s.End.Ship == p.state.Over && (m.ID == p.state.End || p.state.underWay(m.From) == nil):
		return goOn, nil // a crash came before its ack, or its shipper repeated it
	case p.state.Ended:
		return nextShipment, nil
	case s.Part != nil:
		return goOn, p.part(ctx, m, s.Part)
	}
	return p.end(ctx, endOf(p.log.epoch, m, s.End))
}

// part calls the handler until it succeeds, then remembers that, posts the result and acks.
func (p *processor) part(ctx context.Context, m client.Message, data *partData) error {
	part := partOf(p.log.epoch, m, data)
	was := p.state.progress(part.From, part.Ship)
	again, err := p.state.follows(was, part)
	if err != nil {
		return err
	}
	if !again {
		if err := p.handled(ctx, m, data, part, was); err != nil {
			return err
		}
	}
	return p.persist(ctx, func() error {
		if err := p.postOrKeep(ctx); err != nil {
			return err
		}
		_, err := p.client.Ack(ctx, p.opts.Group, m.ID)
		return err
	})
}

// handled calls the handler until it succeeds, and saves that and the result.
func (p *processor) handled(ctx context.Context, m client.Message, data *partData, part Part, was *shipProgress) error {
	now := shipProgress{From: part.From, Ship: part.Ship}
	switch {
	case was != nil:
		now = *was
	case part.Number == 1:
		now.setDigest(sha256.New())
	default:
		p.opts.Notice(fmt.Sprintf("begins in the middle of shipment %s by %s, at part %d: the count and the order of its parts are checked, and not the bytes and the digest of its end mark",
			part.Ship, part.From, part.Number))
	}
	var result string
	err := p.attempt(ctx, fmt.Sprintf("part %d", part.Number), func(attempt int) error {
		all, err := now.digest()
		if err != nil {
			return permanent(fmt.Errorf("state in %s: %w", p.state.path, err))
		}
		lines, err := openLines(ctx, p.client, m, data, all)
		if err != nil {
			return err
		}
		defer lines.close()
		part.Attempt, part.Lines = attempt, lines
		if result, err = p.handle(ctx, part); err != nil {
			return err
		}
		if err := lines.finish(); err != nil {
			return err
		}
		if all != nil {
			now.setDigest(all)
		}
		return nil
	})
	if err != nil {
		return err
	}
	now.Parts, now.Last, now.Bytes = part.Number, part.SHA256, now.Bytes+part.Bytes
	if now.First == 0 && !data.NoResult {
		now.First = m.ID
	}
	p.state.put(now)
	if result = clipped(result); result != "" && !data.NoResult {
		p.state.Pending = append(p.state.Pending, pendingResult{ID: m.ID, Ship: data.Ship, Number: data.Number, Text: result})
	}
	return p.state.save()
}

// end compares the end mark with the parts, and acks it.
func (p *processor) end(ctx context.Context, end End) (outcome, error) {
	was := p.state.progress(end.From, end.Ship)
	if err := p.state.fits(was, end); err != nil {
		return goOn, err
	}
	var unknown error
	if was == nil && end.Parts > 0 {
		unknown = permanent(fmt.Errorf("message %d: nothing is remembered of shipment %s by %s, so the %d parts that its end mark counts cannot be compared; it is acked, and the next run continues after it",
			end.ID, end.Ship, end.From, end.Parts))
		if p.opts.Follow {
			p.opts.Notice(unknown.Error())
		}
	}
	if p.opts.End != nil && unknown == nil {
		if err := p.attempt(ctx, "end mark", func(int) error { return p.opts.End(ctx, end) }); err != nil {
			return goOn, err
		}
	}
	p.state.Over, p.state.End, p.state.First = end.Ship, end.ID, 0
	if was != nil {
		p.state.First = was.First
	}
	p.state.drop(end.From, end.Ship)
	p.state.Ended = !p.opts.Follow && unknown == nil
	if err := p.state.save(); err != nil {
		return goOn, err
	}
	err := p.persist(ctx, func() error {
		_, err := p.client.Ack(ctx, p.opts.Group, end.ID)
		return err
	})
	if err != nil || p.opts.Follow {
		return goOn, err
	}
	return endOfRun, unknown
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
