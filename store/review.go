package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/queue/script"
)

var _ reviews.Store = (*Store)(nil)

var (
	reviewPutScript      = newScript("review/put", memberNames)
	reviewPutInboxScript = newScript("review/put_inbox", userNames)
	reviewEndScript      = newFreeing("review/end", partNames)
)

// reviewMark begins the mark of a retry key that stands for a review.
const reviewMark = "review:"

// inReview is the answer to a repeat of what waits for a moderator, or did, by the mark of its retry key; nil: it was stored.
func inReview(mark string) error {
	if id, ok := strings.CutPrefix(mark, reviewMark); ok {
		return &chat.InReview{ID: id}
	}
	return nil
}

// releasing gives a call the review that ends with what it stores, and what the audit gets of that; nil: it stores what was not reviewed,
// and note is what the audit gets.
func (s *base) releasing(c script.Call, end *chat.ReviewEnd, note audit.Entry) script.Call {
	if end == nil {
		end = &chat.ReviewEnd{}
	} else {
		note = decided(*end, audit.ReviewRelease)
	}
	return s.noted(c.Arg("review", end.ID).Arg("report", end.Report), note)
}

// decided is what the audit gets of a decision about a review: nothing where nobody decided.
func decided(end chat.ReviewEnd, action audit.Action) audit.Entry {
	if end.By.User == "" {
		return audit.Entry{}
	}
	return audit.Note(end.By, action, end.Group, end.From, struct {
		Review string `json:"review"`
	}{end.ID})
}

// Reviews are the messages that wait for a moderator.
type Reviews struct {
	*base
}

// reviewsOf is the key of the reviews of a group, or of a user.
func (s *base) reviewsOf(group, user string) string {
	if group != "" {
		return s.keys.group(group).reviews()
	}
	return s.keys.user(user).reviews()
}

// PutReview keeps a message for a moderator.
func (s *Reviews) PutReview(ctx context.Context, r chat.NewReview) (id string, err error) {
	record, err := json.Marshal(r.Review)
	if err != nil {
		return "", broke("review/put", err)
	}
	parsed, _ := chat.ParseReviewID(r.ID)
	var c call
	var task string
	if r.Group != "" {
		k := s.keys.group(r.Group)
		c, task = reviewPutScript.On(k.of(r.From)), k.taskID()
	} else {
		k := s.keys.user(r.To)
		c, task = reviewPutInboxScript.On(k).Key("inbox_sent", k.inboxSent(r.From)), k.taskID()
	}
	got, err := s.runSafe(ctx, c.Arg("user", r.From).Arg("owner", r.Group+r.To).Arg("whose", reviews.Whose(r.Group, r.To)).Arg("review", r.ID).
		Arg("who", parsed.Who).Arg("record", record).Arg("held", reviews.Held(r.Review)).Arg("due_ms", r.At.Add(chat.ReviewKept).UnixMilli()).
		Arg("task_id", task).Arg("reviews_max", s.limits.GroupReviewsMax).Arg("sender_max", s.limits.SenderReviewsMax).
		Arg("key", shortHash(r.Key)).Arg("content", shortHash(r.Content)).Arg("sent_ms", r.At.UnixMilli()).Arg("keys_max", s.limits.KeysMax))
	return got.text(1), err
}

// EndReview ends a review whose message is not stored.
func (s *Reviews) EndReview(ctx context.Context, r chat.ReviewEnd) error {
	owner := r.Group + r.To
	return s.do(ctx, s.noted(reviewEndScript.On(s.keys.home(owner)).Key("reviews", s.reviewsOf(r.Group, r.To)).
		Arg("review", r.ID).Arg("owner", owner).Arg("report", r.Report).Arg("epoch", cmp.Or(r.Epoch, "-")), decided(r, audit.ReviewDrop)))
}

// ReviewOf tells which review a retry key stands for; empty: for none. ErrKeyReused: for one with another content.
func (s *Schedules) ReviewOf(ctx context.Context, group, to, from, key, content string) (id string, err error) {
	name := ""
	if group != "" {
		name = s.keys.group(group).sent(from)
	} else {
		name = s.keys.user(to).inboxSent(from)
	}
	var value *redis.StringCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { value = pipe.HGet(ctx, name, shortHash(key)) }); err != nil {
		return "", err
	}
	f := strings.Fields(value.Val())
	if len(f) < 4 {
		return "", nil
	}
	if f[3] != shortHash(content) {
		return "", chat.ErrKeyReused
	}
	if r, ok := chat.IsInReview(inReview(f[2])); ok {
		id = r.ID
	}
	return id, nil
}

// ReviewIDs lists the ids of the reviews of a group, or of a user, the oldest first.
func (s *Reviews) ReviewIDs(ctx context.Context, group, user string) (ids []string, err error) {
	var all *redis.StringSliceCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.HKeys(ctx, s.reviewsOf(group, user)) }); err != nil {
		return nil, err
	}
	ids = all.Val()
	slices.Sort(ids)
	return ids, nil
}

// AllReviews lists at most limit reviews of all groups and inboxes behind an id, the oldest first.
func (s *Reviews) AllReviews(ctx context.Context, after string, limit int) ([]reviews.Ref, error) {
	from := "-"
	if after != "" {
		from = "(" + after + "\x01" // behind the name, whatever that is
	}
	lists := make([]*redis.StringSliceCmd, s.partitions())
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for p := range lists {
			lists[p] = pipe.ZRangeByLex(ctx, s.keys.part(p).reviewed(), &redis.ZRangeBy{Min: from, Max: "+", Count: int64(limit)})
		}
	})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, list := range lists {
		all = append(all, list.Val()...)
	}
	slices.Sort(all)
	refs := make([]reviews.Ref, min(limit, len(all)))
	for i := range refs {
		refs[i] = asReviewRef(all[i])
	}
	return refs, nil
}

// asReviewRef reads an element of reviewed.
func asReviewRef(element string) (p reviews.Ref) {
	id, owner, _ := strings.Cut(element, "\x00")
	p.ID = id
	if parsed, _ := chat.ParseReviewID(id); parsed.Inbox {
		p.To = owner
	} else {
		p.Group = owner
	}
	return p
}

// RefOfReview tells whose a review is. ErrReviewGone.
func (s *Reviews) RefOfReview(ctx context.Context, id string) (reviews.Ref, error) {
	parsed, ok := chat.ParseReviewID(id)
	if !ok {
		return reviews.Ref{}, chat.ErrReviewGone
	}
	var found *redis.StringSliceCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = pipe.ZRangeByLex(ctx, s.keys.part(int(parsed.Route%uint32(s.partitions()))).reviewed(), //nolint:gosec // a few thousand at most
			&redis.ZRangeBy{Min: "[" + id + "\x00", Max: "(" + id + "\x01", Count: 1})
	})
	if err == nil && len(found.Val()) == 0 {
		err = chat.ErrReviewGone
	}
	if err != nil {
		return reviews.Ref{}, err
	}
	return asReviewRef(found.Val()[0]), nil
}

// ReadReviews reads reviews. Those that are not there any longer are left out.
func (s *Reviews) ReadReviews(ctx context.Context, refs []reviews.Ref) ([]chat.Review, error) {
	texts := make([]*redis.StringCmd, len(refs))
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		for i, p := range refs {
			texts[i] = pipe.HGet(ctx, s.reviewsOf(p.Group, p.To), p.ID)
		}
	})
	if err != nil {
		return nil, err
	}
	var list []chat.Review
	for i, text := range texts {
		if errors.Is(text.Err(), redis.Nil) {
			continue
		}
		r := chat.Review{ID: refs[i].ID}
		if err := json.Unmarshal([]byte(text.Val()), &r); err != nil {
			return nil, broke("review", err)
		}
		list = append(list, r)
	}
	return list, nil
}
