// Package archive keeps logs in a SQL database: SQLite, or PostgreSQL for several nodes. It implements the Store of
// chat/archive. Both engines run the same statements; where they differ stands in sqlite.go and postgres.go.
package archive

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

const (
	openTimeout  = 30 * time.Second // for connecting, and for reading what the schema has; a migration takes as long as it takes
	readTimeout  = 5 * time.Second
	writeTimeout = 30 * time.Second // of one transaction of the writer
)

// Store is an open archive. Its methods may be called by many goroutines at a time.
type Store struct {
	late      late
	engine    engine
	write     *sql.DB // SQLite: the one connection that writes; this and what follows is set once it is open
	read      *sql.DB
	id        string
	writer    *writer
	numbers   numbers
	searchMax time.Duration // of one search
}

var _ archive.Store = (*Store)(nil)

// engine is what the databases differ in.
type engine interface {
	// name is that of the engine's folder of migrations.
	name() string
	// open connects. The two are the same where one pool does both.
	open(ctx context.Context) (write, read *sql.DB, err error)
	close() error
	// moves is work on the rows of a table that is too much for one transaction, in the order of versions.
	moves() []move
	// bind gives a statement the placeholders of the engine; it has `?` for each argument, and no other `?`.
	bind(query string) string
	// pairs is a table `w (a, b)` of two integers, made from one argument, a JSON array of pairs.
	pairs() string
	// names is a table `w (a, b)` of two strings, made likewise.
	names() string
	// lockLogs ends a SELECT of logs that are about to be written.
	lockLogs() string
	// byTarget follows a table of entries that are looked up by their log and target, where the engine would not find the index.
	byTarget() string
	// writers is how many transactions may write at a time.
	writers() int
	// words is what the index gets of a text.
	words(list []tokens.Token) string
	// insert adds rows and returns those whose doc was taken.
	insert(ctx context.Context, tx *sql.Tx, rows []*row) (taken []*row, err error)
	// unindex takes the entries that a condition names out of the index, before they are deleted.
	unindex(ctx context.Context, tx *sql.Tx, where string, args ...any) error
	// search is a statement that finds entries that may be seen, newest first, with its first arguments. Three more follow:
	// the lowest and the highest doc, and how many to find at most. The index is asked for q and facets, and what it finds is
	// compared with check. visible is in the order of its logs. done is called when the rows are read.
	search(q, check tokens.Query, facets [][]string, visible []logRange) (query string, args []any, done func())
	// few finds all entries that may have what is wanted, where they are few. nil: they are not, or the engine cannot tell.
	few(ctx context.Context, wanted tokens.Query, q archive.Query, visible []logRange, low, top int64, limit int) (*few, error)
	// rare tells which of several words to ask the index for. Where these are not all, so few entries have them that each can be
	// looked at for a page of limit. None: ask for all.
	rare(ctx context.Context, words []string, low, top int64, limit int) (asked []bool, err error)
	// walk is a statement like that of search, with all its arguments, which looks at the newest entries alone and finds them in
	// the same order. Where it finds fewer than limit, there may be more. Empty: search is likely to be faster.
	walk(ctx context.Context, q tokens.Query, facets [][]string, visible []logRange, low, top int64, limit int) (query string, args []any, err error)
	// authored is a statement that finds the messages of a user in the index, oldest first, with its first arguments. Three more
	// follow: the user, the doc to begin behind, and how many to find at most.
	authored(user string) (query string, args []any)
	// refused tells that the database answered, and that a repetition gets the same answer.
	refused(err error) bool
	// conflicted tells that a transaction gave way to another one, and is to be run again.
	conflicted(err error) bool
	// locked tells that another process has held what a statement needs for as long as the engine waits.
	locked(err error) bool
	// settles tells that scrub is due a while after every write, not only after content was erased.
	settles() bool
	// scrub overwrites what erased content left behind outside its table, and settles what was put off. again: it could not be
	// done now.
	scrub(ctx context.Context, db *sql.DB) (again bool, err error)
	// rewrite rewrites the files, and says which, and which it could not.
	rewrite(ctx context.Context, db *sql.DB) (done, left []string, err error)
}

// engineOf reads the address of an archive: sqlite:PATH, or postgres://... as libpq takes it.
func engineOf(url string) (engine, error) {
	scheme, path, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && path != "":
		return &sqlite{path: path, fewMax: fewMax}, nil
	case scheme == "postgres", scheme == "postgresql":
		return &postgres{url: url}, nil
	}
	return nil, errors.New("archive: want sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
}

// Open connects to the archive at url and brings its schema up to date, which takes minutes where a step has to read a large
// table; if ctx ends before, nothing of that step remains. An archive of a newer chatd, or one whose
// migration was interrupted, is refused with an error that says what to do.
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

// inTime makes a call that a database answers at once, unless it is away.
func inTime(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return call(ctx)
}

// prepare reads the name of the database, or gives it one.
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
	_, err = look(ctx, url, func(ctx context.Context, _ engine, db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT value FROM about WHERE name = 'id'`).Scan(&id)
	})
	if errors.Is(err, errNoTables) || errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, err
}

// failed gives an error of the database the form that the domain takes.
func (s *Store) failed(err error) error {
	var known *chat.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case s.engine.refused(err):
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

// pair is a log and an id in it, or another two integers.
type pair [2]int64

// encodePairs is the argument that engine.pairs reads.
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
