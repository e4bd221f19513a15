package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// InviteDraft is an invitation to make. Without a Group it lets register; zero fields take the defaults.
type InviteDraft struct {
	Group     string     `json:"group,omitempty"`
	Role      string     `json:"role,omitempty"` // member (the default) or admin
	Uses      int64      `json:"uses,omitempty"` // default: 1
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	Note      string     `json:"note,omitempty"`

	// RetryKey makes repeated requests create only one invitation (1 to 64 printable ASCII); generated if empty.
	RetryKey string `json:"-"`
}

// Invite is an invitation. Code and URL are in the answer that makes it, and in no other.
type Invite struct {
	ID        string     `json:"id"`
	Code      string     `json:"code,omitempty"`
	URL       string     `json:"url,omitempty"`
	Group     *string    `json:"group"` // nil: it lets register
	Role      *string    `json:"role"`
	Uses      int64      `json:"uses"`
	Used      int64      `json:"used"`
	ExpiresAt *time.Time `json:"expires_at"` // nil: no end
	Note      string     `json:"note,omitempty"`
	CreatedBy string     `json:"created_by"` // a user, or key:<id>
	CreatedAt time.Time  `json:"created_at"`
}

// InviteShown is what the code of an invitation shows before it is used.
type InviteShown struct {
	GroupName string `json:"group_name"`
	Members   int64  `json:"members"`
	FromName  string `json:"from_name"`
	Server    string `json:"server"` // its address
}

// CreateInvite makes an invitation: to a group for those who manage it, without one for operators. If an earlier attempt had made it
// and its answer was lost, Code is empty: make another one.
func (c *Client) CreateInvite(ctx context.Context, draft InviteDraft) (Invite, error) {
	draft.RetryKey = cmp.Or(draft.RetryKey, NewKey())
	return answerTo[Invite](ctx, c, call{method: http.MethodPost, path: []string{"invites"}, body: draft, key: draft.RetryKey, again: true})
}

// Invites lists the invitations of a group, or those to register if group is empty. next is empty after the last page.
func (c *Client) Invites(ctx context.Context, group string, page Page) (invites []Invite, next string, err error) {
	var answer struct {
		Invites []Invite `json:"invites"`
		Next    string   `json:"next"`
	}
	query := page.query()
	if group != "" {
		query.Set("group", group)
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"invites"}, query: query, again: true}, &answer)
	return answer.Invites, answer.Next, err
}

// DeleteInvite revokes an invitation.
func (c *Client) DeleteInvite(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"invites", id}, again: true}, nil)
}

// CheckInvite shows what a code is for. CodeNotFound; CodeGone: it was used up, expired or was revoked.
func (c *Client) CheckInvite(ctx context.Context, code string) (InviteShown, error) {
	body := struct {
		Code string `json:"code"`
	}{code}
	return answerTo[InviteShown](ctx, c, call{method: http.MethodPost, path: []string{"invites", "check"}, body: body, again: true})
}

// AcceptInvite joins the group of a code. For a member it costs no use.
func (c *Client) AcceptInvite(ctx context.Context, code string) (Group, error) {
	body := struct {
		Code string `json:"code"`
	}{code}
	return answerTo[Group](ctx, c, call{method: http.MethodPost, path: []string{"invites", "accept"}, body: body, again: true})
}
