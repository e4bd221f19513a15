package doctor

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/profiles"
)

var fixAvatarScript = newScript("fix_avatar", userNames)

// shown reads which avatar the picture of a user names, which one is kept, and whose that is according to the list.
func (d *users) shown(ctx context.Context, u userKeys) (named, kept, owner string, err error) {
	var text, id *redis.StringCmd
	err = d.instant(ctx, func(pipe redis.Pipeliner) {
		text, id = pipe.HGet(ctx, u.base+"profile", "text"), pipe.HGet(ctx, u.base+"avatar", "id")
	})
	if err == nil && id.Val() != "" {
		owner, err = d.store.Client().HGet(ctx, u.part+"avatars", id.Val()).Result()
		err = unlessNil(err)
	}
	if err == nil {
		named, err = profiles.AvatarOf(profiles.Stored{Text: text.Val()})
	}
	return named, id.Val(), owner, err
}

// avatar checks that the avatar of a user is the one that the profile shows, and that its address leads to the user.
func (d *users) avatar(ctx context.Context, u userKeys) error {
	for range suspectTries {
		named, kept, owner, err := d.shown(ctx, u)
		if err != nil || kept == named && owner == u.id {
			return err
		}
		if again, same, other, err := d.shown(ctx, u); err != nil || again != named || same != kept || other != owner {
			continue
		}
		f := Finding{Kind: KindOrphan, Key: u.base + "avatar", Message: "is shown by no profile", Repair: "remove it"}
		if kept == named {
			f.Message, f.Repair = "cannot be read by its address: avatars does not lead to the user", "list it"
		}
		f.fix = d.runs(fixAvatarScript.On(u).Arg("user", u.id).Arg("id", kept).Arg("shown", kept == named))
		return d.found(ctx, f)
	}
	return nil
}

// profile checks that the avatar which a profile shows is there. Of someone who is being erased it goes first.
func (d *users) profile(ctx context.Context, u userKeys) error {
	named, kept, _, err := d.shown(ctx, u)
	if err != nil || named == "" || named == kept {
		return err
	}
	if erasing, err := d.store.Client().Exists(ctx, u.base+"erasing").Result(); err != nil || erasing == 1 {
		return err
	}
	// It may have been erased meanwhile.
	if again, _, _, err := d.shown(ctx, u); err != nil || again != named {
		return err
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: u.base + "profile", Message: "shows an avatar that is not there: the user uploads one again, or removes it"})
}

// avatars checks that those who are said to have an avatar have it.
func (d *users) avatars(ctx context.Context, k key) error {
	return d.pages(ctx, k.name, func(ids, owners []string) error {
		for i, id := range ids {
			u := d.keys.user(owners[i])
			kept, err := d.store.Client().HGet(ctx, u.base+"avatar", "id").Result()
			if err = unlessNil(err); err != nil {
				return err
			}
			if kept == id {
				continue
			}
			// Who replaces an avatar takes the one before off the list in the same step.
			listed, err := d.store.Client().HExists(ctx, k.name, id).Result()
			if err != nil {
				return err
			}
			if !listed {
				continue
			}
			err = d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: "lists " + id + ", an avatar that " + owners[i] + " does not have", Repair: "take it off the list",
				fix: d.runs(fixAvatarScript.On(u).Arg("user", owners[i]).Arg("id", id).Arg("shown", false))})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
