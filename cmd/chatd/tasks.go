package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	neturl "net/url"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
	"github.com/chatd/chatd/queue/cli"
)

// tasksCommand is the commands of the task engine, on the tasks of a running server.
type tasksCommand struct {
	remote
	cli.Commands
}

// session is what the commands of the engine need.
func (t *tasksCommand) session(env *environment, c node.Config) *cli.Session {
	return &cli.Session{Context: env.ctx, Out: env.stdout, Err: env.stderr, JSON: t.JSON, Connect: func() (admin.Tasks, error) { return t.connect(c) }}
}

func (t *tasksCommand) connect(c node.Config) (admin.Tasks, error) {
	server, url, err := t.remote.connect(c)
	if err != nil {
		return nil, err
	}
	return remoteTasks{server, url}, nil
}

// refused is what a server said of a task, as an error of the engine.
type refused struct {
	kind error
	text string
}

func (r refused) Error() string { return r.text }
func (r refused) Unwrap() error { return r.kind }

// explain puts errors in words for operators.
func explain(url string, err error) error {
	var answer *client.Error
	var unreachable *neturl.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case errors.As(err, &unreachable):
		return fmt.Errorf("no server answers at %s: start it, or set its address with -url or CHATD_URL (%w)", url, err)
	case !errors.As(err, &answer):
		return fmt.Errorf("the server at %s does not seem to be chatd: %w", url, err)
	case answer.Code == client.CodeUnauthenticated:
		return fmt.Errorf("the server at %s refuses the token: use the server's secret (CHATD_JWT_SECRET, or CHATD_DATA "+
			"if it was generated), or pass an operator's token with -token or CHATD_TOKEN", url)
	case answer.Code == client.CodeForbidden:
		return fmt.Errorf("the server refuses it: %s (the token has to be an operator's: with the role admin)", cli.Plain(answer.Detail))
	case answer.Code == "":
		return fmt.Errorf("the server at %s is not chatd: %d %s", url, answer.Status, cli.Plain(answer.Detail))
	}
	kinds := map[string]error{client.CodeNotFound: queue.ErrNotFound, client.CodeConflict: queue.ErrConflict, client.CodeInvalid: queue.ErrInvalid}
	return refused{kinds[answer.Code], cli.Plain(cmp.Or(answer.Detail, answer.Code))}
}
