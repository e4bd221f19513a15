package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
)

// clientPolicy allows the browser client its own scripts, styles and images, and calls to the server it came from.
const clientPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; manifest-src 'self'; worker-src 'self'; " +
	"form-action 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// docsPolicy lets the documentation have its own style sheet and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed docs.gen.html
var docsHTML []byte

//go:embed nothing.html
var nothingHTML []byte

//go:embed docs.css
var docsCSS []byte

// Values of Cache-Control: check each time, because the next process may have a different file; or never, because the path
// names the content.
const (
	askAgain  = "no-cache"
	immutable = "public, max-age=31536000, immutable"
)

// views are the paths of a page below the root, which links and reloads name: those of static/page/route.ts.
var views = map[string][]string{
	"index.html": {"", "c/*", "dm/*", "inbox", "threads", "search", "scheduled", "me", "new", "browse"},
	"admin.html": {"admin", "admin/*"},
}

// registerPages serves both clients, the description and its readable form. Each file has a route of its own, so other paths
// are unknown routes like any other.
func (s *Server) registerPages(e *echo.Echo) {
	e.GET("/openapi.yaml", newFile("application/yaml; charset=utf-8", apiPolicy, openapiYAML).plain)
	e.GET("/docs", newFile("text/html; charset=utf-8", docsPolicy, docsHTML).plain)
	e.GET("/docs.css", newFile("text/css; charset=utf-8", docsPolicy, docsCSS).plain)
	for name, body := range s.opt.Static {
		kind := mime.TypeByExtension(path.Ext(name))
		if ext := path.Ext(name); ext == ".ts" || ext == ".tsx" {
			kind = "text/plain; charset=utf-8" // sources, to which the source maps lead
		} else if ext == ".webmanifest" {
			kind = "application/manifest+json"
		} else if kind == "" {
			kind = "application/octet-stream"
		}
		f := newFile(kind, clientPolicy, body)
		switch folder, rest, _ := strings.Cut(name, "/"); folder {
		case "sdk":
			f.registerSDK(e, rest)
		case "assets":
			hash, rest, _ := strings.Cut(rest, "/")
			e.GET("/assets/:hash/"+rest, f.hashed(hash))
		case "index.html", "admin.html":
			for _, view := range views[name] {
				e.GET("/"+view, f.plain)
			}
			e.GET("/"+name, f.plain)
		default:
			e.GET("/"+name, f.plain)
		}
	}
}

// registerSDK serves a file of the JavaScript client to the pages of any site: by its name, and under the hash of its
// content, which Content-Location names.
func (f *file) registerSDK(e *echo.Echo, name string) {
	hash := fmt.Sprintf("%x", fingerprint(f.body))
	anySite := func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			h := c.Response().Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Content-Location", "/sdk/"+hash+"/"+name)
			return next(c)
		}
	}
	e.GET("/sdk/"+name, f.plain, anySite)
	e.GET("/sdk/:hash/"+name, f.hashed(hash), anySite)
}

// hashed lets browsers keep a file under the hash of its content. Under a different hash the file is served as well: while
// nodes are being upgraded, a page of one version may load its files from a node of the other.
func (f *file) hashed(hash string) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Param("hash") == hash {
			return f.serve(c, immutable)
		}
		return f.serve(c, askAgain)
	}
}

// isLost says that a person's browser asks for a page at an address that is none. The API answers everybody else.
func isLost(c echo.Context, e *chat.Error) bool {
	r := c.Request()
	return e == errNoRoute && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/v1/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// sayLost answers it by a page that leads back.
func sayLost(c echo.Context) error {
	c.Response().Header().Set("Content-Security-Policy", docsPolicy)
	return c.HTMLBlob(http.StatusNotFound, nothingHTML)
}

// file is content that does not change while the process runs. It is compressed once, at the first request that accepts gzip,
// so that starting does not compress files that nobody asks for.
type file struct {
	kind, policy, tag string
	body              []byte
	compressed        func() []byte // nil if that is not smaller
}

func newFile(kind, policy string, body []byte) *file {
	// A weak tag, since the compressed form has the same one.
	compressed := sync.OnceValue(func() []byte { return compress(body) })
	return &file{kind: kind, policy: policy, tag: fmt.Sprintf(`W/"%x"`, fingerprint(body)), body: body, compressed: compressed}
}

func (f *file) plain(c echo.Context) error { return f.serve(c, askAgain) }

func (f *file) serve(c echo.Context, cache string) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", f.policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", cache)
	h.Set("ETag", f.tag)
	h.Add("Vary", "Accept-Encoding")
	if c.Request().Header.Get("If-None-Match") == f.tag {
		return c.NoContent(http.StatusNotModified)
	}
	if takesGzip(c.Request().Header.Values("Accept-Encoding")) {
		if compressed := f.compressed(); compressed != nil {
			h.Set("Content-Encoding", "gzip")
			return c.Blob(http.StatusOK, f.kind, compressed)
		}
	}
	return c.Blob(http.StatusOK, f.kind, f.body)
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil // never: the level is one that the package has
	}
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}

// takesGzip parses Accept-Encoding (RFC 9110, 12.5.3): gzip by name, or by * if it is not named, unless its weight is 0.
func takesGzip(values []string) bool {
	takes := false
	for one := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, _ := strings.Cut(one, ";")
		_, q, _ := strings.Cut(weight, "=")
		refused := strings.Trim(q, " 0.") == "" && q != ""
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip":
			return !refused
		case "*":
			takes = !refused
		}
	}
	return takes
}

// fingerprint is a short hash of a file, for its ETag.
func fingerprint(body []byte) []byte {
	sum := sha256.Sum256(body)
	return sum[:8]
}
