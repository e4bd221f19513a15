package live

import (
	"context"
	"slices"

	"github.com/chatd/chatd/chat"
)

// start is how a Follower begins.
type start struct {
	*Follower
	sc       *scope
	expected []string    // groups, sorted, that the user is likely to be in
	known    []chat.Info // the user's standing in them; none if it was not read
}

// begin finds the groups and starts them. It subscribes before it reads: to the user, so that a group joined meanwhile is noticed, and
// to the groups that the user is expected to be in, so that one round trip reads all there is.
func (f *start) begin(ctx context.Context) error {
	sc := f.sc
	f.expect()
	gens, err := f.watch(ctx, f.expected)
	if err != nil {
		return err
	}
	groups, err := f.find(ctx)
	if err != nil {
		return err
	}
	chat.Looked(ctx, len(groups)) // charged again, because they are also followed
	f.looked(f.expected[:len(f.known)], gens, f.known)
	infos, err := f.lookAtRest(ctx, groups)
	if err != nil {
		return err
	}
	for i, info := range infos {
		if !isMember(info) {
			f.outside(groups[i])
			continue
		}
		newest := int64(0)
		if sc.newest {
			newest = info.Last - int64(f.service.limits.PageMessages)
		}
		if l := f.lines.of(groups[i]); l.start(info, sc.after[groups[i]], newest) || info.Streams {
			f.queue(l)
		}
		f.welcome.Groups[groups[i]] = WelcomeGroup{
			Epoch: info.Epoch, First: info.Visible(), Last: info.Last, Seen: info.Seen, Read: info.Read,
		}
	}
	for _, g := range f.expected {
		if l := f.lines.of(g); l != nil && !l.pos.Set {
			f.drop(l) // the user has left it, and is back, but not in the index
		}
	}
	return nil
}

// lookAtRest is look, except that the user's standing in some of the groups is known.
func (f *start) lookAtRest(ctx context.Context, groups []string) ([]chat.Info, error) {
	infos := make([]chat.Info, len(groups))
	var rest []string
	var indexes []int
	for i, g := range groups {
		if at, read := f.standing(g); read {
			infos[i] = f.known[at]
		} else {
			rest, indexes = append(rest, g), append(indexes, i)
		}
	}
	more, err := f.look(ctx, rest)
	for i, info := range more {
		infos[indexes[i]] = info
	}
	return infos, err
}

// standing finds a group among those in which the user's standing is known.
func (f *start) standing(group string) (at int, read bool) {
	return slices.BinarySearch(f.expected[:len(f.known)], group)
}

// expect finds groups that the user is likely to be in: those of the time before, and those that the client names if they are
// followed here anyway. Nothing else is followed before it is known that the user is in it.
func (f *start) expect() {
	if f.sc.only != nil {
		return
	}
	before, _ := f.service.indexes.Get(f.by.User)
	for _, g := range before {
		if f.covers(g) {
			f.expected = append(f.expected, g)
		}
	}
	for g := range f.sc.after {
		if len(f.expected) < roundGroups && f.covers(g) && f.service.hub.group(g) != nil {
			f.expected = append(f.expected, g)
		}
	}
	slices.Sort(f.expected)
	f.expected = slices.Compact(f.expected)
}

// remember notes the groups for the next time, when the session ends: while it lasts, the memory of so many readers counts.
func (f *Follower) remember() {
	before, _ := f.service.indexes.Get(f.by.User)
	same := func(g string, l *line) bool { return g == l.group() }
	if f.scope != nil || len(f.lines) == 0 || len(f.lines) > expectedGroupsMax || slices.EqualFunc(before, f.lines, same) {
		return
	}
	groups := make([]string, len(f.lines))
	for i, l := range f.lines {
		groups[i] = l.group()
	}
	f.service.indexes.Put(f.by.User, groups)
}

// find finds the groups, sorted: those that the client chose, or those of the index and those that the client names and the user is
// in, because the index lags.
func (f *start) find(ctx context.Context) (groups []string, err error) {
	if f.sc.only != nil {
		chat.Looked(ctx, len(f.sc.only))
		groups, err = f.unlisted(ctx, slices.Clone(f.sc.only))
		slices.Sort(groups)
		return groups, err
	}
	begin, err := f.service.store.Begin(ctx, f.by.User, f.expected)
	if err != nil {
		return nil, err
	}
	f.known = begin.Standings
	if b, ok := begin.Pull(f.inboxPos); ok && f.inboxDue { // the first items are enough to know them all
		f.applyInbox(b)
	}
	chat.LookedAll(ctx, len(begin.Groups))
	index := f.by.Reached(begin.Groups)
	for _, g := range index {
		if f.covers(g.Group) {
			groups = append(groups, g.Group)
		}
	}
	var unknown []string
	for _, g := range without(f.sc.after, index) {
		if _, read := f.standing(g); read {
			groups = append(groups, g) // begin will see whether the user is in it
		} else {
			unknown = append(unknown, g)
		}
	}
	mine, err := f.unlisted(ctx, unknown)
	groups = append(groups, mine...)
	slices.Sort(groups)
	return groups, err
}

// unlisted returns those of names that the user is in, and tells the client of the others.
func (f *start) unlisted(ctx context.Context, names []string) (mine []string, err error) {
	mine, foreign, err := f.service.unlisted(ctx, f.by, names)
	slices.Sort(foreign)
	for _, g := range foreign {
		f.outside(g)
	}
	return mine, err
}

// outside tells the client that the user is not in a group that it named. If the user comes back, the session continues after the
// position: the log may have lost its end, and be rewritten up to there.
func (f *start) outside(group string) {
	if pos, named := f.sc.after[group]; named {
		f.leftAt(group, pos)
		f.out = append(f.out, Event{Left: group})
	} else if f.sc.only != nil {
		f.welcome.Errors = append(f.welcome.Errors, GroupError{Group: group, Code: chat.CodeNotFound})
	}
}
