package store_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

// preview is what there is of a link, without when it ends.
func (w *fixture) preview(link string) (text string, there bool) {
	w.Helper()
	found, err := w.ReadPreviews(w.ctx, []string{"https://none.example/", link})
	w.ok(err)
	w.equal(found[0], previews.Stored{})
	nowMs, err := w.Clock(w.ctx)
	w.ok(err)
	return found[1].Text, found[1].EndsMs > nowMs
}

func (w *fixture) claim(link string, lasts time.Duration) bool {
	w.Helper()
	claimed, err := w.ClaimPreview(w.ctx, link, lasts)
	w.ok(err)
	return claimed
}

var previewTests = map[string]func(*fixture){
	"one fetch of a link": func(w *fixture) {
		const link = "https://a.example/"
		w.equal(w.claim(link, time.Hour), true)
		w.equal(w.claim(link, time.Hour), false)
		w.equal(w.claim(link+"x", time.Hour), true)
		text, there := w.preview(link)
		w.equal([]any{text, there}, []any{"", true})
		w.ok(w.PutPreview(w.ctx, link, `{"title":"a b"}`, time.Hour))
		text, there = w.preview(link)
		w.equal([]any{text, there}, []any{`{"title":"a b"}`, true})
		w.equal(w.claim(link, time.Hour), false)
	},
	"previews end by themselves": func(w *fixture) {
		const link = "https://a.example/"
		w.equal(w.claim(link, -time.Millisecond), true)
		w.equal(w.claim(link, time.Hour), true)
		w.ok(w.PutPreview(w.ctx, link, `{}`, -time.Millisecond))
		_, there := w.preview(link)
		w.equal(there, false)
		w.equal(w.claim(link, time.Hour), true)
		text, there := w.preview(link)
		w.equal([]any{text, there}, []any{"", true})
	},
	"what has ended makes room": func(w *fixture) {
		for i := range 3 * previews.KeptMax / 2 / 100 { // every step may drop 100 that have ended
			w.ok(w.PutPreview(w.ctx, fmt.Sprint("https://a.example/", i), `{}`, -time.Millisecond))
		}
		w.ok(w.PutPreview(w.ctx, "https://b.example/", `{}`, time.Hour))
		var left int64
		for p := range 64 {
			left += w.Client().HLen(w.ctx, layout.InPartition(w.Prefix(), p)+"previews").Val()
		}
		if left == 0 || left > 64 { // at least the one that lasts
			w.Errorf("%d are left", left)
		}
	},
	"a full partition gives up the one that ends first": func(w *fixture) {
		most, links := previews.KeptMax/w.Partitions(), []string{}
		for i := 0; len(links) < 3; i++ { // the hash of a link chooses its partition
			link := fmt.Sprint("https://c.example/", i)
			hash := sha256.Sum256([]byte(link))
			if queue.Partition(base64.RawURLEncoding.EncodeToString(hash[:15]), w.Partitions()) == 0 {
				links = append(links, link)
			}
		}
		key := layout.InPartition(w.Prefix(), 0) + "previews"
		nowMs, err := w.Clock(w.ctx)
		w.ok(err)
		endsMs := nowMs + (10 * time.Hour).Milliseconds()
		w.ok(w.Client().Eval(w.ctx, `for i = 1, tonumber(ARGV[1]) do
			redis.call('HSET', KEYS[1], 'other' .. i, ARGV[2] .. ' {}')
			redis.call('ZADD', KEYS[2], ARGV[2], 'other' .. i)
		end return 1`, []string{key, key + ":at"}, most-2, endsMs).Err())
		w.ok(w.PutPreview(w.ctx, links[0], `{}`, 2*time.Hour))
		w.ok(w.PutPreview(w.ctx, links[1], `{}`, 3*time.Hour))
		w.equal(w.claim(links[2], time.Hour), true) // it ends first from now on, and has room all the same
		for i, link := range links {
			_, there := w.preview(link)
			w.equal(there, i > 0)
		}
		w.equal(w.Client().HLen(w.ctx, key).Val(), int64(most))
		w.equal(w.Client().ZCard(w.ctx, key+":at").Val(), int64(most))
	},
}
