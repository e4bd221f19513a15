package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/store/conn"
)

var (
	inboxAppendScript = newScript("inbox/append", userNames)
	inboxAckScript    = newFreeing("inbox/ack", userNames)
	inboxOpenScript   = newFreeing("inbox/open", userNames)
	inboxForgetScript = newFreeing("inbox/forget", userNames)
	inboxPullScript   = newReader("inbox/pull", userNames)
	inboxEndsScript   = newReader("inbox/ends", partNames)
	inboxBeginScript  = newReader("inbox/begin", partNames)
)

// Inboxes are the items that are for one user alone.
type Inboxes struct {
	*base
	groups *Groups
	begins *conn.Joined[beginner, live.Beginning]
}

// InboxAppend puts an item into an inbox. If it has a key, it is repeated once after the connection broke.
func (s *Inboxes) InboxAppend(ctx context.Context, item chat.NewItem) (seq, sentAtMs int64, duplicate bool, err error) {
	k := s.keys.user(item.To)
	c := s.releasing(s.inboxCall(inboxAppendScript.On(k), k, item).Arg("look", item.Look), item.Release, audit.Entry{})
	run := s.run
	if item.Key != "" {
		run = s.runSafe
	}
	r, err := run(ctx, c)
	if errors.Is(err, errStranger) {
		name := "key " + item.Key
		if item.Key == "" {
			name = "item " + rand.Text()
		}
		if err := s.claimStranger(ctx, item, name); err != nil {
			return 0, 0, false, err
		}
		item.ToStrangers = true
		return s.InboxAppend(ctx, item)
	}
	if err != nil {
		return 0, 0, false, err
	}
	if err := inReview(r.text(6)); err != nil {
		return 0, 0, false, err
	}
	s.forgetInboxSender(ctx, item.To, r.text(4))
	return r.number(1), r.number(2), r.number(3) == 1, nil
}

// inboxCall gives a call what lib/inbox_put.lua needs.
func (s *Inboxes) inboxCall(c call, k userKeys, item chat.NewItem) call {
	by, most := k.inboxBy(item.Cause), s.limits.InboxSenderMax
	switch {
	case item.Cause == "":
		by, most = k.inboxBy(item.From), 0
	case item.Mention:
		by, most = k.inboxMentions(item.Cause), s.limits.InboxMentionsMax
	}
	return c.Key("inbox_sent", k.inboxSent(item.From)).Key("inbox_by", by).Arg("cause", item.Cause).Arg("by_max", most).
		Arg("from", item.From).Arg("rest", item.Rest).Arg("mark", newMark()).
		Arg("sent_ms", item.SentAtMs).Arg("key", shortHash(item.Key)).Arg("content", shortHash(item.Content)).
		Arg("system", item.System).Arg("to_strangers", item.ToStrangers).Arg("items_max", s.limits.InboxItemsMax).Arg("keys_max", s.limits.KeysMax).
		Arg("epoch", newEpoch()).Arg("channel", k.channel()).Arg("user", item.To).Arg("notify", string(item.Notify)).Arg("author", item.Author)
}

// forgetInboxSender drops what is kept about a sender who was idle for a day, if there is one. If it fails, the next item
// finds the sender again.
func (s *Inboxes) forgetInboxSender(ctx context.Context, user, sender string) {
	if sender == "" {
		return
	}
	k := s.keys.user(user)
	forget := inboxForgetScript.On(k).Key("inbox_sent", k.inboxSent(sender)).Key("inbox_by", k.inboxBy(sender)).
		Key("inbox_mentions", k.inboxMentions(sender)).Arg("sender", sender)
	if _, err := s.run(ctx, forget); err != nil {
		s.log.Debug("cannot forget an idle sender", "error", err)
	}
}

// InboxPull reads up to limit items after a position, or after what was acked if it is not set.
func (s *Inboxes) InboxPull(ctx context.Context, user string, after chat.Position, limit int) (chat.InboxBatch, error) {
	k := s.keys.user(user)
	pull := s.inboxPullCall(k, after, limit)
	r, err := s.runSafe(ctx, pull)
	if err == nil && r.text(1) == "" {
		// The inbox is new. Give it its epoch, so that readers notice if it ever gets lost.
		if _, err = s.runSafe(ctx, inboxOpenScript.On(k).Arg("epoch", newEpoch())); err == nil {
			r, err = s.runSafe(ctx, pull)
		}
	}
	if err != nil {
		return chat.InboxBatch{}, err
	}
	return asInboxBatch(r), nil
}

func (s *Inboxes) inboxPullCall(k userKeys, after chat.Position, limit int) call {
	seq := any("")
	if after.Set {
		seq = max(after.ID, 0)
	}
	return inboxPullScript.On(k).Arg("after", seq).Arg("after_epoch", after.Epoch).Arg("after_mark", after.Mark).Arg("limit", limit).
		Arg("bytes_max", s.limits.PageBytesMax)
}

// asInboxBatch reads what inbox/pull.lua answers: epoch, base, last, acked, position, mark, whether it is of this inbox, then
// the items, each behind its mark.
func asInboxBatch(r reply) chat.InboxBatch {
	items := make([]chat.StoredItem, 0, max(len(r)-8, 0))
	for i := 8; i < len(r); i++ {
		mark, _, _ := strings.Cut(r.text(i), "{")
		items = append(items, chat.StoredItem{Mark: mark, JSON: []byte(r.text(i)[len(mark):])})
	}
	b := chat.InboxBatch{Epoch: r.text(1), First: r.number(2) + 1, Last: r.number(3), Acked: r.number(4)}
	b.Complete = r.number(7) == 1
	return b.Hold(chat.Position{ID: r.number(5), Mark: r.text(6)}, items)
}

// InboxAck moves acked forward to a position.
func (s *Inboxes) InboxAck(ctx context.Context, user string, at chat.Position) (acked int64, err error) {
	r, err := s.runSafe(ctx, inboxAckScript.On(s.keys.user(user)).Arg("seq", max(at.ID, 0)).Arg("at_epoch", at.Epoch).
		Arg("at_mark", at.Mark).Arg("keep", s.limits.InboxKeep))
	return r.number(1), err
}

// InboxEnds returns where each user's inbox ends.
func (s *Inboxes) InboxEnds(ctx context.Context, users []string) ([]chat.InboxEnd, error) {
	ends := make([]chat.InboxEnd, len(users))
	return ends, s.ends(ctx, users, inboxEndFields, inboxEndsScript.Sized, func(c call, user string) call {
		k := s.keys.user(user)
		return c.More("users", "inbox", k.inbox(), "inbox_base", k.inboxBase())
	}, func(i int, r reply) { ends[i] = asInboxEnd(r) })
}

// inboxBuckets is how many buckets of users there are in each partition.
const inboxBuckets = 251

// InboxGrowth counts how often the inboxes of each bucket of users have grown.
func (s *Inboxes) InboxGrowth(ctx context.Context) (map[int]int64, error) {
	counts := make([]*redis.MapStringStringCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range counts {
			counts[p] = pipe.HGetAll(ctx, s.keys.part(p).grown())
		}
	})
	if err != nil {
		return nil, err
	}
	growth := map[int]int64{}
	for p, cmd := range counts {
		for bucket, n := range cmd.Val() {
			growth[p*inboxBuckets+int(number(bucket))] = number(n)
		}
	}
	return growth, nil
}

// InboxBucket returns the bucket of a user, by the same hash as lib/inbox_put.lua.
func (s *Inboxes) InboxBucket(user string) int {
	bucket := 0
	for i := range len(user) {
		bucket = (31*bucket + int(user[i])) % inboxBuckets
	}
	return s.keys.partition(user)*inboxBuckets + bucket
}

// asInboxEnd reads an end as inbox/ends.lua answers it.
func asInboxEnd(r reply) chat.InboxEnd {
	return chat.InboxEnd{Last: r.number(0), Mark: r.text(1), Epoch: r.text(2)}
}

// beginner is who begins a session, and in which groups they are believed to be.
type beginner struct {
	user   string
	groups []string
}

// Begin reads what a session of user begins with, and the standing in groups, in one round trip. Calls at the same time share it, except
// in a cluster: there, a master that hangs would delay users on the others. So there the two are read side by side, and the standings
// may be missing.
func (s *Inboxes) Begin(ctx context.Context, user string, groups []string) (live.Beginning, error) {
	if !s.conn.IsCluster() {
		b, err := s.begins.Ask(ctx, beginner{user, groups})
		return b, fail("read", err)
	}
	var standings []chat.Info
	var both errgroup.Group
	if len(groups) > 0 {
		both.Go(func() error {
			standings, _ = s.groups.Standings(ctx, user, groups) // it is asked again by who needs it
			return nil
		})
	}
	begins, err := s.readBeginnings(ctx, []beginner{{user: user}})
	_ = both.Wait()
	if err != nil {
		return live.Beginning{}, err
	}
	begins[0].Standings = standings
	return begins[0], nil
}

// beginFields is how many fields inbox/begin.lua answers about each user.
const beginFields = 7

// readBeginnings reads what many sessions begin with in one round trip: a command per index, a script per partition, and one for the
// standings.
func (s *Inboxes) readBeginnings(ctx context.Context, asked []beginner) ([]live.Beginning, error) {
	all := make([]live.Beginning, len(asked))
	users := make([]string, len(asked))
	var standings []standing
	for i, a := range asked {
		users[i] = a.user
		standings = standingsOfUser(standings, a.user, a.groups)
	}
	read := s.standingsOf(standings)
	indexes := make([]*redis.ZSliceCmd, len(asked))
	var ends, infos []*redis.Cmd
	var of [][]int
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		ends, infos, of = ends[:0], infos[:0], of[:0]
		for p, here := range s.indexesByPartition(users) {
			if len(here) == 0 {
				continue
			}
			c := inboxBeginScript.Sized(s.keys.part(p), 2*len(here)).Arg("items_max", beginItemsMax).Arg("bytes_max", beginBytesMax)
			for _, i := range here {
				k := s.keys.user(users[i])
				indexes[i] = pipe.ZRangeWithScores(ctx, k.groups(), 0, s.indexMax()-1)
				c = c.More("users", "inbox", k.inbox(), "inbox_base", k.inboxBase())
			}
			ends, of = append(ends, c.Send(ctx, pipe)), append(of, here)
		}
		for _, c := range read.calls {
			infos = append(infos, c.Send(ctx, pipe))
		}
	})
	if err != nil {
		return nil, err
	}
	for c, cmd := range ends {
		r, err := asReply(inboxBeginScript.Name, cmd.Val())
		if err != nil {
			return nil, err
		}
		for j, i := range of[c] {
			all[i] = asBeginning(r[1+j*beginFields:])
			all[i].Groups = asUserGroups(indexes[i].Val())
		}
	}
	replies := make([]reply, len(infos))
	for i, cmd := range infos {
		if replies[i], err = asReply(standingsScript.Name, cmd.Val()); err != nil {
			return nil, err
		}
	}
	found := read.infos(replies)
	for i, a := range asked {
		n := len(a.groups)
		all[i].Standings, found = found[:n:n], found[n:]
	}
	return all, nil
}

// asBeginning reads the end of an inbox as inbox/begin.lua answers it.
func asBeginning(r reply) live.Beginning {
	return live.Beginning{Inbox: asInboxEnd(r), Base: r.number(3), BaseMark: r.text(4), Acked: max(r.number(5), 0),
		Items: asItems(r.texts(6))}
}

func asItems(stored []string) []chat.StoredItem {
	items := make([]chat.StoredItem, 0, len(stored))
	for _, item := range stored {
		mark, _, _ := strings.Cut(item, "{")
		items = append(items, chat.StoredItem{Mark: mark, JSON: []byte(item[len(mark):])})
	}
	return items
}

// newMark makes the mark of an inbox item: 36 random bits, as for messages.
func newMark() string { return newEpoch()[:6] }

// newEpoch is the name of one life of an inbox.
func newEpoch() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(b[:])
}
