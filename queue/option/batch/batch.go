// Package batch is the option of a task that has tasks run together.
package batch

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
)

// tasksMax and bytesMax bound a batch: one script moves or removes it whole.
const tasksMax, bytesMax = 1000, 1 << 20

// Batch has tasks run together: those of one kind, priority and key wait until there are enough of them, until no
// further one has come for a while, or until the first has waited long enough, whichever is first. Then one run gets
// all of them, see Server.HandleBatch of package queue. The bounds are those of the task that comes; how a batch is retried, and for how long it
// may run, is what its first task says.
//
// A batch is carried by a task of its own, which is what is claimed, retried, buried, listed and cancelled: its tasks
// go where it goes, in the same atomic step, and a batch that has begun stays as it is, whatever happens to its workers.
// A task in a batch has no unique key, due time or deadline of its own.
type Batch struct {
	// Key is what the tasks have in common, a recipient for example. It also selects the partition where neither id
	// nor Subject does. At most 256 bytes, no line breaks; it may be empty.
	Key string
	// Max is how many tasks make a full batch, at most 1,000, the default.
	Max int
	// Bytes is how many bytes, about 60 for each task and its payload, make a full batch: at most 1 MiB, the default. A
	// task that does not fit any more begins the next batch; one that is larger is a batch by itself.
	Bytes int
	// Quiet is how long no further task may have come. 0: that does not matter.
	Quiet time.Duration
	// MaxWait is how long the first task waits at most. 0: as long as others keep coming. One of the two must be set.
	MaxWait time.Duration
}

func (b *Batch) max() int   { return cmp.Or(b.Max, tasksMax) }
func (b *Batch) bytes() int { return cmp.Or(b.Bytes, bytesMax) }

// Check returns an error that says what is wrong with the batch of a task to be enqueued.
func (b *Batch) Check() error {
	switch {
	case !option.IsKey(b.Key):
		return fmt.Errorf("batch: key %q", b.Key)
	case b.Max < 0 || b.Max > tasksMax:
		return fmt.Errorf("batch: Max is %d, must be 1 to %d", b.Max, tasksMax)
	case b.Bytes < 0 || b.Bytes > bytesMax:
		return fmt.Errorf("batch: Bytes is %d, must be 1 to %d", b.Bytes, bytesMax)
	case b.Quiet < 0 || b.MaxWait < 0 || b.Quiet > option.PauseMax || b.MaxWait > option.PauseMax:
		return fmt.Errorf("batch: Quiet is %v and MaxWait %v, must be 0 to %v", b.Quiet, b.MaxWait, option.PauseMax)
	case b.Quiet == 0 && b.MaxWait == 0:
		return errors.New("batch: Quiet or MaxWait must be set")
	}
	return nil
}

// Line is the batch as a specification holds it: "<max> <bytes> <quiet_ms> <wait_ms> <key>".
func (b *Batch) Line() string {
	return fmt.Sprintf("%d %d %d %d %s", b.max(), b.bytes(), option.CeilMs(b.Quiet), option.CeilMs(b.MaxWait), b.Key)
}

// Parse parses what Line returns. ok is false for anything else.
func Parse(value string) (b *Batch, ok bool) {
	var n [4]int64
	for i := range n {
		var field string
		var err error
		if field, value, ok = strings.Cut(value, " "); !ok {
			return nil, false
		}
		if n[i], err = strconv.ParseInt(field, 10, 64); err != nil || n[i] < 0 {
			return nil, false
		}
	}
	return &Batch{Key: value, Max: int(n[0]), Bytes: int(n[1]), Quiet: option.Span(n[2]), MaxWait: option.Span(n[3])}, true
}

// NewCarrier returns an id for the task that carries a batch in a partition, given as ids begin with it ("p00").
func NewCarrier(partition string) string { return partition + "-batch-" + rand.Text() }
