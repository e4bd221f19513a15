package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// usersCommand manages the accounts of a running server.
type usersCommand struct {
	remote

	Add     usersAddCommand     `cmd:"" help:"Create an account, an operator's with -role admin."`
	List    usersListCommand    `cmd:"" help:"List the accounts."`
	Passwd  usersPasswdCommand  `cmd:"" help:"Set the password of a user: all logins of the user end."`
	Disable usersDisableCommand `cmd:"" help:"Refuse a user everything, or with -undo no longer."`
	Revoke  usersRevokeCommand  `cmd:"" help:"End all logins of a user, and refuse the tokens issued so far."`
}

// password asks for a password, or reads it from a file.
type password struct {
	File string `name:"password-file" type:"existingfile" help:"File that contains the password. Default: asked for."`
}

// read reads the password: its file, the terminal without echo (a new one twice), or a line of the standard input that is no terminal.
func (p password) read(env *environment, fresh bool) (string, error) {
	if p.File != "" {
		text, err := os.ReadFile(p.File)
		return strings.TrimRight(string(text), "\r\n"), err
	}
	terminal := int(os.Stdin.Fd())
	if !term.IsTerminal(terminal) {
		line, err := readLine(os.Stdin)
		if err != nil {
			return "", coded(exitUsage, "no password: type it, or pass a file with -password-file (%w)", err)
		}
		return line, nil
	}
	ask := func(prompt string) (string, error) {
		_, _ = fmt.Fprint(env.stderr, prompt)
		text, err := term.ReadPassword(terminal)
		_, _ = fmt.Fprintln(env.stderr)
		return string(text), err
	}
	first, err := ask("Password: ")
	if err != nil || !fresh {
		return first, err
	}
	again, err := ask("The same again: ")
	if err == nil && first != again {
		err = errors.New("these are two different passwords")
	}
	return first, err
}

// report prints what was done, as a line of JSON if that was asked for.
func (u *usersCommand) report(env *environment, user, state string) error {
	return u.print(env, map[string]string{"user": user, "state": state}, cli.Plain(user)+" is "+state)
}

type usersAddCommand struct {
	password
	User string `arg:"" help:"Id of the user."`
	Name string `help:"Name for others to see."`
	Role string `help:"admin makes an operator."`
}

func (a usersAddCommand) Run(env *environment, c node.Config, u *usersCommand) error {
	server, at, err := u.connect(c)
	if err != nil {
		return err
	}
	text, err := a.read(env, true)
	if err != nil {
		return err
	}
	if err := server.Register(env.ctx, client.AccountDraft{User: a.User, Password: text, Name: a.Name, Role: a.Role}); err != nil {
		return explainAccounts(at, err)
	}
	return u.report(env, a.User, "added")
}

// explainAccounts is explain for calls that are there only where the server has accounts.
func explainAccounts(at callee, err error) error {
	var answer *client.Error
	if errors.As(err, &answer) && answer.Code == client.CodeNotFound {
		return coded(exitRefused, "the server at %s has no accounts: see CHATD_ACCOUNTS", at.url)
	}
	return at.explain(err)
}

type usersListCommand struct{}

func (usersListCommand) Run(env *environment, c node.Config, u *usersCommand) error {
	server, at, err := u.connect(c)
	if err != nil {
		return err
	}
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	if !u.JSON {
		_, _ = fmt.Fprintln(rows, "USER\tROLE\tCREATED\tLOGINS\tDISABLED")
	}
	for cursor := ""; ; {
		list, next, err := server.Accounts(env.ctx, cursor)
		if err != nil {
			return explainAccounts(at, err)
		}
		for _, a := range list {
			if u.JSON {
				err = u.print(env, a, "")
			} else {
				_, err = fmt.Fprintf(rows, "%s\t%s\t%s\t%d\t%v\n", cli.Plain(a.User), a.Role, a.CreatedAt.UTC().Format(time.RFC3339), a.Logins, a.Disabled)
			}
			if err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

type usersPasswdCommand struct {
	password
	User string `arg:"" help:"Id of the user."`
}

func (p usersPasswdCommand) Run(env *environment, c node.Config, u *usersCommand) error {
	server, at, err := u.connect(c)
	if err != nil {
		return err
	}
	text, err := p.read(env, true)
	if err != nil {
		return err
	}
	code, err := server.CreateCode(env.ctx, p.User, "reset")
	if err != nil {
		return explainAccounts(at, err)
	}
	login, err := client.SignIn(env.ctx, at.url, client.Credentials{Code: code.Code, Password: text})
	if err == nil {
		err = login.SignOut(env.ctx)
	}
	if err != nil {
		return at.explain(err)
	}
	return u.report(env, p.User, "changed: the new password holds, and all logins have ended")
}

type usersDisableCommand struct {
	User string `arg:"" help:"Id of the user."`
	Undo bool   `help:"Let the user in again."`
}

func (d usersDisableCommand) Run(env *environment, c node.Config, u *usersCommand) error {
	server, at, err := u.connect(c)
	if err != nil {
		return err
	}
	off := !d.Undo
	done, err := server.PutUsers(env.ctx, []client.UserChange{{User: d.User, Disabled: &off}})
	switch {
	case err != nil:
		return at.explain(err)
	case len(done.Errors) > 0:
		return fmt.Errorf("%s cannot be changed: %s", cli.Plain(d.User), done.Errors[0].Code)
	case d.Undo:
		return u.report(env, d.User, "enabled")
	}
	return u.report(env, d.User, "disabled")
}

type usersRevokeCommand struct {
	User string `arg:"" help:"Id of the user."`
}

func (r usersRevokeCommand) Run(env *environment, c node.Config, u *usersCommand) error {
	server, at, err := u.connect(c)
	if err != nil {
		return err
	}
	if err := server.Revoke(env.ctx, r.User, time.Time{}); err != nil {
		return at.explain(err)
	}
	return u.report(env, r.User, "revoked")
}
