package wire

import "github.com/chatd/chatd/chat"

// MessageDraft is a message to be sent, now or later, as HTTP and the websocket take it. The domain checks its content.
type MessageDraft struct {
	chat.Content
	DeliverAt *string `json:"deliver_at,omitempty"`
}

// DirectDraft is a message to one user's inbox, now or later.
type DirectDraft struct {
	chat.Direct
	DeliverAt *string `json:"deliver_at,omitempty"`
}
