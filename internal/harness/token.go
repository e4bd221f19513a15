package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"
)

// Secret signs the tokens of the nodes that the harness starts.
const Secret = "a secret of the end-to-end tests and of nothing else"

// Token signs a token for user. role is empty or admin.
func Token(user, role string, ttl time.Duration) string {
	claims := map[string]any{"sub": user, "iat": time.Now().Unix(), "exp": time.Now().Add(ttl).Unix()}
	if role != "" {
		claims["role"] = role
	}
	return Sign(map[string]any{"alg": "HS256", "typ": "JWT"}, claims, Secret)
}

// Sign makes a JWT with HMAC-SHA256, whatever its header says.
func Sign(header, claims map[string]any, secret string) string {
	head, _ := json.Marshal(header)
	body, _ := json.Marshal(claims)
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
