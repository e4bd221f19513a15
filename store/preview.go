package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/previews"
)

var _ previews.Store = (*Store)(nil)

var (
	previewClaimScript = newScript("preview/claim", partNames)
	previewPutScript   = newScript("preview/put", partNames)
)

// Previews are what links lead to.
type Previews struct{ *base }

// ReadPreviews reads what there is of links.
func (s *Previews) ReadPreviews(ctx context.Context, links []string) ([]previews.Stored, error) {
	found := make([]previews.Stored, 0, len(links))
	for some := range slices.Chunk(links, pipelineMax) {
		texts := make([]*redis.SliceCmd, len(some))
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			for i, link := range some {
				id := hashed(link)
				texts[i] = pipe.HMGet(ctx, s.keys.home(id).previews(), id)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			ends, text, _ := strings.Cut(asText(t.Val(), 0), " ")
			endsMs, _ := strconv.ParseInt(ends, 10, 64) // none: nothing is there
			found = append(found, previews.Stored{EndsMs: endsMs, Text: text})
		}
	}
	return found, nil
}

// ClaimPreview takes a link for one fetch.
func (s *Previews) ClaimPreview(ctx context.Context, link string, lasts time.Duration) (bool, error) {
	id := hashed(link)
	r, err := s.run(ctx, previewClaimScript.On(s.keys.home(id)).Arg("id", id).Arg("lasts_ms", lasts.Milliseconds()).Arg("previews_max", s.previewsMax()))
	return err == nil && r.number(1) == 1, err
}

// PutPreview keeps the preview of a link.
func (s *Previews) PutPreview(ctx context.Context, link, text string, lasts time.Duration) error {
	id := hashed(link)
	return s.doSafe(ctx, previewPutScript.On(s.keys.home(id)).Arg("id", id).Arg("text", text).Arg("lasts_ms", lasts.Milliseconds()).Arg("previews_max", s.previewsMax()))
}

// previewsMax is how many a partition keeps.
func (s *Previews) previewsMax() int { return max(previews.KeptMax/len(s.keys.partitions), 1) }
