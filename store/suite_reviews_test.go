package store_test

import (
	"slices"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/reviews"
)

// reviewed is a text of bob that waits at a time, in the group g or, with to, for an inbox.
func reviewed(to, body string, atMs int64) chat.NewReview {
	r := chat.Review{Group: "g", From: "bob", At: chat.TimeMs(atMs), Message: chat.Content{Kind: chat.Text, Body: &body}}
	if to != "" {
		r.Group, r.To = "", to
	}
	r.ID = chat.NewReviewID(r)
	return chat.NewReview{Review: r, Key: body, Content: "content of " + body}
}

// waits keeps a review and returns it as it is kept.
func (w *fixture) waits(r chat.NewReview) chat.Review {
	w.Helper()
	id, err := w.PutReview(w.ctx, r)
	w.ok(err)
	w.equal(id, r.ID)
	return r.Review
}

// release appends the text of a review.
func (w *fixture) release(r chat.Review) error {
	e := chat.Entry{Group: r.Group, From: r.From, Content: r.Message}
	a := chat.NewAppend(e, 5)
	a.Release = &chat.ReviewEnd{Review: r, By: operator, Epoch: w.info(r.Group, r.From).Epoch}
	_, err := w.Append(w.ctx, a)
	return err
}

var reviewTests = map[string]func(*fixture){
	"kept under its key, listed and found": func(w *fixture) {
		w.group("g", []string{"bob"})
		first, second, direct := reviewed("", "one", 1000), reviewed("", "two", 2000), reviewed("alice", "psst", 1500)
		for _, r := range []chat.NewReview{second, first, direct} {
			w.waits(r)
			again := r
			again.ID = reviewed(r.To, "again", 3000).ID
			id, err := w.PutReview(w.ctx, again)
			w.ok(err)
			w.equal(id, r.ID)
			again.Content = "other"
			_, err = w.PutReview(w.ctx, again)
			w.fails(err, chat.ErrKeyReused)
			id, err = w.ReviewOf(w.ctx, r.Group, r.To, "bob", r.Key, r.Content)
			w.ok(err)
			w.equal(id, r.ID)
		}
		ids, err := w.ReviewIDs(w.ctx, "g", "")
		w.ok(err)
		w.equal(ids, []string{first.ID, second.ID})
		all, err := w.AllReviews(w.ctx, "", 2)
		w.ok(err)
		w.equal(all, []reviews.Ref{{ID: first.ID, Group: "g"}, {ID: direct.ID, To: "alice"}})
		all, err = w.AllReviews(w.ctx, direct.ID, 2)
		w.ok(err)
		w.equal(all, []reviews.Ref{{ID: second.ID, Group: "g"}})
		for _, r := range []chat.NewReview{first, direct} {
			ref, err := w.RefOfReview(w.ctx, r.ID)
			w.ok(err)
			w.equal(ref, reviews.Ref{ID: r.ID, Group: r.Group, To: r.To})
			list, err := w.ReadReviews(w.ctx, []reviews.Ref{ref, {ID: reviewed("", "none", 1).ID, Group: "g"}})
			w.ok(err)
			w.equal(list, []chat.Review{r.Review})
		}
		_, err = w.RefOfReview(w.ctx, reviewed("", "none", 1).ID)
		w.fails(err, chat.ErrReviewGone)
		_, err = w.RefOfReview(w.ctx, "nonsense")
		w.fails(err, chat.ErrReviewGone)
	},
	"a key of a message that is stored": func(w *fixture) {
		w.group("g", []string{"bob"})
		body := "one"
		w.say("g", "bob", "before")
		e := chat.Entry{Group: "g", From: "bob", Content: chat.Content{Kind: chat.Text, Body: &body, ClientID: "k"}}
		a := chat.NewAppend(e, 1)
		_, err := w.Append(w.ctx, a)
		w.ok(err)
		r := reviewed("", "one", 1000)
		r.Key, r.Content = "k", a.Content
		id, err := w.PutReview(w.ctx, r)
		w.ok(err)
		w.equal(id, "")
		id, err = w.ReviewOf(w.ctx, "g", "", "bob", "k", a.Content)
		w.ok(err)
		w.equal(id, "")
	},
	"a repeat of what waits": func(w *fixture) {
		w.group("g", []string{"bob"})
		body := "one"
		a := chat.NewAppend(chat.Entry{Group: "g", From: "bob", Content: chat.Content{Kind: chat.Text, Body: &body, ClientID: "k"}}, 1)
		r := reviewed("", "one", 1000)
		r.Key, r.Content = "k", a.Content
		w.waits(r)
		for range 2 { // while it waits, and afterwards
			_, err := w.Append(w.ctx, a)
			if held, ok := chat.IsInReview(err); !ok || held.ID != r.ID {
				w.Fatalf("got %v, want the review", err)
			}
			_ = w.EndReview(w.ctx, chat.ReviewEnd{Review: r.Review})
		}
		direct := reviewed("alice", "psst", 1000)
		w.waits(direct)
		i := directly(false)
		i.Key, i.Content = direct.Key, direct.Content
		_, _, _, err := w.InboxAppend(w.ctx, i)
		if held, ok := chat.IsInReview(err); !ok || held.ID != direct.ID {
			w.Fatalf("got %v, want the review", err)
		}
	},
	"bounds": func(w *fixture) {
		w.with(func(l *chat.Limits) { l.GroupReviewsMax, l.SenderReviewsMax = 3, 2 })
		w.group("g", []string{"bob", "carl", "dora"})
		first := w.waits(reviewed("", "one", 1))
		w.waits(reviewed("", "two", 2))
		_, err := w.PutReview(w.ctx, reviewed("", "three", 3))
		w.fails(err, &chat.Error{Code: chat.CodeQuotaFull})
		of := func(user string) chat.NewReview {
			r := reviewed("", "from "+user, 4)
			r.From = user
			r.ID = chat.NewReviewID(r.Review)
			return r
		}
		w.waits(of("carl"))
		_, err = w.PutReview(w.ctx, of("dora"))
		w.fails(err, &chat.Error{Code: chat.CodeQuotaFull})
		w.ok(w.EndReview(w.ctx, chat.ReviewEnd{Review: first}))
		w.waits(of("dora"))
		w.waits(reviewed("alice", "elsewhere", 5))
	},
	"released once, with the rights of that moment": func(w *fixture) {
		w.group("g", []string{"bob"})
		last := w.says("g", "alice", 1)
		r := w.waits(reviewed("", "one", 1))
		m := chat.Membership{Group: "g", User: "bob", By: chat.Caller{User: "alice"}, AtMs: 1}
		_, err := w.Mute(w.ctx, m, 9_000_000_000_000)
		w.ok(err)
		w.fails(w.release(r), &chat.Error{Code: chat.CodeMuted})
		_, err = w.Mute(w.ctx, m, 0)
		w.ok(err)
		w.ok(w.release(r))
		w.fails(w.release(r), chat.ErrReviewGone)
		w.fails(w.EndReview(w.ctx, chat.ReviewEnd{Review: r}), chat.ErrReviewGone)
		ids, err := w.ReviewIDs(w.ctx, "g", "")
		w.ok(err)
		w.equal(len(ids), 0)
		all, err := w.AllReviews(w.ctx, "", 10)
		w.ok(err)
		w.equal(len(all), 0)
		w.equal(w.says("g", "alice", 1), last+4) // two notices of the mute, and the text
		r = w.waits(reviewed("alice", "psst", 1))
		i := directly(false)
		i.Release = &chat.ReviewEnd{Review: r}
		w.put(i)
		_, _, _, err = w.InboxAppend(w.ctx, i)
		w.fails(err, chat.ErrReviewGone)
	},
	"a group that is removed takes them along": func(w *fixture) {
		w.group("g", []string{"bob"})
		w.waits(reviewed("", "one", 1))
		direct := w.waits(reviewed("alice", "psst", 2))
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "alice"}, "g", nil))
		all, err := w.AllReviews(w.ctx, "", 10)
		w.ok(err)
		w.equal(all, []reviews.Ref{{ID: direct.ID, To: "alice"}})
		_, err = w.PutReview(w.ctx, reviewed("", "late", 3))
		w.fails(err, chat.ErrNotFound)
	},
}

func TestReviewIDsSortByTime(t *testing.T) {
	ids := []string{reviewed("", "a", 1).ID, reviewed("zoe", "b", 1<<40).ID, reviewed("", "c", 1<<40+1).ID}
	if !slices.IsSorted(ids) {
		t.Errorf("got %v", ids)
	}
	parsed, ok := chat.ParseReviewID(ids[1])
	if !ok || !parsed.Inbox || parsed.At.UnixMilli() != 1<<40 || parsed.Who != chat.ReviewSender("bob") {
		t.Errorf("got %+v, %v", parsed, ok)
	}
}
