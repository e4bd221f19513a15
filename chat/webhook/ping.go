package webhook

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
)

// EventTest is what Test sends. Nobody subscribes to it.
const EventTest EventType = "webhook.test"

// Tested is what the endpoint of a webhook made of a test.
type Tested struct {
	Delivered bool          // it answered with 2xx
	Status    int           // of its answer; 0: there was none
	Error     string        // in our own words, empty if it was delivered
	Took      time.Duration // until the answer
}

// Test sends an event to a webhook now, signed and guarded as deliveries are, for operators. It takes 15 s at most. What is known of
// the deliveries to the webhook stays as it is. ErrConflict: the webhook is disabled.
func (s *Service) Test(ctx context.Context, by chat.Caller, id string) (Tested, error) {
	w, err := s.get(ctx, by, id)
	switch {
	case err != nil:
		return Tested{}, err
	case w.DisabledAt != nil:
		return Tested{}, chat.Errorf(chat.CodeConflict, "the webhook is disabled, because its endpoint answered 410; register the address again")
	case s.sender == nil:
		return Tested{}, chat.Errorf(chat.CodeUnavailable, "this node does not make deliveries")
	}
	e := Event{Type: EventTest, Key: chat.NewID(""), At: chat.TimeMs(s.opt.Now()), Data: struct {
		Webhook string `json:"webhook"`
	}{w.ID}}
	begin := time.Now()
	out := s.sender.Webhook(ctx, Call{Owner: w.owner(), URL: w.URL, ID: eventID(w.ID, e.Type, e.Key), Body: e.body(), Secrets: w.signing(s.opt.Now())})
	if err := ctx.Err(); err != nil {
		return Tested{}, err
	}
	return Tested{Delivered: out.Verdict == Delivered, Status: out.Status, Error: out.Cause, Took: time.Since(begin)}, nil
}
