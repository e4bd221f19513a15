package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue/backoff"
	"github.com/chatd/chatd/queue/script"
)

// ErrPartitions means that the keys under a prefix have a different number of partitions than Options.Partitions.
var ErrPartitions = errors.New("wrong number of partitions")

// ErrLayout means that the tasks under a prefix are stored in a layout that this version of the engine does not know.
var ErrLayout = errors.New("unknown layout of tasks")

// layoutVersion is the version of the layout of tasks, as the newest engine that wrote under a prefix has recorded it. It
// grows whenever an older engine could not run what a newer one stores; a newer one runs whatever older ones stored.
//
//	1: specifications, run records, and the lists and sets of states
//	2: options in the heads of specifications, batches, periodic tasks, limits, rates, unique keys for a time, results, successors
//	3: a slot of a limit without a blank in front, and the mark among the slots; see option/limit/lua/lib/limit.lua
const layoutVersion = 3

// CheckPartitions returns how many partitions the keys under a prefix have. The first call records partitions, or 1 if
// that is 0. A later call with a different number gets ErrPartitions, unless it passes 0: with the wrong number it
// would look for tasks in the wrong places. ErrLayout: the tasks were written by a newer version of the engine. Tasks of
// an older one are accepted, and from then on that version is refused. It is one atomic step.
func CheckPartitions(ctx context.Context, rdb Redis, prefix string, partitions int) (int, error) {
	one := &call{Call: layoutScript.On(nil).Key("layout", layoutKey(prefix)).Arg("partitions", partitions).Arg("version", layoutVersion)}
	err := run(ctx, rdb, []*call{one})
	var recorded []int64
	switch {
	case err == nil:
		recorded, err = one.cmd.Int64Slice()
	case redis.HasErrorPrefix(err, "READONLY"), redis.HasErrorPrefix(err, "NOREPLICAS"), redis.HasErrorPrefix(err, "MISCONF"):
		// Such a server runs no script that may write, and can be looked at all the same.
		var fields []any
		if fields, err = rdb.HMGet(ctx, layoutKey(prefix), "partitions", "tasks").Result(); err == nil {
			reply := script.Reply(fields)
			recorded = []int64{reply.Number(0), reply.Number(1)}
		}
	}
	if err != nil {
		return 0, fmt.Errorf("queue: partitions: %w", err)
	}
	if len(recorded) != 2 || recorded[0] < 1 || recorded[1] < 1 {
		return 0, fmt.Errorf("queue: partitions: unexpected answer %v", recorded)
	}
	if recorded[1] > layoutVersion {
		return 0, fmt.Errorf("%w: those under %q have version %d, this engine knows versions 1 to %d: use the one that wrote them, "+
			"or a newer one", ErrLayout, prefix, recorded[1], layoutVersion)
	}
	has := int(recorded[0])
	if partitions != 0 && partitions != has {
		return has, fmt.Errorf("%w: Options.Partitions is %d, but the keys under %q have %d partitions: set it to %d, or use another Prefix",
			ErrPartitions, partitions, prefix, has, has)
	}
	return has, nil
}

// checkPartitions calls CheckPartitions until it has succeeded once.
func (c *access) checkPartitions(ctx context.Context) error {
	if c.checked.Load() {
		return nil
	}
	if _, err := CheckPartitions(ctx, c.rdb, c.prefix, c.partitions); err != nil {
		return err
	}
	c.checked.Store(true)
	return nil
}

// run checks the number of partitions before the first calls of a client.
func (c *access) run(ctx context.Context, calls []*call) error {
	if err := c.checkPartitions(ctx); err != nil {
		return err
	}
	return run(ctx, c.rdb, calls)
}

// awaitPartitions checks the number of partitions as soon as Redis can be reached. It also returns nil if ctx has
// ended.
func (s *Server) awaitPartitions(ctx context.Context) (wrong error) {
	_ = s.insist(ctx, "cannot read the number of partitions, retrying", func() error {
		err := s.checkPartitions(ctx)
		if errors.Is(err, ErrPartitions) || errors.Is(err, ErrLayout) {
			wrong, err = err, nil
		}
		return err
	})
	return wrong
}

// insist calls do until it succeeds, or ctx has ended: then it returns the last error. Each failure is logged.
func (s *Server) insist(ctx context.Context, failure string, do func() error, about ...any) error {
	again := backoff.Backoff{Min: errorPause, Max: pollMax}
	for {
		err := do()
		if err == nil {
			return nil
		}
		pause := again.Next()
		s.o.Logger.Warn(failure, append(slices.Clip(about), "error", err, "pause", pause)...)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
