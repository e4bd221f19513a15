package archive

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/chatd/chatd/chat/archive/tokens"
)

// engine is a database: how its statements differ, and what it does in its own way.
type engine struct {
	driver
	dialect
}

// dialect is how the statements of the engines differ.
type dialect struct {
	name       string // of its folder of migrations
	migrations goose.Dialect
	moves      []move // work on the rows of a table that is too much for one transaction, in the order of versions
	tables     string // counts the tables of a name
	numbered   bool   // placeholders are $1, $2 and so on; otherwise ?
	pairs      string // a table `w (a, b)` of two integers, made from one argument, a JSON array of pairs
	names      string // a table `w (a, b)` of two strings, made likewise
	lockLogs   string // ends a SELECT of logs that are about to be written
	byTarget   string // follows a table of entries that are looked up by their log and target, where the engine would not find the index
	authored   string // finds messages of a user: by what the index has of it, the user, the doc to begin behind, and how many at most
	facet      string // what the index is asked for to find a facet, which is %s

	writers int  // transactions that may write at a time
	settles bool // scrub is due a while after every write, not only after content was erased

	words   func([]tokens.Token) string // what the index gets of a text
	finders []finder                    // of searches, in the order in which they are asked; the last one answers every question
}

// driver is what an engine does in its own way.
type driver interface {
	// open connects. The two are the same if one pool does both.
	open(ctx context.Context) (write, read *sql.DB, err error)
	close() error
	// insert adds rows and returns those whose doc was taken.
	insert(ctx context.Context, tx *sql.Tx, rows []*row) (taken []*row, err error)
	// unindex takes the entries that a condition names out of the index, before they are deleted.
	unindex(ctx context.Context, tx *sql.Tx, where string, args ...any) error
	// fault tells what an error means.
	fault(err error) fault
	// scrub overwrites what erased content left behind outside its table, and settles what was put off. again: it could not be
	// done now.
	scrub(ctx context.Context, db *sql.DB) (again bool, err error)
	// rewrite rewrites the files, and says which, and which it could not.
	rewrite(ctx context.Context, db *sql.DB) (done, left []string, err error)
}

// fault is a kind of error of a database.
type fault int

const (
	faultAway       fault = iota // the database cannot be reached, or does not answer in time
	faultRefused                 // it answered, and would answer the same again
	faultConflicted              // the transaction gave way to another one, and has to run again
	faultLocked                  // another process has held what the statement needs for as long as the engine waits
)

// engineOf reads the address of an archive: sqlite:PATH, or postgres://... as libpq takes it.
func engineOf(url string) (*engine, error) {
	scheme, path, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && path != "":
		e := &sqlite{path: path, fewMax: fewMax}
		return &engine{e, e.dialect()}, nil
	case scheme == "postgres", scheme == "postgresql":
		e := &postgres{url: url}
		return &engine{e, e.dialect()}, nil
	}
	return nil, errors.New("archive: want sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
}

// bind gives a statement the placeholders of the engine; it has `?` for each argument, and no other `?`.
func (d *dialect) bind(query string) string {
	if !d.numbered {
		return query
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = after
	}
}
