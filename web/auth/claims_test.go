package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// signText makes a token of the secret from a header and claims as they are written, whatever they are.
func signText(t *testing.T, header, claims string) string {
	t.Helper()
	text := b64([]byte(header)) + "." + b64([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, testSecret)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(signature)
}

func verifierOf(t *testing.T, opt TokenOptions) *Verifier {
	t.Helper()
	opt.Now = func() time.Time { return testNow }
	v, err := NewVerifier(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestUserOfAToken: the user is a string or the digits of a whole number, in the claim that the operator names.
func TestUserOfAToken(t *testing.T) {
	const header, exp = `{"alg":"HS256"}`, `"exp":1795172400` // testNow and an hour
	for name, c := range map[string]struct{ claim, claims, user, refusal string }{
		"a number":                 {"", `"sub":42`, "42", ""},
		"zero":                     {"", `"sub":0`, "0", ""},
		"beyond doubles":           {"", `"sub":9007199254740993`, "9007199254740993", ""},
		"beyond 64 bits":           {"", `"sub":123456789012345678901234567890`, "123456789012345678901234567890", ""},
		"of Auth0":                 {"", `"sub":"auth0|5f7c"`, "auth0|5f7c", ""},
		"of Kubernetes":            {"", `"sub":"system:serviceaccount:ns:x"`, "system:serviceaccount:ns:x", ""},
		"of a webhook":             {"", `"sub":"in:x"`, "", "must not begin with in:"},
		"a fraction":               {"", `"sub":4.5`, "", "token sub must be a string or a whole number"},
		"a fraction of zero":       {"", `"sub":42.0`, "", "token sub must be"},
		"an exponent":              {"", `"sub":1e3`, "", "token sub must be"},
		"a negative number":        {"", `"sub":-42`, "", "token sub must be"},
		"negative zero":            {"", `"sub":-0`, "", "token sub must be"},
		"true":                     {"", `"sub":true`, "", "token sub must be"},
		"a list":                   {"", `"sub":["alice"]`, "", "token sub must be"},
		"null":                     {"", `"sub":null`, "", "token has no sub"},
		"an empty string":          {"", `"sub":""`, "", "token sub is not a user id"},
		"another claim":            {"uid", `"sub":"x","uid":"alice"`, "alice", ""},
		"a number in another":      {"uid", `"sub":"x","uid":7`, "7", ""},
		"an address":               {"email", `"sub":"x","email":"alice@example.com"`, "alice@example.com", ""},
		"a URL":                    {"https://example.com/user.id", `"sub":"x","https://example.com/user.id":"alice"`, "alice", ""},
		"whole before path":        {"a.b", `"a":{"b":"path"},"a.b":"whole"`, "whole", ""},
		"a path":                   {"a.b.c", `"a":{"b":{"c":"alice"}}`, "alice", ""},
		"a path of dotted names":   {"a.b.c", `"a.b":{"c":"alice"}`, "alice", ""},
		"a name that is no object": {"a.b", `"a":"x","sub":"alice"`, "", "token has no claim of the name or path in CHATD_JWT_USER_CLAIM"},
		"the claim is absent":      {"uid", `"sub":"alice"`, "", "token has no claim of the name or path in CHATD_JWT_USER_CLAIM"},
		"the claim is no id":       {"uid", `"uid":"a b"`, "", "token claim of CHATD_JWT_USER_CLAIM is not a user id"},
		"in another case":          {"uid", `"UID":"alice"`, "", "token has no claim of"},
	} {
		v := verifierOf(t, TokenOptions{Secrets: [][]byte{testSecret}, UserClaim: c.claim})
		who, err := v.Verify(context.Background(), signText(t, header, `{`+c.claims+`,`+exp+`}`))
		if c.refusal == "" {
			if err != nil || who.User != c.user {
				t.Errorf("%s: got %+v, %v; want %s", name, who, err, c.user)
			}
			continue
		}
		if chat.CodeOf(err) != chat.CodeUnauthenticated || !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: got %+v, %v; want %q", name, who, err, c.refusal)
		}
		if text := strings.TrimPrefix(err.Error(), string(chat.CodeUnauthenticated)+": "); len(text) > closeReasonBytesMax {
			t.Errorf("%s: %q does not fit a close frame", name, text)
		}
	}
}

// TestNamesThatAreThereTwice: readers of JSON take the first or the last of two values, so that they see two different tokens.
func TestNamesThatAreThereTwice(t *testing.T) {
	v := verifierOf(t, TokenOptions{Secrets: [][]byte{testSecret}})
	const header, claims = `{"alg":"HS256","typ":"JWT"}`, `{"sub":"alice","exp":1795172400}`
	if _, err := v.Verify(context.Background(), signText(t, header, claims)); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, c := range map[string]struct{ header, claims, refusal string }{
		"sub":               {header, `{"sub":"bob","sub":"alice","exp":1795172400}`, "token claims"},
		"the same sub":      {header, `{"sub":"alice","sub":"alice","exp":1795172400}`, "token claims"},
		"an escaped name":   {header, `{"s\u0075b":"bob","sub":"alice","exp":1795172400}`, "token claims"},
		"exp":               {header, `{"exp":1,"sub":"alice","exp":1795172400}`, "token claims"},
		"inside":            {header, `{"sub":"alice","exp":1795172400,"realm_access":{"roles":[],"roles":["admin"]}}`, "token claims"},
		"alg":               {`{"alg":"none","alg":"HS256"}`, claims, "token header"},
		"kid":               {`{"alg":"HS256","kid":"a","kid":"b"}`, claims, "token header"},
		"deep claims":       {header, `{"sub":"alice","exp":1795172400,"x":` + deep + `}`, "token claims"},
		"deep header":       {`{"alg":"HS256","x":` + deep + `}`, claims, "token header"},
		"a list of claims":  {header, `[]`, "token claims"},
		"a header of null":  {`null`, claims, "token header"},
		"more after claims": {header, claims + `{}`, "token is malformed"},
		"more after header": {header + ` 1`, claims, "token is malformed"},
		"no UTF-8":          {header, "{\"sub\":\"alice\",\"exp\":1795172400,\"x\":\"\xff\"}", "token is malformed"},
	} {
		who, err := v.Verify(context.Background(), signText(t, c.header, c.claims))
		if chat.CodeOf(err) != chat.CodeUnauthenticated || !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: got %+v, %v; want %q", name, who, err, c.refusal)
		}
	}
}

// TestRoleOfAToken: operators are whom the identity provider says, where it says so; tokens of the secret have chatd's role.
func TestRoleOfAToken(t *testing.T) {
	k := testKeys()
	set := writeKeySet(t, keySetJSON(jwk("r", &k.rsa.PublicKey)))
	for name, c := range map[string]struct {
		claim, value string
		claims       object
		secret       bool // the secret signs the token, else a key of the set
		admin        bool
	}{
		"role":                     {"", "", object{"role": "admin"}, false, true},
		"role of a user":           {"", "", object{"role": "user"}, false, false},
		"role a list":              {"", "", object{"role": []string{"admin"}}, false, false},
		"other value":              {"", "operator", object{"role": "operator"}, false, true},
		"other value, old one":     {"", "operator", object{"role": "admin"}, false, false},
		"other claim":              {"roles", "", object{"roles": "admin"}, false, true},
		"other claim a list":       {"roles", "", object{"roles": []string{"user", "admin"}}, false, true},
		"other claim, not in it":   {"roles", "", object{"roles": []string{"administrator", "Admin"}}, false, false},
		"part of a string":         {"roles", "", object{"roles": "admin user"}, false, false},
		"a list of lists":          {"roles", "", object{"roles": []any{[]string{"admin"}, 1, nil}}, false, false},
		"other claim, role too":    {"roles", "", object{"role": "admin"}, false, false},
		"a URL":                    {"https://example.com/roles", "", object{"https://example.com/roles": []string{"admin"}}, false, true},
		"a path":                   {"realm_access.roles", "", object{"realm_access": object{"roles": []string{"admin"}}}, false, true},
		"whole before path":        {"realm_access.roles", "", object{"realm_access.roles": []string{}, "realm_access": object{"roles": []string{"admin"}}}, false, false},
		"a client with dots":       {"resource_access.chat.example.roles", "chat-admin", object{"resource_access": object{"chat.example": object{"roles": []string{"chat-admin"}}}}, false, true},
		"a path into a string":     {"realm_access.roles", "", object{"realm_access": "admin"}, false, false},
		"secret":                   {"roles", "operator", object{"role": "admin"}, true, true},
		"secret, other claim":      {"roles", "operator", object{"roles": []string{"operator"}}, true, true},
		"secret, no role":          {"roles", "operator", object{}, true, false},
		"secret, the other's role": {"roles", "operator", object{"role": "operator"}, true, false},
	} {
		v := verifierOf(t, TokenOptions{Secrets: [][]byte{testSecret}, JWKS: set, RoleClaim: c.claim, AdminValue: c.value})
		claims := with(object{"sub": "alice", "exp": testNow.Add(time.Hour).Unix()}, c.claims)
		token := sign(t, jwt.SigningMethodRS256, k.rsa, object{"kid": "r"}, claims)
		if c.secret {
			token = sign(t, jwt.SigningMethodHS256, testSecret, nil, claims)
		}
		if who, err := v.Verify(context.Background(), token); err != nil || who.Admin != c.admin {
			t.Errorf("%s: got %+v, %v; want an operator: %v", name, who, err, c.admin)
		}
	}
}

// TestSignedTokensNameTheirUser: a token that chatd signs is taken where another claim names the user.
func TestSignedTokensNameTheirUser(t *testing.T) {
	for _, claim := range []string{"", "sub", "uid", "https://example.com/user.id"} {
		v := verifierOf(t, TokenOptions{Secrets: [][]byte{testSecret}, UserClaim: claim})
		token, _, err := SignToken(testSecret, Claims{User: "alice", UserClaim: claim, TTL: time.Hour}, testNow)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := v.Verify(context.Background(), token); err != nil || who.User != "alice" {
			t.Errorf("claim %q: got %+v, %v", claim, who, err)
		}
	}
}
