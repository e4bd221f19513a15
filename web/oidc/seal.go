package oidc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// sealer seals what the browser keeps, so that it can neither be read nor changed there.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (sealer, error) {
	own, err := hkdf.Key(sha256.New, key, nil, "chatd openid sign-in", 32)
	if err != nil {
		return sealer{}, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func (s sealer) seal(of flow) (string, error) {
	text, err := json.Marshal(of)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, nil)), err
}

// open tells whether this server sealed a text, and reads it.
func (s sealer) open(sealed string, into *flow) bool {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return false
	}
	text, err := s.aead.Open(nil, nil, raw, nil)
	return err == nil && json.Unmarshal(text, into) == nil
}
