// Package batch sends many messages with one call. All methods of Service may be called from many goroutines.
package batch

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Store appends several entries with one step.
type Store interface {
	// AppendAll appends texts and data of one group in their order, with one script call for many. They mention nobody, reply to nothing,
	// name no files, and wait for no durability. Each has an outcome of its own, as that of LogStore.Append.
	AppendAll(ctx context.Context, list []chat.Append) []Appended
}

// Appended is what became of an entry.
type Appended struct {
	chat.Appended
	Err error
}

// Message is one of several to a group.
type Message struct {
	By      chat.Caller
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

// SendAll sends messages to a group in their order, each as chat.Service.Send does. Plain ones that follow each other take one
// script call. One that fails does not keep those behind it from being sent.
func (s *Service) SendAll(ctx context.Context, group string, list []Message, durability chat.Durability) []Outcome {
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
				out[w.index].Err = s.core.Refused(ctx, w.by, group, done.Err)
				continue
			}
			out[w.index].Sent = chat.NewSent(w.entry, appends[i], done.Appended)
		}
		waiting, appends = waiting[:0], appends[:0]
	}
	for i, m := range list {
		c, err := m.Content.Checked(s.core.Options().Limits)
		switch {
		case chat.CheckGroup(m.By, group) != nil:
			err = chat.CheckGroup(m.By, group)
		case err == nil && (!plain(c) || waits(durability)):
			flush() // what comes before is stored before
			out[i].Sent, err = s.core.Send(ctx, m.By, group, m.Content, durability)
		case err == nil:
			e := chat.Entry{Group: group, From: m.By.User, Via: m.By.Via, Content: c}
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

// plain tells whether a message needs nothing but to be appended.
func plain(c chat.Content) bool {
	return (c.Kind == chat.Text || c.Kind == chat.Data) && len(c.Mentions) == 0 && len(c.Files) == 0 && c.ReplyTo == 0
}

func waits(d chat.Durability) bool { return d != "" && d != chat.DurabilityMemory }
