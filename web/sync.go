package web

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/wire"
)

// Sync serves POST /v1/sync.
func (s *Server) Sync(ctx context.Context, r api.SyncRequestObject) (api.SyncResponseObject, error) {
	if r.Body == nil {
		return nil, errNoBody
	}
	req, err := s.syncRequest(r.Body)
	if err != nil {
		return nil, err
	}
	if err := charge(ctx, limit.Sync(len(req.Ack), len(req.After), s.pageMost(req.Limit))); err != nil {
		return nil, err
	}
	if req.Only != nil {
		settle(ctx) // it does not look at all groups
	}
	answer, err := waiting(s, ctx, req.WaitS > 0, func(ctx context.Context, wait bool) (live.SyncAnswer, error) {
		if !wait {
			req.WaitS = 0 // acks may be repeated
		}
		req.OnWait = func() {
			leaveTurn(ctx)
			settle(ctx) // it may wait for long, and look again
		}
		return s.live.Sync(ctx, callerOf(ctx), req)
	})
	return &syncAnswer{answer}, err
}

// waiting makes a call that may wait for something. When the server stops it is ended and made again without waiting, so
// that the client gets what there is and holds nothing up; many calls end one after another. A call that waits is counted among its user's polls, and no longer
// among the calls under way.
func waiting[T any](s *Server, ctx context.Context, waits bool, do func(ctx context.Context, wait bool) (T, error)) (T, error) {
	if s.draining() {
		return do(ctx, false)
	}
	if waits {
		leave, err := enterPoll(ctx)
		if err != nil {
			return *new(T), err
		}
		defer leave()
		s.polls.Add(1)
		defer s.polls.Add(-1)
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.drain, func() { s.endPoll(wait, cancel) })()
	answer, err := do(wait, true)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		answer, err = do(ctx, false)
	}
	return answer, err
}

// endPoll ends a call that waits in a server that stops: at a random moment of the drain, so that not all clients come to
// the other nodes at once.
func (s *Server) endPoll(wait context.Context, end func()) {
	timer := time.NewTimer(rand.N(max(time.Duration(s.spread.Load()), 1)))
	defer timer.Stop()
	select {
	case <-wait.Done():
	case <-timer.C:
		end()
	}
}

func (s *Server) syncRequest(b *api.SyncRequest) (live.SyncRequest, error) {
	req := live.SyncRequest{Limit: limitOf(b.Limit)}
	acks, err := wire.Positions("ack", deref(b.Ack))
	if err != nil {
		return req, err
	}
	req.Ack = make(map[string]chat.Position, len(acks))
	for group, raw := range acks {
		req.Ack[group] = chat.ReadPosition(raw)
	}
	if req.InboxAck, err = wire.Position("inbox_ack", b.InboxAck); err != nil {
		return req, err
	}
	if req.InboxAfter, err = wire.Position("inbox_after", b.InboxAfter); err != nil {
		return req, err
	}
	if req.After, err = wire.Positions("after", deref(b.After)); err != nil {
		return req, err
	}
	if req.Newest, err = wire.Newest(b.Start); err != nil {
		return req, err
	}
	if req.Only, err = wire.Groups("only", b.Only); err != nil {
		return req, err
	}
	switch {
	case deref(b.WaitS) < 0:
		return req, wire.ErrNegative("wait_s")
	case b.Limit != nil && *b.Limit < 1:
		return req, chat.Errorf(chat.CodeInvalid, "limit: want an integer from 1")
	}
	req.WaitS = int(s.waitOf(b.WaitS) / time.Second)
	return req, nil
}

// waitOf is how long a call may wait: more than the maximum is taken as the maximum.
func (s *Server) waitOf(seconds *int64) time.Duration {
	most := s.opt.Limits.WaitMax
	return time.Duration(min(deref(seconds), int64(most/time.Second))) * time.Second
}

// websocket hands the connection over. A server that is about to stop takes no new ones.
func (s *Server) websocket(c echo.Context) error {
	if s.draining() {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "restarting", RetryAfter: time.Second}
	}
	s.opt.Sessions.ServeHTTP(c.Response(), c.Request())
	return nil
}

// longPoll lets the answer be written after the longest wait; the server's own deadline would cut it off.
func (s *Server) longPoll(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		deadline := time.Now().Add(s.opt.Limits.WaitMax + writeTimeout)
		// Not every writer has deadlines (that of a test has none); one without cannot cut the answer off either.
		_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(deadline)
		c.Response().Before(func() { s.endConnection(c) }) // the server may have begun to stop meanwhile
		return next(c)
	}
}
