package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// keysCommand manages the keys of programs.
type keysCommand struct {
	remote

	Add    keysAddCommand    `cmd:"" help:"Create a key and print it, once."`
	List   keysListCommand   `cmd:"" help:"List the keys, without their secrets."`
	Rotate keysRotateCommand `cmd:"" help:"Give a key a new secret and print it, once."`
	Rm     keysRmCommand     `cmd:"" help:"Remove a key: it is void on every node within a second."`
}

// server is the server that the commands call, and explained puts its errors in words for operators.
func (k *keysCommand) server(c node.Config) (server *client.Client, explained func(error) error, err error) {
	server, at, err := k.connect(c)
	return server, func(err error) error {
		var answer *client.Error
		if errors.As(err, &answer) && answer.Code == client.CodeForbidden && strings.HasPrefix(k.Token, "ck_") {
			return coded(exitRefused, "%s", cli.Plain(answer.Detail)) // what the key lacks
		}
		return at.explain(err)
	}, err
}

// printSecret prints a key alone, so that a script can take it, and beside it for people what it is.
func (k *keysCommand) printSecret(env *environment, key client.Key, done string) error {
	if key.Key == "" {
		return fmt.Errorf("%s is %s, but the answer with the key was lost; get one with: chatd keys rotate %s", key.ID, done, key.ID)
	}
	if err := k.print(env, key, key.Key); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(env.stderr, "%s (%s) is %s; its key is shown only now\n", key.ID, cli.Plain(key.Name), done)
	return nil
}

// span is a duration that may count days: 90d, 12h, 90m.
type span time.Duration

const spanMax = 100 * 365 * 24 * time.Hour

var spanDays = regexp.MustCompile(`^[0-9]{1,6}d$`)

func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if spanDays.Match(text) {
		days, _ := strconv.Atoi(string(text[:len(text)-1])) // at most six digits
		d, err = time.Duration(min(days, int(spanMax/(24*time.Hour))+1))*24*time.Hour, nil
	}
	if err != nil || d < 0 || d > spanMax {
		return fmt.Errorf("want a duration such as 90d or 12h, at most 100 years; not %q", text)
	}
	*s = span(d)
	return nil
}

type keysAddCommand struct {
	Name    string   `arg:"" help:"Name of the key, for people."`
	Scopes  []string `required:"" help:"What it may do, comma-separated: groups, users, send, read, moderate, announce, events, tasks, ops, keys."`
	As      []string `help:"Users for whom it may act, comma-separated ids and beginnings such as bot-*, or any. Default: nobody."`
	Groups  []string `help:"Groups that it may have to do with, in the same form. Default: all."`
	From    []string `help:"Networks that it may be used from, such as 10.0.0.0/8, comma-separated. Default: all."`
	Rate    string   `help:"Limit of its own, as CHATD_RATE_USER. Default: none."`
	Expires *span    `placeholder:"DURATION" help:"How long it holds, such as 90d or 12h. Default: until it is removed."`
}

func (a keysAddCommand) Run(env *environment, c node.Config, k *keysCommand) error {
	draft := client.KeyDraft{Name: a.Name, Scopes: a.Scopes, Rate: a.Rate, Groups: a.Groups, From: a.From}
	if len(a.As) == 1 && a.As[0] == "any" {
		draft.As.Any = true
	} else {
		draft.As.Users = a.As
	}
	if a.Expires != nil {
		at := time.Now().Add(time.Duration(*a.Expires))
		draft.ExpiresAt = &at
	}
	server, explained, err := k.server(c)
	if err != nil {
		return err
	}
	key, err := server.CreateKey(env.ctx, draft)
	if err != nil {
		return explained(err)
	}
	return k.printSecret(env, key, "created")
}

type keysListCommand struct{}

func (keysListCommand) Run(env *environment, c node.Config, k *keysCommand) error {
	server, explained, err := k.server(c)
	if err != nil {
		return err
	}
	rows := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(rows, "ID\tNAME\tSCOPES\tAS\tGROUPS\tFROM\tRATE\tEXPIRES\tLAST USED\tCREATED BY")
	for page := (client.Page{}); ; {
		keys, next, err := server.Keys(env.ctx, page)
		if err != nil {
			return explained(err)
		}
		for _, key := range keys {
			if !k.JSON {
				_, _ = fmt.Fprintln(rows, strings.Join(keyCells(key), "\t"))
			} else if err := k.print(env, key, ""); err != nil {
				return err
			}
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	if k.JSON {
		return nil
	}
	if err := rows.Flush(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrOutput, err)
	}
	return nil
}

// keyCells is a line of the table.
func keyCells(k client.Key) []string {
	or := func(list []string, absent string) string {
		if len(list) == 0 {
			return absent
		}
		return strings.Join(list, ",")
	}
	at := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		return t.UTC().Format(time.RFC3339)
	}
	as := or(k.As.Users, "nobody")
	if k.As.Any {
		as = "any"
	}
	rate := "off"
	if k.Rate != nil {
		rate = *k.Rate
	}
	cells := []string{
		k.ID, k.Name, or(k.Scopes, ""), as, or(k.Groups, "all"), or(k.From, "all"), rate, at(k.ExpiresAt), at(k.LastUsedAt), k.CreatedBy,
	}
	for i, cell := range cells {
		cells[i] = cli.Plain(cell)
	}
	return cells
}

// keyID is the id of a key. Of a whole key only its id is taken, since an id ends up in the logs of proxies.
type keyID string

func (id *keyID) UnmarshalText(text []byte) error {
	name := string(text)
	if whole, ok := strings.CutPrefix(name, "ck_"); ok {
		name, _, _ = strings.Cut(whole, "_")
	}
	*id = keyID(name)
	return nil
}

type keysRotateCommand struct {
	ID      keyID `arg:"" help:"Id of the key."`
	Overlap span  `default:"24h" placeholder:"DURATION" help:"How long the previous secret holds, up to 30d; 0s: it ends now."`
}

func (r keysRotateCommand) Run(env *environment, c node.Config, k *keysCommand) error {
	server, explained, err := k.server(c)
	if err != nil {
		return err
	}
	key, err := server.RotateKey(env.ctx, string(r.ID), time.Duration(r.Overlap))
	if err != nil {
		return explained(err)
	}
	return k.printSecret(env, key, "rotated")
}

type keysRmCommand struct {
	ID keyID `arg:"" help:"Id of the key."`
}

func (r keysRmCommand) Run(env *environment, c node.Config, k *keysCommand) error {
	server, explained, err := k.server(c)
	if err != nil {
		return err
	}
	if err := server.DeleteKey(env.ctx, string(r.ID)); err != nil {
		return explained(err)
	}
	return k.print(env, map[string]string{"id": string(r.ID), "state": "removed"}, cli.Plain(string(r.ID))+" is removed")
}
