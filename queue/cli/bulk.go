package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
)

// manyTasks says which tasks a command takes: those with the ids, or all of a selection.
type manyTasks struct {
	IDs    []string `arg:"" name:"id" optional:"" help:"Ids of tasks."`
	All    bool     `help:"All tasks in the state, or those selected by -kind, -error and -before."`
	State  string   `enum:"dead,delayed" default:"dead" help:"With -all: dead or delayed ones."`
	Queue  string   `help:"With -all: only those of this queue."`
	Kind   string   `help:"With -all: only those of this kind."`
	Error  string   `help:"With -all: only those whose last error contains this text."`
	Before string   `placeholder:"TIME" help:"With -all: only those that died, or are due, before this time (2026-11-23T10:00:00Z) or so long ago (36h)."`
}

// before parses -before.
func (m *manyTasks) before(now time.Time) (time.Time, error) {
	if m.Before == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(m.Before); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, m.Before)
	if err != nil || at.IsZero() {
		return at, UsageError{fmt.Errorf("-before: %q is neither a time such as 2026-11-23T10:00:00Z nor a duration such as 36h", m.Before)}
	}
	return at, nil
}

// check returns an error if it is not clear which tasks are meant.
func (m *manyTasks) check() error {
	selects := m.Queue != "" || m.Kind != "" || m.Error != "" || m.Before != ""
	switch {
	case len(m.IDs) > 0 && (m.All || selects):
		return UsageError{errors.New("name tasks or select them with -all, not both")}
	case len(m.IDs) == 0 && !m.All && selects:
		return UsageError{errors.New("add -all to take all tasks that are selected")}
	case len(m.IDs) == 0 && !m.All:
		return UsageError{errors.New("name tasks, or take all of them with -all")}
	}
	return nil
}

// change does an act to all selected tasks, queue by queue, and shows how far it is. What was done before it is
// interrupted is counted.
func (m *manyTasks) change(s *Session, act queue.BulkAct, done string) error {
	before, err := m.before(time.Now())
	if err != nil {
		return err
	}
	return s.act(func(tasks admin.Tasks) error {
		queues := []string{m.Queue}
		if m.Queue == "" {
			all, err := tasks.Queues(s.Context)
			if err != nil {
				return err
			}
			queues = queues[:0]
			for _, q := range all {
				queues = append(queues, q.Queue)
			}
		}
		var sum admin.Changed
		failed := func() error {
			for _, name := range queues {
				b := admin.Bulk{Queue: name, State: queue.State(m.State), Kind: m.Kind, Error: m.Error, Before: before, Act: act}
				for {
					step, err := tasks.Bulk(s.Context, b)
					sum.Looked, sum.Changed = sum.Looked+step.Looked, sum.Changed+step.Changed
					if err != nil {
						return err
					}
					if b.Cursor = step.Next; b.Cursor == "" {
						sum.Left += step.Left
						break
					}
					_, _ = fmt.Fprintf(s.Err, "%s: %d tasks looked at, %d %s\n", name, sum.Looked, sum.Changed, done)
				}
			}
			return nil
		}()
		err := s.print(sum, fmt.Sprintf("%d of %d %s tasks are %s\n", sum.Changed, sum.Looked, m.State, done))
		return errors.Join(failed, err)
	})
}

type retryCommand struct{ manyTasks }

func (r retryCommand) Run(s *Session) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.All {
		return r.change(s, queue.BulkRetry, "retried")
	}
	return s.each(r.IDs, func(tasks admin.Tasks, id string) error {
		task, err := tasks.Retry(s.Context, id)
		if err != nil {
			return err
		}
		return s.print(task, id+" is "+string(task.State)+"\n")
	})
}

type deleteCommand struct{ manyTasks }

func (d deleteCommand) Run(s *Session) error {
	if err := d.check(); err != nil {
		return err
	}
	if d.All {
		return d.change(s, queue.BulkDelete, "deleted")
	}
	return s.each(d.IDs, func(tasks admin.Tasks, id string) error {
		if err := tasks.Delete(s.Context, id); err != nil {
			return err
		}
		return s.print(map[string]string{"id": id, "state": "deleted"}, id+" is deleted\n")
	})
}
