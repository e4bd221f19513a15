package static

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// linesMax bounds a file of the client: it should fit a sitting.
const linesMax = 300

// own calls check for every file of the client that is written here.
func own(t *testing.T, check func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "vendor/") {
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
	sums, err := fs.ReadFile(Files, "vendor/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		want[name] = sum
	}
	scripts, err := fs.Glob(Files, "vendor/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		body, err := fs.ReadFile(Files, name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(body)
		if got := hex.EncodeToString(sum[:]); got != want[path.Base(name)] {
			t.Errorf("%s has the SHA-256 %s, want %s", name, got, want[path.Base(name)])
		}
	}
	if len(scripts) != len(want) {
		t.Errorf("%d scripts, %d sums", len(scripts), len(want))
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
	page, err := fs.ReadFile(Files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	if found := inline.FindString(string(page)); found != "" {
		t.Errorf("index.html has %q", found)
	}
	own(t, func(name, text string) {
		if strings.HasSuffix(name, ".css") && (strings.Contains(text, "url(") || strings.Contains(text, "@import")) {
			t.Errorf("%s loads something", name)
		}
	})
}

var (
	imports    = regexp.MustCompile(`(?m)^(?:import|export)\b[^"']*?from "([^"]+)"|^import "([^"]+)"`)
	references = regexp.MustCompile(`(?:href|src)="/([^"]+)"`)
)

// TestModulesImportWhatIsThere stands for the linker that a build step would have.
func TestModulesImportWhatIsThere(t *testing.T) {
	own(t, func(name, text string) {
		if path.Ext(name) != ".js" {
			return
		}
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "./") && !strings.HasPrefix(m[1], "../") {
				t.Errorf("%s imports %q: a browser resolves only paths", name, m[1])
			}
			if w := path.Join(path.Dir(name), m[1]); !exists(w) {
				t.Errorf("%s names %s, which is not there", name, w)
			}
		}
	})
}

func exists(name string) bool {
	_, err := fs.Stat(Files, name)
	return err == nil
}

func TestPageLoadsWhatIsServed(t *testing.T) {
	site, err := Site(Files)
	if err != nil {
		t.Fatal(err)
	}
	found := references.FindAllStringSubmatch(string(site["index.html"]), -1)
	if len(found) < 5 {
		t.Errorf("index.html names %d files", len(found))
	}
	for _, m := range found {
		if m[1] != "docs" && site[m[1]] == nil {
			t.Errorf("index.html names %s, which is not served", m[1])
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
