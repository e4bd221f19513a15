package jstest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// BrowserTimeout bounds all that one test does in its browser.
const BrowserTimeout = 6 * time.Minute

const (
	startTimeout = time.Minute // on the slowest machine
	seeTimeout   = time.Minute
	seeEvery     = 25 * time.Millisecond
)

// Browser starts a Chromium with an empty profile, which ends with the test.
func Browser(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), BrowserTimeout)
	tb.Cleanup(cancel)
	ctx, stop, err := Chromium(ctx)
	tb.Cleanup(stop)
	if err != nil {
		tb.Fatalf("Chromium does not start: %v", err)
	}
	return ctx
}

// chromium returns the program: what CHATD_CHROMIUM names, or what is installed. The headless shell is Chromium without its
// windows, tool bars and pages of its own, which take two thirds of the processor time of a new page.
func chromium() (path string, err error) {
	if named := os.Getenv("CHATD_CHROMIUM"); named != "" {
		return named, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	return path, err
}

// Chromium starts one with an empty profile, in the environment of the test and env ("NAME=value"). stop ends it, and waits
// for that.
func Chromium(ctx context.Context, env ...string) (browser context.Context, stop func(), err error) {
	path, err := chromium()
	if err != nil {
		return ctx, func() {}, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-features", "Translate,SpareRendererForSitePerProcess"), // a spare renderer takes more than many a test
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(startTimeout),
		chromedp.Env(env...),
	)
	ctx, release := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	return ctx, func() { end(); release() }, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// Eval returns what an expression of JavaScript gives in a page; it waits for a promise.
func Eval[T any](tb testing.TB, page context.Context, expression string) T {
	tb.Helper()
	value, err := chromedp.Run(page, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.Fatalf("%v, of %s", err, expression)
	}
	return value
}

// See waits until an expression of JavaScript is true in a page.
func See(tb testing.TB, page context.Context, expression string) {
	tb.Helper()
	wait := chromedp.Poll[bool](expression, chromedp.WithPollingInterval(seeEvery), chromedp.WithPollingTimeout(seeTimeout))
	_, err := chromedp.Run(page, wait)
	for err != nil && strings.Contains(err.Error(), "Cannot find context") { // that of the document before, which has just gone
		_, err = chromedp.Run(page, wait)
	}
	if err != nil {
		text, _ := chromedp.Run(page, chromedp.Evaluate[string](`document.body.innerText`))
		tb.Fatalf("%v, of %s; the page shows %q", err, expression, text)
	}
}

// Heap returns how many bytes the JavaScript of a page holds, after a collection of what it does not.
func Heap(tb testing.TB, page context.Context) int {
	tb.Helper()
	_, err := chromedp.Call(page, heapprofiler.CollectGarbage, cdp.Empty{})
	if err != nil {
		tb.Fatalf("%v", err)
	}
	usage, err := chromedp.Call(page, runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return int(usage.UsedSize)
}
