package archive

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
)

// Bounds of searching.
const (
	searchTimeout  = 4 * time.Second // including all waits
	searchLine     = time.Second     // how long a search waits for its turn
	searchesAtOnce = 4               // on a node: pages of history need connections to the database too
	searchTries    = 3               // attempts of a search whose hits have changed since they were archived

	refreshMax     = 256                    // groups that are archived to their end before a search
	refreshAtOnce  = 16                     // of these
	refreshTimeout = 500 * time.Millisecond // for all of them
)

// ErrOff is the answer to a search without an archive.
var ErrOff = chat.Errorf(chat.CodeNotFound, "this server keeps no archive to search: CHATD_ARCHIVE is off")

// errTurn refuses a search while others run.
var errTurn = &chat.Error{Code: chat.CodeUnavailable, Message: "too many searches at once", Advice: "too many searches at once; try again",
	RetryAfter: time.Second}

// Search is what a caller looks for. Empty fields leave it open.
type Search struct {
	Text         string // see tokens.Parse
	Group        string // of which the caller is a member
	From         string // the author
	Kind         chat.Kind
	Since, Until *time.Time // both included
	Sort         string     // Newest or Best
	Limit        int        // 0: the usual size of a page
	Cursor       string
}

// Results are a page of hits.
type Results struct {
	Found
	// IncompleteBefore: what was sent after it is not in the archive yet, and may be missing. Zero: nothing is missing.
	IncompleteBefore time.Time
}

// Lags tells what the archive lacks of a group: see Groups.
type Lags interface {
	Unarchived(ctx context.Context, group string, limit int) (Lag, error)
}

// Searcher finds messages for those who may read them. The store of the groups says who may read what, which becomes part of the
// question to the archive.
//
// The archive follows the logs with a delay. So the caller's groups that are not archived to their end are archived first, as many
// as the bounds allow: the sender of a message finds it at once. Nobody finds a message as it read before an edit or a deletion: if
// a hit is from a group whose changes are not archived, they are archived, and the search is repeated.
type Searcher struct {
	core    *chat.Service
	lags    Lags
	db      Store
	catchUp CatchUp
	users   *locks
	turns   chan struct{}
	counts  searchCounts
}

// NewSearcher makes a Searcher. db is nil if there is no archive.
func NewSearcher(core *chat.Service, lags Lags, db Store, catchUp CatchUp) *Searcher {
	return &Searcher{core: core, lags: lags, db: db, catchUp: catchUp, users: newLocks(), turns: make(chan struct{}, searchesAtOnce)}
}

// Search finds messages. ErrNotFound, ErrForbidden: the group is not one that the caller may read; ErrOff.
func (s *Searcher) Search(ctx context.Context, by chat.Caller, want Search) (Results, error) {
	if s.db == nil {
		return Results{}, ErrOff
	}
	q, err := s.query(by, want)
	if err != nil {
		return Results{}, err
	}
	began := time.Now()
	found, err := s.inTurn(ctx, by, want.Group, q)
	s.counts.count(err, time.Since(began))
	return found, err
}

// inTurn waits for its turn and searches.
func (s *Searcher) inTurn(ctx context.Context, by chat.Caller, group string, q Query) (Results, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	if err := s.enter(ctx, by.User); err != nil {
		return Results{}, err
	}
	defer s.leave(by.User)
	infos, err := s.readable(ctx, by, group)
	if err != nil {
		return Results{}, err
	}
	found, err := s.search(ctx, q, infos)
	return found, chat.AsError(err)
}

// query checks a Search.
func (s *Searcher) query(by chat.Caller, want Search) (Query, error) {
	limits := s.core.Options().Limits
	q := Query{Text: want.Text, From: want.From, Kind: want.Kind, Sort: cmp.Or(want.Sort, Newest), Cursor: want.Cursor, BytesMax: limits.PageBytesMax}
	var err error
	if q.Limit, err = limits.Page(want.Limit); err != nil {
		return q, err
	}
	if want.Since != nil {
		q.SinceMs = max(1, want.Since.Add(time.Millisecond-1).UnixMilli()) // messages are sent at whole milliseconds
	}
	if want.Until != nil {
		q.UntilMs = max(1, want.Until.UnixMilli())
	}
	switch {
	case want.From != "" && !chat.ValidUserID(want.From):
		return q, chat.CheckUserID("from", want.From)
	case q.Kind != "" && q.Kind != chat.Text && q.Kind != chat.Data:
		return q, chat.Invalid("kind: want %s or %s", chat.Text, chat.Data)
	case q.Sort != Newest && q.Sort != Best:
		return q, chat.Invalid("sort: want %s or %s", Newest, Best)
	case want.Since != nil && want.Until != nil && want.Until.Before(*want.Since):
		return q, chat.Invalid("until: must not be before since")
	}
	if _, err = q.Checked(); err != nil {
		return q, err
	}
	return q, chat.CheckCaller(by)
}

// enter waits for the turn of a search: a user has one at a time, a node has a few. A caller that enters must leave.
func (s *Searcher) enter(ctx context.Context, user string) error {
	ctx, cancel := context.WithTimeout(ctx, searchLine)
	defer cancel()
	if s.users.wait(ctx, user) != nil {
		return errTurn
	}
	select {
	case s.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		s.users.free(user)
		return errTurn
	}
}

func (s *Searcher) leave(user string) {
	<-s.turns
	s.users.free(user)
}

// readable reads the groups whose messages a caller may read, or the one that is named.
func (s *Searcher) readable(ctx context.Context, by chat.Caller, group string) ([]chat.Info, error) {
	if group == "" {
		return s.core.Memberships(ctx, by)
	}
	info, err := s.core.MayRead(ctx, by, group)
	return []chat.Info{info}, err
}

// search looks in the part of each group that is archived. The Archived of infos moves on.
func (s *Searcher) search(ctx context.Context, q Query, infos []chat.Info) (Results, error) {
	s.refresh(ctx, infos, q.Cursor != "")
	missing, err := s.missing(ctx, infos)
	if err != nil {
		return Results{}, err
	}
	for range searchTries {
		q.Visible = visible(infos)
		found, err := s.db.Search(ctx, q)
		if err != nil {
			return Results{}, err
		}
		changed := changedOf(infos, found.Hits)
		if len(changed) == 0 {
			if !missing.IsZero() && q.UntilMs > 0 && q.UntilMs <= missing.UnixMilli() {
				missing = time.Time{}
			}
			now := s.core.Options().StoreNow()
			found.Hits = slices.DeleteFunc(found.Hits, func(h Hit) bool { return chat.Gone(h.JSON, now) })
			return Results{found, missing}, nil
		}
		if err := s.archive(ctx, changed); err != nil {
			return Results{}, err
		}
	}
	return Results{}, chat.ErrUnavailable
}

// visible is what of groups is archived and may be read.
func visible(infos []chat.Info) (list []Visible) {
	for _, info := range infos {
		if from := info.Visible(); info.Epoch != "" && from <= info.Archived {
			list = append(list, Visible{Log: logOf(info), From: from, To: info.Archived})
		}
	}
	return list
}

// changedOf are the groups of hits that were changed after what is archived of them.
func changedOf(infos []chat.Info, hits []Hit) (changed []*chat.Info) {
	found := make(map[Log]bool, len(hits))
	for _, h := range hits {
		found[h.Log] = true
	}
	for i := range infos {
		if info := &infos[i]; info.Changed > info.Archived && found[logOf(*info)] {
			changed = append(changed, info)
		}
	}
	return changed
}

// refresh archives the groups that are not archived to their end, as far as the bounds allow: those first in which something was
// changed, then those with the latest activity. A later page has no use for anything new.
func (s *Searcher) refresh(ctx context.Context, infos []chat.Info, laterPage bool) {
	var behind []*chat.Info
	for i := range infos {
		if info := &infos[i]; info.Changed > info.Archived || !laterPage && info.Last > info.Archived {
			behind = append(behind, info)
		}
	}
	changed := func(i *chat.Info) int {
		if i.Changed > i.Archived {
			return 0
		}
		return 1
	}
	slices.SortFunc(behind, func(a, b *chat.Info) int {
		return cmp.Or(cmp.Compare(changed(a), changed(b)), cmp.Compare(b.ActiveMs, a.ActiveMs))
	})
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	_ = s.archive(ctx, behind[:min(len(behind), refreshMax)]) // what cannot be archived now is searched as far as it is
}

// archive archives groups to their end, and sets their Archived. In a group that is gone, nothing can be found.
func (s *Searcher) archive(ctx context.Context, infos []*chat.Info) error {
	var workers errgroup.Group
	workers.SetLimit(refreshAtOnce)
	for _, info := range infos {
		workers.Go(func() error {
			err := ctx.Err()
			if err == nil {
				err = s.catchUp(ctx, info.ID, info.Last)
			}
			switch {
			case errors.Is(err, chat.ErrNotFound):
				*info = chat.Info{}
				return nil
			case err == nil:
				info.Archived = max(info.Archived, info.Last)
			}
			return err
		})
	}
	return workers.Wait()
}

// missing is the latest instant up to which everything is archived; zero if nothing is missing. Of the groups beyond the bound
// only the age is known. The Archived of infos moves on.
func (s *Searcher) missing(ctx context.Context, infos []chat.Info) (complete time.Time, err error) {
	looked := 0
	for i := range infos {
		info := &infos[i]
		if info.Last <= info.Archived {
			continue
		}
		first := info.CreatedAt.Time
		if looked++; looked <= refreshMax {
			lag, err := s.lags.Unarchived(ctx, info.ID, 1)
			switch {
			case errors.Is(err, chat.ErrNotFound):
				continue
			case err != nil:
				return complete, err
			case lag.Epoch != info.Epoch:
				continue
			case len(lag.Messages) > 0:
				first = sentAt(lag.Messages[0])
			}
			if info.Archived = max(info.Archived, min(lag.Archived, info.Last)); info.Archived == info.Last {
				continue
			}
		}
		if before := first.Add(-time.Millisecond); complete.IsZero() || before.Before(complete) {
			complete = before
		}
	}
	return complete, nil
}
