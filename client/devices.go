package client

import (
	"context"
	"net/http"
	"time"
)

// Kinds of devices.
const (
	DeviceWebPush = "webpush"
	DeviceWebhook = "webhook"
)

// Levels: what a member gets notified of in a group.
const (
	NotifyAll      = "all"
	NotifyMentions = "mentions"
	NotifyNone     = "none"
)

// PushKeys are the keys of a browser's subscription to web push, in base64url.
type PushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// DeviceDraft is where the caller gets notified while offline: Endpoint and Keys for web push, URL for a webhook.
type DeviceDraft struct {
	Kind     string    `json:"kind"`
	Endpoint string    `json:"endpoint,omitempty"`
	Keys     *PushKeys `json:"keys,omitempty"`
	URL      string    `json:"url,omitempty"`
}

// Device is where the caller gets notified while offline.
type Device struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Endpoint  string    `json:"endpoint,omitempty"`
	URL       string    `json:"url,omitempty"`
	Secret    string    `json:"secret,omitempty"` // of a webhook, only in the answer that created it
	CreatedAt time.Time `json:"created_at"`
}

// NotifySetting is what the caller gets notified of in a group; Until is nil if it applies until it is changed.
type NotifySetting struct {
	Level string     `json:"level"`
	Until *time.Time `json:"until,omitempty"`
}

// Notification is the body that a device receives. Group is empty if it is about the inbox.
type Notification struct {
	Type      string    `json:"type"` // always notification
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		User     string `json:"user"`
		Group    string `json:"group"`
		Thread   int64  `json:"thread"` // the root of the thread whose replies it is about; 0: none
		Count    int64  `json:"count"`
		Mentions int64  `json:"mentions"`
		LastID   int64  `json:"last_id"`
		From     string `json:"from"`
		FromName string `json:"from_name"` // empty: they have none
		Preview  string `json:"preview"`
	} `json:"data"`
}

// PutDevice registers a device of the caller, or changes it. Only the answer that creates a webhook contains its
// secret, so a call whose answer was lost is not repeated: delete the device and register it again.
func (c *Client) PutDevice(ctx context.Context, id string, draft DeviceDraft) (Device, error) {
	return answerTo[Device](ctx, c, call{method: http.MethodPut, path: []string{"devices", id}, body: draft, again: draft.Kind != DeviceWebhook})
}

// Devices lists the caller's devices.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	var answer struct {
		Devices []Device `json:"devices"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"devices"}, again: true}, &answer)
	return answer.Devices, err
}

// Device returns one of the caller's devices.
func (c *Client) Device(ctx context.Context, id string) (Device, error) {
	return answerTo[Device](ctx, c, call{method: http.MethodGet, path: []string{"devices", id}, again: true})
}

// DeleteDevice removes a device of the caller; repeating it is not an error.
func (c *Client) DeleteDevice(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"devices", id}, again: true}, nil)
}

// PushKey returns the server's key for web push, the applicationServerKey of browsers.
func (c *Client) PushKey(ctx context.Context) (string, error) {
	var answer struct {
		Key string `json:"key"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"push", "key"}, again: true}, &answer)
	return answer.Key, err
}

// Notify returns what the caller gets notified of in a group.
func (c *Client) Notify(ctx context.Context, group string) (NotifySetting, error) {
	return answerTo[NotifySetting](ctx, c, call{method: http.MethodGet, path: []string{"groups", group, "notify"}, again: true})
}

// SetNotify sets what the caller gets notified of in a group.
func (c *Client) SetNotify(ctx context.Context, group string, set NotifySetting) (NotifySetting, error) {
	return answerTo[NotifySetting](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "notify"}, body: set, again: true})
}
