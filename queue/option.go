package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Options of a task stand in the head of its specification, after the unique key, each as "\r<name> <value>". A task
// without any has nothing there, and costs what it did before there were options. Neither a name nor a value contains a
// line break, so the head ends at the first "\n" as ever.
const (
	optionTimeout = "timeout" // ms
	optionUnique  = "unique"  // "end": the unique key is held until the task ends; ms: for that long after the enqueue
	optionBatch   = "batch"   // tasks, bytes, quiet ms, wait ms, key
	optionLimit   = "limit"   // tasks, 1 = keeps its slot until it ends, what it does if none is free, key
	optionRate    = "rate"    // runs, us, burst, key
	optionKeep    = "keep"    // ms
	optionThen    = "then"    // see then.go
)

const uniqueEnd = "end"

// hasOptions is all that a task without any runs of the code of options.
func (t *Task) hasOptions() bool {
	return t.Timeout != 0 || t.UniqueUntilEnd || t.UniqueFor != 0 || t.Batch != nil || t.Limit != nil || t.Rate != nil || t.Keep != 0 || len(t.Then) > 0
}

// optionLines returns the options of a task as its specification holds them, "" for none.
func (t *Task) optionLines() string {
	if !t.hasOptions() {
		return ""
	}
	var lines strings.Builder
	if t.Timeout > 0 {
		fmt.Fprintf(&lines, "\r%s %d", optionTimeout, ceilMs(t.Timeout))
	}
	if t.UniqueUntilEnd {
		fmt.Fprintf(&lines, "\r%s %s", optionUnique, uniqueEnd)
	}
	if t.UniqueFor > 0 {
		fmt.Fprintf(&lines, "\r%s %d", optionUnique, ceilMs(t.UniqueFor))
	}
	if b := t.Batch; b != nil {
		fmt.Fprintf(&lines, "\r%s %d %d %d %d %s", optionBatch, b.max(), b.bytes(), ceilMs(b.Quiet), ceilMs(b.MaxWait), b.Key)
	}
	if t.Limit != nil {
		fmt.Fprintf(&lines, "\r%s %s", optionLimit, t.Limit.line())
	}
	if t.Rate != nil {
		fmt.Fprintf(&lines, "\r%s %s", optionRate, t.Rate.line())
	}
	if t.Keep > 0 {
		fmt.Fprintf(&lines, "\r%s %d", optionKeep, ceilMs(t.Keep))
	}
	if len(t.Then) > 0 {
		fmt.Fprintf(&lines, "\r%s %s", optionThen, t.thenLine())
	}
	return lines.String()
}

// parseOptions reads the options behind the unique key in a specification. One that this version does not know is an
// error: without it the task would run in a way that nobody asked for.
func (t *Task) parseOptions(lines string) error {
	for line := range strings.SplitSeq(lines, "\r") {
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case optionTimeout:
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil || ms <= 0 {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
			t.Timeout = span(ms)
		case optionUnique:
			ms, err := strconv.ParseInt(value, 10, 64)
			if t.UniqueUntilEnd = value == uniqueEnd; !t.UniqueUntilEnd && (err != nil || ms <= 0) {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
			t.UniqueFor = span(ms)
		case optionBatch:
			var ok bool
			if t.Batch, ok = parseBatch(value); !ok {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
		case optionLimit:
			var ok bool
			if t.Limit, ok = parseLimit(value); !ok {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
		case optionRate:
			var ok bool
			if t.Rate, ok = parseRate(value); !ok {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
		case optionKeep:
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil || ms <= 0 {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
			t.Keep = span(ms)
		case optionThen:
			var ok bool
			if t.Then, ok = parseThen(value); !ok {
				return fmt.Errorf("option %s: malformed %.100q", name, value)
			}
		default:
			return fmt.Errorf("unknown option %.100q", name)
		}
	}
	return nil
}

// checkOptions returns an error that says what is wrong with the options of a task to be enqueued.
func (t *Task) checkOptions(partitions int) error {
	if t.Timeout < 0 {
		return fmt.Errorf("%w: Timeout is %v", ErrInvalid, t.Timeout)
	}
	if t.UniqueUntilEnd && t.Unique == "" {
		return fmt.Errorf("%w: UniqueUntilEnd without a unique key", ErrInvalid)
	}
	if t.UniqueFor < 0 || t.UniqueFor > uniqueForMax {
		return fmt.Errorf("%w: UniqueFor is %v, at most %v", ErrInvalid, t.UniqueFor, uniqueForMax)
	}
	if t.UniqueFor > 0 && t.Unique == "" {
		return fmt.Errorf("%w: UniqueFor without a unique key", ErrInvalid)
	}
	if t.UniqueFor > 0 && t.UniqueUntilEnd {
		return fmt.Errorf("%w: UniqueFor and UniqueUntilEnd: a key is held for a time or until the end", ErrInvalid)
	}
	if t.Keep < 0 || t.Keep > keepMax {
		return fmt.Errorf("%w: Keep is %v, at most %v", ErrInvalid, t.Keep, keepMax)
	}
	if t.Keep > 0 && t.Batch != nil {
		return fmt.Errorf("%w: Keep: a task in a batch leaves no result", ErrInvalid)
	}
	if err := t.checkLimit(); err != nil {
		return err
	}
	if err := t.checkRate(); err != nil {
		return err
	}
	if err := t.checkBatch(); err != nil {
		return err
	}
	return t.checkThen(partitions)
}

// timeout is how long one run of the task may take: what the task says, else the policy of its kind; 0 = no limit.
func (t *Task) timeout(p Policy) time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return p.Timeout
}
