package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/chatd/chatd/chat/archive"
)

// numbersMax bounds the logs whose numbers are kept in memory, at some 150 bytes each.
const numbersMax = 50_000

// numbers keeps the numbers of logs that were searched, so that a search by a member of many groups need not look up each one.
// No number is ever given to a second log, but a log that was dropped and comes back gets another one: the database has a row
// that changes with each log that is dropped, and then everything is forgotten.
type numbers struct {
	mu      sync.Mutex
	dropped string // what the row said
	known   map[archive.Log]int64
}

// get returns the number of each log, 0 where it is not known, and the logs whose numbers are not.
func (n *numbers) get(dropped string, list []archive.Visible) (known []int64, missing []archive.Log) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil || n.dropped != dropped || len(n.known) > numbersMax {
		n.dropped, n.known = dropped, map[archive.Log]int64{}
	}
	known = make([]int64, len(list))
	for i, v := range list {
		if known[i] = n.known[v.Log]; known[i] == 0 {
			missing = append(missing, v.Log)
		}
	}
	return known, missing
}

// put keeps numbers that were read after the row said dropped.
func (n *numbers) put(dropped string, read map[archive.Log]int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for log, number := range read {
		if n.dropped == dropped {
			n.known[log] = number
		}
	}
}

// visible is what a caller may see, in the order of the numbers of the logs. Logs that are not there are left out.
func (s *Store) visible(ctx context.Context, list []archive.Visible) ([]logRange, error) {
	var dropped string
	err := s.read.QueryRowContext(ctx, `SELECT value FROM about WHERE name = 'dropped'`).Scan(&dropped)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	known, missing := s.numbers.get(dropped, list)
	var read map[archive.Log]int64
	if len(missing) > 0 {
		if read, err = s.readNumbers(ctx, missing); err != nil {
			return nil, err
		}
		s.numbers.put(dropped, read)
	}
	ranges := make([]logRange, 0, len(list))
	for i := range list {
		v := &list[i]
		if known[i] == 0 {
			known[i] = read[v.Log]
		}
		if known[i] > 0 {
			ranges = append(ranges, logRange{known[i], v})
		}
	}
	slices.SortFunc(ranges, func(a, b logRange) int { return cmp.Compare(a.number, b.number) })
	return ranges, nil
}

// logRange is what of a log may be found. It is small, for sorting moves it.
type logRange struct {
	number int64
	*archive.Visible
}

// rangeOf finds the log of a number among sorted ranges.
func rangeOf(ranges []logRange, number int64) (found logRange, ok bool) {
	i, ok := slices.BinarySearchFunc(ranges, number, func(r logRange, number int64) int { return cmp.Compare(r.number, number) })
	if !ok {
		return logRange{}, false
	}
	return ranges[i], true
}

func (s *Store) readNumbers(ctx context.Context, list []archive.Log) (map[archive.Log]int64, error) {
	names := make([][2]string, len(list))
	for i, log := range list {
		names[i] = [2]string{log.Group, log.Epoch}
	}
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	read := make(map[archive.Log]int64, len(list))
	err = s.query(ctx, s.read, `SELECT l.number, l."group", l.epoch FROM `+s.engine.names+` JOIN logs AS l ON l."group" = w.a AND l.epoch = w.b`,
		[]any{string(text)}, func(rows *sql.Rows) error {
			var number int64
			var log archive.Log
			err := rows.Scan(&number, &log.Group, &log.Epoch)
			read[log] = number
			return err
		})
	return read, err
}
