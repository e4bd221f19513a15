package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// memberFlags say as which user a command calls a running server.
type memberFlags struct {
	URL   string `name:"url" env:"CHATD_URL" help:"URL of the server, such as https://chat.example.com. Default: the configured address on this host."`
	Token string `env:"CHATD_TOKEN" help:"Token of the member."`
	User  string `help:"Instead, create tokens for this user with the configured or generated secret."`
}

const (
	memberTokenTTL   = time.Hour
	memberTokenRenew = 10 * time.Minute // before its end
)

// member returns a client of the server and the user that it acts as; empty if the token does not say.
func (m memberFlags) member(c node.Config) (server *client.Client, user string, err error) {
	url := m.URL
	if url == "" {
		if url, err = node.URL(c.Addr); err != nil {
			return nil, "", err
		}
	}
	var tokens client.TokenSource
	switch {
	case m.User != "":
		signer := &tokenSigner{sign: func() (string, error) { return c.Token(m.User, "", memberTokenTTL) }}
		if _, err := signer.token(context.Background()); err != nil {
			return nil, "", err
		}
		tokens, user = signer.token, m.User
	case m.Token != "":
		tokens, user = client.StaticToken(m.Token), subject(m.Token, c.JWTUserClaim)
	default:
		return nil, "", errors.New("pass the member's token with -token or CHATD_TOKEN, or -user where the server's secret is configured")
	}
	if server, err = client.New(url, tokens); err != nil {
		return nil, "", fmt.Errorf("-url: %w", err)
	}
	return server, user, nil
}

// tokenSigner makes a new token before the current one expires.
type tokenSigner struct {
	sign    func() (string, error)
	mu      sync.Mutex
	current string
	until   time.Time
}

func (s *tokenSigner) token(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Until(s.until) < memberTokenRenew {
		token, err := s.sign()
		if err != nil {
			return "", err
		}
		s.current, s.until = token, time.Now().Add(memberTokenTTL)
	}
	return s.current, nil
}

// subject is the user of a JWT, which only the server can verify: the claim sub, or another that is configured here too.
func subject(token, claim string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims map[string]any
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if decoder.Decode(&claims) != nil {
		return ""
	}
	switch user := claims[cmp.Or(claim, "sub")].(type) {
	case json.Number:
		return user.String()
	case string:
		if !strings.ContainsAny(user, `/\`) {
			return user
		}
	}
	return ""
}

// inFileName replaces characters of ids that file names on Windows cannot have.
var inFileName = strings.NewReplacer(":", "%3A", "|", "%7C")

// stateFileMax leaves room for the suffix of a temporary file, on file systems that take names of 255 bytes.
const stateFileMax = 200

// stateFile is where a command keeps its position: named after the group and the user, in the working directory.
func stateFile(given, group, user, command string) (string, error) {
	if given == "" && user == "" {
		return "", errors.New("-state: the token does not say who you are, so name the file")
	}
	if given == "" {
		given = inFileName.Replace(group+"."+user) + "." + command
		if len(given) > stateFileMax {
			given = fmt.Sprintf("%x.%s", sha256.Sum256([]byte(group+"\n"+user)), command)
		}
	}
	return given, nil
}

const exitInterrupted = 130 // as shells report a program that SIGINT ended

// memberError explains errors to a user who runs a command as a member.
func memberError(ctx context.Context, command string, err error) error {
	var refused *client.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return codedError{fmt.Errorf("%s: interrupted; the same command goes on from here", command), exitInterrupted}
	case errors.As(err, &refused) && refused.Code == client.CodeUnauthenticated:
		return fmt.Errorf("%s: the server refuses the token: %s", command, cli.Plain(refused.Detail))
	case errors.As(err, &refused) && refused.Code == client.CodeNotFound:
		return fmt.Errorf("%s: the group does not exist, or you are not a member: %w", command, err)
	}
	return fmt.Errorf("%s: %s", command, cli.Plain(err.Error()))
}
