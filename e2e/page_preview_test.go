package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPagePreviews: what links lead to stands under messages, but not under those of blocked people, and can be hidden: by a person for
// themselves, by its author for everybody.
func TestPagePreviews(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/tea":
			_, _ = fmt.Fprint(w, `<title>How to brew green tea</title><meta property="og:description" content="Water at 75 °C, two minutes, and never the same
				leaves for guests: a short guide to what everybody does wrong, with pictures of twelve kinds and where they grow.">
				<meta property="og:image" content="https://images.example/tea.png">`)
		case "/he":
			_, _ = fmt.Fprint(w, `<title>תה ירוק, מדריך קצר.</title>`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer site.Close()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on", "CHATD_PREVIEWS": "on", "CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
	alice, mallory := node.Client("alice"), node.Client("mallory")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "tea", Name: "Tea", Members: []string{"bob", "mallory"}}))(t)
	must(node.Client("bob").Block(ctx, "mallory"))(t)
	must(mallory.Send(ctx, "tea", client.Text("look "+site.URL+"/he")))(t)
	must(alice.Send(ctx, "tea", client.Text("what I told you about: "+site.URL+"/tea, and "+site.URL+"/nothing")))(t)

	browser := startBrowser(t)
	bob, author := newPerson(t, browser, node, "bob"), newPerson(t, browser, node, "alice")
	bob.open("tea")
	cards := func(want string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".link-card .data-title")].map((a) => a.textContent).join() === %q`, want)
	}
	bob.see(cards("How to brew green tea"))
	bob.see(fmt.Sprintf(`document.querySelector(".link-card .data-type").textContent === %q && !document.querySelector(".link-card img")`, site.URL[len("http://"):]))
	bob.see(`document.querySelector(".message.folded")`) // of mallory, whose link others have a card of

	// Live, in another script.
	author.open("tea")
	author.see(cards("תה ירוק, מדריך קצר.,How to brew green tea"))
	author.say("also " + site.URL + "/he")
	bob.see(cards("How to brew green tea,תה ירוק, מדריך קצר."))
	bob.see(`getComputedStyle([...document.querySelectorAll(".link-card .data-title")].at(-1)).direction === "rtl"`)
	for _, scheme := range []string{"light", "dark"} {
		bob.scheme(scheme)
		bob.picture(picturesDir(t), "previews-"+scheme+".png")
	}
	bob.script(`document.documentElement.dir = "rtl"`)
	bob.picture(picturesDir(t), "previews-right-to-left.png")
	bob.script(`document.documentElement.dir = "ltr"`)
	loadAxe(t, bob)
	bob.axe("previews")

	// Who wrote a link takes its card away for everybody.
	author.click(".message.mine:last-child .link-card button")
	author.click(".toast button")
	bob.see(cards("How to brew green tea"))
	bob.stands("also " + site.URL + "/he")
	author.picture(picturesDir(t), "previews-hidden.png")

	bob.phone()
	bob.see(cards("How to brew green tea"))
	bob.fits()
	bob.picture(picturesDir(t), "previews-phone.png")
	bob.click(".link-card button")
	bob.see(`!document.querySelector(".link-card")`)
	bob.do(chromedp.Reload())
	bob.stands("also " + site.URL + "/he")
	author.see(cards("תה ירוק, מדריך קצר.,How to brew green tea"))
	bob.see(`!document.querySelector(".link-card")`)
}
