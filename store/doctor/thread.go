package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/chatd/chatd/queue/script"
)

var (
	threadsScript    = newReader("threads", groupNames)
	fixThreadsScript = newScript("fix_threads", groupNames)
)

// threads examines one of the two keys that a group has for threads. The log is compared with them where it is examined. What follows a
// thread that has ended is no finding: it is passed over, and goes with the membership.
func (d *groups) threads(ctx context.Context, g groupKeys, name string) error {
	return d.parts(ctx, func(from int64) script.Call {
		return threadsScript.On(g).Key("set", g.base+name).Arg("from", from).Arg("limit", entriesStep)
	}, func(r script.Reply) error {
		if r.Number(1) == 0 && name == "threads" {
			if err := d.found(ctx, Finding{Kind: KindGroup, Key: g.base + name, Message: "has threads, but the settings do not say so",
				Repair: "say so", fix: d.mending(g, "", "", "", "")}); err != nil {
				return err
			}
		}
		for i := 2; i+3 < len(r); i += 4 {
			if err := d.found(ctx, d.threadFinding(g, name, r.Text(i), r.Text(i+1), r.Text(i+2), r.Text(i+3))); err != nil {
				return err
			}
		}
		return nil
	})
}

// mending mends what fix_threads.lua can.
func (d *groups) mending(g groupKeys, what, id, root, user string) func(context.Context) error {
	return d.runs(fixThreadsScript.On(g).Arg("what", what).Arg("id", id).Arg("root", root).Arg("user", user))
}

// threadFinding turns a result of threads.lua into a finding about a key.
func (d *groups) threadFinding(g groupKeys, name, what, id, root, user string) Finding {
	f := Finding{Kind: KindOrphan, Key: g.base + name}
	switch what {
	case "reply":
		f.Kind, f.Message, f.Repair = KindCount, fmt.Sprintf("counts reply %s in the thread of message %s only in part", id, root), "count it, or not"
		f.fix = d.mending(g, "reply", id, root, user)
	case "newest":
		f.Kind, f.Message, f.Repair = KindCount, "says that the thread of message "+root+" ends with another reply than it does", "take it from the replies"
		f.fix = d.mending(g, "thread", "", root, "")
	case "ended":
		f.Message, f.Repair, f.fix = "has a thread of message "+root+", which can have none", "end it", d.mending(g, "thread", "", root, "")
	case "listed":
		f.Kind, f.Message, f.Repair = KindCount, fmt.Sprintf("lists the thread of message %s at %s, where it does not end", root, id), "remove the entry"
		f.fix = d.mending(g, "listed", "", "", user)
	case "beyond":
		f.Kind, f.Message, f.Repair = KindCursor, fmt.Sprintf("says that %s has read the thread of message %s beyond the end of the log", user, root), "move it to the end"
		f.fix = d.mending(g, "follower", "", root, user)
	case "stray":
		f.Message, f.Repair = fmt.Sprintf("has %s follow the thread of message %s, of which one is not there", user, root), "remove it"
		f.fix = d.mending(g, "follower", "", root, user)
	case "partly":
		f.Message, f.Repair = fmt.Sprintf("has only in part that %s follows the thread of message %s", user, root), "complete it, or remove it"
		f.fix = d.mending(g, "follower", "", root, user)
	default:
		f.Kind, f.Message = KindName, fmt.Sprintf("has %q, which stands for nothing of a thread", user)
	}
	return f
}

// loggedThreads are what log.lua finds of threads: entries by id that are not counted as the replies or roots that they are.
var loggedThreads = []string{"uncounted", "none", "rootless", "ended"}

// loggedThread turns a result of log.lua into a finding.
func (d *groups) loggedThread(g groupKeys, what, id string) Finding {
	switch what {
	case "uncounted":
		return Finding{Kind: KindCount, Key: g.base + "replies", Message: "lacks reply " + id, Repair: "count it", fix: d.mending(g, "reply", id, "", "")}
	case "none":
		return Finding{Kind: KindCount, Key: g.base + "replies", Message: "counts entry " + id + " as a reply that it is not", Repair: "correct the count",
			fix: d.mending(g, "reply", id, "", "")}
	case "rootless":
		return Finding{Kind: KindCount, Key: g.base + "threads", Message: "lacks the thread of message " + id, Repair: "take it from the replies",
			fix: d.mending(g, "thread", "", id, "")}
	}
	return d.threadFinding(g, "threads", "ended", "", id, "")
}

func isOfThread(what string) bool { return slices.Contains(loggedThreads, what) }
