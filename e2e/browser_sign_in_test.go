package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestBrowserSignsInByToken uses a server without the development sign-in.
func TestBrowserSignsInByToken(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "off"}})
	page := openPage(t, startBrowser(t), node, "alice")
	page.refused(true)
	page.fill("input[name=name]", "alice")
	page.enter()
	page.see(`document.querySelector(".problem")?.textContent.startsWith("This server doesn’t offer sign-in by name")`)

	token := func(text string) {
		ask[string](page, `document.querySelector("textarea[name=token]").value = ""`)
		page.fill("textarea[name=token]", text)
		page.click(".card button.primary")
	}
	token("no token")
	page.see(`document.querySelector(".problem")?.textContent.startsWith("This isn’t a valid token")`)
	token(harness.Token("alice", "", -time.Hour))
	page.see(`document.querySelector(".problem") && !document.querySelector(".problem").textContent.startsWith("This isn’t a valid token")`)
	token(harness.Token("alice", "", time.Hour))
	page.see(shows(".me-name", "alice"))
	page.live()
	page.refused(false)
	page.do(chromedp.Reload())
	page.live()
	page.click(`button[aria-label="Sign out"]`)
	page.see(`document.querySelector("input[name=name]")`)
	page.do(chromedp.Reload())
	page.see(`document.querySelector("input[name=name]")`)

	// A number that scripts would round names its user all the same.
	const number = "9007199254740993"
	page.refused(true)
	page.fill("input[name=name]", "alice")
	page.enter()
	page.see(`document.querySelector("textarea[name=token]")`)
	token(harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{"sub": json.Number(number), "exp": time.Now().Add(time.Hour).Unix()}, harness.Secret))
	page.see(shows(".me-name", number))
	page.refused(false)
}

// TestBrowserSignsInByTheLinkOfAPerson: the link with a name signs that person in, whoever was signed in before, as often as it is opened.
func TestBrowserSignsInByTheLinkOfAPerson(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"/", "/next/"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			ctx, node := bounded(t, browserTimeout), devNode(t)
			link := func(user string) string {
				return strings.Replace(node.SignInURL(), "/#", page+"#", 1) + "&user=" + user
			}
			here := func(user string) {
				t.Helper()
				harness.Eventually(t, waitTimeout, "only "+user+" is here", func() error {
					for _, one := range []string{"alice", "bob"} {
						sessions, err := node.Client(one).Sessions(ctx, "me")
						if err != nil {
							return err
						}
						if (len(sessions) > 0) != (one == user) {
							return fmt.Errorf("%s has %d sessions", one, len(sessions))
						}
					}
					return nil
				})
			}
			p := openAt(t, startBrowser(t), link("alice"), "alice")
			here("alice")
			for _, user := range []string{"bob", "alice", "alice"} {
				p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link(user)))
				here(user)
			}
			ask[bool](p, fmt.Sprintf(`(location.hash = new URL(%q).hash, true)`, link("bob"))) // pasted into the open page
			here("bob")
			p.see(`location.hash === ""`)
		})
	}
}

// signInOf is what the browser has under the key of the sign-in.
func signInOf(user, token string) string {
	return fmt.Sprintf(`{"user":%q,"token":%q,"expires_at":"","dev":false}`, user, token)
}

// script runs statements that give no value.
func (p *person) script(format string, args ...any) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf("("+format+", true)", args...))
}

// anotherTab does what a browser does when another tab signs in, or signs out ("").
func (p *person) anotherTab(signIn string) {
	p.t.Helper()
	if signIn == "" {
		p.script(`localStorage.removeItem("chatd.signin")`)
	} else {
		p.script(`localStorage.setItem("chatd.signin", %q)`, signIn)
	}
	p.script(`dispatchEvent(new StorageEvent("storage", { key: "chatd.signin" }))`)
}

// TestBrowserStaysSignedIn comes back without anything that belongs to a tab, as a new tab would; hears of a sign-out
// in another tab; and comes back with a token that has expired.
func TestBrowserStaysSignedIn(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	page := newPerson(t, startBrowser(t), node, "alice")
	page.script(`sessionStorage.clear()`)
	page.do(chromedp.Reload())
	page.see(shows(".me-name", "alice"))
	page.live()

	page.anotherTab("")
	page.see(shows(".hint", "You signed out in another tab."))
	page.do(chromedp.Reload())
	page.see(`document.querySelector("input[name=name]") && !document.querySelector(".hint")`)

	page.refused(true)
	page.script(`localStorage.setItem("chatd.signin", %q)`, signInOf("alice", harness.Token("alice", "", -time.Hour)))
	page.do(chromedp.Reload())
	page.see(shows(".hint", "Your sign-in has expired. Please sign in again."))
	if got := ask[string](page, `localStorage.getItem("chatd.signin") ?? "nothing"`); got != "nothing" {
		t.Errorf("the page keeps %s", got)
	}
}

// TestBrowserKeepsUsersApart leaves an unsent message and a draft behind, once by signing out and once because another
// tab signs in: the next user neither sees nor sends them.
func TestBrowserKeepsUsersApart(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	must(node.Client("carol").CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice", "bob"}}))(t)
	page := newPerson(t, startBrowser(t), node, "alice")
	page.refused(true)
	leaveBehind := func(who string) {
		page.open("team")
		page.say("hello from " + who)
		page.stands("hello from " + who)
		node.Kill()
		page.see(`document.querySelector(".link-state").dataset.phase !== "live"`)
		page.say("left behind by " + who)
		page.see(`document.querySelectorAll(".message.is-waiting").length === 1 && JSON.stringify(sessionStorage).includes("left behind")`)
		page.fill(".write textarea", "draft of "+who)
	}
	nothingLeft := `!/left behind|draft|team/.test(JSON.stringify(sessionStorage) + document.body.innerText + location.href)`

	leaveBehind("alice")
	page.click(`button[aria-label="Sign out"]`)
	page.see(`document.querySelector("input[name=name]") && ` + nothingLeft)
	node.Start()
	page.click(".card .text-button")
	page.fill("textarea[name=token]", harness.Token("bob", "", time.Hour))
	page.click(".card button.primary")
	page.see(shows(".me-name", "bob"))
	page.live()

	leaveBehind("bob")
	page.anotherTab(signInOf("alice", harness.Token("alice", "", time.Hour)))
	page.see(shows(".me-name", "alice") + " && " + nothingLeft)
	node.Start()
	page.live()
	page.open("team")
	page.see(`document.querySelector(".write textarea").value === ""`)
	page.say("bye")
	page.stands("bye")

	want := "hello from alice|hello from bob|bye"
	page.see(fmt.Sprintf(`[...document.querySelectorAll(".message .body")].map((b) => b.textContent).join("|") === %q`, want))
	var bodies []string
	for _, m := range must(node.Client("carol").Messages(ctx, "team", client.Range{After: client.At(0)}))(t).Messages {
		if m.Kind == "text" {
			bodies = append(bodies, m.Body)
		}
	}
	if got := strings.Join(bodies, "|"); got != want {
		t.Errorf("the server has %q, want %q", got, want)
	}
}

// TestBrowserDropsAnswersOfTheLastUser holds back an answer until another user is signed in.
func TestBrowserDropsAnswersOfTheLastUser(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team"}))(t)
	must(bob.SendDirect(ctx, "alice", client.Direct{Body: "for alice alone"}))(t)
	page := newPerson(t, startBrowser(t), node, "alice")
	page.see(`document.querySelector(".inbox-button .badge")`)
	page.script(`(() => {
		const load = fetch;
		fetch = async (url, options) => {
			const answer = await load(url, options);
			if (url === "/v1/inbox" && !window.release) await new Promise((done) => { window.release = done; });
			return answer;
		};
	})()`)
	page.refused(true)
	node.Kill()
	page.see(`document.querySelector(".link-state").dataset.phase !== "live"`)
	node.Start()
	page.see(`window.release`)

	page.anotherTab(signInOf("bob", harness.Token("bob", "", time.Hour)))
	page.see(shows(".me-name", "bob"))
	page.live()
	page.open("team")
	page.script(`new MutationObserver(() => { window.leaked ||= document.querySelector(".inbox-button .badge") !== null; })
		.observe(document.body, { subtree: true, childList: true, characterData: true })`)
	page.script(`window.release()`)
	page.say("hello")
	page.stands("hello")
	if ask[bool](page, `window.leaked`) {
		t.Error("bob saw what is in alice's inbox")
	}
}

// TestBrowserFollowsAnotherDevice reads on one device of a person, and looks at the other.
func TestBrowserFollowsAnotherDevice(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: "team", Name: "Team", Members: []string{"alice"}}))(t)
	browser := startBrowser(t)
	desk, phone := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "alice")
	phone.size(360, 720)
	must(bob.Send(ctx, "team", client.Text("are you there?")))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`document.querySelector(".badge[data-unread='1']")`)
	}
	phone.open("team")
	phone.stands("are you there?")
	desk.see(`!document.querySelector(".badge[data-unread]") && document.title === "chatd"`)
	phone.say("on my way")
	desk.open("team")
	desk.stands("on my way")
	desk.see(`document.querySelector(".message.mine .body").textContent === "on my way"`)
	must(bob.Read(ctx, "team", 4))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`document.querySelector(".message.mine .readers")?.dataset.readers === "bob"`)
	}

	for _, p := range []*person{desk, phone} {
		p.refused(true) // a page that still loads older messages is refused them
	}
	must(struct{}{}, bob.RemoveMember(ctx, "team", "alice"))(t)
	for _, p := range []*person{desk, phone} {
		p.see(`!document.querySelector(".group-link") && document.querySelector(".toast")?.textContent === "You’re no longer a member of Team."`)
	}
}
