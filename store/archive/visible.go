package archive

import (
	sqldriver "database/sql/driver"
	"sync"
	"sync/atomic"

	driver "modernc.org/sqlite"
)

// visibleFunction is a function of SQL, on all connections to SQLite: whether a search, by the number that lendRanges gave it, may
// see an entry, by its log and id. A table of what may be seen would have to be filled for each search.
const visibleFunction = "chatd_visible"

// lent are the ranges of the searches that run: int64 -> []logRange.
var (
	lent     sync.Map
	lentLast atomic.Int64
)

// lendRanges makes sorted ranges known to visibleFunction until done is called.
func lendRanges(ranges []logRange) (handle int64, done func()) {
	handle = lentLast.Add(1)
	lent.Store(handle, ranges)
	return handle, func() { lent.Delete(handle) }
}

// registerVisible comes before connections are opened.
var registerVisible = sync.OnceValue(func() error {
	return driver.RegisterScalarFunction(visibleFunction, 3, func(_ *driver.FunctionContext, args []sqldriver.Value) (sqldriver.Value, error) {
		handle, _ := args[0].(int64)
		log, _ := args[1].(int64)
		id, _ := args[2].(int64)
		ranges, ok := lent.Load(handle)
		if !ok {
			return int64(0), nil
		}
		r, ok := rangeOf(ranges.([]logRange), log)
		if !ok || id < r.From || id > r.To {
			return int64(0), nil
		}
		return int64(1), nil
	})
})
