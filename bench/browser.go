package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/jstest"
)

// inBrowser measures the JavaScript client in Chromium: opening it over many messages that it has stored, without a network, and
// receiving while a page shows them.
func inBrowser(b *bench) {
	const groups = 50
	each := scaled(2000)
	b.table.section(fmt.Sprintf("the JavaScript client in Chromium, %d messages stored in %d groups", groups*each, groups))
	js := filepath.Join("..", "sdk", "js")
	mux := http.NewServeMux()
	mux.Handle("/src/", http.StripPrefix("/src/", http.FileServer(http.Dir(filepath.Join(js, "dist")))))
	mux.Handle("/test/", http.StripPrefix("/test/", http.FileServer(http.Dir(filepath.Join(js, "test")))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") })
	server := httptest.NewServer(mux)
	defer server.Close()
	page := jstest.Browser(b.tb)
	fresh := func() int {
		ok(chromedp.Do(page, chromedp.Navigate(server.URL)))
		jstest.Eval[bool](b.tb, page, `import("/test/load.js").then((load) => { globalThis.load = load; return true; })`)
		return jstest.Heap(b.tb, page)
	}

	fresh()
	if stored := jstest.Eval[int](b.tb, page, fmt.Sprintf(`load.fill("stored", %d, %d)`, groups, each)); stored != groups*each {
		b.tb.Fatalf("%d messages are stored", stored)
	}
	var ms []float64
	var heap, without int
	for range 5 {
		without = max(without, fresh())
		ms = append(ms, jstest.Eval[struct{ Ms float64 }](b.tb, page, `load.open("stored", false)`).Ms)
		heap = max(heap, jstest.Heap(b.tb, page))
	}
	b.table.count("new Chatd to the first items of the latest group, without a network, 5 times", "%.0f to %.0f ms", slices.Min(ms), slices.Max(ms))
	b.table.count("heap then, at most; before it", "%.1f MB; %.1f MB", inMB(heap), inMB(without))
	fresh()
	read := jstest.Eval[struct{ Transactions, Requests, Records int }](b.tb, page, `load.open("stored", true)`)
	b.table.count("what that asks of IndexedDB", "%d records by %d requests in %d transactions", read.Records, read.Requests, read.Transactions)

	fresh()
	jstest.Eval[bool](b.tb, page, `load.receive("live").then((live) => { globalThis.live = live; return true; })`)
	jstest.Eval[any](b.tb, page, `live.more(1000)`) // its window is full
	before, more := jstest.Heap(b.tb, page), scaled(10_000)
	jstest.Eval[any](b.tb, page, fmt.Sprintf(`live.more(%d)`, more))
	b.table.count(fmt.Sprintf("heap before %d messages to an open timeline, and after", more), "%.2f MB, %.2f MB", inMB(before), inMB(jstest.Heap(b.tb, page)))
}

func inMB(bytes int) float64 { return float64(bytes) / 1e6 }
