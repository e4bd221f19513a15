package client

import (
	"context"
	"net/http"
	"time"
)

// Presence is a user who is there: who has a websocket, and does not hide.
type Presence struct {
	User  string    `json:"user"`
	State string    `json:"state"` // online or away
	Since time.Time `json:"since"` // of the state
}

// GroupPresence tells who of a group is there, and how many are. Of a group with more than 1,000 members 50 are listed.
func (c *Client) GroupPresence(ctx context.Context, group string, page Page) (online int, users []Presence, next string, err error) {
	var answer struct {
		Online int        `json:"online"`
		Users  []Presence `json:"users"`
		Next   string     `json:"next"`
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "presence"}, query: page.query(), again: true}, &answer)
	return answer.Online, answer.Users, answer.Next, err
}

// Presence tells who of up to 1,000 users is there, of those with whom the caller shares a group.
func (c *Client) Presence(ctx context.Context, users ...string) ([]Presence, error) {
	var answer struct {
		Users []Presence `json:"users"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: []string{"presence"}, body: map[string]any{"users": users}, again: true}, &answer)
	return answer.Users, err
}

// Typing shows the online members of a group that the caller is typing, for a few seconds: call it about every 3 s while
// that lasts. Stream.Typing does it over a websocket.
func (c *Client) Typing(ctx context.Context, group string) error {
	return c.do(ctx, call{method: http.MethodPost, path: []string{"groups", group, "typing"}, again: true}, nil)
}

// Focus says which group the person has open, and "" that none is; the others who have it open see that, and Here events say who they are.
// While all sockets of a user say that none is, the user is away. The Stream says it again in each of its sessions.
func (s *Stream) Focus(group string) error {
	s.mu.Lock()
	sock := s.live
	s.focused = &group
	s.mu.Unlock()
	if sock == nil {
		return nil
	}
	return sock.sendFocus(group)
}

// focusAgain says in a new session what was said in the one before.
func (s *Stream) focusAgain(sock *socket) {
	s.mu.Lock()
	focused := s.focused
	s.mu.Unlock()
	if focused != nil {
		_ = sock.sendFocus(*focused) // if it fails, the session ends, and the next one says it
	}
}
