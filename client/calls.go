package client

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/chatd/chatd/client/internal/clock"
)

// errLost means that the session ended before the reply came.
var errLost = errors.New("the connection was lost before the response arrived")

// Send appends a message over the socket; see [Client.Send]. If the session is lost before the reply, the message is
// sent again in the next one with the same client id.
func (s *Stream) Send(ctx context.Context, group string, draft Draft) (Sent, error) {
	draft.ClientID = cmp.Or(draft.ClientID, NewKey())
	r, err := s.call(ctx, request{Op: "send", Group: group, Draft: &draft})
	if err != nil {
		return Sent{}, err
	}
	return Sent{Duplicate: r.Duplicate, Message: Message{
		Group: group, ID: r.ID, SentAt: r.SentAt, Content: draft,
	}}, nil
}

// Ack confirms everything up to id to the server.
func (s *Stream) Ack(ctx context.Context, group string, id int64) error {
	_, err := s.call(ctx, request{Op: "ack", Group: group, ID: id})
	return err
}

// AckAt is Ack with the cursor of Messages; see [Client.AckAt].
func (s *Stream) AckAt(ctx context.Context, group string, at Position) error {
	_, err := s.call(ctx, request{Op: "ack", Group: group, Cursor: at})
	return err
}

// Read marks everything up to id as read by the person.
func (s *Stream) Read(ctx context.Context, group string, id int64) (Progress, error) {
	r, err := s.call(ctx, request{Op: "read", Group: group, ID: id})
	return r.Progress, err
}

// InboxAckAt is InboxAck with the cursor of Items; see [Client.AckAt].
func (s *Stream) InboxAckAt(ctx context.Context, at Position) error {
	_, err := s.call(ctx, request{Op: "inbox_ack", Cursor: at})
	return err
}

// InboxAck confirms all inbox items up to and including seq.
func (s *Stream) InboxAck(ctx context.Context, seq int64) error {
	_, err := s.call(ctx, request{Op: "inbox_ack", Seq: seq})
	return err
}

// Typing shows the online members of a group that the caller is typing. Over the websocket it waits for no reply. It does
// nothing while the stream is not connected: it would be useless later.
func (s *Stream) Typing(group string) error {
	s.mu.Lock()
	sock, polled := s.live, s.status.polled
	s.mu.Unlock()
	switch {
	case sock != nil:
		return sock.send(request{Op: "typing", Group: group})
	case polled:
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		return s.client.acting(s.client.as, 1).Typing(ctx, group)
	}
	return nil
}

// frameMax is about how long a frame may be that goes over the socket: HTTP takes more, and says what it refuses.
const frameMax = 16 << 10

// call makes a request, and repeats it if the server says that it did not do it.
func (s *Stream) call(ctx context.Context, req request) (reply, error) {
	if req.Draft != nil && len(req.Draft.Body)+len(req.Draft.Data) > frameMax {
		return s.byHTTP(ctx, req)
	}
	for attempt := 0; ; attempt++ {
		r, err := s.callOnce(ctx, req)
		if err == nil || CodeOf(err) == "" {
			return r, err
		}
		wait, ok := retryable(err, true)
		if !ok || attempt+1 >= s.client.attempts || s.client.backoff.sleep(ctx, attempt, wait) != nil {
			return r, err
		}
	}
}

// callOnce sends a request and waits for its reply, over as many sessions as it takes: every call made this way may be
// repeated.
func (s *Stream) callOnce(ctx context.Context, req request) (reply, error) {
	for {
		sock, err := s.current(ctx)
		if err != nil {
			return reply{}, err
		}
		if sock == nil {
			return s.byHTTP(ctx, req)
		}
		r, err := sock.call(ctx, req, s.room)
		if !errors.Is(err, errLost) {
			return r, err
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-sock.lost:
			if CodeOf(sock.err) == CodeTooLarge {
				return reply{}, sock.err // it would end every session the same way
			}
			if err := s.away(ctx, sock); err != nil {
				return reply{}, err
			}
		}
	}
}

// byHTTP makes a request while there is no socket.
func (s *Stream) byHTTP(ctx context.Context, req request) (reply, error) {
	c := s.client
	var err error
	switch req.Op {
	case "send":
		sent, err := c.Send(ctx, req.Group, *req.Draft)
		return reply{ID: sent.ID, SentAt: sent.SentAt, Duplicate: sent.Duplicate}, err
	case "ack":
		_, err = c.AckAt(ctx, req.Group, req.position(req.ID))
	case "read":
		progress, err := c.Read(ctx, req.Group, req.ID)
		return reply{Progress: progress}, err
	case "inbox_ack":
		err = c.InboxAckAt(ctx, req.position(req.Seq))
	}
	return reply{}, err
}

// position is the cursor of a request, or that of an id.
func (r request) position(id int64) Position {
	if r.Cursor != "" {
		return r.Cursor
	}
	return At(id)
}

// away waits until sock is no longer the live socket.
func (s *Stream) away(ctx context.Context, sock *socket) error {
	for {
		s.mu.Lock()
		live, turned := s.live, s.turned
		s.mu.Unlock()
		if live != sock {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-turned:
		}
	}
}

// call makes one request in this session. It signals room because the reader, if it is waiting for room, must go on
// until the reply has arrived.
func (k *socket) call(ctx context.Context, req request, room chan struct{}) (reply, error) {
	answer := make(chan reply, 1)
	k.mu.Lock()
	k.lastRef++
	req.Ref = strconv.FormatInt(k.lastRef, 10)
	k.calls[req.Ref] = answer
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.calls, req.Ref)
		k.mu.Unlock()
	}()
	signal(room)
	defer clock.From(ctx).AfterFunc(answerTimeout, func() { _ = k.conn.Close() })()
	if err := k.send(req); err != nil {
		_ = k.conn.Close() // the reader notices, and ends the session
		return reply{}, errLost
	}
	select {
	case r := <-answer:
		if r.Op == "error" {
			return reply{}, r.err()
		}
		return r, nil
	case <-k.lost:
		return reply{}, errLost
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
}

// answer hands a reply to the call that waits for it.
func (k *socket) answer(r reply) {
	k.mu.Lock()
	waiting := k.calls[r.Ref]
	delete(k.calls, r.Ref)
	k.mu.Unlock()
	if waiting != nil {
		waiting <- r
	}
}

// waiting reports whether a call waits for its reply.
func (k *socket) waiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.calls) > 0
}

// end marks the session as over.
func (k *socket) end(err error) {
	k.err = err
	close(k.lost)
}
