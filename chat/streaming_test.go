package chat_test

import (
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestIsStreaming(t *testing.T) {
	body := `,"kind":"text","stream":true`
	for want, entries := range map[bool][]chat.Content{
		true:  {{Kind: chat.Text, Stream: chat.StreamOpen, Body: &body}, {Kind: chat.Text, Thread: 17, Stream: chat.StreamOpen, Body: &body}},
		false: {{Kind: chat.Text, Body: &body}, {Kind: chat.Text, Thread: 17, Body: &body}, {Kind: chat.Data, Data: []byte(`{"kind":"text","stream":true}`)}, {Kind: chat.Text, Stream: chat.StreamCut}},
	} {
		for _, c := range entries {
			entry := chat.Encode(chat.Entry{ID: 20, Group: "g", From: "alice", Content: c})
			if got := chat.IsStreaming(entry); got != want {
				t.Errorf("%s: got %v", entry, got)
			}
		}
	}
}
