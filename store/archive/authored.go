package archive

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Authored finds the messages of a user that have content, in all logs, oldest first.
func (s *Store) Authored(ctx context.Context, user string, after int64, limit int) (list []archive.Authored, err error) {
	err = s.list(ctx, s.engine.authored, []any{fmt.Sprintf(s.engine.facet, authorFacet(user)), user, after, limit}, func(rows *sql.Rows) error {
		var one archive.Authored
		err := rows.Scan(&one.Doc, &one.Group, &one.Epoch, &one.ID)
		list = append(list, one)
		return err
	})
	return list, err
}

// OthersOf finds what a user wrote besides messages with content, in all logs: edits, reactions, deletions, and what was deleted. next is the position of the next page.
func (s *Store) OthersOf(ctx context.Context, user, after string, limit int) (list []archive.Other, next string, err error) {
	var log, id int64
	if after != "" {
		if _, err := fmt.Sscanf(after, "%d %d", &log, &id); err != nil {
			return nil, "", chat.Invalid("a position among entries cannot be read")
		}
	}
	err = s.list(ctx, `SELECT e.log, e.id, l."group", l.epoch FROM entries AS e JOIN logs AS l ON l.number = e.log
		WHERE e.author = ? AND NOT e.alive AND e.kind <> 'notice' AND (e.log, e.id) > (?, ?) ORDER BY e.log, e.id LIMIT ?`,
		[]any{user, log, id, limit}, func(rows *sql.Rows) error {
			var one archive.Other
			err := rows.Scan(&log, &one.ID, &one.Group, &one.Epoch)
			list = append(list, one)
			next = fmt.Sprintf("%d %d", log, one.ID)
			return err
		})
	if err != nil || len(list) < limit {
		next = ""
	}
	return list, next, err
}
