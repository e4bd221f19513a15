package sdk

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/jstest"
)

// assertions are what stores.js uses of node:assert/strict.
const assertions = `
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const check = (good, ...said) => { if (!good) throw new Error(said.map((one) => typeof one === "string" ? one : JSON.stringify(one)).join(" ")); };
export default {
  ok: check,
  equal: (got, want) => check(got === want, got, "is not", want),
  deepEqual: (got, want, why = "") => check(same(got, want), why, got, "is not", want),
  rejects: (promise) => promise.then(() => check(false, "did not reject"), () => {}),
};`

// page imports what Node names in its way.
const page = `<!doctype html><script type="importmap">{"imports": {"node:assert/strict": "/assert.js"}}</script>`

// pages serves the sources of the client as modules, the tests beside them, and an empty page that can import them.
func pages(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(jstest.Sources(t))))
	serve := func(path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(text))
		})
	}
	serve("/{$}", "text/html", page)
	serve("/assert.js", "text/javascript", assertions)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestIndexedDBInChromium runs what every store must do over the IndexedDB of a real browser.
func TestIndexedDBInChromium(t *testing.T) {
	t.Parallel()
	server, browser := pages(t), jstest.Browser(t)
	if err := chromedp.Do(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	failed := jstest.Eval[[]string](t, browser, `(async () => {
		const { indexedDBStore } = await import("/src/indexeddb.js");
		const { storeCases } = await import("/test/stores.js");
		const failed = [];
		for (const [name, run] of Object.entries(storeCases)) {
			await run(async (of) => {
				const store = indexedDBStore();
				await store.open(of);
				return store;
			}).catch((err) => failed.push(name + ": " + err.stack));
		}
		return failed.concat(Object.keys(storeCases).length < 8 ? ["few cases"] : []);
	})()`)
	if len(failed) > 0 {
		t.Error(strings.Join(failed, "\n"))
	}
}
