package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	neturl "net/url"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

const (
	operator         = "operator" // the user of the tokens that these commands make
	operatorTokenTTL = time.Hour  // longer than any listing takes
	pageMax          = 1_000      // the largest page that the server allows
)

// tasksCommand calls a running server over HTTP, so it works wherever the store is.
type tasksCommand struct {
	URL   string `name:"url" env:"CHATD_URL" help:"URL of the server, such as https://chat.example.com. Default: the configured address on this host."`
	Token string `env:"CHATD_TOKEN" help:"Token of an operator. Default: created with the configured or generated secret."`
	JSON  bool   `name:"json" help:"Print one JSON object per line, for programs."`

	List   tasksListCommand   `cmd:"" name:"ls" help:"List tasks."`
	Show   tasksShowCommand   `cmd:"" help:"Show everything known about a task."`
	Retry  tasksRetryCommand  `cmd:"" help:"Run dead or delayed tasks now."`
	Delete tasksDeleteCommand `cmd:"" help:"Delete tasks, whatever their state."`
	Pause  tasksPauseCommand  `cmd:"" help:"Stop claiming tasks of a queue; running tasks continue."`
	Resume tasksResumeCommand `cmd:"" help:"Resume a paused queue."`
	Stats  tasksStatsCommand  `cmd:"" help:"Count the tasks of each queue."`
	Days   tasksDaysCommand   `cmd:"" help:"Count the runs of each day by kind."`
	Limits tasksLimitsCommand `cmd:"" help:"Show who has the slots of limits, and who waits for them."`

	Periodic tasksPeriodicCommand `cmd:"" help:"List, pause, resume, run and delete periodic tasks."`
}

// operate calls do with a client of the server, and explains errors to operators.
func (t *tasksCommand) operate(c node.Config, do func(*client.Client) error) error {
	url := t.URL
	if url == "" {
		var err error
		if url, err = node.URL(c.Addr); err != nil {
			return err
		}
	}
	token := t.Token
	if token == "" {
		var err error
		if token, err = c.Token(operator, "admin", operatorTokenTTL); err != nil {
			return fmt.Errorf("%w; or pass an operator's token with -token or CHATD_TOKEN", err)
		}
	}
	// A person is waiting: one retry is enough.
	server, err := client.New(url, client.StaticToken(token), client.WithRetry(2, client.Backoff{Base: 200 * time.Millisecond, Max: time.Second}))
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	return explain(url, do(server))
}

func explain(url string, err error) error {
	var refused *client.Error
	var refusals refusals
	var unreachable *neturl.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case errors.As(err, &refusals), errors.Is(err, errOutput):
		return err
	case errors.As(err, &unreachable):
		return fmt.Errorf("no server answers at %s: start it, or set its address with -url or CHATD_URL (%w)", url, err)
	case !errors.As(err, &refused):
		return fmt.Errorf("the server at %s does not seem to be chatd: %w", url, err)
	case refused.Code == client.CodeUnauthenticated:
		return fmt.Errorf("the server at %s refuses the token: use the server's secret (CHATD_JWT_SECRET, or CHATD_DATA "+
			"if it was generated), or pass an operator's token with -token or CHATD_TOKEN", url)
	case refused.Code == client.CodeForbidden:
		return errors.New("the token does not belong to an operator: it needs the role admin")
	case refused.Code == "":
		return fmt.Errorf("the server at %s is not chatd: %d %s", url, refused.Status, plain(refused.Detail))
	}
	return errors.New(plain(cmp.Or(refused.Detail, refused.Code)))
}

// errOutput marks errors of writing the output.
var errOutput = errors.New("cannot write the output")

// print writes text, or v as one line of JSON if that was asked for.
func (t *tasksCommand) print(env *environment, v any, text string) error {
	if t.JSON {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text = string(line) + "\n"
	}
	if _, err := fmt.Fprint(env.stdout, text); err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	return nil
}

type tasksListCommand struct {
	State string `enum:",ready,parked,delayed,leased,dead" default:"" help:"Only tasks in this state: ready, parked, delayed, leased or dead."`
	Queue string `help:"Only tasks of this queue."`
	Limit int    `default:"100" help:"Maximum number of tasks; 0: all."`
	IDs   bool   `name:"ids" help:"Print only ids, one per line."`
}

// Run prints page by page, so that a long list starts at once and takes no memory.
func (l tasksListCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	if l.Limit < 0 {
		return errors.New("-limit: want a whole number from 0")
	}
	return t.operate(c, func(server *client.Client) error {
		cursor, printed, rows := "", 0, newTaskTable()
		for {
			page := client.Page{Limit: pageMax, Cursor: cursor}
			if l.Limit > 0 {
				page.Limit = min(pageMax, l.Limit-printed)
			}
			tasks, next, err := server.Tasks(env.ctx, l.State, l.Queue, page)
			if err != nil {
				return err
			}
			if err := l.print(env, t, rows, tasks); err != nil {
				return err
			}
			printed += len(tasks)
			if next == "" {
				return nil
			}
			if l.Limit > 0 && printed >= l.Limit {
				_, _ = fmt.Fprintln(env.stderr, "There are more: -limit 0 lists all.")
				return nil
			}
			cursor = next
		}
	})
}

func (l tasksListCommand) print(env *environment, t *tasksCommand, rows *table, tasks []client.Task) error {
	if !l.IDs || t.JSON {
		now := time.Now()
		return printPage(env, t, rows, tasks, func(task client.Task) []string { return taskCells(task, now) })
	}
	for _, task := range tasks {
		if err := t.print(env, nil, plain(task.ID)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

type tasksShowCommand struct {
	ID string `arg:"" help:"Id of the task."`
}

func (s tasksShowCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.operate(c, func(server *client.Client) error {
		task, err := server.Task(env.ctx, s.ID)
		if err != nil {
			return err
		}
		return t.print(env, task, taskSheet(task))
	})
}

// refusals are the errors of a command, one for each task that it failed for.
type refusals []error

func (r refusals) Error() string { return errors.Join(r...).Error() }

// each calls do for each task. If the server refuses one, the others are still processed.
func (t *tasksCommand) each(c node.Config, ids []string, do func(server *client.Client, id string) error) error {
	return t.operate(c, func(server *client.Client) error {
		var failed refusals
		for _, id := range ids {
			err := do(server, id)
			switch client.CodeOf(err) {
			case client.CodeNotFound, client.CodeConflict, client.CodeInvalid:
				failed = append(failed, fmt.Errorf("%s: %w", plain(id), explain("", err)))
			default:
				if err != nil {
					return err
				}
			}
		}
		if len(failed) > 0 {
			return failed
		}
		return nil
	})
}

type tasksPauseCommand struct {
	Queue string `arg:"" help:"Name of the queue."`
}

func (p tasksPauseCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.steer(env, c, p.Queue, (*client.Client).PauseQueue)
}

type tasksResumeCommand struct {
	Queue string `arg:"" help:"Name of the queue."`
}

func (r tasksResumeCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.steer(env, c, r.Queue, (*client.Client).ResumeQueue)
}

func (t *tasksCommand) steer(env *environment, c node.Config, name string, change func(*client.Client, context.Context, string) (client.Queue, error)) error {
	return t.operate(c, func(server *client.Client) error {
		queue, err := change(server, env.ctx, name)
		if err != nil {
			return err
		}
		state := "is resumed"
		if queue.Paused {
			state = "is paused"
		}
		return t.print(env, queue, fmt.Sprintf("%s %s: %d ready, %d running\n", queue.Queue, state, queue.ReadyAll(), queue.Leased))
	})
}

type tasksStatsCommand struct{}

func (tasksStatsCommand) Run(env *environment, c node.Config, t *tasksCommand) error {
	return t.operate(c, func(server *client.Client) error {
		queues, err := server.Queues(env.ctx)
		if err != nil {
			return err
		}
		if !t.JSON {
			return t.print(env, nil, statsTable(queues))
		}
		for _, q := range queues {
			if err := t.print(env, q, ""); err != nil {
				return err
			}
		}
		return nil
	})
}
