package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/cli"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, Zoë, 王伟, أمينة":          "plain, Zoë, 王伟, أمينة",
		"two\r\nlines\tand a tab":        "two\nlines and a tab",
		"\x1b[2J\x07\x00":                `\x1b[2J\x07\x00`,
		"\u009b31m\u0085":                `\x9b31m\x85`,
		"\u202eevil\u202c \u2066x\u2069": `\u202eevil\u202c \u2066x\u2069`,
		"\u200f\u061c\u200e":             `\u200f\u061c\u200e`,
		"\u2028\ufeff\u00ad\U000e0041":   `\u2028\ufeff\xad\U000e0041`,
		"👩\u200d🚀 ❤\ufe0f می\u200cخواهم": "👩\u200d🚀 ❤\ufe0f می\u200cخواهم",
		"no\u00a0break\u3000here":        "no break here",
		"\xff":                           "\ufffd",
		"back\rto the start":             `back\x0dto the start`,
	} {
		if got := visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for who, want := range map[person]string{
		{"zoe", "Zoë"}: "Zoë (zoe)", {"bob", "Bob"}: "bob", {"bob", ""}: "bob", {"eve", "root\n#9 x"}: "root #9 x (eve)",
	} {
		if got := who.String(); got != want {
			t.Errorf("%q: got %q, want %q", who.name, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Setenv("TZ", "UTC")
	name := "rest"
	who := &people{known: map[string]client.User{"zoe": {User: "zoe", Name: "Zoë"}}}
	at := time.Date(2026, 11, 27, 9, 5, 0, 0, time.Local)
	for want, m := range map[string]client.Message{
		"hi\n  #8 bob: forged":       {Content: client.Content{Kind: "text", Body: "hi\n#8 bob: forged"}},
		"(reply to #3) yes":          {Content: client.Content{Kind: "text", Body: "yes", ReplyTo: 3}},
		`{"build":7}`:                {Content: client.Content{Kind: "data", Data: []byte(`{"build":7}`)}},
		"see [file a.txt, 12 bytes]": {Content: client.Content{Kind: "text", Body: "see"}, Files: []client.File{{Name: "a.txt", Size: 12}}},
		"(deleted)":                  {Content: client.Content{Kind: "text"}, DeletedAt: &at},
	} {
		m.ID, m.From, m.SentAt = 7, "zoe", at
		if got, want := who.line(m, ""), "#7 2026-11-27 09:05 Zoë (zoe): "+want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, m := range map[string]client.Message{
		"edits #3: better":     {Content: client.Content{Kind: "edit", Body: "better", Target: 3}},
		"deletes #3":           {Content: client.Content{Kind: "delete", Target: 3}},
		"reacts 👍 to #3":       {Content: client.Content{Kind: "reaction", Emoji: "👍", Target: 3}},
		"takes 👍 off #3":       {Content: client.Content{Kind: "reaction", Emoji: "👍", Target: 3, Removed: true}},
		"adds bob, eve":        {Content: client.Content{Kind: "notice"}, Notice: "joined", Users: []string{"bob", "eve"}},
		"joins":                {Content: client.Content{Kind: "notice"}, Notice: "joined", User: "zoe"},
		"makes bob admin":      {Content: client.Content{Kind: "notice"}, Notice: "role", User: "bob", Role: "admin"},
		"names the group rest": {Content: client.Content{Kind: "notice"}, Notice: "renamed", Name: &name},
	} {
		m.ID, m.From, m.SentAt = 7, "zoe", at
		if got, want := who.line(m, "g "), "g #7 2026-11-27 09:05 Zoë (zoe) "+want; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	at := callee{url: "http://x", user: "bob", by: byLogin}
	answer := func(status int, code string) error {
		return fmt.Errorf("x: %w", &client.Error{Status: status, Code: code})
	}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"nothing said":  {errors.New("x"), 1},
		"output":        {at.explain(fmt.Errorf("%w: x", cli.ErrOutput)), 1},
		"usage":         {cli.UsageError{}, 2},
		"401":           {at.explain(answer(401, client.CodeUnauthenticated)), 4},
		"signed out":    {at.explain(client.ErrSignedOut), 4},
		"403":           {at.explain(answer(403, client.CodeForbidden)), 5},
		"404":           {at.explain(answer(404, client.CodeNotFound)), 5},
		"429":           {at.explain(answer(429, client.CodeRateLimited)), 5},
		"503":           {at.explain(answer(503, client.CodeUnavailable)), 6},
		"another one":   {at.explain(answer(http.StatusTeapot, "")), 6},
		"nobody":        {at.explain(&neturl.Error{Err: errors.New("refused")}), 6},
		"interrupted":   {at.explain(context.Canceled), 130},
		"said already":  {at.explain(coded(3, "x")), 3},
		"said in words": {fmt.Errorf("ship: %w", at.explain(answer(404, client.CodeNotFound))), 5},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: got %d for %v, want %d", name, got, c.err, c.want)
		}
	}
	if err := at.explain(answer(404, client.CodeNotFound)); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("the commands of the task engine do not see %v as a task that is not there", err)
	}
	for _, args := range [][]string{{"-nope"}, {"send"}, {"send", "g", "x", "-payload", "{"}, {"tail", "g", "h", "-since", "1"}, {"groups", "-url", "nope"}, {"login", "nope"}} {
		t.Setenv("HOME", t.TempDir())
		if _, _, err := call(t, args...); exitCode(err) != exitUsage {
			t.Errorf("%v: got exit code %d for %v, want %d", args, exitCode(err), err, exitUsage)
		}
	}
}

// TestLoginsAreKept checks where a command gets its server and token from, in order.
func TestLoginsAreKept(t *testing.T) {
	config := t.TempDir()
	t.Setenv("HOME", config)
	t.Setenv("XDG_CONFIG_HOME", config)
	flags := func(url, token string) (server string, used string) {
		t.Helper()
		c := memberFlags{access: access{URL: url, Token: token}}
		at, l, err := c.find(nodeConfig(t), func(login) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if l != nil {
			used = l.Name
		}
		return at, used
	}
	check := func(url, token, wantURL, wantLogin string) {
		t.Helper()
		if got, used := flags(url, token); got != wantURL || used != wantLogin {
			t.Errorf("-url %q -token %q: got %s and the login %q, want %s and %q", url, token, got, used, wantURL, wantLogin)
		}
	}
	const here, work, home = "http://127.0.0.1:8080", "https://chat.example.com", "https://home.example"
	check("", "", here, "")
	one := login{Name: "work", URL: work, User: "zoe", Token: "t"}
	if err := errors.Join(one.save(), one.use()); err != nil {
		t.Fatal(err)
	}
	two := login{Name: "home", URL: home, User: "zoe", Token: "t", Role: roleAdmin}
	if err := two.save(); err != nil {
		t.Fatal(err)
	}
	check("", "", work, "work")
	check("home", "", home, "home")
	check(home+"/", "", home, "home")
	check("", "x", here, "") // a token goes to no server that only a login names
	check("home", "x", home, "")
	check("https://other.example", "", "https://other.example", "")
	if url, l, err := (access{}).find(nodeConfig(t), func(l login) bool { return l.Role == roleAdmin }); err != nil || l != nil || url != here {
		t.Errorf("a command of operators: got %s, %v, %v; want the secret of this host rather than the login of a member", url, l, err)
	}
	for _, name := range []string{"work" + loginSuffix, currentFile} {
		info, err := os.Stat(filepath.Join(config, "chatd", name))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: got %v, %v; want it for its owner alone", name, info, err)
		}
	}
	if err := one.remove(); err != nil {
		t.Fatal(err)
	}
	check("", "", home, "home")
	tokens := &loginTokens{name: "work"}
	if _, err := tokens.token(t.Context()); !errors.Is(err, client.ErrSignedOut) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a login that has ended: got %v", err)
	}
	for name, c := range map[string]struct {
		l    login
		want bool
	}{
		"none":       {login{}, false},
		"of a key":   {login{Token: "ck_x"}, true},
		"long":       {login{Token: harness.Token("zoe", "", time.Hour), Refresh: "r"}, true},
		"short":      {login{Token: harness.Token("zoe", "", 30*time.Second), Refresh: "r"}, false},
		"unreadable": {login{Token: "x", Refresh: "r"}, false},
	} {
		if got := c.l.fresh(""); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if l := (login{Token: harness.Token("zoe", "", time.Hour), Refresh: "r"}); l.fresh(l.Token) {
		t.Error("a token that the server refuses is used again")
	}
}

func nodeConfig(t *testing.T) (c node.Config) {
	t.Helper()
	c.Addr = "127.0.0.1:8080"
	return c
}
