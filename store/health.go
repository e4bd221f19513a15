package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/health"
)

var _ health.Store = (*Store)(nil)

var (
	healthPutScript  = newFreeing("health/put", partNames)
	healthDropScript = newFreeing("health/drop", partNames)
)

// Health are the notes about the state of the nodes, in the first partition.
type Health struct{ *base }

// PutNote writes or keeps a note that ends by itself.
func (s *Health) PutNote(ctx context.Context, id, text string, lasts time.Duration, notesMax int) (kept bool, err error) {
	r, err := s.runSafe(ctx, healthPutScript.On(s.keys.part(0)).Arg("id", id).Arg("text", text).Arg("lasts_ms", lasts.Milliseconds()).Arg("notes_max", notesMax))
	return err == nil && r.number(1) == 1, err
}

// DropNote removes a note.
func (s *Health) DropNote(ctx context.Context, id string) error {
	return s.doSafe(ctx, healthDropScript.On(s.keys.part(0)).Arg("id", id))
}

// Notes reads the notes that have not ended.
func (s *Health) Notes(ctx context.Context) (notes []health.Note, nowMs int64, err error) {
	var texts *redis.MapStringStringCmd
	var ends *redis.ZSliceCmd
	var clock *redis.TimeCmd
	k := s.keys.part(0)
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		texts, ends, clock = pipe.HGetAll(ctx, k.health()), pipe.ZRangeWithScores(ctx, k.healthEnds(), 0, -1), pipe.Time(ctx)
	})
	if err != nil {
		return nil, 0, err
	}
	nowMs = clock.Val().UnixMilli()
	for _, end := range ends.Val() {
		id, _ := end.Member.(string)
		if text, ok := texts.Val()[id]; ok && int64(end.Score) > nowMs {
			notes = append(notes, health.Note{ID: id, Text: text, EndsMs: int64(end.Score)})
		}
	}
	slices.SortFunc(notes, func(a, b health.Note) int { return strings.Compare(a.ID, b.ID) })
	return notes, nowMs, nil
}
