package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/clock"
)

// Options configure a Chat. The zero value is usable.
type Options struct {
	Store Store        // nil: in memory
	User  string       // who the caller is; empty: whom the store is of, or whom the server takes the token for
	Log   *slog.Logger // of what goes wrong and is tried again; nil: slog.Default
	// MaxBytes is about how many bytes of messages are kept: beyond it the oldest go, of groups that were not opened for
	// longest, and can be loaded again. 0: 50 MiB.
	MaxBytes int64
}

var (
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the chat is closed")
	// ErrOtherUser means that the store is that of one user and the token that of another one.
	ErrOtherUser = errors.New("the store is another user's")
)

// Chat is one user's groups on this device. All of its methods may be called at any time; what needs the server says so.
type Chat struct {
	client *client.Client
	stream *client.Stream
	store  Store
	log    *slog.Logger
	most   int64 // bytes of messages
	clock  clock.Clock
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	connection struct { // as the stream last said
		sync.Mutex
		status client.Status
		news   chan struct{}
	}
	list chan struct{} // there are groups to ask the server for

	mu sync.Mutex
	state
	over     bool
	err      error // why it is over
	status   client.Status
	online   context.Context // ends when the server is not reached any more; nil: it is not
	offline  context.CancelFunc
	verified bool // the server knows the caller as the user whose store it is
	stale    map[string]bool
	listAll  bool
	// memberships counts how often a group was entered or left.
	memberships int
	sending     map[string]string // key of what is on its way, by group
	reading     map[string]bool
	tries       map[string]int // of what is in the outbox, by key
	waits       map[string]*Sending
	timelines   map[*Timeline]bool
	watchers    map[chan struct{}]bool
}

// Open begins with what the store has, and goes on with the server until ctx ends or Close is called. It waits for the store
// and not for the server.
func Open(ctx context.Context, c *client.Client, opts Options) (*Chat, error) {
	if opts.Store == nil {
		opts.Store = &MemoryStore{}
	}
	held, err := load(ctx, opts.Store, opts.User)
	if err != nil {
		return nil, err
	}
	chat := &Chat{
		client: c, store: opts.Store, most: cmp.Or(opts.MaxBytes, 50<<20), log: cmp.Or(opts.Log, slog.Default()), clock: clock.From(ctx), state: held, list: make(chan struct{}, 1),
		stale: map[string]bool{}, sending: map[string]string{}, reading: map[string]bool{}, tries: map[string]int{},
		waits: map[string]*Sending{}, timelines: map[*Timeline]bool{}, watchers: map[chan struct{}]bool{},
	}
	chat.connection.news = make(chan struct{}, 1)
	chat.ctx, chat.cancel = context.WithCancel(ctx)
	chat.stream, err = c.Stream(chat.ctx, client.StreamOptions{
		Cursors: cursors{chat}, Start: client.StartNewest, Ack: true, Fallback: true,
		Changed: func(s client.Status) {
			chat.connection.Lock()
			defer chat.connection.Unlock()
			chat.connection.status = s
			signal(chat.connection.news)
		},
	})
	if err != nil {
		chat.cancel()
		return nil, err
	}
	chat.tasks.Go(chat.connect)
	chat.tasks.Go(chat.run)
	return chat, nil
}

// cursors are the positions that the messages were stored with.
type cursors struct{ *Chat }

func (c cursors) Load(context.Context) (map[string]client.Position, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := map[string]client.Position{}
	for group, r := range c.groups {
		if r.Log.placed() {
			at[group] = r.Log.position()
		}
	}
	return at, nil
}

func (c cursors) Save(context.Context, map[string]client.Position) error { return nil }

// run takes what the server says.
func (c *Chat) run() {
	defer c.stream.Close()
	var gap *client.Gap // reported, and waits for the messages that follow it
	for e, err := range c.stream.Events(c.ctx) {
		if err != nil {
			c.end(err)
			return
		}
		err = c.commit(c.ctx, func(d *draft) error {
			if m, ok := e.(client.Messages); gap != nil && !(ok && m.Group == gap.Group) {
				if err := d.vanished(*gap); err != nil {
					return err
				}
				gap = nil
			}
			switch e := e.(type) {
			case client.Gap:
				gap = &e
			case client.Messages:
				was := gap
				gap = nil
				hole, err := d.received(e, was)
				if hole {
					return fmt.Errorf("group %s: messages before %d are missing", e.Group, e.From)
				}
				return err
			case client.Connected:
				return d.connected(e)
			case client.CursorMoved:
				d.moved(e)
			case client.Joined:
				d.memberships++
				d.stale = append(d.stale, e.Group)
			case client.Left:
				d.memberships++
				d.left(e.Group)
			}
			return nil
		})
		switch {
		case errors.Is(err, ErrOtherUser):
			c.end(err)
			return
		case err != nil && c.ctx.Err() == nil:
			c.log.Warn("messages are asked for again", "error", err)
			gap = nil
			c.stream.Restart()
		}
	}
}

// connected begins a session of the websocket.
func (d *draft) connected(e client.Connected) error {
	if err := d.isUser(e.User); err != nil {
		return err
	}
	d.listAll = true
	signal(d.list)
	d.welcomed(e)
	return nil
}

// isUser notes who the server says that the caller is.
func (d *draft) isUser(user string) error {
	if d.me != "" && d.me != user {
		return fmt.Errorf("%w: it is that of %s, and the token that of %s", ErrOtherUser, d.me, user)
	}
	if d.me == "" {
		d.changes = append(d.changes, put(keyMeta, meta{version, user}))
	}
	d.apply = append(d.apply, func() { d.me, d.verified = user, true })
	return nil
}

// connect follows how the stream is connected.
func (c *Chat) connect() {
	for {
		c.connection.Lock()
		now := c.connection.status
		c.connection.Unlock()
		c.mu.Lock()
		was := c.status.By
		c.status = now
		switch {
		case now.By == "" && c.online != nil:
			c.offline()
			c.online, c.offline = nil, nil
			clear(c.sending)
			clear(c.reading)
		case now.By != "" && c.online == nil:
			c.online, c.offline = context.WithCancel(c.ctx)
			online := c.online
			c.tasks.Go(func() { c.keepListed(online) })
		}
		if now.By == client.ByPoll && was != now.By {
			c.listAll = true
			signal(c.list)
		}
		c.changedLocked()
		c.pumpLocked()
		c.mu.Unlock()
		if clock.Wait(c.ctx, c.connection.news) != nil {
			return
		}
	}
}

// pumpLocked has everything sent that can be.
func (c *Chat) pumpLocked() {
	if c.online == nil || !c.verified || c.over {
		return
	}
	c.pumpOutboxLocked()
	c.pumpReadsLocked()
}

// changedLocked says that something is different.
func (c *Chat) changedLocked() {
	for w := range c.watchers {
		signal(w)
	}
	for t := range c.timelines {
		signal(t.changed)
	}
}

// Watch returns a channel that gets a token after each change of what State and Groups return, until stop is called.
func (c *Chat) Watch() (changed <-chan struct{}, stop func()) {
	w := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers[w] = true
	return w, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, w)
	}
}

// The phases of a Chat.
const (
	PhaseConnecting = "connecting"
	PhaseWaiting    = "waiting" // for the next attempt
	PhaseLive       = "live"
	PhaseSignedOut  = "signed-out" // the server, or the TokenSource, refuses the user: it is over
	PhaseClosed     = "closed"
)

// State is how a Chat is with the server.
type State struct {
	User  string // empty: not known yet
	Phase string
	By    string    // client.ByWebsocket or client.ByPoll, in PhaseLive
	Retry time.Time // in PhaseWaiting
	Err   error     // why it is over
}

// State returns how the chat is with the server.
func (c *Chat) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{User: c.me, Phase: PhaseConnecting, By: c.status.By, Retry: c.status.Retry, Err: c.err}
	switch {
	case c.over && (errors.Is(c.err, client.ErrSignedOut) || client.CodeOf(c.err) == client.CodeForbidden || client.CodeOf(c.err) == client.CodeUnauthenticated):
		s.Phase = PhaseSignedOut
	case c.over:
		s.Phase = PhaseClosed
	case s.By != "":
		s.Phase = PhaseLive
	case !s.Retry.IsZero():
		s.Phase = PhaseWaiting
	}
	return s
}

// Group is a group as the person sees it, with how much of theirs waits to be sent.
type Group struct {
	client.GroupState
	Queued, Failed int
}

// Groups returns the person's groups, latest activity first.
func (c *Chat) Groups() []Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Group
	for _, r := range c.groups {
		if r.Listed {
			all = append(all, c.groupLocked(r))
		}
	}
	slices.SortFunc(all, func(a, b Group) int { return cmp.Or(b.active().Compare(a.active()), cmp.Compare(a.ID, b.ID)) })
	return all
}

// Group returns one group; false: the person is not in it, as far as is known.
func (c *Chat) Group(id string) (Group, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.groups[id]
	if !ok || !r.Listed {
		return Group{}, false
	}
	return c.groupLocked(r), true
}

func (g Group) active() time.Time {
	if g.LastMessage != nil {
		return g.LastMessage.SentAt
	}
	return g.CreatedAt
}

func (c *Chat) groupLocked(r record) Group {
	g := Group{GroupState: r.Group}
	if g.LastMessage != nil {
		last := c.living(*g.LastMessage)
		g.LastMessage = &last
	}
	for _, t := range c.outbox {
		switch {
		case t.Group != g.ID:
		case t.Failed != nil:
			g.Failed++
		case t.ID == 0:
			g.Queued++
		}
	}
	return g
}

// Hurry tries at once if the chat waits to connect: the network is back, or a person wants it.
func (c *Chat) Hurry() { c.stream.Hurry() }

// Close ends it, and waits until everything has ended that it started. What is in the outbox is sent the next time.
func (c *Chat) Close() {
	c.end(ErrClosed)
	c.tasks.Wait()
}

// end ends it for a reason.
func (c *Chat) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.ctx.Err() != nil || errors.Is(why, client.ErrClosed) {
		why = ErrClosed
	}
	c.over, c.err = true, why
	c.cancel()
	for key, w := range c.waits {
		delete(c.waits, key)
		w.finish(client.Message{}, why)
	}
	for t := range c.timelines {
		t.closeLocked()
	}
	c.changedLocked()
}

func (c *Chat) endedLocked() error { return c.err }

// transient reports whether an error may pass, and how long the server asks to wait.
func transient(err error) (time.Duration, bool) {
	var e *client.Error
	if !errors.As(err, &e) {
		return 0, true
	}
	switch e.Code {
	case client.CodeRateLimited, client.CodeUnavailable, client.CodeInternal, client.CodeUnauthenticated, "":
		return e.RetryAfter, true
	}
	return e.RetryAfter, e.Status >= 500 && e.Status < 600
}
