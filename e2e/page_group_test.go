package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// unreadGroup makes a group with alice in it, where bob has written so many messages.
func unreadGroup(ctx context.Context, t *testing.T, node *harness.Node, id string, messages int) {
	t.Helper()
	bob := node.Client("bob")
	must(bob.CreateGroup(ctx, client.GroupDraft{ID: id, Name: id, Members: []string{"alice"}, Keep: new(int64(1000))}))(t)
	for i := range messages {
		must(bob.Send(ctx, id, client.Text(fmt.Sprintf("%s %d", id, i+1))))(t)
	}
}

// serverCounts waits until the server counts so many messages of a group as unread by alice: what the page has read
// reaches it a moment later.
func serverCounts(ctx context.Context, t *testing.T, node *harness.Node, group string, want int64) {
	t.Helper()
	alice := node.Client("alice")
	harness.Eventually(t, waitTimeout, "the server's count of unread messages", func() error {
		for _, g := range must(alice.Groups(ctx, client.Page{}))(t).Groups {
			if g.ID == group && g.Unread == want {
				return nil
			} else if g.ID == group {
				return fmt.Errorf("%d in %s, want %d", g.Unread, group, want)
			}
		}
		return fmt.Errorf("alice is not in %s", group)
	})
}

// unread is how many messages the page counts in a group.
func unread(group string) string {
	return fmt.Sprintf(`Number(document.querySelector(".group-link[data-group='%s'] .badge[data-unread]")?.dataset.unread ?? 0)`, group)
}

// lastShown is the number of the last message that is wholly on screen.
const lastShown = `Number([...document.querySelectorAll(".message")].findLast((m) =>
	m.getBoundingClientRect().bottom <= document.querySelector(".scroller").getBoundingClientRect().bottom + 4)?.querySelector(".body").textContent.split(" ")[1] ?? 0)`

// scrollUntil scrolls by so many pixels again and again until a condition holds.
func (p *person) scrollUntil(condition string, pixels int) {
	p.t.Helper()
	p.see(fmt.Sprintf(`(%s) || (document.querySelector(".scroller").scrollTop += %d, false)`, condition, pixels))
}

// everything is the expression that what stands in the list stands there once and in order. It notes all of it by its id: the page
// lets go of what is far away.
const everything = `((all) => {
	for (const m of all) (window.noted ??= new Map()).set(Number(m.dataset.id), m.querySelector(".body")?.textContent ?? "deleted");
	return all.every((m, i) => i === 0 || Number(all[i - 1].dataset.id) < Number(m.dataset.id));
})([...document.querySelectorAll(".message[data-id], .line.deleted")])`

// noted is what everything has noted, in order.
const noted = `[...window.noted].sort(([a], [b]) => a - b).map(([, text]) => text + "\n").join("")`

// groupOf gives the id of the group that the person has open.
func groupOf(p *person) string {
	return ask[string](p, `document.querySelector(".group-link[aria-current]").dataset.group`)
}

// makeGroup makes a group by the form and leaves it open.
func makeGroup(p *person, name, members, visibility string) string {
	p.t.Helper()
	p.click(`a[aria-label="Create group"]`)
	p.fill("input[name=name]", name)
	if members != "" {
		p.fill("input[name=members]", members)
	}
	p.click(fmt.Sprintf("input[value=%q]", visibility))
	p.click("form[name=new-group] button.primary")
	p.see(shows(".group-title h1", name))
	return groupOf(p)
}

// seed makes a group with alice in it that keeps so many messages, and fills it. The owner's cursor follows what the
// owner sends; alice reads all but what is kept, so that the rest can be trimmed.
func seed(ctx context.Context, t *testing.T, owner *client.Client, name string, keep int64, messages int) string {
	t.Helper()
	group := must(owner.CreateGroup(ctx, client.GroupDraft{ID: name, Name: name, Keep: &keep}))(t)
	var last int64
	for i := range messages {
		last = must(owner.Send(ctx, group.ID, client.Draft{Body: fmt.Sprintf("%s %d", name, i+1)}))(t).ID
	}
	must(owner.Ack(ctx, group.ID, last))(t)
	must(owner.PutMember(ctx, group.ID, "alice", ""))(t)
	return group.ID
}
