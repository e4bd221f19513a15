package client

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
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
func (s *Stream) Read(ctx context.Context, group string, id int64) error {
	_, err := s.call(ctx, request{Op: "read", Group: group, ID: id})
	return err
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

// Typing shows the online members of a group that the caller is typing. It waits for no reply, and does nothing between
// sessions: it would be useless later.
func (s *Stream) Typing(group string) error {
	s.mu.Lock()
	sock := s.live
	s.mu.Unlock()
	if sock == nil {
		return nil
	}
	return sock.send(request{Op: "typing", Group: group})
}

// call makes a request, and repeats it if the server says that it did not do it.
func (s *Stream) call(ctx context.Context, req request) (reply, error) {
	for attempt := 0; ; attempt++ {
		r, err := s.callOnce(ctx, req)
		if err == nil || CodeOf(err) == "" {
			return r, err
		}
		wait, ok := retryable(err, true)
		if !ok || attempt+1 >= s.client.attempts {
			return r, err
		}
		if sleep(ctx, s.client.backoff.Delay(attempt, wait)) != nil {
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

// renew gives the server a fresh token before the current one expires, for as long as the session lasts.
func (s *Stream) renew(ctx context.Context, sock *socket, token string) {
	for {
		end, ok := tokenEnd(token)
		if !ok {
			return // not a JWT: the server closes the socket, and the next hello brings a fresh one
		}
		left := time.Until(end)
		if sleep(ctx, max(time.Second, left-min(time.Minute, left/5))) != nil {
			return
		}
		fresh, err := s.client.tokens(ctx)
		if err != nil || fresh == token {
			continue // try again in a second, until the server ends the session
		}
		if _, err := sock.call(ctx, request{Op: "auth", Token: fresh}, s.room); err != nil {
			return
		}
		token = fresh
	}
}

// tokenEnd returns when a JWT expires. The server checks its signature.
func tokenEnd(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e12 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(claims.Exp * 1000)), true
}
