package chat

import (
	"bytes"
	"encoding/json"
)

// Hidden is the id below which a group without history hides its log from the member: that of the notice of joining. 0 if
// nothing is hidden.
func (i Info) Hidden() int64 {
	if i.History {
		return 0
	}
	return i.Joined
}

// Visible is the lowest id that the member may be served: First, or the notice of joining if history is hidden.
func (i Info) Visible() int64 { return max(i.First, i.Hidden()) }

// view is the group as it is shown to the user: first is the lowest id that they may be served.
func (i Info) view() Group {
	g := i.Group
	g.First = i.Visible()
	return g
}

// editField stands in the JSON of every edit, and in few other entries.
var editField = []byte(`"kind":"edit"`)

// Redact removes the content of edits whose target is hidden from the member. The edits are served, because ids have no
// gaps, but only say which message was edited. The entries that it changes are copies.
func (i Info) Redact(messages []Message) {
	hidden := i.Hidden()
	if hidden == 0 {
		return
	}
	for n, m := range messages {
		if bytes.Contains(m.JSON, editField) {
			messages[n] = Redacted(m, hidden)
		}
	}
}

// Redacted is m as served to a member who may not see anything below hidden.
func Redacted(m Message, hidden int64) Message {
	var e Entry
	if json.Unmarshal(m.JSON, &e) != nil || e.Kind != Edit || e.Target >= hidden {
		return m
	}
	e.Content = e.Blanked() // all content, including fields that edits may get later
	return rewritten(m, e)
}
