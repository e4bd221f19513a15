package statemachine_test

import (
	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
)

// block is a user who blocks another one.
type block struct{ user, other string }

// block has a user block another, or no longer, who then writes to them. A store that is rolled back forgets blocks, so there are
// none then.
func (m *machine) block(t *rapid.T, user, _ string) {
	if m.faults {
		return
	}
	other := oneOf(t, "whom", machineUsers...)
	on := oneOf(t, "block", true, false)
	if user == other {
		_, _, err := m.blocks.Put(m.ctx, caller(user), other)
		expect(t, "block oneself", err, chat.CodeInvalid)
		return
	}
	was := m.blocked[block{user, other}]
	if on {
		_, created, err := m.blocks.Put(m.ctx, caller(user), other)
		expect(t, "block", err, "")
		if created == was {
			t.Fatalf("%s blocked %s: %v, and is said to block them anew: %v", user, other, was, created)
		}
	} else {
		expect(t, "unblock", m.blocks.Drop(m.ctx, caller(user), other), "")
	}
	m.blocked[block{user, other}] = on
	_, err := m.blocks.Get(m.ctx, caller(user), other)
	m.heard(t, "the block", err, !on, chat.CodeNotFound)

	body := "hello"
	verdict := m.hook.draw(t)
	_, _, err = m.service.SendDirect(m.ctx, caller(other), user, chat.Direct{Body: &body})
	m.hook.done(t, err)
	held := modelReview{to: user, from: other, kind: chat.Text, body: body}
	if on || !m.kept(t, verdict, "a direct message", held, err, &modelSend{}) {
		m.heard(t, "a direct message", err, on, chat.CodeBlocked)
	}
}

// heard checks that something is refused with a code, or not at all.
func (m *machine) heard(t *rapid.T, what string, err error, refused bool, code chat.Code) {
	if !refused {
		code = ""
	}
	expect(t, what, err, code)
}
