package deliver

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// The vectors of the reference libraries (standard-webhooks/libraries, the "sign" test that each language has).
func TestSignatureVectors(t *testing.T) {
	for _, v := range []struct{ secret, id, body, want string }{
		{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`,
			"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
		{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`,
			"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	} {
		got, err := signatures([]string{v.secret}, v.id, time.Unix(1614265330, 0), []byte(v.body))
		if err != nil || got != v.want {
			t.Errorf("got %s, %v, want %s", got, err, v.want)
		}
	}
}

func verify(secret string, header http.Header, body []byte) error {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return w.Verify(body, header)
}

func TestBothSecretsSign(t *testing.T) {
	older, newer, other := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_bmV3ZXJuZXdlcm5ld2VybmV3ZXI=", "whsec_b3RoZXJvdGhlcm90aGVy"
	now, body := time.Now(), []byte(`{"type":"message.created"}`)
	signed, err := signatures([]string{newer, older}, "id", now, body)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	header.Set(headerID, "id")
	header.Set(headerTimestamp, strconv.FormatInt(now.Unix(), 10))
	header.Set(headerSignature, signed)
	for secret, want := range map[string]bool{older: true, newer: true, other: false} {
		if err := verify(secret, header, body); (err == nil) != want {
			t.Errorf("%s: got %v, want verified: %v", secret, err, want)
		}
	}
	if err := verify(newer, header, append(body, ' ')); err == nil {
		t.Error("another body was verified")
	}
}

func TestABrokenSecretIsNotShown(t *testing.T) {
	for _, secrets := range [][]string{nil, {"whsec_"}, {"whsec_not base64 CANARY"}, {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "CANARY!"}} {
		signed, err := signatures(secrets, "id", time.Now(), nil)
		if err == nil || signed != "" || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%q: got %q, %v", secrets, signed, err)
		}
	}
}
