package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPageTwoPeople writes to each other, over a reload.
func TestPageTwoPeople(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	group := seed(bounded(t, browserTimeout), t, node.Client("alice"), "trip", 100, 3)
	alice := newPerson(t, browser, node, "alice")
	alice.open(group)
	alice.say("Morning!")
	alice.see(message("Morning!") + "?.dataset.id")
	alice.do(chromedp.Reload())
	alice.see(message("Morning!") + "?.dataset.id")
	alice.see(fmt.Sprintf(`location.pathname === "/c/%s"`, group))
}
