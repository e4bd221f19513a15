package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	wordsScript    = newReader("words", userNames)
	fixWordsScript = newScript("fix_words", userNames)
)

// words checks that a user is in the index of names by every word of the profile.
func (d *users) words(ctx context.Context, u userKeys) error {
	r, err := d.run.do(ctx, wordsScript.On(u).Arg("user", u.id))
	if err != nil || len(r.Texts(0)) == 0 {
		return err
	}
	return d.found(ctx, Finding{Kind: KindIndex, Key: u.base + "profile", Message: fmt.Sprintf("is not found by %q: names lacks it", r.Texts(0)[0]),
		Repair: "add it to names", fix: d.runs(fixWordsScript.On(u).Arg("user", u.id).Arg("word", ""))})
}

// names looks for entries of the index of names that are no words of their user's profile.
func (d *users) names(ctx context.Context, k key) error {
	return ranges(func(from, to int64) ([]string, error) {
		return d.store.Client().ZRange(ctx, k.name, from, to).Result()
	}, func(entries []string) error {
		for _, entry := range entries {
			word, user, _ := strings.Cut(entry, "\x00")
			u := d.keys.user(user)
			var known *redis.StringCmd
			var listed *redis.FloatCmd
			err := d.instant(ctx, func(pipe redis.Pipeliner) {
				known, listed = pipe.HGet(ctx, u.base+"profile", "words"), pipe.ZScore(ctx, k.name, entry)
			})
			if err != nil {
				return err
			}
			if listed.Err() != nil || slices.Contains(strings.Split(known.Val(), "\n"), word) {
				continue
			}
			if err := d.found(ctx, Finding{Kind: KindIndex, Key: k.name, Message: fmt.Sprintf("finds %s by %q, which is no word of the profile", user, word),
				Repair: "remove the entry", fix: d.runs(fixWordsScript.On(u).Arg("user", user).Arg("word", word))}); err != nil {
				return err
			}
		}
		return nil
	})
}
