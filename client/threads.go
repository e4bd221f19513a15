package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Thread is the thread of a message, and how the caller stands to it. Counts are of replies that were not deleted.
type Thread struct {
	ID        int64 `json:"id"` // of the root
	Replies   int64 `json:"replies"`
	LastID    int64 `json:"last_id"` // of the newest reply; 0 without any
	Unread    int64 `json:"unread"`  // replies of others above Read
	Following bool  `json:"following"`
	Read      int64 `json:"read"` // up to which id the caller has read it

	Root        Message  `json:"root"`         // only in Threads
	LastMessage *Message `json:"last_message"` // only in Threads
}

// ThreadQuery says which threads of a group to list.
type ThreadQuery struct {
	Following bool // only those that the caller follows
	Unread    bool // only those in which the caller has replies to read
	Page
}

// ReplyQuery asks for replies above After, or for those just below Before.
type ReplyQuery struct {
	After, Before int64 // 0: not given
	Limit         int   // 0: the default
}

// Threads lists the threads of a group, those with the newest replies first.
func (c *Client) Threads(ctx context.Context, group string, q ThreadQuery) (threads []Thread, next string, err error) {
	var answer struct {
		Threads []Thread `json:"threads"`
		Next    string   `json:"next"`
	}
	query := q.query()
	if q.Following {
		query.Set("following", "1")
	}
	if q.Unread {
		query.Set("unread", "1")
	}
	err = c.do(ctx, call{method: http.MethodGet, path: []string{"groups", group, "threads"}, query: query, again: true}, &answer)
	return answer.Threads, answer.Next, err
}

// Replies reads a page of the replies in a thread, ascending. more: there are further ones in that direction. CodeNotFound: the root does
// not exist or is deleted; CodeOutOfRange: it cannot have a thread.
func (c *Client) Replies(ctx context.Context, group string, root int64, q ReplyQuery) (t Thread, replies []Message, more bool, err error) {
	var answer struct {
		Thread
		Messages []Message `json:"messages"`
		HasMore  bool      `json:"has_more"`
	}
	query := url.Values{}
	for name, value := range map[string]int64{"after": q.After, "before": q.Before, "limit": int64(q.Limit)} {
		if value > 0 {
			query.Set(name, strconv.FormatInt(value, 10))
		}
	}
	err = c.do(ctx, call{method: http.MethodGet, path: threadPath(group, root, "messages"), query: query, again: true}, &answer)
	return answer.Thread, answer.Messages, answer.HasMore, err
}

// ReadThread moves what the caller has read of a thread forward to id, never back. Of one that they do not follow it changes nothing.
func (c *Client) ReadThread(ctx context.Context, group string, root, id int64) (t Thread, err error) {
	err = c.do(ctx, call{method: http.MethodPost, path: threadPath(group, root, "read"), body: struct {
		ID int64 `json:"id"`
	}{id}, again: true}, &t)
	return t, err
}

// FollowThread has the caller follow a thread, with all of it read, or not any longer. Its author, who replies and who is mentioned in a
// reply follow it without that.
func (c *Client) FollowThread(ctx context.Context, group string, root int64, following bool) (t Thread, err error) {
	err = c.do(ctx, call{method: http.MethodPut, path: threadPath(group, root), body: struct {
		Following bool `json:"following"`
	}{following}, again: true}, &t)
	return t, err
}

func threadPath(group string, root int64, rest ...string) []string {
	return append([]string{"groups", group, "threads", strconv.FormatInt(root, 10)}, rest...)
}
