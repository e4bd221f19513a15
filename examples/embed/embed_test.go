package embed

import (
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	server = "https://chat.example.com" // as the page and the guide have it
	guide  = "../../docs/javascript.md"
)

// TestEmbedded serves the page from an origin that is not the server's, with the policy that the guide names and the hash that
// its command computes; then with the hash of something else.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	var version, hash string
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_ORIGINS": site.URL}})
	fill := func(text string) string {
		return strings.NewReplacer("/sdk/VERSION/chatd.js", version, "HASH", hash, server, node.URL(), "wss://chat.example.com", "ws://"+node.Addr).Replace(text)
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile("`(default-src [^`]*)`").FindSubmatch(text)
	command := regexp.MustCompile(`(?m)^curl -s https.*openssl base64 -A$`).Find(text)
	if policy == nil || command == nil {
		t.Fatal("the guide names no policy, or no command for the hash")
	}
	for name, kind := range map[string]string{"index.html": "text/html", "embed.js": "text/javascript", "embed.css": "text/css"} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", strings.Join(strings.Fields(fill(string(policy[1]))), " ")+"; "+
				"form-action 'none'; base-uri 'none'")
			_, _ = w.Write([]byte(fill(string(body))))
		})
	}
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(harness.Token("ann", "", time.Hour)))
	})

	answer, err := http.Get(node.URL() + "/sdk/chatd.js")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	version = answer.Header.Get("Content-Location")
	computed, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(string(command), server, node.URL())).Output()
	if err != nil {
		t.Fatal(err)
	}
	ann := node.Client("ann")
	if _, err := ann.CreateGroup(t.Context(), client.GroupDraft{ID: "general"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Send(t.Context(), "general", client.Text("hello")); err != nil {
		t.Fatal(err)
	}

	browser := jstest.Browser(t)
	hash = string(computed)
	if err := chromedp.Do(browser, chromedp.Navigate(site.URL+"/index.html")); err != nil {
		t.Fatal(err)
	}
	jstest.See(t, browser, `document.body.innerText.includes("ann: hello")`)
	jstest.Eval[bool](t, browser, fmt.Sprintf(`document.querySelector("input").value = %q, document.querySelector("form").requestSubmit() ?? true`, "from elsewhere"))
	jstest.See(t, browser, `document.body.innerText.includes("ann: from elsewhere")`)

	other := sha512.Sum384([]byte("something else"))
	hash = base64.StdEncoding.EncodeToString(other[:])
	if err := chromedp.Do(browser, chromedp.Navigate(site.URL+"/index.html?other")); err != nil {
		t.Fatal(err)
	}
	failed := jstest.Eval[bool](t, browser, fmt.Sprintf(`import(%q).then(() => false, () => true)`, node.URL()+version))
	if !failed {
		t.Error("the page runs a client whose hash is not the one that it names")
	}
}
