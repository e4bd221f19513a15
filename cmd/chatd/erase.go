package main

import (
	"errors"
	"fmt"

	"github.com/chatd/chatd/internal/node"
)

// eraseCommand accesses the files and servers directly, so it needs no running server.
type eraseCommand struct {
	Now bool `help:"Confirm. Servers on Redis may keep running; a server with the embedded store must be stopped."`
}

func (e eraseCommand) Run(env *environment, c node.Config) error {
	if !e.Now {
		return errors.New("erase rewrites the files of the store and the archive, which takes time and up to as much disk space again; to go ahead, repeat it with -now")
	}
	err := c.Scrub(env.ctx, env.stderr, func(line string) error { return env.print("%s\n", line) })
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return nil
}
