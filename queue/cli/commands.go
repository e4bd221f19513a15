// Package cli is the command line of the task engine: the commands of cmd/queue, which any program built with kong can
// have as its own, on tasks that it reaches in its own way.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
)

// pageMax is the size of the pages that commands ask for.
const pageMax = 1_000

// Commands are the commands. Their Run takes a *Session, which kong has to know: kong.Context.Run(session).
type Commands struct {
	List     listCommand     `cmd:"" name:"ls" help:"List tasks."`
	Show     showCommand     `cmd:"" help:"Show everything known about a task."`
	Retry    retryCommand    `cmd:"" help:"Run dead or delayed tasks now."`
	Delete   deleteCommand   `cmd:"" help:"Delete tasks, whatever their state."`
	Pause    pauseCommand    `cmd:"" help:"Stop claiming tasks of a queue; running tasks continue."`
	Resume   resumeCommand   `cmd:"" help:"Resume a paused queue."`
	Stats    statsCommand    `cmd:"" help:"Count the tasks of each queue."`
	Days     daysCommand     `cmd:"" help:"Count the runs of each day by kind."`
	Periodic periodicCommand `cmd:"" help:"List, pause, resume, run and delete periodic tasks."`
}

// Session is what the commands share.
type Session struct {
	Context  context.Context
	Out, Err io.Writer
	JSON     bool // print one JSON object per line
	// Connect returns the tasks that commands act on. Its errors, and those of the tasks, are printed as they are.
	Connect func() (admin.Tasks, error)
}

// ErrOutput marks errors of writing the output.
var ErrOutput = errors.New("cannot write the output")

// UsageError is an error of the command line, and not of what it did.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

func (s *Session) act(do func(admin.Tasks) error) error {
	tasks, err := s.Connect()
	if err != nil {
		return err
	}
	return do(tasks)
}

// refusals are the errors of a command, one for each task that it failed for.
type refusals []error

func (r refusals) Error() string   { return errors.Join(r...).Error() }
func (r refusals) Unwrap() []error { return r }

// each calls do for each task. If one is refused, the others are still processed.
func (s *Session) each(ids []string, do func(tasks admin.Tasks, id string) error) error {
	return s.act(func(tasks admin.Tasks) error {
		var failed refusals
		for _, id := range ids {
			err := do(tasks, id)
			switch {
			case errors.Is(err, queue.ErrNotFound), errors.Is(err, queue.ErrConflict), errors.Is(err, queue.ErrInvalid):
				failed = append(failed, fmt.Errorf("%s: %w", Plain(id), err))
			case err != nil:
				return err
			}
		}
		if len(failed) > 0 {
			return failed
		}
		return nil
	})
}

// print writes text, or v as one line of JSON if that was asked for.
func (s *Session) print(v any, text string) error {
	if s.JSON {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text = string(line) + "\n"
	}
	if _, err := fmt.Fprint(s.Out, text); err != nil {
		return fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return nil
}

type listCommand struct {
	State string `enum:",ready,parked,delayed,leased,dead" default:"" help:"Only tasks in this state: ready, parked, delayed, leased or dead."`
	Queue string `help:"Only tasks of this queue."`
	Limit int    `default:"100" help:"Maximum number of tasks; 0: all."`
	IDs   bool   `name:"ids" help:"Print only ids, one per line."`
}

// Run prints page by page, so that a long list starts at once and takes no memory.
func (l listCommand) Run(s *Session) error {
	if l.Limit < 0 {
		return UsageError{errors.New("-limit: want a whole number from 0")}
	}
	return s.act(func(tasks admin.Tasks) error {
		q, printed, rows := admin.Query{State: queue.State(l.State), Queue: l.Queue, Limit: pageMax}, 0, newTaskTable()
		for {
			if l.Limit > 0 {
				q.Limit = min(pageMax, l.Limit-printed)
			}
			page, next, err := tasks.List(s.Context, q)
			if err != nil {
				return err
			}
			if err := l.print(s, rows, page); err != nil {
				return err
			}
			printed += len(page)
			if next == "" {
				return nil
			}
			if l.Limit > 0 && printed >= l.Limit {
				_, _ = fmt.Fprintln(s.Err, "There are more: -limit 0 lists all.")
				return nil
			}
			q.Cursor = next
		}
	})
}

func (l listCommand) print(s *Session, rows *table, page []admin.Task) error {
	if !l.IDs || s.JSON {
		now := time.Now()
		return printPage(s, rows, page, func(task admin.Task) []string { return taskCells(task, now) })
	}
	for _, task := range page {
		if err := s.print(nil, Plain(task.ID)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

type showCommand struct {
	ID string `arg:"" help:"Id of the task."`
}

func (c showCommand) Run(s *Session) error {
	return s.act(func(tasks admin.Tasks) error {
		task, err := tasks.Task(s.Context, c.ID)
		if err != nil {
			return err
		}
		return s.print(task, taskSheet(task))
	})
}

type pauseCommand struct {
	Queue string `arg:"" help:"Name of the queue."`
}

func (p pauseCommand) Run(s *Session) error { return s.pause(p.Queue, true) }

type resumeCommand struct {
	Queue string `arg:"" help:"Name of the queue."`
}

func (r resumeCommand) Run(s *Session) error { return s.pause(r.Queue, false) }

func (s *Session) pause(name string, paused bool) error {
	return s.act(func(tasks admin.Tasks) error {
		q, err := tasks.Pause(s.Context, name, paused)
		if err != nil {
			return err
		}
		state := "is resumed"
		if q.Paused {
			state = "is paused"
		}
		return s.print(q, fmt.Sprintf("%s %s: %d ready, %d running\n", q.Queue, state, q.ReadyAll(), q.Leased))
	})
}

type statsCommand struct{}

func (statsCommand) Run(s *Session) error {
	return s.act(func(tasks admin.Tasks) error {
		queues, err := tasks.Queues(s.Context)
		if err != nil {
			return err
		}
		if !s.JSON {
			return s.print(nil, statsTable(queues))
		}
		for _, q := range queues {
			if err := s.print(q, ""); err != nil {
				return err
			}
		}
		return nil
	})
}
