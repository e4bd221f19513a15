package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

func TestDevices(t *testing.T) {
	s := start(t, nil)
	first := s.must("alice", "PUT", "/v1/devices/phone", `{"kind":"webhook","url":"https://example.com/1"}`)
	secret, _ := first.field("secret").(string)
	if first.status != 201 || !strings.HasPrefix(secret, "whsec_") || first.field("url") != "https://example.com/1" {
		t.Errorf("first: %d %s", first.status, first.body)
	}
	again := s.must("alice", "PUT", "/v1/devices/phone", `{"kind":"webhook","url":"https://example.com/2"}`)
	if again.status != 200 || again.field("secret") != nil || again.field("url") != "https://example.com/2" || again.field("created_at") != first.field("created_at") {
		t.Errorf("again: %d %s, want the same device at another address and no secret", again.status, again.body)
	}
	browser, err := harness.NewBrowser()
	if err != nil {
		t.Fatal(err)
	}
	// Libraries of browsers write the keys in either alphabet, padded or not.
	padded := strings.NewReplacer("-", "+", "_", "/").Replace(browser.P256dh()) + "="
	push := `{"kind":"webpush","endpoint":"https://fcm.googleapis.com/fcm/send/x","keys":{"p256dh":"` + padded + `","auth":"` + browser.Auth() + `"}}`
	if a := s.must("alice", "PUT", "/v1/devices/browser", push); a.status != 201 || a.field("endpoint") != "https://fcm.googleapis.com/fcm/send/x" {
		t.Errorf("web push: %d %s", a.status, a.body)
	}
	// What toJSON of a browser's subscription has, and what libraries add to it.
	for _, more := range []string{`"expirationTime":null`, `"expirationTime":1790000000000`, `"expirationTime":1790000000000.5,"contentEncoding":"aes128gcm"`} {
		if a := s.must("alice", "PUT", "/v1/devices/browser", push[:len(push)-1]+","+more+"}"); a.status != 200 {
			t.Errorf("with %s: %d %s", more, a.status, a.body)
		}
	}
	for _, more := range []string{`"expirationTime":"never"`, `"contentEncoding":"aesgcm"`, `"contentEncoding":1`} {
		wrong := s.do(request{method: "PUT", path: "/v1/devices/browser", body: push[:len(push)-1] + "," + more + "}", user: "alice"})
		checkProblem(t, more, wrong, 400, "invalid_request")
	}
	changed := s.must("alice", "PUT", "/v1/devices/browser", `{"kind":"webhook","url":"https://example.com/3"}`)
	if changed.status != 201 || changed.field("secret") == nil {
		t.Errorf("of another kind: %d %s, want a new device", changed.status, changed.body)
	}
	list := s.must("alice", "GET", "/v1/devices", "")
	one := s.must("alice", "GET", "/v1/devices/phone", "")
	for _, a := range []answer{list, one} {
		for _, hidden := range []string{"secret", "whsec_", "p256dh", "auth", browser.Auth()} {
			if strings.Contains(a.body, hidden) {
				t.Errorf("%s shows %q", a.body, hidden)
			}
		}
	}
	if !strings.Contains(list.body, `"phone"`) || !strings.Contains(list.body, `"browser"`) {
		t.Errorf("the list is %s", list.body)
	}
	if a := s.must("bob", "GET", "/v1/devices", ""); a.body != `{"devices":[]}`+"\n" {
		t.Errorf("the list of another is %s", a.body)
	}
	checkProblem(t, "of another", s.do(request{method: "GET", path: "/v1/devices/phone", user: "bob"}), 404, "not_found")
	for range 2 {
		s.must("alice", "DELETE", "/v1/devices/phone", "")
	}
	checkProblem(t, "deleted", s.do(request{method: "GET", path: "/v1/devices/phone", user: "alice"}), 404, "not_found")
	for _, name := range strings.Split("abcdefghijklmnopqrs", "") {
		s.must("alice", "PUT", "/v1/devices/"+name, `{"kind":"webhook","url":"https://example.com/"}`)
	}
	full := s.do(request{method: "PUT", path: "/v1/devices/t", body: `{"kind":"webhook","url":"https://example.com/"}`, user: "alice"})
	checkProblem(t, "the 21st device", full, 400, "out_of_range")

	key := s.must("alice", "GET", "/v1/push/key", "").field("key")
	if text, _ := key.(string); len(text) != 87 || s.must("bob", "GET", "/v1/push/key", "").field("key") != key {
		t.Errorf("the push key is %q, want one for all", key)
	}
}

func TestNotifyLevels(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	const path = "/v1/groups/g/notify"
	later := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")
	for _, c := range []struct{ set, want string }{
		{"", `{"level":"all","until":null}`},
		{`{"level":"mentions"}`, `{"level":"mentions","until":null}`},
		{`{"level":"none","until":"` + later + `"}`, `{"level":"none","until":"` + later + `"}`},
		{`{"level":"none","until":"2020-01-01T00:00:00+02:00"}`, `{"level":"all","until":null}`},
		{`{"level":"mentions"}`, `{"level":"mentions","until":null}`},
		{`{"level":"all","until":"` + later + `"}`, `{"level":"all","until":null}`},
	} {
		if c.set != "" {
			if a := s.must("bob", "PUT", path, c.set); strings.TrimSpace(a.body) != c.want {
				t.Errorf("setting %s: got %s, want %s", c.set, a.body, c.want)
			}
		}
		if a := s.must("bob", "GET", path, ""); strings.TrimSpace(a.body) != c.want {
			t.Errorf("after %s: got %s, want %s", c.set, a.body, c.want)
		}
	}
	if a := s.must("alice", "GET", path, ""); strings.TrimSpace(a.body) != `{"level":"all","until":null}` {
		t.Errorf("of another member: got %s", a.body)
	}
}
