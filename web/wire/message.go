package wire

import "github.com/chatd/chatd/chat"

// MessageDraft is a message to be sent, now or at a time, as HTTP and the websocket take it. The domain checks what it says.
type MessageDraft struct {
	chat.Content
	DeliverAt *string `json:"deliver_at,omitempty"`
}

// DirectDraft is a message to one person's inbox, now or at a time.
type DirectDraft struct {
	chat.Direct
	DeliverAt *string `json:"deliver_at,omitempty"`
}
