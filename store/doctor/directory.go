package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/directory"
	"github.com/chatd/chatd/internal/fold"
)

var fixListedScript = newScript("fix_listed", groupNames)

// missing compares a group with the list of all groups. Until a task has listed the groups of an older store, nothing is missing.
func (d *groups) missing(ctx context.Context, g groupKeys, l groupLook) error {
	if l.listed && l.meta["folded"] == fold.Fold(l.meta["name"]) {
		return nil
	}
	if all, err := d.store.ListedAll(ctx); err != nil || !all {
		return err
	}
	return d.found(ctx, Finding{Kind: KindListed, Key: g.base + "meta", Message: "belongs to a group that is missing from the list of all groups",
		Repair: "add it to the list", fix: func(ctx context.Context) error { return d.store.ListGroups(ctx, []string{g.id}) }})
}

// directory looks for entries of the list of all groups that are of no group, or by a name that the group no longer has.
func (d *groups) directory(ctx context.Context, k key) error {
	return ranges(func(from, to int64) ([]redis.Z, error) {
		return d.store.Client().ZRangeWithScores(ctx, k.name, from, to).Result()
	}, func(entries []redis.Z) error {
		for _, e := range entries {
			entry := fmt.Sprint(e.Member)
			group := directory.GroupOf(entry)
			folded, err := d.store.Client().HGet(ctx, d.keys.group(group).base+"meta", "folded").Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			if err == nil && (entry == directory.ByID+group+"\x00"+group || entry == directory.ByName+folded+"\x00"+group) {
				continue
			}
			f := Finding{Kind: KindListed, Key: k.name, Message: fmt.Sprintf("lists %q, which is no group's", entry), Repair: "remove the entry",
				fix: d.runs(fixListedScript.On(d.keys.group(group)).Arg("group", group).Arg("entry", entry))}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
}
