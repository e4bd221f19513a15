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
	"github.com/chatd/chatd/queue/cli"
)

const (
	memberTokenTTL   = time.Hour
	memberTokenRenew = 10 * time.Minute // before its end
)

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

// claimsOf are the claims of a JWT, which only the server can verify; nil for any other text.
func claimsOf(token string) map[string]any {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims map[string]any
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if decoder.Decode(&claims) != nil {
		return nil
	}
	return claims
}

// subject is the user of a JWT: the claim sub, or another that is configured here too.
func subject(token, claim string) string {
	switch user := claimsOf(token)[cmp.Or(claim, "sub")].(type) {
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

// memberError explains errors of a command that goes on where it was.
func memberError(ctx context.Context, command string, at callee, err error) error {
	if err != nil && ctx.Err() != nil {
		return coded(exitInterrupted, "%s: interrupted; the same command goes on from here", command)
	}
	var answer *client.Error
	if errors.As(err, &answer) || errors.Is(err, client.ErrSignedOut) {
		err = at.explain(err)
	}
	if err == nil {
		return nil
	}
	return codedError{fmt.Errorf("%s: %s", command, cli.Plain(err.Error())), exitCode(err)}
}
