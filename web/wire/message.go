package wire

import "github.com/chatd/chatd/chat"

// MessageDraft is a message to be sent, now or later, as HTTP and the websocket take it. The domain checks its content.
type MessageDraft struct {
	chat.Content
	Files     []string `json:"files,omitempty"` // ids, in the place of those of Content
	DeliverAt *string  `json:"deliver_at,omitempty"`
	Quorum    *Quorum  `json:"quorum,omitempty"` // asked of the message that it becomes
}

// Quorum is who has to read a message until when.
type Quorum struct {
	Need     QuorumNeed       `json:"need"`
	Until    string           `json:"until"`
	Remind   []QuorumReminder `json:"remind,omitempty"`
	Escalate []string         `json:"escalate,omitempty"`
}

// QuorumNeed has exactly one of its fields.
type QuorumNeed struct {
	Percent *int64    `json:"percent,omitempty"`
	Count   *int64    `json:"count,omitempty"`
	Users   *[]string `json:"users,omitempty"`
}

// QuorumReminder goes out so long after it was asked for.
type QuorumReminder struct {
	AfterS int64  `json:"after_s"`
	Via    string `json:"via,omitempty"` // empty: inbox
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
