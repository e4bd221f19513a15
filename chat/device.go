package chat

// DeviceKind is how a device is told.
type DeviceKind string

// Web push to a browser, or a call of an address.
const (
	DeviceWebPush DeviceKind = "webpush"
	DeviceWebhook DeviceKind = "webhook"
)

// DeviceView is a device as its user sees it: without its keys.
type DeviceView struct {
	ID        string     `json:"id"`
	Kind      DeviceKind `json:"kind"`
	Endpoint  string     `json:"endpoint,omitempty"`
	URL       string     `json:"url,omitempty"`
	Secret    string     `json:"secret,omitempty"` // of a webhook, in the answer that made it
	CreatedAt Time       `json:"created_at"`
}

// NotifyLevel is what a member is told of in a group.
type NotifyLevel string

// Every message, those that mention the member, or nothing.
const (
	NotifyAll      NotifyLevel = "all"
	NotifyMentions NotifyLevel = "mentions"
	NotifyNone     NotifyLevel = "none"
)

// NotifySetting is a level and how long it holds; nil: until it is changed.
type NotifySetting struct {
	Level NotifyLevel `json:"level"`
	Until *Time       `json:"until"`
}
