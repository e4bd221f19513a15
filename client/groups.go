package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func (p Page) query() url.Values {
	q := url.Values{}
	if p.Limit > 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Cursor != "" {
		q.Set("cursor", p.Cursor)
	}
	return q
}

// CreateGroup makes a group owned by the caller.
func (c *Client) CreateGroup(ctx context.Context, draft GroupDraft) (Group, error) {
	draft.Key = cmp.Or(draft.Key, NewKey())
	return answerTo[Group](ctx, c, call{method: http.MethodPost, path: []string{"groups"}, body: draft, key: draft.Key, again: true})
}

// Direct opens the direct group of the caller and another user, and creates it if there is none.
func (c *Client) Direct(ctx context.Context, user string) (Group, error) {
	return answerTo[Group](ctx, c, call{method: http.MethodPut, path: []string{"direct", user}, again: true})
}

// Groups lists the caller's groups, most recently active first.
func (c *Client) Groups(ctx context.Context, page Page) (GroupList, error) {
	return answerTo[GroupList](ctx, c, call{method: http.MethodGet, path: []string{"groups"}, query: page.query(), again: true})
}

// AllGroups asks for groups of the server, whoever is in them. Zero fields ask for nothing.
type AllGroups struct {
	Query string // beginning of the id, or of the name in any case
	User  string // only groups of this user
	Sort  string // activity or held; empty: by id
}

// HeldGroup is a group with what it keeps for members who are behind.
type HeldGroup struct {
	Group
	Held      int64     `json:"held"`       // messages that are kept only for them
	HeldSince time.Time `json:"held_since"` // when the oldest of these was sent; zero where there is none
	Blockers  []Blocker `json:"blockers"`   // the slowest of them, three at most
}

// AllGroups lists every group. For operators, and for keys with the scope groups as far as they reach.
func (c *Client) AllGroups(ctx context.Context, of AllGroups, page Page) (groups []HeldGroup, next string, err error) {
	query := page.query()
	query.Set("all", "1")
	for name, value := range map[string]string{"q": of.Query, "user": of.User, "sort": of.Sort} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var answer struct {
		Groups []HeldGroup `json:"groups"`
		Next   string      `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups"}, query: query, again: true}, &answer)
	return answer.Groups, answer.Next, err
}

// PublicGroups lists the public groups by name.
func (c *Client) PublicGroups(ctx context.Context, page Page) (groups []Group, next string, err error) {
	var answer struct {
		Groups []Group `json:"groups"`
		Next   string  `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", "public"}, query: page.query(), again: true}, &answer)
	return answer.Groups, answer.Next, err
}

// Group describes one group.
func (c *Client) Group(ctx context.Context, group string) (GroupState, error) {
	var answer GroupState
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group}, tag: &answer.Tag, again: true}, &answer)
	return answer, err
}

// Blockers lists who holds back the trimming of a group or, with overflow block, may have a send refused, the slowest first: for
// its owner and its admins, who are not in their own lists, and for operators.
func (c *Client) Blockers(ctx context.Context, group string) ([]Blocker, error) {
	var list struct {
		Blockers []Blocker `json:"blockers"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "blockers"}, again: true}, &list)
	return list.Blockers, err
}

// UpdateGroup changes the settings, the name or the data. It is not repeated if its outcome is unknown: someone else may have
// changed the same setting since.
func (c *Client) UpdateGroup(ctx context.Context, group string, change GroupChange) (Group, error) {
	var answer Group
	err := c.do(ctx, call{method: http.MethodPatch, path: []string{"groups", group}, body: change, match: change.Tag, tag: &answer.Tag}, &answer)
	return answer, err
}

// DeleteGroup deletes the group. It is not repeated if its outcome is unknown: by then the id may belong to another
// group.
func (c *Client) DeleteGroup(ctx context.Context, group string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group}}, nil)
}

// DeleteGroupTagged deletes the group if it still has the Tag of a Group; CodeConflict otherwise.
func (c *Client) DeleteGroupTagged(ctx context.Context, group, tag string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group}, match: tag}, nil)
}

// PutHold puts a group under legal hold, or changes the reason of its hold. For operators.
func (c *Client) PutHold(ctx context.Context, group, reason string) (Hold, error) {
	body := struct {
		Reason string `json:"reason"`
	}{reason}
	return answerTo[Hold](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "hold"}, body: body, again: true})
}

// ReleaseHold ends the legal hold on a group. For operators. It is not repeated if its outcome is unknown: someone else
// may have put a new hold on the group since.
func (c *Client) ReleaseHold(ctx context.Context, group string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "hold"}}, nil)
}

// Members lists the members in the order of joining.
func (c *Client) Members(ctx context.Context, group string, page Page) (members []Member, next string, err error) {
	var answer struct {
		Members []Member `json:"members"`
		Next    string   `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "members"}, query: page.query(), again: true}, &answer)
	return answer.Members, answer.Next, err
}

// PutMember adds user to the group, or changes a member's role. role is owner, admin or member; empty makes a new user
// a member and leaves others unchanged.
func (c *Client) PutMember(ctx context.Context, group, user, role string) (Member, error) {
	body := struct {
		Role string `json:"role,omitempty"`
	}{role}
	return answerTo[Member](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "members", user}, body: body, again: true})
}

// ChangeMembers adds and removes up to 1,000 users each. It may be repeated.
func (c *Client) ChangeMembers(ctx context.Context, group string, change MembersChange) (MembersChanged, error) {
	return answerTo[MembersChanged](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "members"}, body: change, again: true})
}

// UpdateMember merges data, a JSON Merge Patch (RFC 7396), into the custom fields of a member. For the owner, admins and operators.
func (c *Client) UpdateMember(ctx context.Context, group, user string, data json.RawMessage) (Member, error) {
	body := struct {
		Data json.RawMessage `json:"data,omitempty"`
	}{data}
	return answerTo[Member](ctx, c, call{method: http.MethodPatch, path: []string{"groups", group, "members", user}, body: body, again: true})
}

// Mute takes from a member the right to write until a time; the zero time gives it back, [Forever] has no end. For the owner, admins
// and operators.
func (c *Client) Mute(ctx context.Context, group, user string, until time.Time) (Member, error) {
	body := map[string]*time.Time{"muted_until": nil}
	if !until.IsZero() {
		body["muted_until"] = &until
	}
	return answerTo[Member](ctx, c, call{method: http.MethodPatch, path: []string{"groups", group, "members", user}, body: body, again: true})
}

// Forever is an end that never comes.
var Forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Ban keeps a user out of a group.
type Ban struct {
	User   string     `json:"user"`
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until"` // nil: for ever
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
}

// BanDraft is what a ban is to be.
type BanDraft struct {
	Reason      string     `json:"reason,omitempty"`       // for those who manage the group
	Until       *time.Time `json:"until,omitempty"`        // nil: for ever
	DeleteHours int        `json:"delete_hours,omitempty"` // deletes what they sent in so many hours, at most 168
}

// Ban keeps a user out of a group, and removes a member. For the owner, admins and operators.
func (c *Client) Ban(ctx context.Context, group, user string, body BanDraft) (Ban, error) {
	return answerTo[Ban](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "bans", user}, body: body, again: true})
}

// Unban lets a user in again.
func (c *Client) Unban(ctx context.Context, group, user string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "bans", user}}, nil)
}

// Bans lists the bans of a group, the newest first. For the owner, admins and operators.
func (c *Client) Bans(ctx context.Context, group string, page Page) (bans []Ban, next string, err error) {
	var answer struct {
		Bans []Ban  `json:"bans"`
		Next string `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "bans"}, query: page.query(), again: true}, &answer)
	return answer.Bans, answer.Next, err
}

// JoinRequest is that a user asks to join a group.
type JoinRequest struct {
	User string    `json:"user"`
	Note string    `json:"note"`
	At   time.Time `json:"at"`
}

// AskToJoin asks those who manage a public group to let the caller in, where Join says ask. The answer is an item [ItemRequest].
func (c *Client) AskToJoin(ctx context.Context, group, note string) (JoinRequest, error) {
	return answerTo[JoinRequest](ctx, c, call{method: http.MethodPut, path: []string{"groups", group, "requests", "me"},
		body: map[string]string{"note": note}, again: true})
}

// AskNoLonger takes back that the caller asked to join.
func (c *Client) AskNoLonger(ctx context.Context, group string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "requests", "me"}}, nil)
}

// JoinRequests lists who asks to join a group, the oldest first. For the owner, admins and operators.
func (c *Client) JoinRequests(ctx context.Context, group string, page Page) (requests []JoinRequest, next string, err error) {
	var answer struct {
		Requests []JoinRequest `json:"requests"`
		Next     string        `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "requests"}, query: page.query(), again: true}, &answer)
	return answer.Requests, answer.Next, err
}

// AnswerRequest lets a user in who asked to join, or does not. It is not repeated if its outcome is unknown.
func (c *Client) AnswerRequest(ctx context.Context, group, user string, accept bool) error {
	return c.do(ctx, call{method: http.MethodPut, path: []string{"groups", group, "requests", user}, body: map[string]bool{"accept": accept}}, nil)
}

// RemoveMember removes user from the group; removing yourself leaves it. It is not repeated if its outcome is unknown.
func (c *Client) RemoveMember(ctx context.Context, group, user string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: []string{"groups", group, "members", user}}, nil)
}
