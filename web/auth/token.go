package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// Bounds of tokens. Longer ones are refused before they are parsed: parsing costs memory for every dot.
const (
	tokenBytesMax  = 16 << 10 // Entra puts up to 200 groups into a token
	secretBytesMin = 32       // HS256 is as strong as its secret, up to its 256 bits
	leeway         = 30 * time.Second
)

// TokenOptions say which tokens are valid. If there are both secrets and a key set, each has its own algorithms, so one
// cannot be mistaken for the other.
type TokenOptions struct {
	Secrets  [][]byte       // HS256; each of them verifies, so a secret can be replaced without interruption
	JWKS     string         // RS, PS and ES of 256, 384 and 512, and EdDSA: the URL or the file of a key set
	Issuer   string         // what `iss` must be; empty: anything
	Audience string         // what `aud` must hold; empty: anything
	Egress   []netip.Prefix // private networks that a JWKS URL may reach
	// UserClaim names the claim that holds the user, by its name or by a path; empty: sub. RoleClaim names the one that holds
	// the role, or a list of roles; empty: role, which is one string. AdminValue is the role of operators; empty: admin.
	UserClaim, RoleClaim, AdminValue string
	Profile                          []string // claims that fill the profile of the user: name, picture
	Log                              *slog.Logger
	Now                              func() time.Time
}

// Verifier checks bearer tokens by RFC 7519 and the rules of RFC 8725: the algorithm is bound to the key, never taken from
// the token alone. Verified tokens are remembered until they end or the keys change.
type Verifier struct {
	opt     TokenOptions
	algs    []string // that are accepted
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
	if opt.AdminValue == "" {
		opt.AdminValue = roleAdmin
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
		for _, method := range keyMethods {
			v.algs = append(v.algs, method.Alg())
		}
	}
	if len(v.algs) == 0 {
		return nil, errors.New("neither a secret nor a key set to verify tokens with")
	}
	rules := []jwt.ParserOption{
		jwt.WithValidMethods(v.algs), jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithStrictDecoding(), jwt.WithTimeFunc(opt.Now),
		jwt.WithJSONNumber(), // a user may be a number, and a double would round it
	}
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

// Verify checks a token. Its errors are those of type Verify.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	if len(token) > tokenBytesMax {
		return Identity{}, chat.Errorf(chat.CodeUnauthenticated, "token has more than %d bytes", tokenBytesMax)
	}
	if strings.Count(token, ".") != 2 {
		return Identity{}, errMalformed
	}
	if v.keys != nil {
		v.keys.current() // tokens are forgotten with the keys
	}
	known, key := v.known.entries(), keyOf(token)
	if who, ok := known.Get(key); ok && v.opt.Now().Before(who.Expires.Add(leeway)) {
		return who, nil
	}
	claims := jwt.MapClaims{} // a struct would take SUB for sub
	t, err := v.verify(ctx, token, claims)
	if err != nil {
		return Identity{}, err
	}
	who, err := v.identity(t, claims)
	if err != nil {
		return Identity{}, err
	}
	known.Put(key, who)
	return who, nil
}

// verify checks everything about a token but whom it is for.
func (v *Verifier) verify(ctx context.Context, token string, claims jwt.MapClaims) (t *jwt.Token, err error) {
	if err = v.checkText(token); err == nil {
		t, err = v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) { return v.keyFor(ctx, t) })
	}
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, chat.ErrUnavailable):
		return nil, chat.ErrUnavailable
	}
	refused := v.refusal(t, claims, err)
	v.opt.Log.LogAttrs(ctx, slog.LevelDebug, "token refused", slog.String("why", refused.Message))
	return nil, refused
}

// keyFor finds the key for a token with one of the configured algorithms. It only uses alg and kid of the header: with jku,
// jwk, x5u and x5c a token could bring its own key.
func (v *Verifier) keyFor(ctx context.Context, t *jwt.Token) (any, error) {
	if _, ok := t.Header["crit"]; ok {
		return nil, errCrit
	}
	if typ, ok := t.Header["typ"]; ok {
		name, _ := typ.(string)
		name = strings.ToLower(name)
		name = strings.TrimPrefix(name, "application/") // which may be left out (RFC 7515, 4.1.9)
		if name != "jwt" && name != "at+jwt" {
			return nil, errType
		}
	}
	if kid, ok := t.Header["kid"]; ok {
		if name, ok := kid.(string); !ok || len(name) > keyIDBytesMax {
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
	UserClaim        string // as the verifier has it
	Role             string // "admin" or empty
	Login            string // empty: of none
	Issuer, Audience string // as the verifier requires them; empty: left out
	TTL              time.Duration
}

// SignToken makes a token of the HS256 family.
func SignToken(secret []byte, c Claims, now time.Time) (token string, expires time.Time, err error) {
	if len(secret) < secretBytesMin {
		return "", time.Time{}, errShortSecret
	}
	expires = now.Add(c.TTL).Truncate(time.Second)
	claims := jwt.MapClaims{userClaim: c.User, "iat": now.Unix(), "exp": expires.Unix()}
	for name, value := range map[string]string{c.UserClaim: c.User, roleClaim: c.Role, loginClaim: c.Login, "iss": c.Issuer, "aud": c.Audience} {
		if name != "" && value != "" {
			claims[name] = value
		}
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
	return token, expires, err
}
