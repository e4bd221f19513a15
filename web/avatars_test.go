package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
)

// pictureOf is a PNG of one colour.
func pictureOf(t *testing.T, w, h int, c color.Color) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s *server) uploads(user, picture, kind string) answer {
	s.t.Helper()
	return s.do(request{method: "PUT", path: "/v1/me/avatar", user: user, body: picture, header: map[string]string{"Content-Type": kind}})
}

// drawn uploads a picture and returns its address.
func (s *server) drawn(user string, c color.Color) string {
	s.t.Helper()
	a := s.uploads(user, pictureOf(s.t, 600, 400, c), "image/png")
	address, _ := a.field("picture").(string)
	if a.status != 200 || !strings.HasPrefix(address, "/avatars/") || a.header.Get("ETag") != fmt.Sprintf(`"%.0f"`, a.field("version")) {
		s.t.Fatalf("got %d %s", a.status, a.body)
	}
	return address
}

func (s *server) gone(what, address string) {
	s.t.Helper()
	a := s.open("GET", address, "")
	checkProblem(s.t, what, a, 404, "not_found")
	if a.header.Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s: got %v", what, a.header)
	}
}

// TestAvatar uploads pictures, without any store of files: what is there, for how long, and for whom.
func TestAvatar(t *testing.T) {
	s := start(t, func(c *node.Config) { c.Files = "off" })
	first := s.drawn("alice", color.RGBA{200, 0, 0, 255})
	a := s.open("GET", first, "")
	m, kind, err := image.Decode(strings.NewReader(a.body))
	if err != nil || kind != "jpeg" || m.Bounds().Size() != image.Pt(256, 256) {
		t.Fatalf("got %s %v %v", kind, err, a.header)
	}
	for name, want := range map[string]string{
		"Content-Type": "image/jpeg", "Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'", "ETag": `"` + strings.TrimPrefix(first, "/avatars/") + `"`,
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if a := s.open("GET", first, "", "If-None-Match", a.header.Get("ETag")); a.status != 304 || a.body != "" {
		t.Errorf("got %d", a.status)
	}
	if a := s.open("HEAD", first, ""); a.status != 200 || a.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("got %d %v", a.status, a.header)
	}
	me := s.must("alice", "GET", "/v1/me", "").fields()
	same(t, "the picture", me["picture"], `"`+first+`"`)
	if export := s.must("alice", "GET", "/v1/me/export", "").body; !strings.Contains(export, `{"avatar":{"type":"image/jpeg","content":"`+base64.StdEncoding.EncodeToString([]byte(a.body))+`"}}`) {
		t.Errorf("got %s", export)
	}

	// Any change of the picture removes what was uploaded.
	s.must("alice", "PATCH", "/v1/me", `{"name":"Alice","picture":"`+first+`"}`)
	second := s.drawn("alice", color.RGBA{0, 0, 200, 255})
	s.gone("replaced", first)
	checkProblem(t, "one that is gone", s.do(request{method: "PATCH", path: "/v1/me", user: "alice", body: `{"picture":"` + first + `"}`}), 400, "invalid_request")
	checkProblem(t, "another's", s.do(request{method: "PATCH", path: "/v1/me", user: "bob", body: `{"picture":"` + second + `"}`}), 400, "invalid_request")
	if a := s.open("GET", second, ""); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.must("alice", "PATCH", "/v1/me", `{"picture":"https://example.com/a"}`)
	s.gone("a picture elsewhere", second)
	s.must("alice", "DELETE", "/v1/me/avatar", "")
	same(t, "that stays", s.must("alice", "GET", "/v1/me", "").fields()["picture"], `"https://example.com/a"`)
	third := s.drawn("alice", color.Black)
	for range 2 {
		s.must("alice", "DELETE", "/v1/me/avatar", "")
	}
	s.gone("removed", third)
	me = s.must("alice", "GET", "/v1/me", "").fields()
	same(t, "without a picture", []any{me["picture"], me["name"]}, `[null,"Alice"]`)
	for _, address := range []string{"/avatars/x", "/avatars/AAAAAAAAAAAAAAAAAAAAAAAAAA-0", "/avatars/AAAAAAAAAAAAAAAAAAAAAAAAAA-99999999999999999999", "/avatars/a%2Fb"} {
		if a := s.open("GET", address, ""); a.status != 404 && a.status != 400 {
			t.Errorf("%s: got %d %s", address, a.status, a.body)
		}
	}

	// Erasing a person removes it, before anything else.
	last := s.drawn("alice", color.White)
	s.must("alice", "DELETE", "/v1/me", "")
	s.gone("erased", last)
}

// TestAvatarOfWhom: a picture that an operator has set, or that comes from tokens, is not the user's to change.
func TestAvatarOfWhom(t *testing.T) {
	s := start(t, nil)
	mine := s.drawn("alice", color.Black)
	s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","picture":"`+mine+`"},{"user":"bob","picture":"https://example.com/b"}]}`)
	for _, user := range []string{"alice", "bob"} {
		checkProblem(t, user, s.uploads(user, pictureOf(t, 3, 3, color.White), "image/png"), 403, "forbidden")
		checkProblem(t, user, s.do(request{method: "DELETE", path: "/v1/me/avatar", user: user}), 403, "forbidden")
	}
	if a := s.open("GET", mine, ""); a.status != 200 {
		t.Errorf("got %d", a.status)
	}
	refused := s.operator("PUT", "/v1/users", `{"users":[{"user":"bob","picture":"`+mine+`"}]}`)
	same(t, "an avatar of another", refused.fields()["errors"], `[{"code":"invalid_request","user":"bob"}]`)
	s.operator("PUT", "/v1/users", `{"users":[{"user":"alice","picture":null}]}`)
	s.gone("cleared by an operator", mine)
	s.drawn("alice", color.Black)

	claims := start(t, func(c *node.Config) { c.JWTProfile = []string{"picture"} })
	checkProblem(t, "from tokens", claims.uploads("alice", pictureOf(t, 3, 3, color.White), "image/png"), 403, "forbidden")
}

// TestBadAvatar: nothing but a picture becomes one, and a bomb costs nothing.
func TestBadAvatar(t *testing.T) {
	s := start(t, nil)
	good := pictureOf(t, 8, 8, color.Black)
	for name, bad := range map[string]struct {
		body, kind string
		status     int
		code       string
	}{
		"no body":         {"", "image/png", 400, "invalid_request"},
		"text":            {"hello", "image/png", 415, "invalid_request"},
		"svg":             {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "image/svg+xml", 415, "invalid_request"},
		"html":            {"<script>alert(1)</script>", "text/html", 415, "invalid_request"},
		"JSON":            {`{"picture":"x"}`, "application/json", 415, "invalid_request"},
		"another type":    {good, "text/plain", 415, "invalid_request"},
		"half of one":     {good[:len(good)/2], "image/png", 415, "invalid_request"},
		"beyond 2 MiB":    {good + strings.Repeat("x", 2<<20), "image/png", 413, "too_large"},
		"too many pixels": {bomb(t), "image/gif", 400, "out_of_range"},
	} {
		checkProblem(t, name, s.uploads("alice", bad.body, bad.kind), bad.status, bad.code)
	}
	checkProblem(t, "compressed", s.do(request{method: "PUT", path: "/v1/me/avatar", user: "alice", body: good, header: map[string]string{"Content-Type": "image/png", "Content-Encoding": "gzip"}}), 415, "invalid_request")
	same(t, "nothing came of it", s.must("alice", "GET", "/v1/me", "").fields(), `{"presence":"shown","receipts":"shown","user":"alice","version":0}`)
	for _, kind := range []string{"image/png", "image/jpeg", "application/octet-stream"} { // the content tells
		if a := s.uploads("alice", good, kind); a.status != 200 {
			t.Errorf("as %s: got %d %s", kind, a.status, a.body)
		}
	}
	var photo, moving bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 300, 20)), nil); err != nil {
		t.Fatal(err)
	}
	frame := image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{color.White, color.Black})
	if err := gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{photo.String(), moving.String()} {
		if a := s.uploads("alice", one, ""); a.status != 200 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
}

// bomb is a GIF whose header says that it has 65,535 x 65,535 pixels.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)), nil); err != nil {
		t.Fatal(err)
	}
	content := b.Bytes()
	copy(content[6:], "\xff\xff\xff\xff")
	return string(content)
}

// TestAvatarTogether: of many uploads side by side one is left, and no bytes of another.
func TestAvatarTogether(t *testing.T) {
	s := start(t, nil)
	addresses := make(chan string)
	for n := range 8 {
		go func() {
			a := s.uploads("alice", pictureOf(t, 10, 10, color.Gray{uint8(30 * n)}), "image/png")
			address, _ := a.field("picture").(string)
			addresses <- address
		}()
	}
	var all []string
	for range 8 {
		all = append(all, <-addresses)
	}
	kept := s.must("alice", "GET", "/v1/me", "").fields()["picture"]
	for _, address := range all {
		want := 404
		if address == kept {
			want = 200
		}
		if address == "" { // it met too many others
			continue
		}
		if a := s.open("GET", address, ""); a.status != want {
			t.Errorf("%s: got %d, want %d; the picture is %v", address, a.status, want, kept)
		}
	}
	if text, _ := json.Marshal(kept); !strings.Contains(string(text), "/avatars/") {
		t.Errorf("got %s", text)
	}
}
