package archive

import (
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// BenchmarkMatch: what each hit of a search costs beside reading it.
func BenchmarkMatch(b *testing.B) {
	for name, body := range map[string]string{
		"ascii":  "The release notes are out: see https://example.com/docs for what changes, and tell me by Friday whether the second part needs another week. Otherwise we ship on Monday, as planned in the last meeting.",
		"accent": "Die Grüße aus Köln sind angekommen, und die Straßenbahn fährt wieder über die Brücke; später müssen wir prüfen, ob für nächste Woche genügend Plätze frei sind.",
	} {
		e := chat.Entry{ID: 4711, Group: "general", From: "alice", Content: chat.Content{Kind: chat.Text, Body: &body}, SentAt: chat.TimeMs(1_700_000_000_000)}
		m := chat.Message{ID: e.ID, Mark: "abcdef", JSON: chat.Encode(e)}
		wanted := tokens.Parse("the")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Match(Log{Group: "general"}, m, wanted)
			}
		})
	}
}
