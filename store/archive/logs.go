package archive

import (
	"context"
	"database/sql"

	"github.com/chatd/chatd/chat/archive"
)

// LogsAfter implements archive.Store.
func (s *Store) LogsAfter(ctx context.Context, after int64, limit int) (logs []archive.Log, next int64, err error) {
	err = s.list(ctx, `SELECT number, "group", epoch FROM logs WHERE number > ? ORDER BY number LIMIT ?`, []any{after, limit},
		func(rows *sql.Rows) error {
			var log archive.Log
			err := rows.Scan(&next, &log.Group, &log.Epoch)
			logs = append(logs, log)
			return err
		})
	if len(logs) < limit {
		next = 0
	}
	return logs, next, err
}
