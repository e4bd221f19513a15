package auth

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// Why a token is refused, for whoever holds it. Nothing of the token or of the configuration is repeated but times.
// Each text fits the reason of a close frame, 123 bytes.
var (
	errMalformed  = chat.Errorf(chat.CodeUnauthenticated, "token is malformed: want a signed JWT, three base64url parts separated by dots")
	errCrit       = chat.Errorf(chat.CodeUnauthenticated, "token header crit is not supported")
	errType       = chat.Errorf(chat.CodeUnauthenticated, "token typ must be JWT or at+jwt, or absent")
	errKeyID      = chat.Errorf(chat.CodeUnauthenticated, "token kid must be 1 to 64 characters of A-Z a-z 0-9 . _ -")
	errUnknownKey = chat.Errorf(chat.CodeUnauthenticated, "token kid is not in the key set")
	errSignature  = chat.Errorf(chat.CodeUnauthenticated, "token signature is invalid")
	errNoExp      = chat.Errorf(chat.CodeUnauthenticated, "token has no exp")
)

// refusal says which rule a token broke that the parser refused. The parser looks at the claims only once the signature
// holds, so that nobody learns from them what the right ones would be.
func (v *Verifier) refusal(t *jwt.Token, claims jwt.MapClaims, err error) *chat.Error {
	var ours *chat.Error
	var text string
	switch {
	case errors.As(err, &ours):
		return ours
	case t == nil, errors.Is(err, jwt.ErrTokenMalformed):
		return errMalformed
	case t.Method == nil, !slices.Contains(v.algs, t.Method.Alg()):
		text = "token alg is not accepted: want " + strings.Join(v.algs, ", ")
	case errors.Is(err, jwt.ErrTokenUnverifiable), t.Header["kid"] != nil && errors.Is(err, jwt.ErrInvalidKeyType):
		text = "token alg does not fit the key that its kid names"
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return errSignature
	case errors.Is(err, jwt.ErrInvalidType):
		text = "token has a claim of a wrong type: exp and nbf are numbers, iss and aud strings"
	case errors.Is(err, jwt.ErrTokenExpired):
		text = "token expired" + when(" at ", claims.GetExpirationTime)
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		text = "token is not valid" + when(" before ", claims.GetNotBefore)
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return v.missing(claims)
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		text = "token iss is not the issuer that this server accepts"
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		text = "token aud does not name this server"
	default:
		text = "token cannot be verified"
	}
	return chat.Errorf(chat.CodeUnauthenticated, "%s", text)
}

// missing names the first claim that a token lacks of those that it must have.
func (v *Verifier) missing(claims jwt.MapClaims) *chat.Error {
	if exp, err := claims.GetExpirationTime(); err == nil && exp == nil {
		return errNoExp
	}
	if aud, err := claims.GetAudience(); v.opt.Audience != "" && err == nil && strings.Join(aud, "") == "" {
		return chat.Errorf(chat.CodeUnauthenticated, "token has no aud")
	}
	return chat.Errorf(chat.CodeUnauthenticated, "token has no iss")
}

// when is the instant of a claim behind a preposition, where there is one.
func when(preposition string, claim func() (*jwt.NumericDate, error)) string {
	at, err := claim()
	if err != nil || at == nil {
		return ""
	}
	return preposition + at.UTC().Format(time.RFC3339)
}
