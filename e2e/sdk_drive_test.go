package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
)

// driven is a program of the JavaScript client, with the functions of testdata/sdk/drive.js: alice sends, bob reads.
type driven struct {
	t    *testing.T
	call func(name string, args ...any) json.RawMessage
}

// drivenNow is how things are with it.
type drivenNow struct {
	Lives    int      `json:"lives"` // how often both have become live, or live in another way
	By       []string `json:"by"`    // alice and bob
	Sent     int      `json:"sent"`
	Done     int      `json:"done"`
	Queued   int      `json:"queued"`
	Received int      `json:"received"`
	FirstMS  int64    `json:"firstMs"` // from connect to the first line that bob sees
	Gaps     []struct {
		Group string `json:"group"`
		From  int64  `json:"from"`
		To    int64  `json:"to"`
	} `json:"gaps"`
	Refused []string `json:"refused"`
	Said    []string `json:"said"`
	Reasons []string `json:"reasons"` // why a token was asked for
}

// drivenLine is a text as bob was told of it, or a line of his timeline: a gap has To.
type drivenLine struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	Gap  bool   `json:"gap"`
	To   int64  `json:"to"`
}

type drivenSeen struct {
	Reported []drivenLine `json:"reported"`
	Shown    []drivenLine `json:"shown"`
	Unread   int64        `json:"unread"`
}

func (d *driven) now() (n drivenNow) {
	d.t.Helper()
	d.read("now", &n)
	return n
}

func (d *driven) seen(group string) (s drivenSeen) {
	d.t.Helper()
	d.read("seen", &s, group)
	return s
}

func (d *driven) read(name string, into any, args ...any) {
	d.t.Helper()
	if err := json.Unmarshal(d.call(name, args...), into); err != nil {
		d.t.Fatal(err)
	}
}

// until waits until something holds.
func (d *driven) until(limit time.Duration, what string, holds func(drivenNow) bool) {
	d.t.Helper()
	harness.Eventually(d.t, limit, what, func() error {
		if n := d.now(); !holds(n) {
			n.Reasons = nil
			return fmt.Errorf("%+v", n)
		}
		return nil
	})
}

// drivenConfig is what a program is given.
type drivenConfig struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
	TokenS int    `json:"tokenS"`
	SDK    string `json:"sdk"`
	WS     string `json:"ws"` // a module of WebSockets; empty: it has none
}

// inNode starts the program in Node, with the WebSockets of the package ws or none.
func inNode(t *testing.T, url string, tokenFor time.Duration, sockets bool) *driven {
	t.Helper()
	config := drivenConfig{
		URL: url, Secret: harness.Secret, TokenS: int(tokenFor / time.Second),
		SDK: filepath.Join(jstest.Root(t), "sdk", "js", "dist", "chatd.js"),
	}
	if sockets {
		config.WS = filepath.Join(jstest.Modules(t), "ws", "wrapper.mjs")
	}
	given := must(json.Marshal(config))(t)
	cmd := exec.CommandContext(t.Context(), "node", "node.js", string(given))
	cmd.Dir = "testdata/sdk"
	cmd.Stderr = os.Stderr
	in, out := must(cmd.StdinPipe())(t), must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	answers := bufio.NewReaderSize(out, 1<<20)
	return &driven{t, func(name string, args ...any) json.RawMessage {
		t.Helper()
		line := must(json.Marshal(append([]any{name}, args...)))(t)
		if _, err := in.Write(append(line, '\n')); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s: Node has ended: %v", name, err)
		}
		return answer
	}}
}

// sdkSite serves the modules of the client and of the program to a browser. Its URL belongs into CHATD_ORIGINS.
func sdkSite(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/dist/", http.StripPrefix("/dist/", http.FileServer(http.Dir(filepath.Join(jstest.Root(t), "sdk", "js", "dist")))))
	mux.Handle("/", http.FileServer(http.Dir("testdata/sdk")))
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site
}

// inPage starts the program in a page.
func inPage(t *testing.T, browser context.Context, site *httptest.Server, url string, tokenFor time.Duration) *driven {
	t.Helper()
	p := blankPage(t, browser, "the program")
	p.refused(true)
	p.do(chromedp.Navigate(site.URL + "/page.html"))
	config := must(json.Marshal(drivenConfig{URL: url, Secret: harness.Secret, TokenS: int(tokenFor / time.Second)}))(t)
	ask[bool](p, fmt.Sprintf(`(async () => {
		const [{ Chatd }, { drive }] = await Promise.all([import("/dist/chatd.js"), import("/drive.js")]);
		globalThis.driven = drive({ Chatd, ...%s });
		return true;
	})()`, config))
	return &driven{t, func(name string, args ...any) json.RawMessage {
		t.Helper()
		list := must(json.Marshal(append([]any{}, args...)))(t)
		return json.RawMessage(ask[string](p, fmt.Sprintf(`(async () => JSON.stringify((await driven.%s(...%s)) ?? null))()`, name, list)))
	}}
}
