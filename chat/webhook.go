package chat

// EventType names what an application is told of.
type EventType string

// The events.
const (
	EventMessageCreated EventType = "message.created"
	EventMessageEdited  EventType = "message.edited"
	EventMessageDeleted EventType = "message.deleted"
	EventMemberJoined   EventType = "member.joined"
	EventMemberLeft     EventType = "member.left"
	EventGroupCreated   EventType = "group.created"
	EventGroupDeleted   EventType = "group.deleted"
	EventScheduleFailed EventType = "schedule.failed"
)

// WebhookView is a webhook as operators see it.
type WebhookView struct {
	ID         string      `json:"id"`
	URL        string      `json:"url"`
	Events     []EventType `json:"events"`
	Secret     string      `json:"secret,omitempty"` // in the answers that made it, and no other
	CreatedAt  Time        `json:"created_at"`
	DisabledAt *Time       `json:"disabled_at"`
}
