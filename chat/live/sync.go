package live

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/each"
)

// nextPollIdle is how long a client that polls without waiting should pause when there was nothing new.
const nextPollIdle = 5

// SyncRequest is one call for everything.
type SyncRequest struct {
	Ack        map[string]chat.Position
	InboxAck   chat.Position
	After      map[string]string // these four as in Scope
	InboxAfter chat.Position
	Newest     bool
	Only       []string
	Limit      int
	WaitS      int
	Typing     bool   // a call that waits is answered, too, when somebody types
	OnWait     func() // called when there is nothing to answer yet, so that the call begins to wait; may be nil
}

// SyncAnswer holds what is new. NextPollS is how long a client should wait before it asks again.
type SyncAnswer struct {
	Groups    []chat.Batch
	Inbox     *chat.InboxBatch // nil: nothing new
	Left      []string
	Errors    []GroupError
	Typing    []TypingEvent // who has typed while the call waited, if it asks
	NextPollS int
}

// GroupError is what could not be done about one group: an ack that failed, a position that cannot be read, a group of
// Only that the caller is not in. Nothing is served of the latter two.
type GroupError struct {
	Group string    `json:"group"`
	Inbox bool      `json:"inbox,omitempty"` // it is about the inbox; Group is empty then
	Code  chat.Code `json:"code"`
}

// Sync acks, then answers with everything that is new to the caller. If there is nothing, or only errors, it waits up to
// WaitS seconds for the first new thing. Serving moves no cursor.
func (s *Service) Sync(ctx context.Context, by chat.Caller, req SyncRequest) (SyncAnswer, error) {
	c, err := s.newSync(by, req)
	if err != nil {
		return SyncAnswer{}, err
	}
	if err := c.ack(ctx, req); err != nil {
		return SyncAnswer{}, chat.AsError(err)
	}
	wait := min(time.Duration(req.WaitS)*time.Second, s.limits.WaitMax)
	if wait > 0 {
		return c.wait(ctx, wait)
	}
	answer, _, err := c.collect(ctx)
	if err == nil && !answer.any() {
		answer.NextPollS = nextPollIdle
	}
	return answer, err
}

// any reports whether there is anything new in an answer. Errors are not: they come again as long as the client repeats
// what they are about.
func (a SyncAnswer) any() bool { return len(a.Groups) > 0 || a.Inbox != nil || len(a.Left) > 0 }

// syncCall is one call of Sync, whose goroutine owns it.
type syncCall struct {
	s      *Service
	by     chat.Caller
	onWait func()
	hears  bool // who types
	limit  int
	scope
	named  map[string]bool // groups of ack and after: those that the caller is not in are reported as left
	errors []GroupError

	resolved bool
	index    []chat.UserGroup // as it was read last, with what looks have found since
	unlisted []string         // named, and the caller is in them although the index does not list them
	foreign  map[string]bool  // the caller is not in them: named, of only, or lost while the call waited

	longest  time.Duration    // how long a call waits
	over     *time.Timer      // when it is answered with what there is
	hold     <-chan time.Time // until then it is not answered for typing alone; nil: that time is over
	standing []GroupError     // errors of its first look; nil before that

	before []string        // sorted: what was looked at last
	lagged map[string]bool // of these, those that the caller was not in: the index lags
}

// newSync checks the whole request before any part of it takes effect.
func (s *Service) newSync(by chat.Caller, req SyncRequest) (*syncCall, error) {
	limit, err := s.limits.Page(req.Limit)
	if err != nil {
		return nil, err
	}
	most := s.limits.UserGroupsMax
	switch {
	case req.WaitS < 0:
		return nil, chat.Invalid("wait_s: negative")
	case len(req.Ack) > most:
		return nil, chat.Errorf(chat.CodeOutOfRange, "ack: at most %d groups", most)
	}
	c := &syncCall{s: s, by: by, onWait: req.OnWait, hears: req.Typing, limit: limit, named: map[string]bool{}, lagged: map[string]bool{}}
	c.scope, c.errors, err = s.newScope(by, Scope{After: req.After, InboxAfter: req.InboxAfter, Newest: req.Newest, Only: req.Only})
	if err != nil {
		return nil, err
	}
	var beyond []string
	c.only, beyond = reached(by, c.only)
	for _, group := range beyond {
		c.isForeign(group)
	}
	for group := range req.After {
		c.named[group] = true
	}
	for group := range req.Ack {
		if chat.ValidGroupID(group) {
			c.named[group] = true
		}
	}
	return c, chat.CheckCaller(by)
}

// ack moves the cursors that the request names. An ack that fails is noted and does not affect the others; only a store that
// does not answer ends the call.
func (c *syncCall) ack(ctx context.Context, req SyncRequest) error {
	var mu sync.Mutex
	groups := slices.Sorted(maps.Keys(req.Ack))
	if len(groups) > unlistedMax { // a few failing acks cost less than reading the index first
		index, err := c.s.store.UserGroups(ctx, c.by.User)
		if err != nil {
			return err
		}
		if err := c.resolve(ctx, c.by.Reached(index)); err != nil {
			return err
		}
		groups = slices.DeleteFunc(groups, func(g string) bool { return c.foreign[g] })
	}
	err := each.Of(ctx, groups, func(ctx context.Context, group string) error {
		_, err := c.s.core.Ack(ctx, c.by, group, req.Ack[group])
		if err == nil {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrForbidden) {
			if c.only != nil {
				c.isForeign(group)
			}
			return nil // otherwise the look at the group will find that the caller is not in it; it is reported as left
		}
		return c.failed(group, err)
	})
	if err != nil {
		return err
	}
	if req.InboxAck.Set {
		if _, err := c.s.core.AckInbox(ctx, c.by, req.InboxAck); err != nil {
			// No group: the error is about the inbox.
			if err := c.failed("", err); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(c.errors, func(a, b GroupError) int { return cmp.Compare(a.Group, b.Group) })
	c.errors = slices.Compact(c.errors)
	return nil
}

// failed notes a failed ack. It returns errors that would hit every other ack as well.
func (c *syncCall) failed(group string, err error) error {
	switch code := chat.CodeOf(err); code {
	case chat.CodeUnavailable, chat.CodeInternal:
		return err
	default:
		c.errors = append(c.errors, GroupError{Group: group, Inbox: group == "", Code: code})
		return nil
	}
}

// retryAfter is how long a call waits at most if a group could not be read, so that the group is served soon after it can be.
const retryAfter = nextPollIdle * time.Second

// wait answers with the first new thing, or with nothing when the time is up or the client is gone. It starts to watch
// before it pulls, so nothing that arrives between the pull and the wait is missed.
func (c *syncCall) wait(ctx context.Context, wait time.Duration) (SyncAnswer, error) {
	c.longest, c.over = wait, time.NewTimer(wait)
	defer c.over.Stop()
	if c.hears {
		c.hold = time.After(typingEvery)
	}
	var groups []string
	if c.only != nil { // the client chose them: nothing listens to a group before it is known that the caller is in it
		answer, mine, err := c.collect(ctx)
		if err != nil || c.answers(answer) {
			return answer, err
		}
		groups = mine
	} else {
		index, err := c.s.store.UserGroups(ctx, c.by.User)
		if err != nil {
			return SyncAnswer{}, chat.AsError(err)
		}
		index = c.by.Reached(index)
		if err := c.resolve(ctx, index); err != nil {
			return SyncAnswer{}, chat.AsError(err)
		}
		groups = c.groups(index)
	}
	for {
		answer, now, again, err := c.watchOnce(ctx, groups)
		if err != nil || !again {
			return answer, err
		}
		groups = now
	}
}

// answers reports whether a is a reason to answer a client that waits now: something new, or an error that was not there
// when the call first looked.
func (c *syncCall) answers(a SyncAnswer) bool {
	if c.standing == nil {
		c.standing = append([]GroupError{}, a.Errors...)
		if slices.ContainsFunc(a.Errors, func(e GroupError) bool { return e.Code == chat.CodeUnavailable || e.Code == chat.CodeInternal }) {
			c.over.Reset(min(c.longest, retryAfter))
		}
	}
	return a.any() || slices.ContainsFunc(a.Errors, func(e GroupError) bool { return !slices.Contains(c.standing, e) })
}

// watchOnce watches groups until there is something to answer or the time is up. again means that the caller is in other
// groups by now, so those must be watched. Once it has looked at everything, a signal of a group has it look at that
// group alone; one of the inbox or of membership, or a loss of signals, has it look at everything again. So does any
// signal if there are errors, because the answer has to name them.
func (c *syncCall) watchOnce(ctx context.Context, groups []string) (a SyncAnswer, now []string, again bool, err error) {
	w, err := c.s.hub.watchWith(ctx, c.pending(groups), groups)
	if err != nil {
		return SyncAnswer{}, nil, false, chat.AsError(err)
	}
	defer w.Close()
	var grown []string // empty: anything may be new
	for {
		if len(grown) > 0 {
			a, err = c.collectGrown(ctx, w, grown, now)
		} else {
			a, now, err = c.collect(ctx)
		}
		if err != nil || c.answers(a) {
			c.addTyping(w, now, &a)
			return a, now, false, err
		}
		if !subset(now, groups) {
			return a, now, true, nil
		}
		if c.onWait != nil {
			c.onWait()
		}
		if !c.grows(ctx, w, now, &a) {
			return a, now, false, nil
		}
		if grown = w.grown(now); len(a.Errors) > 0 {
			grown = nil
		}
	}
}

// subset reports whether every one of some is in all; both are sorted.
func subset(some, all []string) bool {
	for _, g := range some {
		if _, in := slices.BinarySearch(all, g); !in {
			return false
		}
	}
	return true
}

// resolve decides, once per call, which of the groups that the request names but the index does not list the caller is in.
func (c *syncCall) resolve(ctx context.Context, index []chat.UserGroup) error {
	if c.resolved {
		return nil
	}
	mine, foreign, err := c.s.unlisted(ctx, c.by, without(c.named, index))
	if err != nil {
		return err
	}
	c.resolved, c.unlisted = true, mine
	for _, g := range foreign {
		c.isForeign(g)
	}
	return nil
}

func (c *syncCall) isForeign(group string) {
	if c.foreign == nil {
		c.foreign = map[string]bool{}
	}
	c.foreign[group] = true
}

// wasIn reports whether the caller was in a group when this call looked at it before.
func (c *syncCall) wasIn(group string) bool {
	_, looked := slices.BinarySearch(c.before, group)
	return looked && !c.lagged[group]
}

// lose notes the groups that the caller was in when this call last looked, but that are not among now, its present groups: the
// caller left, or they vanished because the store was emptied.
func (c *syncCall) lose(ctx context.Context, now []string) error {
	var missing []string
	for _, g := range c.before {
		if _, listed := slices.BinarySearch(now, g); !listed && c.wasIn(g) {
			missing = append(missing, g)
		}
	}
	_, foreign, err := c.s.unlisted(ctx, c.by, missing)
	for _, g := range foreign {
		c.isForeign(g)
	}
	return err
}

// groups lists the groups to read, sorted: those of the index, and those that the caller is in although it lacks them.
func (c *syncCall) groups(index []chat.UserGroup) []string {
	groups := make([]string, 0, len(index)+len(c.unlisted))
	for _, g := range index {
		groups = append(groups, g.Group)
	}
	groups = append(groups, c.unlisted...)
	groups = slices.DeleteFunc(groups, func(g string) bool { return c.refused[g] })
	slices.Sort(groups)
	return slices.Compact(groups)
}

// collect reads all that is new in two round trips: the caller's index and inbox with a look at every group, then a page of
// those where there is anything new. Which groups to look at is what the index was last time, so there is one more for those
// that came since, and one if the request names groups that the index does not list. Of users in many groups the node remembers
// what it has found: see memory.
func (c *syncCall) collect(ctx context.Context) (SyncAnswer, []string, error) {
	if c.only != nil {
		return c.collectOnly(ctx)
	}
	arrivals, looks, err := c.arrive(ctx)
	if err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	chat.LookedAll(ctx, len(arrivals.Groups))
	index, inbox := c.by.Reached(arrivals.Groups), arrivals.Inbox
	if err := c.resolve(ctx, index); err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	c.index = index
	groups := c.groups(index)
	if err := c.lose(ctx, groups); err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	logs, err := c.logs(ctx, groups, looks, false)
	if err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	c.before = groups
	c.expect(groups)
	return c.answer(groups, logs, inbox), groups, nil
}

// expect notes what the user's next sync looks at first.
func (c *syncCall) expect(groups []string) {
	if c.reach != nil || len(groups) > expectedGroupsMax {
		return
	}
	if expected, _ := c.s.indexes.Get(c.by.User); !slices.Equal(groups, expected) {
		c.s.indexes.Put(c.by.User, groups)
	}
}

// collectOnly is collect where the client names the groups: the index is not read.
func (c *syncCall) collectOnly(ctx context.Context) (SyncAnswer, []string, error) {
	inbox, err := c.s.store.InboxPull(ctx, c.by.User, c.inboxAfter, c.limit)
	if err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	chat.Looked(ctx, len(c.only))
	looks := make(map[string]chat.Look, len(c.only))
	if err := c.look(ctx, c.only, looks); err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	mine := make([]string, 0, len(c.only))
	for _, g := range c.only {
		if looks[g].Seen < 0 {
			c.isForeign(g)
		} else {
			mine = append(mine, g)
		}
	}
	logs, err := c.logs(ctx, mine, looks, false)
	if err != nil {
		return SyncAnswer{}, nil, chat.AsError(err)
	}
	return c.answer(mine, logs, inbox), mine, nil
}

// collectGrown is collect where only grown, some of the caller's groups, may have anything new.
func (c *syncCall) collectGrown(ctx context.Context, w *watch, grown, groups []string) (SyncAnswer, error) {
	logs, err := c.logs(ctx, grown, c.foreseen(w, grown), len(grown) == 1)
	if err != nil {
		return SyncAnswer{}, chat.AsError(err)
	}
	return c.answer(groups, logs, chat.InboxBatch{Complete: true}), nil
}

// answer assembles what was read. groups are all of the caller's, sorted.
func (c *syncCall) answer(groups []string, logs []*syncLog, inbox chat.InboxBatch) SyncAnswer {
	a := SyncAnswer{Errors: slices.Clip(c.errors)}
	room := c.s.limits.PageBytesMax
	if !c.inboxRefused && (len(inbox.Items) > 0 || !inbox.Complete) {
		// The inbox gets half of the answer, and what the groups leave of the other half.
		inbox = inbox.Fit(max(room/2, room-batchesBytes(logs)))
		a.Inbox = &inbox
		for _, item := range inbox.Items {
			room -= len(item.JSON) + 1
		}
	}
	for _, l := range logs {
		switch {
		case l.broken != nil:
			a.Errors = append(a.Errors, GroupError{Group: l.Group(), Code: chat.CodeOf(l.broken)})
		case l.gone:
			a.Left = append(a.Left, l.Group())
		}
	}
	for g := range c.foreign {
		_, joined := slices.BinarySearch(groups, g) // since
		switch {
		case joined:
		case c.named[g] || c.only == nil: // or lost while the call waited
			a.Left = append(a.Left, g)
		default:
			a.Errors = append(a.Errors, GroupError{Group: g, Code: chat.CodeNotFound})
		}
	}
	slices.Sort(a.Left)
	a.Left = slices.Compact(a.Left)
	a.Errors = slices.DeleteFunc(a.Errors, func(e GroupError) bool { // a group is in one of the two
		_, left := slices.BinarySearch(a.Left, e.Group)
		return left
	})
	slices.SortFunc(a.Errors, func(a, b GroupError) int { return cmp.Compare(a.Group, b.Group) })
	a.Groups = c.batches(logs, room)
	return a
}
