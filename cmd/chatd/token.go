package main

import (
	"context"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// checkTimeout is how long fetching a key set from a URL may take.
const checkTimeout = 10 * time.Second

// tokenCommand makes a token; its subcommand checks one.
type tokenCommand struct {
	New   tokenNewCommand   `cmd:"" default:"withargs" help:"Create a token (the default)."`
	Check tokenCheckCommand `cmd:"" help:"Check whether the configured keys accept a token, and if not, say why."`
}

type tokenNewCommand struct {
	User string        `required:"" help:"Id of the user."`
	Role string        `help:"admin for an operator or a backend; leave it out for a user."`
	TTL  time.Duration `name:"ttl" default:"24h" help:"How long the token is valid."`
}

func (t tokenNewCommand) Run(env *environment, c node.Config) error {
	token, err := c.Token(t.User, t.Role, t.TTL)
	if err != nil {
		return err
	}
	return env.print("%s\n", token)
}

type tokenCheckCommand struct {
	Token string `arg:"" help:"The token."`
}

func (t tokenCheckCommand) Run(env *environment, c node.Config) error {
	ctx, cancel := context.WithTimeout(env.ctx, checkTimeout)
	defer cancel()
	who, err := c.CheckToken(ctx, t.Token, env.stderr)
	if err != nil {
		return err
	}
	role := "no role"
	if who.Admin {
		role = "role admin"
	}
	return env.print("valid: user %s, %s, expires %s (in %s)\n", who.User, role, who.Expires.UTC().Format(time.RFC3339),
		time.Until(who.Expires).Round(time.Second))
}
