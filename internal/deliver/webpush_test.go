package deliver

import (
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/harness"
)

func pushKey(t *testing.T) notify.PushKey {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return notify.PushKey{Private: base64.RawURLEncoding.EncodeToString(key.Bytes()),
		Public: base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())}
}

func localSender(t *testing.T) *Sender {
	s := New(Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(s.Close)
	return s
}

func TestWebPushIsReadByTheBrowserAlone(t *testing.T) {
	browser, err := harness.NewBrowser()
	if err != nil {
		t.Fatal(err)
	}
	key := pushKey(t)
	status := http.StatusCreated
	var receiver *httptest.Server
	got := make(chan []byte, 1)
	receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := browser.Open(r, key.Public, receiver.URL)
		if err != nil {
			t.Error(err)
		}
		if r.Header.Get("Urgency") != "high" || r.Header.Get("TTL") != "3600" || r.Header.Get("Topic") != "topic" {
			t.Errorf("got urgency %q, TTL %q, topic %q", r.Header.Get("Urgency"), r.Header.Get("TTL"), r.Header.Get("Topic"))
		}
		got <- body
		w.WriteHeader(status)
	}))
	defer receiver.Close()
	p := notify.WebPush{Key: key, Topic: "topic", Urgency: chat.PriorityHigh, TTL: time.Hour,
		Device: notify.Device{Kind: notify.DeviceWebPush, Address: receiver.URL + "/push", P256dh: browser.P256dh(), Auth: browser.Auth()}}
	s := localSender(t)
	for _, length := range []int{0, 1, 2000, webPushBytesMax} {
		p.Body = bytes.Repeat([]byte("x"), length)
		if out := s.WebPush(t.Context(), p); out.Verdict != webhook.Delivered || out.Status != status {
			t.Fatalf("%d bytes: got %+v, want delivered", length, out)
		}
		if body := <-got; !bytes.Equal(body, p.Body) {
			t.Errorf("%d bytes: got %.40q", length, body)
		}
	}
	spare := append(make([]byte, 0, 100), "body"...)
	whole := spare[:100]
	p.Body = spare
	s.WebPush(t.Context(), p)
	if <-got; !bytes.Equal(whole[4:], make([]byte, 96)) {
		t.Errorf("what stands behind the body was written: %q", whole)
	}
	status = http.StatusGone
	if out := s.WebPush(t.Context(), p); out.Verdict != webhook.Gone {
		t.Errorf("got %+v, want gone", out)
	}
	<-got
}

func TestWebPushThatCannotBe(t *testing.T) {
	asked := false
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer receiver.Close()
	browser, err := harness.NewBrowser()
	if err != nil {
		t.Fatal(err)
	}
	good := notify.WebPush{Key: pushKey(t), Body: []byte("x"), Device: notify.Device{Address: receiver.URL, P256dh: browser.P256dh(), Auth: browser.Auth()}}
	for name, change := range map[string]func(*notify.WebPush){
		"too long":    func(p *notify.WebPush) { p.Body = make([]byte, webPushBytesMax+1) },
		"no point":    func(p *notify.WebPush) { p.Device.P256dh = strings.Repeat("A", 87) },
		"no base64":   func(p *notify.WebPush) { p.Device.Auth = "!" },
		"no URL":      func(p *notify.WebPush) { p.Device.Address = "http://[" },
		"private now": func(p *notify.WebPush) { p.Device.Address = "http://10.0.0.1/" },
	} {
		p := good
		change(&p)
		if out := localSender(t).WebPush(t.Context(), p); out.Verdict != webhook.Failed || out.Cause == "" || asked {
			t.Errorf("%s: got %+v, asked %v, want failed before it was sent", name, out, asked)
		}
	}
}

func TestAddressesOfDevices(t *testing.T) {
	private := New(Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	public := New(Options{PushHosts: []string{"ntfy.example.net", "*.Push.example.org"}})
	t.Cleanup(private.Close)
	t.Cleanup(public.Close)
	for _, c := range []struct {
		check           func(*Sender, string) error
		address         string
		public, private bool
	}{
		{(*Sender).CheckEndpoint, "https://fcm.googleapis.com/fcm/send/x", true, true},
		{(*Sender).CheckEndpoint, "https://updates.push.services.mozilla.com/wpush/v2/x", true, true},
		{(*Sender).CheckEndpoint, "https://wns2-par02p.notify.windows.com/w/?token=x", true, true},
		{(*Sender).CheckEndpoint, "https://web.push.apple.com/x", true, true},
		{(*Sender).CheckEndpoint, "https://ntfy.example.net/up?id=1", true, false},
		{(*Sender).CheckEndpoint, "https://NTFY.example.net:8443/up", true, false},
		{(*Sender).CheckEndpoint, "https://below.ntfy.example.net/up", false, false},
		{(*Sender).CheckEndpoint, "https://a.b.push.example.org/up", true, false},
		{(*Sender).CheckEndpoint, "https://push.example.org/up", false, false},
		{(*Sender).CheckEndpoint, "https://evilpush.example.org/up", false, false},
		{(*Sender).CheckEndpoint, "https://example.com/x", false, false},
		{(*Sender).CheckEndpoint, "https://fcm.googleapis.com.example.com/x", false, false},
		{(*Sender).CheckEndpoint, "https://evilpush.apple.com.example.com/x", false, false},
		{(*Sender).CheckEndpoint, "https://fcm.googleapis.com@127.0.0.1/x", false, false},
		{(*Sender).CheckEndpoint, "http://fcm.googleapis.com/x", false, false},
		{(*Sender).CheckEndpoint, "http://a.push.services.mozilla.com/x", false, false},
		{(*Sender).CheckEndpoint, "http://127.0.0.1:8080/x", false, true},
		{(*Sender).CheckEndpoint, "https://127.0.0.1:8080/x", false, true},
		{(*Sender).CheckEndpoint, "http://localhost:8080/x", false, true},
		{(*Sender).CheckEndpoint, "http://10.0.0.1/x", false, false},
		{(*Sender).CheckURL, "https://example.com/x", true, true},
		{(*Sender).CheckURL, "http://example.com/x", false, true},
		{(*Sender).CheckURL, "http://127.0.0.1/x", false, true},
		{(*Sender).CheckURL, "https://127.0.0.1/x", false, true},
		{(*Sender).CheckURL, "https://169.254.169.254/latest", false, false},
		{(*Sender).CheckURL, "ftp://example.com/x", false, false},
		{(*Sender).CheckURL, "x", false, false},
	} {
		if err := c.check(public, c.address); (err == nil) != c.public {
			t.Errorf("%s: got %v, want allowed %v", c.address, err, c.public)
		}
		if err := c.check(private, c.address); (err == nil) != c.private {
			t.Errorf("%s with an allowed network: got %v, want allowed %v", c.address, err, c.private)
		}
	}
}

func TestCheckPushHost(t *testing.T) {
	for host, good := range map[string]bool{
		"ntfy.example.net": true, "*.push.example.org": true, "xn--bcher-kva.example": true,
		"": false, "*": false, "*.": false, "*.*.example.org": false, "a*.example.org": false, "localhost": false, "org": false, "*.org": false,
		"https://ntfy.example.net": false, "ntfy.example.net/up": false, "ntfy.example.net:8443": false, "user@ntfy.example.net": false,
		"10.0.0.1": false, "[::1]": false, "b\u00fccher.example": false, "ntfy.example.net,x.example": false, "a..b": false, " a.example": false,
	} {
		if err := CheckPushHost(host); (err == nil) != good {
			t.Errorf("%q: got %v, want good %v", host, err, good)
		}
	}
}
