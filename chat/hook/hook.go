package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// BeforeSend is the one event of hooks so far.
const BeforeSend = "message.before_send"

// OnError decides about a message whose hook gives no answer.
type OnError string

// What may be decided.
const (
	Allow  OnError = "allow"
	Refuse OnError = "refuse"
	Review OnError = "review"
)

// Bounds of hooks.
const (
	hooksMax    = 10  // in a store: each may take its time of every send
	patternsMax = 100 // of groups in one hook

	timeoutMsMin, timeoutMsDefault, timeoutMsMax = 50, 1500, 5000
	inFlightDefault, inFlightMax                 = 64, 1024
)

// Draft is what is asked for of a hook, and can be changed.
type Draft struct {
	URL       string   `json:"url"`
	Events    []string `json:"events"`
	Groups    []string `json:"groups"`     // ids, and beginnings with a star; nil: all groups, and direct messages
	TimeoutMs int64    `json:"timeout_ms"` // how long an answer may take
	OnError   OnError  `json:"on_error"`   // what holds without an answer
	InFlight  int64    `json:"in_flight"`  // questions at once, of each node
}

// Hook is a hook as it is stored. All of it is secret.
type Hook struct {
	ID string `json:"-"`
	Draft
	Owner     string    `json:"owner"` // the operator, or the key, that registered it
	Secret    string    `json:"secret"`
	CreatedAt chat.Time `json:"created_at"`
}

// View is a hook as operators see it.
type View struct {
	ID string `json:"id"`
	Draft
	Secret    string    `json:"secret,omitempty"` // only in the answer that made it
	CreatedAt chat.Time `json:"created_at"`
}

func (h *Hook) view() View { return View{ID: h.ID, Draft: h.Draft, CreatedAt: h.CreatedAt} }

func decode(id, text string) (*Hook, error) {
	h := &Hook{ID: id}
	if err := json.Unmarshal([]byte(text), h); err != nil {
		return nil, fmt.Errorf("hook %s cannot be read: %w", id, err)
	}
	return h, nil
}

// about tells whether the hook is asked about messages to a group; empty: about direct messages.
func (h *Hook) about(group string) bool {
	return h.Groups == nil || slices.ContainsFunc(h.Groups, func(p string) bool {
		begin, open := strings.CutSuffix(p, "*")
		return group != "" && (group == begin || open && strings.HasPrefix(group, begin))
	})
}

// newDraft has the defaults.
func newDraft() Draft {
	return Draft{Events: []string{BeforeSend}, TimeoutMs: timeoutMsDefault, OnError: Allow, InFlight: inFlightDefault}
}

// patched is d with what a patch gives: the JSON of some fields; null gives one its default.
func (d Draft) patched(patch []byte) (Draft, error) {
	d.Events, d.Groups = slices.Clone(d.Events), slices.Clone(d.Groups) // json would write into the same places
	var given map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(patch, &given), json.Unmarshal(patch, &d)); err != nil {
		return d, chat.Invalid("a field of the hook has another type")
	}
	for name, value := range given {
		if string(value) != "null" {
			continue
		}
		switch usual := newDraft(); name {
		case "groups":
			d.Groups = nil
		case "timeout_ms":
			d.TimeoutMs = usual.TimeoutMs
		case "on_error":
			d.OnError = usual.OnError
		case "in_flight":
			d.InFlight = usual.InFlight
		case "events":
			d.Events = usual.Events
		}
	}
	return d, nil
}

// check refuses what no hook can be. checkURL is that of egress; nil: any address.
func (d Draft) check(checkURL func(string) error) error {
	switch {
	case d.URL == "":
		return chat.Invalid("url: missing")
	case len(d.URL) > webhook.AddressBytesMax:
		return chat.Invalid("url: at most %d bytes", webhook.AddressBytesMax)
	}
	if checkURL != nil {
		if err := checkURL(d.URL); err != nil {
			return chat.Invalid("url: %s", err.Error())
		}
	}
	if len(d.Events) == 0 {
		return chat.Invalid("events: want %s", BeforeSend)
	}
	for i, e := range d.Events {
		if e != BeforeSend {
			return chat.Invalid("events[%d]: want %s", i, BeforeSend)
		}
	}
	if len(d.Groups) > patternsMax || d.Groups != nil && len(d.Groups) == 0 {
		return chat.Errorf(chat.CodeOutOfRange, "groups: want 1 to %d, or leave it out for all", patternsMax)
	}
	for i, p := range d.Groups {
		if begin := strings.TrimSuffix(p, "*"); begin != "" || p == "" {
			if err := chat.CheckGroupID(fmt.Sprintf("groups[%d]", i), begin); err != nil {
				return err
			}
		}
	}
	switch {
	case d.TimeoutMs < timeoutMsMin || d.TimeoutMs > timeoutMsMax:
		return chat.OutOfRange("timeout_ms", timeoutMsMin, timeoutMsMax)
	case d.InFlight < 1 || d.InFlight > inFlightMax:
		return chat.OutOfRange("in_flight", 1, inFlightMax)
	}
	return chat.CheckWord("on_error", &d.OnError, Allow, Refuse, Review)
}
