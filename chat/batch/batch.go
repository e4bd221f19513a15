// Package batch sends many messages with one call. All methods of Service may be called from many goroutines.
package batch

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Store appends several entries with one step.
type Store interface {
	// AppendAll appends texts and data, those of one group in their order and with one script call for many, and those of all groups of a
	// server with one round trip. They mention nobody, reply to nothing, name no files, and wait for no durability. Each has an outcome
	// of its own, as that of LogStore.Append.
	AppendAll(ctx context.Context, list []chat.Append) []Appended
}

// Appended is what became of an entry.
type Appended struct {
	chat.Appended
	Err error
}

// Message is one of several.
type Message struct {
	By      chat.Caller
	Group   string
	Content chat.Content
}

// Outcome is what became of a message.
type Outcome struct {
	Sent chat.Sent
	Err  error
}

// Service sends messages. Create one with New.
type Service struct {
	core  *chat.Service
	store Store
}

// New makes a Service over the core.
func New(core *chat.Service, store Store) *Service { return &Service{core, store} }

// joined is a message that goes together with others.
type joined struct {
	index int
	by    chat.Caller
	entry chat.Entry
}

// SendAll sends messages, those to one group in their order, each as chat.Service.Send does. Plain ones that follow each other go
// together. One that fails does not keep those behind it from being sent, but the end of ctx does.
func (s *Service) SendAll(ctx context.Context, list []Message, durability chat.Durability) []Outcome {
	out := make([]Outcome, len(list))
	var waiting []joined
	var appends []chat.Append
	flush := func() {
		if len(waiting) == 0 {
			return
		}
		for i, done := range s.store.AppendAll(ctx, appends) {
			w := waiting[i]
			if done.Err != nil {
				out[w.index].Err = s.core.Refused(ctx, w.by, w.entry.Group, done.Err)
				continue
			}
			out[w.index].Sent = chat.NewSent(w.entry, appends[i], done.Appended)
		}
		waiting, appends = waiting[:0], appends[:0]
	}
	for i, m := range list {
		c, err := m.Content.Checked(s.core.Options().Limits)
		switch {
		case ctx.Err() != nil:
			err = chat.AsError(context.Cause(ctx))
		case chat.CheckGroup(m.By, m.Group) != nil:
			err = chat.CheckGroup(m.By, m.Group)
		case m.By.MayAct(m.Content) != nil:
			err = m.By.MayAct(m.Content)
		case err == nil && (!Plain(c) || waits(durability) || s.core.Asks(m.Group)):
			flush() // what comes before is stored before
			out[i].Sent, err = s.core.Send(ctx, m.By, m.Group, m.Content, durability)
		case err == nil:
			e := chat.Entry{Group: m.Group, From: m.By.User, Via: m.By.Via, Content: c}
			a := chat.NewAppend(e, s.core.Options().Now())
			a.Operator, a.Durability = m.By.Admin, durability
			waiting, appends = append(waiting, joined{i, m.By, e}), append(appends, a)
			continue
		}
		out[i].Err = err
	}
	flush()
	return out
}

// Plain tells whether a message needs nothing but to be appended.
func Plain(c chat.Content) bool {
	return (c.Kind == "" || c.Kind == chat.Text || c.Kind == chat.Data) && c.Stream == "" && len(c.Mentions) == 0 && len(c.Files) == 0 && c.ReplyTo == 0 && c.Thread == 0 && c.ExpireS == 0
}

func waits(d chat.Durability) bool { return d != "" && d != chat.DurabilityMemory }
