package react

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

func TestMain(m *testing.M) { harness.Main(m) }

const root = "../.."

// server is the address of chatd in the application.
const server = "http://127.0.0.1:8080"

// TestReactExample checks the application's types and builds it with Vite, as its users do, and has two people talk in Chromium.
func TestReactExample(t *testing.T) {
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ORIGINS": site.URL}})
	app := build(t, node.URL())
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(app, "dist"))))

	browser := jstest.Browser(t)
	pages := map[string]context.Context{}
	sees := func(user, expression string) {
		t.Helper()
		jstest.See(t, pages[user], expression)
	}
	shows := func(user, text string) {
		t.Helper()
		sees(user, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
	enter := func(user, form, text string) {
		t.Helper()
		sees(user, fmt.Sprintf("document.querySelector(%q) !== null", form))
		jstest.Eval[bool](t, pages[user], fmt.Sprintf(`document.querySelector(%q).querySelector("input").value = %q, document.querySelector(%[1]q).requestSubmit() ?? true`, form, text))
	}
	const newGroup, say = "nav form", "main form"
	open := func(user, group string) {
		t.Helper()
		button := fmt.Sprintf(`[...document.querySelectorAll("nav button")].find((b) => b.textContent.startsWith(%q))`, group)
		sees(user, button+" !== undefined")
		jstest.Eval[bool](t, pages[user], button+".click() ?? true")
	}
	for _, user := range []string{"alice", "bob"} {
		page, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(cancel)
		pages[user] = page
		if err := chromedp.Do(page, chromedp.Navigate(site.URL+"/#"+harness.Token(user, "", time.Hour))); err != nil {
			t.Fatal(err)
		}
		shows(user, "live")
	}
	enter("alice", newGroup, "Weekend trip")
	enter("alice", say, "Shall we take the early train?")
	open("bob", "Weekend trip")
	shows("bob", "alice Shall we take the early train?")
	enter("bob", say, "Yes")
	shows("alice", "bob Yes")
	const count = `document.querySelector("nav button").textContent.slice("Weekend trip".length).trim()`
	sees("alice", count+` === ""`) // all is read

	// Nothing is read in a page that nobody sees.
	look := func(state string) {
		t.Helper()
		jstest.Eval[bool](t, pages["alice"], fmt.Sprintf(`Object.defineProperty(document, "visibilityState", { value: %q, configurable: true }), document.dispatchEvent(new Event("visibilitychange"))`, state))
	}
	look("hidden")
	enter("bob", say, "At six?")
	shows("alice", "bob At six?")
	sees("alice", count+` === "1"`)
	look("visible")
	sees("alice", count+` === ""`)

	// Sent while the server is away, and after the page was loaded again: from what is kept.
	node.Kill()
	enter("alice", say, "See you there")
	shows("alice", "alice See you there queued")
	node.Start()
	shows("bob", "alice See you there")
	if err := chromedp.Do(pages["alice"], chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	open("alice", "Weekend trip")
	shows("alice", "alice See you there")
}

// build copies the application with the packages that npm would install, for a server at url, builds it, and returns its folder.
func build(t *testing.T, url string) string {
	t.Helper()
	app := t.TempDir()
	modules := filepath.Join(app, "node_modules")
	fatal := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"src", "index.html", "vite.config.ts", "tsconfig.json", "package.json"} {
		copyTo(t, filepath.Join(app, name), name)
	}
	fatal(npm.Link(modules, jstest.Modules(t), nil))
	for name, folder := range map[string]string{"client": "js", "react": "react"} {
		to, from := filepath.Join(modules, "@chatd", name), filepath.Join(root, "sdk", folder)
		copyTo(t, filepath.Join(to, "dist"), filepath.Join(from, "dist"))
		copyTo(t, filepath.Join(to, "package.json"), filepath.Join(from, "package.json"))
	}
	program := filepath.Join(app, "src", "App.tsx")
	text, err := os.ReadFile(program)
	fatal(err)
	fatal(os.WriteFile(program, []byte(strings.Replace(string(text), server, url, 1)), 0o600))
	fatal(npm.Run(t.Context(), app, "node", filepath.Join(modules, "typescript", "bin", "tsc")))
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
	text, err := os.ReadFile("src/App.tsx")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), string(text)+"```") {
		t.Error("the guide does not have src/App.tsx as it is")
	}
	if lines := strings.Count(string(text), "\n"); lines >= 30 {
		t.Errorf("src/App.tsx has %d lines", lines)
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

// TestGuideMakesTokens: the server takes what the function in the guide signs.
func TestGuideMakesTokens(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(root, "docs", "javascript.md"))
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```js\n(import \\{ createHmac.*?)```").FindSubmatch(guide)
	if code == nil {
		t.Fatal("the guide signs no token")
	}
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", string(code[1])+`process.stdout.write(chatToken("alice"));`)
	cmd.Env = append(os.Environ(), "CHATD_JWT_SECRET="+harness.Secret)
	token, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	node := harness.StartNode(t, harness.Config{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, node.URL()+"/v1/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var me struct{ User string }
	if err := json.NewDecoder(answer.Body).Decode(&me); err != nil || me.User != "alice" {
		t.Errorf("the server takes it for %q (%d, %v)", me.User, answer.StatusCode, err)
	}
}
