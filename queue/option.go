package queue

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/option"
	"github.com/chatd/chatd/queue/option/batch"
	"github.com/chatd/chatd/queue/option/limit"
	"github.com/chatd/chatd/queue/option/rate"
	"github.com/chatd/chatd/queue/option/result"
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
	add := func(name, value string) { lines.WriteString("\r" + name + " " + value) }
	if t.Timeout > 0 {
		add(optionTimeout, msText(t.Timeout))
	}
	if t.UniqueUntilEnd {
		add(optionUnique, uniqueEnd)
	}
	if t.UniqueFor > 0 {
		add(optionUnique, msText(t.UniqueFor))
	}
	if t.Batch != nil {
		add(optionBatch, t.Batch.Line())
	}
	if t.Limit != nil {
		add(optionLimit, t.Limit.Line())
	}
	if t.Rate != nil {
		add(optionRate, t.Rate.Line())
	}
	if t.Keep > 0 {
		add(optionKeep, msText(t.Keep))
	}
	if len(t.Then) > 0 {
		add(optionThen, t.thenLine())
	}
	return lines.String()
}

func msText(d time.Duration) string { return strconv.FormatInt(option.CeilMs(d), 10) }

// parseMs is the inverse of msText.
func parseMs(value string) (d time.Duration, ok bool) {
	ms, err := strconv.ParseInt(value, 10, 64)
	return option.Span(ms), err == nil && ms > 0
}

// parseOptions reads the options behind the unique key in a specification. One that this version does not know is an
// error: without it the task would run in a way that nobody asked for.
func (t *Task) parseOptions(lines string) error {
	for line := range strings.SplitSeq(lines, "\r") {
		name, value, _ := strings.Cut(line, " ")
		ok := true
		switch name {
		case optionTimeout:
			t.Timeout, ok = parseMs(value)
		case optionUnique:
			if t.UniqueUntilEnd = value == uniqueEnd; !t.UniqueUntilEnd {
				t.UniqueFor, ok = parseMs(value)
			}
		case optionBatch:
			t.Batch, ok = batch.Parse(value)
		case optionLimit:
			t.Limit, ok = limit.Parse(value)
		case optionRate:
			t.Rate, ok = rate.Parse(value)
		case optionKeep:
			t.Keep, ok = parseMs(value)
		case optionThen:
			t.Then, ok = parseThen(value)
		default:
			return fmt.Errorf("unknown option %.100q", name)
		}
		if !ok {
			return fmt.Errorf("option %s: malformed %.100q", name, value)
		}
	}
	return nil
}

// checkOptions returns an error that says what is wrong with the options of a task to be enqueued.
func (t *Task) checkOptions(partitions int) error {
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case t.Timeout < 0:
		return invalid("Timeout is %v", t.Timeout)
	case t.UniqueUntilEnd && t.Unique == "":
		return invalid("UniqueUntilEnd without a unique key")
	case t.UniqueFor < 0 || t.UniqueFor > uniqueForMax:
		return invalid("UniqueFor is %v, at most %v", t.UniqueFor, uniqueForMax)
	case t.UniqueFor > 0 && t.Unique == "":
		return invalid("UniqueFor without a unique key")
	case t.UniqueFor > 0 && t.UniqueUntilEnd:
		return invalid("UniqueFor and UniqueUntilEnd: a key is held for a time or until the end")
	case t.Keep < 0 || t.Keep > result.KeepMax:
		return invalid("Keep is %v, at most %v", t.Keep, result.KeepMax)
	}
	var err error
	if t.Limit != nil {
		err = t.Limit.Check()
	}
	if err == nil && t.Rate != nil {
		err = t.Rate.Check()
	}
	if err == nil && t.Batch != nil {
		err = cmp.Or(t.Batch.Check(), t.checkInBatch())
	}
	if err != nil {
		return invalid("%w", err)
	}
	return t.checkThen(partitions)
}

// checkInBatch returns an error that says what a task in a batch must not have.
func (t *Task) checkInBatch() error {
	switch {
	case t.Unique != "":
		return errors.New("batch: a task in a batch has no unique key")
	case !t.Due.IsZero() || t.Delay != 0:
		return errors.New("batch: a task in a batch has no due time or delay")
	case !t.Deadline.IsZero():
		return errors.New("batch: a task in a batch has no deadline")
	case t.Limit != nil:
		return errors.New("limit: a task in a batch has no limit")
	case t.Rate != nil:
		return errors.New("rate: a task in a batch has no rate")
	case t.Keep > 0:
		return errors.New("keep: a task in a batch leaves no result")
	case len(t.Then) > 0:
		return errors.New("then: a task in a batch has no successors")
	}
	return nil
}

// timeout is how long one run of the task may take: what the task says, else the policy of its kind; 0 = no limit.
func (t *Task) timeout(p Policy) time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return p.Timeout
}
