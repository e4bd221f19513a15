package webhook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
)

// A webhook that is behind checks for room after a tenth of the time that it has been behind.
const (
	behindPauseMin = time.Second
	behindPauseMax = time.Minute
)

// catchUp makes the deliveries of a group's entries to a webhook that is behind, as far as it has room, until it has
// caught up with the others. Its position is in the log, so nothing is lost while the log holds it.
func (s *Service) catchUp(ctx context.Context, t EventsTask, run chat.TaskRun) error {
	for range publishSteps {
		behind, err := s.catchUpStep(ctx, t)
		switch {
		case errors.Is(err, chat.ErrConflict): // another run was faster
		case errors.Is(err, ErrFull), chat.CodeOf(chat.AsError(err)) == chat.CodeUnavailable && ctx.Err() == nil:
			return chat.Postpone(behindPause(time.Since(run.Enqueued)), nil)
		case err != nil || !behind:
			return err
		}
	}
	return chat.Postpone(0, nil)
}

// behindPause is how long a webhook that has been behind for age waits before it checks again.
func behindPause(age time.Duration) time.Duration {
	pause := min(max(age/10, behindPauseMin), behindPauseMax)
	return pause + rand.N(pause/4)
}

// catchUpStep handles one page of catchUp. It returns whether the webhook is still behind.
func (s *Service) catchUpStep(ctx context.Context, t EventsTask) (behind bool, err error) {
	page, err := s.store.Unpublished(ctx, t.Group, t.Webhook, unpublishedPage)
	if errors.Is(err, chat.ErrNotFound) || err == nil && (page.Epoch != t.Epoch || page.Published < 0) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	webhooks, err := s.listAt(ctx, page.Version)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(webhooks, func(w Webhook) bool { return w.ID == t.Webhook && w.DisabledAt == nil })
	if i < 0 { // it was removed or disabled
		return s.store.CatchUp(ctx, t.Group, t.Webhook, page, chat.IDMax, 0, nil, inUse(webhooks))
	}
	deliveries, to, err := deliveriesOf(page, webhooks[i:i+1])
	if err != nil {
		return false, fmt.Errorf("group %s: %w", t.Group, err)
	}
	next := page.Others + 1
	if len(page.Messages) > 0 {
		next = page.Messages[0].ID
	} else {
		to = page.Others
	}
	missed := next - 1 - page.Published
	behind, err = s.store.CatchUp(ctx, t.Group, t.Webhook, page, to, missed, deliveries, inUse(webhooks))
	if err == nil && missed > 0 {
		s.reportLost(ctx, webhooks, map[string]int64{t.Webhook: missed})
	}
	if err == nil && !behind {
		s.opt.Log.InfoContext(ctx, "webhook has caught up in a group", "webhook", t.Webhook, "group", t.Group)
	}
	return behind, err
}
