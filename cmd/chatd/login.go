package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	neturl "net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// loginCommand signs in, and keeps the login for the other commands.
type loginCommand struct {
	password
	Link  string `arg:"" optional:"" help:"A link that chatd printed at its start, or that an operator sent; or the name of a login to use from now on."`
	URL   string `name:"url" env:"CHATD_URL" help:"URL of the server. Default: the configured address on this host."`
	Name  string `help:"Name of the login, for -url. Default: the host of the server."`
	User  string `help:"Id of the user. Default: asked for."`
	Token string `env:"CHATD_TOKEN" help:"Sign in with a token, or with - the one on the standard input."`
	JSON  bool   `name:"json" help:"Print one JSON object, for programs."`
}

// ticket is what a link carries.
var ticket = regexp.MustCompile(`^(setup|reset|link|code|invite)=([\w.-]+)(?:&user=([^&]+))?`)

func (s loginCommand) Run(env *environment, c node.Config) error {
	if s.Link != "" && !isURL(s.Link) {
		return s.choose(env)
	}
	if s.Name != "" && !loginName.MatchString(s.Name) {
		return coded(exitUsage, "-name: want 1 to 64 letters, digits, dots, dashes and underscores; not %q", s.Name)
	}
	url, kind, code, user, err := s.server(c)
	if err != nil {
		return err
	}
	s.User = cmp.Or(s.User, user)
	at := callee{url: url}
	anybody, err := client.New(url, client.NoToken, client.WithRetry(2, client.Backoff{}))
	if err != nil {
		return coded(exitUsage, "-url: %w", err)
	}
	made := login{Name: cmp.Or(s.Name, nameOf(url)), URL: url}
	if made.Token, made.Refresh, err = s.signIn(env, anybody, at, kind, code); err != nil {
		return err
	}
	return s.keep(env, made, at)
}

// server returns where to sign in, and what a link carries: that of chatd demo names the user too.
func (s loginCommand) server(c node.Config) (url, kind, code, user string, err error) {
	url = s.URL
	if s.Link != "" {
		link, err := neturl.Parse(s.Link)
		if err != nil {
			return "", "", "", "", coded(exitUsage, "the link: %w", err)
		}
		found := ticket.FindStringSubmatch(link.Fragment)
		if found == nil {
			return "", "", "", "", coded(exitUsage, "this link signs nobody in: take one whole, with what follows the #, in quotes; or give the server with -url")
		}
		link.Fragment = ""
		return strings.TrimRight(link.String(), "/"), found[1], found[2], found[3], nil
	}
	if url != "" && !isURL(url) {
		all, err := readLogins()
		if l := all.find(url); err == nil && l != nil {
			return l.URL, "", "", "", nil
		}
	}
	if url == "" {
		url, err = node.URL(c.Addr)
	}
	return strings.TrimRight(url, "/"), "", "", "", err
}

// choose makes another login the one in use.
func (s loginCommand) choose(env *environment) error {
	all, err := readLogins()
	if err != nil {
		return err
	}
	l := all.find(s.Link)
	if l == nil {
		return coded(exitUsage, "there is no login named %q, and it is no link", s.Link)
	}
	if err := l.use(); err != nil {
		return err
	}
	return s.report(env, *l)
}

// signIn gets the first token, and for an account what gets the next one.
func (s loginCommand) signIn(env *environment, anybody *client.Client, at callee, kind, code string) (token, refresh string, err error) {
	if s.Token != "" {
		token = s.Token
		if token == "-" {
			token, err = readLine(os.Stdin)
		}
		return token, "", err
	}
	about, err := anybody.Server(env.ctx)
	if err != nil {
		return "", "", at.explain(err)
	}
	switch dev := slices.Contains(about.Features, "dev"); {
	case kind == "invite":
		return "", "", coded(exitUsage, "open an invitation in a browser; then sign in with chatd login -url %s", at.url)
	case kind == "code" && dev:
		user, err := s.user(env)
		if err != nil {
			return "", "", err
		}
		token, err := anybody.DevToken(env.ctx, user, code)
		return token, "", at.explain(err)
	case kind == "" && dev && about.Accounts:
		return "", "", coded(exitRefused, "nobody has an account at %s yet: run chatd login with a link that the server printed when it started", at.url)
	case kind == "" && dev:
		return "", "", coded(exitRefused, "run chatd login with the link that the server at %s printed when it started", at.url)
	case kind == "" && !about.Accounts && slices.Contains(about.Features, "oidc"):
		return "", "", coded(exitRefused, "people sign in to %s through a provider, in a browser: open it there, or ask an operator for a sign-in link and run chatd login with it", at.url)
	case kind == "" && !about.Accounts:
		return "", "", coded(exitRefused, "the server at %s takes tokens of your product or provider: pass one with chatd login -token -", at.url)
	}
	with := client.Credentials{Code: code}
	if kind == "" || kind == "setup" {
		if with.User, err = s.user(env); err != nil {
			return "", "", err
		}
	}
	if kind == "" || kind == "setup" || kind == "reset" {
		if with.Password, err = s.password.read(env, kind != ""); err != nil {
			return "", "", err
		}
	}
	account, err := client.SignIn(env.ctx, at.url, with)
	if client.CodeOf(err) == client.CodeUnauthenticated {
		var answer *client.Error
		errors.As(err, &answer)
		return "", "", coded(exitSignedOut, "the server at %s does not let you in: %s", at.url, cli.Plain(answer.Detail))
	}
	if err != nil {
		return "", "", at.explain(err)
	}
	token, err = account.Token(env.ctx)
	return token, account.RefreshToken(), at.explain(err)
}

// user is the id of the user, asked for if need be.
func (s loginCommand) user(env *environment) (string, error) {
	if s.User != "" {
		return s.User, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", coded(exitUsage, "-user: name the user")
	}
	_, _ = fmt.Fprint(env.stderr, "User: ")
	return readLine(os.Stdin)
}

// readLine reads the first line, of 64 KiB at most.
func readLine(from io.Reader) (string, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(from, 64<<10), 64<<10).ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("nothing to read: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// keep asks the server who that is, and keeps the login. One of the same name gives way.
func (s loginCommand) keep(env *environment, made login, at callee) error {
	server, err := client.New(made.URL, client.StaticToken(made.Token))
	if err != nil {
		return err
	}
	me, err := server.Me(env.ctx)
	if err != nil {
		return at.explain(err)
	}
	made.User, made.Role = me.User, me.Role
	before, _ := readLogin(made.Name)
	if err := errors.Join(made.save(), made.use()); err != nil {
		return err
	}
	if before.Refresh != "" {
		_ = before.end(env.ctx) // it ends by itself if the server is away
	}
	return s.report(env, made)
}

func (s loginCommand) report(env *environment, l login) error {
	if s.JSON {
		return env.printJSON(map[string]string{"name": l.Name, "url": l.URL, "user": l.User})
	}
	return env.print("%s is signed in to %s (login %s)\n", cli.Plain(l.User), cli.Plain(l.URL), l.Name)
}

// end ends a login at the server.
func (l login) end(ctx context.Context) error {
	account, err := client.ResumeLogin(l.URL, l.Refresh, client.WithRetry(2, client.Backoff{}))
	if err != nil {
		return err
	}
	return account.SignOut(ctx)
}

// logoutCommand ends logins.
type logoutCommand struct {
	URL string `name:"url" help:"Name of the login, or URL of its server. Default: the login in use."`
	All bool   `help:"End all logins."`
}

func (o logoutCommand) Run(env *environment) error {
	kept, err := readLogins()
	if err != nil {
		return err
	}
	ending := kept.all
	if !o.All {
		l := kept.find(o.URL)
		if l == nil {
			return coded(exitSignedOut, "there is no such login")
		}
		ending = []login{*l}
	}
	var failed error
	for _, l := range ending {
		if err := l.remove(); err != nil {
			return err
		}
		if err := env.print("%s is signed out of %s\n", cli.Plain(l.User), cli.Plain(l.URL)); err != nil {
			return err
		}
		if l.Refresh == "" {
			continue
		}
		err := l.end(env.ctx)
		if code := client.CodeOf(err); err != nil && code != client.CodeUnauthenticated && code != client.CodeNotFound {
			failed = coded(exitUnreachable, "the login is forgotten here, but the server at %s could not be told: end it there under “Devices” (%w)", l.URL, err)
		}
	}
	return failed
}

// whoamiCommand says as whom commands act, and where.
type whoamiCommand struct {
	memberFlags
	All  bool `help:"List all logins."`
	JSON bool `name:"json" help:"Print one JSON object per line, for programs."`
}

func (w whoamiCommand) Run(env *environment, c node.Config) error {
	if w.All {
		return w.list(env)
	}
	server, at, err := w.member(c)
	if err != nil {
		return err
	}
	me, err := server.Me(env.ctx)
	if err != nil {
		return at.explain(err)
	}
	if w.JSON {
		return env.printJSON(struct {
			URL string `json:"url"`
			client.Me
		}{at.url, me})
	}
	role := ""
	if me.Role == roleAdmin {
		role = ", an operator"
	}
	return env.print("%s at %s%s\n", person{me.User, me.Name}, cli.Plain(at.url), role)
}

func (w whoamiCommand) list(env *environment) error {
	kept, err := readLogins()
	if err != nil {
		return err
	}
	used := kept.find("")
	for _, l := range kept.all {
		current := used != nil && used.Name == l.Name
		switch {
		case w.JSON:
			err = env.printJSON(map[string]any{"name": l.Name, "url": l.URL, "user": l.User, "current": current})
		case current:
			err = env.print("%s: %s at %s, in use\n", l.Name, cli.Plain(l.User), cli.Plain(l.URL))
		default:
			err = env.print("%s: %s at %s\n", l.Name, cli.Plain(l.User), cli.Plain(l.URL))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
