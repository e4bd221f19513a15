package live

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

// BenchmarkDeliver counts what it takes to give a message to 100 sessions from memory: one by one as signals bring them, ten
// at a time, and edits.
func BenchmarkDeliver(b *testing.B) {
	const sessions = 100
	for name, step := range map[string]struct {
		burst int
		kind  chat.Kind
	}{"one": {1, chat.Text}, "burst": {10, chat.Text}, "edit": {1, chat.Edit}} {
		b.Run(name, func(b *testing.B) {
			limits := chat.DefaultLimits()
			s := &Service{hub: newHub(nil, limits, nil), limits: limits, pending: budget{max: limits.PendingBytesMax}}
			fd := newFeed("g", limits.RingEntries)
			s.hub.groups["g"] = fd
			var followers []*Follower
			for i := range sessions {
				f := &Follower{service: s, by: chat.Caller{User: fmt.Sprint("u", i)}, pending: newPending(fmt.Sprint("u", i), false)}
				l := &line{verified: true, pos: chat.Position{Set: true, Epoch: "e"}}
				l.line, l.feed, l.pending = l, fd, f.pending
				fd.add(&l.interest)
				f.follow([]*interest{&l.interest})
				followers = append(followers, f)
			}
			id := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				for range step.burst {
					id++
					m := chat.Message{ID: id, Mark: "mark01", JSON: fmt.Appendf(nil, `{"id":%d,"group":"g","from":"ann","kind":%q,"target":%d,"body":"x"}`, id, step.kind, id-1)}
					s.hub.deliver(Signal{Kind: SignalMessage, Group: "g", Epoch: "e", Message: m})
				}
				for _, f := range followers {
					if e, ok, _ := f.Ready(); !ok || e.Messages.To != id {
						b.Fatalf("got %+v up to %d", e, id)
					}
				}
			}
			b.ReportMetric(float64(sessions*step.burst), "messages/op")
		})
	}
}
