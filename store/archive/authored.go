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
	query, args := s.engine.authored(user)
	err = s.reads(ctx, func(ctx context.Context) error {
		return s.query(ctx, s.read, query, append(args, user, after, limit), func(rows *sql.Rows) error {
			var one archive.Authored
			err := rows.Scan(&one.Doc, &one.Group, &one.Epoch, &one.ID)
			list = append(list, one)
			return err
		})
	})
	return list, err
}

// ReactionsOf finds the reactions of a user that stand, in all logs. next is the position of the next page.
func (s *Store) ReactionsOf(ctx context.Context, user, after string, limit int) (list []archive.ReactionOf, next string, err error) {
	var log, target int64
	var emoji, author string
	if after != "" {
		if _, err := fmt.Sscanf(after, "%d %d %q %q", &log, &target, &emoji, &author); err != nil {
			return nil, "", chat.Invalid("a position among reactions cannot be read")
		}
	}
	err = s.reads(ctx, func(ctx context.Context) error {
		return s.query(ctx, s.read, `SELECT r.log, r.target, r.emoji, l."group", l.epoch FROM reactions AS r JOIN logs AS l ON l.number = r.log
			WHERE r.author = ? AND r.added AND (r.log, r.target, r.emoji, r.author) > (?, ?, ?, ?) ORDER BY r.log, r.target, r.emoji LIMIT ?`,
			[]any{user, log, target, emoji, author, limit}, func(rows *sql.Rows) error {
				var one archive.ReactionOf
				err := rows.Scan(&log, &one.Target, &one.Emoji, &one.Group, &one.Epoch)
				list = append(list, one)
				next = fmt.Sprintf("%d %d %q %q", log, one.Target, one.Emoji, user)
				return err
			})
	})
	if err != nil || len(list) < limit {
		next = ""
	}
	return list, next, err
}

// entriesScanned is Store.editsMax: no index knows edits by their author.
const entriesScanned = 20_000

// EditsOf finds the edits by a user in all logs, also those whose target is not there. A page may be empty with more to come.
func (s *Store) EditsOf(ctx context.Context, user, after string, limit int) (list []archive.Change, next string, err error) {
	var log, target, doc int64
	if after != "" {
		if _, err := fmt.Sscanf(after, "%d %d %d", &log, &target, &doc); err != nil {
			return nil, "", chat.Invalid("a position among edits cannot be read")
		}
	}
	scanned := 0
	err = s.reads(ctx, func(ctx context.Context) error {
		return s.query(ctx, s.read, `SELECT e.log, e.target, e.doc, e.id, e.kind, e.author, l."group", l.epoch FROM
			(SELECT log, target, doc, id, kind, author FROM entries WHERE target IS NOT NULL AND (log, target, doc) > (?, ?, ?)
			ORDER BY log, target, doc LIMIT ?) AS e JOIN logs AS l ON l.number = e.log ORDER BY e.log, e.target, e.doc`,
			[]any{log, target, doc, s.editsMax}, func(rows *sql.Rows) error {
				var one archive.Change
				var kind, by string
				if err := rows.Scan(&log, &one.Target, &doc, &one.ID, &kind, &by, &one.Group, &one.Epoch); err != nil {
					return err
				}
				scanned++
				next = fmt.Sprintf("%d %d %d", log, one.Target, doc)
				if by == user && chat.Kind(kind) == chat.Edit {
					list = append(list, one)
				}
				if len(list) == limit {
					return errEnough
				}
				return nil
			})
	})
	if err != nil {
		return nil, "", err
	}
	if len(list) < limit && scanned < s.editsMax {
		next = ""
	}
	return list, next, nil
}
