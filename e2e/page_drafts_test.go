package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestPageDraftsOnAllDevices writes on one device and goes on on others: at the same time, later, and after a time without a network.
func TestPageDraftsOnAllDevices(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	for _, group := range []string{"team", "plans"} {
		must(node.Client("bob").CreateGroup(ctx, client.GroupDraft{ID: group, Name: group, Members: []string{"alice"}}))(t)
	}
	browser := startBrowser(t)
	laptop, phone := newPerson(t, browser, node, "alice"), newPerson(t, browser, node, "alice")
	has := func(p *person, text string) {
		t.Helper()
		p.see(fmt.Sprintf(`%s?.value === %q`, field, text))
	}
	alice := node.Client("alice")
	kept := func(text string) {
		t.Helper()
		harness.Eventually(t, time.Minute, "the server has "+text, func() error {
			d, err := alice.GetDraft(ctx, "team")
			var problem *client.Error
			if text == "" && errors.As(err, &problem) && problem.Code == client.CodeNotFound {
				return nil
			}
			if err == nil && d.Body != text {
				err = fmt.Errorf("got %q", d.Body)
			}
			return err
		})
	}
	laptop.open("team")
	phone.open("team")
	laptop.fill(".write textarea", "Shall we")
	has(phone, "Shall we")
	phone.fill(".write textarea", " meet")
	has(laptop, "Shall we meet")

	// In a group that is not open it waits there.
	laptop.open("plans")
	phone.fill(".write textarea", " at noon?")
	kept("Shall we meet at noon?")
	laptop.open("team")
	has(laptop, "Shall we meet at noon?")
	laptop.click(".write textarea")
	laptop.enter()
	laptop.stands("Shall we meet at noon?")
	has(phone, "")
	kept("")

	// A device that comes later has it, and what was sent does not come back.
	laptop.fill(".write textarea", "for later")
	kept("for later")
	later := newPerson(t, browser, node, "alice")
	later.open("team")
	has(later, "for later")
	later.click(".write textarea")
	later.enter()
	later.stands("for later")
	kept("")
	has(laptop, "")
	later.do(chromedp.Reload())
	later.live()
	later.stands("for later")
	has(later, "")

	// An answer goes on as one, and stops being one, on the other device.
	answers := func(p *person, yes bool) {
		t.Helper()
		p.see(fmt.Sprintf(`(document.querySelector(".about")?.textContent.includes("Shall we meet at noon?") ?? false) === %t`, yes))
	}
	laptop.tool(laptop.stands("Shall we meet at noon?"), "Reply")
	laptop.fill(".write textarea", "or at one?")
	has(phone, "or at one?")
	answers(phone, true)
	phone.retype(".write textarea", "no")
	has(laptop, "no")
	answers(laptop, true)
	phone.click(".about button")
	answers(laptop, false)
	phone.retype(".write textarea", kb.Backspace)
	has(laptop, "")
	kept("")

	// Another tab of the same browser shows it as well.
	window, cancel := chromedp.NewContext(phone.ctx)
	t.Cleanup(cancel)
	second := &person{t: t, ctx: window, name: "alice's other tab"}
	if err := chromedp.Do(window, chromedp.Navigate(node.URL())); err != nil { // ends with its context, which what do makes would not
		t.Fatal(err)
	}
	second.live()
	second.open("team")
	phone.fill(".write textarea", "in two tabs")
	has(second, "in two tabs")
	has(laptop, "in two tabs")
	second.retype(".write textarea", kb.Backspace)
	has(phone, "")
	kept("")

	// Without a network, what is written here stays, and goes when it is back; what ended elsewhere meanwhile ends here.
	phone.refused(true)
	phone.online(false)
	phone.fill(".write textarea", "from the train")
	laptop.fill(".write textarea", "x")
	kept("x")
	laptop.retype(".write textarea", kb.Backspace)
	kept("")
	phone.online(true)
	has(laptop, "from the train")
	phone.online(false)
	laptop.retype(".write textarea", kb.Backspace)
	kept("")
	phone.online(true)
	has(phone, "")
}
