package web_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/node"
)

type object = map[string]any

// TestTokensOfIdentityProviders: tokens as these products make them, with the settings that docs/users.md and docs/tokens.md name for them.
func TestTokensOfIdentityProviders(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	entraGroups := make([]string, 180)
	for i := range entraGroups {
		entraGroups[i] = fmt.Sprintf("%08x-1111-2222-3333-%012x", i, i)
	}
	const id = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
	for name, p := range map[string]struct {
		userClaim, roleClaim, adminValue string
		kid                              string
		header, claims                   object
		method                           jwt.SigningMethod
		key                              crypto.PrivateKey
		user                             string
	}{
		"Auth0": {"", "https://chat.example.com/roles", "", "NkQ1RUYxQ0YyNjZFMDE5", object{"typ": "at+jwt"},
			object{"iss": "https://x.auth0.com/", "sub": "auth0|5f7c8ec7c33c6c004bbafe82", "aud": []string{"chat", "https://x.auth0.com/userinfo"}, "https://chat.example.com/roles": []string{"admin"}},
			jwt.SigningMethodRS256, rsaKey, "auth0|5f7c8ec7c33c6c004bbafe82"},
		"Cognito": {"", "cognito:groups", "admins", "1pkyN6mCMC9XsZ6bXFAqiCd6ttd0vF/zq+rHF3YLPk8=", object{"typ": nil},
			object{"sub": id, "token_use": "access", "client_id": "5bsj", "cognito:groups": []string{"people", "admins"}}, jwt.SigningMethodRS256, rsaKey, id},
		"Keycloak": {"preferred_username", "realm_access.roles", "chat-admin", "FJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE", nil,
			object{"sub": id, "typ": "Bearer", "preferred_username": "jdoe", "realm_access": object{"roles": []string{"offline_access", "chat-admin"}}},
			jwt.SigningMethodPS256, rsaKey, "jdoe"},
		"Keycloak with another storage": {"", "realm_access.roles", "", "k", nil, object{"sub": "f:1b2c:jdoe", "realm_access": object{"roles": []string{"admin"}}},
			jwt.SigningMethodRS256, rsaKey, "f:1b2c:jdoe"},
		"Kubernetes": {"", "sub", "system:serviceaccount:chat:ops", "OAjVVaejWFc0Yt9ykr0_8lMMuRNs67OXTWHsN02Pkyw", object{"typ": nil},
			object{"sub": "system:serviceaccount:chat:ops", "aud": []string{"chat"}, "kubernetes.io": object{"namespace": "chat"}}, jwt.SigningMethodRS256, rsaKey,
			"system:serviceaccount:chat:ops"},
		"Keycloak by client": {"", "resource_access.chat.example.com.roles", "", "k", nil,
			object{"sub": id, "resource_access": object{"chat.example.com": object{"roles": []string{"admin"}}}}, jwt.SigningMethodES384, ecKey, id},
		"Entra": {"oid", "roles", "Chat.Admin", "nOo3ZDrODXEK1jKWhXslHR_KXEg", object{"x5t": "nOo3ZDrODXEK1jKWhXslHR_KXEg"},
			object{"sub": "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ", "oid": id, "roles": []string{"Chat.Admin"}, "groups": entraGroups},
			jwt.SigningMethodRS256, rsaKey, id},
		"Okta": {"uid", "groups", "Chat admins", "ZkvelLN_seik7w4pc_prCcfUf-h2hFfiwkDeCrs0iUc", object{"typ": nil},
			object{"ver": 1, "sub": "jo@example.com", "uid": "00u1abcd", "groups": []string{"Everyone", "Chat admins"}}, jwt.SigningMethodRS256, rsaKey, "00u1abcd"},
		"Hydra": {"", "ext.role", "", "public:hydra.jwt.access-token", nil, object{"sub": "8d3a", "ext": object{"role": "admin"}}, jwt.SigningMethodRS256, rsaKey, "8d3a"},
		"Firebase": {"", "chat", "", "c1b2", nil, object{"iss": "https://securetoken.google.com/shop", "aud": "shop", "sub": "Xk893u23H9SI893", "user_id": "Xk893u23H9SI893", "chat": "admin"},
			jwt.SigningMethodRS256, rsaKey, "Xk893u23H9SI893"},
		"Logto": {"", "roles", "", "k", nil, object{"iss": "https://shop.logto.app/oidc", "aud": "https://chat.example.com", "sub": "iHXPuSb9eMzt", "roles": []string{"admin"}},
			jwt.SigningMethodES384, ecKey, "iHXPuSb9eMzt"},
		"Supabase": {"", "app_metadata.chat", "", id, nil, object{"iss": "https://shop.supabase.co/auth/v1", "aud": "authenticated", "sub": id, "role": "authenticated",
			"app_metadata": object{"provider": "email", "chat": "admin"}, "user_metadata": object{"name": "Jo"}}, jwt.SigningMethodRS256, rsaKey, id},
		"own numbers": {"", "", "", "https://id.example.com/keys/1", object{"typ": "application/at+jwt"}, object{"sub": json.Number("9007199254740993"), "role": "admin"},
			jwt.SigningMethodRS512, rsaKey, "9007199254740993"},
	} {
		t.Run(name, func(t *testing.T) {
			set := filepath.Join(t.TempDir(), "keys.json")
			b64 := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
			key := map[string]string{"kid": p.kid, "kty": "RSA", "n": b64(rsaKey.N.Bytes()), "e": "AQAB", "use": "sig"}
			if p.key == crypto.PrivateKey(ecKey) {
				point, err := ecKey.PublicKey.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				half := (len(point) - 1) / 2
				key = map[string]string{"kid": p.kid, "kty": "EC", "crv": "P-384", "x": b64(point[1 : 1+half]), "y": b64(point[1+half:])}
			}
			text, err := json.Marshal(object{"keys": []map[string]string{{"kid": "old", "kty": "oct", "k": "AAAA"}, key}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(set, text, 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, func(c *node.Config) {
				c.JWTSecret, c.JWTJWKS, c.JWTUserClaim, c.JWTRoleClaim = "", set, p.userClaim, p.roleClaim
				if p.adminValue != "" {
					c.JWTAdminValue = p.adminValue
				}
				c.JWTIssuer, _ = p.claims["iss"].(string)
				switch audience := p.claims["aud"].(type) {
				case string:
					c.JWTAudience = audience
				case []string:
					c.JWTAudience = audience[0]
				}
			})
			p.claims["exp"] = time.Now().Add(time.Hour).Unix()
			unsigned := jwt.NewWithClaims(p.method, jwt.MapClaims(p.claims))
			unsigned.Header["kid"] = p.kid
			for name, value := range p.header {
				unsigned.Header[name] = value
				if value == nil {
					delete(unsigned.Header, name)
				}
			}
			signed, err := unsigned.SignedString(p.key)
			if err != nil {
				t.Fatal(err)
			}
			header := map[string]string{"Authorization": "Bearer " + signed}
			if a := s.do(request{method: "POST", path: "/v1/groups", body: `{"id":"g"}`, header: header}); a.status != 201 || a.field("created_by") != p.user {
				t.Errorf("%d bytes: got %d %s, want a group of %s", len(signed), a.status, a.body, p.user)
			}
			if a := s.do(request{method: "GET", path: "/v1/me", header: header}); a.field("user") != p.user || a.field("role") != "admin" {
				t.Errorf("got %d %s, want %s, an operator", a.status, a.body, p.user)
			}
			if a := s.do(request{method: "GET", path: "/v1/tasks/queues", header: header}); a.status != 200 {
				t.Errorf("an operator's call: got %d %s", a.status, a.body)
			}
		})
	}
}

// TestLongTokens: a token may have 16 KiB wherever it is given, beside other headers, and not a byte more.
func TestLongTokens(t *testing.T) {
	s := start(t, nil)
	const bytesMax = 16 << 10
	tokens := map[bool]string{} // whether it is short enough
	for pad := 0; tokens[true] == "" || tokens[false] == ""; pad++ {
		for _, x := range []string{"", "x", "xx"} { // the lengths of the two parts together leave out no number of bytes
			unsigned := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
				"sub": "alice", "exp": time.Now().Add(time.Hour).Unix(), "x": strings.Repeat("x", bytesMax*3/4-300+pad),
			})
			unsigned.Header["x"] = x
			signed, err := unsigned.SignedString([]byte(secret))
			if err != nil {
				t.Fatal(err)
			}
			if over := len(signed) - bytesMax; over == 0 || over == 1 {
				tokens[over == 0] = signed
			}
		}
	}
	dial := func(header http.Header) *websocket.Conn {
		conn, answer, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.url, "http")+"/v1/ws", header)
		if err != nil {
			t.Fatalf("%v, %+v", err, answer)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	ask := func(conn *websocket.Conn, frame object) (f struct{ Op, Code, User string }) {
		t.Helper()
		if err := conn.WriteJSON(frame); err != nil {
			t.Fatal(err)
		}
		if err := conn.ReadJSON(&f); err != nil {
			t.Logf("%s: %v", frame["op"], err)
		}
		return f
	}
	cookies := strings.Repeat("c", 8<<10)
	if a := s.do(request{method: "GET", path: "/v1/me", user: "alice"}); a.status != 200 || a.body != `{"user":"alice","version":0,"receipts":"shown","presence":"shown"}`+"\n" {
		t.Errorf("a user without a role: got %d %s", a.status, a.body)
	}
	for fits, signed := range tokens {
		status := map[bool]int{true: 200, false: 401}[fits]
		bearer := map[string]string{"Authorization": "Bearer " + signed, "Cookie": cookies}
		if a := s.do(request{method: "GET", path: "/v1/unread", header: bearer}); a.status != status {
			t.Errorf("%d bytes: got %d %.200s, want %d", len(signed), a.status, a.body, status)
		}
		if f := ask(dial(nil), object{"op": "hello", "token": signed}); (f.Op == "welcome") != fits {
			t.Errorf("%d bytes in a hello: got %+v", len(signed), f)
		}
		if !fits {
			continue
		}
		conn := dial(http.Header{"Authorization": {"Bearer " + signed}, "Cookie": {cookies}})
		if f := ask(conn, object{"op": "hello"}); f.Op != "welcome" || f.User != "alice" {
			t.Errorf("%d bytes in a handshake: got %+v", len(signed), f)
		}
		if f := ask(conn, object{"op": "auth", "token": signed, "ref": "r"}); f.Op != "ok" {
			t.Errorf("%d bytes in a renewal: got %+v", len(signed), f)
		}
	}
}
