package chat

import (
	"fmt"
	"net/url"
	"strings"
)

// Bounds of actions.
const (
	ActionsMax     = 10   // of a message
	actionLabelMax = 80   // characters
	actionAskMax   = 200  // characters
	actionURLMax   = 2048 // bytes
)

// ActionStyle is how a client draws an action.
type ActionStyle string

// The styles; empty: like any other.
const (
	StylePrimary ActionStyle = "primary" // what is expected
	StyleDanger  ActionStyle = "danger"  // what cannot be taken back
)

// Action is a button below a message of a program. Pressing it is an event for that program, and nothing in the log.
type Action struct {
	ID      string      `json:"id"` // as CheckID has it; each once in a message
	Label   string      `json:"label"`
	Style   ActionStyle `json:"style,omitempty"`
	Confirm string      `json:"confirm,omitempty"` // a question that the client asks before
	URL     string      `json:"url,omitempty"`     // http or https: the client opens it
}

// ErrNoActions refuses actions in what a person writes.
var ErrNoActions = Errorf(CodeForbidden, "actions: only programs with a key and operators may add actions to a message")

// MayAct refuses content with actions unless a key or an operator writes it.
func (c Caller) MayAct(given Content) error {
	if len(given.Actions) > 0 && c.Via == "" && !c.Admin {
		return ErrNoActions
	}
	return nil
}

// checkActions returns actions as they are stored.
func checkActions(actions []Action) ([]Action, error) {
	if len(actions) > ActionsMax {
		return nil, Errorf(CodeOutOfRange, "actions: at most %d", ActionsMax)
	}
	clean := make([]Action, 0, len(actions))
	seen := map[string]bool{}
	for i, a := range actions {
		at := fmt.Sprintf("actions[%d]", i)
		if seen[a.ID] {
			return nil, Invalid("%s.id: an action before it has the same", at)
		}
		seen[a.ID] = true
		var err error
		if a, err = a.checked(at); err != nil {
			return nil, err
		}
		clean = append(clean, a)
	}
	return clean, nil
}

func (a Action) checked(at string) (Action, error) {
	if err := CheckID(at+".id", a.ID); err != nil {
		return a, err
	}
	var err error
	if a.Label, err = Line(at+".label", strings.TrimSpace(a.Label), actionLabelMax); err != nil {
		return a, err
	}
	if a.Confirm, err = Line(at+".confirm", strings.TrimSpace(a.Confirm), actionAskMax); err != nil {
		return a, err
	}
	switch {
	case a.Label == "":
		return a, Invalid("%s.label: missing", at)
	case a.Style != "" && a.Style != StylePrimary && a.Style != StyleDanger:
		return a, Invalid("%s.style: want %s or %s, or none", at, StylePrimary, StyleDanger)
	case a.URL != "" && !isWebURL(a.URL):
		return a, Invalid("%s.url: want an address that begins with http:// or https://, of at most %d bytes", at, actionURLMax)
	}
	return a, nil
}

func isWebURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && len(raw) <= actionURLMax && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		!strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f })
}
