package harness

import (
	"encoding/base64"
	"testing"
)

// TestBrowserReadsTheExampleOfTheRFC decrypts the message of RFC 8291, section 5.
func TestBrowserReadsTheExampleOfTheRFC(t *testing.T) {
	b, err := BrowserOf("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", "BTBZMqHH6r4Tts7J_aSIgg")
	if err != nil {
		t.Fatal(err)
	}
	if want := "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"; b.P256dh() != want {
		t.Errorf("got public key %s, want %s", b.P256dh(), want)
	}
	sent, err := base64.RawURLEncoding.DecodeString("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml" +
		"mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Decrypt(sent)
	if want := "When I grow up, I want to be a watermelon"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
