package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	neturl "net/url"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/cli"
)

// The exit codes of all commands. docs/cli.md has the same table.
const (
	exitFailed      = 1
	exitUsage       = 2   // the command line is wrong
	exitFindings    = 3   // it ran, and something is wrong: chatd status and chatd doctor
	exitSignedOut   = 4   // not signed in, or the credential counts no more
	exitRefused     = 5   // the server refuses it: not found, not allowed, not now
	exitUnreachable = 6   // no server answers, or one that cannot serve
	exitInterrupted = 130 // as shells report a program that SIGINT ended
)

// codedError is an error that sets the command's exit code.
type codedError struct {
	error
	code int
}

func (e codedError) Unwrap() error { return e.error }

// coded makes such an error.
func coded(code int, format string, args ...any) error {
	return codedError{fmt.Errorf(format, args...), code}
}

// exitCode is 1 for every error that does not say more.
func exitCode(err error) int {
	var own codedError
	var usage cli.UsageError
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// credential is what a command shows a server.
type credential int

const (
	byToken  credential = iota // a token or a key that was passed
	bySecret                   // a token that is signed here
	byLogin                    // what chatd login has kept
)

// callee is a server that a command calls, and as whom: for errors.
type callee struct {
	url  string
	user string // empty: not known
	by   credential
	ops  bool // the command is for operators
}

// explain puts errors in words for the person at the terminal: what is wrong, and what to do. It gives them their exit code.
func (p callee) explain(err error) error {
	var answer *client.Error
	var unreachable *neturl.Error
	var own codedError
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled):
		return coded(exitInterrupted, "interrupted")
	case errors.Is(err, client.ErrSignedOut):
		return p.signedOut()
	case errors.As(err, &unreachable):
		return coded(exitUnreachable, "no server answers at %s: start it, or set its address with -url or CHATD_URL (%w)", p.url, err)
	case errors.Is(err, cli.ErrOutput):
		return err
	case !errors.As(err, &answer):
		return coded(exitUnreachable, "the server at %s does not seem to be chatd: %w", p.url, err)
	case answer.Code == client.CodeUnauthenticated:
		return p.signedOut()
	case answer.Code == client.CodeForbidden && p.ops:
		return coded(exitRefused, "the server refuses it: %s (the token has to be an operator's: with the role admin)", cli.Plain(answer.Detail))
	case answer.Code == "":
		return coded(exitUnreachable, "the server at %s is not chatd: %d %s", p.url, answer.Status, cli.Plain(answer.Detail))
	case answer.Code == client.CodeUnavailable, answer.Code == client.CodeInternal:
		return coded(exitUnreachable, "the server at %s cannot do it now: %s", p.url, cli.Plain(cmp.Or(answer.Detail, answer.Code)))
	}
	kinds := map[string]error{client.CodeNotFound: queue.ErrNotFound, client.CodeConflict: queue.ErrConflict, client.CodeInvalid: queue.ErrInvalid}
	return codedError{refused{kinds[answer.Code], cli.Plain(cmp.Or(answer.Detail, answer.Code))}, exitRefused}
}

// signedOut says how to sign in again.
func (p callee) signedOut() error {
	switch p.by {
	case bySecret:
		return coded(exitSignedOut, "the server at %s refuses the token: use the server's secret (CHATD_JWT_SECRET, or CHATD_DATA "+
			"if it was generated), or pass an operator's token with -token or CHATD_TOKEN", p.url)
	case byLogin:
		return coded(exitSignedOut, "the login of %s at %s has ended: run chatd login -url %[2]s", cli.Plain(p.user), p.url)
	}
	return coded(exitSignedOut, "the server at %s refuses the token: pass another one with -token or CHATD_TOKEN, or run chatd login", p.url)
}

// noGroup says that a person has no such group.
func noGroup(id string) error {
	return coded(exitRefused, "there is no group %s, or you are not a member of it: see chatd groups", cli.Plain(id))
}

// refused is what a server said of a task, as an error of the engine.
type refused struct {
	kind error
	text string
}

func (r refused) Error() string { return r.text }
func (r refused) Unwrap() error { return r.kind }
