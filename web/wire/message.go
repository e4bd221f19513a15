package wire

import "github.com/chatd/chatd/chat"

// MessageDraft is a message to be sent, now or later, as HTTP and the websocket take it. The domain checks its content.
type MessageDraft struct {
	chat.Content
	Files     []string `json:"files,omitempty"` // ids, in the place of those of Content
	DeliverAt *string  `json:"deliver_at,omitempty"`
	Quorum    *Quorum  `json:"quorum,omitempty"` // asked of the message that it becomes
}

// Message is the content with its files.
func (d MessageDraft) Message() chat.Content {
	c := d.Content
	for _, id := range d.Files {
		c.Files = append(c.Files, chat.File{ID: id})
	}
	return c
}

// Addition is a user to add to a group, and their role; nil: that of a member who is one, else member.
type Addition struct {
	User string     `json:"user"`
	Role *chat.Role `json:"role,omitempty"`
}

// DirectDraft is a message to one user's inbox, now or later.
type DirectDraft struct {
	chat.Direct
	DeliverAt *string `json:"deliver_at,omitempty"`
}
