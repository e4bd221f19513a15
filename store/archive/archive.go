// Package archive keeps logs in a SQL database: SQLite, or PostgreSQL for several nodes. It implements the Store of
// chat/archive. Both engines run the same statements; their differences are in sqlite.go and postgres.go.
package archive

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

const (
	openTimeout  = 30 * time.Second // for connecting, and for reading what the schema has; a migration takes as long as it takes
	readTimeout  = 5 * time.Second
	writeTimeout = 30 * time.Second // of one transaction of the writer
)

// Store is an open archive. Its methods may be called by many goroutines at a time.
type Store struct {
	late      late
	engine    *engine
	write     *sql.DB // SQLite: the one connection that writes; this and what follows is set once it is open
	read      *sql.DB
	id        string
	writer    *writer
	numbers   numbers
	searchMax time.Duration // of one search
}

var _ archive.Store = (*Store)(nil)

// Open connects to the archive at url and brings its schema up to date, which takes minutes if a step has to read a large
// table; if ctx ends first, nothing of that step remains. An archive written by a newer chatd, or one whose migration was
// interrupted, is refused with an error that says what to do.
func Open(ctx context.Context, url string) (*Store, error) {
	s, err := Later(url, "")
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.late.opened = true
	return s, nil
}

// inTime makes a call that a database answers at once unless it is away.
func inTime(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return call(ctx)
}

// prepare reads the id of the database, or gives it one.
func (s *Store) prepare(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, s.engine.bind(`INSERT INTO about (name, value) VALUES ('id', ?) ON CONFLICT DO NOTHING`), rand.Text())
	if err != nil {
		return s.failed(err)
	}
	return s.failed(s.write.QueryRowContext(ctx, `SELECT value FROM about WHERE name = 'id'`).Scan(&s.id))
}

// Look returns the id that the archive at url has now. "": there is no database, or none of chatd's tables in it. It changes
// nothing.
func Look(ctx context.Context, url string) (id string, err error) {
	_, err = look(ctx, url, func(ctx context.Context, _ *engine, db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT value FROM about WHERE name = 'id'`).Scan(&id)
	})
	if errors.Is(err, errNoTables) || errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, err
}

// failed turns an error of the database into one of the domain.
func (s *Store) failed(err error) error {
	var known *chat.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case s.engine.fault(err) == faultRefused:
		return fmt.Errorf("archive: %w", err)
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: "the archive cannot be reached; try again",
		RetryAfter: chat.ErrUnavailable.RetryAfter, Cause: fmt.Errorf("archive: %w", err)}
}

// query runs a statement that reads, and gives each row to scan until it returns errEnough.
func (s *Store) query(ctx context.Context, q querier, query string, args []any, scan func(*sql.Rows) error) (err error) {
	rows, err := q.QueryContext(ctx, s.engine.bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// errEnough ends a query early.
var errEnough = errors.New("enough")

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// pair is a log and an id in it, or two other integers.
type pair [2]int64

// encodePairs is the argument of dialect.pairs.
func encodePairs(pairs []pair) string {
	b := make([]byte, 0, 2+24*len(pairs))
	b = append(b, '[')
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, p[0], 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, p[1], 10)
		b = append(b, ']')
	}
	return string(append(b, ']'))
}
