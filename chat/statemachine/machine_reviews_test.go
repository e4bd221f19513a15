package statemachine_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/reviews"
)

// senderReviewsMax is how many messages of a sender wait for a moderator at most.
const senderReviewsMax = 3

// verdict is what a hook says of a message; empty: there is no hook.
type verdict string

const (
	allows   verdict = "allow"
	rewrites verdict = "rewrite"
	refuses  verdict = "refuse"
	holds    verdict = "hold"
)

// text is what is stored of a body.
func (v verdict) text(body string) string {
	if v == rewrites {
		happened("rewrite a text")
		return body + " (checked)"
	}
	return body
}

// machineHook decides about messages before they are stored, about each as the machine has drawn.
type machineHook struct {
	verdict verdict
	next    verdict // instead of the next that is drawn
	asked   int
}

var _ chat.Before = (*machineHook)(nil)

// Asks implements chat.Before.
func (h *machineHook) Asks(string) bool { return h.verdict != "" }

// Ask implements chat.Before.
func (h *machineHook) Ask(_ context.Context, q chat.Question) (chat.Content, error) {
	h.asked++
	c := q.Content
	switch h.verdict {
	case rewrites:
		body := h.verdict.text(*c.Body)
		c.Body = &body
	case refuses:
		return c, chat.Refusal("not here")
	case holds:
		return c, &chat.InReview{Reason: "look at it"}
	}
	return c, nil
}

// draw draws what the hook says of the next message.
func (h *machineHook) draw(t *rapid.T) verdict {
	if h == nil {
		return ""
	}
	h.asked = 0
	h.verdict = oneOf(t, "verdict", "", "", "", "", "", allows, rewrites, refuses, holds, holds)
	if h.next != "" {
		h.verdict, h.next = h.next, ""
	}
	return h.verdict
}

// done ends the time of a verdict: only about a message that would have been stored was the hook asked, and about that once.
func (h *machineHook) done(t *rapid.T, err error) {
	if h == nil {
		return
	}
	_, held := chat.IsInReview(err)
	want := 0
	if h.verdict != "" && (err == nil || held || slices.Contains([]chat.Code{chat.CodeRefused, chat.CodeQuotaFull}, chat.CodeOf(err))) {
		want = 1
	}
	if h.asked != want {
		t.Fatalf("a hook that would say %q was asked %d times, want %d: the answer was %v", h.verdict, h.asked, want, err)
	}
	h.verdict = ""
}

// silent ends the time of a verdict that nobody has asked for.
func (h *machineHook) silent(t *rapid.T) {
	if h == nil {
		return
	}
	if h.asked > 0 {
		t.Fatalf("a hook was asked again about what it had decided")
	}
	h.verdict = ""
}

// modelReview is a message that waits for a moderator.
type modelReview struct {
	id       string
	group    string // or
	to       string // whose inbox it is for
	from     string
	kind     chat.Kind
	body     string
	target   int64
	mentions []string
	thread   int64
	expireS  int64
}

// over tells whether a review has waited for too long.
func (m *machine) over(r modelReview) bool {
	parsed, _ := chat.ParseReviewID(r.id)
	return m.service.Options().Now() >= parsed.At.Add(chat.ReviewKept).UnixMilli()
}

// inReview is the review that an answer names.
func inReview(t *rapid.T, what string, err error) string {
	r, ok := chat.IsInReview(err)
	if !ok || r.ID == "" {
		t.Fatalf("%s: got %v, want a review", what, err)
	}
	happened(what)
	return r.ID
}

// kept tells whether a verdict keeps a message from being stored, and takes it into the model if it waits.
func (m *machine) kept(t *rapid.T, v verdict, what string, r modelReview, err error, first *modelSend) bool {
	switch v {
	case refuses:
		expect(t, "refuse "+what, err, chat.CodeRefused)
		return true
	case holds:
		waiting := &m.directs
		if r.group != "" {
			waiting = &m.groups[r.group].reviews
		}
		theirs := 0
		for _, other := range *waiting {
			if other.from == r.from && other.to == r.to {
				theirs++
			}
		}
		if theirs >= senderReviewsMax {
			expect(t, "hold too much", err, chat.CodeQuotaFull)
			return true
		}
		r.id = inReview(t, "hold "+what, err)
		first.review = r.id
		*waiting = append(*waiting, r)
		return true
	}
	return false
}

// moderationActions are those of moderators. A store that is rolled back forgets what waits and what is reported, so there is none then.
func (m *machine) moderationActions() []action {
	if m.faults {
		return nil
	}
	return []action{{5, "decide", m.decide}, {7, "report", m.report}, {8, "close", m.closeReport}, {1, "queues", m.queues}}
}

// decide has somebody release or drop what waits, of a group or for an inbox.
func (m *machine) decide(t *rapid.T, user, group string) {
	g := m.groups[group]
	if evenly(t, "whose time is over", 4) == 0 {
		m.endReviews(t, group)
	}
	if len(m.directs) > 0 && (len(g.reviews) == 0 || evenly(t, "a direct one", 4) == 0) {
		m.decideDirect(t, user)
		return
	}
	if len(g.reviews) == 0 && evenly(t, "nothing waits", 6) > 0 {
		m.hook.next = holds
		oneOf(t, "what", m.send, m.edit, m.edit, m.edit, m.block)(t, user, group)
		m.hook.next = ""
	}
	if len(g.reviews) == 0 {
		_, err := m.reviews.Decide(m.ctx, root, chat.NewReviewID(chat.Review{Group: group, From: user}), reviews.Release, "")
		expect(t, "decide about nothing", err, chat.CodeNotFound)
		return
	}
	at := evenly(t, "review", len(g.reviews))
	r := g.reviews[at]
	if evenly(t, "muted before", 4) == 0 {
		_, err := m.rules.Mute(m.ctx, root, group, r.from, json.RawMessage(`"9999-12-31T00:00:00.000Z"`))
		m.mutedBy(t, root, group, r.from, true, err, chat.CodeNotFound)
	}
	by := oneOf(t, "moderator", caller(g.owner()), caller(g.owner()), root, caller(user))
	action := oneOf(t, "action", reviews.Release, reviews.Release, reviews.Release, reviews.Drop)
	got, err := m.reviews.Decide(m.ctx, by, r.id, action, "because")
	w := g.members[by.User]
	switch {
	case m.over(r):
		expect(t, "decide too late", err, chat.CodeNotFound)
		return
	case !by.Admin && (w == nil || !w.role.Manages()):
		expect(t, "decide without rights", err, m.outsider(group), chat.CodeForbidden)
		return
	case action == reviews.Drop:
		expect(t, "drop what is held", err, "")
	case m.unreleasable(r):
		expect(t, "release against the rights of now", err, chat.CodeConflict)
		return
	default:
		m.released(t, r, got, err)
	}
	g.reviews = slices.Delete(g.reviews, at, at+1)
	_, err = m.reviews.Decide(m.ctx, root, r.id, reviews.Release, "")
	expect(t, "decide twice", err, chat.CodeNotFound)
}

// unreleasable tells whether the sender of a message could not store it now. Slow mode is not looked at.
func (m *machine) unreleasable(r modelReview) bool {
	g := m.groups[r.group]
	if g.members[r.from] == nil || g.forbids(r.from, chat.Edit) != "" {
		return true
	}
	if r.kind == chat.Text {
		return g.full(r.from) || r.thread != 0 && (!g.isRoot(r.thread) || g.hides(r.from, r.thread))
	}
	return m.gone(r.group, r.target, g.messages[r.target]) || g.hides(r.from, r.target) || !g.wroteIt(r.from, r.target)
}

// released takes a message that was released into the model.
func (m *machine) released(t *rapid.T, r modelReview, got reviews.Decided, err error) {
	g := m.groups[r.group]
	var id int64
	if r.kind == chat.Text {
		expect(t, "release a text", err, "")
		id = g.append(r.from, &modelMessage{from: r.from, kind: chat.Text, body: r.body, mentions: g.mentioned(r.mentions), thread: r.thread})
		if r.thread != 0 {
			g.replied(id, r.mentions)
			happened("release a reply")
		}
		m.ends(t, r.group, id, r.expireS)
	} else {
		e := g.messages[r.target]
		m.changed(t, "release an edit", g, r.target, err)
		e.edited, e.body = true, r.body
		id = g.append(r.from, &modelMessage{from: r.from, kind: chat.Edit, body: r.body, target: r.target})
		e.edits = append(e.edits, id)
	}
	if got.MessageID != id || got.State != reviews.Released {
		t.Fatalf("release: got %+v, want the message %d", got, id)
	}
}

// decideDirect has somebody decide about a direct message.
func (m *machine) decideDirect(t *rapid.T, user string) {
	at := evenly(t, "review", len(m.directs))
	r := m.directs[at]
	by := oneOf(t, "moderator", root, root, caller(user))
	action := oneOf(t, "action", reviews.Release, reviews.Release, reviews.Drop)
	_, err := m.reviews.Decide(m.ctx, by, r.id, action, "")
	switch {
	case m.over(r):
		expect(t, "decide too late", err, chat.CodeNotFound)
		return
	case !by.Admin:
		expect(t, "decide about a direct message without rights", err, chat.CodeNotFound)
		return
	case action == reviews.Release && m.blocked[block{r.to, r.from}]:
		expect(t, "release to who blocks them", err, chat.CodeConflict)
		return
	}
	expect(t, action+" a direct message", err, "")
	m.directs = slices.Delete(m.directs, at, at+1)
}

// endReviews runs the task that ends the reviews of a group whose time is over.
func (m *machine) endReviews(t *rapid.T, group string) {
	g := m.groups[group]
	err := m.reviews.Handlers()[reviews.TaskOver].Run(m.ctx, chat.TaskRun{Payload: chat.Encode(reviews.OverTask{Group: group})})
	rest := slices.DeleteFunc(slices.Clone(g.reviews), m.over)
	if len(rest) == 0 {
		m.must(t, err)
	} else if err == nil {
		t.Fatalf("%d messages wait in %s, and no task is to end that", len(rest), group)
	}
	if len(rest) < len(g.reviews) {
		happened("a review is over")
	}
	g.reviews = rest
}

// checkReviews compares what waits in a group with the model, as those who manage it see it.
func (m *machine) checkReviews(t *rapid.T, group string) {
	g := m.groups[group]
	if m.faults {
		return
	}
	list, err := m.reviews.List(m.ctx, caller(g.owner()), group, 0, "")
	m.must(t, err)
	want := map[string]modelReview{}
	for _, r := range g.reviews {
		want[r.id] = r
	}
	for i, v := range list.Items {
		got := modelReview{id: v.ID, group: v.Group, to: v.To, from: v.From, kind: v.Message.ImpliedKind(), body: *v.Message.Body, target: v.Message.Target, mentions: v.Message.Mentions, thread: v.Message.Thread,
			expireS: v.Message.ExpireS}
		r, ok := want[v.ID]
		if !ok || !got.same(r) || i > 0 && list.Items[i-1].ID >= v.ID {
			t.Fatalf("waits in %s: got %+v, want %+v of %v", group, got, r, slices.Collect(maps.Keys(want)))
		}
	}
	if len(list.Items) != len(want) || list.Next != "" {
		t.Fatalf("%d messages wait in %s, and then %q; want %d", len(list.Items), group, list.Next, len(want))
	}
}

func (r modelReview) same(other modelReview) bool {
	return slices.Equal(r.mentions, other.mentions) && r.id == other.id && r.group == other.group && r.to == other.to && r.from == other.from && r.kind == other.kind &&
		r.body == other.body && r.target == other.target && r.thread == other.thread && r.expireS == other.expireS
}

// queues compares what operators see waiting and reported everywhere with the model, page by page, and what is a user's own.
func (m *machine) queues(t *rapid.T, user, _ string) {
	var waiting, theirs, reported []string
	note := func(r modelReview) {
		if waiting = append(waiting, r.id); r.from == user && !m.over(r) {
			theirs = append(theirs, r.id)
		}
	}
	for _, g := range m.groups {
		for _, r := range g.reviews {
			note(r)
		}
		for _, r := range g.reports {
			reported = append(reported, r.id)
		}
	}
	for _, r := range m.directs {
		note(r)
	}
	limit := rapid.IntRange(1, 5).Draw(t, "limit")
	m.sameIDs(t, "all that wait", waiting, func(cursor string) (ids []string, next string, err error) {
		list, err := m.reviews.List(m.ctx, root, "", limit, cursor)
		for _, v := range list.Items {
			ids = append(ids, v.ID)
		}
		return ids, list.Next, err
	})
	m.sameIDs(t, "what waits of "+user, theirs, func(string) (ids []string, next string, err error) {
		list, err := m.reviews.MadeBy(m.ctx, caller(user))
		for _, v := range list {
			ids = append(ids, v.ID)
		}
		return ids, "", err
	})
	m.sameIDs(t, "all reports", reported, func(cursor string) (ids []string, next string, err error) {
		list, err := m.reports.All(m.ctx, root, limit, cursor)
		for _, r := range list.Items {
			ids = append(ids, r.ID)
		}
		return ids, list.Next, err
	})
	happened("queues")
}

// sameIDs reads all pages of a list, which is in the order of ids, and compares it.
func (m *machine) sameIDs(t *rapid.T, what string, want []string, page func(cursor string) (ids []string, next string, err error)) {
	var got []string
	for cursor := ""; ; {
		ids, next, err := page(cursor)
		m.must(t, err)
		got = append(got, ids...)
		if cursor = next; cursor == "" {
			break
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
