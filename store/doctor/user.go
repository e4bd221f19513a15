package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/layout"
)

var (
	inboxScript     = newReader("inbox", userNames)
	fixInboxScript  = newScript("fix_sender", userNames)
	fixDeviceScript = newScript("fix_device", userNames)
)

// user holds the keys of a user.
func (k keyspace) user(id string) userKeys {
	return userKeys{id, k.home(id), k.home(id) + "u:" + layout.KeyID(id) + ":"}
}

type userKeys struct{ id, part, base string }

var userNames = names(func(u userKeys) string { return u.part },
	layout.Names(layout.User, func(u userKeys) string { return strings.TrimSuffix(u.base, ":") }))

// users examines what users have: inboxes, devices, quotas.
type users struct {
	*exam
	files   *storedFiles
	indexes *indexes
}

// userKey examines a key of a user.
func (d *users) userKey(ctx context.Context, k key) error {
	u := d.keys.user(k.ID)
	switch k.Pattern {
	case "u:<id>:groups":
		d.report.Users++
		return d.indexes.index(ctx, u)
	case "u:<id>:inbox", "u:<id>:inbox:base":
		return d.inbox(ctx, u)
	case "u:<id>:inbox:sent:<user>":
		return d.inboxSender(ctx, u, k)
	case "u:<id>:inbox:senders":
		return d.listed(ctx, k, 1) // ms
	case "u:<id>:inbox:server", "u:<id>:inbox:by:<user>", "u:<id>:inbox:mentions:<user>":
		return d.seqs(ctx, u, k)
	case "u:<id>:strangers":
		return d.strangers(ctx, k)
	case "u:<id>:uploads", "u:<id>:files", "u:<id>:files:bytes":
		return d.files.quota(ctx, u)
	case "u:<id>:devices":
		return d.devices(ctx, u)
	case "u:<id>:account":
		return d.account(ctx, u)
	case "u:<id>:avatar":
		return d.avatar(ctx, u)
	case "u:<id>:profile":
		if err := d.words(ctx, u); err != nil {
			return err
		}
		return d.profile(ctx, u)
	default:
		return nil
	}
}

// inbox compares the items of an inbox with its begin and end.
func (d *users) inbox(ctx context.Context, u userKeys) error {
	return d.parts(ctx, func(from int64) script.Call { return inboxScript.On(u).Arg("from", from).Arg("limit", entriesStep) }, func(r script.Reply) error {
		for _, text := range r.Texts(1) {
			if err := d.found(ctx, Finding{Kind: KindInbox, Key: u.base + "inbox:base", Message: text}); err != nil {
				return err
			}
		}
		return nil
	})
}

// inboxSender examines the retry keys of a sender of items: the list of senders decides when they are removed.
func (d *users) inboxSender(ctx context.Context, u userKeys, k key) error {
	err := d.store.Client().ZScore(ctx, u.base+"inbox:senders", k.About).Err()
	if !errors.Is(err, redis.Nil) {
		return err
	}
	types, err := d.types(ctx, []string{k.name})
	if err != nil || types[0] == "none" {
		return err
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: k.name, Message: "belongs to a user who is not in inbox:senders, so it would never be removed",
		Repair: "add the user to inbox:senders", fix: d.runs(fixInboxScript.On(u).Key("own", k.name).Arg("user", k.About))})
}

// devices checks that a user with devices is on the list of those who can be notified.
func (d *users) devices(ctx context.Context, u userKeys) error {
	var has *redis.IntCmd
	var listed *redis.BoolCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		has, listed = pipe.Exists(ctx, u.base+"devices"), pipe.SIsMember(ctx, u.part+"reachable", u.id)
	})
	if err != nil {
		return err
	}
	if has.Val() == 0 || listed.Val() {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: u.base + "devices", Message: "belongs to a user who is not in reachable, so these devices get no notifications",
		Repair: "add the user to reachable", fix: d.runs(fixDeviceScript.On(u).Arg("user", u.id))})
}

// account checks that an account can be read, and that its user is on the list of known ones: the id is taken.
func (d *users) account(ctx context.Context, u userKeys) error {
	var text *redis.StringCmd
	var listed *redis.FloatCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		text, listed = pipe.Get(ctx, u.base+"account"), pipe.ZScore(ctx, u.part+"users", u.id)
	})
	if errors.Is(err, redis.Nil) {
		err = nil
	}
	switch {
	case err != nil || text.Val() == "":
		return err
	case accounts.CheckRecord(text.Val()) != nil:
		return d.found(ctx, Finding{Kind: KindName, Key: u.base + "account", Message: "cannot be read: the user cannot sign in"})
	case listed.Err() == nil:
		return nil
	}
	return d.found(ctx, Finding{Kind: KindOrphan, Key: u.base + "account", Message: "belongs to a user who is not in users",
		Repair: "add the user to users", fix: func(ctx context.Context) error { return d.store.Know(ctx, u.id) }})
}
