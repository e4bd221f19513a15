package archive

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of archiving.
const (
	delayDefault = time.Second     // from the entry that makes a task to its run: what comes meanwhile shares a transaction
	stepEntries  = 500             // entries of one step
	runSteps     = 20              // steps of one run of a task: then other groups have their turn
	catchUpSteps = 200             // steps of one call of CatchUp
	stepTries    = 4               // attempts at a step whose log changes meanwhile
	addTimeout   = 5 * time.Second // for the database
	heldPage     = 200             // reactions that one step keeps under a legal hold
	runsMax      = 12              // runs at the same time: a database that hangs leaves the other workers alone
)

// Options of an Archiver.
type Options struct {
	Delay time.Duration // from an entry to its archiving; 0: a second
	Log   *slog.Logger
}

// Archiver is the reader $archive of every group: it copies entries to a database and acks them. Its methods may be called from
// many goroutines and nodes at the same time: every step may be repeated.
type Archiver struct {
	groups  Groups
	db      Store // nil: this node has no archive
	opt     Options
	breaker breaker
	locks   *locks
	runs    chan struct{}
	turns   turns
	behind  *behind
	log     *failureLog

	archived, failed atomic.Int64
	failedAt         atomic.Int64 // Unix ns
}

// New makes an Archiver. db is nil if this node has no archive: its tasks are then left to nodes that have one.
func New(groups Groups, db Store, opt Options) *Archiver {
	if opt.Delay <= 0 {
		opt.Delay = delayDefault
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Archiver{groups: groups, db: db, opt: opt, locks: newLocks(), runs: make(chan struct{}, runsMax),
		behind: newBehind(), log: &failureLog{log: opt.Log}}
}

// CatchUp archives a group at least up to an id, as far as its log reaches. ErrUnavailable: the database cannot be reached.
func (a *Archiver) CatchUp(ctx context.Context, group string, to int64) error {
	if a.db == nil {
		return chat.ErrUnavailable
	}
	if err := a.locks.wait(ctx, group); err != nil {
		return err
	}
	defer a.locks.free(group)
	if a.breaker.shut() {
		return errAway
	}
	var r run
	for range catchUpSteps {
		archived, more, err := a.step(ctx, &r, group, "")
		if err != nil || archived >= to || !more {
			return err
		}
	}
	return chat.ErrUnavailable
}

// run is some steps for one group, one after the other.
type run struct {
	log Log   // that was archived last
	top int64 // up to which id
}

// step archives the next entries of a group, of the life epoch where one is named. more: there were more than one step takes.
func (a *Archiver) step(ctx context.Context, r *run, group, epoch string) (archived int64, more bool, err error) {
	var lag Lag
	for try := range stepTries {
		of, version := lag.Log, int64(0)
		if try > 0 { // the log was rolled back, or another node archives it too
			err = a.call(ctx, func(ctx context.Context) (err error) {
				version, err = a.db.Version(ctx, of)
				return err
			})
			if err != nil {
				return 0, false, err
			}
		}
		if lag, err = a.groups.Unarchived(ctx, group, stepEntries); err != nil {
			return 0, false, err
		}
		if !lag.On {
			return 0, false, nil
		}
		if epoch != "" && lag.Epoch != epoch {
			return 0, false, chat.ErrNotFound
		}
		if lag.Log != of {
			version = 0
		}
		archived, more, err = a.archive(ctx, r, lag, version)
		if !errors.Is(err, chat.ErrConflict) {
			return archived, more, err
		}
	}
	return 0, false, err
}

// archive copies what was read of a log and acks it. The log may have lost its end since the last run, even one that another node
// archived; within a run, it has if it is archived less far than the run has come.
//
// version is that of the log in the database before it was read; with 0, nothing is removed there, and ErrConflict is returned
// instead.
func (a *Archiver) archive(ctx context.Context, r *run, lag Lag, version int64) (archived int64, more bool, err error) {
	last := int64(chat.IDMax)
	if r.log != lag.Log || r.top > lag.Archived {
		lag, last, err = a.lostEnd(ctx, lag)
		if err != nil {
			return 0, false, err
		}
	}
	if len(lag.Messages) == 0 && lag.Archived == lag.Last && last == chat.IDMax {
		a.behind.caughtUp(lag.Log)
		return lag.Archived, false, nil
	}
	a.behind.note(lag)
	from, to, mark := lag.Last+1, lag.Last, ""
	if n := len(lag.Messages); n > 0 {
		from, to, mark = lag.Messages[0].ID, lag.Messages[n-1].ID, lag.Messages[n-1].Mark
	}
	if lag.Archived >= 0 && from > lag.Archived+1 {
		a.opt.Log.ErrorContext(ctx, "entries were trimmed before they were archived", "group", lag.Group, "from", lag.Archived+1,
			"to", from-1)
	}
	if lag.OnHold {
		if err := a.keepHeld(ctx, lag); err != nil {
			return 0, false, err
		}
	}
	if len(lag.Messages) > 0 || last != chat.IDMax {
		err = a.call(ctx, func(ctx context.Context) error {
			return a.db.Add(ctx, []Batch{{Log: lag.Log, Messages: lag.Messages, Last: last, Version: version}})
		})
		if err != nil {
			return 0, false, err
		}
	}
	r.log, r.top = lag.Log, to
	archived, err = a.groups.AckArchive(ctx, lag.Log, from, to, mark)
	if errors.Is(err, chat.ErrNotFound) {
		// Deleted meanwhile: what was added just now may have come after its log was dropped.
		_, failed := a.drop(ctx, lag.Log)
		return 0, false, errors.Join(err, failed)
	}
	if err != nil {
		return 0, false, err
	}
	a.archived.Add(int64(len(lag.Messages)))
	if more = archived < lag.Last; !more {
		a.behind.caughtUp(lag.Log)
	}
	return archived, more, nil
}

// keepHeld keeps, under a legal hold, what deletions are about to take of reactions that the database has.
func (a *Archiver) keepHeld(ctx context.Context, lag Lag) error {
	for _, m := range lag.Messages {
		var deletion chat.Entry
		if json.Unmarshal(m.JSON, &deletion) != nil || deletion.Kind != chat.Delete {
			continue
		}
		for after := int64(0); ; {
			var found []chat.Message
			err := a.call(ctx, func(ctx context.Context) (err error) {
				found, err = a.db.ReactionsTo(ctx, lag.Log, deletion.Target, after, heldPage)
				return err
			})
			if err != nil {
				return err
			}
			var kept []chat.Kept
			for _, one := range found {
				var e chat.Entry
				if json.Unmarshal(one.JSON, &e) == nil && e.DeletedAt == nil && !e.Removed {
					kept = append(kept, chat.Kept{ID: one.ID, Change: m.ID, JSON: one.JSON})
				}
				after = one.ID
			}
			if len(kept) > 0 {
				if err := a.groups.KeepHeld(ctx, lag.Log, kept); err != nil {
					return err
				}
			}
			if len(found) < heldPage {
				break
			}
		}
	}
	return nil
}

// lostEnd finds out whether the database has entries beyond the end of a log, which the log has then lost. It returns the log as
// it reads now, and Batch.Last.
//
// Entries that others archive meanwhile are not lost. So the database is read before the log: what was archived by then was in
// the log by then.
func (a *Archiver) lostEnd(ctx context.Context, was Lag) (lag Lag, last int64, err error) {
	var tail []chat.Message
	err = a.call(ctx, func(ctx context.Context) (err error) {
		tail, err = a.db.Read(ctx, was.Log, Span{From: was.Last + 1, To: chat.IDMax, Limit: 1, BytesMax: 1, Backward: true})
		return err
	})
	if err != nil || len(tail) == 0 {
		return was, chat.IDMax, err
	}
	if lag, err = a.groups.Unarchived(ctx, was.Group, stepEntries); err != nil {
		return was, 0, err
	}
	if lag.Log != was.Log || !lag.On {
		return was, 0, chat.ErrConflict
	}
	if tail[0].ID <= lag.Last {
		return lag, chat.IDMax, nil
	}
	a.opt.Log.WarnContext(ctx, "a log lost its end: the archive forgets it too", "group", lag.Group, "from", lag.Last+1,
		"to", tail[0].ID)
	return lag, lag.Last, nil
}

// call calls the database, unless it is away. Its error wraps ErrUnavailable then.
func (a *Archiver) call(ctx context.Context, do func(context.Context) error) error {
	if _, ok := a.breaker.enter(); !ok {
		return errAway
	}
	timed, cancel := context.WithTimeout(ctx, addTimeout)
	defer cancel()
	err := do(timed)
	if err != nil && ctx.Err() != nil && a.breaker.abandon() {
		return &dbError{err}
	}
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		err = chat.Unavailable(err)
	}
	unavailable := chat.CodeOf(err) == chat.CodeUnavailable
	overtaken := errors.Is(err, chat.ErrConflict)
	if err != nil && !overtaken && ctx.Err() == nil {
		a.failed.Add(1)
		a.failedAt.Store(time.Now().UnixNano())
	}
	if a.breaker.leave(!unavailable) {
		a.log.back(ctx)
	}
	if err != nil && !overtaken && ctx.Err() == nil {
		a.log.failure(ctx, err, unavailable)
	}
	if err != nil {
		return &dbError{err}
	}
	return nil
}

// dbError is an error of the database, not of the store of the groups.
type dbError struct{ err error }

func (e *dbError) Error() string { return e.err.Error() }
func (e *dbError) Unwrap() error { return e.err }

// errAway is the answer while the database is left alone.
var errAway = &dbError{chat.ErrUnavailable}

// AwaySince is when the database stopped answering; zero while it answers.
func (a *Archiver) AwaySince() time.Time { return a.breaker.awaySince() }

// Stats counts what this node has done since its start; Groups, Entries and Oldest are of the logs that it knows to be behind.
type Stats struct {
	Archived int64         // entries written to the database, repeated ones included
	Failed   int64         // calls of the database that failed
	FailedAt time.Time     // of the last of these; zero: there was none
	Groups   int64         // groups with entries that wait
	Entries  int64         // entries that wait
	Oldest   time.Duration // since the oldest of these was sent
}

// Stats returns the counts as of one instant.
func (a *Archiver) Stats() Stats {
	f := Stats{Archived: a.archived.Load(), Failed: a.failed.Load()}
	if at := a.failedAt.Load(); at > 0 {
		f.FailedAt = time.Unix(0, at)
	}
	f.Groups, f.Entries, f.Oldest = a.behind.total()
	return f
}

// sentAt is when a message was sent; zero if that cannot be read.
func sentAt(m chat.Message) time.Time {
	var e struct {
		SentAt chat.Time `json:"sent_at"`
	}
	if json.Unmarshal(m.JSON, &e) != nil {
		return time.Time{}
	}
	return e.SentAt.Time
}
