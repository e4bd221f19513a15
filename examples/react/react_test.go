package react

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

func TestMain(m *testing.M) { harness.Main(m) }

const root = "../.."

// TestReactExample builds the application with Vite, as its users do, and has two people talk in Chromium.
func TestReactExample(t *testing.T) {
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ORIGINS": site.URL}})
	app := build(t, node.URL())
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(app, "dist"))))
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_, user, _ := strings.Cut(r.Referer(), "?")
		_, _ = w.Write([]byte(harness.Token(user, "", time.Hour)))
	})
	if _, err := node.Client("ann").CreateGroup(t.Context(), client.GroupDraft{ID: "trip", Name: "Weekend trip", Members: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}

	browser := jstest.Browser(t)
	pages := map[string]context.Context{}
	open := func(user string) {
		jstest.See(t, pages[user], `document.body.innerText.includes("live") && document.querySelector("button") !== null`)
		jstest.Eval[bool](t, pages[user], `[...document.querySelectorAll("button")].find((b) => b.textContent.startsWith("Weekend trip")).click() ?? true`)
		jstest.See(t, pages[user], `document.querySelector("form") !== null`)
	}
	shows := func(user, text string) {
		t.Helper()
		jstest.See(t, pages[user], fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
	say := func(user, text string) {
		jstest.Eval[bool](t, pages[user], fmt.Sprintf(`document.querySelector("input").value = %q, document.querySelector("form").requestSubmit() ?? true`, text))
	}
	for _, user := range []string{"ann", "bob"} {
		page, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(cancel)
		pages[user] = page
		if err := chromedp.Do(page, chromedp.Navigate(site.URL+"/?"+user)); err != nil {
			t.Fatal(err)
		}
		open(user)
	}
	say("ann", "Shall we take the early train?")
	shows("bob", "ann: Shall we take the early train?")
	say("bob", "Yes")
	shows("ann", "bob: Yes")
	jstest.See(t, pages["ann"], `document.querySelector("button").textContent.trim() === "Weekend trip"`) // no count: all is read

	// Sent while the server is away, and after the page was loaded again: from what is kept.
	node.Kill()
	say("ann", "See you there")
	shows("ann", "ann: See you there queued")
	node.Start()
	shows("bob", "ann: See you there")
	if err := chromedp.Do(pages["ann"], chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	open("ann")
	shows("ann", "ann: See you there")
}

// build copies the application with the packages that npm would install, builds it, and returns its folder.
func build(t *testing.T, server string) string {
	t.Helper()
	app := t.TempDir()
	modules := filepath.Join(app, "node_modules")
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"src", "index.html", "vite.config.js", "package.json"} {
		copyTo(t, filepath.Join(app, name), name)
	}
	fatal(npm.Link(modules, jstest.Modules(t), nil))
	for name, folder := range map[string]string{"client": "js", "react": "react"} {
		to, from := filepath.Join(modules, "@chatd", name), filepath.Join(root, "sdk", folder)
		copyTo(t, filepath.Join(to, "dist"), filepath.Join(from, "dist"))
		copyTo(t, filepath.Join(to, "package.json"), filepath.Join(from, "package.json"))
	}
	t.Setenv("VITE_CHATD", server)
	fatal(npm.Run(t.Context(), app, "node", filepath.Join(modules, "vite", "bin", "vite.js"), "build", "--logLevel=warn"))
	return app
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var text []byte
		if text, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestGuideHasTheExample: what docs/javascript.md tells to write is what is built here, and the application is less than 30 lines.
func TestGuideHasTheExample(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs", "javascript.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src/App.jsx", "vite.config.js"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(guide), string(text)+"```") {
			t.Errorf("the guide does not have %s as it is", name)
		}
		if lines := strings.Count(string(text), "\n"); lines >= 30 {
			t.Errorf("%s has %d lines", name, lines)
		}
	}
}

// TestVersionsAreTheTestedOnes: the example names what sdk/package.json has, with which it is built here.
func TestVersionsAreTheTestedOnes(t *testing.T) {
	read := func(path string) (all map[string]string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lists struct{ Dependencies, DevDependencies map[string]string }
		if err := json.Unmarshal(text, &lists); err != nil {
			t.Fatal(err)
		}
		all = lists.DevDependencies
		for name, version := range lists.Dependencies {
			all[name] = version
		}
		return all
	}
	tested := read(filepath.Join(root, "sdk", "package.json"))
	for name, version := range read("package.json") {
		if !strings.HasPrefix(name, "@chatd/") && tested[name] != version {
			t.Errorf("%s %s, and sdk/package.json has %q", name, version, tested[name])
		}
	}
}
