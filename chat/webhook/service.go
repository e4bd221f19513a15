package webhook

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Service registers webhooks and publishes events to them. It is safe for concurrent use.
type Service struct {
	store   Store
	opt     chat.Options
	sender  Sender
	known   knownList
	reports reports
	// Profiles is the JSON of the names of those who wrote an entry and who are mentioned in it, by user; empty: none has one. It is set before
	// deliveries are made; nil: nobody has.
	Profiles func(ctx context.Context, entry []byte) []byte
}

// New makes a Service that shares the limits, the log and the clock of core. If sender is nil, nothing is delivered.
func New(core *chat.Service, store Store, sender Sender) *Service {
	return &Service{store: store, opt: core.Options(), sender: sender}
}

// Handlers returns the tasks of webhooks, by kind.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{
		TaskEvents:   chat.HandleRun(s.publishEntries),
		TaskEnded:    chat.Handle(s.publishEnded),
		TaskSpread:   chat.Handle(s.spread),
		TaskDeliver:  s.deliveryKind(),
		TaskWithdraw: chat.Handle(s.withdrawEntries),
	}
}

// Run records once in every partition whether there are webhooks, because the last change may have been rolled back
// with the store, or come from elsewhere. Then it waits until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	if err := s.store.SpreadWebhooks(ctx); err != nil && ctx.Err() == nil {
		s.opt.Log.WarnContext(ctx, "cannot record whether there are webhooks; the recorded state stays", "error", err)
	}
	<-ctx.Done()
	return nil
}
