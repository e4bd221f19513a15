package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/clock"
)

const (
	// outboxMax bounds what waits to be sent: more means that something is wrong, and a person should know.
	outboxMax = 1000
	// keyLife is how long a key is sent again under: the server knows it for 24 h.
	keyLife = 23 * time.Hour
)

// Codes of a Failure that are not the server's.
const (
	CodeUnknownOutcome = "unknown_outcome" // it may have been sent: the server no longer has all that was written since
	CodeDiscarded      = "discarded"
)

// Failure is why something was not sent.
type Failure struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Detail) }

// Sending is something that waits to be sent.
type Sending struct {
	Key     string // names it for Retry and Discard; it is the client id of the message
	done    chan struct{}
	message client.Message
	err     error
}

// Wait returns the message once the server has stored it, however long that takes. The error is a *Failure if it was refused or
// discarded, and ErrClosed if the chat was closed: it is sent the next time then.
func (s *Sending) Wait(ctx context.Context) (client.Message, error) {
	if err := clock.Wait(ctx, s.done); err != nil {
		return client.Message{}, err
	}
	return s.message, s.err
}

func (s *Sending) finish(m client.Message, err error) {
	s.message, s.err = m, err
	close(s.done)
}

// Send puts a message into the outbox, or with the Kind edit, delete or reaction a change of the message Target. It is stored
// when Send returns, and sent in the order of the calls, over lost connections and restarts. A message that the server refuses
// stays as failed, until Retry or Discard; a change is given up.
func (c *Chat) Send(ctx context.Context, group string, what client.Draft) (*Sending, error) {
	if !valid(what.Data) {
		return nil, errors.New("data is no JSON")
	}
	what.ClientID = cmp.Or(what.ClientID, client.NewKey())
	if what.Kind == "" && what.Body == "" && len(what.Files) == 0 {
		what.Kind = client.KindData
	}
	what.Kind = cmp.Or(what.Kind, client.KindText)
	s := &Sending{Key: what.ClientID, done: make(chan struct{})}
	err := c.commit(ctx, func(d *draft) error {
		if len(d.outbox) >= outboxMax {
			return fmt.Errorf("%d messages wait to be sent: that is the limit", outboxMax)
		}
		r := d.record(group)
		t := task{Group: group, Draft: what, Queued: c.clock.Now(), After: max(0, r.Group.Last, r.Log.End), N: 1}
		if n := len(d.outbox); n > 0 {
			t.N = d.outbox[n-1].N + 1
		}
		d.putTask(t)
		d.apply = append(d.apply, func() { c.waits[s.Key] = s })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Retry sends what was refused once more, under its key.
func (c *Chat) Retry(ctx context.Context, key string) error {
	return c.commit(ctx, func(d *draft) error {
		if t, ok := d.task(key); ok && t.Failed != nil {
			t.Failed, t.Queued = nil, c.clock.Now() // a person has decided
			d.putTask(t)
		}
		return nil
	})
}

// Discard gives up what was refused, or was not sent yet.
func (c *Chat) Discard(ctx context.Context, key string) error {
	return c.commit(ctx, func(d *draft) error {
		if t, ok := d.task(key); ok && t.ID == 0 {
			d.removeTask(t)
			d.answerLater(key, client.Message{}, &Failure{CodeDiscarded, "given up"})
		}
		return nil
	})
}

// answerLater ends the Sending with a key once the draft is stored.
func (d *draft) answerLater(key string, m client.Message, failed *Failure) {
	d.apply = append(d.apply, func() {
		delete(d.tries, key)
		if w := d.waits[key]; w != nil {
			delete(d.waits, key)
			var err error
			if failed != nil {
				err = failed
			}
			w.finish(m, err)
		}
	})
}

// pumpOutboxLocked sends the first thing that waits in each group.
func (c *Chat) pumpOutboxLocked() {
	for _, t := range c.outbox {
		if t.ID > 0 || t.Failed != nil || c.sending[t.Group] != "" {
			continue
		}
		c.sending[t.Group] = t.key()
		online := c.online
		c.tasks.Go(func() { c.send(online, t) })
	}
}

// send sends one task while the server is reached.
func (c *Chat) send(online context.Context, t task) {
	m, err := c.trySend(online, t)
	wait, passes := transient(err)
	switch {
	case err == nil:
		err = c.commit(c.ctx, func(d *draft) error { d.answered(t, m); return nil })
	case errors.As(err, new(*Failure)) || !passes:
		err = c.commit(c.ctx, func(d *draft) error { d.refused(t, failureOf(err)); return nil })
	}
	if err != nil {
		c.mu.Lock()
		n := c.tries[t.key()]
		c.tries[t.key()] = n + 1
		c.mu.Unlock()
		if clock.Sleep(online, max(wait, time.Duration(c.clock.Random()*float64(min(20*time.Second, 500*time.Millisecond<<min(n, 10)))))) != nil {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.online == online {
		delete(c.sending, t.Group)
		c.changedLocked()
		c.pumpLocked()
	}
}

func (c *Chat) trySend(online context.Context, t task) (client.Message, error) {
	if c.clock.Now().Sub(t.Queued) > keyLife {
		m, err := c.find(online, t)
		if err != nil || m.ID > 0 {
			return m, err
		}
	}
	sent, err := c.stream.Send(online, t.Group, t.Draft)
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.message(c.me, sent.ID, sent.SentAt), err
}

// message is the message that a task is, or becomes.
func (t task) message(me string, id int64, at time.Time) client.Message {
	if at.IsZero() {
		at = t.Queued
	}
	return client.Message{Group: t.Group, ID: id, From: me, Content: t.Draft, SentAt: at}
}

// find looks for a task in the log. The zero Message: it is not there.
func (c *Chat) find(ctx context.Context, t task) (client.Message, error) {
	for after := t.After; ; {
		page, err := c.client.Messages(ctx, t.Group, client.Range{After: client.At(after), Limit: 1000})
		if err != nil {
			return client.Message{}, err
		}
		for _, m := range page.Messages {
			if m.ClientID == t.key() && m.From == c.State().User {
				return m, nil
			}
		}
		if !page.Complete {
			return client.Message{}, &Failure{CodeUnknownOutcome, "it may have been sent: the server no longer has all that was written since"}
		}
		if len(page.Messages) == 0 {
			return client.Message{}, nil
		}
		after = page.To
	}
}

func failureOf(err error) *Failure {
	var f *Failure
	var e *client.Error
	switch {
	case errors.As(err, &f):
	case errors.As(err, &e):
		f = &Failure{e.Code, e.Detail}
	}
	return f
}

// answered notes that the server has a task.
func (d *draft) answered(t task, m client.Message) {
	if _, ok := d.task(t.key()); !ok {
		return
	}
	if m.ID <= d.record(t.Group).Log.End {
		d.removeTask(t)
	} else {
		t.ID, t.SentAt = m.ID, m.SentAt
		d.putTask(t)
	}
	d.answerLater(t.key(), m, nil)
}

// refused notes that the server will not have it.
func (d *draft) refused(t task, why *Failure) {
	if _, ok := d.task(t.key()); !ok {
		return
	}
	if t.isMessage() {
		t.Failed = why
		d.putTask(t)
	} else {
		d.removeTask(t)
	}
	d.answerLater(t.key(), client.Message{}, why)
}
