package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// TokenSource returns the token for the next request. It is called before every request and before a websocket's token
// expires, so it should cache a token until that is about to expire, or until [RefusedToken] is that one.
type TokenSource func(ctx context.Context) (string, error)

// StaticToken is a TokenSource that always returns the same token.
func StaticToken(token string) TokenSource {
	return func(context.Context) (string, error) { return token, nil }
}

// ErrSignedOut is what a TokenSource returns when there will be no token any more: a Stream ends then.
var ErrSignedOut = errors.New("signed out")

var errToken = errors.New("no token")

type refusedKey struct{}

// RefusedToken returns the token that the server has just refused, for a TokenSource that may have another one. It is empty
// if none was refused.
func RefusedToken(ctx context.Context) string {
	token, _ := ctx.Value(refusedKey{}).(string)
	return token
}

func withRefused(ctx context.Context, token string) context.Context {
	if token == "" {
		return ctx
	}
	return context.WithValue(ctx, refusedKey{}, token)
}

// tokenEnd returns when a JWT expires. The server checks its signature.
func tokenEnd(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 || claims.Exp > 1e12 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(claims.Exp * 1000)), true
}
