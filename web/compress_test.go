package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/node"
)

// packed is an answer as it came, and unpacked.
type packed struct {
	*http.Response
	bytes int
	body  string
}

// fetch makes a call as alice that accepts what the header says.
func (s *server) fetch(accept, method, path, body string) packed {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token(s.t, "alice", ""))
	req.Header.Set("Accept-Encoding", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	p := packed{resp, len(b), string(b)}
	if resp.Header.Get("Content-Encoding") != "" && method != http.MethodHead {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			s.t.Fatalf("%s %s: %v in %d bytes", method, path, err, len(b))
		}
		if b, err = io.ReadAll(r); err != nil {
			s.t.Fatalf("%s %s: %v", method, path, err)
		}
		p.body = string(b)
	}
	return p
}

func (p packed) is() bool { return p.Header.Get("Content-Encoding") == "gzip" }

func (p packed) varies() bool { return slices.Contains(p.Header.Values("Vary"), "Accept-Encoding") }

// words are so many characters of prose that is the same with the same seed.
func words(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		b.WriteString([]string{"the ", "release ", "is ", "ready ", "when ", "tests ", "pass ", "on ", "monday ", "noon "}[random.IntN(10)])
	}
	return b.String()[:n]
}

// TestAnswersAreCompressed: from 1 KiB on, for those who take it, and nothing else about them changes.
func TestAnswersAreCompressed(t *testing.T) {
	s := withG(t, nil)
	const page = "/v1/groups/g/messages"
	s.must("alice", "POST", page, `{"body":"hello"}`)
	if small := s.fetch("gzip", "GET", page, ""); small.is() || small.varies() || int64(small.bytes) != small.ContentLength {
		t.Errorf("a small answer: %s", small.Header)
	}
	for i := range 20 {
		s.must("alice", "POST", page, fmt.Sprintf(`{"body":%q}`, words(uint64(i), 300)))
	}
	plain := s.fetch("identity", "GET", page, "")
	if plain.is() || !plain.varies() || int64(plain.bytes) != plain.ContentLength {
		t.Errorf("for one who takes no gzip: %d bytes, %s", plain.bytes, plain.Header)
	}
	whole := s.fetch("br, gzip;q=0.5", "GET", page, "")
	if !whole.is() || !whole.varies() || int64(whole.bytes) != whole.ContentLength || whole.bytes > plain.bytes/2 {
		t.Errorf("a page: %d bytes of %d, %s", whole.bytes, plain.bytes, whole.Header)
	}
	if whole.body != plain.body {
		t.Error("a compressed page unpacks to something else")
	}
	if head := s.fetch("gzip", "HEAD", page, ""); !head.is() || head.bytes != 0 || head.Header.Get("Content-Length") != strconv.Itoa(whole.bytes) {
		t.Errorf("HEAD: %d bytes, %s; want the header of GET", head.bytes, head.Header)
	}
	if none := s.fetch("gzip;q=0", "GET", page, ""); none.is() || none.body != plain.body {
		t.Errorf("for one who refuses gzip: %s", none.Header)
	}

	s.must("alice", "PATCH", "/v1/groups/g", `{"data":{"about":"`+words(1, 2000)+`"}}`)
	tagged := s.fetch("gzip", "GET", "/v1/groups/g", "")
	if tag := tagged.Header.Get("ETag"); tagged.StatusCode != http.StatusOK || tag == "" || tagged.is() || tagged.bytes < 2000 {
		t.Errorf("an answer with a tag: %s, %d bytes", tagged.Header, tagged.bytes)
	}
	export := s.fetch("gzip", "GET", "/v1/me/export", "")
	if export.is() || export.varies() || export.StatusCode != http.StatusOK || export.bytes < 2000 {
		t.Errorf("an export: %d, %d bytes, %s", export.StatusCode, export.bytes, export.Header)
	}
	file := s.create(`{"name":"a.json","type":"application/json","size":3000}`)
	s.patch("alice", file, 0, strings.Repeat("[]\n", 1000))
	if got := s.fetch("gzip", "GET", file, ""); got.is() || got.bytes != 3000 || got.Header.Get("ETag") == "" {
		t.Errorf("a file: %d bytes, %s", got.bytes, got.Header)
	}
	if wrong := s.fetch("gzip", "GET", page+"?after="+strings.Repeat("x", 3000), ""); wrong.is() || wrong.StatusCode != http.StatusBadRequest {
		t.Errorf("an error: %d, %s", wrong.StatusCode, wrong.Header)
	}

	off := withG(t, func(c *node.Config) { c.Compression = "off" })
	for i := range 10 {
		off.must("alice", "POST", page, fmt.Sprintf(`{"body":%q}`, words(uint64(i), 300)))
	}
	if got := off.fetch("gzip", "GET", page, ""); got.is() || got.varies() || got.bytes < 3000 {
		t.Errorf("switched off: %d bytes, %s", got.bytes, got.Header)
	}
}

// TestWaitingPollIsCompressed: the answer is sent as soon as there is one.
func TestWaitingPollIsCompressed(t *testing.T) {
	s := withG(t, nil)
	first := s.must("alice", "POST", "/v1/sync", `{}`)
	seen := `{"ack":{"g":"` + groupCursor(t, first, "g") + `"},"wait_s":50}`
	done := make(chan packed, 1)
	go func() { done <- s.fetch("gzip", "POST", "/v1/sync", seen) }()
	s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"`+words(1, 3000)+`"}`)
	if got := <-done; !got.is() || !strings.Contains(got.body, words(1, 3000)) || got.bytes > 1500 {
		t.Errorf("got %d bytes, %s", got.bytes, got.Header)
	}
}

// groupCursor is the cursor of a group in the answer to a sync.
func groupCursor(t *testing.T, a answer, group string) string {
	t.Helper()
	groups, _ := a.field("groups").([]any)
	for _, one := range groups {
		if g, _ := one.(map[string]any); g["group"] == group {
			return g["cursor"].(string)
		}
	}
	t.Fatalf("no %s in %s", group, a.body)
	return ""
}

// TestCompressedLengthsAreBlurred: an answer has the same length each time, so asking again shows nothing; and answers that
// compress equally well have many lengths.
func TestCompressedLengthsAreBlurred(t *testing.T) {
	s := withG(t, nil)
	lengths := map[int]bool{}
	const answers = 30
	for i := range answers {
		path := fmt.Sprintf("/v1/groups/g%d/messages", i)
		s.must("alice", "POST", "/v1/groups", fmt.Sprintf(`{"id":"g%d"}`, i))
		s.must("alice", "POST", path, fmt.Sprintf(`{"body":%q}`, words(1, 1500)))
		one, again := s.fetch("gzip", "GET", path, ""), s.fetch("gzip", "GET", path, "")
		if !one.is() || one.bytes != again.bytes {
			t.Fatalf("got %d and then %d bytes, %s", one.bytes, again.bytes, one.Header)
		}
		lengths[one.bytes] = true
	}
	if len(lengths) < answers/3 { // without the blur a handful: the times in them differ
		t.Errorf("%d answers have %d lengths", answers, len(lengths))
	}
}
