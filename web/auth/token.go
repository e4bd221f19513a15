package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// Bounds of tokens. Longer ones are refused before they are parsed: parsing costs memory for every dot.
const (
	tokenBytesMax  = 8 << 10
	secretBytesMin = 32 // HS256 is as strong as its secret, up to its 256 bits
	leeway         = 30 * time.Second
)

// TokenOptions say which tokens are valid. If there are both secrets and a key set, each has its own algorithms, so one
// cannot be mistaken for the other.
type TokenOptions struct {
	Secrets  [][]byte       // HS256; each of them verifies, so a secret can be replaced without interruption
	JWKS     string         // RS256, ES256 and EdDSA: the URL or the file of a key set
	Issuer   string         // what `iss` must be; empty: anything
	Audience string         // what `aud` must hold; empty: anything
	Egress   []netip.Prefix // private networks that a JWKS URL may reach
	Log      *slog.Logger
	Now      func() time.Time
}

// Verifier checks bearer tokens by RFC 7519 and the rules of RFC 8725: the algorithm is bound to the key, never taken from
// the token alone. Verified tokens are remembered until they end or the keys change.
type Verifier struct {
	opt     TokenOptions
	algs    []string
	parser  *jwt.Parser
	secrets jwt.VerificationKeySet // of HS256
	keys    *keySet                // nil without a key set
	known   *tokenCache
}

// NewVerifier checks the keys. It is no error if a key set's URL does not answer: it is tried again when a token needs it.
func NewVerifier(ctx context.Context, opt TokenOptions) (*Verifier, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	v := &Verifier{opt: opt, known: newTokenCache(tokensMax)}
	if len(opt.Secrets) > 0 {
		for _, secret := range opt.Secrets {
			if len(secret) < secretBytesMin {
				return nil, errShortSecret
			}
			v.secrets.Keys = append(v.secrets.Keys, secret)
		}
		v.algs = append(v.algs, jwt.SigningMethodHS256.Alg())
	}
	if opt.JWKS != "" {
		keys, err := openKeySet(ctx, opt, v.known.clear)
		if err != nil {
			return nil, err
		}
		v.keys = keys
		v.algs = append(v.algs, jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(), jwt.SigningMethodEdDSA.Alg())
	}
	if len(v.algs) == 0 {
		return nil, errors.New("neither a secret nor a key set to verify tokens with")
	}
	rules := []jwt.ParserOption{jwt.WithValidMethods(v.algs), jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithStrictDecoding(), jwt.WithTimeFunc(opt.Now)}
	if opt.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(opt.Issuer))
	}
	if opt.Audience != "" {
		rules = append(rules, jwt.WithAudience(opt.Audience))
	}
	v.parser = jwt.NewParser(rules...)
	return v, nil
}

var errShortSecret = errors.New("the secret for tokens needs at least 32 bytes")

// Run keeps the key set up to date, so that removed keys stop being trusted. It returns when ctx ends.
func (v *Verifier) Run(ctx context.Context) {
	if v.keys != nil {
		v.keys.run(ctx)
	}
}

// Verify implements Verify.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	if len(token) > tokenBytesMax {
		return Identity{}, chat.Errorf(chat.CodeUnauthenticated, "token has more than %d bytes", tokenBytesMax)
	}
	if strings.Count(token, ".") != 2 {
		return Identity{}, errMalformed
	}
	known, key := v.known.entries(), keyOf(token)
	if who, ok := known.Get(key); ok && v.opt.Now().Before(who.Expires.Add(leeway)) {
		return who, nil
	}
	claims := jwt.MapClaims{} // a struct would take SUB for sub
	parsed, err := v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.keyFor(ctx, t) })
	if err != nil {
		if errors.Is(err, chat.ErrUnavailable) {
			return Identity{}, chat.ErrUnavailable
		}
		refused := v.refusal(parsed, claims, err)
		v.opt.Log.LogAttrs(ctx, slog.LevelDebug, "token refused", slog.String("why", refused.Message))
		return Identity{}, refused
	}
	user, ok := claims["sub"].(string)
	switch {
	case !ok && claims["sub"] == nil:
		return Identity{}, chat.Errorf(chat.CodeUnauthenticated, "token has no sub")
	case !chat.ValidID(user):
		return Identity{}, chat.Errorf(chat.CodeUnauthenticated, "token sub is not a user id: want 1 to 64 characters of A-Z a-z 0-9 . _ - @ +, not starting with a dot")
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return Identity{}, errNoExp
	}
	who := Identity{User: user, Admin: claims["role"] == "admin", Expires: expires.Time}
	known.Put(key, who)
	return who, nil
}

var keyIDPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// keyFor finds the key for a token with one of the configured algorithms. It only uses alg and kid of the header: with jku,
// jwk, x5u and x5c a token could bring its own key.
func (v *Verifier) keyFor(ctx context.Context, t *jwt.Token) (any, error) {
	if _, ok := t.Header["crit"]; ok {
		return nil, errCrit
	}
	if typ, ok := t.Header["typ"]; ok {
		name, _ := typ.(string)
		if !strings.EqualFold(name, "JWT") && !strings.EqualFold(name, "at+jwt") {
			return nil, errType
		}
	}
	if kid, ok := t.Header["kid"]; ok {
		if name, _ := kid.(string); !keyIDPattern.MatchString(name) {
			return nil, errKeyID
		}
	}
	if t.Method == jwt.SigningMethodHS256 {
		return v.secrets, nil
	}
	return v.keys.find(ctx, t)
}

// Claims are what SignToken writes.
type Claims struct {
	User             string
	Role             string // "admin" or empty
	Issuer, Audience string // as the verifier requires them; empty: left out
	TTL              time.Duration
}

// SignToken makes a token of the HS256 family.
func SignToken(secret []byte, c Claims, now time.Time) (token string, expires time.Time, err error) {
	if len(secret) < secretBytesMin {
		return "", time.Time{}, errShortSecret
	}
	expires = now.Add(c.TTL).Truncate(time.Second)
	claims := jwt.MapClaims{"sub": c.User, "iat": now.Unix(), "exp": expires.Unix()}
	for name, value := range map[string]string{"role": c.Role, "iss": c.Issuer, "aud": c.Audience} {
		if value != "" {
			claims[name] = value
		}
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
	return token, expires, err
}
