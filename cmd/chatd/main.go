// Command chatd is a group messaging server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/chatd/chatd/internal/build"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// net/http prints unsolicited data from remote servers, bypassing our log: it may contain what we have sent them.
	log.SetOutput(io.Discard)
	dropEmpty(os.Environ())
	if err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "chatd: %v\n", err)
		os.Exit(exitCode(err))
	}
}

// interrupts are the signals that end a command in order. A terminal that closes is one, unless nohup says otherwise.
func interrupts() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// dropEmpty removes empty settings from the environment: they mean the default, because a compose file writes them
// (CHATD_ADDR: ${CHATD_ADDR:-}).
func dropEmpty(environ []string) {
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); value == "" && strings.HasPrefix(name, "CHATD_") {
			_ = os.Unsetenv(name)
		}
	}
}

// commandLine is everything that can be given as flags, and by the same names in the environment.
type commandLine struct {
	node.Config `embed:"" group:"Settings of the server:"`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Serve serveCommand `cmd:"" default:"1" help:"Run the server (the default)."`
	Demo  demoCommand  `cmd:"" help:"Run a throw-away server with five people in it, to look at."`

	Login      loginCommand      `cmd:"" group:"For people:" help:"Sign in to a server, and keep the login for other commands."`
	Logout     logoutCommand     `cmd:"" group:"For people:" help:"End a login."`
	Whoami     whoamiCommand     `cmd:"" group:"For people:" help:"Say who is signed in, and where; with -all, list the logins."`
	Groups     groupsCommand     `cmd:"" group:"For people:" help:"List your groups, with what is unread."`
	Send       sendCommand       `cmd:"" group:"For people:" help:"Send a message to a group, and print its id."`
	Tail       tailCommand       `cmd:"" group:"For people:" help:"Show the last messages of groups, and follow them until interrupted."`
	Chat       chatCommand       `cmd:"" group:"For people:" help:"Chat in the terminal: your groups, messages as they come, and commands to reply, react and edit."`
	Completion completionCommand `cmd:"" group:"For people:" help:"Print a script that has bash, zsh or fish complete commands and flags."`

	CompleteWords completeWordsCommand `cmd:"" hidden:""`

	Token       tokenCommand       `cmd:"" help:"Create a token with the configured or generated secret, or check one."`
	Tasks       tasksCommand       `cmd:"" help:"Inspect and control the background work of a running server."`
	Invites     invitesCommand     `cmd:"" help:"Make, list and revoke invitations, on a running server."`
	Keys        keysCommand        `cmd:"" help:"Create, list, rotate and remove the keys of programs, on a running server."`
	Users       usersCommand       `cmd:"" help:"Create and list accounts, set passwords, disable and revoke users, on a running server."`
	Audit       auditCommand       `cmd:"" help:"List who did what to whom, on a running server: bans, roles, deletions, keys and more, the newest first."`
	Status      statusCommand      `cmd:"" help:"Show what is wrong and how each node does, on a running server. Exits with 3 if anything is wrong."`
	Doctor      doctorCommand      `cmd:"" help:"Check the store: the server, every key, and whether related keys agree."`
	Erase       eraseCommand       `cmd:"" help:"Rewrite the files of the store and the archive, so that nothing deleted or erased is left in them."`
	Migrate     migrateCommand     `cmd:"" help:"Show or change the schema of the archive."`
	Export      exportCommand      `cmd:"" help:"Export the whole store and its archive to a file. All servers must be stopped."`
	Import      importCommand      `cmd:"" help:"Import such a file into an empty store and archive."`
	Ship        shipCommand        `cmd:"" help:"Ship files and logs to all members of a group, as parts of whole lines."`
	Process     processCommand     `cmd:"" help:"Run a command for each part that is shipped to a group, in order."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
	Help        helpCommand        `cmd:"" help:"Print this help, or the help of a command."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the server at the configured address whether it is ready."`
}

// environment is what commands need besides their flags.
type environment struct {
	ctx     context.Context
	environ []string
	stdout  io.Writer
	stderr  io.Writer
}

// print writes to the standard output. Its error is a cli.ErrOutput.
func (env *environment) print(format string, args ...any) error {
	if _, err := fmt.Fprintf(env.stdout, format, args...); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// progress returns the progress of a command that counts something.
func (env *environment) progress(command, of string) progress {
	return progress{out: env.stderr, terminal: isTerminal(env.stderr), of: of, command: command}
}

// newParser makes the table of commands and flags, which also has their help and completions.
func newParser(line *commandLine, stdout, stderr io.Writer, exit func(code int)) (*kong.Kong, error) {
	return kong.New(line, kong.Name("chatd"), kong.Description("Group messaging: a group is a log, a member is a cursor into it."),
		kong.Writers(stdout, stderr), kong.Vars{"version": versionLine()}, kong.Exit(exit), kong.Help(printHelp))
}

func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	var line commandLine
	exit := -1
	parser, err := newParser(&line, stdout, stderr, func(code int) { exit = code })
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(longFlags(args))
	if exit == 0 {
		return nil // --help or --version
	}
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		return coded(exitUsage, "%w; see %s --help", err, commandOf(wrong.Context))
	}
	if err != nil {
		return err
	}
	env := &environment{ctx, environ, stdout, stderr}
	return parsed.Run(env, line.Config, line.Tasks.session(env, line.Config))
}

// commandOf returns the command that was selected so far.
func commandOf(line *kong.Context) string {
	words := []string{"chatd"}
	for _, step := range line.Path {
		if step.Command != nil && step.Command.Name != "serve" && step.Command.Name != "new" {
			words = append(words, step.Command.Name)
		}
	}
	return strings.Join(words, " ")
}

var singleDash = regexp.MustCompile(`^-[a-z][a-z-]+(=.*)?$`)

// longFlags accepts -addr for --addr, as most Go programs do; -h is the only short flag.
func longFlags(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "--" { // what follows belongs to another command
			copy(out[i:], args[i:])
			break
		}
		if singleDash.MatchString(a) {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

type serveCommand struct{}

func (serveCommand) Run(env *environment, c node.Config) error {
	if err := node.CheckEnvironment(env.environ); err != nil {
		return err
	}
	// The reader of the log may go away: then writing it fails, instead of ending the process (os/signal, "SIGPIPE"). Other
	// commands end like any in a pipe.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	n, err := node.Open(env.ctx, c, env.stderr)
	if err != nil {
		return err
	}
	return errors.Join(n.Run(env.ctx), n.Close())
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command to explain."`
}

func (h helpCommand) Run(env *environment) error {
	return run(env.ctx, append(h.Command, "--help"), nil, env.stdout, env.stderr)
}

type versionCommand struct{}

// versionLine says what was built, from which commit, with which Go, for which system.
func versionLine() string {
	b := build.Read()
	return fmt.Sprintf("chatd %s (commit %s, %s %s/%s)", b.Version, b.Commit, b.Go, runtime.GOOS, runtime.GOARCH)
}

func (versionCommand) Run(env *environment) error {
	return env.print("%s\n", versionLine())
}

type healthcheckCommand struct{}

func (healthcheckCommand) Run(env *environment, c node.Config) error {
	return node.CheckHealth(env.ctx, c.Addr)
}
