package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// call runs the command with a deadline and returns what it wrote.
func call(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out, log bytes.Buffer
	err = run(ctx, args, []string{"PATH=/bin"}, &out, &log)
	return out.String(), log.String(), err
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--nope"}, {"-nope"}, {"nope"}, {"token"}, {"token", "-user"}, {"token", "-user", "a", "-ttl", "x"}, {"-addr", "x"}, {"-addr=127.0.0.1:0", "--direct=none"}, {"demo", "-members", "100"},
	} {
		if _, _, err := call(t, args...); err == nil {
			t.Errorf("%v was taken", args)
		}
	}
	for _, args := range [][]string{{"version"}, {"--version"}, {"-version"}} {
		if out, _, err := call(t, args...); err != nil || !strings.HasPrefix(out, "chatd ") || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	for want, args := range map[string][]string{
		"see chatd --help": {"-nope"}, "see chatd tasks --help": {"tasks", "nope"}, "see chatd token --help": {"token", "-nope"}, "see chatd tasks ls --help": {"tasks", "ls", "-nope"},
	} {
		if _, _, err := call(t, args...); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: got error %v, want one that ends in %q", args, err, want)
		}
	}
	for want, args := range map[string][]string{"CHATD_ADDR": {"help"}, "Stop claiming tasks": {"help", "tasks"}, "How long the token": {"help", "token", "new"}} {
		if out, _, err := call(t, args...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if _, _, err := call(t, "help", "nope"); err == nil {
		t.Error("help of a command that does not exist was given")
	}
	out, _, err := call(t, "--help")
	if err != nil || !strings.Contains(out, "--addr") || !strings.Contains(out, "CHATD_ADDR") {
		t.Errorf("help: %v\n%s", err, out)
	}
}

func TestUnknownVariable(t *testing.T) {
	var out bytes.Buffer
	err := run(context.Background(), nil, []string{"CHATD_ADRR=x"}, &out, &out)
	if err == nil || !strings.Contains(err.Error(), "CHATD_ADRR") {
		t.Errorf("got %v", err)
	}
}

// TestServe starts a server as a person would, makes a token beside it and uses it, then stops the server.
func TestServe(t *testing.T) {
	addr := redistest.FreeAddr(t)
	data := filepath.Join(t.TempDir(), "data")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	var log, out bytes.Buffer
	go func() { done <- run(ctx, []string{"-addr", addr, "-data=" + data}, nil, &out, &log) }()
	deadline := time.Now().Add(time.Minute)
	for {
		if _, _, err := call(t, "healthcheck", "-addr", addr); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("not ready: %v", err)
		}
	}
	for _, args := range [][]string{{"token", "-user", "alice", "-data", data}, {"-data", data, "token", "--user=alice", "-role", "admin", "-ttl", "1h"}} {
		token, _, err := call(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/v1/groups", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%v: the token answers %d", args, resp.StatusCode)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
	for _, want := range []string{"embedded", "chatd token -user alice", "http://" + addr + "/"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
	if _, _, err := call(t, "healthcheck", "-addr", addr); err == nil {
		t.Error("healthcheck of a stopped server succeeds")
	}
}

func TestAnEmptySettingIsNone(t *testing.T) {
	t.Setenv("CHATD_NOTIFY_DELAY", "")
	t.Setenv("CHATD_LOG", "debug")
	dropEmpty(os.Environ())
	if value, ok := os.LookupEnv("CHATD_NOTIFY_DELAY"); ok {
		t.Errorf("CHATD_NOTIFY_DELAY is still set, to %q", value)
	}
	if got := os.Getenv("CHATD_LOG"); got != "debug" {
		t.Errorf("CHATD_LOG: got %q", got)
	}
}

// TestTokenCheck makes tokens and checks them: with the keys that made them, with others, and after they have expired.
func TestTokenCheck(t *testing.T) {
	older, newer := strings.Repeat("o", 32), strings.Repeat("n", 32)
	token := func(args ...string) string {
		t.Helper()
		out, _, err := call(t, append([]string{"token", "-user", "alice"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	of := token("-jwt-secret", older, "-role", "admin", "-ttl", "1h")
	out, _, err := call(t, "token", "check", of, "-jwt-secret", newer+","+older)
	if err != nil || !strings.HasPrefix(out, "valid: user alice, role admin, expires 20") || !strings.Contains(out, "(in 59m5") && !strings.Contains(out, "(in 1h0m0s)") {
		t.Errorf("got %q, %v", out, err)
	}
	// It says which role the token gives where another claim holds the roles.
	other := harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{
		"sub": "42", "uid": 7, "exp": time.Now().Add(time.Hour).Unix(), "realm_access": map[string]any{"roles": []string{"user", "ops"}},
	}, older)
	for args, want := range map[string]string{
		"": "valid: user 42, no role, expires 20",
		"-jwt-role-claim=realm_access.roles -jwt-user-claim=uid":  "valid: user 7, no role, ",
		"-jwt-role-claim=realm_access.roles -jwt-admin-value=ops": "valid: user 42, role admin, ",
	} {
		out, _, err := call(t, append([]string{"token", "check", other, "-jwt-secret", older}, strings.Fields(args)...)...)
		if err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("%s: got %q, %v; want %s", args, out, err, want)
		}
	}
	named := token("-jwt-secret", older, "-jwt-user-claim", "uid")
	if out, _, err := call(t, "token", "check", named, "-jwt-secret", older, "-jwt-user-claim", "uid"); err != nil || !strings.HasPrefix(out, "valid: user alice, no role, ") {
		t.Errorf("a token where another claim names the user: got %q, %v", out, err)
	}
	// A key set that cannot be read, and keys of it that cannot be used, are named as in the log of a server.
	set := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(set, []byte(`{"keys":[{"kty":"oct","kid":"shared","k":"AAAA"},{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"a"}`)) + ".e30.AAAA"
	for jwks, want := range map[string]string{set: "shared", "https://127.0.0.1:1/keys": "cannot read the key set"} {
		if _, log, err := call(t, "token", "check", unsigned, "-jwt-jwks", jwks); err == nil || !strings.Contains(log, want) {
			t.Errorf("%s: got %v and the log %q, want it to say %s", jwks, err, log, want)
		}
	}
	// The first of several signs.
	if _, _, err := call(t, "token", "check", token("-jwt-secret", newer+","+older), "-jwt-secret", newer); err != nil {
		t.Errorf("a token of the first secret: %v", err)
	}
	for want, args := range map[string][]string{
		"token signature is invalid":   {of, "-jwt-secret", newer},
		"iss":                          {of, "-jwt-secret", older, "-jwt-issuer", "https://id.example"},
		"malformed":                    {"x.y", "-jwt-secret", older},
		"CHATD_JWT_SECRET":             {of, "-jwt-secret", "short," + older},
		"no token secret in " + "/":    {of, "-data", t.TempDir()},
		"see chatd token check --help": {},
	} {
		if _, _, err := call(t, append([]string{"token", "check"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got error %v, want one about %q", args, err, want)
		}
	}
}
