package archive

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Read implements archive.Store.
func (s *Store) Read(ctx context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	order := "ASC"
	if span.Backward {
		order = "DESC"
	}
	var found []chat.Message
	bytes := 0
	err := s.list(ctx, `SELECT e.id, e.mark, e.edits, e.json FROM entries AS e
		WHERE e.log = `+logNumber+` AND e.id BETWEEN ? AND ? ORDER BY e.id `+order+` LIMIT ?`,
		[]any{log.Group, log.Epoch, span.From, span.To, span.Limit}, func(rows *sql.Rows) error {
			m, err := scanMessage(rows)
			if err != nil {
				return err
			}
			if bytes += len(m.JSON); bytes > span.BytesMax && len(found) > 0 {
				return errEnough
			}
			found = append(found, m)
			return nil
		})
	if span.Backward {
		slices.Reverse(found)
	}
	return found, err
}

// Logs lists logs in the order of group and epoch, those behind after, at most limit.
func (s *Store) Logs(ctx context.Context, after archive.Log, limit int) ([]archive.Log, error) {
	var logs []archive.Log
	err := s.list(ctx, `SELECT "group", epoch FROM logs WHERE ("group", epoch) > (?, ?) ORDER BY "group", epoch LIMIT ?`,
		[]any{after.Group, after.Epoch, limit}, func(rows *sql.Rows) error {
			var log archive.Log
			err := rows.Scan(&log.Group, &log.Epoch)
			logs = append(logs, log)
			return err
		})
	return logs, err
}

// logNumber is the number of a log, from its group and its epoch.
const logNumber = `(SELECT number FROM logs WHERE "group" = ? AND epoch = ?)`

// list runs a statement that reads in the open archive, within a time limit, and gives its error the form that the domain takes.
func (s *Store) list(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	if err := s.Connect(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return s.failed(s.query(ctx, s.read, query, args, scan))
}

// messages lists entries.
func (s *Store) messages(ctx context.Context, query string, args ...any) (found []chat.Message, err error) {
	err = s.list(ctx, query, args, func(rows *sql.Rows) error {
		m, err := scanMessage(rows)
		found = append(found, m)
		return err
	})
	return found, err
}

func scanMessage(rows *sql.Rows) (m chat.Message, err error) {
	var edits sql.NullString
	if err := rows.Scan(&m.ID, &m.Mark, &edits, &m.JSON); err != nil {
		return m, err
	}
	m.Edits, err = decodeEdits(edits)
	return m, err
}

func decodeEdits(edits sql.NullString) (ids []int64, err error) {
	if edits.Valid {
		err = json.Unmarshal([]byte(edits.String), &ids)
	}
	return ids, err
}

// Entries implements archive.Store.
func (s *Store) Entries(ctx context.Context, log archive.Log, ids []int64) ([]chat.Message, error) {
	pairs := make([]pair, len(ids))
	for i, id := range ids {
		pairs[i] = pair{0, id}
	}
	return s.messages(ctx, `SELECT e.id, e.mark, e.edits, e.json FROM entries AS e
		WHERE e.id IN (SELECT w.b FROM `+s.engine.pairs+`) AND e.log = `+logNumber+` ORDER BY e.id`, encodePairs(pairs), log.Group, log.Epoch)
}

// Reactions implements archive.Store.
func (s *Store) Reactions(ctx context.Context, log archive.Log, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	found := map[int64]map[string]chat.ReactionCount{}
	err := s.list(ctx, `SELECT r.target, r.emoji, count(*), sum(CASE WHEN r.author = ? THEN 1 ELSE 0 END) FROM reactions AS r
		WHERE r.log = `+logNumber+` AND r.target BETWEEN ? AND ? AND r.added GROUP BY r.target, r.emoji`,
		[]any{user, log.Group, log.Epoch, from, to}, func(rows *sql.Rows) error {
			var target, count, mine int64
			var emoji string
			if err := rows.Scan(&target, &emoji, &count, &mine); err != nil {
				return err
			}
			if found[target] == nil {
				found[target] = map[string]chat.ReactionCount{}
			}
			found[target][emoji] = chat.ReactionCount{Count: count, Mine: mine > 0}
			return nil
		})
	return found, err
}

// ReactionsTo implements archive.Store.
func (s *Store) ReactionsTo(ctx context.Context, log archive.Log, target, after int64, limit int) (found []chat.Message, err error) {
	return s.messages(ctx, `SELECT e.id, e.mark, e.edits, e.json FROM entries AS e`+s.engine.byTarget+`
		WHERE e.log = `+logNumber+` AND e.target = ? AND e.kind = 'reaction' AND e.id > ? ORDER BY e.id LIMIT ?`,
		log.Group, log.Epoch, target, after, limit)
}

// Reacted implements archive.Store.
func (s *Store) Reacted(ctx context.Context, log archive.Log, target int64, user, emoji string) (archive.Reacted, error) {
	var found archive.Reacted
	var entry sql.NullInt64
	var on sql.NullBool
	err := s.list(ctx, `SELECT e.alive, r.id, r.added,
		(SELECT count(DISTINCT o.emoji) FROM reactions AS o WHERE o.log = e.log AND o.target = e.id AND o.added),
		EXISTS (SELECT 1 FROM reactions AS o WHERE o.log = e.log AND o.target = e.id AND o.emoji = ? AND o.added)
		FROM entries AS e LEFT JOIN reactions AS r ON r.log = e.log AND r.target = e.id AND r.emoji = ? AND r.author = ?
		WHERE e.log = `+logNumber+` AND e.id = ?`, []any{emoji, emoji, user, log.Group, log.Epoch, target}, func(rows *sql.Rows) error {
		return rows.Scan(&found.Alive, &entry, &on, &found.Emojis, &found.Has)
	})
	found.Entry, found.On = entry.Int64, on.Bool
	return found, err
}
