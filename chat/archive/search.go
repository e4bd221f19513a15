package archive

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// ErrTooLong is the answer to a search that exceeds the bound of its time. It says what narrows it.
var ErrTooLong = &chat.Error{Code: chat.CodeUnavailable, Message: tooLong, Advice: tooLong, RetryAfter: tooLongRetry}

const (
	tooLong      = "the search takes too long; narrow it by group, from, since or until, or by rarer or longer words"
	tooLongRetry = time.Minute // the same search is not tried again soon
)

// Visible is a part of a log that may be found: the ids From to To, both included.
type Visible struct {
	Log
	From, To int64
}

// The orders of hits.
const (
	Newest = "newest"
	Best   = "best" // by how much of the message is what was asked for, among the newest BestMax that match
)

// Bounds of the hits that are ranked: their number, and the bytes of their JSON.
const (
	BestMax      = 500
	BestBytesMax = 4 << 20
)

// Query asks for messages of the logs that are Visible; no other can be found, or counted, or felt in the paging.
type Query struct {
	Visible []Visible
	Text    string // words, "a phrase", -word, word*: see tokens.Parse
	From    string // of this author; empty: of all
	Kind    chat.Kind
	SinceMs int64  // sent at or after; 0: whenever
	UntilMs int64  // sent at or before; 0: whenever
	Sort    string // Newest or Best
	Limit   int    // from 1
	// BytesMax bounds the hits of a page: see Hit.Bytes. At least one is given.
	BytesMax int
	Cursor   string // Found.Next of the page before, with everything else as it was
}

// Hit is a message that was found.
type Hit struct {
	Log
	chat.Message
	Snippet tokens.Snippet
}

// Bytes is about the size of the hit in an answer.
func (h Hit) Bytes() int {
	return len(h.JSON) + len(h.Snippet.Text) + hitBytes + markBytes*len(h.Snippet.Marks)
}

// What a hit takes in an answer beside its message and its snippet, and each of its marks.
const (
	hitBytes  = 50
	markBytes = 12
)

// Fit is how many of hits a page may have.
func (q Query) Fit(hits []Hit) int {
	bytes := 0
	for n, h := range hits {
		if bytes += h.Bytes(); n == q.Limit || n > 0 && bytes > q.BytesMax {
			return n
		}
	}
	return len(hits)
}

// Found is a page of hits. Pages have no repeat and no gap whatever is sent meanwhile: what is newer than the first page
// does not show up on later ones.
type Found struct {
	Hits []Hit
	Next string // empty: there are no more
}

// Checked parses the text of a query, and refuses one that is too long or names nothing to look for.
func (q Query) Checked() (tokens.Query, error) {
	if utf8.RuneCountInString(q.Text) > tokens.QueryMax {
		return tokens.Query{}, chat.Invalid("q: at most %d characters", tokens.QueryMax)
	}
	parsed := tokens.Parse(q.Text)
	switch {
	case parsed.Cut:
		return parsed, chat.Invalid("q: at most %d words and phrases", tokens.TermsMax)
	case !parsed.Positive():
		return parsed, chat.Invalid("q: name a word to look for; punctuation alone, and words that must not be there, find nothing")
	}
	return parsed, nil
}

// Match is a message as a hit, with its score. ok tells whether it has what is asked for, which an index that compares
// tokens has found out before.
func Match(log Log, m chat.Message, wanted tokens.Query) (hit Hit, score float64, ok bool) {
	var e struct { // of a chat.Entry, what has its text
		Kind      chat.Kind       `json:"kind"`
		Body      *string         `json:"body"`
		Data      json.RawMessage `json:"data"`
		DeletedAt *chat.Time      `json:"deleted_at"`
	}
	if json.Unmarshal(m.JSON, &e) != nil {
		return Hit{}, 0, false
	}
	text := Text(chat.Entry{Content: chat.Content{Kind: e.Kind, Body: e.Body, Data: e.Data}, DeletedAt: e.DeletedAt})
	split := tokens.Split(text)
	marks, ok := wanted.Match(split)
	return Hit{Log: log, Message: m, Snippet: tokens.MakeSnippet(text, marks)}, wanted.Score(split), ok
}
