package main

import (
	"github.com/chatd/chatd/internal/node"
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
	server, at, err := t.remote.connect(c)
	if err != nil {
		return nil, err
	}
	return remoteTasks{server, at}, nil
}
