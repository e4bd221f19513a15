package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
)

// TestPageAudit shows an operator who did what, page by page and by user, group and action, also where there is nothing, or no server.
func TestPageAudit(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := node.Client("alice")
	root := operator(t, node)
	page := operatorPage(t, node, "olga", "admin")
	page.see(`document.querySelector(".admin-link[href='/admin/audit']")`)
	page.click(`a[href="/admin/audit"]`)
	page.see(`document.querySelector(".empty")?.textContent === "Nothing is written down yet."`)
	actions := ask[[]string](page, `[...document.querySelectorAll("select[name=action] option")].map((o) => o.value).filter(Boolean)`)
	_, _, err := root.Audit(ctx, client.AuditQuery{Action: "none"}, client.Page{}) // the server says which there are
	for _, action := range actions {
		if !strings.Contains(fmt.Sprint(err), action) {
			t.Errorf("%s is not one of the server's: %v", action, err)
		}
	}
	if got, want := len(actions), strings.Count(fmt.Sprint(err), "."); got != want {
		t.Errorf("%d actions can be chosen, the server has %d: %v", got, want, err)
	}

	for _, id := range []string{"team", "other"} {
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: id, Members: []string{"bob", "carl"}}))(t)
	}
	const bans = 101 // and a page has 100
	for i := range bans {
		must(alice.Ban(ctx, "other", fmt.Sprintf("troll-%d", i), client.BanDraft{}))(t)
	}
	until := time.Date(2040, 5, 6, 12, 0, 0, 0, time.UTC)
	must(alice.Ban(ctx, "team", "bob", client.BanDraft{Reason: "<b>sells</b> watches", Until: &until}))(t)
	must(alice.PutMember(ctx, "team", "carl", "admin"))(t)
	must(root.CreateKey(ctx, client.KeyDraft{Name: "bot", Scopes: []string{client.ScopeRead}}))(t)
	page.click(`[data-act=again] button`)
	const cells = `[...document.querySelectorAll("tbody tr")].map((r) => [...r.cells].slice(1).map((c) => c.innerText.replace(/until .* [AP]M/, "").replace(/\s+/g, " ").trim()).join(" | "))`
	page.see(`document.querySelectorAll("tbody tr").length === 100`)
	first := ask[[]string](page, cells)
	first[0], _, _ = strings.Cut(first[0], " key g")
	if want := []string{
		"op | Made a key key.create |  |", "alice | Changed a role member.role | carl group team | role admin",
		"alice | Banned member.ban | bob group team | reason <b>sells</b> watches",
	}; !slices.Equal(first[:3], want) {
		t.Errorf("got  %q\nwant %q", first[:3], want)
	}
	page.see(`document.querySelector("tbody time[datetime^='2040-05-06']")`)
	pictures := picturesDir(t)
	page.picture(pictures, "audit.png")
	page.scheme("dark")
	page.picture(pictures, "audit-dark.png")
	page.scheme("light")
	page.click("button.more")
	page.see(fmt.Sprintf(`document.querySelectorAll("tbody tr").length === %d && !document.querySelector("button.more")`, bans+3))

	page.fill("input[name=group]", "team")
	page.see(`document.querySelectorAll("tbody tr").length === 2`)
	page.fill("input[name=user]", "bob")
	page.see(`document.querySelectorAll("tbody tr").length === 1`)
	page.size(390, 844)
	page.fits()
	page.picture(pictures, "audit-phone.png")
	page.size(1280, 800)
	page.script(`((s) => { s.value = "member.mute"; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector("select[name=action]"))`)
	page.see(`document.querySelector(".empty")?.textContent === "Nothing of this kind is written down."`)
	page.refused(true)
	page.retype("input[name=user]", "no body")
	page.see(`document.querySelector("[role=alert]")?.textContent.startsWith("User: ")`)
	page.script(`localStorage.setItem("chatd.prefs", JSON.stringify({ language: "zh" }))`)
	page.do(chromedp.Navigate(node.URL() + "/admin/audit?user=carl"))
	page.see(`document.querySelector("tbody tr")?.cells[2].innerText.startsWith("更改角色") && document.querySelectorAll("tbody tr").length === 1 && document.querySelector("input[name=user]").value === "carl"`)
	page.see(`document.querySelector("h1").textContent === "审计"`)
	node.Terminate()
	page.click(`[data-act=again] button`)
	page.see(`document.querySelector("[role=alert]")?.textContent.includes("无法连接")`)
}
