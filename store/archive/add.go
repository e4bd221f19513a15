package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// Add implements archive.Store.
func (s *Store) Add(ctx context.Context, batches []archive.Batch) error {
	read := make([]*readBatch, len(batches))
	for i, b := range batches {
		var err error
		if read[i], err = s.readBatch(b); err != nil {
			return err
		}
	}
	return s.do(ctx, &write{batches: read})
}

// readBatch is a batch whose entries are decoded and split into words, which many callers can do at a time.
type readBatch struct {
	archive.Batch
	rows []row // no change of the log touches them: a transaction may be repeated
}

func (s *Store) readBatch(b archive.Batch) (*readBatch, error) {
	read := &readBatch{b, make([]row, len(b.Messages))}
	for i, m := range b.Messages {
		r := &read.rows[i]
		r.Message = m
		if err := r.decode(); err != nil {
			return nil, err
		}
		r.index(s.engine.words)
	}
	return read, nil
}

// add writes batches in a transaction: each log once a round. erased tells that content was removed.
func (s *Store) add(ctx context.Context, tx *sql.Tx, batches []*readBatch) (erased bool, err error) {
	for len(batches) > 0 {
		logs := map[archive.Log]*logChange{}
		var later []*readBatch
		for _, b := range batches {
			if logs[b.Log] == nil {
				logs[b.Log] = newLogChange(b)
			} else {
				later = append(later, b)
			}
		}
		r := round{store: s, tx: tx}
		for _, l := range logs {
			r.logs = append(r.logs, l)
		}
		// All nodes lock logs in one order, so they cannot deadlock.
		slices.SortFunc(r.logs, func(a, b *logChange) int {
			return cmp.Or(cmp.Compare(a.batch.Group, b.batch.Group), cmp.Compare(a.batch.Epoch, b.batch.Epoch))
		})
		if err := r.run(ctx); err != nil {
			return false, err
		}
		erased, batches = erased || r.erased, later
	}
	return erased, nil
}

// round adds one batch to each of several logs, with a few statements whatever their number.
type round struct {
	store  *Store
	tx     *sql.Tx
	logs   []*logChange
	erased bool
}

func (r *round) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.lock, r.cut, r.load, r.change, r.fence, r.rebuild, r.writeEntries, r.writeReactions} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lock finds or makes the number of each log, keeps others from writing to it, and reads where it ends.
func (r *round) lock(ctx context.Context) error {
	missing := r.logs
	for try := 0; ; try++ {
		var err error
		if missing, err = r.find(ctx, missing); err != nil {
			return err
		}
		switch {
		case len(missing) == 0:
			return r.ends(ctx)
		case try > 0:
			return errors.New("a log was dropped while it was added to")
		}
		err = r.exec(ctx, `INSERT INTO logs ("group", epoch) SELECT w.a, w.b FROM `+r.store.engine.names+` WHERE true ON CONFLICT DO NOTHING`,
			encodeLogs(missing))
		if err != nil {
			return err
		}
	}
}

// find locks logs that are there and reads their numbers. It returns those that are missing.
func (r *round) find(ctx context.Context, logs []*logChange) (missing []*logChange, err error) {
	numbers := make(map[archive.Log]int64, len(logs))
	err = r.query(ctx, `SELECT l.number, l."group", l.epoch FROM `+r.store.engine.names+` JOIN logs AS l ON l."group" = w.a AND l.epoch = w.b
		ORDER BY l."group", l.epoch`+r.store.engine.lockLogs, []any{encodeLogs(logs)}, func(rows *sql.Rows) error {
		var number int64
		var log archive.Log
		err := rows.Scan(&number, &log.Group, &log.Epoch)
		numbers[log] = number
		return err
	})
	for _, l := range logs {
		if l.number = numbers[l.batch.Log]; l.number == 0 {
			missing = append(missing, l)
		}
	}
	return missing, err
}

// ends reads the highest id of each log, in a separate statement: the one that waits for a lock does not see what was written
// meanwhile.
func (r *round) ends(ctx context.Context) error {
	numbers, logs := make([]pair, len(r.logs)), make(map[int64]*logChange, len(r.logs))
	for i, l := range r.logs {
		numbers[i], logs[l.number] = pair{l.number, 0}, l
	}
	return r.query(ctx, `SELECT w.a, coalesce((SELECT max(e.id) FROM entries AS e WHERE e.log = w.a), 0) FROM `+r.store.engine.pairs,
		[]any{encodePairs(numbers)}, func(rows *sql.Rows) error {
			var number, top int64
			if err := rows.Scan(&number, &top); err != nil {
				return err
			}
			logs[number].top = top
			return nil
		})
}

// encodeLogs is the argument of dialect.names.
func encodeLogs(logs []*logChange) string {
	names := make([][2]string, len(logs))
	for i, l := range logs {
		names[i] = [2]string{l.batch.Group, l.batch.Epoch}
	}
	return string(chat.Encode(names))
}

// cut removes the entries above the end of a log that lost it.
func (r *round) cut(ctx context.Context) error {
	for _, l := range r.logs {
		if l.top <= l.batch.Last {
			continue
		}
		r.erased = true
		err := r.query(ctx, `SELECT DISTINCT target FROM entries WHERE log = ? AND id > ? AND kind = 'reaction'`, []any{l.number, l.batch.Last},
			func(rows *sql.Rows) error {
				var target int64
				err := rows.Scan(&target)
				l.rebuilt[target] = true
				return err
			})
		if err != nil {
			return err
		}
		err = r.query(ctx, `SELECT target, id FROM entries WHERE log = ? AND id > ? AND kind = 'edit'`, []any{l.number, l.batch.Last},
			func(rows *sql.Rows) error {
				var target, id int64
				err := rows.Scan(&target, &id)
				l.lost[target] = append(l.lost[target], id)
				return err
			})
		if err != nil {
			return err
		}
		if err := r.store.engine.unindex(ctx, r.tx, `log = ? AND id > ?`, l.number, l.batch.Last); err != nil {
			return err
		}
		if err := r.exec(ctx, `DELETE FROM entries WHERE log = ? AND id > ?`, l.number, l.batch.Last); err != nil {
			return err
		}
		if err := r.exec(ctx, `DELETE FROM reactions WHERE log = ? AND target > ?`, l.number, l.batch.Last); err != nil {
			return err
		}
	}
	return nil
}

// load reads what is stored of the new entries, of those that they change, and of the edits of those that they delete.
func (r *round) load(ctx context.Context) error {
	var ids, deleted []pair
	logs := map[int64]*logChange{}
	for _, l := range r.logs {
		logs[l.number] = l
		for _, e := range l.incoming {
			if e.ID <= l.top {
				ids = append(ids, pair{l.number, e.ID})
			}
			for _, id := range e.entry.Erased {
				if id <= l.top {
					ids = append(ids, pair{l.number, id})
				}
			}
			if e.target > 0 && e.target <= l.top {
				ids = append(ids, pair{l.number, e.target})
				if e.kind == chat.Delete {
					deleted = append(deleted, pair{l.number, e.target})
				}
			}
		}
	}
	if err := r.loadRows(ctx, logs, ids, ` ON e.log = w.a AND e.id = w.b`); err != nil {
		return err
	}
	if err := r.loadRows(ctx, logs, deleted, r.store.engine.byTarget+` ON e.log = w.a AND e.target = w.b AND e.kind IN ('edit', 'reaction')`); err != nil {
		return err
	}
	var edited []pair // messages that lost an edit
	for _, l := range r.logs {
		l.noteLost()
		for target := range l.lost {
			edited = append(edited, pair{l.number, target})
		}
	}
	return r.loadRows(ctx, logs, edited, ` ON e.log = w.a AND e.id = w.b`)
}

// loadRows reads entries by pairs of a log and an id, unless they are loaded.
func (r *round) loadRows(ctx context.Context, logs map[int64]*logChange, pairs []pair, on string) error {
	if len(pairs) == 0 {
		return nil
	}
	return r.query(ctx, `SELECT e.doc, e.log, e.id, e.mark, e.edits, e.json FROM `+r.store.engine.pairs+` JOIN entries AS e`+on,
		[]any{encodePairs(pairs)}, func(rows *sql.Rows) error {
			had, err := scanRow(rows)
			if err != nil {
				return err
			}
			logs[had.log].rows[had.ID] = had
			return nil
		})
}

func scanRow(rows *sql.Rows) (*row, error) {
	had := &row{stored: true}
	var edits sql.NullString
	err := rows.Scan(&had.doc, &had.log, &had.ID, &had.Mark, &edits, &had.JSON)
	if err != nil {
		return nil, err
	}
	if had.Edits, err = decodeEdits(edits); err != nil {
		return nil, err
	}
	return had, had.decode()
}

func (r *round) change(context.Context) error {
	for _, l := range r.logs {
		if err := l.apply(); err != nil {
			return err
		}
	}
	return nil
}

// rebuild recomputes the reactions of messages that lost one, from the entries that stay.
func (r *round) rebuild(ctx context.Context) error {
	var targets []pair
	logs := map[int64]*logChange{}
	for _, l := range r.logs {
		logs[l.number] = l
		for target := range l.rebuilt {
			targets = append(targets, pair{l.number, target})
		}
	}
	if len(targets) == 0 {
		return nil
	}
	encoded := encodePairs(targets)
	err := r.query(ctx, `SELECT e.log, e.id, e.json FROM `+r.store.engine.pairs+` JOIN entries AS e`+r.store.engine.byTarget+`
		ON e.log = w.a AND e.target = w.b AND e.kind = 'reaction' JOIN entries AS t ON t.log = w.a AND t.id = w.b AND t.alive`, []any{encoded}, func(rows *sql.Rows) error {
		var e chat.Entry
		var number, id int64
		var text []byte
		if err := rows.Scan(&number, &id, &text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return err
		}
		l := logs[number]
		if gone := l.gone[id]; !gone && !l.deleted[e.Target] && counts(e) {
			l.react(e.Target, e.Emoji, e.From, id, !e.Removed)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.exec(ctx, `DELETE FROM reactions WHERE (log, target) IN (SELECT w.a, w.b FROM `+r.store.engine.pairs+`)`, encoded)
}

// writeEntries removes the rows that are replaced or changed, and inserts what they are now.
func (r *round) writeEntries(ctx context.Context) error {
	var old []pair
	var rows []*row
	for _, l := range r.logs {
		for doc := range l.removed {
			old = append(old, pair{doc, 0})
		}
		for _, one := range l.changed() {
			one.log = l.number
			rows = append(rows, one)
		}
	}
	if len(old) > 0 {
		r.erased = true
		where, docs := `doc IN (SELECT w.a FROM `+r.store.engine.pairs+`)`, encodePairs(old)
		if err := r.store.engine.unindex(ctx, r.tx, where, docs); err != nil {
			return err
		}
		if err := r.exec(ctx, `DELETE FROM entries WHERE `+where, docs); err != nil {
			return err
		}
	}
	return r.insert(ctx, rows)
}

// docTries bounds how often entries look for a free doc: entries of one ms are many times fewer than it has room for.
const docTries = 1000

func (r *round) insert(ctx context.Context, rows []*row) error {
	used := make(map[int64]bool, len(rows))
	for range docTries {
		if len(rows) == 0 {
			return nil
		}
		for _, one := range rows {
			for used[one.doc] {
				one.doc++
			}
			used[one.doc] = true
		}
		taken, err := r.store.engine.insert(ctx, r.tx, rows)
		if err != nil {
			return err
		}
		rows = taken
	}
	return fmt.Errorf("no room for entry %d at its time", rows[0].ID)
}

// writeReactions removes the reactions to deleted messages, and adds the new ones.
func (r *round) writeReactions(ctx context.Context) error {
	for _, l := range r.logs {
		for target := range l.deleted {
			if err := r.exec(ctx, `DELETE FROM reactions WHERE log = ? AND target = ?`, l.number, target); err != nil {
				return err
			}
		}
		for _, one := range l.unreacted {
			err := r.exec(ctx, `DELETE FROM reactions WHERE log = ? AND target = ? AND emoji = ? AND author = ? AND id <= ?`, l.number, one.target,
				one.emoji, one.user, one.to)
			if err != nil {
				return err
			}
		}
		for key, to := range l.reactions {
			err := r.exec(ctx, `INSERT INTO reactions (log, target, emoji, author, id, added) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (log, target, emoji, author) DO UPDATE SET id = excluded.id, added = excluded.added WHERE excluded.id > reactions.id`,
				l.number, key.target, key.emoji, key.user, to.entry, to.on)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *round) exec(ctx context.Context, query string, args ...any) error {
	_, err := r.tx.ExecContext(ctx, r.store.engine.bind(query), args...)
	return err
}

func (r *round) query(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	return r.store.query(ctx, r.tx, query, args, scan)
}
