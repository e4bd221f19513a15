package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/layout"
)

var (
	groupScript        = newReader("group", groupNames)
	logScript          = newReader("log", groupNames)
	membersScript      = newReader("members", groupNames)
	strayScript        = newReader("stray", groupNames)
	ownScript          = newReader("own", groupNames)
	retryScript        = newReader("retry", groupNames)
	fixSkipScript      = newScript("fix_skip", groupNames)
	fixUserScript      = newScript("fix_user", groupNames)
	fixOwnScript       = newScript("fix_own", groupNames)
	fixPublicScript    = newScript("fix_public", groupNames)
	fixKeptScript      = newScript("fix_kept", groupNames)
	windowScript       = newReader("window", groupNames)
	fixReactionsScript = newScript("fix_reactions", groupNames)
	editsScript        = newReader("edits", groupNames)
)

// groups examines groups: settings, logs, members and reactions.
type groups struct {
	*exam
	files     *storedFiles
	followers *followers
	indexes   *indexes
}

// groupLook is the answer of group.lua.
type groupLook struct {
	gone                          bool // a deleted group with this id is being cleaned up
	meta                          map[string]string
	last, stored, lowest, highest int64
	head                          string // the start of the highest message
	members, joined, managers     int64
	seen, read                    int64
	seenMax, readMax, skipMax     int64
	ownerValue                    string
	levels, notified              int64
	public                        bool
	data                          int64 // users with custom fields
	listed                        bool  // on the list of all groups
}

func (d *groups) look(ctx context.Context, k groupKeys) (groupLook, error) {
	r, err := d.run.do(ctx, groupScript.On(k).Arg("group", k.id))
	if err != nil {
		return groupLook{}, err
	}
	l := groupLook{gone: r.Number(0) > 0, meta: map[string]string{}}
	fields := r.Texts(1)
	for i := 0; i+1 < len(fields); i += 2 {
		l.meta[fields[i]] = fields[i+1]
	}
	l.last, l.stored, l.lowest, l.highest, l.head = r.Number(2), r.Number(3), r.Number(4), r.Number(5), r.Text(6)
	l.members, l.joined, l.managers, l.seen, l.read = r.Number(7), r.Number(8), r.Number(9), r.Number(10), r.Number(11)
	l.seenMax, l.readMax, l.skipMax, l.ownerValue = r.Number(12), r.Number(13), r.Number(14), r.Text(15)
	l.levels, l.notified, l.public = r.Number(16), r.Number(17), r.Number(18) == 1
	l.data, l.listed = r.Number(19), r.Number(20) == 2
	return l, nil
}

// groupKey examines a key of a group. Its meta stands for the whole group.
func (d *groups) groupKey(ctx context.Context, k key) error {
	g := d.keys.group(k.ID)
	switch name := strings.TrimSuffix(strings.TrimPrefix(k.Pattern, "g:<id>:"), ":<user>"); name {
	case "meta":
		d.report.Groups++
		return d.group(ctx, g)
	case "by", "at", "sent":
		return d.own(ctx, g, k, name)
	case "gone:members", "gone:senders", "gone:files", "import", "import:msgs", "import:skip", "import:reacted", "import:reactions":
		return nil // of no group
	default:
		l, err := d.look(ctx, g)
		if err == nil && name == "invites" && (len(l.meta) > 0 || l.goneGroup()) {
			return d.invites(ctx, g, len(l.meta) == 0)
		}
		if err == nil && len(l.meta) == 0 {
			// It may have been deleted since the key came up.
			types, err := d.types(ctx, []string{k.name})
			if err != nil || types[0] == "none" {
				return err
			}
			return d.found(ctx, Finding{Kind: KindGroup, Key: k.name, Message: "belongs to a group without settings: they were lost, or this key was left behind"})
		}
		switch {
		case err == nil && name == "senders":
			return d.listed(ctx, k, 1) // ms
		case err == nil && name == "waiting":
			return d.listed(ctx, k, 0)
		case err == nil && name == "kept" && l.meta["hold"] == "":
			return d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: "was kept because of a legal hold that has ended", Repair: "remove it",
				fix: d.runs(fixKeptScript.On(g))})
		case err == nil && (name == "pins" || name == "pinned"):
			return d.pins(ctx, g, name)
		case err == nil && name == "expires":
			return d.ends(ctx, g)
		case err == nil && (name == "threads" || name == "replies"):
			return d.threads(ctx, g, name)
		case err == nil && (name == "streams" || name == "streamed"):
			return d.streams(ctx, g)
		case err == nil && name == "files":
			return d.files.files(ctx, g)
		case err == nil && name == "files:named":
			return d.files.naming(ctx, g)
		}
		return err
	}
}

// metaFields are the settings that every group has.
var metaFields = []string{"name", "visibility", "created_by", "created_ms", "epoch", "keep", "backlog_max", "post", "history",
	"owner", "active_ms", "newest", "mark", "floor"}

func (d *groups) group(ctx context.Context, g groupKeys) error {
	l, err := d.look(ctx, g)
	if err != nil || len(l.meta) == 0 {
		return err
	}
	if err := d.missing(ctx, g, l); err != nil {
		return err
	}
	for _, f := range d.totals(g, l) {
		if err := d.found(ctx, f); err != nil {
			return err
		}
	}
	if _, err := d.log(ctx, g); err != nil {
		return err
	}
	if err := d.trim(ctx, g); err != nil {
		return err
	}
	if err := d.followers.lag(ctx, g); err != nil {
		return err
	}
	if err := d.members(ctx, g, l); err != nil {
		return err
	}
	return d.reactions(ctx, g)
}

// totals compares the results of one look at a group.
func (d *groups) totals(g groupKeys, l groupLook) (found []Finding) {
	add := func(kind Kind, key, format string, args ...any) {
		found = append(found, Finding{Kind: kind, Key: g.base + key, Message: fmt.Sprintf(format, args...)})
	}
	var missing []string
	for _, field := range metaFields {
		if _, ok := l.meta[field]; !ok {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		add(KindGroup, "meta", "lacks %s", strings.Join(missing, ", "))
	}
	switch {
	case l.last < 1:
		add(KindLog, "id", "does not hold an id")
	case l.stored > 0 && l.highest != l.last:
		add(KindLog, "msgs", "ends at %d, but the last id is %d", l.highest, l.last)
	case l.stored > 0 && l.lowest != l.last-l.stored+1:
		add(KindLog, "msgs", "holds %d messages, but they range from %d to %d", l.stored, l.lowest, l.highest)
	}
	if words := strings.Fields(l.head); len(words) > 1 && l.meta["mark"] != "" && words[1] != l.meta["mark"] {
		add(KindLog, "meta", "has the mark %s, but the last message has %s", l.meta["mark"], words[1])
	}
	if trimmed, _ := strconv.ParseInt(strings.Split(l.meta["trimmed"], " ")[0], 10, 64); trimmed > l.last-l.stored {
		add(KindLog, "meta", "names %d as trimmed, but everything after %d is stored", trimmed, l.last-l.stored)
	}
	if newest, _ := strconv.ParseInt(l.meta["newest"], 10, 64); newest > l.last {
		add(KindGroup, "meta", "names %d as newest, but the log ends at %d", newest, l.last)
	}
	if l.members == 0 && l.meta["owner"] != "" || l.members != l.joined || l.members > l.seen || l.members > l.read {
		add(KindMember, "members", "has %d users; joined has %d, seen %d, read %d", l.members, l.joined, l.seen, l.read)
	}
	if !strings.HasPrefix(l.ownerValue, "owner ") && l.meta["owner"] != "" {
		add(KindMember, "meta", "names %q as owner, but that user does not have the role", l.meta["owner"])
	}
	for _, c := range []struct {
		key     string
		highest int64
	}{{"seen", l.seenMax}, {"read", l.readMax}, {"skip", l.skipMax}} {
		if c.highest > l.last {
			add(KindCursor, c.key, "goes up to %d, but the log ends at %d", c.highest, l.last)
		}
	}
	if l.levels > l.members || l.notified > l.members {
		add(KindOrphan, "levels", "has %d users and told has %d, but there are %d members", l.levels, l.notified, l.members)
	}
	if l.public != (l.meta["visibility"] == "public") {
		message := "belongs to a public group that is missing from the list of public groups"
		if l.public {
			message = "belongs to a private group that is on the list of public groups"
		}
		add(KindPublic, "meta", "%s", message)
		found[len(found)-1].Repair = "correct the list"
		found[len(found)-1].fix = d.runs(fixPublicScript.On(g).Arg("group", g.id).Arg("entry", l.meta["name"]+"\x00"+g.id))
	}
	return found
}

// log examines every stored message of a group. changed: there is a notice that the settings changed.
func (d *groups) log(ctx context.Context, g groupKeys) (changed bool, err error) {
	err = d.parts(ctx, func(after int64) script.Call { return logScript.On(g).Arg("after", after).Arg("limit", entriesStep) }, func(r script.Reply) error {
		changed = changed || r.Number(2) > 0
		for wrong := range slices.Chunk(r.Texts(1), 3) {
			what, id, text := wrong[0], wrong[1], wrong[2]
			f := Finding{Kind: KindLog, Key: g.base + "msgs", Message: fmt.Sprintf("%s at %s: %s", what, id, text)}
			if what == "counted" || what == "skipped" {
				f = Finding{Kind: KindCount, Key: g.base + "skip", Message: fmt.Sprintf("entry %s %s", id, text), Repair: "correct skip",
					fix: d.runs(fixSkipScript.On(g).Arg("id", id))}
			}
			if isOfThread(what) {
				f = d.loggedThread(g, what, id)
			}
			if what == "endless" {
				f = Finding{Kind: KindGroup, Key: g.base + "expires", Message: "lacks the end of message " + id, Repair: "take it from the message", fix: d.ending(g, id, text)}
			}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	return changed, err
}

// members examines every member of a group, and users that have a cursor but are not members.
func (d *groups) members(ctx context.Context, g groupKeys, l groupLook) error {
	err := d.parts(ctx, func(after int64) script.Call {
		return membersScript.On(g).Arg("after", after).Arg("limit", entriesStep)
	}, func(r script.Reply) error {
		for wrong := range slices.Chunk(r.Texts(2), 3) {
			if err := d.found(ctx, d.memberFinding(g, wrong[0], wrong[1], wrong[2])); err != nil {
				return err
			}
		}
		return d.indexes.memberships(ctx, g, r.Texts(1))
	})
	if err != nil {
		return err
	}
	for _, set := range []struct {
		key  string
		more bool
	}{
		{"seen", l.seen > l.members}, {"read", l.read > l.members}, {"managers", l.managers > 0}, {"told", l.notified > 0},
	} {
		if !set.more {
			continue
		}
		if err := d.strays(ctx, g, set.key); err != nil {
			return err
		}
	}
	if l.data == 0 {
		return nil
	}
	return d.strayData(ctx, g)
}

// strayData looks for custom fields of users who are not members.
func (d *groups) strayData(ctx context.Context, g groupKeys) error {
	client, key := d.store.Client(), g.base+"data"
	for cursor := uint64(0); ; {
		some, next, err := client.HScan(ctx, key, cursor, "", entriesStep).Result()
		if err != nil {
			return err
		}
		for user := range slices.Chunk(some, 2) {
			is, err := client.HExists(ctx, g.base+"members", user[0]).Result()
			if err != nil {
				return err
			}
			if is {
				continue
			}
			if err := d.found(ctx, Finding{Kind: KindOrphan, Key: key, Message: "has custom fields of " + user[0] + ", who is not a member",
				Repair: "remove them", fix: d.runs(fixUserScript.On(g).Arg("user", user[0]))}); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// memberFinding turns a result of members.lua into a finding.
func (d *groups) memberFinding(g groupKeys, what, user, text string) Finding {
	f := Finding{Kind: KindMember, Message: user + " " + text}
	switch what {
	case "seen", "read":
		f.Kind, f.Key = KindCursor, g.base+what
	case "manager":
		f.Key, f.Repair, f.fix = g.base+"managers", "correct managers", d.runs(fixUserScript.On(g).Arg("user", user))
	case "joined":
		f.Key = g.base + "joined"
	default:
		f.Key = g.base + "members"
	}
	return f
}

// strays looks for users in a set of a group who are not members.
func (d *groups) strays(ctx context.Context, g groupKeys, set string) error {
	return d.parts(ctx, func(from int64) script.Call {
		return strayScript.On(g).Key("set", g.base+set).Arg("from", from).Arg("limit", entriesStep)
	}, func(r script.Reply) error {
		for _, user := range r.Texts(1) {
			f := Finding{Kind: KindOrphan, Key: g.base + set, Message: "lists " + user + ", who is not a member",
				Repair: "remove the entry", fix: d.runs(fixUserScript.On(g).Arg("user", user))}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// own examines what a group keeps about one user: `by`, `at` or `sent`.
func (d *groups) own(ctx context.Context, g groupKeys, k key, what string) error {
	c := ownScript.On(g).Key("own", k.name).Key("at_all", g.base+"at:"+layout.KeyID(chat.MentionAll)).Arg("user", k.About)
	kind := KindCount
	if what == "sent" {
		c, kind = retryScript.On(g).Key("own", k.name).Arg("user", k.About), KindRetry
	}
	r, err := d.run.do(ctx, c)
	if err != nil {
		return err
	}
	exists, last, member, sender := r.Number(0) == 1, r.Number(1), r.Number(2) == 1, r.Number(3) == 1
	cleanup, rest, count, lowest, highest := r.Number(4) == 1, r.Number(5) > 0, r.Number(6), r.Number(7), r.Number(8)
	all, f := what == "at" && k.About == chat.MentionAll, Finding{Kind: KindOrphan, Key: k.name}
	named := what == "at" && !all
	switch {
	case count == 0 || !exists && cleanup:
		return nil // gone meanwhile, or about to be cleaned up
	case !exists && rest:
		return nil // the group's settings are missing, which is reported for the group
	case !exists:
		f.Message, f.Repair = "was left behind by a group that is gone", "remove the key"
	case what == "at" && !member && !all:
		f.Message, f.Repair = "was left behind by a user who is not a member", "remove the key"
	case what != "at" && !sender:
		f.Message, f.Repair = "belongs to a user who is not in senders, so it would never be removed", "add the user to senders"
	case lowest < 1 && (!named || lowest < -last) || highest > last:
		f.Kind, f.Message = kind, fmt.Sprintf("names entries from %d to %d, but the log ends at %d", lowest, highest, last)
	case what == "sent" && count > retryKeysMax:
		f.Kind, f.Message = kind, fmt.Sprintf("holds %d retry keys, more than the maximum of %d", count, retryKeysMax)
	case all && r.Number(9) == 0:
		f.Kind, f.Message = kind, "has mentions of all members, which its group does not count: its settings lack alls"
	case named && r.Number(10) > 0:
		f.Kind, f.Message = kind, fmt.Sprintf("has %d messages that mention all members, which are not among those of the group: they are subtracted from what mentions the user", r.Number(10))
	default:
		return nil
	}
	if f.Repair != "" {
		f.fix = d.runs(fixOwnScript.On(g).Key("own", k.name).Arg("user", k.About).Arg("at", what == "at"))
	}
	return d.found(ctx, f)
}
