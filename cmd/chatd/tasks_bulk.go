package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

// manyTasks says which tasks a command takes: those with the ids, or all of a selection.
type manyTasks struct {
	IDs    []string `arg:"" name:"id" optional:"" help:"Ids of tasks."`
	All    bool     `help:"All tasks in the state, or those selected by -kind, -error and -before."`
	State  string   `enum:"dead,delayed" default:"dead" help:"With -all: dead or delayed ones."`
	Queue  string   `enum:"core,egress," default:"" help:"With -all: only those of this queue, core or egress."`
	Kind   string   `help:"With -all: only those of this kind."`
	Error  string   `help:"With -all: only those whose last error contains this text."`
	Before string   `placeholder:"TIME" help:"With -all: only those that died, or are due, before this time (2026-11-23T10:00:00Z) or so long ago (36h)."`
}

// before parses -before.
func (m *manyTasks) before(now time.Time) (*time.Time, error) {
	if m.Before == "" {
		return nil, nil //nolint:nilnil // none was asked for
	}
	if ago, err := time.ParseDuration(m.Before); err == nil && ago >= 0 {
		at := now.Add(-ago)
		return &at, nil
	}
	at, err := time.Parse(time.RFC3339, m.Before)
	if err != nil || at.IsZero() {
		return nil, fmt.Errorf("-before: %q is neither a time such as 2026-11-23T10:00:00Z nor a duration such as 36h", m.Before)
	}
	return &at, nil
}

// check returns an error if it is not clear which tasks are meant.
func (m *manyTasks) check() error {
	selects := m.Queue != "" || m.Kind != "" || m.Error != "" || m.Before != ""
	switch {
	case len(m.IDs) > 0 && (m.All || selects):
		return errors.New("name tasks or select them with -all, not both")
	case len(m.IDs) == 0 && !m.All && selects:
		return errors.New("add -all to take all tasks that are selected")
	case len(m.IDs) == 0 && !m.All:
		return errors.New("name tasks, or take all of them with -all")
	}
	return nil
}

// change does an act to all selected tasks, queue by queue, and shows how far it is. What was done before it is
// interrupted is counted.
func (m *manyTasks) change(env *environment, c node.Config, t *tasksCommand, act, done string) error {
	before, err := m.before(time.Now())
	if err != nil {
		return err
	}
	queues := []string{"core", "egress"}
	if m.Queue != "" {
		queues = []string{m.Queue}
	}
	return t.operate(c, func(server *client.Client) error {
		var sum client.TasksChanged
		failed := func() error {
			for _, queue := range queues {
				q := client.TasksQuery{Queue: queue, State: m.State, Kind: m.Kind, Error: m.Error, Before: before, Act: act}
				for {
					step, err := server.ChangeTasks(env.ctx, q)
					if err != nil {
						return err
					}
					sum.Looked, sum.Changed = sum.Looked+step.Looked, sum.Changed+step.Changed
					if q.Cursor = step.Next; q.Cursor == "" {
						break
					}
					_, _ = fmt.Fprintf(env.stderr, "%s: %d tasks looked at, %d %s\n", queue, sum.Looked, sum.Changed, done)
				}
			}
			return nil
		}()
		counted := struct {
			Looked  int64 `json:"looked"`
			Changed int64 `json:"changed"`
		}{sum.Looked, sum.Changed}
		err := t.print(env, counted, fmt.Sprintf("%d of %d %s tasks are %s\n", sum.Changed, sum.Looked, m.State, done))
		return errors.Join(failed, err)
	})
}

type tasksRetryCommand struct{ manyTasks }

func (r tasksRetryCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.All {
		return r.change(env, c, t, "retry", "retried")
	}
	return t.each(c, r.IDs, func(server *client.Client, id string) error {
		task, err := server.RetryTask(env.ctx, id)
		if err != nil {
			return err
		}
		return t.print(env, task, id+" is "+task.State+"\n")
	})
}

type tasksDeleteCommand struct{ manyTasks }

func (d tasksDeleteCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	if err := d.check(); err != nil {
		return err
	}
	if d.All {
		return d.change(env, c, t, "delete", "deleted")
	}
	return t.each(c, d.IDs, func(server *client.Client, id string) error {
		if err := server.DeleteTask(env.ctx, id); err != nil {
			return err
		}
		return t.print(env, map[string]string{"id": id, "state": "deleted"}, id+" is deleted\n")
	})
}
