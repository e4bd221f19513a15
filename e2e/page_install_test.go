package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestPageIsInstallable has Chromium read the manifest, and the icons that it names.
func TestPageIsInstallable(t *testing.T) {
	t.Parallel()
	alice := newPerson(t, startBrowser(t), devNode(t), "alice")
	app, err := chromedp.Call(alice.ctx, page.GetAppManifest, page.GetAppManifestParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range app.Errors {
		t.Errorf("the manifest: %s (line %d)", e.Message, e.Line)
	}
	if m := app.Manifest; m == nil || m.Name != "chatd" || m.Display != "kStandalone" || m.StartURL == "" || len(m.Icons) < 3 {
		t.Fatalf("Chromium reads %+v of %s", app.Manifest, app.Data)
	}
	alice.keeps() // a page that is installed has to open without a network
	wrong := ask[[]string](alice, `fetch("/manifest.webmanifest").then((a) => a.json()).then((m) => Promise.all(m.icons.map(async (icon) => {
		const image = new Image();
		image.src = icon.src;
		await image.decode();
		return icon.sizes === "any" || icon.sizes === image.naturalWidth + "x" + image.naturalHeight ? [] : [icon.src];
	}))).then((all) => all.flat())`)
	if len(wrong) > 0 {
		t.Errorf("%q are of another size than the manifest says", wrong)
	}
}
