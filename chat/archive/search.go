package archive

import (
	"encoding/json"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// Visible is a log that a caller may read, from an id on.
type Visible struct {
	Log
	From int64
}

// The orders of hits.
const (
	Newest = "newest"
	Best   = "best" // by how much of the message is what was asked for, among the newest BestMax that match
)

// BestMax bounds the hits that are ranked.
const BestMax = 500

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
	Cursor  string // Found.Next of the page before, with everything else as it was
}

// Hit is a message that was found.
type Hit struct {
	Log
	chat.Message
	Snippet tokens.Snippet
}

// Found is a page of hits. Pages have no repeat and no gap whatever is sent meanwhile: what is newer than the first page
// does not show up on later ones.
type Found struct {
	Hits []Hit
	Next string // empty: there are no more
}

// Checked parses the text of a query, and refuses one that names nothing to look for.
func (q Query) Checked() (tokens.Query, error) {
	parsed := tokens.Parse(q.Text)
	if !parsed.Positive() {
		return parsed, chat.Invalid("q: name a word to look for; punctuation alone, and words that must not be there, find nothing")
	}
	return parsed, nil
}

// Match is a message as a hit, with its score. ok tells whether it has what is asked for, which an index that compares
// tokens has found out before.
func Match(log Log, m chat.Message, wanted tokens.Query) (hit Hit, score float64, ok bool) {
	var e chat.Entry
	if json.Unmarshal(m.JSON, &e) != nil {
		return Hit{}, 0, false
	}
	text := Text(e)
	split := tokens.Split(text)
	marks, ok := wanted.Match(split)
	return Hit{Log: log, Message: m, Snippet: tokens.MakeSnippet(text, marks)}, wanted.Score(split), ok
}
