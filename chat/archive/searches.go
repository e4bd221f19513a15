package archive

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// SearchStats counts the searches of this node since its start.
type SearchStats struct {
	Answered int64
	TooLong  int64         // refused with ErrTooLong
	Busy     int64         // refused because others were running
	Failed   int64         // for any other reason
	Took     time.Duration // all of them together, waits for a turn and for archiving included
}

// searchCounts counts searches.
type searchCounts struct {
	answered, tooLong, busy, failed, took atomic.Int64
}

func (c *searchCounts) count(err error, took time.Duration) {
	c.took.Add(int64(took))
	var refused *chat.Error
	switch _ = errors.As(err, &refused); {
	case err == nil:
		c.answered.Add(1)
	case refused == ErrTooLong:
		c.tooLong.Add(1)
	case refused == errTurn:
		c.busy.Add(1)
	default:
		c.failed.Add(1)
	}
}

// Stats returns the counts, read one after the other.
func (s *Searcher) Stats() SearchStats {
	c := &s.counts
	return SearchStats{Answered: c.answered.Load(), TooLong: c.tooLong.Load(), Busy: c.busy.Load(), Failed: c.failed.Load(),
		Took: time.Duration(c.took.Load())}
}
