package jstest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// BrowserTimeout bounds all that one test does in its browser.
const BrowserTimeout = 6 * time.Minute

const startTimeout = time.Minute // on the slowest machine

// Browser starts a Chromium with an empty profile, which ends with the test. CHATD_CHROMIUM names another than Debian's.
func Browser(tb testing.TB) context.Context {
	tb.Helper()
	path := os.Getenv("CHATD_CHROMIUM")
	if path == "" {
		path = "/usr/bin/chromium"
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(startTimeout),
	)
	ctx, cancel := context.WithTimeout(context.Background(), BrowserTimeout)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	tb.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		tb.Fatalf("Chromium does not start: %v", err)
	}
	return ctx
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
