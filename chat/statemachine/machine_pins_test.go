package statemachine_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// pin pins a message, or unpins one.
func (m *machine) pin(t *rapid.T, user, group string) {
	g := m.groups[group]
	if m.faults { // a store that is rolled back may forget pins
		return
	}
	if evenly(t, "another than the owner", 4) > 0 {
		user = g.owner()
	}
	id, e := m.target(t, group)
	unpin := evenly(t, "unpin", 8) == 0
	if !unpin && len(g.pinned) > 0 && oneOf(t, "unpin what is pinned", true, false) {
		unpin, id = true, oneOf(t, "unpinned", g.pinned...)
	}
	call, what, notice := m.pins.Pin, "pin", chat.NoticePinned
	if unpin {
		call, what, notice = m.pins.Unpin, "unpin", chat.NoticeUnpinned
	}
	err := call(m.ctx, caller(user), group, id)
	at := slices.Index(g.pinned, id)
	switch w := g.members[user]; {
	case w == nil:
		expect(t, what+" from outside", err, m.outsider(group))
	case !w.role.Manages():
		expect(t, what+" without rights", err, chat.CodeForbidden)
	case !unpin && (m.gone(group, id, e) || g.hides(user, id)):
		expect(t, "pin what is gone", err, chat.CodeNotFound)
	case !unpin && e.kind != chat.Text:
		expect(t, "pin what is no text", err, chat.CodeInvalid, chat.CodeNotFound) // one that lost its content is not found
	case unpin == (at < 0): // it is so already
		expect(t, what+" again", err, "")
		m.notices(t, user, group)
	default:
		expect(t, what, err, "")
		if unpin {
			g.pinned = slices.Delete(g.pinned, at, at+1)
		} else {
			g.pinned = append(g.pinned, id)
		}
		g.messages[m.notices(t, user, group, notice)].target = id
	}
}

// checkPins compares what the members see pinned with the model: whole messages, also where the log is trimmed.
func (m *machine) checkPins(t *rapid.T, group string) {
	g := m.groups[group]
	if m.faults {
		return
	}
	for user := range g.members {
		list, err := m.pins.List(m.ctx, caller(user), group, 0, "")
		m.must(t, err)
		var want, got []int64
		for _, id := range slices.Backward(g.pinned) {
			if !g.hides(user, id) {
				want = append(want, id)
			}
		}
		for _, p := range list.Items {
			id := p.Message.ID
			if got = append(got, id); !slices.Contains(want, id) {
				break
			}
			if err := g.messages[id].check(id, group, p.Message.JSON); err != nil {
				t.Fatalf("pinned in %s: %v", group, err)
			}
			if id <= g.cut {
				happened("pin of a trimmed message")
			}
		}
		if !slices.Equal(got, want) || list.Next != "" {
			t.Fatalf("%s sees %v pinned in %s, and then %q; want %v", user, got, group, list.Next, want)
		}
		if len(g.pinned) == 0 {
			return // nobody sees any, so one is asked
		}
	}
}

// hides tells whether a message is of the history that a member does not see.
func (g *modelGroup) hides(user string, id int64) bool {
	return !g.history && id < g.members[user].joined
}
