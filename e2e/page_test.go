package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/harness"
)

// nextURL is the sign-in link of a node, for the page that is to replace the one at /.
func nextURL(node *harness.Node) string { return strings.Replace(node.SignInURL(), "/#", "/next/#", 1) }

// nextPerson opens that page and signs in.
func nextPerson(t *testing.T, browser context.Context, node *harness.Node, name string) *person {
	t.Helper()
	p := openRefused(t, browser, nextURL(node), name) // nobody is signed in by a cookie yet
	p.fill("input[name=name]", name)
	p.enter()
	p.see(fmt.Sprintf(`document.querySelector(".rail .me")?.title === %q`, name))
	p.live()
	p.refused(false)
	return p
}

// TestPageTwoPeople writes to each other, over a reload.
func TestPageTwoPeople(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	group := seed(bounded(t, browserTimeout), t, node.Client("alice"), "trip", 100, 3)
	alice := nextPerson(t, browser, node, "alice")
	alice.open(group)
	alice.say("Morning!")
	alice.see(message("Morning!") + "?.dataset.id")
	alice.do(chromedp.Reload())
	alice.see(message("Morning!") + "?.dataset.id")
	alice.see(fmt.Sprintf(`location.pathname === "/next/c/%s"`, group))
}
