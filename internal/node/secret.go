package node

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/web/auth"
)

// secretFile holds the secret that the first start with the embedded store generates.
const secretFile = "secret"

// readSecret returns the secret in the data folder; fs.ErrNotExist if there is none yet.
func readSecret(data string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(data, secretFile))
	if err != nil {
		return nil, err
	}
	secret := strings.TrimSpace(string(b))
	if len(secret) < secretBytesMin {
		return nil, fmt.Errorf("%s has fewer than %d bytes: remove it, and the next start generates a new secret (which invalidates all tokens)", filepath.Join(data, secretFile), secretBytesMin)
	}
	return []byte(secret), nil
}

// keepSecret returns the secret in the data folder, and generates it if there is none. A crash in the middle leaves
// either no secret or a whole one, and two first starts at the same time agree on one.
func keepSecret(data string) (secret []byte, made bool, err error) {
	secret, err = readSecret(data)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return secret, false, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, false, err
	}
	var random [32]byte
	_, _ = rand.Read(random[:])                       // never fails: the runtime would end the process first
	temp, err := os.CreateTemp(data, secretFile+"-*") // with mode 0600
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // by then the content has a second name, or was not needed
	_, err = temp.WriteString(base64.StdEncoding.EncodeToString(random[:]) + "\n")
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		// Unlike a rename, a link does not replace a secret that another start has written meanwhile.
		err = os.Link(temp.Name(), filepath.Join(data, secretFile))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, fmt.Errorf("cannot store the token secret: %w", err)
	}
	secret, readErr := readSecret(data)
	return secret, err == nil, readErr
}

// Token makes a token with the first configured secret, or the one in the data folder. It does not use the store, so it
// works beside a running server.
func (c Config) Token(user, role string, ttl time.Duration) (string, error) {
	s, p := c.tokenSettings()
	switch {
	case !chat.ValidUserID(user):
		p.add("-user", "want "+chat.WantedUserID)
	case role != "" && role != "admin":
		p.add("-role", "want admin, or leave it out")
	case ttl < time.Second || ttl > 10*366*24*time.Hour:
		p.add("-ttl", "want a duration from 1s to 10 years, such as 24h")
	}
	if err := errors.Join(p...); err != nil {
		return "", err
	}
	if err := s.findSecret(); err != nil {
		return "", err
	}
	token, _, err := s.sign(user, role, ttl)
	return token, err
}

// signLogin makes the access token of a login.
func (s *settings) signLogin(user, login string, issued time.Time) (token string, expires time.Time, err error) {
	return auth.SignToken(s.secrets[0], auth.Claims{
		User: user, UserClaim: s.JWTUserClaim, Issuer: s.JWTIssuer, Audience: s.JWTAudience, Login: login, TTL: accounts.AccessTTL,
	}, issued)
}

// sign makes a token that a server with these settings takes.
func (s *settings) sign(user, role string, ttl time.Duration) (token string, expires time.Time, err error) {
	return auth.SignToken(s.secrets[0], auth.Claims{
		User: user, UserClaim: s.JWTUserClaim, Role: role, Issuer: s.JWTIssuer, Audience: s.JWTAudience, TTL: ttl,
	}, time.Now())
}

// CheckToken verifies a token as a server with this configuration would. The error says what is wrong with it; output gets
// what the log of a server would say about the keys.
func (c Config) CheckToken(ctx context.Context, token string, output io.Writer) (auth.Identity, error) {
	s, p := c.tokenSettings()
	s.checkNetworks(&p)
	if err := errors.Join(p...); err != nil {
		return auth.Identity{}, err
	}
	if s.JWTJWKS == "" {
		if err := s.findSecret(); err != nil {
			return auth.Identity{}, err
		}
	}
	verifier, err := s.newVerifier(ctx, newLogger(s, output))
	if err != nil {
		return auth.Identity{}, err
	}
	return verifier.Verify(ctx, token)
}

// tokenSettings returns the settings that tokens depend on; those of the store do not matter.
func (c Config) tokenSettings() (settings, problems) {
	s, _ := c.read()
	var p problems
	s.Redis, s.RedisFile = "", ""
	s.checkTokens(&p)
	return s, p
}

// findSecret uses the generated secret in the data folder if none is configured.
func (s *settings) findSecret() error {
	if len(s.secrets) > 0 {
		return nil
	}
	secret, err := readSecret(s.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no token secret in %s yet: start chatd once, or set CHATD_JWT_SECRET", absolute(s.Data))
	}
	s.secrets = [][]byte{secret}
	return err
}

// newVerifier makes the verifier of tokens for these settings.
func (s *settings) newVerifier(ctx context.Context, log *slog.Logger) (*auth.Verifier, error) {
	v, err := auth.NewVerifier(ctx, auth.TokenOptions{
		Secrets: s.secrets, JWKS: s.JWTJWKS, Issuer: s.JWTIssuer, Audience: s.JWTAudience, UserClaim: s.JWTUserClaim,
		RoleClaim: s.JWTRoleClaim, AdminValue: s.JWTAdminValue, Profile: s.JWTProfile, Egress: s.egress, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("CHATD_JWT_JWKS: %w", err)
	}
	return v, nil
}
