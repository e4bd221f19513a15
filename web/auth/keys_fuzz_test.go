package auth

import "testing"

// FuzzParseKeySet: no key set panics, and none without a usable key is taken.
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
		set, err := parseKeySet(t.Context(), raw)
		if err == nil && (set.count == 0 || len(set.ids) == 0) {
			t.Errorf("a set of no keys was taken: %q", raw)
		}
	})
}
