package store_test

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/chat/previews"
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
}
