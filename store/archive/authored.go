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

// reactionsScanned bounds the reactions that one query looks at for those of a user: no index knows them by their author.
const reactionsScanned = 20_000

// ReactionsOf finds the reactions of a user that stand, in all logs. A page may be empty with more to come.
func (s *Store) ReactionsOf(ctx context.Context, user, after string, limit int) (list []archive.ReactionOf, next string, err error) {
	var log, target int64
	var emoji, author string
	if after != "" {
		if _, err := fmt.Sscanf(after, "%d %d %q %q", &log, &target, &emoji, &author); err != nil {
			return nil, "", chat.Invalid("a position among reactions cannot be read")
		}
	}
	scanned := 0
	err = s.reads(ctx, func(ctx context.Context) error {
		return s.query(ctx, s.read, `SELECT r.log, r.target, r.emoji, r.author, r.added, l."group", l.epoch FROM
			(SELECT log, target, emoji, author, added FROM reactions WHERE (log, target, emoji, author) > (?, ?, ?, ?)
			ORDER BY log, target, emoji, author LIMIT ?) AS r JOIN logs AS l ON l.number = r.log ORDER BY r.log, r.target, r.emoji, r.author`,
			[]any{log, target, emoji, author, reactionsScanned}, func(rows *sql.Rows) error {
				var one archive.ReactionOf
				var by string
				var added bool
				if err := rows.Scan(&log, &one.Target, &one.Emoji, &by, &added, &one.Group, &one.Epoch); err != nil {
					return err
				}
				scanned++
				next = fmt.Sprintf("%d %d %q %q", log, one.Target, one.Emoji, by)
				if by == user && added {
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
	if len(list) < limit && scanned < reactionsScanned {
		next = ""
	}
	return list, next, nil
}
