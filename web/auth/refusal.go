package auth

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// Why a token is refused, for its holder. Apart from times, the texts repeat nothing of the token or of the
// configuration. Each fits into the reason of a close frame, 123 bytes.
var (
	errMalformed   = chat.Errorf(chat.CodeUnauthenticated, "token is malformed: want a signed JWT, three base64url parts separated by dots")
	errCrit        = chat.Errorf(chat.CodeUnauthenticated, "token header crit is not supported")
	errHeader      = chat.Errorf(chat.CodeUnauthenticated, "token header must be a JSON object that nests at most 32 deep and has no name twice")
	errClaims      = chat.Errorf(chat.CodeUnauthenticated, "token claims must be a JSON object that nests at most 32 deep and has no name twice")
	errType        = chat.Errorf(chat.CodeUnauthenticated, "token typ must be JWT or at+jwt, or absent")
	errKeyID       = chat.Errorf(chat.CodeUnauthenticated, "token kid must be a string of at most %d bytes", keyIDBytesMax)
	errUnknownKey  = chat.Errorf(chat.CodeUnauthenticated, "token kid is not in the key set")
	errNoKeys      = chat.Errorf(chat.CodeUnauthenticated, "token needs a key, and the key set is empty")
	errOtherKey    = chat.Errorf(chat.CodeUnauthenticated, "token alg does not fit the key that it needs")
	errSignature   = chat.Errorf(chat.CodeUnauthenticated, "token signature is invalid")
	errNoSub       = chat.Errorf(chat.CodeUnauthenticated, "token has no sub")
	errNoUserClaim = chat.Errorf(chat.CodeUnauthenticated, "token has no claim of the name or path in CHATD_JWT_USER_CLAIM")
	errNoExp       = chat.Errorf(chat.CodeUnauthenticated, "token has no exp")
)

// refusal says which rule broke a token that the parser refused. The parser checks the claims only after the signature, so
// nobody can learn from the answers which claims would be right.
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

// missing names the first required claim that a token lacks.
func (v *Verifier) missing(claims jwt.MapClaims) *chat.Error {
	if exp, err := claims.GetExpirationTime(); err == nil && exp == nil {
		return errNoExp
	}
	if aud, err := claims.GetAudience(); v.opt.Audience != "" && err == nil && strings.Join(aud, "") == "" {
		return chat.Errorf(chat.CodeUnauthenticated, "token has no aud")
	}
	return chat.Errorf(chat.CodeUnauthenticated, "token has no iss")
}

// when is the time of a claim after a preposition, or "" if the claim has none.
func when(preposition string, claim func() (*jwt.NumericDate, error)) string {
	at, err := claim()
	if err != nil || at == nil {
		return ""
	}
	return preposition + at.UTC().Format(time.RFC3339)
}
