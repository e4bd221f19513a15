package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

var (
	testSecret = []byte("0123456789abcdef0123456789abcdef")
	testNow    = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

	testKeys = sync.OnceValue(func() (k struct {
		rsa, rsaOther *rsa.PrivateKey
		ec, ec384     *ecdsa.PrivateKey
		ec521         *ecdsa.PrivateKey
		ed            ed25519.PrivateKey
	}) {
		k.rsa, _ = rsa.GenerateKey(rand.Reader, 2048)
		k.rsaOther, _ = rsa.GenerateKey(rand.Reader, 2048)
		k.ec, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		k.ec384, _ = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		k.ec521, _ = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
		_, k.ed, _ = ed25519.GenerateKey(rand.Reader)
		return k
	})
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func jwk(kid string, key crypto.PublicKey) map[string]string {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return map[string]string{"kty": "RSA", "kid": kid, "n": b64(k.N.Bytes()), "e": "AQAB"}
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			panic(err)
		}
		half := (len(point) - 1) / 2
		return map[string]string{"kty": "EC", "crv": k.Curve.Params().Name, "kid": kid, "x": b64(point[1 : 1+half]), "y": b64(point[1+half:])}
	case ed25519.PublicKey:
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": b64(k)}
	}
	panic("unknown kind of key")
}

func keySetJSON(keys ...map[string]string) []byte {
	b, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		panic(err)
	}
	return b
}

func writeKeySet(t *testing.T, raw []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sign makes a token with any header and claims.
func sign(t *testing.T, method jwt.SigningMethod, key any, header, claims map[string]any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	for name, value := range header {
		if value == nil {
			delete(token.Header, name)
			continue
		}
		token.Header[name] = value
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func with(claims map[string]any, changes map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range []map[string]any{claims, changes} {
		for k, v := range m {
			if v == nil {
				delete(out, k)
				continue
			}
			out[k] = v
		}
	}
	return out
}

type object = map[string]any

func TestTokens(t *testing.T) {
	k := testKeys()
	v, err := NewVerifier(context.Background(), TokenOptions{
		Secrets: [][]byte{testSecret}, Issuer: "https://id.example", Audience: "chat", Now: func() time.Time { return testNow },
		JWKS: writeKeySet(t, keySetJSON(jwk("r", &k.rsa.PublicKey), jwk("e", &k.ec.PublicKey), jwk("e3", &k.ec384.PublicKey),
			jwk("e5", &k.ec521.PublicKey), jwk("d", k.ed.Public()), labelled(jwk("r256", &k.rsa.PublicKey), "alg", "RS256"),
			jwk(strings.Repeat("k", keyIDBytesMax), &k.rsa.PublicKey), jwk(cognitoKid, &k.rsa.PublicKey))),
	})
	if err != nil {
		t.Fatal(err)
	}
	good := object{"sub": "alice", "exp": testNow.Add(time.Hour).Unix(), "iss": "https://id.example", "aud": "chat"}
	hs := func(header, claims object) string { return sign(t, jwt.SigningMethodHS256, testSecret, header, claims) }
	der, err := x509.MarshalPKIXPublicKey(&k.rsa.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a token made the server call out") }))
	defer listener.Close()

	accepted := map[string]string{
		"HS256":                    hs(nil, good),
		"RS256":                    sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "r"}, good),
		"ES256":                    sign(t, jwt.SigningMethodES256, k.ec, object{"kid": "e"}, good),
		"EdDSA":                    sign(t, jwt.SigningMethodEdDSA, k.ed, object{"kid": "d"}, good),
		"RS384":                    sign(t, jwt.SigningMethodRS384, k.rsa, object{"kid": "r"}, good),
		"RS512":                    sign(t, jwt.SigningMethodRS512, k.rsa, object{"kid": "r"}, good),
		"PS256":                    sign(t, jwt.SigningMethodPS256, k.rsa, object{"kid": "r"}, good),
		"PS384":                    sign(t, jwt.SigningMethodPS384, k.rsa, object{"kid": "r"}, good),
		"PS512":                    sign(t, jwt.SigningMethodPS512, k.rsa, object{"kid": "r"}, good),
		"ES384":                    sign(t, jwt.SigningMethodES384, k.ec384, object{"kid": "e3"}, good),
		"ES512":                    sign(t, jwt.SigningMethodES512, k.ec521, object{"kid": "e5"}, good),
		"ES512 without kid":        sign(t, jwt.SigningMethodES512, k.ec521, nil, good),
		"key for RS256":            sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "r256"}, good),
		"kid of Cognito":           sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": cognitoKid}, good),
		"kid of 512 bytes":         sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": strings.Repeat("k", keyIDBytesMax)}, good),
		"kid with a secret":        hs(object{"kid": "../../etc/passwd\x00"}, good),
		"16 KiB":                   tokenOf(t, tokenBytesMax, good),
		"no kid":                   sign(t, jwt.SigningMethodRS256, k.rsa, nil, good),
		"no typ":                   hs(object{"typ": nil}, good),
		"typ at+jwt":               hs(object{"typ": "at+jwt"}, good),
		"typ of a media type":      hs(object{"typ": "application/at+JWT"}, good),
		"typ application/jwt":      hs(object{"typ": "Application/jwt"}, good),
		"aud among others":         hs(nil, with(good, object{"aud": []string{"other", "chat"}})),
		"just ended":               hs(nil, with(good, object{"exp": testNow.Add(-29 * time.Second).Unix()})),
		"nbf just ahead":           hs(nil, with(good, object{"nbf": testNow.Add(29 * time.Second).Unix()})),
		"jku, x5u and jwk ignored": hs(object{"jku": listener.URL, "x5u": listener.URL, "jwk": object{"kty": "oct", "k": "AA"}}, good),
	}
	for name, token := range accepted {
		who, err := v.Verify(context.Background(), token)
		if err != nil || who.User != "alice" || who.Admin {
			t.Errorf("%s: got %+v, %v; want alice", name, who, err)
		}
	}
	if who, err := v.Verify(context.Background(), hs(nil, with(good, object{"role": "admin"}))); err != nil || !who.Admin {
		t.Errorf("role admin: got %+v, %v", who, err)
	}
	for name, role := range map[string]any{"other case": "Admin", "a list": []string{"admin"}, "true": true} {
		if who, err := v.Verify(context.Background(), hs(nil, with(good, object{"role": role}))); err != nil || who.Admin {
			t.Errorf("role %s: got %+v, %v; want no admin", name, who, err)
		}
	}

	refused := map[string]struct{ token, detail string }{
		"empty":                    {"", "token is malformed"},
		"no token":                 {"x", "token is malformed"},
		"four parts":               {hs(nil, good) + ".x", "token is malformed"},
		"many dots":                {strings.Repeat(".", 7000), "token is malformed"},
		"too long":                 {tokenOf(t, tokenBytesMax+1, good), "token has more than 16384 bytes"},
		"wrong secret":             {sign(t, jwt.SigningMethodHS256, []byte("another secret of at least 32 bytes"), nil, good), "token signature is invalid"},
		"HS256 with public PEM":    {sign(t, jwt.SigningMethodHS256, publicPEM, object{"kid": "r"}, good), "token signature is invalid"},
		"HS256 with public DER":    {sign(t, jwt.SigningMethodHS256, der, object{"kid": "r"}, good), "token signature is invalid"},
		"HS384":                    {sign(t, jwt.SigningMethodHS384, testSecret, nil, good), "token alg is not accepted: want HS256, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"},
		"HS512":                    {sign(t, jwt.SigningMethodHS512, testSecret, nil, good), "token alg is not accepted: want HS256, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"},
		"other RSA key":            {sign(t, jwt.SigningMethodRS256, k.rsaOther, object{"kid": "r"}, good), "token signature is invalid"},
		"key of another kind":      {sign(t, jwt.SigningMethodES256, k.ec, object{"kid": "r"}, good), "token alg does not fit the key"},
		"key of another curve":     {sign(t, jwt.SigningMethodES256, k.ec, object{"kid": "e3"}, good), "token alg does not fit the key"},
		"key for another alg":      {sign(t, jwt.SigningMethodPS256, k.rsa, object{"kid": "r256"}, good), "token alg does not fit the key"},
		"RSA with an EC key":       {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "e"}, good), "token alg does not fit the key"},
		"kid a path":               {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "../../etc/passwd"}, good), "token kid is not in the key set"},
		"kid with NUL":             {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "r\x00"}, good), "token kid is not in the key set"},
		"kid empty":                {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": ""}, good), "token kid is not in the key set"},
		"kid long":                 {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": strings.Repeat("k", keyIDBytesMax+1)}, good), "token kid must be a string of at most 512 bytes"},
		"kid a number":             {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": 1}, good), "token kid must be a string"},
		"unknown kid":              {sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "nope"}, good), "token kid is not in the key set"},
		"typ of an ID token":       {hs(object{"typ": "ID+jwt"}, good), "token typ must be JWT or at+jwt"},
		"typ of another media":     {hs(object{"typ": "application/json"}, good), "token typ must be JWT or at+jwt"},
		"typ a number":             {hs(object{"typ": 1}, good), "token typ must be JWT or at+jwt"},
		"crit":                     {hs(object{"crit": []string{"exp"}}, good), "token header crit is not supported"},
		"no exp":                   {hs(nil, with(good, object{"exp": nil})), "token has no exp"},
		"exp a string":             {hs(nil, with(good, object{"exp": "9999999999"})), "token has a claim of a wrong type"},
		"ended":                    {hs(nil, with(good, object{"exp": testNow.Add(-31 * time.Second).Unix()})), "token expired at 2026-11-20T09:59:29Z"},
		"ended, by another secret": {sign(t, jwt.SigningMethodHS256, []byte("another secret of at least 32 bytes"), nil, with(good, object{"exp": 1, "iss": nil})), "token signature is invalid"},
		"exp of 0":                 {hs(nil, with(good, object{"exp": 0})), "token expired at 1970-01-01T00:00:00Z"},
		"not yet":                  {hs(nil, with(good, object{"nbf": testNow.Add(31 * time.Second).Unix()})), "token is not valid before 2026-11-20T10:00:31Z"},
		"other issuer":             {hs(nil, with(good, object{"iss": "https://id.example.evil"})), "token iss is not the issuer"},
		"no issuer":                {hs(nil, with(good, object{"iss": nil})), "token has no iss"},
		"other audience":           {hs(nil, with(good, object{"aud": "chat2"})), "token aud does not name this server"},
		"no audience":              {hs(nil, with(good, object{"aud": nil})), "token has no aud"},
		"no sub":                   {hs(nil, with(good, object{"sub": nil})), "token has no sub"},
		"sub in another case":      {hs(nil, with(good, object{"sub": nil, "SUB": "alice"})), "token has no sub"},
		"sub no id":                {hs(nil, with(good, object{"sub": "a{b}:*"})), "token sub is not a user id"},
		"sub dots first":           {hs(nil, with(good, object{"sub": "..alice"})), "token sub is not a user id"},
		"signature cut off":        {strings.TrimRight(hs(nil, good), "=")[:len(hs(nil, good))-4], "token is malformed"},
		"signature taken away":     {hs(nil, good)[:strings.LastIndexByte(hs(nil, good), '.')+1], "token signature is invalid"},
		"claims of another token":  {swapClaims(hs(nil, good), hs(nil, with(good, object{"sub": "bob"}))), "token signature is invalid"},
	}
	for _, none := range []string{"none", "None", "NONE", "nOnE", ""} {
		head := b64([]byte(`{"alg":"` + none + `","typ":"JWT"}`))
		claims, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		refused["alg "+none] = struct{ token, detail string }{head + "." + b64(claims) + ".", "token alg is not accepted"}
		refused["alg "+none+" with a signature"] = struct{ token, detail string }{head + "." + b64(claims) + "." + b64([]byte("sig")), "token alg is not accepted"}
	}
	for name, c := range refused {
		who, err := v.Verify(context.Background(), c.token)
		var refusal *chat.Error
		if !errors.As(err, &refusal) || refusal.Code != chat.CodeUnauthenticated || !strings.HasPrefix(refusal.Message, c.detail) {
			t.Errorf("%s: got %+v, %v; want %s: %s", name, who, err, chat.CodeUnauthenticated, c.detail)
			continue
		}
		if len(refusal.Message) > closeReasonBytesMax {
			t.Errorf("%s: %q does not fit a close frame", name, refusal.Message)
		}
		for _, secret := range []string{string(testSecret), "https://id.example", "chat2", "..alice"} {
			if strings.Contains(err.Error(), secret) || len(c.token) > 20 && strings.Contains(err.Error(), c.token[:20]) {
				t.Errorf("%s: %q repeats what the token or the configuration says", name, err)
			}
		}
	}
}

// cognitoKid is the id of a key as AWS Cognito makes them.
const cognitoKid = "1pkyN6mCMC9XsZ6bXFAqiCd6ttd0vF/zq+rHF3YLPk8="

// tokenOf makes a token of the secret that has a length in bytes.
func tokenOf(t *testing.T, length int, claims object) string {
	t.Helper()
	for pad := range length {
		// A byte more of the claims makes the token one or two longer, a byte of the header's padding finds the rest.
		for _, x := range []string{"", "x", "xx"} {
			token := sign(t, jwt.SigningMethodHS256, testSecret, object{"x": x}, with(claims, object{"x": strings.Repeat("x", length*3/4-300+pad)}))
			if len(token) == length {
				return token
			}
		}
	}
	t.Fatal("no such token")
	return ""
}

// closeReasonBytesMax is what a close frame of a websocket has room for.
const closeReasonBytesMax = 123

func swapClaims(into, from string) string {
	a, b := strings.Split(into, "."), strings.Split(from, ".")
	return a[0] + "." + b[1] + "." + a[2]
}

func TestKeysRefusedAtStart(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]TokenOptions{
		"nothing":        {},
		"short secret":   {Secrets: [][]byte{testSecret, testSecret[:31]}},
		"no file":        {JWKS: filepath.Join(t.TempDir(), "none.json")},
		"no JSON":        {JWKS: writeKeySet(t, []byte("x"))},
		"no keys":        {JWKS: writeKeySet(t, keySetJSON())},
		"no list":        {JWKS: writeKeySet(t, []byte(`{"error":"not now"}`))},
		"weak RSA":       {JWKS: writeKeySet(t, keySetJSON(jwk("w", &weak.PublicKey)))},
		"symmetric":      {JWKS: writeKeySet(t, keySetJSON(map[string]string{"kty": "oct", "kid": "s", "k": b64(testSecret)}))},
		"only P-224":     {JWKS: writeKeySet(t, keySetJSON(jwk("p", &p224.PublicKey)))},
		"for encryption": {JWKS: writeKeySet(t, keySetJSON(labelled(jwk("r", &testKeys().rsa.PublicKey), "use", "enc")))},
	}
	for name, opt := range cases {
		if _, err := NewVerifier(context.Background(), opt); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	// Not a missing file: the error says what is allowed.
	if _, err := NewVerifier(context.Background(), TokenOptions{JWKS: "ftp://issuer.example/keys"}); err == nil || !strings.Contains(err.Error(), "want an https URL or a file") {
		t.Errorf("an ftp URL: got %v", err)
	}
}

func labelled(key map[string]string, name, value string) map[string]string {
	key[name] = value
	return key
}

func TestKeySetRotation(t *testing.T) {
	k := testKeys()
	var (
		fetches atomic.Int64
		served  atomic.Pointer[[]byte]
		down    atomic.Bool
		now     atomic.Int64
	)
	now.Store(testNow.UnixNano())
	first := keySetJSON(jwk("one", &k.rsa.PublicKey))
	served.Store(&first)
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write(*served.Load())
	}))
	defer issuer.Close()
	v, err := NewVerifier(context.Background(), TokenOptions{
		JWKS: issuer.URL, Egress: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Now: func() time.Time { return time.Unix(0, now.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	claims := object{"sub": "alice", "exp": testNow.Add(24 * time.Hour).Unix()}
	one := sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "one"}, claims)
	two := sign(t, jwt.SigningMethodRS256, k.rsaOther, object{"kid": "two"}, claims)
	expect := func(what, token string, want chat.Code) {
		t.Helper()
		if _, err := v.Verify(context.Background(), token); chat.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %q", what, err, want)
		}
	}
	expect("first key", one, "")

	// Tokens that name unknown keys make one request in 30 s, however many they are and come at once.
	now.Add(int64(31 * time.Second))
	var wg sync.WaitGroup
	for i := range 200 {
		token := sign(t, jwt.SigningMethodRS256, k.rsaOther, object{"kid": "random-" + string(rune('a'+i%26)) + b64([]byte{byte(i)})}, claims)
		wg.Go(func() { expect("unknown key", token, chat.CodeUnauthenticated) })
	}
	wg.Wait()
	if got := fetches.Load(); got != 2 {
		t.Errorf("%d fetches after 200 unknown keys, want 2", got)
	}

	// A new key is found when a token names it; a key that was taken out stops being trusted, remembered tokens too.
	second := keySetJSON(jwk("two", &k.rsaOther.PublicKey))
	served.Store(&second)
	expect("new key within the gap", two, chat.CodeUnauthenticated)
	now.Add(int64(31 * time.Second))
	expect("new key", two, "")
	expect("removed key", one, chat.CodeUnauthenticated)

	// The keys at hand hold while the source is away.
	down.Store(true)
	now.Add(int64(time.Hour))
	expect("unknown key while down", one, chat.CodeUnauthenticated)
	expect("known key while down", two, "")
}

func TestKeySetURLIsGuarded(t *testing.T) {
	k := testKeys()
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(keySetJSON(jwk("one", &k.rsa.PublicKey)))
	}))
	defer inner.Close()
	redirect := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusFound))
	defer redirect.Close()
	token := sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "one"}, object{"sub": "alice", "exp": time.Now().Add(time.Hour).Unix()})
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for name, opt := range map[string]TokenOptions{
		"private address": {JWKS: inner.URL},
		"redirect":        {JWKS: redirect.URL, Egress: loopback},
	} {
		v, err := NewVerifier(context.Background(), opt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := v.Verify(context.Background(), token); chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("%s: got %v, want %s", name, err, chat.CodeUnavailable)
		}
	}
}

// What was verified before the keys changed is not remembered after it, also where the change came in between.
func TestTokensAreForgottenWithTheirKeys(t *testing.T) {
	c := newTokenCache(10)
	before, key := c.entries(), keyOf("t")
	before.Put(key, Identity{User: "u"})
	if _, ok := c.entries().Get(key); !ok {
		t.Error("a verified token is not remembered")
	}
	c.clear()
	before.Put(key, Identity{User: "u"})
	if _, ok := c.entries().Get(key); ok {
		t.Error("a token verified before the keys changed is remembered after it")
	}
}

// TestRememberedTokenEnds verifies a token until it is remembered, and then moves the clock across its end.
func TestRememberedTokenEnds(t *testing.T) {
	now := testNow
	v, err := NewVerifier(context.Background(), TokenOptions{Secrets: [][]byte{testSecret}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	token, expires, err := SignToken(testSecret, Claims{User: "alice", TTL: time.Hour}, testNow)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Time
		want chat.Code
	}{
		{testNow, ""}, {expires, ""}, {expires.Add(leeway - time.Second), ""},
		{expires.Add(leeway + time.Second), chat.CodeUnauthenticated}, {expires.Add(24 * time.Hour), chat.CodeUnauthenticated},
	} {
		now = c.at
		if who, err := v.Verify(context.Background(), token); chat.CodeOf(err) != c.want || err == nil && !who.Expires.Equal(expires) {
			t.Errorf("%s after its end: got %+v, %v; want %q", c.at.Sub(expires), who, err, c.want)
		}
	}
}

// FuzzVerify shows that nothing but what the key signed passes, and that nothing panics.
func FuzzVerify(f *testing.F) {
	v, err := NewVerifier(context.Background(), TokenOptions{Secrets: [][]byte{testSecret}, Now: func() time.Time { return testNow }})
	if err != nil {
		f.Fatal(err)
	}
	good, _, err := SignToken(testSecret, Claims{User: "alice", TTL: time.Hour}, testNow)
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add(b64([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".")
	f.Add(b64([]byte(`{"alg":"HS256","kid":{}}`)) + "." + parts[1] + "." + parts[2])
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		who, err := v.Verify(context.Background(), token)
		if err == nil && (token != good || who.User != "alice") {
			t.Fatalf("%q was taken as %+v", token, who)
		}
		if err != nil && chat.CodeOf(err) != chat.CodeUnauthenticated {
			t.Fatalf("error %v", err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	v, err := NewVerifier(context.Background(), TokenOptions{Secrets: [][]byte{testSecret}})
	if err != nil {
		b.Fatal(err)
	}
	token, _, err := SignToken(testSecret, Claims{User: "alice", TTL: time.Hour}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Verify(context.Background(), token); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSecretsRotate replaces a secret while tokens of the old one are about: both hold as long as both are configured.
func TestSecretsRotate(t *testing.T) {
	older, newer := bytes.Repeat([]byte("o"), 32), bytes.Repeat([]byte("n"), 32)
	claims := object{"sub": "alice", "exp": testNow.Add(time.Hour).Unix()}
	verify := func(secret []byte, with ...[]byte) error {
		t.Helper()
		v, err := NewVerifier(t.Context(), TokenOptions{Secrets: with, Now: func() time.Time { return testNow }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, nil, claims))
		return err
	}
	for _, secret := range [][]byte{older, newer} {
		if err := verify(secret, newer, older); err != nil {
			t.Errorf("a token of one of two secrets: %v", err)
		}
	}
	if err := verify(older, newer); err == nil || !strings.Contains(err.Error(), "signature is invalid") {
		t.Errorf("a token of a secret that is gone: got %v, want that its signature is invalid", err)
	}
}
