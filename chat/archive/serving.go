package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
)

// Bounds of reading from the archive.
const (
	readTimeout = 3 * time.Second        // for one page, including the time that the archiver takes to catch up first
	readsAtOnce = 8                      // pages read at the same time for one call
	readsMax    = 1000                   // pages of one call that go on in the archive; the others are cut
	pullTries   = 4                      // how often a page is read because its log changed meanwhile
	slowFailure = 100 * time.Millisecond // a failure that takes longer means that the database does not answer:
	readPause   = 500 * time.Millisecond // it is asked again after this time, so that few callers wait for it
)

// CatchUp archives a group at least up to an id. ErrUnavailable: the database cannot be reached.
type CatchUp func(ctx context.Context, group string, to int64) error

// Serving is a store of groups whose logs go on in the archive below what the store holds. It is the one place that decides
// where an entry comes from.
//
// The store is always read first. Its answer says, at one instant, who may read and from which id on it holds the log; entries
// below are in the archive, even those that are trimmed a moment later. If an entry has changed since it was archived, the archiver
// catches up before the archive is read: nobody is served content that was edited or deleted since.
type Serving struct {
	chat.Store
	db      Store
	catchUp CatchUp
	limits  chat.Limits
	until   atomic.Int64 // Unix ns until which the archive is not asked, after it did not answer in time
}

// Serve makes a Serving of groups and the archive of them.
func Serve(groups chat.Store, db Store, catchUp CatchUp, limits chat.Limits) *Serving {
	return &Serving{Store: groups, db: db, catchUp: catchUp, limits: limits}
}

// ask calls the archive, after the archiver has caught up with changes to the entries in it.
func (s *Serving) ask(ctx context.Context, info chat.Info, read func(context.Context) error) error {
	began := time.Now()
	if began.UnixNano() < s.until.Load() {
		return unreached(errors.New("it did not answer a moment ago"))
	}
	within, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var err error
	if info.Changed > info.Archived {
		err = s.catchUp(within, info.ID, info.Changed)
	}
	if err == nil {
		err = read(within)
	}
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case within.Err() != nil:
		err = unreached(err)
	}
	if errors.Is(err, chat.ErrUnavailable) && time.Since(began) > slowFailure {
		s.until.Store(time.Now().Add(readPause).UnixNano())
	}
	return err
}

func unreached(cause error) error {
	return &chat.Error{Code: chat.CodeUnavailable, Message: "the archive cannot be reached", Cause: fmt.Errorf("archive: %w", cause)}
}

func logOf(info chat.Info) Log { return Log{Group: info.ID, Epoch: info.Epoch} }

// Pull reads a page of each group, as chat.PullStore says. A page whose archive cannot be read has ErrUnavailable in its
// Err, and does not affect the others. About Limits.PageBytesMax bytes are read from the archive, besides what the store answered.
func (s *Serving) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages := make([]chat.Page, len(pulls))
	todo := make([]int, len(pulls))
	for i := range todo {
		todo[i] = i
	}
	for range pullTries {
		asked := make([]chat.Pull, len(todo))
		for j, i := range todo {
			asked[j] = pulls[i]
		}
		read, err := s.Store.Pull(ctx, user, asked)
		if err != nil {
			return nil, err
		}
		again := s.complete(ctx, asked, read)
		for j, i := range todo {
			pages[i] = read[j]
		}
		if err := ctx.Err(); err != nil || len(again) == 0 {
			return pages, err
		}
		for n, j := range again {
			again[n] = todo[j]
		}
		todo = again
	}
	for _, i := range todo {
		in := pages[i].Info
		pages[i] = chat.Page{Info: in, Err: &chat.Error{Code: chat.CodeInternal, Message: "internal error",
			Cause: fmt.Errorf("the archive of %s has holes between %d and %d", in.ID, in.First, in.Held)}}
	}
	return pages, nil
}

// part is the piece of a page that the archive has to add.
type part struct {
	index int // of the page
	pull  chat.Pull
	page  *chat.Page
	span  Span
}

// complete adds the archive's entries to pages. again: indexes of pages whose log changed meanwhile, so that the archive does not
// have what the store said.
func (s *Serving) complete(ctx context.Context, pulls []chat.Pull, pages []chat.Page) (again []int) {
	var parts []*part
	b := budget{left: s.limits.PageBytesMax}
	for i := range pages {
		p := &part{index: i, pull: pulls[i], page: &pages[i]}
		if p.find() {
			p.page.Together = nil // each reads the archive at an instant of their own
			parts = append(parts, p)
		}
		if !p.forward() { // what follows an archived part is cut to the room left
			b.left -= bytesOf(pages[i].Messages)
			b.given = b.given || len(pages[i].Messages) > 0
		}
	}
	for _, p := range parts[min(len(parts), readsMax):] {
		p.cut()
	}
	parts = parts[:min(len(parts), readsMax)]
	b.parts = len(parts)
	var mu sync.Mutex
	var failed atomic.Pointer[error] // the archive is away: no other page waits for it
	var workers errgroup.Group
	workers.SetLimit(readsAtOnce)
	for _, p := range parts {
		workers.Go(func() error {
			if err := failed.Load(); err != nil {
				p.fail(*err)
				return nil
			}
			whole, err := s.fill(ctx, p, &b)
			switch {
			case err != nil:
				if errors.Is(err, chat.ErrUnavailable) {
					failed.Store(&err)
				}
				p.fail(err)
			case !whole:
				mu.Lock()
				defer mu.Unlock()
				again = append(again, p.index)
			}
			return nil
		})
	}
	_ = workers.Wait() // no worker returns an error
	return again
}

// find decides what the page lacks. It drops what the store answered beyond the page.
func (p *part) find() (lacks bool) {
	in := p.page.Info
	oldest := in.Visible()
	if p.page.Err != nil || p.page.Cut || p.pull.Limit == 0 || oldest >= in.Held {
		return false
	}
	limit := int64(p.pull.Limit)
	if p.pull.Before == 0 {
		from := max(p.pull.From, oldest)
		if p.pull.Unseen {
			from = max(from, in.Seen+1)
		}
		if from >= in.Held {
			return false
		}
		p.span = Span{From: from, To: min(from+limit-1, in.Held-1)}
		rest := limit - (p.span.To - from + 1)
		p.page.Messages = p.page.Messages[:min(int64(len(p.page.Messages)), rest)]
	} else {
		has := p.page.Messages
		if len(has) > 0 && has[0].ID > in.Held {
			return false
		}
		to := min(p.pull.Before, in.Held, in.Last+1) - 1
		p.span = Span{From: max(oldest, to-(limit-int64(len(has)))+1), To: to, Backward: true}
	}
	p.span.Limit = int(p.span.To - p.span.From + 1)
	return p.span.Limit > 0
}

// forward tells whether what the store answered follows what the archive has.
func (p *part) forward() bool { return p.span.Limit > 0 && !p.span.Backward }

func bytesOf(messages []chat.Message) (bytes int) {
	for _, m := range messages {
		bytes += len(m.JSON)
	}
	return bytes
}

// cut leaves the page to another call.
func (p *part) cut() { p.page.Messages, p.page.Cut = nil, true }

// fail says that the page cannot be read.
func (p *part) fail(err error) { p.page.Messages, p.page.Err = nil, err }

// fill reads a part and joins it with what the store answered. whole is false if the archive does not have all of it.
func (s *Serving) fill(ctx context.Context, p *part, b *budget) (whole bool, err error) {
	room := b.take()
	if p.span.BytesMax = room; room == 0 {
		if p.pull.Before > 0 && len(p.page.Messages) > 0 {
			return true, nil // a shorter page
		}
		p.cut()
		return true, nil
	}
	var found []chat.Message
	err = s.ask(ctx, p.page.Info, func(ctx context.Context) (err error) {
		found, err = s.db.Read(ctx, logOf(p.page.Info), p.span)
		return err
	})
	used := bytesOf(found)
	defer func() { b.put(room, used) }()
	switch {
	case err != nil && errors.Is(err, chat.ErrUnavailable) && p.onlyPosition():
		return true, nil
	case err != nil:
		return false, err
	}
	if len(found) == 0 || !dense(found) {
		return false, nil
	}
	p.page.Info.Redact(found)
	switch {
	case p.span.Backward:
		if found[len(found)-1].ID != p.span.To {
			return false, nil
		}
		p.page.Messages = slices.Concat(found, p.page.Messages)
	case found[0].ID != p.span.From:
		return false, nil
	case len(found) < p.span.Limit:
		p.page.Messages = found
	default:
		rest := p.page.Messages
		for n, m := range rest {
			if used+len(m.JSON) > room {
				rest = rest[:n]
				break
			}
			used += len(m.JSON)
		}
		p.page.Messages = slices.Concat(found, rest)
	}
	return true, nil
}

// onlyPosition tells whether the archive has only the first entry of the page, and the store the rest: that entry is a reader's
// position, whose mark cannot be compared then.
func (p *part) onlyPosition() bool {
	return p.forward() && p.span.Limit == 1 && p.span.From == p.pull.From && p.pull.Limit > 1
}

// dense tells whether messages have every id from the first to the last.
func dense(messages []chat.Message) bool {
	for i, m := range messages {
		if m.ID != messages[0].ID+int64(i) {
			return false
		}
	}
	return true
}

// budget is the bytes that the parts of one call may have.
type budget struct {
	mu    sync.Mutex
	left  int
	parts int  // that were not begun
	given bool // the answer has some entry, so other parts need not get any
}

// take is how many bytes a part may have; 0: none are left.
func (b *budget) take() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	share := max(b.left, 0) / max(1, min(b.parts, readsAtOnce))
	b.parts--
	if share == 0 && b.given {
		return 0
	}
	b.given = true
	b.left -= share
	return max(share, 1)
}

// put gives back what a part did not need.
func (b *budget) put(taken, used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += taken - used
}
