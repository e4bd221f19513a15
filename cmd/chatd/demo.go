package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/demo"
	"github.com/chatd/chatd/internal/node"
)

const (
	demoTokenTTL    = 24 * time.Hour
	demoHeaderMax   = 5 * time.Second // that the receiver waits for the header of a request
	demoLogFile     = "chatd.log"
	demoPermissions = 0o600
	demoIDWidth     = 14 // of `&user=` and the id of a person
)

// demoCommand runs a server with people in it, on a store that is gone afterwards.
type demoCommand struct {
	Quiet   bool `help:"Do not let the people go on talking."`
	Members int  `default:"10000" help:"How many the community has, 200 to 10000."`
}

func (d demoCommand) Run(env *environment, c node.Config) (err error) {
	if d.Members < demo.MembersMin || d.Members > demo.MembersMax {
		return coded(exitUsage, "-members: want %d to %d, not %d", demo.MembersMin, demo.MembersMax, d.Members)
	}
	dir, remove, err := node.Throwaway(os.TempDir(), "chatd-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if env.ctx.Err() != nil {
			err = nil // whoever watches has seen enough
		}
		err = errors.Join(err, remove())
	}()
	own, err := demoConfig(env, c.Addr, dir)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, demoLogFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, demoPermissions)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if err := importPast(env.ctx, own, dir, log); err != nil {
		return err
	}
	n, err := node.Open(env.ctx, own, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(env.ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	if err = d.show(ctx, env, own, n); err != nil {
		stop()
	}
	return errors.Join(err, <-ended, n.Close())
}

// demoConfig are the settings of the demo: the defaults, whatever the environment says, but for the address. The links of people need the
// development sign-in, which accounts would end.
func demoConfig(env *environment, addr, dir string) (node.Config, error) {
	for _, entry := range env.environ {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CHATD_") {
			_ = os.Unsetenv(name) // kong would read it
		}
	}
	c, err := node.Default()
	c.Addr, c.Data, c.Dev, c.Accounts, c.EgressAllow = addr, dir, "on", "off", []string{"127.0.0.0/8"}
	return c, err
}

// importPast imports what was said before today.
func importPast(ctx context.Context, c node.Config, dir string, log *os.File) error {
	for _, l := range demo.Past() {
		path := filepath.Join(dir, l.ID+".ndjson")
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := errors.Join(l.WriteTo(file, time.Now()), file.Close()); err != nil {
			return err
		}
		draft := importer.Draft{Group: l.ID, Name: l.Name, Owner: l.Owner, Members: l.Members}
		if _, err := c.ImportMessages(ctx, path, draft, nil, log); err != nil {
			return err
		}
	}
	return nil
}

// show fills the server, and says where it is.
func (d demoCommand) show(ctx context.Context, env *environment, c node.Config, n *node.Node) error {
	url, err := node.URL(n.Addr().String())
	if err != nil {
		return err
	}
	receiver, err := refuse(ctx)
	if err != nil {
		return err
	}
	server := demo.Server{Receiver: receiver, As: func(user string) (*client.Client, error) {
		role := ""
		if user == demo.Operator {
			role = "admin"
		}
		token, err := c.Token(user, role, demoTokenTTL)
		if err != nil {
			return nil, err
		}
		return client.New(url, client.StaticToken(token))
	}}
	if err := demo.Begin(ctx, server); err != nil {
		return err
	}
	if err := env.print("\n  A server with five people in it, until you stop it with Ctrl+C. A link for each, and one for the operator:\n\n"); err != nil {
		return err
	}
	for _, p := range append(demo.People, demo.Person{ID: demo.Operator, Name: "Operator"}) {
		link := n.SignInLink() + "&user=" + p.ID
		if err := env.print("    %-*s  %s\n", len(n.SignInLink())+demoIDWidth, link, p.Name); err != nil {
			return err
		}
	}
	if err := env.print(demoHints, c.Data, url); err != nil {
		return err
	}
	err = demo.Grow(ctx, server, d.Members)
	if err == nil && !d.Quiet {
		_ = demo.Talk(ctx, server, demo.Leisurely) // somebody has changed the groups
	}
	return err
}

const demoHints = `
  What to try:

    Open two people in two windows, one of them private, and let them write to each other.
    Cut the network (in the browser's developer tools: Network, Offline), write something, and come back: nothing is lost.
    See what is wrong here:  chatd status -data %[1]s -url %[2]s

`

// refuse starts the receiver of webhooks, which ends with ctx.
func refuse(ctx context.Context) (url string, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	receiver := &http.Server{Handler: demo.Receiver, ReadHeaderTimeout: demoHeaderMax}
	context.AfterFunc(ctx, func() { _ = receiver.Close() })
	go func() { _ = receiver.Serve(l) }()
	return fmt.Sprintf("http://%s", l.Addr()), nil
}
