package static

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/chatd/chatd/internal/npm"
)

// linesMax bounds a file of the client: it should fit a sitting.
const linesMax = 300

// own calls check for every file of the client that is written here.
func own(t *testing.T, check func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "vendor/") || strings.HasPrefix(name, "dist/") {
			return err
		}
		body, err := fs.ReadFile(Files, name)
		check(name, string(body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVendoredFilesAreWhatTheySay compares with the sums that README.md of the folder speaks of.
func TestVendoredFilesAreWhatTheySay(t *testing.T) {
	sums, err := os.ReadFile("vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		want[name] = sum
	}
	vendored, err := fs.Glob(os.DirFS("vendor"), "*.js")
	if err != nil {
		t.Fatal(err)
	}
	faces, err := fs.Glob(os.DirFS("vendor"), "*.woff2")
	if err != nil {
		t.Fatal(err)
	}
	vendored = append(vendored, faces...)
	for _, name := range vendored {
		body, err := os.ReadFile("vendor/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("%s has the SHA-256 %s, want %s", name, got, want[name])
		}
	}
	if len(vendored) != len(want) {
		t.Errorf("%d files, %d sums", len(vendored), len(want))
	}
}

// sinks are the ways by which text becomes markup or code. The policy of the page refuses them too.
var sinks = regexp.MustCompile(`\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|eval|DOMParser|createContextualFragment|dangerouslySetInnerHTML)\b|new Function|setTimeout\(["'` + "`" + `]`)

func TestTextStaysText(t *testing.T) {
	own(t, func(name, text string) {
		if found := sinks.FindString(text); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
	})
}

var inline = regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|<script(?:[^>]*)>[^<]|https?://`)

// TestPageKeepsItsPolicy checks that the page has nothing inline and loads nothing from elsewhere.
func TestPageKeepsItsPolicy(t *testing.T) {
	for _, name := range []string{"index.html", "admin.html"} {
		page, err := fs.ReadFile(Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := inline.FindString(string(page)); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
	for name, text := range made(t, Files) {
		text = strings.NewReplacer(`url("./inter.woff2")`, "", `url("./noto-emoji.woff2")`, "").Replace(text)
		if strings.HasSuffix(name, ".css") && (strings.Contains(text, "url(") || strings.Contains(text, "@import")) {
			t.Errorf("%s loads something", name)
		}
	}
}

// made returns the files of dist/ by name.
func made(t *testing.T, files fs.FS) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(files, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		found[name] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestDistIsFresh makes dist/ again from a copy of the sources and compares.
func TestDistIsFresh(t *testing.T) {
	source, err := os.ReadFile("static.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`\n//go:generate go tool -modfile=../tools.mod esbuild (.*)`).FindAllStringSubmatch(string(source), -1)
	if len(lines) != 3 {
		t.Fatalf("static.go has %d lines that make dist/: one for the page, one for the admin page, one for the service worker", len(lines))
	}
	esbuild, err := exec.Command("go", "tool", "-modfile=../tools.mod", "-n", "esbuild").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	dir := filepath.Join(tree, "static")
	if err := errors.Join(os.CopyFS(dir, Files), os.RemoveAll(filepath.Join(dir, "dist")), os.RemoveAll(filepath.Join(dir, "vendor")),
		os.CopyFS(filepath.Join(dir, "vendor"), os.DirFS("vendor")), os.CopyFS(filepath.Join(tree, "sdk", "js", "dist"), os.DirFS("../sdk/js/dist"))); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		again := exec.Command(strings.TrimSpace(string(esbuild)), strings.Fields(line[1])...)
		again.Dir = dir
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if !maps.Equal(made(t, Files), made(t, os.DirFS(dir))) {
		t.Error("dist/ is not what the sources give: run `go generate ./static`")
	}
}

var references = regexp.MustCompile(`(?:href|src)="/([^"]+)"`)

func TestPageLoadsWhatIsServed(t *testing.T) {
	site, err := Site(Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"index.html", "admin.html"} {
		found := references.FindAllStringSubmatch(string(site[page]), -1)
		if len(found) < 4 {
			t.Errorf("%s names %d files", page, len(found))
		}
		for _, m := range found {
			if m[1] != "docs" && site[m[1]] == nil {
				t.Errorf("%s names %s, which is not served", page, m[1])
			}
		}
	}
}

func TestFilesFitASitting(t *testing.T) {
	own(t, func(name, text string) {
		if got := strings.Count(text, "\n"); got > linesMax {
			t.Errorf("%s has %d lines, more than %d: does it hold one idea?", name, got, linesMax)
		}
	})
}

// TestSiteNamesContent changes one file and looks at the addresses.
func TestSiteNamesContent(t *testing.T) {
	files := fstest.MapFS{
		"index.html": {Data: []byte(`<script src="/assets/main.js">`)}, "page/main.tsx": {Data: []byte("1;\n")},
		"dist/main.js": {Data: []byte("1;")}, "dist/shell.js": {Data: []byte("2;")}, "dist/sw.js": {Data: []byte("work()")},
	}
	assets := func() []string {
		site, err := Site(files)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, name := range slices.Sorted(maps.Keys(site)) {
			if strings.HasPrefix(name, AssetsPrefix) {
				found = append(found, name)
			}
		}
		if len(found) != 3 || !strings.Contains(string(site["index.html"]), `src="/`+found[1]+`"`) || site["page/main.tsx"] == nil || site["dist/main.js"] != nil {
			t.Errorf("%s, and index.html is %s", found, site["index.html"])
		}
		return found
	}
	first, again := assets(), assets()
	files["dist/shell.js"] = &fstest.MapFile{Data: []byte("3;")}
	changed := assets()
	if !slices.Equal(first, again) || first[0] == changed[0] || first[2] == changed[2] {
		t.Errorf("first %s, again %s, after a change %s", first, again, changed)
	}
}

// TestPageHasGoodTypes has the compiler of TypeScript check the page.
func TestPageHasGoodTypes(t *testing.T) {
	installed, err := npm.Install(t.Context(), "../sdk")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	modules := filepath.Join(dir, "node_modules")
	if err := errors.Join(os.CopyFS(dir, Files), npm.Link(modules, installed, map[string]string{"@chatd/client": "../sdk/js"})); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{"page", "page/worker"} { // a window and a service worker have different globals
		if err := npm.Run(t.Context(), dir, "node", filepath.Join(installed, "typescript", "bin", "tsc"), "-p", project); err != nil {
			t.Error(err)
		}
	}
}

// literal is a text in a view that stands in no say().
var literal = regexp.MustCompile(`>[^<>{}=;()]*\p{L}{2,}[^<>{}=;()]*</`)

// TestPageSpeaksAllLanguages finds texts that would be shown in English to everybody.
func TestPageSpeaksAllLanguages(t *testing.T) {
	own(t, func(name, text string) {
		if !strings.HasSuffix(name, ".tsx") {
			return
		}
		if found := literal.FindString(text); found != "" {
			t.Errorf("%s shows %q: texts are written with say()", name, found)
		}
	})
}

var (
	sided = regexp.MustCompile(`(?:^|[\s;{-])(left|right)(?:[\s:;-]|$)`)
	four  = regexp.MustCompile(`(?:padding|margin|inset|border-width|border-style|border-color|scroll-margin|scroll-padding):\s*((?:\([^)]*\)|[^;}(])+)`)
)

// mirrored are the rules that name a side and have one for the other direction beside them.
var mirrored = []string{"transform-origin: left", "transform-origin: right"}

// TestStylesAreLogical finds what would stand on the wrong side where people read from right to left.
func TestStylesAreLogical(t *testing.T) {
	sheets := 0
	own(t, func(name, text string) {
		if !strings.HasSuffix(name, ".css") {
			return
		}
		sheets++
		for i, line := range strings.Split(text, "\n") {
			plain := line
			for _, known := range mirrored {
				plain = strings.ReplaceAll(plain, known, "")
			}
			if sided.MatchString(plain) {
				t.Errorf("%s:%d names a side: use inline-start and inline-end: %s", name, i+1, line)
			}
			for _, m := range four.FindAllStringSubmatch(plain, -1) {
				if of := fields(m[1]); len(of) == 4 && of[1] != of[3] {
					t.Errorf("%s:%d differs from left to right: %s", name, i+1, m[0])
				}
			}
		}
	})
	if sheets < 8 {
		t.Errorf("%d style sheets", sheets)
	}
	for _, bad := range []string{"a { padding: 1px 2px 3px calc(1px + 3px); }", "a { margin-left: 1px }", "a { text-align: right; }", "a { left: 0 }"} {
		m := four.FindStringSubmatch(bad)
		if !sided.MatchString(bad) && (m == nil || len(fields(m[1])) != 4) {
			t.Errorf("%s passes", bad)
		}
	}
}

// fields are the values of a shorthand; what is in parentheses is of one.
func fields(values string) []string {
	depth := 0
	return strings.FieldsFunc(values, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ' ' && depth == 0
	})
}
