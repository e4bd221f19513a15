package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// What may be decided about a message that waits.
const (
	ReviewRelease = "release"
	ReviewDrop    = "drop"
)

// Review is a message that waits for a moderator.
type Review struct {
	ID        string          `json:"id"`
	Group     string          `json:"group,omitempty"` // that it is for; or
	To        string          `json:"to,omitempty"`    // the user whose inbox it is for
	From      string          `json:"from"`
	Via       string          `json:"via,omitempty"`    // id of the key by which a program sent it
	Reason    string          `json:"reason,omitempty"` // why it waits
	At        time.Time       `json:"at"`
	ExpiresAt time.Time       `json:"expires_at"`
	DeliverAt time.Time       `json:"deliver_at,omitzero"` // of a schedule: when it is first due
	Message   json.RawMessage `json:"message"`             // kind, body, data and the rest, as it would be stored
}

// ReviewDecided is what became of a message.
type ReviewDecided struct {
	ID        string `json:"id"`
	State     string `json:"state"`                // released or dropped
	MessageID int64  `json:"message_id,omitempty"` // of the message in the log
}

// Reviews returns what waits in a group, the oldest first, a page at a time, and the cursor of the next page; empty: there is none. Of
// an empty group it is everything, for operators.
func (c *Client) Reviews(ctx context.Context, group string, page Page) (reviews []Review, next string, err error) {
	var answer struct {
		Reviews []Review `json:"reviews"`
		Next    string   `json:"next"`
	}
	q := page.query()
	if group != "" {
		q.Set("group", group)
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"reviews"}, query: q, again: true}, &answer)
	return answer.Reviews, answer.Next, err
}

// DecideReview releases a message that waits (ReviewRelease), or drops it (ReviewDrop); the sender gets to see the reason. CodeNotFound:
// somebody has decided before; CodeConflict: its sender may not send it now, and it goes on waiting.
func (c *Client) DecideReview(ctx context.Context, id, action, reason string) (ReviewDecided, error) {
	body := map[string]string{"action": action}
	if reason != "" {
		body["reason"] = reason
	}
	return answerTo[ReviewDecided](ctx, c, call{method: http.MethodPost, path: []string{"reviews", id}, body: body})
}

// inReview is the id of the review that an answer to a send names; empty: it names none.
func inReview(data []byte) string {
	if !bytes.Contains(data, []byte(`"state":"review"`)) {
		return ""
	}
	var answer struct{ State, ID string }
	if json.Unmarshal(data, &answer) != nil || answer.State != "review" {
		return ""
	}
	return answer.ID
}

// inReviewReply is the reply over the websocket that names a review.
func inReviewReply(data []byte, review string) (reply, error) {
	var head struct{ Ref string }
	err := json.Unmarshal(data, &head)
	return reply{Op: "error", Ref: head.Ref, review: review}, err
}

func waits(status int, review string) *Error {
	return &Error{Status: status, Code: CodeInReview, Detail: "it waits for a moderator", Review: review}
}
