package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
)

const roleAdmin = "admin" // the role of operators

// login is a sign-in at a server that is kept for later commands: each in a file of its own, which only its owner can read.
type login struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	User    string `json:"user"`
	Role    string `json:"role,omitempty"` // when it was made
	Token   string `json:"token"`
	Refresh string `json:"refresh,omitempty"` // gets the next token; empty: there is no next one
}

// logins are the kept ones by name, and which of them is in use.
type logins struct {
	all     []login
	current string
}

var (
	loginName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,63}$`)
	urlStart  = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)
)

func isURL(text string) bool { return urlStart.MatchString(text) }

// nameOf is the name of a login at a server if nobody gives another one: its host.
func nameOf(url string) string {
	u, err := neturl.Parse(url)
	if err != nil {
		return ""
	}
	return strings.Trim(strings.NewReplacer(":", "-", "[", "", "]", "").Replace(strings.ToLower(u.Host)), "-")
}

// loginFolder is where the logins are: in the configuration of the person at the terminal.
func loginFolder() (string, error) {
	config, err := os.UserConfigDir()
	return filepath.Join(config, "chatd"), err
}

const (
	loginSuffix = ".login"
	currentFile = "current"
)

// readLogins reads all logins. Where there is no home, there are none.
func readLogins() (found logins, err error) {
	folder, err := loginFolder()
	if err != nil {
		return logins{}, nil //nolint:nilerr // a service has no home
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return logins{}, nil
	}
	if err != nil {
		return logins{}, err
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), loginSuffix)
		if !is {
			continue
		}
		l, err := readLogin(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // logged out meanwhile
		}
		if err != nil {
			return logins{}, err
		}
		found.all = append(found.all, l)
	}
	if current, err := os.ReadFile(filepath.Join(folder, currentFile)); err == nil {
		found.current = strings.TrimSpace(string(current))
	}
	return found, nil
}

func readLogin(name string) (l login, err error) {
	folder, err := loginFolder()
	if err != nil {
		return l, err
	}
	path := filepath.Join(folder, name+loginSuffix)
	text, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s is damaged: remove it and sign in again (%w)", path, err)
	}
	l.Name = name
	return l, nil
}

// find returns the login that is named, or one at a URL, or with neither the one in use. nil: there is none.
func (s logins) find(which string) *login {
	is := func(l login) bool { return l.Name == which }
	switch {
	case which == "" && len(s.all) == 1:
		return &s.all[0]
	case which == "":
		is = func(l login) bool { return l.Name == s.current }
	case isURL(which):
		is = func(l login) bool { return sameServer(l.URL, which) }
		if i := slices.IndexFunc(s.all, func(l login) bool { return is(l) && l.Name == s.current }); i >= 0 {
			return &s.all[i]
		}
	}
	if i := slices.IndexFunc(s.all, is); i >= 0 {
		return &s.all[i]
	}
	return nil
}

func sameServer(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// save keeps a login.
func (l login) save() error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return replaceConfig(l.Name+loginSuffix, text)
}

// use makes a login the one in use.
func (l login) use() error { return replaceConfig(currentFile, []byte(l.Name+"\n")) }

// remove forgets a login.
func (l login) remove() error {
	folder, err := loginFolder()
	if err != nil {
		return err
	}
	return os.Remove(filepath.Join(folder, l.Name+loginSuffix))
}

// replaceConfig writes a file that only its owner can read, in one step: a crash leaves the old or the new one.
func replaceConfig(name string, text []byte) (err error) {
	folder, err := loginFolder()
	if err != nil {
		return fmt.Errorf("there is no place to keep the login: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// loginTokens is a token source of a login. Several commands may use a login at a time: each takes what another one has got,
// and of two that ask the server at once both get the same tokens.
type loginTokens struct {
	name string

	mu  sync.Mutex
	has login
}

// tokenRenew is how long before its end a token is replaced.
const tokenRenew = time.Minute

// fresh reports whether the token may be used. One that has no successor always may: the server decides.
func (l login) fresh(refused string) bool {
	if l.Token == "" || l.Refresh == "" {
		return l.Token != ""
	}
	end, _ := claimsOf(l.Token)["exp"].(json.Number)
	at, err := end.Float64()
	return l.Token != refused && err == nil && time.Until(time.Unix(int64(at), 0)) > tokenRenew
}

func (t *loginTokens) token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := client.RefusedToken(ctx)
	if t.has.fresh(refused) {
		return t.has.Token, nil
	}
	kept, err := readLogin(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %w", client.ErrSignedOut, err)
	}
	if err != nil {
		return "", codedError{err, exitFailed}
	}
	if !kept.fresh(refused) {
		if err := kept.renew(ctx); err != nil {
			return "", err
		}
	}
	t.has = kept
	return kept.Token, nil
}

// renew gets the next tokens of a login and keeps them.
func (l *login) renew(ctx context.Context) error {
	account, err := client.ResumeLogin(l.URL, l.Refresh)
	if err != nil {
		return codedError{err, exitFailed}
	}
	l.Token, err = account.Token(ctx)
	if code := client.CodeOf(err); code == client.CodeUnauthenticated || code == client.CodeForbidden {
		return fmt.Errorf("%w: %w", client.ErrSignedOut, err)
	}
	if err != nil {
		return err
	}
	l.Refresh = cmp.Or(account.RefreshToken(), l.Refresh)
	if err := l.save(); err != nil {
		return coded(exitFailed, "the login cannot be kept: %w", err)
	}
	return nil
}
