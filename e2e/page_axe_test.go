package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
)

// mode is how the page is looked at.
type mode struct {
	name          string
	scheme        string
	forced        string // forced-colors
	dir           string
	width, height int64
	at            []string // only there (nil: everywhere): the others are made of the same rows, forms and buttons
}

var modes = []mode{
	{"light", "light", "none", "ltr", 1280, 800, nil},
	{"dark", "dark", "none", "ltr", 1280, 800, nil},
	{"phone", "light", "none", "ltr", 390, 844, nil},
	{"right to left", "light", "none", "rtl", 1280, 800, []string{"home", "group", "members", "settings", "thread", "threads", "menu", "behind the scenes", "admin tasks"}},
	{"forced colours", "dark", "active", "ltr", 1280, 800, []string{"door", "home", "search", "new", "group", "members", "menu", "admin"}},
}

// look sets how the page is looked at. Nothing moves: a colour that is on its way to another one is neither.
func (p *person) look(m mode) {
	p.t.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: m.scheme}, {Name: "forced-colors", Value: m.forced}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		p.t.Fatal(err)
	}
	p.size(m.width, m.height)
	p.script(`document.documentElement.dir = %q`, m.dir)
	p.frames(2)
}

// axe has axe-core examine the page in every mode that says more about it.
func (p *person) axe(where string) {
	p.t.Helper()
	for _, m := range modes {
		if m.at != nil && !slices.Contains(m.at, where) {
			continue
		}
		p.look(m)
		found := ask[[]string](p, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) =>
			v.id + ": " + n.target.join(" ") + ": " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)))`)
		for _, f := range found {
			p.t.Errorf("%s, %s: %s", where, m.name, f)
		}
	}
	p.look(modes[0])
}

// loadAxe is evaluated by the debugger: the page itself runs no program but its own. axe-core takes the colour of text from
// -webkit-text-fill-color, for which Chromium says what the styles say also where colours are forced; color is what shows.
func loadAxe(t *testing.T, p *person) {
	t.Helper()
	ask[bool](p, string(must(os.ReadFile(filepath.Join(jstest.Modules(t), "axe-core", "axe.min.js")))(t))+`;
		((of) => { const { getPropertyValue } = of;
			of.getPropertyValue = function (name) { return getPropertyValue.call(this, name === "-webkit-text-fill-color" ? "color" : name); };
		})(CSSStyleDeclaration.prototype); true`)
}

// TestPageAxe has axe-core find nothing on any route: in light and dark, on a phone, from right to left and with forced colours.
func TestPageAxe(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	furnish(ctx, t, node)
	browser := startBrowser(t)
	door := openRefused(t, browser, node.SignInURL(), "nobody")
	door.see(`document.querySelector("input[name=name]")`)
	loadAxe(t, door)
	door.axe("door")

	alice := newPerson(t, browser, node, "alice")
	loadAxe(t, alice)
	for _, s := range stops() {
		alice.goTo(s)
		alice.axe(s.name)
	}

	kept := fmt.Sprintf(`{"user":"olga","token":%q,"expires_at":"","dev":false}`, harness.Token("olga", "admin", time.Hour))
	olga := openAt(t, browser, node.URL()+"/docs", "olga")
	olga.script(`localStorage.setItem("chatd.signin", %q)`, kept)
	olga.refused(true) // no examination yet, which is a 404
	olga.do(chromedp.Navigate(node.URL() + "/admin"))
	olga.see(`document.querySelectorAll(".figures li").length === 6`)
	loadAxe(t, olga)
	olga.axe("admin")
	for _, view := range []string{"tasks", "users", "settings", "doctor", "announcements", "audit"} {
		olga.click(fmt.Sprintf(`a[href="/admin/%s"]`, view))
		olga.see(fmt.Sprintf(`document.querySelector("[aria-current=page]")?.getAttribute("href") === "/admin/%s" && document.querySelector("main, .empty, table, .facts")`, view))
		olga.frames(2)
		olga.axe("admin " + view)
	}
}
