package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserPictures looks at the page wide and at 360 px, light and dark. CHATD_PICTURES names a folder to keep the
// pictures in; CHATD_SCREENSHOT=1 renews the one of the README.
func TestBrowserPictures(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	scene(bounded(t, browserTimeout), t, node)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")
	bob := newPerson(t, browser, node, "bob")
	bob.open("trip")
	alice.open("trip")
	alice.say("I do, and it is dry again. I will pack it on Friday.")
	bob.stands("I do, and it is dry again. I will pack it on Friday.")
	bob.tool(bob.stands("I do, and it is dry again. I will pack it on Friday."), "Add reaction")
	bob.click(".picker button:nth-child(2)")
	bob.say("Then we are complete. See you at the platform!")
	alice.stands("Then we are complete. See you at the platform!")
	alice.click(`button[aria-label="Members"]`)
	alice.see(`document.querySelector("dialog li[data-user=carol]")`)
	alice.click(`dialog button[aria-label="Close"]`)
	alice.see(`document.activeElement.ariaLabel === "Members"`)
	ask[bool](alice, `document.activeElement.blur() ?? true`)

	dir := t.TempDir()
	if keep := os.Getenv("CHATD_PICTURES"); keep != "" {
		dir = keep
	}
	typing := func() {
		bob.fill(".write textarea", "a")
		bob.types(alice)
	}
	typing()
	wide := alice.picture(dir, "wide.png")
	if os.Getenv("CHATD_SCREENSHOT") != "" {
		if err := os.WriteFile(filepath.Join("..", "docs", "screenshot.png"), wide, 0o644); err != nil {
			t.Error(err)
		}
	}
	alice.scheme("dark")
	alice.picture(dir, "wide-dark.png")
	alice.size(360, 720)
	alice.fits()
	alice.picture(dir, "narrow-dark.png")
	alice.scheme("light")
	alice.picture(dir, "narrow.png")
	alice.click(".back")
	alice.see(`getComputedStyle(document.querySelector(".pane")).display === "none"`)
	alice.fits()
	alice.picture(dir, "narrow-list.png")
	alice.click(`button[aria-label="Create group"]`)
	alice.see(`document.activeElement.name === "name"`)
	alice.fits()
	alice.picture(dir, "narrow-new.png")
}

// scene fills a server as three other people would.
func scene(ctx context.Context, t *testing.T, node *harness.Node) {
	t.Helper()
	people := map[string]*client.Client{}
	for _, name := range []string{"alice", "bob", "carol", "dora", "erik"} {
		people[name] = node.Client(name)
	}
	group := func(owner, id, name, visibility string, members ...string) {
		must(people[owner].CreateGroup(ctx, client.GroupDraft{ID: id, Name: name, Visibility: visibility, Members: members}))(t)
	}
	say := func(from, group, body string, mentions ...string) int64 {
		return must(people[from].Send(ctx, group, client.Draft{Body: body, Mentions: mentions}))(t).ID
	}
	group("dora", "books", "Book club", "public", "alice")
	must(people["alice"].Read(ctx, "books", say("dora", "books", "Next time: chapters four to six")))(t)
	group("erik", "ops", "ops", "private", "alice")
	for range 12 {
		say("erik", "ops", "Deployed. All green.")
	}
	group("dora", "design", "Design notes", "public", "alice", "bob")
	say("dora", "design", "The new colours are in the branch")
	say("dora", "design", "@alice could you look at the dark ones?", "alice")

	group("alice", "trip", "Weekend trip", "private", "bob", "carol")
	first := say("bob", "trip", "Morning! Shall we take the early train on Saturday?")
	must(people["alice"].Send(ctx, "trip", client.Draft{Body: "Yes please. 8:12 from the main station.", ReplyTo: first}))(t)
	stove := say("carol", "trip", "I can bring the map and the small stove.")
	must(people["bob"].Send(ctx, "trip", client.Draft{Kind: "reaction", Target: stove, Emoji: "❤️"}))(t)
	must(people["alice"].Send(ctx, "trip", client.Draft{Kind: "reaction", Target: stove, Emoji: "❤️"}))(t)
	tent := say("carol", "trip", "@alice do you still have the big tent? It may rain on Sunday evening: https://example.org/forecast", "alice")
	must(people["carol"].Read(ctx, "trip", tent))(t)
	must(people["alice"].Read(ctx, "trip", tent))(t)
}
