package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// Events that webhooks receive.
const (
	EventMessageCreated  = "message.created"
	EventMessageEdited   = "message.edited"
	EventMessageDeleted  = "message.deleted"
	EventMessagePinned   = "message.pinned"
	EventMessageUnpinned = "message.unpinned"
	EventMessageReported = "message.reported"
	EventMessageAction   = "message.action"
	EventQuorumMet       = "quorum.met"
	EventQuorumMissed    = "quorum.missed"
	EventMemberJoined    = "member.joined"
	EventMemberRequested = "member.requested"
	EventMemberBanned    = "member.banned"
	EventMemberMuted     = "member.muted"
	EventMemberLeft      = "member.left"
	EventGroupCreated    = "group.created"
	EventGroupDeleted    = "group.deleted"
	EventScheduleFailed  = "schedule.failed"
	EventMessageHeld     = "message.held"
)

// WebhookDraft is an address of a backend, and the events that it wants: all if none is named.
type WebhookDraft struct {
	URL    string   `json:"url"`
	Events []string `json:"events,omitempty"`

	// Key makes repeated requests create only one webhook (1 to 64 printable ASCII); generated if empty.
	Key string `json:"-"`
}

// Webhook is an address of a backend that receives events.
type Webhook struct {
	ID         string     `json:"id"`
	URL        string     `json:"url"`
	Events     []string   `json:"events"`           // empty: all
	Secret     string     `json:"secret,omitempty"` // signs the requests; only in the answers that create it or rotate its secret
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at"` // when its endpoint answered that it is gone

	FailingSince  *time.Time `json:"failing_since"` // since when every attempt has failed; nil: the last one succeeded, or there was none
	LastError     *string    `json:"last_error"`    // why the last failed attempt failed
	LastErrorAt   *time.Time `json:"last_error_at"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	Waiting       int64      `json:"waiting"` // deliveries that are not finished
	WaitingBytes  int64      `json:"waiting_bytes"`
	Dropped       int64      `json:"dropped"` // lost events
}

// CreateWebhook registers a webhook. For operators. Only this answer contains its secret.
func (c *Client) CreateWebhook(ctx context.Context, draft WebhookDraft) (Webhook, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Webhook](ctx, c, call{method: http.MethodPost, path: []string{"webhooks"}, body: draft, key: draft.Key, again: true})
}

// Webhooks lists the webhooks, oldest first. For operators. next is empty after the last page.
func (c *Client) Webhooks(ctx context.Context, page Page) (webhooks []Webhook, next string, err error) {
	var answer struct {
		Webhooks []Webhook `json:"webhooks"`
		Next     string    `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"webhooks"}, query: page.query(), again: true}, &answer)
	return answer.Webhooks, answer.Next, err
}

// Webhook shows an operator a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (Webhook, error) {
	return answerTo[Webhook](ctx, c, call{method: http.MethodGet, path: []string{"webhooks", id}, again: true})
}

// RotateWebhook gives a webhook a new secret, which the answer contains. The previous one goes on signing for a day. It
// is not repeated if its outcome is unknown: rotate again then, and use the newest secret.
func (c *Client) RotateWebhook(ctx context.Context, id string) (Webhook, error) {
	return answerTo[Webhook](ctx, c, call{method: http.MethodPost, path: []string{"webhooks", id, "rotate"}})
}

// WebhookTest is what the endpoint of a webhook made of a test.
type WebhookTest struct {
	Delivered bool    `json:"delivered"` // it answered with 2xx
	Status    *int    `json:"status"`    // nil: no answer came
	Error     *string `json:"error"`     // nil: it was delivered
	TookMs    int64   `json:"took_ms"`
}

// TestWebhook has a signed event of the type webhook.test sent now; it takes up to 15 s. It is not repeated if its outcome is unknown.
func (c *Client) TestWebhook(ctx context.Context, id string) (WebhookTest, error) {
	return answerTo[WebhookTest](ctx, c, call{method: http.MethodPost, path: []string{"webhooks", id, "test"}})
}

// DropWebhook removes a webhook: it receives nothing more.
func (c *Client) DropWebhook(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"webhooks", id}}, nil)
}
