package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"sort"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
)

// clientPolicy is what the browser client may do: its own scripts, styles and images, and calls to where it came from.
const clientPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; " +
	"form-action 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// docsPolicy lets the documentation have its own style sheet and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed docs.html
var docsHTML string

//go:embed docs.css
var docsCSS []byte

// registerPages serves the browser client, the description and its readable form. Each file of the client has a route of
// its own, so that what is no file is an unknown route like any other.
func (s *Server) registerPages(e *echo.Echo, doc *openapi3.T) error {
	page, err := renderDocs(doc)
	if err != nil {
		return err
	}
	e.GET("/openapi.yaml", blob("application/yaml; charset=utf-8", apiPolicy, openapiYAML))
	e.GET("/docs", blob("text/html; charset=utf-8", docsPolicy, page))
	e.GET("/docs.css", blob("text/css; charset=utf-8", docsPolicy, docsCSS))
	if s.opt.Static == nil {
		return nil
	}
	return fs.WalkDir(s.opt.Static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(s.opt.Static, name)
		if err != nil {
			return err
		}
		kind := mime.TypeByExtension(path.Ext(name))
		if kind == "" {
			kind = "application/octet-stream"
		}
		if name == "index.html" {
			e.GET("/", blob(kind, clientPolicy, body))
		}
		e.GET("/"+name, blob(kind, clientPolicy, body))
		return nil
	})
}

// blob serves bytes that do not change while the process lives; a browser asks again each time, since the next process
// may have others.
func blob(kind, policy string, body []byte) echo.HandlerFunc {
	tag := fmt.Sprintf(`"%x"`, fingerprint(body))
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag)
		if c.Request().Header.Get("If-None-Match") == tag {
			return c.NoContent(http.StatusNotModified)
		}
		return c.Blob(http.StatusOK, kind, body)
	}
}

// docsPage is the description, arranged for reading.
type docsPage struct {
	Title, Version, Text string
	Tags                 []docsTag
	Schemas              []docsSchema
}

type docsTag struct {
	Name, Text string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Text string
	Parameters                      []docsField
	Body                            string // name of the schema
	Examples                        []string
	Answers                         []docsAnswer
}

type docsAnswer struct{ Status, Text, Schema string }

type docsSchema struct {
	Name, Text string
	Fields     []docsField
}

type docsField struct {
	Name, In, Type, Ref, Text string
	Required                  bool
}

func renderDocs(doc *openapi3.T) ([]byte, error) {
	t, err := template.New("docs").Funcs(template.FuncMap{"paragraphs": paragraphs, "lower": strings.ToLower, "isCode": func(i int) bool { return i%2 == 1 }}).Parse(docsHTML)
	if err != nil {
		return nil, err
	}
	page := docsPage{Title: doc.Info.Title, Version: doc.Info.Version, Text: doc.Info.Description}
	for _, tag := range doc.Tags {
		page.Tags = append(page.Tags, docsTag{Name: tag.Name, Text: tag.Description, Operations: operationsOf(doc, tag.Name)})
	}
	for _, name := range sortedKeys(doc.Components.Schemas) {
		page.Schemas = append(page.Schemas, schemaOf(name, doc.Components.Schemas[name].Value))
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// paragraphs splits text at empty lines, and each paragraph into plain text and code, which stands between backquotes.
func paragraphs(text string) [][]string {
	var out [][]string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p != "" {
			out = append(out, strings.Split(p, "`"))
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
