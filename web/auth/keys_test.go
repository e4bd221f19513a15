package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
)

// issuer serves a key set that a test changes, to a verifier whose clock the test moves.
type issuer struct {
	*httptest.Server
	t       *testing.T
	now     atomic.Int64
	served  atomic.Pointer[[]byte]
	status  atomic.Int64
	fetches atomic.Int64
	log     bytes.Buffer
	v       *Verifier
}

func newIssuer(t *testing.T, set []byte) *issuer {
	t.Helper()
	i := &issuer{t: t}
	i.now.Store(testNow.UnixNano())
	i.status.Store(http.StatusOK)
	i.served.Store(&set)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		w.WriteHeader(int(i.status.Load()))
		_, _ = w.Write(*i.served.Load())
	}))
	t.Cleanup(i.Close)
	var err error
	i.v, err = NewVerifier(t.Context(), TokenOptions{
		JWKS: i.URL, Egress: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Log: slog.New(slog.NewTextHandler(&i.log, nil)),
		Now: func() time.Time { return time.Unix(0, i.now.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// serve replaces the set, and has the verifier read it as it does from time to time.
func (i *issuer) serve(set []byte) {
	i.served.Store(&set)
	i.pass(urlEvery)
}

func (i *issuer) pass(d time.Duration) {
	i.now.Add(int64(d))
	i.v.keys.refresh(i.t.Context())
}

// expect verifies a token; want is the code of the error.
func (i *issuer) expect(what, token string, want chat.Code) {
	i.t.Helper()
	if _, err := i.v.Verify(i.t.Context(), token); chat.CodeOf(err) != want {
		i.t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

func longLived(t *testing.T, key *rsa.PrivateKey, kid string) string {
	t.Helper()
	return sign(t, jwt.SigningMethodRS256, key, object{"kid": kid}, object{"sub": "alice", "exp": testNow.Add(1000 * time.Hour).Unix()})
}

// TestUnusableKeysAreSkipped: what a set holds besides its good keys is no reason to refuse the set, which would leave a key
// trusted that was taken out of it.
func TestUnusableKeysAreSkipped(t *testing.T) {
	k := testKeys()
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	broken := jwk("broken", &k.ec.PublicKey)
	broken["y"] = broken["x"]
	unusable := []map[string]string{
		jwk("weak", &weak.PublicKey), {"kty": "oct", "kid": "shared", "k": b64(testSecret)}, broken, {"kty": "EC", "crv": "secp256k1", "kid": "coin", "x": "AA", "y": "AA"},
		{"kty": "new", "kid": "later"}, labelled(jwk("alg", &k.rsa.PublicKey), "alg", "ES256"), {"kid": "empty"},
		{"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": strings.Repeat("k", keyIDBytesMax+1)},
		labelled(jwk("forEncryption", &k.rsa.PublicKey), "use", "enc"),
		labelled(jwk("squares", &k.rsa.PublicKey), "e", "Ag"), labelled(jwk("evenExponent", &k.rsa.PublicKey), "e", "AQAA"),
		labelled(jwk("identity", &k.rsa.PublicKey), "e", "AQ"), labelled(jwk("hugeExponent", &k.rsa.PublicKey), "e", "AQAAAAAAAAAD"),
		labelled(jwk("evenModulus", &k.rsa.PublicKey), "n", b64(new(big.Int).Lsh(k.rsa.N, 1).Bytes())),
	}
	i := newIssuer(t, keySetJSON(append(unusable, jwk("one", &k.rsa.PublicKey))...))
	one, two := longLived(t, k.rsa, "one"), longLived(t, k.rsaOther, "two")
	i.expect("a key beside unusable ones", one, "")
	i.expect("an unusable key", longLived(t, weak, "weak"), chat.CodeUnauthenticated)
	i.serve(keySetJSON(append([]map[string]string{jwk("two", &k.rsaOther.PublicKey)}, unusable...)...))
	i.expect("the new key", two, "")
	i.expect("a removed key", one, chat.CodeUnauthenticated)

	logged := i.log.String()
	if got := strings.Count(logged, "level=WARN"); got != 1 {
		t.Errorf("got %d warnings, want one:\n%s", got, logged)
	}
	for _, want := range []string{"weak", "1024 bits", "shared", "CHATD_JWT_SECRET", "broken", "coin", "later", "alg", "empty", "kkkk", "forEncryption", "squares", "evenExponent",
		"identity", "hugeExponent", "evenModulus"} {
		if !strings.Contains(logged, want) {
			t.Errorf("the warning does not name %s:\n%s", want, logged)
		}
	}
	if strings.Contains(logged, b64(testSecret)) {
		t.Error("the log has a secret")
	}

	// A set that is not JSON objects alone still is a set.
	i.serve([]byte("\uFEFF" + `{"keys":[null,1,"x",[],{"kty":1},` + strings.TrimPrefix(string(keySetJSON(jwk("one", &k.rsa.PublicKey))), `{"keys":[`)))
	i.expect("a key beside what is none", one, "")
	i.expect("a removed key", two, chat.CodeUnauthenticated)
}

// TestKeySetReplacesWhatWasKnown: a set that was read counts, also if it is empty; what is no set does not.
func TestKeySetReplacesWhatWasKnown(t *testing.T) {
	k := testKeys()
	i := newIssuer(t, keySetJSON(jwk("one", &k.rsa.PublicKey)))
	one := longLived(t, k.rsa, "one")
	unnamed := sign(t, jwt.SigningMethodRS256, k.rsa, nil, object{"sub": "alice", "exp": testNow.Add(1000 * time.Hour).Unix()})
	for name, other := range map[string]string{"a page": "<html>", "nothing": "", "another object": `{"error":"later"}`, "no list": `{"keys":{}}`, "null": `{"keys":null}`, "a part": `{"keys":[`} {
		i.serve([]byte(other))
		i.expect("after "+name, one, "")
	}
	i.serve([]byte(`{"keys":[]}`))
	i.expect("after an empty set", one, chat.CodeUnauthenticated)
	i.expect("after an empty set, without a kid", unnamed, chat.CodeUnauthenticated)
	i.status.Store(http.StatusBadGateway)
	i.pass(urlEvery)
	i.expect("after an empty set, while the source is down", one, chat.CodeUnauthenticated)
}

// TestKeysOfASourceThatIsAwayEnd: keys are trusted for a day without their source, and not longer, remembered tokens neither.
func TestKeysOfASourceThatIsAwayEnd(t *testing.T) {
	k := testKeys()
	i := newIssuer(t, keySetJSON(jwk("one", &k.rsa.PublicKey)))
	one := longLived(t, k.rsa, "one")
	i.pass(time.Hour) // an unchanged set is read as well as a new one
	i.status.Store(http.StatusBadGateway)
	for range 23 {
		i.pass(time.Hour)
	}
	i.pass(time.Hour - time.Minute)
	i.expect("for less than a day", one, "")
	i.now.Add(int64(2 * time.Minute))
	i.expect("for more than a day", one, chat.CodeUnavailable)
	i.status.Store(http.StatusOK)
	i.pass(firstGap)
	i.expect("again", one, "")
	for want, times := range map[string]int{"status 502": 1, "no longer trusted": 1, "can be read again": 1} {
		if got := strings.Count(i.log.String(), want); got != times {
			t.Errorf("the log says %q %d times, want %d:\n%s", want, got, times, i.log.String())
		}
	}
}

// TestKeyRemovedDuringAVerification: a token whose key goes while it is verified passes this time alone.
func TestKeyRemovedDuringAVerification(t *testing.T) {
	k := testKeys()
	i := newIssuer(t, keySetJSON(jwk("one", &k.rsa.PublicKey)))
	one, parser := longLived(t, k.rsa, "one"), i.v.parser
	i.v.parser = jwt.NewParser(jwt.WithTimeFunc(func() time.Time { // asked for once the signature is verified
		i.serve(keySetJSON(jwk("two", &k.rsaOther.PublicKey)))
		return testNow
	}))
	i.expect("a key that goes meanwhile", one, "")
	i.v.parser = parser
	i.expect("a removed key", one, chat.CodeUnauthenticated)
}

// TestUnknownKeysAskASourceThatIsAwayOnce: tokens that name keys nobody knows are no reason to ask a source that fails more often.
func TestUnknownKeysAskASourceThatIsAwayOnce(t *testing.T) {
	k := testKeys()
	i := newIssuer(t, keySetJSON(jwk("one", &k.rsa.PublicKey)))
	i.status.Store(http.StatusBadGateway)
	i.now.Add(int64(urlGap))
	var all sync.WaitGroup
	for n := range 200 {
		token := longLived(t, k.rsa, "unknown-"+b64([]byte{byte(n)}))
		all.Go(func() { i.expect("an unknown key", token, chat.CodeUnauthenticated) })
	}
	all.Wait()
	if got := i.fetches.Load(); got != 2 {
		t.Errorf("got %d fetches, want the first and one more", got)
	}
}

// TestStartsWithoutTheKeySet: what another server answers is no reason not to start.
func TestStartsWithoutTheKeySet(t *testing.T) {
	k := testKeys()
	one := longLived(t, k.rsa, "one")
	for name, first := range map[string]string{"no set": "<html>", "an empty set": `{"keys":[]}`} {
		i := newIssuer(t, []byte(first))
		want := chat.CodeUnavailable
		if name == "an empty set" {
			want = chat.CodeUnauthenticated
		}
		i.expect(name, one, want)
		i.serve(keySetJSON(jwk("one", &k.rsa.PublicKey)))
		i.expect("after "+name, one, "")
	}
}

// TestKeysWithoutIDs: keys that have no kid, or share one, are all tried.
func TestKeysWithoutIDs(t *testing.T) {
	k := testKeys()
	for name, kid := range map[string]string{"none": "", "one for both": "k"} {
		v, err := NewVerifier(context.Background(), TokenOptions{
			JWKS: writeKeySet(t, keySetJSON(jwk(kid, &k.rsa.PublicKey), jwk(kid, &k.rsaOther.PublicKey), jwk(kid, k.ed.Public()))),
			Now:  func() time.Time { return testNow },
		})
		if err != nil {
			t.Fatal(err)
		}
		header := object{}
		if kid != "" {
			header["kid"] = kid
		}
		claims := object{"sub": "alice", "exp": testNow.Add(time.Hour).Unix()}
		for which, token := range map[string]string{
			"first": sign(t, jwt.SigningMethodRS256, k.rsa, header, claims), "second": sign(t, jwt.SigningMethodRS256, k.rsaOther, header, claims),
			"third": sign(t, jwt.SigningMethodEdDSA, k.ed, header, claims),
		} {
			if _, err := v.Verify(context.Background(), token); err != nil {
				t.Errorf("kid %s: a token of the %s key: %v", name, which, err)
			}
		}
	}
}
