package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Orders of the hits of a search.
const (
	SortNewest = "newest"
	SortBest   = "best" // the words are frequent and the text is short
)

// SearchQuery is what to search for. Empty fields leave it open.
type SearchQuery struct {
	Text         string // words, "a phrase", -word, word*
	Group        string // only in this group
	From         string // only of this author
	Kind         string // KindText or KindData
	Since, Until time.Time
	Sort         string // SortNewest or SortBest
	Limit        int    // 0: the server's usual size
	Cursor       string // SearchPage.Next of the page before
}

// SearchPage is a page of hits.
type SearchPage struct {
	Hits []Hit  `json:"hits"`
	Next string `json:"next"` // cursor of the next page; empty after the last one
	// IncompleteBefore, if set, is the time up to which the search is complete: messages sent later may be missing.
	IncompleteBefore *time.Time `json:"incomplete_before"`
}

// Hit is a message that was found.
type Hit struct {
	Message Message `json:"message"`
	Snippet Snippet `json:"snippet"`
}

// Snippet is a part of a message around what was found.
type Snippet struct {
	Text  string   `json:"text"`
	Marks [][2]int `json:"marks"` // [from, to) of each match, in UTF-16 code units of Text
}

// Search finds messages in the caller's groups, as they read now. It needs a server with an archive: not_found says that there
// is none, or that Group is not one of the caller's. A search that takes too long is unavailable and is not tried again.
func (c *Client) Search(ctx context.Context, q SearchQuery) (SearchPage, error) {
	values := url.Values{"q": {q.Text}}
	for name, value := range map[string]string{"group": q.Group, "from": q.From, "kind": q.Kind, "sort": q.Sort, "cursor": q.Cursor} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			values.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.Limit > 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return answerTo[SearchPage](ctx, c, call{method: http.MethodGet, path: []string{"search"}, query: values, again: true})
}
