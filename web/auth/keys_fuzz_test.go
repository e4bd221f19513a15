package auth

import (
	"slices"
	"testing"
)

// FuzzParseKeySet: no key set panics, and none gives a key that fits no algorithm.
func FuzzParseKeySet(f *testing.F) {
	for _, seed := range []string{
		`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys":[{"kty":"EC","crv":"P-256","kid":"b","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`,
		`{"keys":[{"kty":"oct","k":"AAAA"}]}`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","use":"sig"}]}`, `{"keys":[{"kty":"RSA","n":"","e":""}]}`,
		`{"keys":[null,1,"x",{}]}`, `{"keys":{}}`, `[]`, ``, `{"keys":[{"kty":"RSA","use":"enc"}]}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"","y":""}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		keys, _, err := parseKeySet(raw)
		if err != nil && len(keys) > 0 {
			t.Errorf("got keys and %v of %q", err, raw)
		}
		for _, key := range keys {
			if !slices.ContainsFunc(keyMethods, key.fits) {
				t.Errorf("a key for no algorithm was taken: %q", raw)
			}
		}
	})
}
