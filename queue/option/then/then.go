// Package then is the option of a task that names its successors: tasks that the step which completes it enqueues.
package then

import (
	"encoding/base64"
	"encoding/json"
)

// Successor is one of them as the specification of the one before it holds it.
type Successor struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Payload     []byte `json:"payload,omitempty"`
	Priority    string `json:"priority"`
	DueMs       int64  `json:"due_ms,omitempty"`
	DelayMs     int64  `json:"delay_ms,omitempty"`
	Unique      string `json:"unique,omitempty"`
	AttemptsMax int    `json:"attempts_max,omitempty"`
	DeadlineMs  int64  `json:"deadline_ms,omitempty"`
	Options     string `json:"options,omitempty"` // as specifications hold them
}

// Line is how a specification holds successors: JSON in base64, which has no line breaks.
func Line(all []Successor) string {
	text, _ := json.Marshal(all) // strings, bytes and numbers always can be
	return base64.RawURLEncoding.EncodeToString(text)
}

// Parse parses what Line returns. ok is false for anything else.
func Parse(value string) (all []Successor, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(value)
	return all, err == nil && json.Unmarshal(text, &all) == nil && len(all) > 0
}
