package archive

import (
	sqldriver "database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"

	sqlitedriver "modernc.org/sqlite"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// Functions of SQL, on all connections to SQLite. Their first argument is the number that lend gave a search.
const (
	// visibleFunction tells whether the search may see an entry, by its log and id. A table of what may be seen would have to be
	// filled for each search.
	visibleFunction = "chatd_visible"
	// hasFunction tells whether an entry, by its JSON, has what the index was not asked for.
	hasFunction = "chatd_has"
)

// lent are the searches that run: int64 -> lending.
var (
	lent     sync.Map
	lentLast atomic.Int64
)

type lending struct {
	ranges []logRange // sorted
	check  tokens.Query
}

// lend makes a search known to the functions until done is called.
func lend(l lending) (handle int64, done func()) {
	handle = lentLast.Add(1)
	lent.Store(handle, l)
	return handle, func() { lent.Delete(handle) }
}

// registerFunctions comes before connections are opened.
var registerFunctions = sync.OnceValue(func() error {
	return errors.Join(
		register(visibleFunction, 3, func(search lending, args []sqldriver.Value) bool {
			log, _ := args[1].(int64)
			id, _ := args[2].(int64)
			r, ok := rangeOf(search.ranges, log)
			return ok && id >= r.From && id <= r.To
		}),
		register(hasFunction, 2, func(search lending, args []sqldriver.Value) bool {
			text, _ := args[1].(string)
			_, _, ok := archive.Match(archive.Log{}, chat.Message{JSON: []byte(text)}, search.check)
			return ok
		}))
})

func register(name string, arguments int32, call func(lending, []sqldriver.Value) bool) error {
	return sqlitedriver.RegisterScalarFunction(name, arguments, func(_ *sqlitedriver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		handle, _ := args[0].(int64)
		if search, ok := lent.Load(handle); ok && call(search.(lending), args) {
			return int64(1), nil
		}
		return int64(0), nil
	})
}
