package statemachine_test

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/reports"
)

// memberReportsMax is how many reports of a member are open in a group at most.
const memberReportsMax = 3

// modelReport is an open report of a message, with that as it read then.
type modelReport struct {
	id       string
	target   int64
	from, by string
	was      modelMessage
}

// dropReports drops what an erased user reported of messages up to an id, and what was reported of them.
func (g *modelGroup) dropReports(user string, last int64) {
	g.reports = slices.DeleteFunc(g.reports, func(r modelReport) bool { return r.target <= last && (r.from == user || r.by == user) })
}

// report has a user report a message.
func (m *machine) report(t *rapid.T, user, group string) {
	g := m.groups[group]
	id, e := m.target(t, group)
	if len(g.reports) > 0 && evenly(t, "again", 3) == 0 {
		again := oneOf(t, "reported", g.reports...)
		user, id, e = again.by, again.target, g.messages[again.target]
		if oneOf(t, "deleted before", true, false) {
			m.deleteOne(t, g.owner(), group, id, e)
		}
	} else if others := slices.DeleteFunc(slices.Sorted(maps.Keys(g.members)), func(u string) bool { return e != nil && u == e.from }); len(others) > 0 &&
		evenly(t, "anybody", 4) > 0 {
		user = oneOf(t, "reporter", others...)
	}
	r, created, err := m.reports.Put(m.ctx, caller(user), group, id, reports.Draft{Reason: reportReason, Note: "look"})
	mine := g.reportedBy(user)
	first := slices.IndexFunc(mine, func(r modelReport) bool { return r.target == id })
	switch {
	case g.members[user] == nil:
		expect(t, "report from outside", err, m.outsider(group))
	case first >= 0:
		expect(t, "report again", err, "")
		if created || r.ID != mine[first].id {
			t.Fatalf("a second report of %d by %s is %s, and new: %v; want %s", id, user, r.ID, created, mine[first].id)
		}
		if m.gone(group, id, e) {
			happened("report of what is gone now")
		}
	case m.gone(group, id, e) || g.hides(user, id):
		expect(t, "report what is gone", err, chat.CodeNotFound)
	case e.kind != chat.Text:
		expect(t, "report what is no text", err, chat.CodeInvalid, chat.CodeNotFound) // one that lost its content is not found
	case e.from == user:
		expect(t, "report oneself", err, chat.CodeInvalid)
	case len(mine) >= memberReportsMax:
		expect(t, "report too much", err, chat.CodeQuotaFull)
	default:
		expect(t, "report", err, "")
		if !created || r.From != e.from || r.By != user || r.Target != id || r.Message != nil {
			t.Fatalf("a report of %d by %s is %+v, and new: %v", id, user, r, created)
		}
		g.reports = append(g.reports, modelReport{id: r.ID, target: id, from: e.from, by: user, was: *e})
	}
}

func (g *modelGroup) reportedBy(user string) (list []modelReport) {
	for _, r := range g.reports {
		if r.by == user {
			list = append(list, r)
		}
	}
	return list
}

// reportReason is that of every report, and of the bans that follow.
const reportReason = "spam"

// closeReport has somebody decide about a report.
func (m *machine) closeReport(t *rapid.T, user, group string) {
	g := m.groups[group]
	if len(g.reports) == 0 {
		m.report(t, user, group)
	}
	if len(g.reports) == 0 {
		return
	}
	at := evenly(t, "report", len(g.reports))
	r := g.reports[at]
	by := oneOf(t, "moderator", caller(g.owner()), root, caller(user))
	action := oneOf(t, "action", reports.Dismiss, reports.Delete, reports.Mute, reports.Ban)
	err := m.reports.Decide(m.ctx, by, r.id, reports.Decision{Action: action})
	if w := g.members[by.User]; !by.Admin && (w == nil || !w.role.Manages() || r.from == by.User) {
		expect(t, "close a report without rights", err, chat.CodeNotFound)
		return
	}
	switch action {
	case reports.Dismiss:
		expect(t, "dismiss a report", err, "")
	case reports.Delete:
		expect(t, "delete what is reported", err, "")
		if e := g.messages[r.target]; !m.gone(group, r.target, e) {
			g.erase(r.target, false)
			g.append(by.User, &modelMessage{from: by.User, kind: chat.Delete, target: r.target})
			happened("delete what is reported and there")
		}
	case reports.Mute:
		if !m.mutedBy(t, by, group, r.from, true, err, chat.CodeConflict) {
			return
		}
		happened("mute who is reported")
	case reports.Ban:
		if !m.bannedBy(t, by, group, r.from, reportReason, err) {
			return
		}
		happened("ban who is reported")
	}
	g.reports = slices.Delete(g.reports, at, at+1)
	expect(t, "close a report twice", m.reports.Decide(m.ctx, root, r.id, reports.Decision{Action: reports.Dismiss}), chat.CodeNotFound)
}

// checkReports compares the open reports of a group with the model, as the owner and as operators see them: with the messages as they
// read when they were reported, and to nobody those about themself.
func (m *machine) checkReports(t *rapid.T, group string) {
	g := m.groups[group]
	if m.faults {
		return
	}
	for _, by := range []chat.Caller{root, caller(g.owner())} {
		list, err := m.reports.OfGroup(m.ctx, by, group, 0, "")
		m.must(t, err)
		var want, got []string
		for _, r := range g.reports {
			if r.from != by.User {
				want = append(want, r.id)
			}
		}
		for i, r := range list.Items {
			got = append(got, r.ID)
			at := slices.IndexFunc(g.reports, func(w modelReport) bool { return w.id == r.ID })
			if at < 0 || i > 0 && list.Items[i-1].ID >= r.ID {
				break
			}
			w := g.reports[at]
			if r.By != w.by || r.From != w.from || r.Target != w.target {
				t.Fatalf("report %s in %s: got %+v, want %+v", r.ID, group, r, w)
			}
			if err := w.was.check(r.Target, group, r.Message); err != nil {
				t.Fatalf("reported in %s: %v", group, err)
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) || list.Next != "" {
			t.Fatalf("%s sees the reports %v of %s, and then %q; want %v", by.User, got, group, list.Next, want)
		}
		if len(g.reports) == 0 {
			return // nobody sees any, so one is asked
		}
	}
}
