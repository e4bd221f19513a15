package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// retype replaces what a field holds. It sends keys to what has the focus: SendKeys reads attributes of the field, which chromedp
// may be writing where the page has just changed one.
func (p *person) retype(selector, text string) {
	p.t.Helper()
	p.see(fmt.Sprintf(`document.querySelector(%q)?.matches(":enabled")`, selector))
	p.script(`(document.querySelector(%[1]q).focus(), document.querySelector(%[1]q).select())`, selector)
	p.press(text)
}

// menu opens what can be done about a member, and chooses from it.
func (p *person) menu(user, choice string) {
	p.t.Helper()
	p.click(fmt.Sprintf(`.panel li[data-user=%q] button`, user))
	item := fmt.Sprintf(`[...document.querySelectorAll(".popover [role=menuitem]")].find((b) => b.textContent === %q)`, choice)
	p.see(item)
	p.script(`%s.click()`, item)
}

// sure answers the question that is asked.
func (p *person) sure() {
	p.t.Helper()
	p.click(`dialog form[name=confirm] button:first-of-type`)
	p.see(`!document.querySelector("dialog")`)
}

// TestPagePeople makes a group, invites by a link, changes roles and settings, removes, leaves and deletes.
func TestPagePeople(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	alice := newPerson(t, browser, node, "alice")

	// The second person comes by a link, which is copied without a permission.
	alice.click(".home-card .copy button")
	alice.see(shows(".home-card [role=status]", "Copied."))
	bob := openRefused(t, browser, ask[string](alice, `document.querySelector("input[name=link]").value`), "bob")
	bob.fill("input[name=name]", "bob")
	bob.enter()
	bob.isSignedIn("bob")
	bob.see(`location.hash === ""`) // the code does not stay in the address
	bob.refused(false)

	alice.click(`a[aria-label="Create group"]`)
	alice.fill("input[name=name]", "Weekend trip")
	alice.fill("input[name=members]", "bob, carol")
	alice.enter()
	alice.see(shows(".group-title h1", "Weekend trip"))
	group := ask[string](alice, `document.querySelector(".group-link[aria-current]").dataset.group`)
	bob.open(group)

	// A link, by which dave comes.
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(`document.querySelectorAll(".panel li[data-user]").length === 3`)
	alice.click(".invites summary")
	alice.click("button[name=invite-people]")
	alice.see(`document.querySelector("input[name=invite]")?.value.includes("invite=") && document.querySelectorAll("[data-list=invites] li").length === 1`)
	link := ask[string](alice, `document.querySelector("input[name=invite]").value`)
	alice.see(`document.querySelector("svg.qr path")?.getBBox().width > 20`)
	alice.picture(picturesDir(t), "invite-people.png")
	dave := openRefused(t, browser, link, "dave")
	dave.see(shows(".card .invited", "alice invites you to “Weekend trip” (3 members)."))
	dave.fill("input[name=name]", "dave")
	dave.enter()
	dave.see(shows("dialog .invited", "alice invites you to “Weekend trip” (3 members)."))
	dave.see(`location.hash === ""`)
	dave.click("dialog button[name=join]")
	dave.see(shows(".group-title h1", "Weekend trip"))
	dave.refused(false)
	alice.see(`document.querySelector(".panel li[data-user=dave]")`)
	alice.click(`[data-list=invites] button[aria-label="Revoke link"]`)
	alice.see(`!document.querySelector("[data-list=invites]")`)

	// Roles, each after a question; who is found by a search is removed.
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(`document.querySelectorAll(".panel li[data-user]").length === 4 && !document.querySelector("form[name=add-member]")`)
	alice.menu("bob", "Make admin")
	alice.see(shows("dialog h2", "Make bob an admin?"))
	alice.sure()
	bob.see(`document.querySelector("li[data-user=bob][data-role=admin]") && document.querySelector("form[name=add-member]")`)
	alice.fill("input[name=member-search]", "dav")
	alice.see(`document.querySelectorAll(".panel li[data-user]").length === 1`)
	dave.refused(true) // what it asks for as it is removed
	alice.menu("dave", "Remove")
	alice.sure()
	alice.see(`!document.querySelector(".panel li[data-user]")`)
	dave.see(shows(".nothing h1", "You’re not in this group"))

	// By name, with completion: the server says whom one may see.
	alice.retype("input[name=member-search]", " ")
	bob.fill("input[name=user]", "dave")
	bob.enter()
	bob.see(`document.querySelector(".panel li[data-user=dave]")`)
	alice.see(`document.querySelectorAll(".panel li[data-user]").length === 4`)

	// Two people have a group that nobody else comes into.
	bob.menu("alice", "Send a message")
	bob.see(shows(".group-title h1", "alice"))
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(`document.querySelector(".panel li[data-user=alice]") && !document.querySelector(".panel input[name=user], .panel .invites, [data-open=settings]")`)
	bob.open(group)

	// Back closes the panel, and only that.
	alice.script(`history.back()`)
	alice.see(`!document.querySelector(".panel") && document.querySelector(".group-title h1")`)

	// Settings, in sentences.
	alice.click(`.group-head button[aria-label="Group settings"]`)
	alice.retype("input[name=group-name]", "Long weekend")
	alice.click("input[name=post][value=admins]")
	alice.retype("input[name=keep]", "250")
	alice.retype("input[name=retain_days]", "30")
	alice.see(`document.querySelector("form[name=settings]").innerText.includes("Messages go 30 days after they were sent")`)
	alice.click("button[name=save]")
	bob.see(shows(".group-title h1", "Long weekend"))
	harness.Eventually(t, cliWait, "the settings are saved", func() error {
		if got := must(node.Client("alice").Group(t.Context(), group))(t); got.Post != "admins" || got.RetainDays != 30 || got.Keep != 250 || got.Name != "Long weekend" {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
	carol := newPerson(t, browser, node, "carol")
	carol.open(group)
	carol.click(".line.notice:last-child .text-button")
	carol.see(`document.querySelector(".line.notice:last-child").textContent.includes("only admins can post, at least 250 messages are kept, messages are removed after 30 days")`)
	carol.click(`.group-head button[aria-label="Group settings"]`)
	carol.see(`document.querySelector("form[name=settings] fieldset:disabled") && !document.querySelector("button[name=save], button[name=delete]")`)
	for _, p := range []*person{alice, bob, carol} {
		p.refused(true) // what is asked for as the group goes
	}
	carol.click("button[name=leave]")
	carol.sure()
	carol.see(`!document.querySelector(".group-link")`)

	alice.click("button[name=delete]")
	alice.see(`document.querySelector("dialog .button.danger").disabled`)
	alice.fill("dialog input[name=confirm]", "Long weekend")
	alice.sure()
	for _, p := range []*person{alice, bob} {
		p.see(fmt.Sprintf(`!document.querySelector(".group-link[data-group='%s']")`, group))
	}
}

// TestPageBrowse joins a group that anyone may enter.
func TestPageBrowse(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	must(node.Client("alice").CreateGroup(t.Context(), client.GroupDraft{ID: "square", Name: "Town square", Visibility: "public"}))(t)
	bob := newPerson(t, startBrowser(t), node, "bob")
	bob.click(`a[aria-label="Browse public groups"]`)
	bob.fill("input[name=group-search]", "town")
	bob.click(`button[aria-label="Join Town square"]`)
	bob.see(shows(".group-title h1", "Town square"))
}

// TestPageMembersOfALargeGroup draws what is in view, and finds who is far down.
func TestPageMembersOfALargeGroup(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	alice := node.Client("alice")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "all", Name: "All hands"}))(t)
	for from := 0; from < 1200; from += 600 {
		var add []client.Addition
		for i := from; i < from+600; i++ {
			add = append(add, client.Addition{User: fmt.Sprintf("member-%04d", i)})
		}
		must(alice.ChangeMembers(ctx, "all", client.MembersChange{Add: add}))(t)
	}
	p := newPerson(t, startBrowser(t), node, "alice")
	p.open("all")
	p.click(`.group-head button[aria-label="Members"]`)
	p.see(`document.querySelector(".panel li[data-user]")`)
	for range 3 { // each time the end of what is loaded is in view
		p.script(`document.querySelector(".panel-body").scrollTo(0, 1e6)`)
		p.frames(4)
	}
	p.see(`(document.querySelector(".panel-body").scrollTo(0, 1e6), document.querySelector(".panel li[data-user='member-1199']"))`)
	if n := ask[int](p, `document.querySelectorAll("*").length`); n > 2500 {
		t.Errorf("%d nodes", n)
	}
	p.script(`document.querySelector(".panel-body").scrollTo(0, 0)`)
	p.fill("input[name=member-search]", "member-0777")
	p.see(`document.querySelectorAll(".panel li[data-user]").length === 1 && document.querySelector(".panel li[data-user='member-0777']")`)
}

// largePicture is a file with more bytes than the server takes as a picture of a person.
func largePicture(t *testing.T) string {
	t.Helper()
	noise := image.NewRGBA(image.Rect(0, 0, 900, 900))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(i*i>>3 ^ i*7>>2)
	}
	var large bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&large, noise); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "large.png")
	if err := os.WriteFile(path, large.Bytes(), 0o600); err != nil || large.Len() < 2<<20 {
		t.Fatalf("%d bytes, %v", large.Len(), err)
	}
	return path
}

// TestPageMe changes what others see, how the page looks, and signs out.
func TestPageMe(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	browser := startBrowser(t)
	ctx := bounded(t, browserTimeout)
	must(node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"bob"}}))(t)
	must(node.Client("alice").Send(ctx, "team", client.Text("hello")))(t)
	alice, bob := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "bob")
	bob.open("team")
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(shows(".panel li[data-user=alice] .name", "alice"))
	alice.click(".rail .me")
	alice.retype("input[name=own-name]", "Alice Martin")
	alice.retype("input[name=status]", "On the train")
	alice.click("form[name=profile] .button.primary")
	alice.see(shows("form[name=profile] [role=status]", "Saved."))
	alice.chooseBy(".profile-face button", largePicture(t))
	alice.see(`document.querySelector(".profile-face img")?.naturalWidth === 256 && document.querySelector(".rail .me img")?.naturalWidth === 256`)
	me := must(node.Client("alice").Me(ctx))(t)
	if me.Name != "Alice Martin" || me.Status == nil || me.Status.Text != "On the train" || !strings.HasPrefix(me.Picture, "/avatars/") {
		t.Errorf("got %+v", me)
	}
	must(node.Client("alice").Send(ctx, "team", client.Text("here I am")))(t) // with it comes the version of the profile
	bob.see(shows(".panel li[data-user=alice] .name", "Alice Martin") + ` && document.querySelector(".panel li[data-user=alice] img")`)

	alice.click("input[name=theme][value=dark]")
	alice.see(`getComputedStyle(document.documentElement).colorScheme === "dark"`)
	alice.click("input[name=language][value=zh]")
	alice.see(`document.documentElement.lang === "zh" && document.querySelector(".pane-head h1")?.textContent === "我"`)
	alice.script(`document.querySelector("input[name=language][value=en]").click()`) // it moves as what is above it loads
	alice.see(shows(".pane-head h1", "You"))
	alice.size(390, 800)
	alice.fits()
	alice.size(1180, 760)
	alice.click("button[name=remove-picture]")
	alice.see(`!document.querySelector(".profile-face img") && !document.querySelector(".rail .me img")`)
	alice.see(`document.querySelectorAll("[data-list=sessions] li").length > 0`)
	alice.script(`HTMLAnchorElement.prototype.click = function () { window.saved = this.download; }`)
	alice.click("button[name=export]")
	alice.see(`window.saved === "chatd-alice.ndjson"`)

	alice.click("button[name=sign-out]")
	alice.see(`document.querySelector("input[name=name]")`)
	if left := ask[string](alice, `(async () => JSON.stringify([await indexedDB.databases(), { ...localStorage }, { ...sessionStorage }]))()`); strings.Contains(left, "team") || strings.Contains(left, `signin`) {
		t.Errorf("left behind: %s", left)
	}

	bob.click(".rail .me")
	bob.click("button[name=erase]")
	bob.fill("dialog input[name=confirm]", "bob")
	bob.refused(true)
	bob.click("dialog .button.danger")
	bob.see(`document.querySelector("input[name=name]")`)
	harness.Eventually(t, cliWait, "bob is erased", func() error {
		if got := must(node.Client("alice").Group(ctx, "team"))(t); got.Members != 1 {
			return fmt.Errorf("got %+v", got)
		}
		return nil
	})
}

// TestPageDevices has somebody look at their devices, end those that are elsewhere, change the password, and be disabled for a while.
func TestPageDevices(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := accountsNode(t)
	must(struct{}{}, must(client.New(node.URL(), client.NoToken))(t).Register(ctx, client.AccountDraft{User: "alice", Password: rightWord}))(t)
	elsewhere := func(password string) (*client.Login, error) {
		return client.SignIn(ctx, node.URL(), client.Credentials{User: "alice", Password: password})
	}
	ended := func(login *client.Login) {
		t.Helper()
		harness.Eventually(t, cliWait, "the login elsewhere has ended", func() error {
			token, err := login.Token(ctx)
			if err == nil {
				_, err = must(client.New(node.URL(), client.StaticToken(token)))(t).Me(ctx)
			}
			if client.CodeOf(err) != client.CodeUnauthenticated {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	first := must(elsewhere(rightWord))(t)
	alice := openRefused(t, startBrowser(t), node.URL()+"/", "alice") // there is no cookie yet
	alice.see(`document.querySelector("input[name=password]")`)
	alice.signs("alice", rightWord)
	alice.isSignedIn("alice")
	alice.click(".rail .me")
	alice.see(`document.querySelectorAll("[data-list=logins] li").length === 2 && document.querySelectorAll("[data-list=sessions] li").length === 1`)
	alice.see(`document.querySelector("[data-list=sessions] li").textContent.startsWith("Chrome on ")`)
	alice.size(390, 844)
	alice.fits()
	alice.size(1180, 760)
	alice.click("button[name=end-others]")
	alice.see(`document.querySelectorAll("[data-list=logins] li").length === 1 && !document.querySelector("button[name=end-others]")`)
	ended(first)

	second := must(elsewhere(rightWord))(t)
	change := func(old string) {
		t.Helper()
		alice.retype("input[name=old]", old)
		alice.retype("input[name=new]", "another password")
		alice.click("form[name=password] .button")
	}
	change("wrong word")
	alice.see(shows("form[name=password] .problem", "That isn’t your present password."))
	change(rightWord)
	alice.see(shows("form[name=password] [role=status]", "Password changed. Your other devices are signed out."))
	ended(second)
	if _, err := elsewhere(rightWord); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("with the old password: %v", err)
	}
	must(elsewhere("another password"))(t)

	disable := func(off bool) {
		t.Helper()
		operator := must(client.New(node.URL(), client.StaticToken(harness.Token("operator", "admin", time.Hour))))(t)
		must(operator.PutUsers(ctx, []client.UserChange{{User: "alice", Disabled: &off}}))(t)
	}
	const disabled = "Your account is disabled. Ask whoever runs this server."
	disable(true)
	alice.see(shows(".card .hint", disabled))
	alice.do(chromedp.Reload())
	alice.see(shows(".card .hint", disabled))
	disable(false)
	alice.do(chromedp.Reload())
	alice.isSignedIn("alice")
}
