package archive

import (
	"context"
	"database/sql"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Version implements archive.Store.
func (s *Store) Version(ctx context.Context, log archive.Log) (version int64, err error) {
	err = s.list(ctx, `SELECT version FROM logs WHERE "group" = ? AND epoch = ?`, []any{log.Group, log.Epoch},
		func(rows *sql.Rows) error { return rows.Scan(&version) })
	return version, err
}

// errOvertaken refuses a batch that would take away what someone has written since its log was read.
var errOvertaken = &chat.Error{Code: chat.CodeConflict, Message: "the log was archived by another node since it was read"}

// fence counts the version of each log that changes. A batch that replaces entries, forgets them, or puts some below others, is
// refused unless its log was read after everything that is there was written.
func (r *round) fence(ctx context.Context) error {
	var changed []pair
	logs := map[int64]*logChange{}
	for _, l := range r.logs {
		if l.top > l.batch.Last || len(l.changed()) > 0 {
			changed, logs[l.number] = append(changed, pair{l.number, 0}), l
		}
	}
	if len(changed) == 0 {
		return nil
	}
	var overtaken error
	err := r.query(ctx, `UPDATE logs SET version = version + 1 WHERE number IN (SELECT w.a FROM `+r.store.engine.pairs+`)
		RETURNING number, version - 1, dropped`, []any{encodePairs(changed)}, func(rows *sql.Rows) error {
		var number, version, dropped int64
		err := rows.Scan(&number, &version, &dropped)
		if l := logs[number]; err == nil && l.batch.Version != version && l.takesAway(dropped) {
			overtaken = errOvertaken
		}
		return err
	})
	if err != nil {
		return err
	}
	return overtaken
}

// takesAway tells whether the batch does more than add entries behind all that are, or were, there.
func (l *logChange) takesAway(dropped int64) bool {
	if l.top > l.batch.Last || len(l.gone) > 0 {
		return true
	}
	for _, in := range l.incoming {
		if one := l.rows[in.ID]; in.ID <= max(l.top, dropped) && one != nil && !one.stored {
			return true
		}
	}
	return false
}
