package web_test

import (
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/sdk"
	"github.com/chatd/chatd/static"
)

func TestPages(t *testing.T) {
	s := start(t, nil)
	docs := s.do(request{method: "GET", path: "/docs"})
	if docs.status != 200 || !strings.HasPrefix(docs.header.Get("Content-Type"), "text/html") {
		t.Fatalf("/docs: %d %s", docs.status, docs.header)
	}
	for _, r := range routes(t) {
		if !strings.Contains(docs.body, `id="`+r.id+`"`) {
			t.Errorf("/docs does not show %s", r.id)
		}
	}
	for _, not := range []string{"<script", "style=", `="http`, `="//`, "url(", "onclick"} {
		if strings.Contains(docs.body, not) {
			t.Errorf("/docs holds %q: it has to work under its policy and without the network", not)
		}
	}
	for _, one := range strings.Split(docs.body, `href="#`)[1:] {
		if id, _, _ := strings.Cut(one, `"`); !strings.Contains(docs.body, `id="`+id+`"`) {
			t.Errorf("/docs links to #%s, which is not there", id)
		}
	}
	if a := s.do(request{method: "GET", path: "/openapi.yaml"}); a.status != 200 || !strings.HasPrefix(a.body, "openapi: 3.1.0") {
		t.Errorf("/openapi.yaml: %d", a.status)
	}
	site, err := static.Site(static.Files)
	if err != nil {
		t.Fatal(err)
	}
	for name := range site {
		a := s.do(request{method: "GET", path: "/" + name})
		if a.status != 200 || !strings.Contains(a.header.Get("Content-Security-Policy"), "require-trusted-types-for 'script'") {
			t.Errorf("/%s: %d %s", name, a.status, a.header)
		}
		if strings.HasSuffix(name, ".js") && !strings.HasPrefix(a.header.Get("Content-Type"), "text/javascript") {
			t.Errorf("/%s: content type %q", name, a.header.Get("Content-Type"))
		}
		want := "no-cache"
		if strings.HasPrefix(name, "assets/") {
			want = "public, max-age=31536000, immutable"
		}
		if got := a.header.Get("Cache-Control"); got != want {
			t.Errorf("/%s: Cache-Control %q, want %q", name, got, want)
		}
		again := s.do(request{method: "GET", path: "/" + name, header: map[string]string{"If-None-Match": a.header.Get("ETag")}})
		if again.status != http.StatusNotModified || again.body != "" {
			t.Errorf("/%s again with its tag: %d, %d bytes", name, again.status, len(again.body))
		}
	}
	if a := s.do(request{method: "GET", path: "/assets/of-another-version/main.js"}); a.status != 200 || a.header.Get("Cache-Control") != "no-cache" {
		t.Errorf("a file of another version: %d, Cache-Control %q", a.status, a.header.Get("Cache-Control"))
	}
	checkProblem(t, "no asset", s.do(request{method: "GET", path: "/assets/0/nothing.js"}), 404, "not_found")
}

// TestNothingIsHere: somebody's browser at an address that is none is led back; a program, and every call of the API, gets the problem.
func TestNothingIsHere(t *testing.T) {
	s := start(t, nil)
	get := func(method, path, accept string) answer {
		return s.do(request{method: method, path: path, header: map[string]string{"Accept": accept}})
	}
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, path := range []string{"/nothing", "/c", "/v1", "/docs/", "/assets/0/nothing.js"} {
		a := get("GET", path, browser)
		if a.status != 404 || a.header.Get("Content-Type") != "text/html; charset=UTF-8" || !strings.Contains(a.body, `<a href="/">`) {
			t.Errorf("%s: %d %s %.100s", path, a.status, a.header, a.body)
		}
		if policy := a.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") {
			t.Errorf("%s: policy %q", path, policy)
		}
		checkProblem(t, path+" by a program", get("GET", path, "*/*"), 404, "not_found")
	}
	checkProblem(t, "a call", get("GET", "/v1/nothing", browser), 404, "not_found")
	checkProblem(t, "what is sent", get("POST", "/nothing", browser), 404, "not_found")
}

// TestSDKIsServedToEverySite: what no origin that may call has asked for, by its name and under the hash of its content.
func TestSDKIsServedToEverySite(t *testing.T) {
	s := start(t, nil)
	modules, err := sdk.Served()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		get := func(path, tag string) answer {
			return s.do(request{method: "GET", path: path, header: map[string]string{"Origin": "https://site.example", "If-None-Match": tag}})
		}
		a := get("/sdk/"+name, "")
		versioned := a.header.Get("Content-Location")
		if a.status != 200 || a.body != string(modules[name]) || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("/sdk/%s: %d %s", name, a.status, a.header)
		}
		if kind := a.header.Get("Content-Type"); strings.HasSuffix(name, ".js") && kind != "text/javascript; charset=utf-8" {
			t.Errorf("/sdk/%s: content type %q", name, kind)
		}
		if kept := get(versioned, ""); kept.status != 200 || kept.body != a.body || kept.header.Get("Access-Control-Allow-Origin") != "*" ||
			kept.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d %s", versioned, kept.status, kept.header)
		}
		if again := get(versioned, a.header.Get("ETag")); again.status != http.StatusNotModified {
			t.Errorf("%s again with its tag: %d", versioned, again.status)
		}
		if other := get("/sdk/of-another-version/"+name, ""); other.status != 200 || other.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s of another version: %d %s", name, other.status, other.header)
		}
		if asked, there := strings.CutPrefix(a.body[strings.LastIndex(a.body, "\n//#")+1:], "//# sourceMappingURL="); strings.HasSuffix(name, ".js") && (!there || modules[strings.TrimSpace(asked)] == nil) {
			t.Errorf("/sdk/%s leads to a source map %q, which is not served", name, asked)
		}
	}
	checkProblem(t, "what is for Node", s.do(request{method: "GET", path: "/sdk/file.js"}), 404, "not_found")
}

func TestPagesAreCompressed(t *testing.T) {
	s := start(t, nil)
	plain := s.do(request{method: "GET", path: "/page/lines.ts", header: map[string]string{"Accept-Encoding": "identity"}})
	if plain.status != 200 || plain.header.Get("Content-Encoding") != "" || !slices.Contains(plain.header.Values("Vary"), "Accept-Encoding") {
		t.Fatalf("without: %d %s", plain.status, plain.header)
	}
	for header, want := range map[string]bool{
		"gzip": true, "br, gzip;q=0.5": true, "deflate, GZIP ; q=1.0": true, "*": true, "gzip, *;q=0": true,
		"br": false, "gzip;q=0": false, "gzip;q=0.000, *": false, "*;q=0": false, "": false, "xgzip": false,
	} {
		a := s.do(request{method: "GET", path: "/page/lines.ts", header: map[string]string{"Accept-Encoding": header}})
		if got := a.header.Get("Content-Encoding") == "gzip"; a.status != 200 || got != want {
			t.Errorf("%q: %d, compressed: %t, want %t", header, a.status, got, want)
		}
		body := a.body
		if want {
			r, err := gzip.NewReader(strings.NewReader(a.body))
			if err != nil {
				t.Fatalf("%q: %v", header, err)
			}
			unpacked, err := io.ReadAll(r)
			if err != nil {
				t.Fatalf("%q: %v", header, err)
			}
			body = string(unpacked)
		}
		if body != plain.body {
			t.Errorf("%q: %d bytes, want the %d without compression", header, len(body), len(plain.body))
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := start(t, nil)
	for _, path := range []string{"/", "/docs", "/livez", "/readyz", "/v1/groups", "/v1/unread", "/nope"} {
		a := s.do(request{method: "GET", path: path, user: "alice"})
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Vary": "Origin", "Server": ""} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s %q, want %q", path, name, got, want)
			}
		}
		if csp := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if strings.HasPrefix(path, "/v1") && a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, a.header.Get("Cache-Control"))
		}
	}
}

func TestCORS(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Origins = []string{"https://app.example.com"} })
	preflight := func(origin string) answer {
		return s.do(request{method: "OPTIONS", path: "/v1/groups", header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type",
		}})
	}
	a := preflight("https://app.example.com")
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("preflight: %d %s", a.status, a.header)
	}
	for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key"} {
		if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("preflight does not allow %s", name)
		}
	}
	if got := a.header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Errorf("credentials %q: tokens are no cookies", got)
	}
	call := s.do(request{method: "GET", path: "/v1/groups", user: "alice", header: map[string]string{"Origin": "https://app.example.com"}})
	if call.status != 200 || call.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("call: %d %s", call.status, call.header)
	}
	if a := preflight(s.url); a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != s.url {
		t.Errorf("preflight of the server's own page: %d %s", a.status, a.header)
	}
	for _, origin := range []string{"null", "*", "https://app.example.com.evil.com", "http://app.example.com", "https://app.example.com:8443", "https://APP.example.com", "https" + strings.TrimPrefix(s.url, "http")} {
		a := preflight(origin)
		if a.status != http.StatusForbidden || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("preflight from %s: %d %s", origin, a.status, a.header)
		}
		call := s.do(request{method: "GET", path: "/v1/groups", user: "alice", header: map[string]string{"Origin": origin}})
		if got := call.header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("call from %s is allowed to %q", origin, got)
		}
	}
}

func TestMetricsAreForThisHost(t *testing.T) {
	s := start(t, nil)
	a := s.do(request{method: "GET", path: "/metrics"})
	if a.status != 200 || !strings.Contains(a.body, "chatd_panics_total 0") {
		t.Errorf("/metrics: %d", a.status)
	}
	if !regexp.MustCompile(`(?m)^chatd_build_info\{commit="[^"]+",go_version="go1[^"]+",version="[^"]+"\} 1$`).MatchString(a.body) {
		t.Error("/metrics does not say what the node was built from")
	}
	s.must("a-user-name", "POST", "/v1/groups", `{"id":"a-group-name"}`)
	s.must("a-user-name", "GET", "/v1/groups/a-group-name", "")
	if a = s.do(request{method: "GET", path: "/metrics"}); strings.Contains(a.body, "a-user-name") || strings.Contains(a.body, "a-group-name") {
		t.Error("a label holds a user or a group")
	}
	for name, value := range map[string]string{"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X-Real-IP": "::1", "Host": "chat.example.com"} {
		checkProblem(t, name, s.do(request{method: "GET", path: "/metrics", header: map[string]string{name: value}}), 404, "not_found")
	}
}

func TestAdminAddress(t *testing.T) {
	s := start(t, func(c *node.Config) { c.AdminAddr = "127.0.0.1:0" })
	checkProblem(t, "/metrics", s.do(request{method: "GET", path: "/metrics"}), 404, "not_found")
	s.url = "http://" + s.node.AdminAddr().String()
	for _, path := range []string{"/metrics", "/livez", "/readyz"} {
		if a := s.do(request{method: "GET", path: path}); a.status != 200 {
			t.Errorf("admin %s: %d %s", path, a.status, a.body)
		}
	}
	checkProblem(t, "admin /v1/groups", s.do(request{method: "GET", path: "/v1/groups", user: "alice"}), 404, "not_found")
}

func TestDevelopmentSignIn(t *testing.T) {
	withDev := func(c *node.Config) { c.JWTSecret, c.Registration = "", "open" }
	s := start(t, withDev)
	sign := func(body string, header map[string]string) answer {
		return s.do(request{method: "POST", path: "/v1/dev/token", body: body, header: header})
	}
	_, code, _ := strings.Cut(s.node.SignInLink(), "#code=")
	if len(code) < 16 || !strings.Contains(s.node.SignInLink(), s.url+"/") {
		t.Fatalf("got the link %q", s.node.SignInLink())
	}
	with := `{"user":"alice","code":"` + code + `"}`
	a := sign(with, map[string]string{"Origin": s.url, "Sec-Fetch-Site": "same-origin"})
	got, _ := a.field("token").(string)
	if a.status != 200 || got == "" || a.field("expires_at") == nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	groups := s.do(request{method: "GET", path: "/v1/groups", header: map[string]string{"Authorization": "Bearer " + got}})
	if groups.status != 200 {
		t.Errorf("the token answers %d %s", groups.status, groups.body)
	}
	for name, header := range map[string]map[string]string{
		"another site":           {"Origin": "https://evil.example"},
		"null":                   {"Origin": "null"},
		"another port":           {"Origin": "http://127.0.0.1:1"},
		"cross-site":             {"Sec-Fetch-Site": "cross-site"},
		"a name that is rebound": {"Host": "evil.example"},
		"through a proxy":        {"X-Forwarded-For": "203.0.113.7"},
	} {
		checkProblem(t, name, sign(with, header), 403, "forbidden")
	}
	// What a proxy that marks nothing lets through looks like a request of this host; it does not have the code.
	for _, body := range []string{`{"user":"alice"}`, `{"user":"alice","code":""}`, `{"user":"alice","code":"` + code[1:] + `"}`} {
		checkProblem(t, body, sign(body, nil), 403, "forbidden")
	}
	if another := start(t, withDev); strings.HasSuffix(another.node.SignInLink(), code) {
		t.Error("two starts have the same code")
	}
	for _, body := range []string{"", `{}`, `{"user":1}`, `{"user":"a~b"}`, `{"user":""}`, `{"user":"a","role":"admin"}`} {
		checkProblem(t, body, sign(body, nil), 400, "invalid_request")
	}
	s.registers("first")
	checkProblem(t, "after the first account", sign(with, nil), 404, "not_found")
	if link := s.node.SignInLink(); link != "" {
		t.Errorf("got the link %s although there is an account", link)
	}
}
