package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/invite"
)

var fixInvitedScript = newScript("fix_invited", groupNames)

// invites checks that the invitations of a group can be read, and that their ids lead to it.
func (d *groups) invites(ctx context.Context, g groupKeys, gone bool) error {
	return d.pages(ctx, g.base+"invites", func(ids, records []string) error {
		for i, id := range ids {
			f := Finding{Kind: KindOrphan, Key: g.base + "invites", Repair: "list it", fix: d.invitedFix(g, id)}
			listed, err := d.invited(ctx, g, id)
			switch {
			case err != nil:
				return err
			case gone:
				f.Message, f.Repair = "has the invitation "+id+" of a group that is gone", "remove it"
			case invite.Parse(g.id, id, records[i]).ID == "":
				f = Finding{Kind: KindName, Key: f.Key, Message: "has the invitation " + id + ", which cannot be read"}
			case !listed:
				f.Message = "has the invitation " + id + ", whose code leads nowhere: it is missing in invited"
			default:
				continue
			}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// invited tells whether the list of invitations agrees with a group about one, at one instant.
func (d *groups) invited(ctx context.Context, g groupKeys, id string) (bool, error) {
	var there *redis.BoolCmd
	var owner *redis.StringCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		there, owner = pipe.HExists(ctx, g.base+"invites", id), pipe.HGet(ctx, g.part+"invited", id)
	})
	return there.Val() == (owner.Val() == g.id), err
}

func (d *groups) invitedFix(g groupKeys, id string) func(context.Context) error {
	return d.runs(fixInvitedScript.On(g).Arg("group", g.id).Arg("invite", id))
}

// invitedList looks for ids that lead to groups which do not have the invitation.
func (d *groups) invitedList(ctx context.Context, k key) error {
	return d.pages(ctx, k.name, func(ids, of []string) error {
		for i, id := range ids {
			g := d.keys.group(of[i])
			agree, err := d.invited(ctx, g, id)
			if err != nil {
				return err
			}
			if agree {
				continue
			}
			if err := d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: fmt.Sprintf("lists the invitation %s of %s, which has none of this id", id, of[i]),
				Repair: "take it off the list", fix: d.invitedFix(g, id)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// goneGroup tells whether nothing is left of a group but what hangs on it.
func (l groupLook) goneGroup() bool {
	return len(l.meta) == 0 && !slices.ContainsFunc([]int64{l.last, l.stored, l.members, l.joined, l.seen}, func(n int64) bool { return n > 0 })
}
