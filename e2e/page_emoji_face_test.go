package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/jstest"
)

// What asks for the page's own face of emoji, and what must not.
const (
	emojiText = "done 🎉 👩🏽‍🚀 🇨🇿 1️⃣"
	plainText = "naïve 123 # * © ™ → “x” … 中文。 نعم می\u200cخواهم"
)

// TestPageEmojiFace is read where the system has no emoji, and where it has. Only the first loads half a megabyte.
func TestPageEmojiFace(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	bob := node.Client("bob")
	must(bob.CreateGroup(t.Context(), client.GroupDraft{ID: "plain", Members: []string{"ada", "bob"}}))(t)
	must(bob.CreateGroup(t.Context(), client.GroupDraft{ID: "party", Members: []string{"ada", "bob"}}))(t)
	must(bob.Send(t.Context(), "plain", client.Draft{Body: plainText}))(t)

	faces := t.TempDir()
	config := filepath.Join(faces, "fonts.conf")
	text := `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>` +
		`<dir>/usr/share/fonts/truetype/dejavu</dir><dir>/usr/share/fonts/truetype/wqy</dir><cachedir>` + faces + `</cachedir></fontconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserTimeout)
	t.Cleanup(cancel)
	bare, stop, err := jstest.Chromium(ctx, "FONTCONFIG_FILE="+config)
	t.Cleanup(stop)
	if err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	const asked = `performance.getEntriesByType("resource").some((e) => e.name.endsWith("/noto-emoji.woff2"))`
	shows := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".message")].some((m) => m.textContent.includes(%q))`, text)
	}
	for _, with := range []struct {
		system  string
		browser context.Context
		loads   bool
	}{{"no emoji", bare, true}, {"emoji", startBrowser(t), false}} {
		ada := newPerson(t, with.browser, node, "ada")
		ada.click("[data-group=plain]")
		ada.see(shows(plainText))
		if ask[bool](ada, `document.fonts.ready.then(() => `+asked+`)`) && with.loads {
			t.Errorf("with %s, a text without emoji loads them", with.system)
		}
		must(bob.Send(t.Context(), "party", client.Draft{Body: emojiText}))(t)
		ada.click("[data-group=party]")
		ada.see(shows("done 🎉"))
		if with.loads {
			ada.see(asked)
			ada.see(`[...document.fonts].some((f) => f.family.includes("Emoji fallback") && f.status === "loaded")`)
		} else if ask[bool](ada, asked) {
			t.Error("a system with emoji loads those of the page")
		}
		ada.picture(picturesDir(t), "emoji-with-"+with.system[:2]+".png")
	}
}
