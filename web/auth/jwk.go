package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// Bounds of a key.
const (
	keyIDBytesMax = 512 // of a kid, which is any string (RFC 7515, 4.1.4)
	rsaBitsMin    = 2048
	rsaBitsMax    = 16384
)

// keyMethods are the algorithms of keys in a set.
var keyMethods = []jwt.SigningMethod{
	jwt.SigningMethodRS256, jwt.SigningMethodRS384, jwt.SigningMethodRS512, jwt.SigningMethodPS256, jwt.SigningMethodPS384, jwt.SigningMethodPS512,
	jwt.SigningMethodES256, jwt.SigningMethodES384, jwt.SigningMethodES512, jwt.SigningMethodEdDSA,
}

// verifyKey is a key of a set that verifies signatures.
type verifyKey struct {
	id     string
	alg    string           // the only algorithm that the set allows it for; empty: each of its type
	public crypto.PublicKey // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// fits reports whether the key is for an algorithm: by its type, its curve, and the alg that the set gives it.
func (k verifyKey) fits(method jwt.SigningMethod) bool {
	if k.alg != "" && k.alg != method.Alg() {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		_, pkcs := method.(*jwt.SigningMethodRSA)
		_, pss := method.(*jwt.SigningMethodRSAPSS)
		return pkcs || pss
	case *ecdsa.PublicKey:
		m, ok := method.(*jwt.SigningMethodECDSA)
		return ok && m.CurveBits == public.Curve.Params().BitSize
	case ed25519.PublicKey:
		return method == jwt.SigningMethodEdDSA
	default:
		return false
	}
}

// parseKeySet returns the keys of a JSON Web Key Set (RFC 7517) that verify tokens, and why others cannot.
func parseKeySet(raw []byte) (keys []verifyKey, unusable []string, err error) {
	byteOrderMark := []byte("\uFEFF")
	var set map[string]json.RawMessage
	var list []json.RawMessage
	err = json.Unmarshal(bytes.TrimPrefix(raw, byteOrderMark), &set)
	if err == nil {
		err = json.Unmarshal(set["keys"], &list) // fails if there are none
	}
	if err != nil || list == nil { // null is no list: it would end all trust
		return nil, nil, errors.New("the key set is not a JSON object with a list of keys")
	}
	for i, one := range list {
		key, err := parseKey(one)
		if err == nil {
			keys = append(keys, key)
			continue
		}
		name := fmt.Sprintf("number %d", i+1)
		if key.id != "" {
			name = fmt.Sprintf("%.*q", keyIDBytesMax, key.id)
		}
		unusable = append(unusable, name+": "+err.Error())
	}
	return keys, unusable, nil
}

// parseKey reads the public part of a key. Certificates beside it are ignored: the publisher of the set vouches for
// its keys.
func parseKey(raw json.RawMessage) (key verifyKey, err error) {
	var k struct {
		Kty    jwkset.KTY `json:"kty"`
		Kid    string     `json:"kid"`
		Use    string     `json:"use"`
		KeyOps []string   `json:"key_ops"`
		Alg    string     `json:"alg"`
		Crv    jwkset.CRV `json:"crv"`
		N      string     `json:"n"`
		E      string     `json:"e"`
		X      string     `json:"x"`
		Y      string     `json:"y"`
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return key, errors.New("not a JSON object that describes a key")
	}
	key.id, key.alg = k.Kid, k.Alg
	switch {
	case k.Use != "" && k.Use != "sig", len(k.KeyOps) > 0 && !slices.Contains(k.KeyOps, "verify") && !slices.Contains(k.KeyOps, "sign"):
		return key, errors.New("the key is not for signatures")
	case len(k.Kid) > keyIDBytesMax:
		return key, fmt.Errorf("a kid has at most %d bytes", keyIDBytesMax)
	case k.Kty == jwkset.KtyOct:
		return key, errors.New("a symmetric key belongs in CHATD_JWT_SECRET, not in a key set")
	}
	parsed, err := jwkset.NewJWKFromMarshal(jwkset.JWKMarshal{KTY: k.Kty, CRV: k.Crv, N: k.N, E: k.E, X: k.X, Y: k.Y},
		jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return key, fmt.Errorf("want an RSA, P-256, P-384, P-521 or Ed25519 key: %w", err)
	}
	key.public = parsed.Key()
	if public, ok := key.public.(*rsa.PublicKey); ok {
		if err := checkRSA(public, k.E); err != nil {
			return key, err
		}
	}
	if !slices.ContainsFunc(keyMethods, key.fits) {
		return key, fmt.Errorf("alg %q with a %s key cannot be used", k.Alg, k.Kty)
	}
	return key, nil
}

// checkRSA refuses RSA keys that are too weak or too expensive, or that are none. exponent is e as the set has it.
func checkRSA(public *rsa.PublicKey, exponent string) error {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(exponent, "="))
	e := new(big.Int).SetBytes(raw)
	switch bits := public.N.BitLen(); {
	case bits < rsaBitsMin || bits > rsaBitsMax:
		return fmt.Errorf("an RSA key of %d bits: want %d to %d", bits, rsaBitsMin, rsaBitsMax)
	case err != nil || e.Bit(0) == 0 || e.BitLen() < 2 || e.BitLen() > 31:
		return errors.New("an RSA key whose exponent is not an odd number from 3 to 2^31")
	case public.N.Bit(0) == 0:
		return errors.New("an RSA key whose modulus is even")
	}
	return nil
}
