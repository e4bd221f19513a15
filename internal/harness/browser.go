package harness

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Browser is a browser's subscription to web push: it decrypts messages (RFC 8291) and checks their sender (RFC 8292).
// It is written from the RFCs, independently of the code under test.
type Browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

// NewBrowser makes a subscription.
func NewBrowser() (*Browser, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth) // never fails; see crypto/rand
	return &Browser{key, auth}, nil
}

// BrowserOf makes the subscription of a key and a secret, both in base64url.
func BrowserOf(private, auth string) (*Browser, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return nil, err
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, err
	}
	secret, err := base64.RawURLEncoding.DecodeString(auth)
	return &Browser{key, secret}, err
}

// P256dh returns the public key that a page sends to its server.
func (b *Browser) P256dh() string {
	return base64.RawURLEncoding.EncodeToString(b.key.PublicKey().Bytes())
}

// Auth returns the secret that a page sends to its server.
func (b *Browser) Auth() string { return base64.RawURLEncoding.EncodeToString(b.auth) }

// Open checks a request as a push service and the browser behind it would, and returns the message. serverKey is the
// applicationServerKey of the subscription, origin that of the push service.
func (b *Browser) Open(r *http.Request, serverKey, origin string) ([]byte, error) {
	if err := checkVAPID(r.Header.Get("Authorization"), serverKey, origin); err != nil {
		return nil, err
	}
	if got := r.Header.Get("Content-Encoding"); r.Method != http.MethodPost || got != "aes128gcm" {
		return nil, fmt.Errorf("%s with Content-Encoding %q", r.Method, got)
	}
	if ttl, err := strconv.Atoi(r.Header.Get("TTL")); err != nil || ttl < 0 {
		return nil, fmt.Errorf("TTL %q", r.Header.Get("TTL"))
	}
	if topic := r.Header.Get("Topic"); len(topic) > 32 || strings.ContainsAny(topic, "+/=") {
		return nil, fmt.Errorf("topic %q", topic)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(body) > 4096 {
		return nil, fmt.Errorf("%d bytes: more than a push service has to take", len(body))
	}
	return b.Decrypt(body)
}

// Decrypt decrypts a message of one record (RFC 8291, 3.4 and 4; RFC 8188, 2).
func (b *Browser) Decrypt(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("no header of aes128gcm")
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:21+body[20]], body[21+body[20]:]
	if len(record) > int(size) {
		return nil, fmt.Errorf("%d bytes in a record of %d", len(record), size)
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(sender)
	material, err := hkdf.Key(sha256.New, shared, b.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, material, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, material, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	padded, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	text, last := bytes.CutSuffix(bytes.TrimRight(padded, "\x00"), []byte{2})
	if !last {
		return nil, errors.New("the last record does not end with 2")
	}
	return text, nil
}

// checkVAPID checks `vapid t=<JWT>, k=<key>` (RFC 8292, 2 and 3).
func checkVAPID(header, serverKey, origin string) error {
	fields, ok := strings.CutPrefix(header, "vapid ")
	if !ok {
		return fmt.Errorf("authorization %q", header)
	}
	var token, key string
	for field := range strings.SplitSeq(fields, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
		case "t":
			token = value
		case "k":
			key = value
		}
	}
	if key != serverKey {
		return fmt.Errorf("signed by %q, want %q", key, serverKey)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("no token in %q", header)
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return err
		}
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	if err := checkES256(point, parts[0]+"."+parts[1], raw[2]); err != nil {
		return err
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := errors.Join(json.Unmarshal(raw[0], &head), json.Unmarshal(raw[1], &claims)); err != nil {
		return err
	}
	left := time.Until(time.Unix(claims.Exp, 0))
	mail, isMail := strings.CutPrefix(claims.Sub, "mailto:")
	if head.Alg != "ES256" || head.Typ != "JWT" || claims.Aud != origin || left <= 0 || left > 24*time.Hour ||
		!isMail && !strings.HasPrefix(claims.Sub, "https:") || strings.HasPrefix(mail, "mailto:") {
		return fmt.Errorf("token %s %s", raw[0], raw[1])
	}
	return nil
}

func checkES256(point []byte, signed string, signature []byte) error {
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(signed))
	if len(signature) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature of the token is not valid")
	}
	return nil
}
