package ship

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// shipBackoff spaces attempts while the group or the server takes nothing.
var shipBackoff = client.Backoff{Base: 100 * time.Millisecond, Max: 15 * time.Second}

// blockedMax is the longest wait for members who are behind: those who have caught up should not wait for the shipper.
const blockedMax = 2 * time.Second

// retry calls do until it returns nil or an error that stays.
func (s *shipper) retry(ctx context.Context, do func() error) error {
	for failures := 0; ; failures++ {
		err := do()
		var e *client.Error
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		full := client.CodeOf(err) == client.CodeBacklogFull || client.CodeOf(err) == client.CodeQuotaFull // trimming frees quota, too
		if !full && !transient(err) {
			return err
		}
		wait := shipBackoff.Delay(failures, 0)
		if errors.As(err, &e) {
			wait = max(wait, e.RetryAfter)
		}
		if full {
			wait = min(wait, blockedMax)
		}
		s.show(func(p *Progress) {
			p.Waiting, p.Blockers = err, nil
			if e != nil {
				p.Blockers = e.Blockers
			}
		})
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// show reports a change.
func (s *shipper) show(change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.shown)
	s.shown.Ship, s.shown.Parts, s.shown.Bytes, s.shown.Total = s.state.Ship, s.state.Parts, s.state.Bytes, s.total
	s.opts.Progress(s.shown)
}

// collect reads and acks the group in the background: nothing is trimmed that the shipper, a member too, has not seen. The
// function that it returns ends that and waits for it. failed is called with an error that stays.
func (s *shipper) collect(ctx context.Context, failed func(error)) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		failures := 0
		for ctx.Err() == nil {
			n, err := s.take(ctx)
			if err == nil && n == 0 {
				err = s.log.wait(ctx, logWait)
			}
			switch {
			case ctx.Err() != nil:
			case err == nil:
				failures = 0
			case !transient(err):
				done <- err
				failed(err)
				return
			default:
				_ = sleep(ctx, shipBackoff.Delay(failures, 0)) // the loop sees that ctx ended
				failures++
			}
		}
		done <- nil
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// take reads the next page, reports the results in it and acks it.
func (s *shipper) take(ctx context.Context) (int, error) {
	messages, err := s.log.next(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		if r := readShipped(m).Result; r != nil && s.believes(m, r) {
			s.opts.Result(resultOf(m, r))
		}
	}
	if len(messages) > 0 {
		s.mu.Lock()
		s.grown = time.Now()
		s.mu.Unlock()
	}
	return len(messages), s.log.ack(ctx)
}

// believes reports whether a result is one of a processor about a part of this shipper.
func (s *shipper) believes(m client.Message, r *resultData) bool {
	s.mu.Lock()
	// A part that is being posted may have a result before the shipper hears that it was.
	about := r.Ship != "" && r.Number >= 1 && m.ReplyTo > 0 &&
		(r.Ship == s.state.Ship && r.Number <= s.state.Parts+1 || r.Ship == s.state.Was)
	s.mu.Unlock()
	switch {
	case len(s.opts.From) > 0 && !slices.Contains(s.opts.From, m.From):
		s.trust.skip(m, "result", s.trust.stranger())
		return false
	case !about:
		s.trust.skip(m, "result", "and about no part of this shipment")
	}
	return about
}

// drain takes all messages, so that nothing is left for the shipper to see.
func (s *shipper) drain(ctx context.Context) error {
	for {
		if n, err := s.take(ctx); err != nil || n == 0 {
			return err
		}
	}
}

// receiptsPage is how many members are named at most.
const receiptsPage = 100

// waitAll returns when all members have acked the end mark, and no more results can come.
func (s *shipper) waitAll(ctx context.Context) error {
	// A member whose messages all have seen is asked for its receipts too, once they are trimmed.
	err := s.retry(ctx, func() error {
		_, err := s.client.Read(ctx, s.opts.Group, s.state.End)
		return err
	})
	if err != nil {
		return err
	}
	seconds, all := 0, time.Time{} // the first answer says who is pending
	for {
		var r client.Receipts
		err := s.retry(ctx, func() (err error) {
			r, err = s.client.WaitReceipts(ctx, s.opts.Group, s.state.End, seconds, client.Page{Limit: receiptsPage})
			return err
		})
		if err != nil {
			return err
		}
		finished := make([]string, 0, len(r.SeenBy))
		for _, one := range r.SeenBy {
			finished = append(finished, one.User)
		}
		changed := false
		s.show(func(p *Progress) {
			changed = !slices.Equal(p.Pending, r.Pending)
			p.Waiting, p.Blockers, p.Finished, p.Pending = nil, nil, finished, r.Pending
		})
		if r.Seen >= r.Members {
			if all.IsZero() {
				all = time.Now()
			}
			// A processor marks the end as read when it has posted everything; other members need not.
			if r.Read >= r.Members || time.Since(all) > idleMax && s.quiet(idleMax) {
				return nil
			}
		}
		// The server answers at once if it cannot wait; members who finish one after the other are shown soon.
		if seconds = 2; !changed {
			seconds = logWait
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// quiet reports whether nothing new has come for d.
func (s *shipper) quiet(d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.grown) > d
}
