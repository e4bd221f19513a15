package oidc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// sealer seals what the browser keeps, so that it can neither be read nor changed there: with the first key, and opens it with any.
type sealer []cipher.AEAD

func newSealer(keys [][]byte) (s sealer, err error) {
	for _, key := range keys {
		one, err := newAEAD(key)
		if err != nil {
			return nil, err
		}
		s = append(s, one)
	}
	return s, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	own, err := hkdf.Key(sha256.New, key, nil, "chatd openid sign-in", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (s sealer) seal(of flow) (string, error) {
	text, err := json.Marshal(of)
	return base64.RawURLEncoding.EncodeToString(s[0].Seal(nil, nil, text, nil)), err
}

// open tells whether this server sealed a text, and reads it.
func (s sealer) open(sealed string, into *flow) bool {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return false
	}
	for _, key := range s {
		if text, err := key.Open(nil, nil, raw, nil); err == nil {
			return json.Unmarshal(text, into) == nil
		}
	}
	return false
}
