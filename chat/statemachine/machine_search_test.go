package statemachine_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat/archive"
)

// machineWords are what a machine writes about.
var machineWords = []string{"sea", "seagull", "sky"}

// modelHit is a message as a search finds it.
type modelHit struct {
	group string
	id    int64
}

// search pages through what a query finds: that is what someone finds who reads everything.
func (m *machine) search(t *rapid.T, user, group string) {
	if evenly(t, "trimmed before", 3) == 0 {
		m.readByAll(t, "", group)
	}
	want := archive.Search{Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Sort: oneOf(t, "sort", archive.Newest, archive.Newest, archive.Best)}
	matches := m.query(t, &want)
	groups := []string{group}
	if oneOf(t, "in all groups", true, true, false) {
		groups = machineGroups
	} else {
		want.Group = group
	}
	if oneOf(t, "of an author", false, false, true) {
		want.From = oneOf(t, "author", machineUsers...)
	}
	for _, in := range machineGroups {
		if m.groups[in] != nil {
			m.sentAt(t, in)
		}
	}
	m.between(t, group, &want)
	if want.Group != "" && m.groups[group].members[user] == nil {
		_, err := m.archive.searcher.Search(m.ctx, caller(user), want)
		expect(t, "search from outside", err, m.outsider(group))
		return
	}
	scanned := m.scan(user, groups, want, matches)
	found, whole := m.found(t, user, want)
	if !whole { // the machine is slow: the search says that it could not wait for the archive
		return
	}
	if want.Sort == archive.Best {
		order := func(a, b modelHit) int { return cmp.Or(strings.Compare(a.group, b.group), cmp.Compare(a.id, b.id)) }
		slices.SortFunc(scanned, order)
		slices.SortFunc(found, order)
	}
	if !slices.Equal(found, scanned) {
		t.Fatalf("search of %s for %+v: got %v, want %v", user, want, found, scanned)
	}
	happened("search")
	if len(found) > want.Limit {
		happened("search of several pages")
	}
}

// query draws the words, and how to tell whether a text has them.
func (m *machine) query(t *rapid.T, want *archive.Search) func(words []string) bool {
	a, b := oneOf(t, "word", machineWords...), oneOf(t, "word", machineWords...)
	switch evenly(t, "query", 5) {
	case 0:
		want.Text = a
		return func(words []string) bool { return slices.Contains(words, a) }
	case 1:
		want.Text = strings.ToUpper(a[:1]) + a[1:] + " EDITED"
		return func(words []string) bool { return slices.Contains(words, a) && slices.Contains(words, "edited") }
	case 2:
		want.Text = "sea* -" + b
		return func(words []string) bool {
			return !slices.Contains(words, b) && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "sea") })
		}
	case 3:
		one := fmt.Sprint("m", 1+evenly(t, "serial", m.serial+1))
		want.Text = one
		return func(words []string) bool { return slices.Contains(words, one) }
	default:
		one := fmt.Sprint("m", 1+evenly(t, "serial", m.serial+1))
		want.Text = fmt.Sprintf("%q", one+" "+a)
		return func(words []string) bool {
			at := slices.Index(words, one)
			return at >= 0 && at+1 < len(words) && words[at+1] == a
		}
	}
}

// between sometimes bounds the time by that of two messages.
func (m *machine) between(t *rapid.T, group string, want *archive.Search) {
	g := m.groups[group]
	at := func(label string) *time.Time {
		id := g.below() + 1 + int64(evenly(t, label, int(g.last-g.below())))
		sent := time.UnixMilli(g.messages[id].sentAtMs)
		return &sent
	}
	if g.last == g.below() || evenly(t, "bounded", 3) > 0 {
		return
	}
	want.Since, want.Until = at("since"), at("until")
	if want.Until.Before(*want.Since) {
		want.Since, want.Until = want.Until, want.Since
	}
}

// scan is the search of the model: it reads everything that the user may.
func (m *machine) scan(user string, groups []string, want archive.Search, matches func([]string) bool) (found []modelHit) {
	var all []modelHit
	for _, group := range groups {
		g := m.groups[group]
		if g == nil || g.members[user] == nil {
			continue
		}
		for id := g.visible(user); id <= g.last; id++ {
			all = append(all, modelHit{group, id})
		}
	}
	of := func(h modelHit) *modelMessage { return m.groups[h.group].messages[h.id] }
	for _, h := range all {
		e := of(h)
		words := strings.FieldsFunc(e.body, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		sent := time.UnixMilli(e.sentAtMs)
		switch {
		case !e.counts(), !matches(words):
		case want.From != "" && e.from != want.From:
		case want.Since != nil && (sent.Before(*want.Since) || sent.After(*want.Until)):
		default:
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b modelHit) int { return cmp.Compare(of(b).sentAtMs, of(a).sentAtMs) })
	return found
}

// found pages through the hits of the service. whole is false where a page says that it may miss some.
func (m *machine) found(t *rapid.T, user string, want archive.Search) (all []modelHit, whole bool) {
	for {
		page, err := m.archive.searcher.Search(m.ctx, caller(user), want)
		m.must(t, err)
		if !page.IncompleteBefore.IsZero() {
			return nil, false
		}
		if len(page.Hits) > want.Limit || page.Next != "" && len(page.Hits) == 0 {
			t.Fatalf("search of %s for %+v: a page of %d, next %q", user, want, len(page.Hits), page.Next)
		}
		for _, hit := range page.Hits {
			all = append(all, modelHit{hit.Group, hit.ID})
			if g := m.groups[hit.Group]; g != nil && g.messages[hit.ID] != nil {
				m.must(t, g.shownTo(user, hit.ID).check(hit.ID, hit.Group, hit.JSON))
				if hit.ID <= g.cut {
					happened("search finds an archived message")
				}
			}
			if len(hit.Snippet.Marks) == 0 {
				t.Fatalf("search of %s for %+v: nothing is marked in %+v", user, want, hit.Snippet)
			}
		}
		if want.Cursor = page.Next; want.Cursor == "" {
			return all, true
		}
	}
}
