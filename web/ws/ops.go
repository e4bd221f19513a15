package ws

import (
	"bytes"
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/internal/tracing"
	"github.com/chatd/chatd/web/admission"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/limit"
	"github.com/chatd/chatd/web/problem"
	"github.com/chatd/chatd/web/wire"
)

// frame handles one frame of the client and returns the answer; nil: there is none.
func (s *session) frame(frame []byte) (answer []byte) {
	c, object, err := decodeCommand(frame)
	if !object {
		s.end(ending{code: closeBadFrame, reason: "want a JSON object"})
		return nil
	}
	if s.follower == nil && c.op != "hello" && s.identity() == nil {
		s.end(ending{code: closeUnauthenticated, reason: "the first command must be hello"})
		return nil
	}
	if err != nil {
		return s.refusal(c.ref, err)
	}
	args, sends := c.args.(*sendArgs)
	if !sends || s.follower == nil || !s.aside.has(args.Group) && !s.all.service.Asks(args.Group) {
		return s.answer(c.ref, s.all.opt.CallWithin, func(ctx context.Context) (func(*bytes.Buffer), error) { return s.do(ctx, c) })
	}
	if err := sendAside(s, c, args); err != nil {
		return s.refusal(c.ref, err)
	}
	return nil
}

// answer runs a command and makes the answer to it; nil: there is none.
func (s *session) answer(ref string, within time.Duration, run func(context.Context) (func(*bytes.Buffer), error)) []byte {
	// Not the session's context: a command that has begun is finished and answered even if the session ends meanwhile.
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	more, err := run(ctx)
	if r, ok := chat.IsInReview(err); ok {
		err, more = nil, func(buf *bytes.Buffer) {
			wire.Plain(buf, `,"state":`, "review")
			wire.Plain(buf, `,"id":`, r.ID)
		}
	}
	switch {
	case err != nil:
		return s.refusal(ref, err)
	case ref != "":
		return okFrame(ref, more)
	}
	return nil
}

func (s *session) identity() *auth.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.who
}

// refusal is the answer to a command that failed. Failures of the server itself are logged, and the client gets no
// details.
func (s *session) refusal(ref string, err error) []byte {
	e := problem.Public(err)
	switch {
	case errors.Is(err, admission.ErrOverload): // would be logged for every command
	case e.Code == chat.CodeInternal:
		s.all.opt.Log.Error("command failed", "error", err)
	case e.Code == chat.CodeUnavailable:
		s.all.opt.Log.Warn("command failed", "error", err)
	}
	return errorFrame(ref, e)
}

// do runs a command. more writes the fields of its answer besides ok.
func (s *session) do(ctx context.Context, c command) (more func(*bytes.Buffer), err error) {
	switch args := c.args.(type) {
	case *helloArgs:
		return nil, s.sayHello(ctx, args)
	case *authArgs:
		return nil, s.renew(ctx, args)
	}
	if s.follower == nil {
		return nil, chat.Errorf(chat.CodeInvalid, "the first command must be hello")
	}
	who := s.identity()
	cost := limit.CostOf(c.op, 0)
	if err := s.spend(who, cost); err != nil {
		return nil, err
	}
	return s.work(ctx, who, cost, c)
}

// work runs a command that is paid for.
func (s *session) work(ctx context.Context, who *auth.Identity, cost limit.Cost, c command) (more func(*bytes.Buffer), err error) {
	by := s.callerOf(who)
	s.busy.Add(1)
	defer func() {
		s.acted.Store(time.Now().UnixNano())
		s.busy.Add(-1)
	}()
	slot, err := s.enter(ctx, by, cost)
	if err != nil {
		return nil, err
	}
	defer slot.Leave()
	more, err = s.perform(ctx, who, by, c, &slot)
	var refused *chat.Error
	if by.Reach != nil && errors.As(err, &refused) && refused == chat.ErrReach {
		return nil, chat.Errorf(chat.CodeForbidden, "groups: the key with the scope %s may do this only in its groups", scopeOf(c))
	}
	return more, err
}

// scopeOf is the scope that a key needs for a command.
func scopeOf(c command) keys.Scope {
	switch c.args.(type) {
	case *sendArgs, *typingArgs, *streamArgs:
		return keys.Send
	}
	return keys.Read
}

// perform runs a command whose turn has come.
func (s *session) perform(ctx context.Context, who *auth.Identity, by chat.Caller, c command, slot *admission.Slot) (more func(*bytes.Buffer), err error) {
	if err := may(who, scopeOf(c)); err != nil {
		return nil, err
	}
	switch args := c.args.(type) {
	case *sendArgs:
		if s.all.service.Asks(args.Group) {
			ctx = chat.WithRelease(ctx, slot.Leave)
		}
		if s.all.opt.Durability == chat.DurabilityDisk || s.all.opt.Durability == chat.DurabilityReplica {
			slot.Leave() // it waits for a disk or a replica, not for this node
		}
		ctx, span := s.all.opt.Traces.Command(ctx, c.op)
		more, err = s.send(ctx, by, args)
		tracing.Done(span, err)
		return more, err
	case *markArgs:
		return s.mark(ctx, by, c.op, args)
	case *inboxMarkArgs:
		return s.ackInbox(ctx, by, args)
	case *streamArgs:
		if args.Done && s.all.service.Asks(args.Group) {
			ctx = chat.WithRelease(ctx, slot.Leave)
		}
		return writePiece(ctx, s, by, args)
	case *typingArgs:
		return nil, s.all.readers.Typing(ctx, by, args.Group)
	case *focusArgs:
		return nil, focusOn(ctx, s, by, args)
	}
	return nil, chat.Errorf(chat.CodeInvalid, "unknown op")
}

// spend charges a command to its user, and to the key that acts for the user.
func (s *session) spend(who *auth.Identity, cost limit.Cost) error {
	_, err := s.all.opt.Limits.Spend(who.Caller(), cost)
	if err == nil {
		_, err = s.all.opt.Limits.SpendKey(who.Key, cost)
	}
	if err == nil {
		return nil
	}
	if s.refusals == nil {
		s.refusals = rate.NewLimiter(refusalsPerSecond, refusalsBurst)
	}
	if !s.refusals.Allow() {
		s.end(ending{code: closeTooFast, reason: "too many commands that a rate limit refused"})
	}
	return err
}

// enter waits for a command's turn among all requests that the node works on.
func (s *session) enter(ctx context.Context, by chat.Caller, cost limit.Cost) (admission.Slot, error) {
	slot, ok := s.all.opt.Line.Enter(ctx, admission.Key{User: by.User}, s.all.opt.Limits.Weigh(by.User, cost))
	if !ok {
		return slot, admission.Refusal()
	}
	return slot, nil
}

// callerOf returns who as the domain's caller. It names the session, which is not notified of what it does itself.
func (s *session) callerOf(who *auth.Identity) chat.Caller {
	by := who.Caller()
	by.Session = s.id
	return by
}

// welcomeGroupBytes is about what a group takes in a welcome.
const welcomeGroupBytes = 150

// sayHello starts the session. Wrong positions, and a store that cannot be reached, are answered with an error, and the
// client may say hello again; a refused token ends the session.
func (s *session) sayHello(ctx context.Context, args *helloArgs) error {
	if s.follower != nil {
		return chat.Errorf(chat.CodeInvalid, "hello was already sent")
	}
	who := s.identity()
	if args.Token != nil {
		id, err := s.verify(ctx, *args.Token, args.As)
		why, closes := refused(err)
		switch {
		case err == nil && id.User == "":
			s.end(ending{code: closeUnauthenticated, reason: "as: missing; the key acts for nobody"})
			return nil
		case err == nil && who != nil && who.User != id.User:
			s.end(ending{code: closeUnauthenticated, reason: "two tokens of different users"})
			return nil
		case err == nil:
			who = &id
		case closes:
			s.end(why)
			return nil
		case chat.CodeOf(err) == chat.CodeForbidden: // another hello with the same token would be refused too
			s.end(ending{code: closeForbidden, reason: problem.Public(err).Message})
			return nil
		default:
			return err
		}
	}
	if args.Token == nil && args.As != nil {
		return chat.Errorf(chat.CodeInvalid, "as: only with the token of a key")
	}
	if who == nil {
		s.end(ending{code: closeUnauthenticated, reason: "no token: want one in the hello or in the Authorization header"})
		return nil
	}
	if who.User == "" {
		s.end(ending{code: closeUnauthenticated, reason: "Chatd-As: missing; the key acts for nobody"})
		return nil
	}
	if err := may(who, keys.Read); err != nil {
		return err
	}
	scope, err := args.scope()
	if err != nil {
		return err
	}
	cost := limit.CostOf("hello", 0)
	paid := limit.Cost{}
	if scope.Only == nil {
		paid = s.all.opt.Limits.Index(who.Caller(), cost)
	}
	if err := s.spend(who, limit.Cost{User: cost.User + paid.User}); err != nil {
		return err
	}
	meter := &chat.Meter{}
	ctx = chat.WithMeter(ctx, meter)
	defer func() { s.all.opt.Limits.Settle(who.Caller(), paid, meter) }()
	slot, err := s.enter(ctx, who.Caller(), cost)
	if err != nil {
		return err
	}
	defer slot.Leave()
	room := s.all.opt.Unsent.Answer(who.User)
	if scope.Only == nil {
		if err := room.Reserve(ctx, welcomeGroupBytes*int64(s.all.opt.Limits.GroupsOf(who.User)), slot.Leave); err != nil {
			return err
		}
	}
	if !s.all.greet(s, who.User) {
		room.Free()
		s.end(s.all.tooMany())
		return nil
	}
	s.all.service.Know(who.User)
	f, err := s.all.readers.Follow(ctx, s.callerOf(who), scope)
	if err != nil {
		room.Free()
		s.all.ungreet(nil, who.User)
		return err
	}
	s.room = room
	if s.handshake.who == nil {
		s.all.opt.Limits.RefundAddress(s.from, handshakeCost)
	}
	s.mu.Lock()
	s.who, s.hello = who, true
	s.mu.Unlock()
	s.expire(who)
	s.follower = f
	s.started.Store(f)
	f.Notify(s.wake)
	s.recheck() // keys and users may have changed since the hello was verified
	return nil
}

// verify finds out who presents a token, or a key that acts for a user.
func (s *session) verify(ctx context.Context, token string, as *string) (auth.Identity, error) {
	c := auth.Credentials{Token: token, From: s.from}
	if as != nil {
		c.As = *as
	}
	return s.all.verify(ctx, c)
}

// expire has the session end when who does.
func (s *session) expire(who *auth.Identity) {
	if who.Expires.IsZero() {
		s.expires.Store(0)
		return
	}
	s.expires.Store(who.Expires.UnixMilli())
}

// recheck ends the session if its caller would not be let in again. Otherwise a key may from now on do what it is allowed by now.
func (s *session) recheck() {
	who := s.identity()
	if who == nil || s.all.opt.Again == nil {
		return
	}
	now, err := s.all.opt.Again(*who, s.from)
	if err == nil && who.User != "" {
		err = may(&now, keys.Read)
	}
	if err != nil {
		why, ok := refused(err)
		if !ok {
			why = ending{code: closeUnauthenticated, reason: problem.Public(err).Message}
		}
		s.end(why)
		return
	}
	if who.Key == nil {
		return
	}
	s.mu.Lock()
	same := s.who == who // otherwise the client has presented another one meanwhile
	if same {
		s.who = &now
	}
	s.mu.Unlock()
	if same {
		s.expire(&now)
		s.wake() // it may end earlier
	}
}

// may refuses a key without a scope.
func may(who *auth.Identity, scope keys.Scope) error {
	if who.Key != nil && !who.Key.Has(scope) {
		return chat.Errorf(chat.CodeForbidden, "the key lacks the scope %s", scope)
	}
	return nil
}

// renew replaces the token by a new one of the same user.
func (s *session) renew(ctx context.Context, args *authArgs) error {
	if s.follower == nil {
		return chat.Errorf(chat.CodeInvalid, "the first command must be hello")
	}
	if args.Token == nil {
		return chat.Errorf(chat.CodeInvalid, "token: missing")
	}
	user := s.identity().User
	var as *string
	if keys.Is(*args.Token) {
		as = &user
	}
	id, err := s.verify(ctx, *args.Token, as)
	if err != nil {
		return err
	}
	if id.User != user {
		return chat.Errorf(chat.CodeForbidden, "the token belongs to another user")
	}
	if err := may(&id, keys.Read); err != nil {
		return err
	}
	if !id.SameReach(*s.identity()) {
		return chat.Errorf(chat.CodeForbidden, "groups: the session was begun with a token or key for other groups")
	}
	s.mu.Lock()
	s.who = &id
	s.mu.Unlock()
	s.expire(&id)
	s.recheck()
	s.wake()
	return nil
}

func (s *session) send(ctx context.Context, by chat.Caller, args *sendArgs) (func(*bytes.Buffer), error) {
	asked, err := args.Asked()
	if err == nil && asked != nil {
		err = s.all.quorums.Check(*asked)
	}
	if err != nil {
		return nil, err
	}
	if args.DeliverAt != nil {
		return s.sendLater(ctx, by, args)
	}
	sent, err := s.all.service.Send(ctx, by, args.Group, args.Message(), s.all.opt.Durability)
	if err != nil {
		return nil, err
	}
	s.all.opt.Meter.Messages.Add(1)
	if asked != nil {
		if err := s.all.quorums.Ask(ctx, by, args.Group, sent, *asked); err != nil {
			return nil, err
		}
	}
	return func(buf *bytes.Buffer) {
		wire.Plain(buf, `,"group":`, args.Group)
		wire.Int(buf, `,"id":`, sent.ID)
		wire.Plain(buf, `,"sent_at":`, sent.SentAt.UTC().Format(chat.TimeLayout))
		wire.Bool(buf, `,"duplicate":`, sent.Duplicate)
	}, nil
}

// sendLater schedules a send; the answer is the schedule.
func (s *session) sendLater(ctx context.Context, by chat.Caller, args *sendArgs) (func(*bytes.Buffer), error) {
	at, err := wire.Instant("deliver_at", args.DeliverAt)
	if err != nil {
		return nil, err
	}
	schedule, duplicate, err := s.all.schedules.SendLater(ctx, by, args.Group, args.Message(), *at)
	if err != nil {
		return nil, err
	}
	return func(buf *bytes.Buffer) {
		wire.Plain(buf, `,"group":`, args.Group)
		wire.JSON(buf, `,"schedule":`, schedule)
		wire.Bool(buf, `,"duplicate":`, duplicate)
	}, nil
}

func writePiece(ctx context.Context, s *session, by chat.Caller, args *streamArgs) (func(*bytes.Buffer), error) {
	state, err := s.all.streams.Write(ctx, by, args.Group, args.ID, args.Draft)
	if err != nil {
		return nil, err
	}
	return func(buf *bytes.Buffer) {
		wire.Plain(buf, `,"group":`, args.Group)
		wire.Int(buf, `,"id":`, args.ID)
		wire.Int(buf, `,"length":`, state.Length)
		if state.Cancelled {
			wire.Bool(buf, `,"cancelled":`, true)
		}
	}, nil
}

func (s *session) mark(ctx context.Context, by chat.Caller, op string, args *markArgs) (func(*bytes.Buffer), error) {
	at, err := wire.Mark("id", args.ID, args.Cursor)
	if err != nil {
		return nil, err
	}
	move := s.all.service.Ack
	if op == "read" {
		move = s.all.service.Read
	}
	cursors, err := move(ctx, by, args.Group, at)
	if err != nil {
		return nil, err
	}
	return func(buf *bytes.Buffer) {
		wire.Int(buf, `,"seen":`, cursors.Seen)
		wire.Int(buf, `,"read":`, cursors.Read)
		wire.Int(buf, `,"unread":`, cursors.Unread)
	}, nil
}

func (s *session) ackInbox(ctx context.Context, by chat.Caller, args *inboxMarkArgs) (func(*bytes.Buffer), error) {
	at, err := wire.Mark("seq", args.Seq, args.Cursor)
	if err != nil {
		return nil, err
	}
	acked, err := s.all.service.AckInbox(ctx, by, at)
	return func(buf *bytes.Buffer) { wire.Int(buf, `,"acked":`, acked) }, err
}
